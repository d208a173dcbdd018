"""Changing a row: one conditional statement, by the table of transitions and by whose claim it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, func, or_, true, update

from airlock_online.journal.claims import LEASE_MS, database_now_ms, holder
from airlock_online.journal.events import storable
from airlock_online.journal.order_states import OrderState
from airlock_online.journal.schema import BY_ITS_HOLDER, SUBMISSIONS, before


def move_row(
    connection: Connection,
    digest: str,
    to: OrderState,
    now_ms: int,
    values: Mapping[str, Any],
    *,
    token: str = "",
    only: ColumnElement[bool] | None = None,
) -> bool:
    """Move to a state when the row's own state allows it, and ``only`` under a condition; return whether it did.

    With its ``token``, the holder of the claim may do what others may not once they have presumed something; and nobody with
    a token that is not the row's own un-sends it.
    """
    allowed: ColumnElement[bool] = SUBMISSIONS.c.state.in_([state.value for state in before(to)])
    by_holder = [state.value for state, later in BY_ITS_HOLDER.items() if to in later]
    if token and by_holder:
        allowed = and_(or_(allowed, SUBMISSIONS.c.state.in_(by_holder)), SUBMISSIONS.c.claim_token == token)
    done = connection.execute(
        update(SUBMISSIONS)
        .where(SUBMISSIONS.c.digest == digest, allowed, true() if only is None else only)
        .values(state=to.value, updated_ms=now_ms, **storable(dict(values)))
    )
    return done.rowcount == 1


def claimed_with(connection: Connection, token: str, now_ms: int) -> dict[str, Any]:
    """Return what a claim writes beside the state."""
    return {
        "note": "",
        "code": "",
        "claims": SUBMISSIONS.c.claims + 1,
        "claim_token": token,
        "claim_holder": holder(),
        "claim_until_ms": database_now_ms(connection.dialect.name, now_ms) + LEASE_MS,
    }


def claim_is_over(connection: Connection, token: str, now_ms: int, *, gone: bool) -> ColumnElement[bool]:
    """Return the condition that the claim of this token is still the row's, and its lease is over or its holder is gone."""
    until = func.coalesce(SUBMISSIONS.c.claim_until_ms, SUBMISSIONS.c.updated_ms + LEASE_MS)
    over = true() if gone else until < database_now_ms(connection.dialect.name, now_ms)
    return and_(SUBMISSIONS.c.claim_token == token, over)
