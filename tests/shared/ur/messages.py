"""Messages to send by code: the reference implementation's, and a vector file's values."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from airlock_shared.ur.fountain import drawn_below, xoshiro256
from airlock_shared.wire.cbor import write

VECTORS = Path(__file__).resolve().parents[2] / "vectors" / "ur"


@cache
def vectors(name: str) -> Any:
    return json.loads((VECTORS / f"{name}.json").read_text())


def message(count: int, seed: str = "Wolf") -> bytes:
    """The message that the reference implementation's tests send."""
    random = xoshiro256(seed.encode())
    return bytes(drawn_below(256, next(random)) for _ in range(count))


def bytes_payload(count: int, seed: str = "Wolf") -> bytes:
    """The same as the payload of ``ur:bytes``, a CBOR byte string."""
    return write(message(count, seed))
