"""The terminal of both programs."""
