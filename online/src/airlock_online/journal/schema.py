"""The journal's tables and rows, and which state may follow which: the table that decides whether anything is sent."""

from __future__ import annotations

import getpass
import json
import os
import re
import secrets
import socket
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    ForeignKey,
    Integer,
    MetaData,
    RowMapping,
    String,
    Table,
    Text,
    UniqueConstraint,
    Update,
    cast,
    extract,
    func,
    select,
    text,
    update,
)
from sqlalchemy.exc import DBAPIError

from airlock_online.journal.order_states import FINAL, OrderState

SCHEMA_VERSION = 1

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
    *(_text(name) for name in ("step", "ceremony", "primary_type", "route", "url")),
    *(_text(name) for name in ("trader", "signer", "contract", "nonce")),
    Column("deadline_ms", BigInteger, nullable=True),
    Column("body_sha256", String(64), nullable=False),
    Column("state", String(16), nullable=False, index=True),
    _text("tracking_id", ""),
    Column("created_ms", BigInteger, nullable=False),
    Column("updated_ms", BigInteger, nullable=False),
    *(_text(name, "") for name in ("code", "note", "requests", "method")),
    *(_text(name, "") for name in ("transaction_hash", "entity_id", "old_entity_id")),
    _text("signed", "{}"),  # a JSON object
    Column("chain_id", BigInteger, nullable=False),
    _text("deployment", ""),
    Column("claims", Integer, nullable=False, default=0),
    _text("claim_token", ""),
    Column("claim_until_ms", BigInteger, nullable=False, default=0),  # by the database's clock
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
    Column("kind", String(8), nullable=False),  # "event", "anomaly", "rejected" or "note"
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


WITH_EIP7702 = ", with eip7702"


class Record(NamedTuple):
    """What identifies a submission, before anything is sent. Times in unix ms, hashes in hex.

    ``requests`` and ``deployment`` are the fingerprints of the requests document and of the deployment that it names;
    ``method`` is how it is sent, such as ``POST``, with ``WITH_EIP7702`` where such a transaction goes along;
    ``transaction_hash`` is a transaction's, computed here; ``old_entity_id`` is the trigger that a new one replaces.
    ``signed`` is the JSON object of what its events must tell, as ``order_states.KnownOrder.signed`` has it.
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
    created_ms: int
    updated_ms: int
    code: str
    note: str
    entity_id: str = ""
    claims: int = 0
    claim_token: str = ""
    claim_until_ms: int = 0
    claim_holder: str = ""
    unusable_ids: tuple[str, ...] = ()
    told: str = ""


def submission_of(row: RowMapping) -> Submission:
    """Return a row of the table as what it means."""
    record = Record(**{name: row[name] for name in Record._fields})
    rest = {name: row[name] for name in Submission._fields if name not in ("record", "state", "unusable_ids")}
    return Submission(record, OrderState(row["state"]), **rest, unusable_ids=tuple(json.loads(row["unusable_ids"])))


def row_of(digest: str) -> Update:
    """Return the change of a digest's row: what of it, and under which further condition, is said where it is made."""
    return update(SUBMISSIONS).where(SUBMISSIONS.c.digest == digest)


RESTORED = (
    "this machine's transcript has a sending or an export of it that the journal does not know: the journal was deleted, "
    "emptied or restored"
)


def is_forgotten(known: Submission | None, begun: int) -> bool:
    """Tell whether a journal knows less than the transcript, in which ``begun`` is the number of its last sending."""
    return begun > (known.claims if known else 0) and (known is None or known.state in before(OrderState.SENDING))


# ---- claims ---------------------------------------------------------------------------------------------------------
# Whose claim it is: a token that nobody else knows, a holder for a person to read, and a lease by the database's
# clock. The lease decides between machines. On one machine a holder that is gone is noticed at once: a process is
# known by this start of the machine, its namespace, its number and its own start. That only shortens the waiting; what
# is presumed of a claim takes nothing from its holder, who still writes down what it learned.


LEASE_MS = 600_000
"""Longer than every time-out of a sending together: connecting, the reply's head, a whole stream, the journal's waits."""

