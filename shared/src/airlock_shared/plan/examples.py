"""An example of everything that a plan can hold, as it is written in TOML: for questions, for explanations, for help."""

from __future__ import annotations

import re

from airlock_shared.catalogue.actions import ACTIONS, Parameter
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

_ACCOUNT = '"0x00000000000000000000000000000000000000a1"'
_OTHER = '"0x00000000000000000000000000000000000000b2"'
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
    "steps[*].fields": '{ trader = "0x…", delegate = "0x…", expiry = 2027-03-31T00:00:00Z }',
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
    pattern = re.sub(r"^signers\.[^.]+", "signers.*", re.sub(r"\[[0-9]+\]", "[*]", where))
    text = _BY_PLACE.get(pattern, "")
    return text if not text or (text.startswith("[") and "." not in where) else f"{where.rsplit('.', 1)[-1]} = {text}"
