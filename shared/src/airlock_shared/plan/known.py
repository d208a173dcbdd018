"""What this machine knows and a plan may use: deployments and their pairs, accounts, addresses and codes used before.

It is offered and never taken by itself: an address that was used once may be the wrong one today. Everything here went
through our own readers before it was recorded, and goes through the plan's reader again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from airlock_shared.catalogue.actions import Parameter
from airlock_shared.documents.transcript import Entry
from airlock_shared.errors import AirlockError
from airlock_shared.ethereum.addresses import parse_address
from airlock_shared.text.safe import safe
from airlock_shared.units import ADDRESS, CODE

if TYPE_CHECKING:
    from airlock_shared.documents.deployment import Deployment

MOST = 9
"""How many are offered, the last used first."""

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_CODE = re.compile(r"0x[0-9a-f]{64}")
_OWN = "an account of the Ledger, confirmed on its screen"
Choices = tuple[tuple[str, str], ...]


class Offered(NamedTuple):
    """What is offered for the fields of a step, each with what it is."""

    addresses: Choices = ()
    codes: Choices = ()
    pairs: Choices = ()

    def for_field(self, parameter: Parameter) -> Choices:
        """Return what is offered for this field."""
        if parameter.name == "pair":
            return self.pairs
        return {ADDRESS: self.addresses, CODE: self.codes}.get(parameter.unit, ())


class KnownValues(NamedTuple):
    """What is known: the names of pairs by deployment, addresses and codes, and the path of each account of the Ledger."""

    pairs: Mapping[str, tuple[str, ...]]
    addresses: Choices
    codes: Choices
    paths: Mapping[str, str]

    def of(self, deployment: str) -> Offered:
        """Return what is offered for steps on this deployment."""
        names = self.pairs.get(deployment, ())
        return Offered(self.addresses, self.codes, tuple((name, "") for name in names[:MOST]))


NOTHING = KnownValues({}, (), (), {})


def known_from(deployments: Iterable[Deployment], entries: Iterable[Entry]) -> KnownValues:
    """Return what deployments and a transcript tell: the latest first, an account of the Ledger before any other address."""
    pairs = {one.name: tuple(safe(pair.name, limit=40) for pair in one.pairs.values()) for one in deployments}
    paths: dict[str, str] = {}
    addresses: dict[str, str] = {}
    codes: dict[str, str] = {}
    for entry in reversed(list(entries)):
        if entry.event == "address" and entry.data.get("confirmed") is True:
            paths.setdefault(str(entry.data.get("address")), str(entry.data.get("path")))
        for name, text in _texts(entry.data):
            if _ADDRESS.fullmatch(text) and _is_address(text):
                addresses.setdefault(text, f"used before: {safe(name, limit=30)}")
            elif _CODE.fullmatch(text) and name == "code":
                codes.setdefault(text, "used before")
    others = {address: what for address, what in addresses.items() if address not in paths}
    own = {address: f"{_OWN}, {safe(path, limit=40)}" for address, path in paths.items() if _is_address(address)}
    return KnownValues(pairs, tuple((own | others).items())[:MOST], tuple(codes.items())[:MOST], paths)


def _texts(value: object, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text in a record with the name that it stands under."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, Mapping):
        for key, member in value.items():
            yield from _texts(member, str(key))
    elif isinstance(value, list | tuple):
        for member in value:
            yield from _texts(member, name)


def _is_address(text: str) -> bool:
    """Tell whether a plan could hold this address: its capitals are right, and it is not zero."""
    try:
        return parse_address(text) != bytes(20) and text != text.lower()
    except AirlockError:
        return False
