"""What is known of a submission when a command ends, and the error and exit code that it ends with."""

from __future__ import annotations

from typing import NamedTuple

from airlock_online.error_codes import ERROR_CODES, NEW_INTENT
from airlock_online.journal.order_states import OrderState
from airlock_shared.errors import (
    AirlockError,
    ExecutionFailed,
    Expired,
    MarketDeclined,
    OutcomeUnknown,
    ServiceError,
)
from airlock_shared.text.safe import safe

_FIND_OUT = (
    "Run `airlock-online follow`; `airlock-online resolve` says what is missing. Sign nothing in its place before its "
    "outcome is known. It is never sent"
)


class OrderOutcome(NamedTuple):
    """What is known of a submission when a command ends. ``reason`` is safe to show."""

    digest: str
    state: OrderState
    tracking_id: str = ""
    code: str = ""
    reason: str = ""
    anomalies: tuple[str, ...] = ()


def outcome_error(outcome: OrderOutcome) -> AirlockError | None:
    """Return the error, and with it the exit code, that an outcome ends a command with; None when it did what was asked.

    What to do is the error catalogue's word where it knows the outcome's code.
    """
    told = f": {outcome.reason}" if outcome.reason else ""
    known = ERROR_CODES.get(outcome.code)
    match outcome.state:
        case OrderState.FILLED | OrderState.CONFIRMED:
            return None
        case OrderState.MARKET_DECLINED:
            return MarketDeclined(
                f"the market declined the fill{told}",
                do="Read the positions first: a market that is wrong can still fill this signature until its deadline. "
                "If you still want the order, agree on a plan with another id and today's bounds, or prepare this plan "
                "again when this signature's deadline is past.",
            )
        case OrderState.FAILED:
            named = f" with {safe(outcome.code, limit=64)}" if outcome.code else ""
            do = known.do if known else NEW_INTENT
            return ExecutionFailed(f"the execution failed{named}{told}", do=do)
        case OrderState.EXPIRED_UNUSED:
            return Expired(
                f"the deadline passed and the nonce was never used{told}",
                do="Prepare the plan again, under another name, and have that signed; the intent is worthless now.",
            )
        case OrderState.VOIDED:
            own = "Look at what has its nonce. If this is still wanted, agree on it anew; this signature is worthless now."
            do = known.do if known else own
            return ExecutionFailed(f"it can no longer be executed, and it was not{told}", do=do)
        case OrderState.REJECTED:
            do = known.do if known else "Remove the cause and submit it again."
            return ServiceError(f"the service refused it before it accepted it{told}", code=outcome.code, do=do)
        case OrderState.PREPARED:
            return ServiceError(f"nothing was sent{told}", do="Remove the cause and submit it again.")
        case OrderState.EXPORTED:
            return OutcomeUnknown(
                f"it was given to another sender, and its outcome is not known yet{told}",
                do=f"{_FIND_OUT} from here.",
            )
    return OutcomeUnknown(f"its outcome is not known yet{told}", do=f"{_FIND_OUT} again.")
