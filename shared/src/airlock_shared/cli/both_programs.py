"""Which commands only one of the two machines has: who gives one at the other machine is told where it belongs."""

from __future__ import annotations

from airlock_shared.ceremony.checkpoints import Half

MACHINES: dict[Half, str] = {"online": "the online machine", "offline": "the air-gapped machine"}
OF_ONE: dict[Half, frozenset[str]] = {
    "online": frozenset({
        "actions", "build", "call", "delegate proof", "delegation", "deployment", "descriptors", "export", "follow",
        "meta", "nonce", "pairs", "positions", "prepare", "ready", "referral", "rehearse", "relay", "resolve", "status",
        "submit",
    }),
    "offline": frozenset({
        "accounts", "address", "delegate check", "delegate prove", "digest", "plan draft", "preflight", "sign",
        "transcript", "trust", "trust-struct", "verify",
    }),
}  # fmt: skip
"""The commands that the other machine does not have, below their groups."""


def machine_of(command: str) -> Half | None:
    """Return the machine that alone has a command; None for what both have, or none."""
    return next((half for half, commands in OF_ONE.items() if command in commands), None)
