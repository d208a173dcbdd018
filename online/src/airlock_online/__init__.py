"""Airlock's online half: it talks to the services, and holds no key."""

__version__ = "0.1.0"
