"""The ceremony plan: what people agreed to sign, days before, in TOML.

What it holds is :mod:`airlock_shared.plan.model`. Amounts are human decimals in quotes, so that no float is ever read. How
one field is read is in :mod:`airlock_shared.plan.values`.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from airlock_shared.errors import DocumentError, PlanError, quoted
from airlock_shared.plan.model import APART, CUSTOM, WITNESS, AsSigned, Limits, Plan, Signer, Step, Value
from airlock_shared.plan.values import (
    LIMIT_UNITS,
    LINE,
    RAISE_FIRST,
    Telling,
    limit_faults,
    plan_error,
    read_address,
    read_amount,
    read_values,
    require_known_members,
    utc_form,
    value_faults,
)
from airlock_shared.venue.actions import ACTIONS, Action
from airlock_shared.venue.calls import CALLS
from airlock_shared.venue.structs import CATALOGUE
from airlock_shared.wire.strict_json import (
    DERIVATION_PATH,
    NAME,
    Table,
    check_depth,
    fingerprint,
    other_format,
    parse_toml,
)

PLAN_FORMAT = "airlock/plan@1"
MAX_PLAN_BYTES = 4 << 20
MAX_STEPS = 1000
MAX_ROLES = 20
_TEXTS = {"id": NAME, "title": LINE, "deployment": NAME}
_DIGEST = re.compile(r"0x[0-9a-f]{64}", re.ASCII)

_PLAIN = frozenset((str, int, bool))
_DOCUMENT = re.compile(rb'\s*\{\s*"format":\s*"airlock/([a-z-]{1,40})@[0-9]')  # every writer of ours begins so
_UNREAD = Signer("", b"", "")
_SPAN = re.compile(r"([1-9][0-9]{0,5})(s|m|h|d)", re.ASCII)
_SPAN_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def parse_plan(data: bytes) -> Plan:
    """Read a plan. Raises ``PlanError`` with an id of the ``PLAN`` family, and the place in the plan."""
    return read_plan(read_toml(data))


def read_toml(data: bytes) -> Table:
    """Return a plan's TOML as a table. Raises ``PlanError("PLAN-FORM")``."""
    if len(data) > MAX_PLAN_BYTES:
        raise plan_error("PLAN-FORM", "the plan is too large", "", f"{len(data)} bytes", f"<= {MAX_PLAN_BYTES}")
    try:
        table = parse_toml(data)
        check_depth(table)
        repr(table)  # fails where a refusal could not quote a value: a hex integer of thousands of digits
    except (ValueError, RecursionError, DocumentError) as error:
        raise _unreadable(data, error) from error
    return table


def _unreadable(data: bytes, error: Exception) -> PlanError:
    """Return the error of bytes that are no TOML; another document in a plan's place is called by its name."""
    if found := _DOCUMENT.match(data):
        what, kind = f"this is a {found[1].decode()} document; a plan is needed", f"airlock/{found[1].decode()}"
        return plan_error("PLAN-FORM", what, "", kind, "a TOML file", do="check which file this is")
    return plan_error("PLAN-FORM", f"the plan is not readable TOML: {error}", "")


def read_plan(table: Table, telling: Telling = RAISE_FIRST) -> Plan:
    """Return the plan that a table holds. Tells ``PlanError``; a plan of which one was told is not to be used."""
    with telling:
        if table.get("format") != PLAN_FORMAT:
            other = other_format(
                table.get("format"), PLAN_FORMAT, "not a ceremony plan", "correct the plan, and agree on it again"
            )
            raise plan_error("PLAN-FORM", other.what, "format", other.got, PLAN_FORMAT, do=other.do)
    require_known_members(table, "", ("format", "ceremony", "limits", "signers", "steps"), telling)
    texts = dict.fromkeys(_TEXTS, "")
    roles: tuple[str, ...] = ()
    witness = ""
    with telling:
        ceremony = _read_table(table, "ceremony")
        require_known_members(ceremony, "ceremony", (*_TEXTS, "roles", "witness"), telling)
        for name, pattern in _TEXTS.items():
            with telling:
                texts[name] = read_text(ceremony, "ceremony", name, pattern)
        roles = read_roles(ceremony.get("roles", []))
        witness = _read_witness(ceremony, roles)
    signers: dict[str, Signer] = {}
    with telling:
        for name, signer in _read_table(table, "signers").items():
            signers[name] = _UNREAD  # a step that names a wrong signer is not wrong itself
            with telling:
                signers[name] = read_signer(name, signer, telling)
    limits = Limits()
    with telling:
        limits = read_limits(table.get("limits", {}), telling)
    steps: dict[str, Step] = {}
    with telling:
        tables = table.get("steps")
        if type(tables) is not list or not 0 < len(tables) <= MAX_STEPS:
            raise plan_error("PLAN-FORM", f"a plan has 1 to {MAX_STEPS} [[steps]]", "steps")
        taken: dict[str, str] = {}
        for position, each in enumerate(tables):
            with telling:
                step = _read_step(each, f"steps[{position}]", taken, signers, limits, telling)
                steps[step.id] = step
    mark = fingerprint(plain_form(table, "", telling))
    return Plan(**texts, roles=roles, limits=limits, signers=signers, steps=steps, fingerprint=mark, witness=witness)


