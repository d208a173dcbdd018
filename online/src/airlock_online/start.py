"""Where ``airlock-online`` starts."""

from airlock_shared.start import start


def main() -> None:
    """Load the program and run it."""
    start("airlock_online.cli.main")
