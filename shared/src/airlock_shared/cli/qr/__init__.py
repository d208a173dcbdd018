"""The commands that show and read QR codes, the same on both machines."""
