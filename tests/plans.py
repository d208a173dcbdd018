"""The head of a plan that a test writes: its ceremony, its limits, and the software Ledger's first account as its signer."""

from __future__ import annotations

TRADER = "0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D"
PATH = "m/44'/60'/0'/0/0"


def plan_head(
    ceremony: str,
    *,
    deployment: str = "rehearsal",
    roles: str = "[]",
    signer: str = TRADER,
    show: str = "",
    **limits: str,
) -> str:
    """Return a plan up to its steps, which the signer ``treasury`` signs."""
    lines = [
        'format = "airlock/plan@1"',
        "[ceremony]",
        f'id = "{ceremony}"',
        f'title = "The ceremony {ceremony}"',
        f'deployment = "{deployment}"',
        f"roles = {roles}",
        "[limits]",
        *(f'{name} = "{value}"' for name, value in limits.items()),
        "[signers.treasury]",
        f'address = "{signer}"',
        f'path = "{PATH}"',
        *([f'show = "{show}"'] if show else []),
    ]
    return "\n".join([*lines, ""])