def _read_table(table: Table, name: str) -> Table:
    """Return a member that must be a table. Raises ``PlanError("PLAN-FORM")``."""
    value = table.get(name)
    if type(value) is not dict:
        raise plan_error("PLAN-FORM", "the table is missing", name, expected=f"[{name}]")
    return value


def read_text(table: Table, where: str, name: str, pattern: re.Pattern[str]) -> str:
    """Return a member that must be a text of this form. Raises ``PlanError("PLAN-FORM")``."""
    value = table.get(name)
    if type(value) is not str or not pattern.fullmatch(value):
        raise plan_error("PLAN-FORM", "missing or in the wrong form", f"{where}.{name}", repr(value)[:120])
    return value


def plain_form(value: Any, where: str, telling: Telling) -> Any:
    """Return the plan, or a part of it, as JSON values, so that it has a fingerprint.

    Tells ``PlanError("PLAN-AMOUNT")`` for a float, or a time without a zone: they have no place in a plan.
    """
    if type(value) in _PLAIN:
        return value
    if type(value) is dict:
        return {name: plain_form(member, f"{where}.{name}".lstrip("."), telling) for name, member in value.items()}
    if type(value) is list:
        return [plain_form(member, f"{where}[{position}]", telling) for position, member in enumerate(value)]
    with telling:
        if type(value) is datetime and value.tzinfo is not None:
            return utc_form(value, where)
        raise plan_error(
            "PLAN-AMOUNT",
            "a plan holds texts, whole numbers and times with a zone",
            where,
            quoted(value),
            do="write an amount in quotes, such as '64000.5', and a time such as 2027-03-31T00:00:00Z",
        )


def read_roles(roles: Any) -> tuple[str, ...]:
    """Return the names of the roles. Raises ``PlanError("PLAN-FORM")``."""
    got = quoted(roles)
    if type(roles) is not list or not all(type(role) is str and NAME.fullmatch(role) for role in roles):
        raise plan_error("PLAN-FORM", "roles is not a list of names in lower case", "ceremony.roles", got)
    if len(set(roles)) != len(roles) or len(roles) > MAX_ROLES:
        raise plan_error("PLAN-FORM", f"a role twice, or more than {MAX_ROLES}", "ceremony.roles", got)
    return tuple(roles)


def _read_witness(ceremony: Table, roles: tuple[str, ...]) -> str:
    """Return whether a witness is required, empty when the plan does not say. Raises ``PlanError("PLAN-FORM")``."""
    said, where = ceremony.get("witness", ""), "ceremony.witness"
    if "witness" in ceremony and said not in WITNESS:
        raise plan_error(
            "PLAN-FORM",
            "the plan says neither that a witness is required nor that none is",
            where,
            quoted(said),
            "'required' or 'none'",
        )
    if said == "required" and not set(APART) <= set(roles):
        raise plan_error(
            "PLAN-FORM",
            "a witness is required, and the roles lack one",
            where,
            quoted(list(roles)),
            f"roles with {' and '.join(APART)}",
        )
    if said == "none" and "witness" in roles:
        raise plan_error(
            "PLAN-FORM",
            "the plan names a witness, and says that none is required",
            where,
            quoted(list(roles)),
            "'required', or roles without a witness",
        )
    return str(said)


def read_limits(table: Any, telling: Telling = RAISE_FIRST) -> Limits:
    """Return the limits, in raw integers. Tells ``PlanError`` naming the limit."""
    require_known_members(table, "limits", LIMIT_UNITS, telling)
    raw: list[Any] = [*Limits()]
    for position, (name, unit) in enumerate(LIMIT_UNITS.items()):
        if name in table:
            with telling:
                if unit:
                    raw[position] = read_amount(table[name], unit, f"limits.{name}")
                else:
                    span = read_text(table, "limits", name, _SPAN)
                    raw[position] = int(span[:-1]) * _SPAN_SECONDS[span[-1]] * 1000
    limits = Limits(*raw)
    for fault in limit_faults(limits):
        with telling:
            raise fault
    return limits


