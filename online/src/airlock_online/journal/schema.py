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

from airlock_online.journal.order_states import FINAL, OrderState

VERSION = 1

_S = OrderState
_ENDS = FINAL
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
    **{state: frozenset[OrderState]() for state in _S if state in FINAL},
}  # fmt: skip


BY_ITS_HOLDER = {_S.PRESUMED_UNKNOWN: frozenset({_S.PREPARED, _S.REJECTED})}
"""What only the claim's token leads to: its holder still writes down what it learned, whatever others presumed."""


def before(state: OrderState) -> list[OrderState]:
    """Return the states that may be followed by this one."""
    return [earlier for earlier, later in TRANSITIONS.items() if state in later]


TABLES = MetaData()


def _text(name: str, default: str | None = None) -> Column[str]:
    return Column(name, Text, nullable=False, default=default)


SCHEMA = Table(
    "journal_schema",
    TABLES,
    Column("version", Integer, nullable=False),
    _text("journal_id", ""),
    _text("place", ""),
)
"""One row: the version, the journal's own name, and where it was made, by which a copy is told from it."""

SUBMISSIONS = Table(
    "submissions",
    TABLES,
    Column("digest", String(66), primary_key=True),
    _text("step"),
    _text("ceremony"),
    _text("primary_type"),
    _text("route"),
    _text("url"),
    _text("trader"),
    _text("signer"),
    _text("contract"),
    _text("nonce"),
    Column("deadline_ms", BigInteger, nullable=True),
    Column("body_sha256", String(64), nullable=False),
    Column("state", String(16), nullable=False, index=True),
    _text("tracking_id", ""),
    Column("last_seq", BigInteger, nullable=True),
    Column("created_ms", BigInteger, nullable=False),
    Column("updated_ms", BigInteger, nullable=False),
    _text("code", ""),
    _text("note", ""),
    _text("requests", ""),
    _text("method", ""),
    _text("transaction_hash", ""),
    _text("entity_id", ""),
    _text("old_entity_id", ""),
    _text("signed", "{}"),  # a JSON object
    Column("chain_id", BigInteger, nullable=False),
    _text("deployment", ""),
    Column("claims", Integer, nullable=False, default=0),
    _text("claim_token", ""),
    Column("claim_until_ms", BigInteger, nullable=True),  # by the database's clock
    _text("claim_holder", ""),
    _text("unusable_ids", "[]"),  # JSON texts, such as "entityId: 12"
    _text("told", ""),  # the state that a person was last told
)
"""One row a digest. The signature itself is never here, only the hash of the body that carries it."""

EVENTS = Table(
    "events",
    TABLES,
    Column("digest", String(66), ForeignKey("submissions.digest"), primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    Column("kind", String(8), nullable=False),  # "event", "anomaly" or "rejected"
    Column("seq", BigInteger, nullable=True),
    _text("type"),
    _text("payload"),
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
