"""Untrusted text made safe for a screen, letters that look like others, and fingerprints as words."""