def read_signer(name: str, table: Any, telling: Telling = RAISE_FIRST) -> Signer:
    """Return a signer of the plan. Tells ``PlanError`` naming the member."""
    where = f"signers.{name}"
    require_known_members(table, where, ("address", "path", "show", "delegate_of"), telling)
    address, path, show, delegate_of = b"", "", table.get("show", "fields"), table.get("delegate_of")
    with telling:
        if not NAME.fullmatch(name):
            raise plan_error("PLAN-FORM", "not a name in lower case", where)
    with telling:
        address = read_address(table.get("address"), f"{where}.address")
    with telling:
        path = read_text(table, where, "path", DERIVATION_PATH)
    with telling:
        if show not in ("fields", "hashes"):
            raise plan_error(
                "PLAN-FORM", "unknown way to show a message", f"{where}.show", repr(show)[:40], "'fields' or 'hashes'"
            )
    with telling:
        if delegate_of is not None:
            delegate_of = read_address(delegate_of, f"{where}.delegate_of")
    return Signer(name, address, path, show, delegate_of)


def _read_step(
    step: Any, where: str, taken: dict[str, str], signers: dict[str, Signer], limits: Limits, telling: Telling
) -> Step:
    """Return a step with what its fields decide. ``taken``: the ids and digests of the steps before, and whose each is."""
    require_known_members(step, where, ("id", "action", "signer", "fields", "replaces"), telling)
    step_id = replaced = ""
    signer = _UNREAD
    with telling:
        step_id = read_text(step, where, "id", NAME)
        if taken.setdefault(step_id, where) != where:
            raise plan_error(
                "PLAN-FORM", "two steps have the same id", f"{where}.id", step_id, f"another id than {taken[step_id]}"
            )
    with telling:
        if "replaces" in step:
            replaced = read_text(step, where, "replaces", _DIGEST)
            if taken.setdefault(replaced, where) != where:
                raise plan_error(
                    "PLAN-FORM",
                    "two steps replace one signature",
                    f"{where}.replaces",
                    replaced,
                    "a signature is replaced once",
                )
    with telling:
        asked = step.get("signer")
        if type(asked) is not str or asked not in signers:
            raise plan_error(
                "PLAN-SIGNER", "no such signer in the plan", f"{where}.signer", quoted(asked), f"one of {list(signers)}"
            )
        signer = signers[asked]
    name, fields, place = step.get("action"), step.get("fields"), f"{where}.fields"
    if name == CUSTOM:
        own, values = read_custom_fields(fields, place)
        if own.call and signer.delegate_of is not None:
            raise plan_error(
                "PLAN-SIGNER",
                "a call of this venue alone is made by its signer for itself, by no delegate",
                f"{where}.signer",
                signer.name,
                "a signer without delegate_of",
            )
        return Step(step_id, own, signer, values, replaced)
    action = ACTIONS.get(name) if type(name) is str else None
    if action is None:
        raise plan_error("PLAN-ACTION", "unknown action", f"{where}.action", quoted(name), f"one of {list(ACTIONS)}")
    require_known_members(fields, place, [each.name for each in action.parameters], telling)
    values = read_values(action, fields, place, telling)
    for fault in value_faults(values, limits, place):
        with telling:
            raise fault
    return Step(step_id, action, signer, values, replaced)


def read_custom_fields(fields: Any, where: str) -> tuple[Action, dict[str, Value]]:
    """Return what a custom step asks for, and the raw values by path. Raises ``PlanError`` naming the leaf."""
    kind = next((each for each in ("struct", "call") if type(fields) is dict and type(fields.get(each)) is str), "")
    if not kind:
        raise plan_error(
            "PLAN-FIELD", "a custom step names its struct or its call", f"{where}.struct", expected="a name"
        )
    if fields[kind] in (CATALOGUE if kind == "struct" else CALLS):
        raise plan_error(
            "PLAN-FIELD",
            f"this {kind} ships, and has an action of its own",
            f"{where}.{kind}",
            fields[kind],
            f"a {kind} that the venue alone has",
        )
    struct, call = (fields[kind], "") if kind == "struct" else ("", fields[kind])
    values: dict[str, Value] = {}
    for path, value in fields.items():
        if path == kind:
            continue
        if type(value) not in _PLAIN:
            raise plan_error("PLAN-FIELD", "not a raw value", f"{where}.{path}", expected="a text, number or flag")
        values[path] = AsSigned(str(value).lower() if type(value) is bool else str(value))
    return Action(CUSTOM, "Sign what people pinned for this venue alone", "", struct, (), call), values
