"""Airlock's air-gapped half: it checks, shows and signs."""

__version__ = "0.1.0"
