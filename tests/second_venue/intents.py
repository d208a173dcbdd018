"""What the second venue reads of a signed intent: all of it from the encoding, and the signer recovered."""

import re
from typing import Any, NamedTuple

from second_venue.other_types import STRUCTS

TRADER_IN = ("trader", "owner", "referee")


class Signed(NamedTuple):
    """A signed intent as the venue reads it from its encoding: who signed it, for whom, its nonce, its message."""

    signer: str
    trader: str
    nonce: int
    message: dict[str, Any]


def signed(struct: str, data: str, signature: str, domain: dict[str, Any]) -> Signed:
    """Return a signed intent, read from its encoding alone, its signer recovered."""
    if not re.fullmatch(r"0x[0-9a-f]{130}", signature):
        raise ValueError("a signature is 65 bytes in lower-case hex")
    message = STRUCTS.decoded(struct, bytes.fromhex(data[2:]))
    signer = STRUCTS.signer(struct, message, domain, bytes.fromhex(signature[2:]))
    flat = message | message.get("at", {})
    trader = next(flat[name] for name in TRADER_IN if name in flat)
    return Signed(signer, trader, int(flat["nonce"] if "nonce" in flat else flat["salt"]), message)


def as_told(value: Any) -> Any:
    """Return a message as JSON has it: whole numbers as decimal texts, bytes in hex."""
    if isinstance(value, dict):
        return {name: as_told(inner) for name, inner in value.items()}
    if isinstance(value, bytes):
        return "0x" + value.hex()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value
