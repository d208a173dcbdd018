"""The document that carries the names of a ceremony's people to the other machine, ``airlock/people@1``.

A name that came so is shown beside a question and answers none: each person still answers on each machine.
"""

from __future__ import annotations

from collections.abc import Mapping

from airlock_shared.errors import DocumentError
from airlock_shared.plan.model import Plan
from airlock_shared.wire.codec import parse_json, to_json
from airlock_shared.wire.members import format_of, other_format, read_members

FORMAT = "airlock/people@1"
MAX_BYTES = 16 << 10


def write_people(plan: Plan, names: Mapping[str, str]) -> bytes:
    """Return the document: who holds each role of a plan, empty where nobody does."""
    return to_json({"format": FORMAT, "ceremony": plan.id, "plan": plan.fingerprint, "roles": dict(names)})


def parse_people(data: bytes, plan: Plan) -> dict[str, str]:
    """Return the names of a plan's people. Raises ``DocumentError``, also when they are of another plan."""
    value = parse_json(data, max_bytes=MAX_BYTES)
    if format_of(value) != FORMAT:
        raise other_format(format_of(value), FORMAT, "not the names of a ceremony's people")
    read_members(value, "people", {"format": str, "ceremony": str, "plan": str, "roles": dict})
    if (value["ceremony"], value["plan"]) != (plan.id, plan.fingerprint):
        raise DocumentError("DOC-FORMAT", "the names of another ceremony, or of another plan", got=value["plan"][:64],
                            expected=plan.fingerprint, do="bring the names that belong to this plan")  # fmt: skip
    names: dict[str, str] = read_members(value["roles"], "people.roles", dict.fromkeys(plan.roles, str))
    return names
