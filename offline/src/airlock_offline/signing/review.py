"""The review screen: what is about to be signed, in human terms and raw, beside what the plan says.

Pure text, 80 columns: every line can be read aloud. It comes in sections, each a heading and the lines below. A mark in
the margin says of every line of a value whether it is kept, not kept, or chosen by the builder; no mark: nobody compared it.
What the builder only says is bounded and marked otherwise. What is shown of a refused item is in ``refused_review``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from airlock_offline.ledger.models import MODELS, screen_of
from airlock_offline.signing.builder_words import builder_lines
from airlock_offline.signing.row_layout import (
    INDENT,
    KEPT,
    REHEARSAL,
    mark_of,
    marked,
    noted,
    route_of,
    row,
    signer_rows,
    so,
    under_domain,
    value_rows,
)
from airlock_offline.signing.text_suspicions import text_suspicions
from airlock_shared.catalogue.actions import DELEGATE_ACTIONS
from airlock_shared.catalogue.intents import is_custom
from airlock_shared.checks.case import CallCase, Case, IntentCase
from airlock_shared.checks.judge import Examined
from airlock_shared.checks.verdicts import Verdicts
from airlock_shared.plan.decisions import Decision
from airlock_shared.plan.directions import directions, odd_directions
from airlock_shared.text.fingerprint_words import grouped
from airlock_shared.text.safe import WIDTH, beside, safe, safe_again

_GROUPS = (
    ("plan", "DECIDED BY THE PLAN"),
    ("fixed", "FIXED (zero, because the plan asks for nothing here)"),
    ("builder", "CHOSEN BY THE BUILDER, within the plan's limits"),
    ("nobody", "NOT DECIDED BY ANY RULE"),
)


def review_sections(examined: Examined, position: int, count: int) -> Iterator[list[str]]:
    """Yield the sections that show an examined item, the step of this number of so many in the plan.

    The screens of the device are not part of them.
    """
    case, verdicts = examined.case, examined.verdicts
    head = ["=" * WIDTH, f"STEP {position} of {count} of the plan: {safe(examined.received.request.step)}"]
    if case is None:
        yield [*head, "The payload cannot be shown in readable form; the refusals are below."]
    elif verdicts.hinder():
        from airlock_offline.signing.refused_review import refused_sections

        yield from refused_sections(head, case, verdicts)
    else:
        about = marked(KEPT, under_domain(case)) if isinstance(case, IntentCase) else _call_rows(case)
        title = f"{case.title} ({case.step.action.name}, {case.step.action.result})"
        signer, route = signer_rows(case, "signer"), row("goes to", route_of(case.request))
        yield [*head, title, "=" * WIDTH, *marked(KEPT, signer), *about, *marked(KEPT, route)]
        for decided_by, heading in _GROUPS:
            decisions = [d for d in case.decisions if d.decided_by == decided_by]
            rows = chain(*(_decision(decision, case.situation.now_ms) for decision in decisions))
            yield [heading, *rows] if decisions else []
        yield _delegate_lines(case) if case.step.action.name in DELEGATE_ACTIONS else []
    claims = list(builder_lines(examined.received.request))
    yield ["THE BUILDER SAYS (not signed, decides nothing)", *claims] if claims else []
    if case is not None:
        yield list(_warnings(case, verdicts))[1:]


def lines_of(sections: Iterable[list[str]]) -> Iterator[str]:
    """Yield the lines of sections, one below the other; an empty section is none."""
    for number, section in enumerate(filter(None, sections)):
        yield from ("", *section) if number else section


def _call_rows(case: CallCase) -> Iterator[str]:
    from airlock_offline.signing.transaction_rows import transaction_rows

    return transaction_rows(case)


def _decision(decision: Decision, now_ms: int) -> Iterator[str]:
    """Yield a value with who decided it; a text is shown whole, however long, because it is signed."""
    lines = [*value_rows(decision, now_ms, limit=None)]
    if decision.decided_by == "plan":
        lines += row("", f"plan {safe(decision.expected)}: {so(decision)}")
    elif decision.decided_by == "builder":
        lines += row("", f"limit {decision.expected}: kept")
    return marked(mark_of(decision), lines)


def _delegate_lines(case: Case) -> list[str]:
    from airlock_offline.signing.delegate_rows import delegate_heading, delegate_rows

    heading = delegate_heading(case)
    return [heading, *chain(*(row(label, text) for label, text in delegate_rows(case)))] if heading else []


def _warnings(case: Case, verdicts: Verdicts) -> Iterator[str]:
    if verdicts.hinder():
        from airlock_offline.signing.refused_review import refused_warnings

        yield from refused_warnings(case)
        return
    suspicions = [*text_suspicions(case), *(f"{text[0].upper()}{text[1:]}." for text in odd_directions(case.step))]
    notes = [f"{text[0].upper()}{text[1:]}." for text in directions(case.step)]
    if isinstance(case, IntentCase):
        notes += _intent_warnings(case)
    else:
        from airlock_offline.signing.transaction_rows import transaction_warnings

        notes += transaction_warnings(case)
    if case.step.action.name in DELEGATE_ACTIONS:
        from airlock_offline.signing.delegate_rows import delegate_warnings

        suspicions += delegate_warnings(case)
    if case.step.signer.show == "hashes":
        notes.append("The device will show two hashes only, not the fields: compare them digit by digit.")
    if case.situation.deployment.rehearsal:
        notes.append(REHEARSAL)
    for suspicion in suspicions:
        yield from noted("WARNING", suspicion)
    for note in notes:
        yield from noted("NOTE", note)


def _intent_warnings(case: IntentCase) -> Iterator[str]:
    if is_custom(case.intent):
        yield "CUSTOM STRUCT, pinned on this machine: its values are shown raw. Airlock does not know their meaning."
    if not case.intent.deadline:
        yield "This intent has no deadline: it stays valid until its nonce is used."


def hash_lines(case: Case) -> Iterator[str]:
    """Yield the hashes of an examined item, grouped, in the order in which they are compared."""
    yield "HASHES"
    hashes = [("transaction hash" if case.request.transaction else "what is signed", case.digest)]
    if isinstance(case, IntentCase):
        hashes = [("domain hash", case.hashes.domain_separator), ("struct hash", case.hashes.struct_hash)]
        hashes += [("digest", case.digest)]
    for label, value in hashes:
        digits = value.hex()
        yield f"  {label:<{INDENT - 2}}  {grouped(digits[:32])}"
        yield f"  {'':<{INDENT - 2}}  {grouped(digits[32:])}"


def verdict_lines(verdicts: Verdicts) -> Iterator[str]:
    """Yield a line of counts, then what was refused: id, place, got, expected, and what to do."""
    wrong, unreached = verdicts.refused(), verdicts.unreached()
    yield f"CHECKS: {verdicts.passed()} passed, {len(wrong)} refused" + (
        f", {unreached} not reached" if unreached else ""
    )
    for verdict in wrong:
        place = f" at {verdict.where}" if verdict.where else ""
        yield from beside("REFUSED  ", safe_again(f"{verdict.check}{place}: {verdict.what}", limit=600))
        yield from row("got", safe(str(verdict.got), limit=600))
        yield from row("expected", safe(str(verdict.expected), limit=600))
        yield from row("do", verdict.do)
    for verdict in verdicts.not_judged():
        yield from beside("NOT JUDGED  ", safe_again(f"{verdict.check}: {verdict.what}", limit=600))


def screen_lines(screens: list[list[str]], model: str, version: str = "") -> Iterator[str]:
    """Yield the pages that the device will show, numbered, each page's lines joined; ``version`` is its app's."""
    yield f"THE LEDGER WILL SHOW ({model}, {len(screens)} pages)"
    for number, page in enumerate(screens, start=1):
        text = " | ".join(safe(line.strip()) for line in page)
        yield from beside(f"{number:>3}  ", text)
    if not MODELS[model].proved:
        product = MODELS[model].product
        yield from noted(
            "NOTE", f"No real {product} was compared with this list. It follows the device's published rules."
        )
    if version and version != (known := screen_of(model).app_version):
        yield from noted("NOTE", f"The app is {safe(version)}. The list has the words of {known}: a word may differ.")


def note_lines(notes: list[str]) -> Iterator[str]:
    """Yield the notes on what the device does not show in full."""
    for note in notes:
        yield from noted("NOTE", safe(note, limit=400))
