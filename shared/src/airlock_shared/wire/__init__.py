"""Strict JSON and deterministic CBOR, read under bounds; every reader of untrusted bytes begins here."""
