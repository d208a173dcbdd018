"""Steps of one form, reviewed together: the form once, then a table with a row for each step.

Nothing is hidden by it. The form is the review of a step without the values that differ, and it is the same for each step of
the group, letter by letter. Each value that differs is in the step's row, whole. What the form cannot hold for all of them,
and each step with a warning, is reviewed by itself. Pure; decided in ``docs/adr/0054-reviews-by-groups.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from airlock_offline.signing.review import BUILDER_MARK, builder_lines, review_sections, review_warnings, verdict_lines
from airlock_offline.signing.rows import CHOSEN, KEPT, name_of, noted, planned_as, row
from airlock_shared.checks.judge import Examined
from airlock_shared.checks.model import IntentCase
from airlock_shared.checks.nonces import UsedNonces, use_of
from airlock_shared.plan.decisions import Decision, shown_value
from airlock_shared.text.safe import columns, safe, wrapped
from airlock_shared.units import UNIX_MS, UNIX_S, raw_text

AT_LEAST, ROWS_AT_MOST = 5, 20
"""Steps of a group, and rows of a page that one ``Yes`` confirms."""
QUESTION_ROWS = 2  # below a page
_LINES_AT_MOST = 5  # of a row: what takes more is read by itself
_WIDE = 77  # columns beside the mark and a blank

_Item = tuple[Examined, IntentCase]
Notes = Callable[[IntentCase], Sequence[str]]
"""What the Ledger does not show in full of a step."""


class Group(NamedTuple):
    """Steps of one form: its sections, the table's heading, and each step's row, by the digest that is signed (0x-hex)."""

    form: list[list[str]]
    heading: list[str]
    rows: dict[str, list[str]]


def groups_of(items: Iterable[Examined], used: UsedNonces, notes: Notes) -> Iterator[Group]:
    """Yield the groups of a document's items, given in their order, as far as they have one."""
    for alike, run in groupby(items, lambda examined: _kind(examined, used)):
        if alike is not None:
            yield from _grouped([(each, each.case) for each in run if isinstance(each.case, IntentCase)], notes)


def _kind(examined: Examined, used: UsedNonces) -> tuple[str, ...] | None:
    """Return what steps have to have in common before they are compared; None for a step that is reviewed by itself."""
    case, verdicts = examined.case, examined.verdicts
    if not isinstance(case, IntentCase) or not verdicts.signable():
        return None
    if case.step.signer.show != "fields" or case.step.replaced_digest or used.earlier(use_of(case)):
        return None
    return None if any(review_warnings(case)) else (case.step.action.name, case.intent.name)


def _grouped(run: Sequence[_Item], notes: Notes) -> Iterator[Group]:
    """Yield the groups among steps that follow one another: the longest stretches with one form."""
    if len(run) < AT_LEAST:
        return
    differing = _columns([case for _, case in run])
    steps = frozenset(case.step.id for _, case in run)
    formed = [(_form(item, differing, steps, notes), item) for item in run]
    stretches = [(form, [item for _, item in stretch]) for form, stretch in groupby(formed, lambda pair: pair[0])]
    if len(stretches) > 1:  # each of them has other steps beside it, and perhaps other values that differ
        for _, stretch in stretches:
            yield from _grouped(stretch, notes)
        return
    ((form, _),) = stretches
    said = [list(builder_lines(examined.received.request)) for examined, _ in run]
    alike = set(said[0]).intersection(*said[1:])
    lines = [line for line in said[0] if line in alike]
    if any(set(each) - alike for each in said):
        lines.append(f"{BUILDER_MARK}… what else it says differs from step to step, and is not shown")
    claims = [["THE BUILDER SAYS (not signed, decides nothing)", *lines]] if lines else []
    heading, *rows = _table([case for _, case in run], differing)
    if max(map(len, rows)) <= _LINES_AT_MOST:
        yield Group(
            [*form, *claims],
            heading,
            {"0x" + case.digest.hex(): lines for (_, case), lines in zip(run, rows, strict=True)},
        )


def _columns(cases: Sequence[IntentCase]) -> frozenset[str]:
    """Return the paths of values that differ and that a row can hold; another one that differs parts the group."""
    first, *others = cases
    return frozenset(
        decision.field.path
        for number, decision in enumerate(first.decisions)
        if any(case.decisions[number].raw != decision.raw for case in others)
        and all(_fits(case.decisions[number]) for case in cases)
    )


def _fits(decision: Decision) -> bool:
    """Tell whether a row can hold a value: a number or an address, by itself as the plan says, or the builder's choice."""
    raw = decision.raw
    short = type(raw) is int or (type(raw) is bytes and len(raw) == 20)
    by_itself = decision.decided_by == "builder" or (decision.decided_by == "plan" and not decision.in_bounds)
    return short and by_itself and decision.ok and not decision.field.label


