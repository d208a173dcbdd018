"""The people of a ceremony: roles, checkpoints, seals, and proofs that a key is held."""
