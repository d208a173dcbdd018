"""Every mistake of a plan, with its line and column, by the same readers as :func:`airlock_shared.plan.reader.parse_plan`.

The reader of plans stops at the first mistake. Here each piece is read by itself, so that what is wrong in one hides nothing
in another. Only what TOML itself cannot read ends the search: what stands behind it has no certain meaning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import Any, NamedTuple

from airlock_shared.catalogue.actions import ACTIONS, Action
from airlock_shared.errors import PlanError
from airlock_shared.plan.examples import example_at
from airlock_shared.plan.model import CUSTOM, Limits, Plan, Signer
from airlock_shared.plan.own_limits import value_faults
from airlock_shared.plan.reader import (
    CEREMONY_MEMBERS,
    DIGEST,
    FORMAT,
    LIMITS,
    MAX_STEPS,
    STEP_MEMBERS,
    other_plan,
    parse_plan,
    plain_form,
    read_limits,
    read_roles,
    read_signer,
    read_step,
    read_table,
    read_text,
    read_toml,
    read_witness,
    signer_of,
)
from airlock_shared.plan.toml_positions import Span, TomlPosition, nearest, places
from airlock_shared.plan.values import LINE, plan_error, read_values, require_known
from airlock_shared.wire.members import NAME
from airlock_shared.wire.saved_as import other_form

MAX_MISTAKES = 100
_TIME = re.compile(r"""([A-Za-z_]+)["']?\s*=\s*[0-9]+[-./:][0-9]+[-./:][0-9]++(?!-)""")
_TOML_PLACE = re.compile(r" \(at (?:line ([0-9]+), column ([0-9]+)|end of document)\)$")


class Mistake(NamedTuple):
    """A mistake: where it stands, the line of the plan as it is written, and the error that ``parse_plan`` would raise."""

    span: Span
    line: str
    error: PlanError
    example: str


def find_mistakes(data: bytes, machine_faults: Callable[[Plan], list[PlanError]] = lambda _: []) -> list[Mistake]:
    """Return the mistakes of a plan in the order of its lines, at most ``MAX_MISTAKES``; none when it can be used.

    ``machine_faults`` looks at a plan without mistakes: what only the machine that checks it can know.
    """
    try:
        table = read_toml(data)
    except PlanError as error:
        return [_unreadable(data, error)]
    errors = list({error.where: error for error in reversed(list(_mistakes(table)))}.values())
    if not errors:
        try:
            errors = machine_faults(parse_plan(data))
        except PlanError as error:
            error.where = error.where.rpartition(", line ")[0]  # the line is found again, below
            errors = [error]
    text = data.decode()
    found, lines = places(text), text.split("\n")
    return sorted((_placed(error, table, found, lines) for error in errors), key=lambda m: m.span)[:MAX_MISTAKES]


def _unreadable(data: bytes, error: PlanError) -> Mistake:
    """Return the mistake that TOML's reader tells, at the place that it names."""
    text = "" if other_form(data) else data.decode(errors="replace").replace("\r\n", "\n")
    lines = text.split("\n")
    line, column = len(lines), len(lines[-1]) + 1
    if isinstance(error.__cause__, UnicodeDecodeError):
        before = data[: error.__cause__.start].decode()
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        error.what = "the plan is not UTF-8 text"
    elif match := _TOML_PLACE.search(error.what):
        error.what = error.what[: match.start()]
        line, column = (int(match[1]), int(match[2])) if match[1] else (line, column)
    error.do = "correct this first; the rest of the plan is read only after that"
    return Mistake(Span(line, column, 1), lines[line - 1], error, _for_syntax(lines[line - 1]))


def _for_syntax(line: str) -> str:
    if time := _TIME.search(line):
        return f"{time[1]} = 2027-03-31T00:00:00Z: a time stands in UTC and without quotes, each part in full"
    name, sign, value = line.partition("=")
    if sign and value.strip()[:1] not in ('"', "'", "{", "["):
        return f'{name.strip()} = "…": texts, amounts and addresses stand in quotes'
    return ""


