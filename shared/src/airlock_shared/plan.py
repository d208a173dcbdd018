"""The ceremony plan: what people agreed to sign, days before, in TOML.

A payload is signed only as a step of a plan. The plan decides every field, by a value or by bounds, or leaves it to the
builder within a limit. Amounts are human decimals in quotes, so that no float is ever read.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, NamedTuple

from airlock_shared.actions import ACTIONS, Action, Parameter
from airlock_shared.addresses import parse_address
from airlock_shared.documents import fingerprint
from airlock_shared.errors import PlanError, Refusal
from airlock_shared.referral import code_bytes
from airlock_shared.shape import HEX_32, NAME
from airlock_shared.units import ADDRESS, CHOICE, CODE, PERCENT, TEXT, UNIX_MS, UNIX_S, Unit, looks_like_seconds, to_raw

FORMAT = "airlock/plan@1"
MAX_BYTES = 4 << 20
MAX_STEPS = 10_000

_SPAN = re.compile(r"([1-9][0-9]{0,5})(s|m|h|d)", re.ASCII)
_SPAN_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_PATH = re.compile(r"m(?:/(?:0|[1-9][0-9]{0,9})'?){1,10}", re.ASCII)
_COUNT = re.compile(r"0|[1-9][0-9]{0,77}", re.ASCII)
_LINE = re.compile(r"[^\x00-\x1f\x7f]{1,200}")


class Exact(NamedTuple):
    """A value that the plan fixes: the raw value that is signed, and the plan's own text."""

    raw: object
    text: str

    def holds(self, raw: object) -> bool:
        """Tell whether a payload's value is the plan's."""
        return type(raw) is type(self.raw) and raw == self.raw


class Bounds(NamedTuple):
    """Bounds that the plan gives for a raw integer, both inclusive; None is open."""

    low: int | None
    high: int | None
    text: str

    def holds(self, raw: object) -> bool:
        """Tell whether a payload's value lies within the bounds."""
        return type(raw) is int and (self.low is None or self.low <= raw) and (self.high is None or raw <= self.high)


class Limits(NamedTuple):
    """Bounds for what the builder is left to choose. None: the plan leaves the builder no choice there."""

    deadline_at_most_ms: int | None = None
    slippage_at_most_raw: int | None = None
    max_fee_at_most_wei: int | None = None
    remaining_at_least_ms: int = 60_000


class Signer(NamedTuple):
    """A key that signs: its address (20 bytes), derivation path, how the device shows a message, for whom it may act."""

    name: str
    address: bytes
    path: str
    show: str = "fields"
    delegate_of: bytes | None = None


class Step(NamedTuple):
    """One thing to sign. ``values`` holds what the plan decides, by parameter name."""

    id: str
    action: Action
    signer: Signer
    values: dict[str, Exact | Bounds]


class Plan(NamedTuple):
    """A ceremony plan and its fingerprint."""

    id: str
    title: str
    deployment: str
    roles: tuple[str, ...]
    limits: Limits
    signers: dict[str, Signer]
    steps: dict[str, Step]
    fingerprint: str


def _wrong(check: str, what: str, where: str, **details: str) -> PlanError:
    error = PlanError(check, what, do=details.pop("do", "correct the plan, and agree on it again"), **details)
    error.where = where
    return error


