"""What is installed, against the lists of the kit."""
