"""What may be sent at all: the right destination, the right forms, in time, and what the journal has of it already."""

from __future__ import annotations

import re
from collections.abc import Iterable

from airlock_online.delivery.routes.context import Delivery
from airlock_online.journal.order_states import DONE, OPEN
from airlock_online.journal.schema import Record, Submission
from airlock_online.speech.sections import OF_TRANSACTIONS
from airlock_shared.errors import DocumentError, Expired, Refusal
from airlock_shared.text.safe import safe
from airlock_shared.units import looks_like_seconds, utc_text
from airlock_shared.venue.structs import BATCHED_MARKET, CATALOGUE, CORE_API, Intent
from airlock_shared.wire.strict_json import parse_json

_HASH = re.compile(r"0x[0-9a-f]{64}", re.ASCII)
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}", re.ASCII)
_BYTES = re.compile(r"0x(?:[0-9a-f]{2})+", re.ASCII)
_SIGNATURE = re.compile(r"0x[0-9a-f]{128}1[bc]", re.ASCII)  # r || s || v, v being 27 or 28
_DECIMAL = re.compile(r"0|[1-9][0-9]{0,77}", re.ASCII)
_FORMS = {
    "digest": _HASH,
    "encoded_intent": _BYTES,
    "signer": _ADDRESS,
    "contract": _ADDRESS,
    "nonce": _DECIMAL,
}
EIP7702 = {"chainId": str, "to": str, "data": str, "gas": str, "authorizationList": list}


def check_admission(delivery: Delivery) -> None:
    """Refuse what may not go where it is meant to go, and what has not the form of a signed thing."""
    intent = delivery.intent or CATALOGUE.get(delivery.primary_type)
    allowed = {intent.route} if intent else OF_TRANSACTIONS if delivery.raw_transaction else frozenset()
    if delivery.route not in allowed:
        raise Refusal(
            "ROUTE-STRUCT",
            f"{safe(delivery.primary_type, limit=80)} is not sent this way",
            got=safe(delivery.route, limit=40),
            expected=" or ".join(sorted(allowed)) or "a struct or a call of the catalogue",
            do="prepare the step again; a signature for one service is never sent to another",
        )
    if delivery.replaces and delivery.route != CORE_API:
        raise Refusal("ROUTE-FORM", "only a price trigger replaces another one").at("replaces")
    _check_order_type(delivery, intent)
    _check_forms(delivery)
    if (delivery.deadline_ms is None) == bool(intent and intent.deadline):
        has = "a" if intent and intent.deadline else "no"
        raise Refusal("ROUTE-FORM", f"{delivery.primary_type} has {has} deadline").at("deadline_ms")


def _check_order_type(delivery: Delivery, intent: Intent | None) -> None:
    codes = [code for code in (intent.order_types if intent else None) or () if code >= 0]
    allowed: list[int | None] = [*codes] if codes else [None]
    if delivery.order_type not in allowed or type(delivery.order_type) is bool:
        raise Refusal(
            "ORDER-TYPE",
            f"not an order type of {delivery.primary_type}",
            got=delivery.order_type,
            expected=" or ".join(map(str, allowed)),
            do="prepare the step again; the order type follows from the struct and the pair",
        )
    if delivery.eip7702 and (delivery.route != BATCHED_MARKET or _wrong_in(delivery.eip7702)):
        raise Refusal("ORDER-EIP7702", "not an EIP-7702 transaction for the batched market", expected=list(EIP7702))


def _wrong_in(text: str) -> list[str]:
    try:
        return wrong_eip7702(parse_json(text.encode()))
    except (DocumentError, UnicodeEncodeError):
        return [*EIP7702]


def wrong_eip7702(value: object) -> list[str]:
    """Return the members of the batched market's EIP-7702 transaction that are missing, unknown or of another type."""
    told = value if type(value) is dict else {}
    return [name for name in {**EIP7702, **told} if type(told.get(name)) is not EIP7702.get(name)]


def _check_forms(delivery: Delivery) -> None:
    if not _SIGNATURE.fullmatch(delivery.signature):
        raise Refusal("SIG-FORM", "the signature is not 65 bytes r, s, v with v 27 or 28, in lower-case hex")
    for name, pattern in _FORMS.items():
        if not pattern.fullmatch(getattr(delivery, name)):
            raise Refusal("ROUTE-FORM", "in the wrong form", expected=pattern.pattern).at(name)
    if bool(delivery.raw_transaction) != (delivery.route in OF_TRANSACTIONS):
        raise Refusal("ROUTE-FORM", "a raw transaction belongs to the routes of transactions").at("raw_transaction")
    if delivery.raw_transaction and not _BYTES.fullmatch(delivery.raw_transaction):
        raise Refusal("ROUTE-FORM", "not bytes in hex").at("raw_transaction")


def check_time(delivery: Delivery, now_ms: int) -> None:
    """Refuse what is too late, or has a deadline in another unit. Raises ``Refusal("TIME-UNIT")`` or ``Expired``."""
    if delivery.deadline_ms is None:
        return
    if looks_like_seconds(delivery.deadline_ms):
        raise Refusal("TIME-UNIT", "the deadline looks like seconds", got=delivery.deadline_ms, expected="unix ms")
    if now_ms >= delivery.deadline_ms:
        raise Expired(
            f"too late by this machine's clock: the deadline was {utc_text(delivery.deadline_ms)}; nothing was sent",
            do="is that clock right, by a watch? Then prepare the plan again, under another name, and have that signed",
        )


def check_same(known: Submission, delivery: Delivery) -> None:
    """Refuse a delivery that contradicts what the journal has under its digest: one of the two is not what was signed."""
    names = ["primary_type", "signer", "contract", "nonce", "deadline_ms", "chain_id"]
    if {known.record.route, delivery.route} - OF_TRANSACTIONS:  # the chain takes a transaction once, whoever sends it
        names.append("route")
    for name in names:
        was, is_now = getattr(known.record, name), getattr(delivery, name)
        if str(was).lower() != str(is_now).lower():
            raise Refusal(
                "ROUTE-JOURNAL", "the journal has this digest with another value", got=is_now, expected=was
            ).at(name)


def check_alone(record: Record, rivals: Iterable[Submission]) -> None:
    """Refuse a second digest of a step that is done, or while the first may still execute beside it.

    One that shares the first's nonce is a replacement that the plan named: the signing machine signs no other.
    """
    for rival in rivals:
        other = rival.record
        same_step = (other.ceremony, other.step) == (record.ceremony, record.step)
        if same_step and rival.state in OPEN | DONE and not shares_nonce(record, other):
            raise Refusal(
                "ROUTE-STEP",
                "an earlier signature carried this step out, or may, and this one does not replace it with the same nonce",
                got=f"{other.digest} is {rival.state.value}, with nonce {other.nonce}; this one has nonce {record.nonce}",
                do="follow the earlier one: airlock-online follow; airlock-online resolve says what ends it. A step that is "
                "done is not sent again: agree on a plan with another step id",
            )


def shares_nonce(one: Record, other: Record) -> bool:
    """Tell whether the chain executes one of two at most: a sender's count, or a contract's nonce for the same accounts."""
    if one.chain_id != other.chain_id:
        return False
    transactions = {record.route in OF_TRANSACTIONS for record in (one, other)}
    names = ("signer", "nonce") if transactions == {True} else ("signer", "nonce", "trader", "contract")
    return len(transactions) == 1 and all(getattr(one, n).lower() == getattr(other, n).lower() for n in names)
