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
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from airlock_offline.ledger.models import MODELS, screen_of
from airlock_offline.signing.rows import (
    INDENT,
    KEPT,
    NOT_KEPT,
    delegate_lines,
    delegate_warnings,
    goes_to,
    mark_of,
    marked,
    name_of,
    noted,
    planned_as,
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
from airlock_shared.documents.requests import Request
from airlock_shared.plan.decisions import Decision, directions, odd_directions, shown_value
from airlock_shared.text.safe import WIDTH, flags, labelled_rows, safe, safe_again, wrapped
from airlock_shared.text.words import grouped
from airlock_shared.units import CODE, TEXT, raw_text
from airlock_shared.venue.referral_code import code_letters
from airlock_shared.venue.structs import is_custom

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
        name, raw = decision.field.path.rsplit(".", 1)[-1], decision.raw
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


def review_sections(examined: Examined, position: int, count: int) -> Iterator[list[str]]:
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


def section_lines(sections: Iterable[list[str]]) -> Iterator[str]:
    """Yield the lines of sections, one below the other; an empty section is none."""
    for number, section in enumerate(filter(None, sections)):
        yield from ("", *section) if number else section


def _case_sections(head: list[str], case: Case, verdicts: Verdicts) -> Iterator[list[str]]:
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
        values = list(chain(*map(_raw_value, case.decisions)))
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
        came = safe(shown_value(decision.field, decision.raw), limit=100)
        meant = _MEANT[decision.decided_by].format(safe(decision.expected, limit=100))
        yield f"{name_of(decision).strip('_')}: the payload says {came}, {meant}"
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
        of = f" {planned}" if (planned := planned_as(decision)) else ""
        kept = "within" if decision.in_bounds else "equal"
        said = f"plan{of} {safe(expected)}: {kept if ok else 'NOT WHAT THE PLAN SAYS'}"
    elif decision.decided_by == "builder":
        said = f"limit {expected}{': EXCEEDED' if not ok else '' if refused else ': kept'}"
    elif not ok:
        said = f"expected {expected}"
    rows = value_rows(decision, now_ms, limit=_MOST_REFUSED if refused else None)
    return marked(mark_of(decision), chain(rows, row("", said) if said else ()))


def _raw_value(decision: Decision) -> Iterator[str]:
    """Yield a value whose unit and meaning nobody has established, as it came."""
    yield from row(name_of(decision), safe(raw_text(decision.raw), limit=_MOST_REFUSED))


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
    screens: list[list[str]], model: str, version: str = "", notes: Iterable[str] = (), *, each: bool = True
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
