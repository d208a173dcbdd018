"""The journal's tables and rows, and which state may follow which: the table that decides whether anything is sent."""

from __future__ import annotations

import json
from typing import NamedTuple

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Integer,
    MetaData,
    RowMapping,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from airlock_online.journal.order_states import OrderState

VERSION = 1

_S = OrderState
_ENDS = frozenset({_S.FILLED, _S.CONFIRMED, _S.MARKET_DECLINED, _S.FAILED, _S.EXPIRED_UNUSED, _S.VOIDED})
TRANSITIONS: dict[OrderState, frozenset[OrderState]] = {
    # To UNKNOWN when something else than this journal shows that it may have been sent: a transcript, or its used nonce.
    _S.PREPARED: frozenset({_S.SENDING, _S.EXPORTED, _S.UNKNOWN}),
    # Back to PREPARED only when the connection shows that not a byte of the request was written.
    _S.SENDING: frozenset({_S.PREPARED, _S.ACCEPTED, _S.REJECTED, _S.UNKNOWN, _S.PRESUMED_UNKNOWN}),
    _S.REJECTED: frozenset({_S.SENDING, _S.EXPORTED, _S.UNKNOWN}),
    # Nothing leads from here back to SENDING, PREPARED or REJECTED: what may have been taken is never sent again, and
    # what another sender has is never sent from here.
    _S.ACCEPTED: _ENDS,
    _S.UNKNOWN: _ENDS | {_S.ACCEPTED},
    _S.PRESUMED_UNKNOWN: _ENDS | {_S.ACCEPTED, _S.UNKNOWN},
    _S.EXPORTED: _ENDS,
    _S.FILLED: frozenset(),
    _S.CONFIRMED: frozenset(),
    _S.MARKET_DECLINED: frozenset(),
    _S.FAILED: frozenset(),
    _S.EXPIRED_UNUSED: frozenset(),
    _S.VOIDED: frozenset(),
}  # fmt: skip


BY_ITS_HOLDER = {_S.PRESUMED_UNKNOWN: frozenset({_S.PREPARED, _S.REJECTED})}
"""What only the claim's token leads to: its holder still writes down what it learned, whatever others presumed."""


def before(state: OrderState) -> list[OrderState]:
    """Return the states that may be followed by this one."""
    return [earlier for earlier, later in TRANSITIONS.items() if state in later]


TABLES = MetaData()

SCHEMA = Table(
    "journal_schema",
    TABLES,
    Column("version", Integer, nullable=False),
    Column("journal_id", Text, nullable=False, default=""),
    Column("place", Text, nullable=False, default=""),
)
"""One row: the version, the journal's own name, and where it was made, by which a copy is told from it."""

SUBMISSIONS = Table(
    "submissions",
    TABLES,
    Column("digest", String(66), primary_key=True),
    Column("step", Text, nullable=False),
    Column("ceremony", Text, nullable=False),
    Column("primary_type", Text, nullable=False),
    Column("route", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("trader", Text, nullable=False),
    Column("signer", Text, nullable=False),
    Column("contract", Text, nullable=False),
    Column("nonce", Text, nullable=False),
    Column("deadline_ms", BigInteger, nullable=True),
    Column("body_sha256", String(64), nullable=False),
    Column("state", String(16), nullable=False, index=True),
    Column("tracking_id", Text, nullable=False, default=""),
    Column("last_seq", BigInteger, nullable=True),
    Column("created_ms", BigInteger, nullable=False),
    Column("updated_ms", BigInteger, nullable=False),
    Column("code", Text, nullable=False, default=""),
    Column("note", Text, nullable=False, default=""),
    Column("requests", Text, nullable=False, default=""),
    Column("method", Text, nullable=False, default=""),
    Column("transaction_hash", Text, nullable=False, default=""),
    Column("entity_id", Text, nullable=False, default=""),
    Column("old_entity_id", Text, nullable=False, default=""),
    Column("signed", Text, nullable=False, default="{}"),  # a JSON object
    Column("chain_id", BigInteger, nullable=False),
    Column("deployment", Text, nullable=False, default=""),
    Column("claims", Integer, nullable=False, default=0),
    Column("claim_token", Text, nullable=False, default=""),
    Column("claim_until_ms", BigInteger, nullable=True),  # by the database's clock
    Column("claim_holder", Text, nullable=False, default=""),
    Column("unusable_ids", Text, nullable=False, default="[]"),  # JSON texts, such as "entityId: 12"
    Column("told", Text, nullable=False, default=""),  # the state that a person was last told
)
"""One row a digest. The signature itself is never here, only the hash of the body that carries it."""

EVENTS = Table(
    "events",
    TABLES,
    Column("digest", String(66), ForeignKey("submissions.digest"), primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    Column("kind", String(8), nullable=False),  # "event", "anomaly" or "rejected"
    Column("seq", BigInteger, nullable=True),
    Column("type", Text, nullable=False),
    Column("payload", Text, nullable=False),
    Column("at_ms", BigInteger, nullable=True),
    Column("received_ms", BigInteger, nullable=False),
    UniqueConstraint("digest", "seq"),
)
"""What came, in the order in which it came. Only an event has a seq.

An anomaly has its kind as type and its event as payload; a rejection has its status and its reason as payload.
"""


class Record(NamedTuple):
    """What identifies a submission, before anything is sent. Times in unix ms, hashes in hex.

    ``requests`` and ``deployment`` are the fingerprints of the requests document and of the deployment that it names;
    ``method`` is how it is sent, such as ``POST``; ``transaction_hash`` is a transaction's, computed here;
    ``old_entity_id`` is the trigger that a new one replaces. ``signed`` is the JSON object of what its events must tell,
    as ``order_states.KnownOrder.signed`` has it.
    """

    digest: str
    step: str
    ceremony: str
    primary_type: str
    route: str
    url: str
    trader: str
    signer: str
    contract: str
    nonce: str
    deadline_ms: int | None
    body_sha256: str
    chain_id: int
    requests: str = ""
    deployment: str = ""
    method: str = ""
    transaction_hash: str = ""
    old_entity_id: str = ""
    signed: str = "{}"


class Submission(NamedTuple):
    """A row of the journal: the record, and what is known of it.

    ``claims`` counts the sendings that were begun. The newest has a token, a holder for a person to read, and a lease
    that ends at ``claim_until_ms`` of the database's clock. ``unusable_ids`` are ids that a service gave and that cannot
    be asked for, each with its member's name. ``told`` is the state that a person was last told.
    """

    record: Record
    state: OrderState
    tracking_id: str
    last_seq: int | None
    created_ms: int
    updated_ms: int
    code: str
    note: str
    entity_id: str = ""
    claims: int = 0
    claim_token: str = ""
    claim_until_ms: int | None = None
    claim_holder: str = ""
    unusable_ids: tuple[str, ...] = ()
    told: str = ""


def submission_of(row: RowMapping) -> Submission:
    """Return a row of the table as what it means."""
    record = Record(**{name: row[name] for name in Record._fields})
    rest = {name: row[name] for name in Submission._fields if name not in ("record", "state", "unusable_ids")}
    return Submission(record, OrderState(row["state"]), **rest, unusable_ids=tuple(json.loads(row["unusable_ids"])))
