"""The review screen: what is about to be signed, in human terms and raw, beside what the plan says.

Pure text, 80 columns: every line can be read aloud. It comes in sections, each a heading and the lines below. A mark in
the margin says of every line of a value whether it is kept, not kept, or chosen by the builder. No mark: nobody compared it,
or another check refused the call. What the builder only says is bounded and marked otherwise.

Of a refused item only what its checks have established is said, and why it is not signed. Where it is another payload than
the step's, or goes to another contract, values stand as they came.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby, islice
from typing import NamedTuple

from airlock_offline.ledger.models import MODELS, screen_of
from airlock_offline.ledger.screens import Page
from airlock_offline.signing.rows import (
    CHOSEN,
    INDENT,
    KEPT,
    NOT_KEPT,
    delegate_lines,
    delegate_warnings,
    goes_to,
    mark_of,
    marked,
    noted,
    route_of,
    row,
    signer_rows,
    transaction_rows,
    transaction_warnings,
    under_domain,
    value_rows,
)
from airlock_shared.checks.judge import Examined, Verdicts
from airlock_shared.checks.model import Case, IntentCase
from airlock_shared.checks.nonces import UsedNonces, use_of
from airlock_shared.documents.requests import Request
from airlock_shared.plan.decisions import Decision, directions, odd_directions
from airlock_shared.text.safe import WIDTH, columns, flags, grouped, labelled_rows, safe, safe_again, wrapped
from airlock_shared.units import CODE, TEXT, code_letters, raw_text
from airlock_shared.venue.structs import is_custom

Section = list[str]
"""A heading and the lines below it."""

# ---- builder words --------------------------------------------------------------------------------------------------
# What the builder says of an item beside what is signed: bounded, escaped, and marked on every line.
# It decides nothing, so it may neither push away what decides nor look like it: no line of ours begins with the mark.


BUILDER_MARK = "builder | "
MOST_LINES, MOST_BYTES = 40, 4096
"""At most so much of one item, with the last two lines."""

_MOST_OF_NAME, _MOST_OF_VALUE = 40, 400  # characters
_LAST_LINES, _LAST_BYTES = 2, 2 * (WIDTH + 1)  # what is left out, and its hash


def builder_lines(request: Request) -> Iterator[str]:
    """Yield what the builder says, one member after the other, then how much is left out and a SHA-256 of all of it."""
    said = list(_said(request))
    if not said:
        return
    lines, taken, shown, whole = 0, 0, 0, True
    for name, value in said:
        text = json.dumps(value, ensure_ascii=False)
        whole = whole and len(name) <= _MOST_OF_NAME and len(text) <= _MOST_OF_VALUE
        member = f"{safe(name, limit=_MOST_OF_NAME)}: {safe(text, limit=_MOST_OF_VALUE)}"
        rows = [BUILDER_MARK + row for row in wrapped(member, WIDTH - len(BUILDER_MARK))]
        size = sum(len(row.encode()) + 1 for row in rows)
        if lines + len(rows) > MOST_LINES - _LAST_LINES or taken + size > MOST_BYTES - _LAST_BYTES:
            break
        yield from rows
        lines, taken, shown = lines + len(rows), taken + size, shown + 1
    if shown < len(said) or not whole:
        cut = f"{left} more members" if (left := len(said) - shown) else "cut"
        yield f"{BUILDER_MARK}… {cut}; SHA-256 of all that it says, as JSON:"
        yield BUILDER_MARK + hashlib.sha256(json.dumps(said).encode()).hexdigest()


def _said(request: Request) -> Iterator[tuple[str, object]]:
    """Yield names and values; of ``meta`` its own members, where it has any."""
    description, meta = request.payload.get("description"), request.payload.get("meta")
    if description:
        yield "description", description
    if request.order_reason:
        yield "reason of the order type", request.order_reason
    if isinstance(meta, dict):
        yield from meta.items()
    elif meta:
        yield "meta", meta


# ---- text suspicions ------------------------------------------------------------------------------------------------
# What is suspicious about the texts of an item: sentences for the review screen, in ASCII. They decide nothing.


_MOST_TEXTS = 50
_MOST_CHARACTERS = 20_000


def text_suspicions(case: Case) -> Iterator[str]:
    """Yield a sentence for each thing that a reader of the item's texts may miss."""
    for name, text in _texts(case):
        for flag in flags(text[:_MOST_CHARACTERS]):
            yield f"{name}: {flag}."
    said = [case.request.payload.get(name) for name in ("description", "meta")]
    texts = " ".join(text[:_MOST_CHARACTERS] for text in islice(_claimed(said), _MOST_TEXTS))
    for flag in flags(texts[:_MOST_CHARACTERS]):  # of all together: what it says must not fill the screen with warnings
        yield f"what the builder says: {flag}."


