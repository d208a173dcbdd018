"""Signing one item: examine, review, ask, sign, recover, record."""