def parse_plan(data: bytes) -> Plan:
    """Read a plan. Raises ``PlanError`` with an id of the ``PLAN`` family and the place in the plan."""
    import tomllib

    if len(data) > MAX_BYTES:
        raise _wrong("PLAN-FORM", "the plan is too large", "", got=f"{len(data)} bytes", expected=f"<= {MAX_BYTES}")
    try:
        table = tomllib.loads(data.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise _wrong("PLAN-FORM", f"the plan is not TOML: {error}", "") from error
    return _read_plan(table)


def _read_plan(table: dict[str, Any]) -> Plan:
    _only(table, "", ("format", "ceremony", "limits", "signers", "steps"))
    if table.get("format") != FORMAT:
        raise _wrong("PLAN-FORM", "not a ceremony plan", "format", got=repr(table.get("format"))[:80], expected=FORMAT)
    ceremony = _table(table, "ceremony")
    _only(ceremony, "ceremony", ("id", "title", "deployment", "roles"))
    roles = ceremony.get("roles", [])
    if type(roles) is not list or not all(type(role) is str and NAME.fullmatch(role) for role in roles):
        raise _wrong("PLAN-FORM", "roles is not a list of names in lower case", "ceremony.roles", got=repr(roles)[:80])
    signers = {name: _read_signer(name, _table(_table(table, "signers"), name)) for name in _table(table, "signers")}
    steps = table.get("steps")
    if type(steps) is not list or not 0 < len(steps) <= MAX_STEPS:
        raise _wrong("PLAN-FORM", f"a plan has 1 to {MAX_STEPS} [[steps]]", "steps")
    read = [_read_step(step, f"steps[{position}]", signers) for position, step in enumerate(steps)]
    by_id = {step.id: step for step in read}
    if len(by_id) != len(read):
        raise _wrong("PLAN-FORM", "two steps have the same id", "steps", got=repr([step.id for step in read])[:200])
    return Plan(
        id=_text(ceremony, "ceremony", "id", NAME),
        title=_text(ceremony, "ceremony", "title", _LINE),
        deployment=_text(ceremony, "ceremony", "deployment", NAME),
        roles=tuple(roles),
        limits=_read_limits(table.get("limits", {})),
        signers=signers,
        steps=by_id,
        fingerprint=fingerprint(_plain(table, "")),
    )


def _only(table: Any, where: str, known: tuple[str, ...]) -> None:
    if type(table) is not dict:
        raise _wrong("PLAN-FORM", "not a table", where)
    if unknown := [name for name in table if name not in known]:
        raise _wrong(
            "PLAN-FIELD", "unknown name", f"{where}.{unknown[0]}".lstrip("."), expected=f"one of {list(known)}"
        )


def _table(table: dict[str, Any], name: str) -> dict[str, Any]:
    value = table.get(name)
    if type(value) is not dict:
        raise _wrong("PLAN-FORM", "the table is missing", name, expected=f"[{name}]")
    return value


def _text(table: dict[str, Any], where: str, name: str, pattern: re.Pattern[str]) -> str:
    value = table.get(name)
    if type(value) is not str or not pattern.fullmatch(value):
        raise _wrong("PLAN-FORM", "missing or not in its form", f"{where}.{name}", got=repr(value)[:120])
    return value


def _plain(value: Any, where: str) -> Any:
    """Return the plan as JSON values, so that it has a fingerprint; a float has no place in a plan."""
    if type(value) is dict:
        return {name: _plain(member, f"{where}.{name}".lstrip(".")) for name, member in value.items()}
    if type(value) is list:
        return [_plain(member, f"{where}[{position}]") for position, member in enumerate(value)]
    if type(value) is datetime and value.tzinfo is not None:
        return value.astimezone(UTC).isoformat()
    if type(value) in (str, int, bool):
        return value
    raise _wrong(
        "PLAN-AMOUNT", "a plan holds texts, whole numbers and times with a zone", where, got=repr(value)[:80],
        do="write an amount in quotes, such as '64000.5', and a time such as 2027-03-31T00:00:00Z",
    )  # fmt: skip


def _read_limits(table: Any) -> Limits:
    names = ("deadline_at_most", "slippage_percent_at_most", "max_fee_gwei_at_most", "remaining_at_least")
    _only(table, "limits", names)
    gwei = Unit("gwei", 9)
    return Limits(
        _span_ms(table, "deadline_at_most"),
        _amount(table["slippage_percent_at_most"], PERCENT, f"limits.{names[1]}") if names[1] in table else None,
        _amount(table["max_fee_gwei_at_most"], gwei, f"limits.{names[2]}") if names[2] in table else None,
        _span_ms(table, "remaining_at_least") or Limits().remaining_at_least_ms,
    )


def _span_ms(table: dict[str, Any], name: str) -> int | None:
    if name not in table:
        return None
    match = _SPAN.fullmatch(_text(table, "limits", name, _SPAN))
    return int(match[1]) * _SPAN_SECONDS[match[2]] * 1000 if match else None


def _read_signer(name: str, table: dict[str, Any]) -> Signer:
    where = f"signers.{name}"
    _only(table, where, ("address", "path", "show", "delegate_of"))
    if not NAME.fullmatch(name):
        raise _wrong("PLAN-FORM", "not a name in lower case", where)
    show = table.get("show", "fields")
    if show not in ("fields", "hashes"):
        raise _wrong("PLAN-FORM", "unknown way to show a message", f"{where}.show", got=repr(show)[:40],
                     expected="'fields' or 'hashes'")  # fmt: skip
    delegate_of = _address(table["delegate_of"], f"{where}.delegate_of") if "delegate_of" in table else None
    return Signer(
        name, _address(table.get("address"), f"{where}.address"), _text(table, where, "path", _PATH), show, delegate_of
    )


def _address(value: Any, where: str) -> bytes:
    if type(value) is not str:
        raise _wrong("PLAN-FORM", "an address is missing", where, expected="an EIP-55 address in quotes")
    try:
        address = parse_address(value)
    except Refusal as refusal:
        raise _wrong("PLAN-ADDRESS", refusal.what, where, got=refusal.got, expected=refusal.expected) from None
    if address == bytes(20):
        raise _wrong("PLAN-ADDRESS", "the zero address is nobody's", where, got=value)
    return address


def _read_step(step: Any, where: str, signers: dict[str, Signer]) -> Step:
    _only(step, where, ("id", "action", "signer", "fields"))
    step_id = _text(step, where, "id", NAME)
    action = ACTIONS.get(step.get("action", ""))
    if action is None:
        raise _wrong("PLAN-ACTION", "unknown action", f"{where}.action", got=repr(step.get("action"))[:80],
                     expected=f"one of {list(ACTIONS)}")  # fmt: skip
    signer = signers.get(step.get("signer", ""))
    if signer is None:
        raise _wrong("PLAN-SIGNER", "no such signer in the plan", f"{where}.signer", got=repr(step.get("signer"))[:80],
                     expected=f"one of {list(signers)}")  # fmt: skip
    fields = step.get("fields")
    _only(fields, f"{where}.fields", tuple(p.name for p in action.parameters))
    return Step(step_id, action, signer, read_values(action, fields, f"{where}.fields"))


def read_values(action: Action, fields: dict[str, Any], where: str) -> dict[str, Exact | Bounds]:
    """Return what a step's fields decide. Raises ``PlanError`` naming the field."""
    values = {}
    for parameter in action.parameters:
        place = f"{where}.{parameter.name}"
        if parameter.name in fields:
            values[parameter.name] = _read_value(parameter, fields[parameter.name], place)
        elif parameter.default:
            values[parameter.name] = _read_value(parameter, parameter.default, place)
        elif parameter.required:
            raise _wrong("PLAN-FIELD", "the field is missing", place, expected=parameter.meaning)
    if action.parameter("pair") and ("pair" in values) == ("pairIndex" in values):
        raise _wrong("PLAN-FIELD", "give exactly one of pair and pairIndex", f"{where}.pairIndex")
    if action.name == "tpsl-partial":
        _check_trigger(values, where)
    return values


def _check_trigger(values: dict[str, Exact | Bounds], where: str) -> None:
    wanted, other = ("price", "percentage") if values["triggerType"].text == "fixed" else ("percentage", "price")
    if wanted not in values or other in values:
        raise _wrong("PLAN-FIELD", f"this triggerType needs {wanted}, and not {other}", f"{where}.{wanted}")


def _read_value(parameter: Parameter, value: Any, where: str) -> Exact | Bounds:
    if type(value) is dict:
        return _read_bounds(parameter, value, where)
    text = value if type(value) is str else str(value)
    unit = parameter.unit
    if unit is ADDRESS:
        return Exact(_address(value, where), text)
    if unit.is_amount:
        return Exact(_amount(value, unit, where), text)
    if unit is UNIX_S or unit is UNIX_MS:
        return _read_time(unit, value, where)
    if unit is CODE and type(value) is str:
        try:
            return Exact(code_bytes(value), text)
        except Refusal as refusal:
            raise _wrong("PLAN-CODE", refusal.what, where, got=refusal.got, expected=refusal.expected) from None
    if unit is CHOICE:
        if value not in parameter.choices:
            raise _wrong(
                "PLAN-FIELD", "not one of the choices", where, got=repr(value)[:80], expected=str(parameter.choices)
            )
        return Exact(text, text)
    if unit is TEXT and type(value) is str and (HEX_32 if parameter.name == "terms_sha256" else _LINE).fullmatch(value):
        return Exact(text, text)
    if unit not in (CODE, TEXT) and type(value) in (str, int) and _COUNT.fullmatch(text) and int(text) < 1 << 256:
        return Exact(int(text), text)
    raise _wrong("PLAN-FIELD", "not in the field's form", where, got=repr(value)[:80], expected=parameter.meaning)


def _amount(value: Any, unit: Unit, where: str) -> int:
    if type(value) not in (str, int):
        raise _wrong("PLAN-AMOUNT", "not an amount", where, got=repr(value)[:80], expected="a decimal in quotes",
                     do="write the amount in quotes, such as '64000.5'")  # fmt: skip
    try:
        return to_raw(str(value), unit)
    except Refusal as refusal:
        raise _wrong("PLAN-AMOUNT", refusal.what, where, got=refusal.got, expected=refusal.expected) from None


def _read_bounds(parameter: Parameter, value: dict[str, Any], where: str) -> Bounds:
    _only(value, where, ("at_least", "at_most"))
    if not parameter.unit.is_amount or not value:
        raise _wrong("PLAN-FIELD", "bounds are for amounts, and name at_least, at_most or both", where)
    low = _amount(value["at_least"], parameter.unit, f"{where}.at_least") if "at_least" in value else None
    high = _amount(value["at_most"], parameter.unit, f"{where}.at_most") if "at_most" in value else None
    if low is not None and high is not None and low > high:
        raise _wrong("PLAN-FIELD", "at_least is above at_most", where)
    return Bounds(low, high, ", ".join(f"{name.replace('_', ' ')} {bound}" for name, bound in value.items()))


def _read_time(unit: Unit, value: Any, where: str) -> Exact:
    if type(value) is datetime and value.tzinfo is not None:
        seconds = int(value.timestamp())
        return Exact(seconds if unit is UNIX_S else seconds * 1000, value.astimezone(UTC).isoformat())
    if type(value) not in (int, str) or not _COUNT.fullmatch(str(value)):
        raise _wrong(
            "PLAN-FIELD", "not a time with a zone", where, got=repr(value)[:80], expected="2027-03-31T00:00:00Z"
        )
    number = int(value)
    if looks_like_seconds(number) != (unit is UNIX_S):
        raise _wrong("PLAN-FIELD", "seconds and milliseconds are mixed up", where, got=str(number), expected=unit.name)
    return Exact(number, str(number))
