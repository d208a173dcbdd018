"""What a submission that has not ended waits for, until when, and what a person does: said from the journal alone."""

from __future__ import annotations

from typing import NamedTuple

from airlock_online.delivery.resolution import EXPIRY_MARGIN_MS
from airlock_online.journal.order_states import OrderState
from airlock_online.journal.schema import Submission
from airlock_shared.catalogue.services import OF_TRANSACTIONS
from airlock_shared.units import utc_text


class OpenOutcome(NamedTuple):
    """``until_ms`` is the moment, unix ms, after which reading alone settles it; None when nothing does."""

    what: str
    until_ms: int | None
    do: str


_FOLLOW = "Run `airlock-online follow`."
_AGAIN = "Sign a new one only after this one has ended: until then it can still be executed."


_SPENT = OpenOutcome(
    "what has spent its nonce: its own execution, or something else; it can never be executed again",
    None,
    "Look for its transaction: `airlock-online resolve DIGEST --search`, or give what the venue or a block explorer tells: "
    "`--transaction HASH`, `--tracking-id ID`. Sign nothing in its place before you know: it may have been done.",
)


def open_outcome(known: Submission, *, nonce_used: bool = False) -> OpenOutcome:
    """Return what a submission waits for; ``nonce_used`` is what the chain has just said of an intent's nonce."""
    record = known.record
    match known.state:
        case OrderState.PREPARED:
            return OpenOutcome("nothing: not a byte of it was sent", None, "Submit it, or leave it.")
        case OrderState.REJECTED:
            return OpenOutcome(
                "nothing: it was refused before it was accepted",
                None,
                "Remove the cause and submit it again, or sign a new one.",
            )
        case (
            OrderState.SENDING
            | OrderState.ACCEPTED
            | OrderState.UNKNOWN
            | OrderState.PRESUMED_UNKNOWN
            | OrderState.EXPORTED
        ):
            if record.route in OF_TRANSACTIONS:
                return _transaction(known)
            if nonce_used:
                return _SPENT
            return _timeless(known) if record.deadline_ms is None else _intent(known, record.deadline_ms)
    return OpenOutcome("nothing: it has ended", None, "Nothing.")


def _transaction(known: Submission) -> OpenOutcome:
    nonce = known.record.nonce
    return OpenOutcome(
        f"a block with the transaction, or with another one that uses the account's nonce {nonce}",
        None,
        f"{_FOLLOW} To end it yourself, send another transaction with nonce {nonce} and a higher fee.",
    )


def _intent(known: Submission, deadline_ms: int) -> OpenOutcome:
    until_ms = deadline_ms + EXPIRY_MARGIN_MS
    moment = utc_text(until_ms)
    if known.state is OrderState.ACCEPTED:
        return OpenOutcome(
            f"the service's final answer, or a confirmed block after {utc_text(deadline_ms)} with its nonce unused",
            until_ms,
            f"{_FOLLOW} {_AGAIN}",
        )
    return OpenOutcome(
        f"its nonce to be used, or a confirmed block after {utc_text(deadline_ms)} with its nonce unused",
        until_ms,
        f"Read the positions; then run `airlock-online follow` after {moment}. {_AGAIN}",
    )


def _timeless(known: Submission) -> OpenOutcome:
    old = known.record.old_entity_id
    replaced = f" It is also not known whether {old} is still stored." if old else ""
    return OpenOutcome(
        "its nonce to be used: it has no deadline",
        None,
        f"Look for the stored trigger at the venue.{replaced} To be certain that it is worthless, use its nonce for "
        f"something else.",
    )