def _texts(case: Case) -> Iterator[tuple[str, str]]:
    for decision in case.decisions:
        name, raw = decision.name, decision.raw
        if decision.field.unit is CODE and type(raw) is bytes:
            yield f"the code {name}", code_letters(raw)
        elif decision.field.unit is TEXT and type(raw) is str:
            yield f"the text {name}", raw
    for name, value in case.step.values.items():
        yield f"the plan's {name}", value.text
    yield "the reason of the order type", case.request.order_reason


def _claimed(value: object) -> Iterator[str]:
    """Yield the texts within what the builder claims, names of members too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for member in chain(*value.items()) if isinstance(value, dict) else value:
            yield from _claimed(member)


# ---- review ---------------------------------------------------------------------------------------------------------


_GROUPS = (
    ("plan", "DECIDED BY THE PLAN", "RECEIVED, beside what the plan decides"),
    ("fixed", "FIXED (zero, because the plan asks for nothing here)",
     "RECEIVED WHERE ZERO IS EXPECTED, because the plan asks for nothing here"),
    ("builder", "CHOSEN BY THE BUILDER, within the plan's limits", "WHAT THE BUILDER CHOSE, beside the plan's limits"),
    ("nobody", "NOT DECIDED BY ANY RULE", "NOT DECIDED BY ANY RULE"),
)  # fmt: skip
"""Who decides a value, and the heading above it: of what can be signed, and of what is refused."""

_READ_BY = ("PLAN-STEP", "PLAN-ACTION", "TX-TO", "TX-CHAIN")
"""What gives a payload's values their meaning: it is the step's kind, at the pinned contract of the pinned chain."""

_MEANT = {"plan": "the plan {}", "fixed": "expected is {}", "builder": "allowed is {}", "nobody": "undecided is {}"}
_REASONS = 5
"""Sentences that say at the beginning why an item is refused."""
_MOST_REFUSED = 2000
"""Characters of a value that nobody will sign."""


def review_sections(examined: Examined, position: int, count: int) -> Iterator[Section]:
    """Yield the sections that show an examined item, the step of this number of so many in the plan.

    The screens of the device are not part of them.
    """
    case, verdicts = examined.case, examined.verdicts
    head = ["=" * WIDTH, f"STEP {position} of {count} of the plan: {safe(examined.received.request.step)}"]
    if case is None:
        yield [*head, "The payload cannot be shown in readable form; the refusals are below."]
    else:
        yield from _case_sections(head, case, verdicts)
    claims = list(builder_lines(examined.received.request))
    yield ["THE BUILDER SAYS (not signed, decides nothing)", *claims] if claims else []
    if case is not None:
        yield list(_warnings(case, refused=bool(verdicts.blocking())))[1:]


def section_lines(sections: Iterable[Section]) -> Iterator[str]:
    """Yield the lines of sections, one below the other; an empty section is none."""
    for number, section in enumerate(filter(None, sections)):
        yield from ("", *section) if number else section


def _case_sections(head: list[str], case: Case, verdicts: Verdicts) -> Iterator[Section]:
    failed = {verdict.check for verdict in verdicts.blocking()}
    refused = bool(failed)
    known = failed.isdisjoint(_READ_BY)
    action = case.step.action
    about = under_domain(case) if isinstance(case, IntentCase) else transaction_rows(case, failed)
    if refused:
        why = chain(*(labelled_rows("  ", sentence) for sentence in _why(case, verdicts, known=known)))
        title = f"REFUSED: it is not signed. The step is {action.name} ({action.result})"
        signer = chain(marked(NOT_KEPT, why), row("came", case.title), signer_rows(case, "the plan's signer"))
        rows = chain(signer, about, row("route as received", route_of(case.request)))
    else:
        title = f"{case.title} ({action.name}, {action.result})"
        about = marked(KEPT, about) if isinstance(case, IntentCase) else about  # a call's rows have marks of their own
        rows = chain(marked(KEPT, signer_rows(case, "signer")), about, goes_to(case))
    yield [*head, title, "=" * WIDTH, *rows]
    if not known:
        values = [  # whose unit and meaning nobody has established, as they came
            line
            for decision in case.decisions
            for line in row(decision.name, safe(raw_text(decision.raw), limit=_MOST_REFUSED))
        ]
        yield ["RECEIVED, not compared with anything", *values] if values else []
        return
    for decided_by, *headings in _GROUPS:
        decisions = [d for d in case.decisions if d.decided_by == decided_by]
        shown = chain(*(_decision(decision, case.situation.now_ms, refused=refused) for decision in decisions))
        yield [headings[refused], *shown] if decisions else []
    yield [] if refused else list(delegate_lines(case))


def _why(case: Case, verdicts: Verdicts, *, known: bool) -> Iterator[str]:
    """Yield in people's words what is wrong: values that are not the plan's, or else what the checks found."""
    wrong = [decision for decision in case.decisions if known and not decision.ok]
    for decision in wrong[:_REASONS]:
        came = safe(decision.value, limit=100)
        meant = _MEANT[decision.decided_by].format(safe(decision.expected, limit=100))
        yield f"{decision.name.strip('_')}: the payload says {came}, {meant}"
    if not wrong:
        yield from (safe_again(verdict.what, limit=200) for verdict in verdicts.refused()[:_REASONS])
    if len(wrong) > _REASONS:
        yield f"and {len(wrong) - _REASONS} more values, below"


def _decision(decision: Decision, now_ms: int, *, refused: bool) -> Iterator[str]:
    """Yield a value beside what was expected of it; a text that can be signed is shown whole, however long.

    Whether a limit of time or nonces is kept in what is refused, the checks below say.
    """
    ok, expected, said = decision.ok, decision.expected, ""
    if decision.decided_by == "plan":
        of = f" {decision.planned_as}" if decision.planned_as else ""
        kept = "within" if decision.in_bounds else "equal"
        said = f"plan{of} {safe(expected)}: {kept if ok else 'NOT WHAT THE PLAN SAYS'}"
    elif decision.decided_by == "builder":
        said = f"limit {expected}{': EXCEEDED' if not ok else '' if refused else ': kept'}"
    elif not ok:
        said = f"expected {expected}"
    rows = value_rows(decision, now_ms, limit=_MOST_REFUSED if refused else None)
    return marked(mark_of(decision), chain(rows, row("", said) if said else ()))


def review_warnings(case: Case) -> Iterator[str]:
    """Yield what a reader of an item that can be signed is warned of."""
    yield from text_suspicions(case)
    yield from map(_sentence, odd_directions(case.step))
    yield from delegate_warnings(case)


def _warnings(case: Case, *, refused: bool) -> Iterator[str]:
    suspicions, notes = text_suspicions(case) if refused else review_warnings(case), list[str]()
    if not refused:
        notes = [*map(_sentence, directions(case.step))]
        notes += _intent_warnings(case) if isinstance(case, IntentCase) else transaction_warnings(case)
        if case.step.signer.show == "hashes":
            notes.append("The device will show two hashes only, not the fields: compare them digit by digit.")
    deployment = case.situation.deployment
    if deployment.rehearsal:
        notes.append("REHEARSAL: nothing here is worth anything.")
    if deployment.test_mark:
        notes.append(f"{deployment.test_mark}.")
    for kind, texts in (("WARNING", suspicions), ("NOTE", notes)):
        for text in texts:
            yield from noted(kind, text)


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _intent_warnings(case: IntentCase) -> Iterator[str]:
    if is_custom(case.intent):
        yield "CUSTOM STRUCT, of this venue alone: what its values mean is the word of its profile, or nobody's."
    if not case.intent.deadline:
        yield "This intent has no deadline: it stays valid until its nonce is used."


def hash_lines(case: Case) -> Iterator[str]:
    """Yield the hashes of an examined item, grouped, in the order in which they are compared."""
    yield "HASHES"
    hashes = [("transaction hash" if case.request.transaction else "what is signed", case.digest)]
    if isinstance(case, IntentCase):
        hashes = [
            ("domain hash", case.hashes.domain_separator),
            ("struct hash", case.hashes.struct_hash),
            ("digest", case.digest),
        ]
    for label, value in hashes:
        digits = value.hex()
        yield f"  {label:<{INDENT}}{grouped(digits[:32])}"
        yield f"  {'':<{INDENT}}{grouped(digits[32:])}"


def verdict_lines(verdicts: Verdicts) -> Iterator[str]:
    """Yield a line of counts, then what was refused: id, place, got, expected, and what to do."""
    wrong, unreached = verdicts.refused(), verdicts.unreached()
    yield f"CHECKS: {verdicts.passed()} passed, {len(wrong)} refused" + (
        f", {unreached} not reached" if unreached else ""
    )
    for verdict in wrong:
        place = f" at {verdict.where}" if verdict.where else ""
        yield from labelled_rows("REFUSED  ", safe_again(f"{verdict.check}{place}: {verdict.what}", limit=600))
        yield from row("got", safe(str(verdict.got), limit=600))
        yield from row("expected", safe(str(verdict.expected), limit=600))
        yield from row("do", verdict.do)
    for verdict in verdicts.not_judged():
        yield from labelled_rows("NOT JUDGED  ", safe_again(f"{verdict.check}: {verdict.what}", limit=600))


def screen_lines(
    screens: list[Page], model: str, version: str = "", notes: Iterable[str] = (), *, each: bool = True
) -> Iterator[str]:
    """Yield the pages that the device will show, numbered, each page's lines joined; ``version`` is its app's.

    ``notes`` say what it does not show in full. Without ``each``, a page that comes again is listed once.
    """
    yield f"THE LEDGER WILL SHOW ({model}, {len(screens)} pages{'' if each else ', each listed once'})"
    listed: set[str] = set()
    for number, page in enumerate(screens, start=1):
        text = " | ".join(safe(line.strip()) for line in page)
        yield from labelled_rows(f"{number:>3}  ", text) if each or text not in listed else ()
        listed.add(text)
    if not MODELS[model].proved:
        product = MODELS[model].product
        yield from noted(
            "NOTE", f"No real {product} was compared with this list. It follows the device's published rules."
        )
    if version and version != (known := screen_of(model).app_version):
        yield from noted("NOTE", f"The app is {safe(version)}. The list has the words of {known}: a word may differ.")
    for note in notes:
        yield from noted("NOTE", safe(note, limit=400))


# ---- groups ---------------------------------------------------------------------------------------------------------
# Steps of one form, reviewed together: the form once, then a table with a row for each step.
#
# Nothing is hidden by it. The form is the review of a step without the values that differ, and it is the same for each step
# of the group, letter by letter. Each value that differs is in the step's row, whole. What the form cannot hold for all of
# them, and each step with a warning, is reviewed by itself. Decided in ``docs/adr/0054-reviews-by-groups.md``.


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

    form: list[Section]
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
    return frozenset(
        decisions[0].field.path
        for decisions in zip(*(case.decisions for case in cases), strict=True)
        if any(each.raw != decisions[0].raw for each in decisions) and all(map(_fits, decisions))
    )


def _fits(decision: Decision) -> bool:
    """Tell whether a row can hold a value: a number or an address, by itself as the plan says, or the builder's choice."""
    raw = decision.raw
    short = type(raw) is int or (type(raw) is bytes and len(raw) == 20)
    by_itself = decision.decided_by == "builder" or (decision.decided_by == "plan" and not decision.in_bounds)
    return short and by_itself and decision.ok and not decision.field.label


