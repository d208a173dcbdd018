"""A software Ledger for rehearsals: a simulator with a public test seed. It never holds a key of value."""

__version__ = "0.1.0"
