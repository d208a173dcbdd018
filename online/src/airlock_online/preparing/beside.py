"""What a builder sends beside the members of a payload that the specification lists: named to people, and not carried.

What is hashed is made of the listed members alone: ``domain``, ``types`` and ``message`` of an intent, which stay word for
word and are judged as strictly as ever, and four members of a transaction. So a further member beside them changes nothing
that is signed. It does not cross the gap: the signing machine reads what it always read. One that an Ethereum transaction
itself may have is different: it stays, and ``TX-KEYS`` refuses it. Source: the specification, "Unsigned transaction payload"
and "Signable intent payload".
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from airlock_shared.text.safe import safe

_INTENT = frozenset(
    {"intent", "signerRule", "domain", "primaryType", "types", "message", "digest", "encodedIntent", "meta"}
)
_TRANSACTION = frozenset({"to", "from", "data", "value", "chainId", "description", "meta"})
_OF_A_TRANSACTION = frozenset(
    {
        "accesslist", "authorizationlist", "authorisationlist", "blobs", "blobversionedhashes", "maxfeeperblobgas",
        "sidecars", "commitments", "proofs",
        "type", "txtype", "transactiontype", "nonce", "gas", "gaslimit", "gasprice", "maxfeepergas",
        "maxpriorityfeepergas", "input", "raw", "rawtransaction", "signature", "r", "s", "v", "yparity",
    }
)  # fmt: skip
"""Members of an Ethereum transaction of any type, in any case: EIP-2718, 2930, 1559, 4844, 7702; never set aside."""

_SHOWN = 200
_COUNTED = 20


class Payload(NamedTuple):
    """A payload as it is carried, and what stood beside it."""

    carried: dict[str, Any]
    beside: dict[str, Any]


def set_aside(payload: Mapping[str, Any], *, transaction: bool) -> Payload:
    """Return a builder's payload without the members beside the listed ones, and those; a ``meta`` of null is none."""
    carried: dict[str, Any] = {}
    beside: dict[str, Any] = {}
    for name, value in payload.items():
        listed = name in (_TRANSACTION if transaction else _INTENT) and not (name == "meta" and value is None)
        decides = transaction and name.replace("_", "").lower() in _OF_A_TRANSACTION
        (carried if listed or decides else beside)[name] = value
    return Payload(carried, beside)


def beside_lines(step: str, beside: Mapping[str, Any]) -> list[str]:
    """Return what stood beside a step's payload, for people: each name with its value, safe to show."""
    if not beside:
        return []
    shown = [f"  {safe(name, limit=80)} = {safe(json.dumps(value), limit=_SHOWN)}" for name, value in beside.items()]
    more = [f"  and {len(shown) - _COUNTED} more"] if len(shown) > _COUNTED else []
    head = f"NOTE step {step}: the builder also sent what the specification does not have. It is not signed and not carried:"
    return [head, *shown[:_COUNTED], *more]
