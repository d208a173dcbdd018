"""Frames of a transfer as pictures, and pictures back into frames."""
