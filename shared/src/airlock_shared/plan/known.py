"""What this machine knows and a plan may use, and a filled-in example of each action."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from airlock_shared.documents.transcript import Entry
from airlock_shared.errors import AirlockError
from airlock_shared.ethereum.signatures import parse_address
from airlock_shared.text.safe import safe
from airlock_shared.units import (
    ADDRESS,
    CHOICE,
    CODE,
    COIN,
    COUNT,
    LEVERAGE,
    NONCE,
    PERCENT,
    PRICE,
    TEXT,
    UNIX_MS,
    UNIX_S,
    USDC,
)
from airlock_shared.venue.actions import ACTIONS, Parameter

if TYPE_CHECKING:
    from airlock_shared.documents.deployment import Deployment


# ---- known ----------------------------------------------------------------------------------------------------------
# What this machine knows and a plan may use: deployments and their pairs, accounts, addresses and codes used before.
# It is offered and never taken by itself: an address that was used once may be the wrong one today. Everything here
# went through our own readers before it was recorded, and goes through the plan's reader again.


_MOST = 9
"""How many are offered, the last used first."""

_CODE = re.compile(r"0x[0-9a-f]{64}")
_OWN = "an account of the Ledger, confirmed on its screen"
Choices = tuple[tuple[str, str], ...]


class KnownValues(NamedTuple):
    """What is known: the names of pairs by deployment, addresses and codes, and the path of each account of the Ledger."""

    pairs: Mapping[str, tuple[str, ...]]
    addresses: Choices
    codes: Choices
    paths: Mapping[str, str]

    def for_field(self, parameter: Parameter, deployment: str) -> Choices:
        """Return what is offered for this field of a step on this deployment, each with what it is."""
        if parameter.name == "pair":
            return tuple((name, "") for name in self.pairs.get(deployment, ())[:_MOST])
        return {ADDRESS: self.addresses, CODE: self.codes}.get(parameter.unit, ())


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
            if _is_address(text):
                addresses.setdefault(text, f"used before: {safe(name, limit=30)}")
            elif _CODE.fullmatch(text) and name == "code":
                codes.setdefault(text, "used before")
    others = {address: what for address, what in addresses.items() if address not in paths}
    own = {address: f"{_OWN}, {safe(path, limit=40)}" for address, path in paths.items() if _is_address(address)}
    return KnownValues(pairs, tuple((own | others).items())[:_MOST], tuple(codes.items())[:_MOST], paths)


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


# ---- examples -------------------------------------------------------------------------------------------------------
# An example of everything that a plan can hold, as it is written in TOML: for questions, for explanations, for help.


_ACCOUNT = '"0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359"'
_OTHER = '"0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb"'
_BY_UNIT = {
    ADDRESS: _ACCOUNT, COUNT: "0", USDC: '"250.5"', PRICE: '"64000.5"', LEVERAGE: '"10"', PERCENT: '"1"',
    COIN: '"0.25"', CODE: '"TREASURY"', NONCE: "7", UNIX_MS: "2027-03-31T00:00:00Z", UNIX_S: "2027-03-31T00:00:00Z",
    TEXT: '"BTC/USD"',
}  # fmt: skip
_BY_NAME = {
    "delegate": _OTHER,
    "newOwner": _OTHER,
    "spender": _OTHER,
    "minLeverage": '"9"',
    "maxLeverage": '"11"',
    "twapId": "41",
    "replaces": '"trigger-17"',
    "contract": '"0x4Cd241E8d1510e30b2076397afc7508Ae59C66c9"',
    "order": '"close-btc"',
    "terms_sha256": f'"{"5a" * 32}"',
}
_BY_PLACE = {
    "format": '"airlock/plan@1"',
    "ceremony.id": '"2027-03-delegates"',
    "ceremony.title": '"Delegate keys for the trading desk"',
    "ceremony.deployment": '"mainnet"',
    "ceremony.roles": '["signer", "facilitator", "witness"]',
    "ceremony.witness": '"required"',
    "limits.deadline_at_most": '"30m"',
    "limits.remaining_at_least": '"3m"',
    "limits.slippage_percent_at_most": '"1"',
    "limits.max_fee_gwei_at_most": '"5"',
    "limits.native_fee_at_most": '"0.0005"',
    "signers.*.address": _ACCOUNT,
    "signers.*.path": "\"m/44'/60'/0'/0/0\"",
    "signers.*.show": '"fields"',
    "signers.*.delegate_of": _OTHER,
    "steps[*].id": '"desk-key"',
    "steps[*].action": '"delegate"',
    "steps[*].signer": '"treasury"',
    "steps[*].replaces": f'"0x{"4d" * 32}"',
    "steps[*].fields": '{ trader = "0x…", … }',
    "signers": "[signers.treasury]",
    "ceremony": "[ceremony]",
    "steps": "[[steps]]",
}


def literal(parameter: Parameter) -> str:
    """Return an example of a field's value as a plan holds it: text in quotes, times and counts without."""
    if parameter.unit is CHOICE:
        return f'"{parameter.choices[0]}"'
    return _BY_NAME.get(parameter.name) or _BY_UNIT[parameter.unit]


def example_at(where: str, action: str = "") -> str:
    """Return an example of what stands at a place of a plan, or an empty text. ``action`` is that of the place's step."""
    field = re.match(r"steps\[[0-9]+\]\.fields\.([A-Za-z0-9_]+)", where)
    if field:
        known = ACTIONS[action].parameter(field[1]) if action in ACTIONS else None
        return f"{field[1]} = {literal(known)}" if known else ""
    text = literal_at(where)
    return text if not text or (text.startswith("[") and "." not in where) else f"{where.rsplit('.', 1)[-1]} = {text}"


def literal_at(where: str) -> str:
    """Return an example of the value at a place of a plan outside a step's fields, or an empty text."""
    return _BY_PLACE.get(re.sub(r"^signers\.[^.]+", "signers.*", re.sub(r"\[[0-9]+\]", "[*]", where)), "")