def _form(item: _Item, differing: frozenset[str], steps: frozenset[str], notes: Notes) -> list[list[str]]:
    """Return a step's review without its name, the values that differ, and the other steps of the group."""
    examined, case = item
    plan = case.situation.plan
    others = {name: step for name, step in plan.steps.items() if name == case.step.id or name not in steps}
    held = case._replace(
        decisions=[decision for decision in case.decisions if decision.field.path not in differing],
        situation=case.situation._replace(plan=plan._replace(steps=others)),
    )
    request = examined.received.request._replace(payload={}, order_reason="")  # what the builder says of it comes below
    received = examined.received._replace(request=request)
    head, *sections = review_sections(examined._replace(case=held, received=received), 0, 0)
    differ = [line for decision in case.decisions if decision.field.path in differing for line in _differs(decision)]
    proved = [str(verdict.got).partition(",")[0] for verdict in examined.verdicts.all() if verdict.check == "PROOF-DELEGATE"
              and verdict.result == "pass"]  # fmt: skip
    return [
        [head[0], f"THE FORM OF {len(steps)} STEPS: read it once. A row for each step follows", *head[2:]],
        *filter(None, sections),
        [
            "WHAT DIFFERS FROM STEP TO STEP stands in its row, whole",
            *differ,
            *(f"  {text}: the delegate key, by its own challenge" for text in proved),
            *(line for note in notes(case) for line in noted("NOTE", safe(note, limit=400))),
            *verdict_lines(examined.verdicts),
        ],
    ]


def _differs(decision: Decision) -> Iterator[str]:
    by_plan = decision.decided_by == "plan"
    plan = f"equal to the plan's {planned_as(decision) or 'value'}"
    said = plan if by_plan else f"chosen by the builder, limit {decision.expected}: kept"
    for line in row(name_of(decision), said):
        yield f"{KEPT if by_plan else CHOSEN}{line[1:]}"


# ---- the table ------------------------------------------------------------------------------------------------------


def _table(cases: Sequence[IntentCase], differing: frozenset[str]) -> Iterator[list[str]]:
    """Yield the heading of the table, then each step's row: what the plan decides, and below it what the builder chose."""
    plan = list(cases[0].situation.plan.steps)
    shown = [decision for decision in cases[0].decisions if decision.field.path in differing]
    names = {by: [name_of(decision) for decision in shown if decision.decided_by == by] for by in ("plan", "builder")}
    rows = [(["", "step", *names["plan"]], names["builder"])]
    for case in cases:
        cells = {by: [_cell(decision) for decision in case.decisions if decision.field.path in differing
                      and decision.decided_by == by] for by in names}  # fmt: skip
        place = str(1 + plan.index(case.step.id))
        rows.append(([place, safe(case.step.id), *cells["plan"]], cells["builder"]))
    parts = list(zip(*rows, strict=True))
    widths = [[max(map(columns, column)) for column in zip(*part, strict=True)] for part in parts]
    for number, row_ in enumerate(rows):
        marks = (KEPT, CHOSEN) if number else (" ", " ")
        yield [
            line for mark, cells_, wide in zip(marks, row_, widths, strict=True) for line in _packed(mark, cells_, wide)
        ]


def _cell(decision: Decision) -> str:
    """Return a value in people's units, as it is signed where that says more, and as the plan has it where it differs."""
    raw, field = decision.raw, decision.field
    text, signed = shown_value(field, raw), raw_text(raw)
    said = safe(text, limit=len(text))
    if signed.lower() != text.lower():
        said += f" raw {signed}"
    if decision.decided_by == "plan" and decision.expected != text and field.unit not in (UNIX_MS, UNIX_S):
        said += f" plan {safe(decision.expected, limit=200)}"
    return said


def _packed(mark: str, cells: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    """Yield cells beside one another, each in its column, on as many lines as they need, with a mark before each."""
    lines = [""]
    for cell, width in zip(cells, widths, strict=True):
        if lines[-1] and columns(lines[-1]) + 2 + width > _WIDE:
            lines.append("")
        lines[-1] += ("  " if lines[-1] else "") + cell + " " * (width - columns(cell))
    for line in filter(None, map(str.rstrip, lines)):
        for part in [line] if columns(line) <= _WIDE + 1 else wrapped(line, _WIDE + 1):
            yield f"{mark} {part}" if columns(part) <= _WIDE else f"{mark}{part}"


def rows_of_page(group: Group, digests: Sequence[str], screen_rows: int) -> int:
    """Return how many of these steps are on the next page: as many as stand above its question, at least one."""
    free = screen_rows - len(group.heading) - QUESTION_ROWS
    taken = 0
    for number, digest in enumerate(digests[:ROWS_AT_MOST]):
        taken += len(group.rows[digest])
        if taken > free and number:
            return number
    return min(len(digests), ROWS_AT_MOST)
