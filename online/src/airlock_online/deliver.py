"""Submitting a signed intent once, and finding out what became of it: the one way to every route.

The order of things is the guarantee: checked, written down, claimed, sent; and from then on only read.
"""

from __future__ import annotations

import hashlib
import re

from airlock_online.database import JournalError
from airlock_online.journal import Record, Submission
from airlock_online.journal_schema import before
from airlock_online.lifecycle import FINAL, Outcome, State
from airlock_online.routes import batched, relayer
from airlock_online.routes.delivery import Delivery, World
from airlock_online.routes.tracker import Tracker
from airlock_online.urls import join
from airlock_shared.errors import Expired, OutcomeUnknown, Refusal, ServiceError, UsageError
from airlock_shared.intents import CATALOGUE, Intent
from airlock_shared.text import safe
from airlock_shared.units import looks_like_seconds, utc_text

EXPIRY_MARGIN_MS = 120_000
"""After a deadline, for how long the chain's clock may still be before ours: only then is an unused nonce proof."""

BATCHED, RELAYER = "batched-market", "relayer"

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
_EIP7702 = {"chainId": str, "to": str, "data": str, "gas": str, "authorizationList": list}


def submit(delivery: Delivery, world: World) -> Outcome:
    """Send a signed intent, once, and follow it. What was sent before is not sent again but followed.

    Raises ``Refusal`` (``ROUTE-…``, ``ORDER-…``, ``SIG-FORM``) or ``Expired`` before anything is sent, ``JournalError``
    when it cannot be written down, ``OutcomeUnknown`` when the journal fails after the sending. The outcome says the rest:
    see ``lifecycle.error_of``.
    """
    check(delivery)
    known = world.journal.find(delivery.digest)
    if known:
        _check_same(known, delivery)
    if known and known.state not in before(State.SENDING):
        world.on_notice(f"{delivery.digest} was sent before and is {known.state}; it is not sent again")
        return follow(delivery.digest, world)
    _check_time(delivery, world.clock_ms())
    body = (
        batched.body_of(delivery) if delivery.route == BATCHED else relayer.body_of(delivery, dict(world.relayer.body))
    )
    body_sha256 = hashlib.sha256(body).hexdigest()
    world.journal.prepare(_record(delivery, body_sha256))
    if not world.journal.claim(delivery.digest, url=delivery.base_url, body_sha256=body_sha256):
        world.on_notice(f"another process is sending {delivery.digest}; it is not sent again")
        return follow(delivery.digest, world)
    tracker = Tracker(delivery.digest, world)
    route = batched if delivery.route == BATCHED else relayer
    try:
        reason = route.send(delivery, body, tracker, world)
        return _outcome(delivery.digest, world, reason)
    except JournalError as error:
        raise _unwritten(tracker, error) from error


def follow(digest: str, world: World) -> Outcome:
    """Find out, by reading alone, what became of a submission. What is final already is told from the journal.

    Raises ``JournalError`` when the journal does not know the digest or cannot be used.
    """
    world.journal.move(digest, State.UNKNOWN, note="the program stopped while it was sending")  # from SENDING alone
    known = world.journal.get(digest)
    reason = ""
    if known.state in (State.ACCEPTED, State.UNKNOWN) and known.tracking_id:
        tracker = Tracker(digest, world)
        route = batched if known.record.route == BATCHED else relayer
        world.on_notice(f"asking for the status of {safe(known.tracking_id)}")
        reason = route.follow(known.record.url, tracker, world)
    return _outcome(digest, world, reason)


def check(delivery: Delivery) -> None:
    """Refuse what may not go where it is meant to go, and what has not the form of a signed intent (rule C28)."""
    intent = CATALOGUE.get(delivery.primary_type)
    if intent is None or intent.route != delivery.route:
        raise Refusal(
            "ROUTE-STRUCT",
            f"{safe(delivery.primary_type, limit=80)} does not go this way",
            got=safe(delivery.route, limit=40),
            expected=intent.route if intent else "a struct of the catalogue",
            do="prepare the step again; a signature for one service is never given to another",
        )
    if delivery.route not in (BATCHED, RELAYER):
        raise UsageError(f"the route {delivery.route} is not served here", do="export the signed intent to its sender")
    join(delivery.base_url, batched.SUBMIT_PATH)
    _check_order_type(delivery, intent)
    _check_forms(delivery)
    if (delivery.deadline_ms is None) == bool(intent.deadline):
        raise Refusal("ROUTE-FORM", f"{intent.name} has {'a' if intent.deadline else 'no'} deadline").at("deadline_ms")


