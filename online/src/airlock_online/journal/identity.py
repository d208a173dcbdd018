"""Which journal this is, and whether it is still where it was made: nothing is sent from a copy.

Two copies of one journal would both let a digest be sent. A file is known by its machine and its inode, a database on a
server by the server's and its own number.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection, select, text, update
from sqlalchemy.exc import DBAPIError

from airlock_online.journal.schema import SCHEMA

COPIED_DO = (
    "go on with the one that it was copied from; if that is gone for good, move this one away, and a new one is made: the "
    "transcript knows what was sent"
)


class Identity(NamedTuple):
    """The journal's own name, and why it is a copy, empty when it is none."""

    journal_id: str
    copied: str


def identify(connection: Connection) -> Identity:
    """Return which journal this is; a new one, and one of an earlier version, is given its name and its place."""
    place = _place(connection)
    known = connection.execute(select(SCHEMA.c.journal_id, SCHEMA.c.place)).one()
    if not known.journal_id:
        name = secrets.token_hex(8)
        connection.execute(update(SCHEMA).values(journal_id=name, place=place))
        return Identity(name, "")
    same = place == known.place or not place or not known.place
    return Identity(known.journal_id, "" if same else "this journal is a copy of another one, or was restored from one; "
                    "nothing is sent from a copy")  # fmt: skip


def _place(connection: Connection) -> str:
    dialect = connection.dialect.name
    if dialect == "sqlite":
        file = connection.engine.url.database or ""
        return f"{_machine()}:{Path(file).stat().st_ino}"
    if dialect == "postgresql":
        own = text("SELECT oid FROM pg_database WHERE datname = current_database()")
        server = text("SELECT system_identifier FROM pg_control_system()")
        try:
            with connection.begin_nested():
                return f"{connection.scalar(server)}:{connection.scalar(own)}"
        except DBAPIError:  # a role that may not ask
            return ""
    return ""


def _machine() -> str:
    try:
        return Path("/etc/machine-id").read_text().strip()
    except OSError:
        return ""