def _form(item: _Item, differing: frozenset[str], steps: frozenset[str], notes: Notes) -> list[Section]:
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
    proved = [
        str(verdict.got).partition(",")[0]
        for verdict in examined.verdicts.found
        if verdict.check == "PROOF-DELEGATE" and verdict.result == "pass"
    ]
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
    plan = f"equal to the plan's {decision.planned_as or 'value'}"
    said = plan if decision.decided_by == "plan" else f"chosen by the builder, limit {decision.expected}: kept"
    return marked(mark_of(decision), row(decision.name, said))


# ---- the table ------------------------------------------------------------------------------------------------------


def _table(cases: Sequence[IntentCase], differing: frozenset[str]) -> Iterator[Section]:
    """Yield the heading of the table, then each step's row: what the plan decides, and below it what the builder chose."""
    plan, steps = list(cases[0].situation.plan.steps), [case.step.id for case in cases]
    places = ["", *(str(1 + plan.index(step)) for step in steps)]
    parts = {KEPT: [_padded(places), _padded(["step", *map(safe, steps)])], CHOSEN: []}
    for decisions in zip(*(case.decisions for case in cases), strict=True):
        first = decisions[0]
        if first.field.path in differing:
            parts[mark_of(first)].append(_padded([first.name, *map(_cell, decisions)]))
    for number in range(len(places)):
        yield [
            line
            for mark, part in parts.items()
            for line in _packed(mark if number else " ", [column[number] for column in part])
        ]


def _padded(column: Sequence[str]) -> list[str]:
    width = max(map(columns, column))
    return [cell + " " * (width - columns(cell)) for cell in column]


def _cell(decision: Decision) -> str:
    """Return a value in people's units, as it is signed where that says more, and as the plan has it where it differs."""
    text = decision.value
    said = safe(text, limit=len(text))
    if decision.signed:
        said += f" raw {decision.signed}"
    if decision.decided_by == "plan" and decision.expected != text and decision.at_ms is None:
        said += f" plan {safe(decision.expected, limit=200)}"
    return said


def _packed(mark: str, cells: Sequence[str]) -> Iterator[str]:
    """Yield cells beside one another, each in its column, on as many lines as they need, with a mark before each."""
    lines = [""]
    for cell in cells:
        if lines[-1] and columns(lines[-1]) + 2 + columns(cell) > _WIDE:
            lines.append("")
        lines[-1] += ("  " if lines[-1] else "") + cell
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