def _check_order_type(delivery: Delivery, intent: Intent) -> None:
    codes = [code for code in intent.order_types or () if code >= 0]
    allowed: list[int | None] = [*codes] if codes else [None]
    if delivery.order_type not in allowed or type(delivery.order_type) is bool:
        raise Refusal(
            "ORDER-TYPE",
            f"not an order type of {intent.name}",
            got=str(delivery.order_type),
            expected=" or ".join(map(str, allowed)),
            do="prepare the step again; the order type follows from the struct and the pair",
        )
    if delivery.eip7702 is not None:
        shape = {name: type(value) for name, value in delivery.eip7702.items()}
        if delivery.route != BATCHED or shape != _EIP7702:
            raise Refusal(
                "ORDER-EIP7702", "not an EIP-7702 transaction for the batched market", expected=str(list(_EIP7702))
            )


def _check_forms(delivery: Delivery) -> None:
    if not _SIGNATURE.fullmatch(delivery.signature):
        raise Refusal("SIG-FORM", "the signature is not 65 bytes r, s, v with v 27 or 28, in lower-case hex")
    for name, pattern in _FORMS.items():
        if not pattern.fullmatch(getattr(delivery, name)):
            raise Refusal("ROUTE-FORM", "not of the form that it must have", expected=pattern.pattern).at(name)


def _check_time(delivery: Delivery, now_ms: int) -> None:
    if delivery.deadline_ms is None:
        return
    if looks_like_seconds(delivery.deadline_ms):
        raise Refusal("TIME-UNIT", "the deadline looks like seconds", got=str(delivery.deadline_ms), expected="unix ms")
    if now_ms >= delivery.deadline_ms:
        raise Expired(f"the deadline was {utc_text(delivery.deadline_ms)}; nothing was sent", do="sign a new intent")


def _check_same(known: Submission, delivery: Delivery) -> None:
    """Refuse a delivery that contradicts what the journal has under its digest: one of the two is not what was signed."""
    for name in ("primary_type", "route", "signer", "contract", "nonce", "deadline_ms"):
        was, is_now = getattr(known.record, name), getattr(delivery, name)
        if str(was).lower() != str(is_now).lower():
            raise Refusal(
                "ROUTE-JOURNAL", "the journal has this digest with another value", got=str(is_now), expected=str(was)
            ).at(name)


def _record(delivery: Delivery, body_sha256: str) -> Record:
    own = {name: getattr(delivery, name) for name in Record._fields if name in Delivery._fields}
    own["trader"] = delivery.trader or delivery.signer
    return Record(**own, url=delivery.base_url, body_sha256=body_sha256)


def _outcome(digest: str, world: World, reason: str) -> Outcome:
    known = world.journal.get(digest)
    found = ""
    if known.state not in FINAL and known.state not in before(State.SENDING):
        found = _resolve(known, world)
        known = world.journal.get(digest)
    told = "; ".join(dict.fromkeys(safe(text) for text in (known.note, reason, found) if text))
    anomalies = tuple(world.journal.anomalies(digest))
    return Outcome(digest, known.state, known.tracking_id, known.code, told, anomalies)


def _resolve(known: Submission, world: World) -> str:
    """Ask the chain about the nonce, and settle what that settles. Return what it says, for a person."""
    digest, deadline_ms = known.record.digest, known.record.deadline_ms
    now_ms = (
        world.clock_ms()
    )  # the clock first: an unused nonce proves something only when it is read after the deadline
    used = _nonce_used(known.record, world)
    if used is None:
        return ""
    if used and known.record.route == RELAYER:
        found = "the chain has its nonce as used"
        world.journal.move(digest, State.CONFIRMED, note=found)
        return found
    if used:
        return "the chain has its nonce as used, so the order was executed or declined: read the positions"
    if deadline_ms is None:
        return "its nonce is unused, and it has no deadline"
    if now_ms <= deadline_ms + EXPIRY_MARGIN_MS:
        return f"its nonce is unused; it can be executed until {utc_text(deadline_ms)}"
    found = f"its deadline was {utc_text(deadline_ms)}"
    world.journal.move(digest, State.EXPIRED_UNUSED, note=found)
    return found


def _nonce_used(record: Record, world: World) -> bool | None:
    """Tell whether the nonce is used, by the signer or by the trader: contracts differ in whose bitmap it is."""
    if world.nonce_used is None:
        return None
    accounts = {account.lower(): account for account in (record.signer, record.trader)}.values()
    try:
        answers = [world.nonce_used(record.contract, account, int(record.nonce)) for account in accounts]
    except ServiceError as error:
        world.on_notice(f"the nonce cannot be read: {error.what}")
        return None
    return True if True in answers else None if None in answers else False


def _unwritten(tracker: Tracker, error: JournalError) -> OutcomeUnknown:
    named = f"its tracking id is {safe(tracker.tracking_id)}; " if tracker.tracking_id else ""
    return OutcomeUnknown(
        f"{tracker.digest} was sent and then {error.what}",
        do=f"{named}write this down, repair the journal, then follow it; do not submit it elsewhere",
    )