def _placed(error: PlanError, table: dict[str, Any], found: dict[str, TomlPosition], lines: list[str]) -> Mistake:
    _, place = nearest(found, error.where)
    wrong_name = error.check == "PLAN-FIELD" and error.what == "unknown name"
    span = place.name if wrong_name else place.value
    step = re.match(r"steps\[([0-9]+)\]", error.where)
    entry = table["steps"][int(step[1])] if step else None
    action = entry.get("action") if type(entry) is dict else ""
    example = "" if wrong_name else example_at(error.where, action if type(action) is str else "")
    return Mistake(span, lines[span.line - 1].rstrip("\r"), error, example)


# ---- each piece by itself -------------------------------------------------------------------------------------------


def _caught(reader: Callable[..., Any], *arguments: Any) -> Iterator[PlanError]:
    try:
        reader(*arguments)
    except PlanError as error:
        yield error


def _mistakes(table: dict[str, Any]) -> Iterator[PlanError]:
    if table.get("format") != FORMAT:
        yield other_plan(table.get("format"))
        if str(table.get("format")).startswith("airlock/"):
            return  # a newer plan, or another document: what else stands in it is not for this reader to judge
    yield from _unknown(table, "", ("format", "ceremony", "limits", "signers", "steps"))
    yield from _in_ceremony(table)
    limits = table.get("limits", {})
    wrong = list(_in_limits(limits))
    yield from wrong
    signers: dict[str, Signer] = {}
    yield from _in_signers(table, signers)
    yield from _in_steps(table.get("steps"), signers, Limits() if wrong else read_limits(limits))
    yield from _unplain(table, "")


def _unknown(table: Any, where: str, known: tuple[str, ...]) -> Iterator[PlanError]:
    """Yield an error for each name that is not known, with the nearest one that is."""
    if type(table) is not dict:
        yield from _caught(require_known, table, where, known)
        return
    for name in table:
        for error in _caught(require_known, {name: None}, where, known):
            meant = get_close_matches(name, known, 1)
            error.do = f"did you mean {meant[0]}?" if meant else error.do
            yield error


def _in_ceremony(table: dict[str, Any]) -> Iterator[PlanError]:
    if errors := list(_caught(read_table, table, "ceremony")):
        yield from errors
        return
    ceremony = table["ceremony"]
    yield from _unknown(ceremony, "ceremony", CEREMONY_MEMBERS)
    for name, pattern in (("id", NAME), ("title", LINE), ("deployment", NAME)):
        yield from _caught(read_text, ceremony, "ceremony", name, pattern)
    errors = list(_caught(read_roles, ceremony.get("roles", [])))
    yield from errors or _caught(read_witness, ceremony)


def _in_limits(limits: Any) -> Iterator[PlanError]:
    if type(limits) is not dict:
        yield from _caught(read_limits, limits)
        return
    yield from _unknown(limits, "limits", LIMITS)
    errors: list[PlanError] = []
    for name in LIMITS:
        if name in limits:
            alone = {name: limits[name]} | ({"deadline_at_most": "999999d"} if name == "remaining_at_least" else {})
            errors += _caught(read_limits, alone)
    yield from errors or _caught(read_limits, {name: limits[name] for name in LIMITS if name in limits})


def _in_signers(table: dict[str, Any], signers: dict[str, Signer]) -> Iterator[PlanError]:
    """Yield what is wrong with the signers, and note all their names: a step that names a wrong one is not wrong itself."""
    if errors := list(_caught(read_table, table, "signers")):
        yield from errors
        return
    for name in table["signers"]:
        held = table["signers"][name]
        signers[name] = Signer(name, b"", "", delegate_of=b"" if type(held) is dict and "delegate_of" in held else None)
        if errors := list(_caught(read_table, table["signers"], name)):
            errors[0].where = f"signers.{name}"
            yield from errors
            continue
        signer = table["signers"][name]
        known = ("address", "path", "show", "delegate_of")
        yield from _unknown(signer, f"signers.{name}", known)
        good = {"address": f"0x{'11' * 20}", "path": "m/0"}
        for member in known:
            if member in signer or member in good:
                one = {key: value for key, value in good.items() if key != member}
                yield from _caught(read_signer, name, one | {k: v for k, v in signer.items() if k == member})


