"""What a step promised, read from the venue and the chain afterwards."""
