"""Where ``airlock-online`` starts."""

from airlock_shared.start import run_program


def main() -> None:
    """Load the program and run it."""
    run_program("airlock_online.cli.main")
