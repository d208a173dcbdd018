"""Structs that an operator pins: checked like the catalogue's, shown raw, and marked as such.

A pin is an ``encodeType`` text that people have compared with the venue's contract on the offline machine, with the
domain that it is signed under, and which members are the trader, the nonce and the deadline. The plan decides every leaf
by its raw value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from airlock_shared.catalogue.encode_types import leaves_of, types_of_text
from airlock_shared.catalogue.intents import CATALOGUE, Intent, structs_of
from airlock_shared.catalogue.kinds import DEADLINE, NONCE_KIND, UNKNOWN, Field, Rule
from airlock_shared.catalogue.profile import DOMAINS, ENCODE_TYPE, SIGNER_RULES
from airlock_shared.documents.services import PINNABLE
from airlock_shared.errors import UsageError
from airlock_shared.ethereum.eip712 import DOMAIN_TYPE, read_types
from airlock_shared.ethereum.eip712_types import atomic_kind
from airlock_shared.units import ADDRESS, RAW, UNIX_MS
from airlock_shared.wire.members import read_members

if TYPE_CHECKING:
    from airlock_shared.documents.deployment import Deployment

_MEMBERS = {
    "encode_type": str, "domain": str, "signer_rule": str, "route": str, "trader": str, "nonce": str, "deadline": str,
}  # fmt: skip
_CHOICES = {
    "domain": DOMAINS,
    "signer_rule": SIGNER_RULES,
    "route": PINNABLE,
}


def custom_intent(pin: Any) -> Intent:
    """Return the intent that a pin describes.

    Raises ``UsageError`` when the text is not an ``encodeType``, has arrays, or names members that it does not have;
    ``DocumentError`` or ``Refusal`` of family ``TYPES`` when the pin or the types are malformed.
    """
    read_members(pin, "struct pin", _MEMBERS)
    text = pin["encode_type"]
    if not ENCODE_TYPE.fullmatch(text):
        raise _not("an encodeType without arrays, such as 'CancelReq(address trader,uint256 nonce)'", text)
    types = types_of_text(text)
    primary_type = next(iter(types))
    if read_types(types).encode_type(primary_type) != text:
        raise _not("an encodeType: the referenced structs follow in alphabetical order, each once", text)
    if primary_type in CATALOGUE or DOMAIN_TYPE in types:
        raise _not(f"another name: {primary_type} already has a meaning", text)
    for name, choices in _CHOICES.items():
        if pin[name] not in choices:
            raise _not(f"one of {choices} for {name}", pin[name])
    leaves = dict(leaves_of(types, primary_type))
    _require(leaves, pin["trader"], "address")
    _require(leaves, pin["nonce"], "uint256")
    if pin["deadline"]:
        _require(leaves, pin["deadline"], "uint256")
    fields = tuple(_field(path, pin) for path in leaves)
    return Intent(
        primary_type, text, f"{primary_type}, a struct that was pinned on this machine", pin["domain"],
        pin["signer_rule"], pin["route"], pin["trader"], pin["nonce"], pin["deadline"], fields,
    )  # fmt: skip


def custom_intents(pins: list[Any], deployment: Deployment) -> Mapping[str, Intent]:
    """Return the structs that were pinned one by one, of pins with one name the newest.

    A struct that the deployment's own profile describes is that one alone.
    """
    known = structs_of(deployment)
    return {intent.name: intent for pin in pins if (intent := custom_intent(pin)).name not in known}


def _not(expected: str, got: str) -> UsageError:
    return UsageError(f"{got[:200]!r} is not {expected}", do="compare it with the venue's contract")


def _require(leaves: dict[str, str], path: str, kind: str) -> None:
    if leaves.get(path) != kind or atomic_kind(kind) is None:
        raise _not(f"a member of type {kind}; there are {list(leaves)}", path)


def _field(path: str, pin: Mapping[str, str]) -> Field:
    if path == pin["deadline"]:
        return Field(
            path, UNIX_MS, "after this moment the signature is worthless", Rule("builder", path, "deadline"), DEADLINE
        )
    if path == pin["nonce"]:
        return Field(path, RAW, "a number used once", Rule("builder", path, "nonce"), NONCE_KIND)
    unit = ADDRESS if path == pin["trader"] else RAW
    return Field(path, unit, "shown raw: Airlock does not know its meaning", Rule("plan", path), UNKNOWN)
