"""The commands about the people of a ceremony, the same on both machines."""