def _in_steps(steps: Any, signers: dict[str, Signer], limits: Limits) -> Iterator[PlanError]:
    if type(steps) is not list or not 0 < len(steps) <= MAX_STEPS:
        yield plan_error("PLAN-FORM", f"a plan has 1 to {MAX_STEPS} [[steps]]", "steps")
        return
    seen: dict[object, int] = {}
    for position, step in enumerate(steps):
        where = f"steps[{position}]"
        if type(step) is not dict:
            yield from _caught(require_known, step, where, ())
            continue
        yield from _in_step(step, where, signers, limits)
        name = step.get("id")
        if type(name) is str and seen.setdefault(name, position) != position:
            yield plan_error("PLAN-FORM", "two steps have the same id", f"{where}.id", got=name,
                             expected=f"another id than steps[{seen[name]}]")  # fmt: skip


def _in_step(step: dict[str, Any], where: str, signers: dict[str, Signer], limits: Limits) -> Iterator[PlanError]:
    yield from _unknown(step, where, STEP_MEMBERS)
    yield from _caught(read_text, step, where, "id", NAME)
    if "replaces" in step:
        yield from _caught(read_text, step, where, "replaces", DIGEST)
    yield from _caught(signer_of, step, where, signers)
    name = step.get("action")
    action = ACTIONS.get(name) if type(name) is str else None
    if name != CUSTOM and action is None:
        meant = get_close_matches(name, [*ACTIONS, CUSTOM], 1) if type(name) is str else []
        yield plan_error("PLAN-ACTION", "unknown action", f"{where}.action", got=repr(name)[:80],
                         expected=meant[0] if meant else f"one of {list(ACTIONS)}")  # fmt: skip
    elif action is None:
        signer = signers.get(step["signer"]) if type(step.get("signer")) is str else None
        one = {"id": "x", "action": CUSTOM, "signer": "x", "fields": step.get("fields")}
        yield from _caught(read_step, one, where, {"x": signer or Signer("x", b"", "")})
    else:
        yield from _in_fields(action, step.get("fields"), f"{where}.fields", limits)


def _in_fields(action: Action, fields: Any, where: str, limits: Limits) -> Iterator[PlanError]:
    if type(fields) is not dict:
        yield from _caught(require_known, fields, where, ())
        return
    yield from _unknown(fields, where, tuple(p.name for p in action.parameters))
    pair = tuple(p for p in action.parameters if p.name in ("pair", "pairIndex"))
    groups = [(p,) for p in action.parameters if p not in pair] + ([pair] if pair else [])
    errors: list[PlanError] = []
    for group in groups:
        errors += _caught(read_values, action._replace(name="", parameters=group), fields, where)
    yield from errors or _in_values(action, fields, where, limits)


def _in_values(action: Action, fields: Any, where: str, limits: Limits) -> Iterator[PlanError]:
    """Yield how fields that can be read contradict each other, or else the plan's own limits."""
    errors = list(_caught(read_values, action, fields, where))
    yield from errors or value_faults(read_values(action, fields, where), limits, where)


def _unplain(value: Any, where: str) -> Iterator[PlanError]:
    if type(value) is dict:
        for name, member in value.items():
            yield from _unplain(member, f"{where}.{name}".lstrip("."))
    elif type(value) is list:
        for position, member in enumerate(value):
            yield from _unplain(member, f"{where}[{position}]")
    else:
        yield from _caught(plain_form, value, where)
