"""Each signature delivered once, and followed to its end."""
