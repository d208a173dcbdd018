"""Reading what the builder reads from the chain: lenient, because the specification does not show these shapes.

A member that is missing or of another form is "not told", and never made up; every amount comes with its raw number. None
of it decides anything that is signed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from airlock_online.clients.reply_values import PNL_ALLOWED, pnl_of, reply_names, value_at
from airlock_online.speech.sections import PLACEHOLDER, REPLIES, Speech
from airlock_shared.documents.deployment import Deployment
from airlock_shared.text.safe import safe
from airlock_shared.units import (
    COIN,
    COUNT,
    FLAG,
    LEVERAGE,
    PERCENT,
    PRICE,
    TEXT,
    UNIX_S,
    USDC,
    Unit,
    looks_like_seconds,
    to_human,
    utc_text,
)

NOT_TOLD = "not told"
SIDE = Unit("side")
_WORDS = {FLAG: ("no", "yes"), SIDE: ("short", "long")}
_MISSING = (None, NOT_TOLD)
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,77})", re.ASCII)


class Column(NamedTuple):
    """A member of a reply: what it is called, where it is found (names joined by dots), its unit."""

    label: str
    path: str
    unit: Unit


class ReadValue(NamedTuple):
    """One value as it was told: ``raw`` as text or flag (None: not told), and its text for a person."""

    label: str
    raw: str | bool | None
    text: str


POSITION_COLUMNS = (
    Column("pair", "trade.pairIndex", COUNT),
    Column("slot (tradeIndex)", "trade.index", COUNT),
    Column("side", "trade.buy", SIDE),
    Column("collateral", "trade.initialPosToken", USDC),
    Column("size", "trade.positionSizeUSDC", USDC),
    Column("exposure", "coinExposure", COIN),
    Column("leverage", "trade.leverage", LEVERAGE),
    Column("open price", "trade.openPrice", PRICE),
    Column("liquidation at", "liquidationPrice", PRICE),
    Column("take profit", "trade.tp", PRICE),
    Column("stop loss", "trade.sl", PRICE),
    Column("opened (openTimestamp)", "trade.timestamp", UNIX_S),
)
ORDER_COLUMNS = (
    Column("pair", "order.pairIndex", COUNT),
    Column("slot (orderIndex)", "order.index", COUNT),
    Column("order type", "orderType", COUNT),
    Column("side", "order.buy", SIDE),
    Column("collateral", "order.positionSize", USDC),
    Column("leverage", "order.leverage", LEVERAGE),
    Column("trigger price", "order.price", PRICE),
    Column("slippage", "order.slippageP", PERCENT),
    Column("take profit", "order.tp", PRICE),
    Column("stop loss", "order.sl", PRICE),
    Column("placed", "order.timestamp", UNIX_S),
)
NONCE_COLUMNS = (Column("used", "used", FLAG),)
DELEGATION_COLUMNS = (
    Column("enabled", "isEnabled", FLAG),
    Column("expires", "expiry", UNIX_S),
    Column("may send calls", "canDelegatedAction", FLAG),
    Column("may sign intents", "canSignIntents", FLAG),
)


def relayed(places: Mapping[str, str]) -> tuple[Column, ...]:
    """Return what the relay's read tells, and where the venue has it."""
    return (
        Column("status", places["status"], TEXT),
        Column("block", places["block"], COUNT),
        Column("confirmations", "confirmations", COUNT),
        Column("code", "code", TEXT),
        Column("reason", places["error"], TEXT),
    )


def values_read(source: object, columns: Iterable[Column]) -> list[ReadValue]:
    """Return what a reply tells, column by column."""
    return [ReadValue(column.label, *_read(value_at(source, column.path), column.unit)) for column in columns]


def as_json(values: Iterable[ReadValue]) -> dict[str, object]:
    """Return what was told by label, each value with its text."""
    return {row.label: {"raw": row.raw, "text": row.text} for row in values}


def entries(source: object, name: str) -> list[Any] | None:
    """Return the list under a name of a reply, or None when the reply has none there."""
    found = value_at(source, name)
    return found if type(found) is list else None


def of_pair(source: object, columns: Iterable[Column], deployment: Deployment) -> list[ReadValue]:
    """Return what a reply tells, its pair first, whose name in the pinned deployment stands beside its index."""
    index, *told = values_read(source, columns)
    if index.raw is not None:
        pair = deployment.pairs.get(int(index.raw))
        name = safe(pair.name) if pair else "(not in the pinned deployment)"
        index = index._replace(text=f"{index.text} {name}")
    return [index, *told]


def _read(value: object, unit: Unit) -> tuple[str | bool | None, str]:
    """Return ``(raw, text)`` of a value; ``(None, "not told")`` for one that is missing or not in its unit's form."""
    if unit in _WORDS:
        return (value, _WORDS[unit][value]) if type(value) is bool else _MISSING
    if unit is TEXT:
        return (value, safe(value, limit=200)) if type(value) is str and value else _MISSING
    digits = _digits(value)
    return (digits, _number_text(digits, unit)) if digits else _MISSING


