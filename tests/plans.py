"""The head of a plan that a test writes: its limits, and its signers: the software Ledger's first account, or others."""

from collections.abc import Mapping

TRADER = "0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D"
PATH = "m/44'/60'/0'/0/0"


def plan_head(
    ceremony: str,
    signers: Mapping[str, tuple[str, str]] | None = None,
    /,
    *,
    deployment: str = "rehearsal",
    roles: str = "[]",
    signer: str = TRADER,
    show: str = "",
    **limits: str,
) -> str:
    """Return a plan up to its steps, which ``treasury`` signs, or ``signers``: each name's address and path."""
    lines = [
        'format = "airlock/plan@1"',
        "[ceremony]",
        f'id = "{ceremony}"',
        f'title = "The ceremony {ceremony}"',
        f'deployment = "{deployment}"',
        f"roles = {roles}",
        "[limits]",
        *(f'{name} = "{value}"' for name, value in limits.items()),
        *(
            f'[signers.{name}]\naddress = "{address}"\npath = "{path}"'
            for name, (address, path) in (signers or {"treasury": (signer, PATH)}).items()
        ),
        *([f'show = "{show}"'] if show else []),
    ]
    return "\n".join([*lines, ""])
