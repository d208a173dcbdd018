"""Airlock's pure core: it decides, and talks to nobody."""

__version__ = "0.1.0"