_GONE = re.compile(r"\(([0-9a-f]{8}\.\d+\.(\d+)\.\d+)\)\Z")
_HELD: set[str] = set()  # the tokens with which this process is sending


def new_token() -> str:
    """Return a token for a claim of this process, which holds it until :func:`let_go`."""
    token = secrets.token_hex(16)
    _HELD.add(token)
    return token


def let_go(token: str) -> None:
    """Say that the journal has what became of a sending, or that it has ended without that."""
    _HELD.discard(token)


def sending() -> bool:
    """Tell whether this process is sending something of which the journal does not know yet what became."""
    return bool(_HELD)


def holder() -> str:
    """Return who this process is: a name for a person, and in brackets what tells it from any other process."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid())
    return f"{user}@{socket.gethostname()}, process {os.getpid()} ({_identity(os.getpid())})"


def shown_holder(text: str) -> str:
    """Return a holder without what is for machines."""
    return _GONE.sub("", text).strip()


def is_gone(text: str, token: str) -> bool:
    """Tell whether a holder was a process of this machine that has ended, or is this one and sends no more."""
    found = _GONE.search(text)
    if found is None:
        return False
    identity, number = found[1], int(found[2])
    mine = _identity(os.getpid())
    if identity.split(".")[:2] != mine.split(".")[:2]:  # another machine, an earlier start, or another namespace
        return False
    return token not in _HELD if identity == mine else _identity(number) != identity


def _identity(number: int) -> str:
    """Return this start of the machine, the namespace of processes, the process's number and its start; made of zeros."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()[:8]
        namespace = re.sub(r"\D", "", str(Path("/proc/self/ns/pid").readlink()))
    except OSError:
        return f"00000000.0.{number}.0"
    try:
        began = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[19]  # field 22, after the name
    except (OSError, IndexError):
        began = "0"
    return f"{boot}.{namespace}.{number}.{began}"


def database_now_ms(connection: Connection) -> ColumnElement[Any]:
    """Return the database's own time, unix ms."""
    if connection.dialect.name == "sqlite":
        return cast((func.julianday("now") - 2440587.5) * 86_400_000, BigInteger)
    return cast(extract("epoch", func.clock_timestamp()) * 1000, BigInteger)


# ---- identity -------------------------------------------------------------------------------------------------------
# Which journal this is, and whether it is still where it was made: nothing is sent from a copy.
# Two copies of one journal would both let a digest be sent. A file is known by its machine and its inode, a database
# on a server by the server's and its own number.


COPIED_DO = (
    "go on with the one that it was copied from; if that is gone for good, move this one away, and a new one is made: the "
    "transcript knows what was sent"
)


class Identity(NamedTuple):
    """The journal's own name, and why it is a copy, empty when it is none."""

    journal_id: str
    copied: str


def identify(connection: Connection) -> Identity:
    """Return which journal this is; a new one is given its name and its place."""
    place = _place(connection)
    known = connection.execute(select(SCHEMA.c.journal_id, SCHEMA.c.place)).one()
    if not known.journal_id:
        name = secrets.token_hex(8)
        connection.execute(update(SCHEMA).values(journal_id=name, place=place))
        return Identity(name, "")
    same = place == known.place or not place or not known.place
    return Identity(
        known.journal_id,
        "" if same else "this journal is a copy of another one, or was restored from one; nothing is sent from a copy",
    )


def _place(connection: Connection) -> str:
    if connection.dialect.name == "sqlite":
        try:
            machine = Path("/etc/machine-id").read_text().strip()
        except OSError:
            machine = ""
        return f"{machine}:{Path(connection.scalar(text('SELECT file FROM pragma_database_list'))).stat().st_ino}"  # noqa: S608 (no input)
    own = text("SELECT oid FROM pg_database WHERE datname = current_database()")
    server = text("SELECT system_identifier FROM pg_control_system()")
    try:
        with connection.begin_nested():
            return f"{connection.scalar(server)}:{connection.scalar(own)}"
    except DBAPIError:  # a role that may not ask
        return ""