def _digits(value: object) -> str:
    """Return an integer, told as a number or as a text, in decimal digits; empty when it is none."""
    text = str(value)
    return text if _INTEGER.fullmatch(text) else ""


def _number_text(digits: str, unit: Unit) -> str:
    if unit is UNIX_S and int(digits):
        scale, unit_told = (1000, "s") if looks_like_seconds(int(digits)) else (1, "ms")
        return f"{utc_text(int(digits) * scale)} (unix {unit_told} {digits})"
    return f"{to_human(int(digits), unit)} {unit.name} (raw {digits})" if unit.is_amount else digits


# ---- the pair catalogue ---------------------------------------------------------------------------------------------


class PairRow(NamedTuple):
    """A pair as the venue lists it, texts safe to show; ``pinned``: whether the pinned deployment has it just so."""

    number: str
    name: str
    kind: str
    leverages: str
    remarks: str
    pinned: bool


def pair_rows(catalogue: Iterable[object], names: Mapping[str, str], deployment: Deployment) -> list[PairRow]:
    """Return the pair catalogue; what is no pair is left out."""
    return [_pair_row(pair, names, deployment) for pair in catalogue if type(pair) is dict]


def _pair_row(pair: Mapping[str, Any], names: Mapping[str, str], deployment: Deployment) -> PairRow:
    index, label, pnl = pair.get(names["id"]), pair.get(names["name"]), pnl_of(pair, names["pnl"])
    number = int(_digits(index) or -1)
    pinned = deployment.pairs.get(number)
    same = pinned is not None and pinned.name == label and pinned.pnl == (None if pnl == PNL_ALLOWED else pnl is True)
    remarks = ["not listed"] if pair.get("isPairListed") is False else []
    remarks += ["close only"] if pair.get("closeOnly") is True else []
    return PairRow(
        str(number) if number >= 0 else NOT_TOLD,
        safe(label, limit=40) if type(label) is str else NOT_TOLD,
        {"True": "PnL", "False": "ordinary", PNL_ALLOWED: PNL_ALLOWED}.get(str(pnl), NOT_TOLD),
        _leverages(pair.get("leverages")),
        ", ".join(remarks),
        same,
    )


def _leverages(value: object) -> str:
    told = [value_at(value, name) for name in ("minLeverage", "maxLeverage")]
    if any(type(each) not in (str, int) for each in told):
        return NOT_TOLD
    return " to ".join(safe(str(each), limit=20) for each in told)


# ---- nonce reads ----------------------------------------------------------------------------------------------------
# Whether an intent's nonce is used, by the builder's read: its word, which must name the nonce that was asked for.
# Source: the specification, "Common request-field conventions", row ``nonce``; the reply's shape is that of
# comparable venues.


_NONCE = REPLIES["nonce"]


def question_of(account: str, nonce: str, space: str, speech: Speech) -> dict[str, str]:
    """Return the members of a nonce read; the space of another contract than the trading one where the file names it.

    The specification names no such member, and what it does not name is sent to nobody who has not said so.
    """
    named_there = f"{PLACEHOLDER}space" in speech.request("nonce").values()
    return {"trader": account, "check": nonce} | (_space_member(space) if named_there else {})


def to_name(nonce: str, space: str) -> dict[str, str]:
    """Return what a reply must name: the nonce and, of another contract than the trading one, the space."""
    return {"nonce": nonce} | _space_member(space)


def _space_member(space: str) -> dict[str, str]:
    return {"space": space} if space == "referral" else {}


def used_in(
    reply: object,
    account: str,
    nonce: str,
    space: str,
    places: Mapping[str, str],
) -> bool | None:
    """Return what a reply says of the very nonce that was asked for, else None.

    It must name what :func:`to_name` says: a venue that knows no spaces answers for the trading contract. The account is
    compared where it is named. What ships is read beside the venue's own places; where two of them contradict each other,
    nothing is told.
    """
    named = (reply_names(reply, trader=account), reply_names(reply, space=space))
    if reply_names(reply, **to_name(nonce, space)) is not True or False in named:
        return None
    return nonce_flag(reply, places)


def nonce_flag(reply: object, places: Mapping[str, str]) -> bool | None:
    """Return whether a reply says that its nonce is used; None when it does not say, or contradicts itself."""
    place = places["used"].removeprefix("not ")
    said = value_at(reply, place)
    told = [not said if type(said) is bool and place != places["used"] else said, value_at(reply, _NONCE["used"])]
    flags = {flag for flag in told if type(flag) is bool}
    return flags.pop() if len(flags) == 1 else None
