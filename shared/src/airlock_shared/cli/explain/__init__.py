"""``explain``: what a code, a check's id or an exit code means, and what to do about it."""
