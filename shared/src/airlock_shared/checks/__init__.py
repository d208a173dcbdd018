"""The checks: each has one id, the same in code, message, JSON, transcript, documentation and tests.

Both halves run all of them; only the offline verdict counts. There is no way to skip one.
"""
