"""The journal: one row a digest, its states and its events, in a database."""
