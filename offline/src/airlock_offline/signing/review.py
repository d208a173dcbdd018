"""The review screen: what is about to be signed, in human terms and raw, beside what the plan says.

Pure text, 80 columns: every line can be read aloud. It comes in sections, each a heading and the lines below. A mark in
the margin says of every line of a value whether it is kept, not kept, or chosen by the builder; no mark: nobody compared it.
What the builder only says is bounded and marked otherwise. Of a refused item nothing is said that a check has not
established: where it is another payload than the step's, or goes to another contract, values stand as they came.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Iterator
from itertools import chain

from airlock_offline.ledger.models import MODELS
from airlock_offline.signing.builder_words import builder_lines
from airlock_offline.signing.row_layout import CHOSEN, INDENT, KEPT, NOT_KEPT, hanging, marked, row
from airlock_offline.signing.text_suspicions import text_suspicions
from airlock_shared.catalogue.actions import DELEGATE_ACTIONS
from airlock_shared.catalogue.intents import is_custom
from airlock_shared.checks.case import CallCase, Case, IntentCase
from airlock_shared.checks.judge import Examined
from airlock_shared.checks.verdicts import Verdicts
from airlock_shared.documents.requests import Request
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.plan.decisions import Decision, shown_value
from airlock_shared.text.fingerprint_words import grouped
from airlock_shared.text.safe import WIDTH, safe, safe_again
from airlock_shared.units import CODE, TEXT, UNIX_MS, UNIX_S, raw_text, span_text

_GROUPS = (
    ("plan", "DECIDED BY THE PLAN"),
    ("fixed", "FIXED (zero, because the plan asks for nothing here)"),
    ("builder", "CHOSEN BY THE BUILDER, within the plan's limits"),
    ("nobody", "NOT DECIDED BY ANY RULE"),
)
_GROUPS_REFUSED = (
    ("plan", "RECEIVED, beside what the plan decides"),
    ("fixed", "RECEIVED WHERE ZERO IS EXPECTED, because the plan asks for nothing here"),
    ("builder", "WHAT THE BUILDER CHOSE, beside the plan's limits"),
    ("nobody", "NOT DECIDED BY ANY RULE"),
)
_REHEARSAL = "REHEARSAL: nothing here is worth anything."
_AS_CAME = "RECEIVED, not compared with anything"
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
    elif verdicts.hinder():
        yield from _refused(head, case, verdicts)
    else:
        about = marked(KEPT, _under_domain(case)) if isinstance(case, IntentCase) else _transaction_rows(case)
        title = f"{case.title} ({case.step.action.name}, {case.step.action.result})"
        signer, route = _signer_rows(case, "signer"), row("goes to", _route(case.request))
        yield [*head, title, "=" * WIDTH, *marked(KEPT, signer), *about, *marked(KEPT, route)]
        for decided_by, heading in _GROUPS:
            decisions = [d for d in case.decisions if d.decided_by == decided_by]
            rows = chain(*(_decision(decision, case.situation.now_ms) for decision in decisions))
            yield [heading, *rows] if decisions else []
        yield _delegate_lines(case) if case.step.action.name in DELEGATE_ACTIONS else []
    claims = list(builder_lines(examined.received.request))
    yield ["THE BUILDER SAYS (not signed, decides nothing)", *claims] if claims else []
    if case is not None:
        yield list(_refused_warnings(case) if verdicts.hinder() else _warnings(case))[1:]


def lines_of(sections: Iterable[list[str]]) -> Iterator[str]:
    """Yield the lines of sections, one below the other; an empty section is none."""
    for number, section in enumerate(filter(None, sections)):
        yield from ("", *section) if number else section


def _refused(head: list[str], case: Case, verdicts: Verdicts) -> Iterator[list[str]]:
    """Yield what came for a step and is not signed: said of it is only what its checks have established."""
    failed = {verdict.check for verdict in verdicts.stopping()}
    known = failed.isdisjoint(_READ_BY)
    title = f"REFUSED: it is not signed. The step is {case.step.action.name} ({case.step.action.result})"
    why = chain(*(hanging("  ", sentence) for sentence in _why(case, verdicts, known=known)))
    about = _under_domain(case) if isinstance(case, IntentCase) else _transaction_rows(case, failed)
    rows = chain(row("came", case.title), _signer_rows(case, "the plan's signer"), about)
    route = row("route as received", _route(case.request))
    yield [*head, title, "=" * WIDTH, *marked(NOT_KEPT, why), *rows, *route]
    for decided_by, heading in _GROUPS_REFUSED if known else (("", _AS_CAME),):
        decisions = [d for d in case.decisions if d.decided_by == decided_by or not known]
        shown = (_refused_decision(d, case.situation.now_ms) if known else _raw_value(d) for d in decisions)
        yield [heading, *chain(*shown)] if decisions else []


def _refused_warnings(case: Case) -> Iterator[str]:
    for suspicion in text_suspicions(case):
        yield from _note("WARNING", suspicion)
    if case.situation.deployment.rehearsal:
        yield from _note("NOTE", _REHEARSAL)


def _why(case: Case, verdicts: Verdicts, *, known: bool) -> Iterator[str]:
    """Yield in people's words what is wrong: values that are not the plan's, or else what the checks found."""
    wrong = [decision for decision in case.decisions if known and not decision.ok]
    for decision in wrong[:_REASONS]:
        came = safe(shown_value(decision.field, decision.raw), limit=100)
        meant = _MEANT[decision.decided_by].format(safe(decision.expected, limit=100))
        yield f"{_name(decision).strip('_')}: the payload says {came}, {meant}"
    if not wrong:
        yield from (safe_again(verdict.what, limit=200) for verdict in verdicts.refused()[:_REASONS])
    if len(wrong) > _REASONS:
        yield f"and {len(wrong) - _REASONS} more values, below"


def _signer_rows(case: Case, label: str) -> Iterator[str]:
    signer = case.step.signer
    yield from row(label, checksum_address(signer.address))
    yield from row("", f"{signer.name} in the plan, {signer.path}")
    if signer.delegate_of is not None:
        yield from row("", f"as delegate of {checksum_address(signer.delegate_of)}")


def _under_domain(case: IntentCase) -> Iterator[str]:
    domain = case.situation.deployment.domains[case.intent.domain]
    yield from row("domain", f"{domain.name}, version {domain.version}, chain {domain.chain_id}")
    yield from row("", f"contract {checksum_address(domain.contract)}")


def _transaction_rows(case: CallCase, failed: Collection[str] = ()) -> Iterator[str]:
    from airlock_offline.signing.transaction_rows import transaction_rows

    return transaction_rows(case, failed)


def _route(request: Request) -> str:
    order = f", order type {request.order_type}" if request.order_type is not None else ""
    return f"{safe(request.route, limit=200)}{order}"


def _decision(decision: Decision, now_ms: int) -> Iterator[str]:
    """Yield a value with who decided it; a text is shown whole, however long, because it is signed."""
    lines = [*_value(decision, now_ms, limit=None)]
    if decision.decided_by == "plan":
        lines += row("", f"plan {safe(decision.expected)}: {_so(decision)}")
    elif decision.decided_by == "builder":
        lines += row("", f"limit {decision.expected}: kept")
    return marked(_mark(decision), lines)


def _so(decision: Decision) -> str:
    return "within" if decision.in_bounds else "equal"


def _mark(decision: Decision) -> str:
    return NOT_KEPT if not decision.ok else CHOSEN if decision.decided_by == "builder" else KEPT


def _refused_decision(decision: Decision, now_ms: int) -> Iterator[str]:
    """Yield a value beside what was expected of it; whether a limit of time or nonces is kept, the checks below say."""
    lines = [*_value(decision, now_ms, limit=_MOST_REFUSED)]
    if decision.decided_by == "plan":
        lines += row(
            "", f"plan {safe(decision.expected)}: {_so(decision) if decision.ok else 'NOT WHAT THE PLAN SAYS'}"
        )
    elif decision.decided_by == "builder":
        lines += row("", f"limit {decision.expected}{'' if decision.ok else ': EXCEEDED'}")
    elif not decision.ok:
        lines += row("", f"expected {decision.expected}")
    return marked(_mark(decision), lines)


def _raw_value(decision: Decision) -> Iterator[str]:
    """Yield a value whose unit and meaning nobody has established, as it came."""
    yield from row(_name(decision), safe(raw_text(decision.raw), limit=_MOST_REFUSED))


def _name(decision: Decision) -> str:
    return decision.field.path.rsplit(".", 1)[-1]


def _value(decision: Decision, now_ms: int, limit: int | None) -> Iterator[str]:
    field, raw = decision.field, decision.raw
    name, text = _name(decision), shown_value(field, raw)
    shown = safe(text, limit=len(text) if limit is None else limit)
    if field.unit in (UNIX_MS, UNIX_S) and type(raw) is int:
        seconds = (raw if field.unit is UNIX_MS else raw * 1000) - now_ms
        shown += f" ({'in ' if seconds >= 0 else ''}{span_text(abs(seconds) // 1000)}{'' if seconds >= 0 else ' ago'})"
    yield from row(name, shown)
    if field.unit is CODE and type(raw) is bytes:
        from airlock_shared.catalogue.referral_code import code_rows

        for text in code_rows(raw):
            yield from row("", text)
    signed = raw_text(raw)
    if field.unit not in (TEXT, CODE) and signed.lower() != shown.lower():
        yield from row("", f"raw {signed}" + (f" ({field.unit.name})" if field.unit in (UNIX_MS, UNIX_S) else ""))


def _delegate_lines(case: Case) -> list[str]:
    from airlock_offline.signing.delegate_rows import delegate_heading, delegate_rows

    heading = delegate_heading(case)
    return [heading, *chain(*(row(label, text) for label, text in delegate_rows(case)))] if heading else []


def _warnings(case: Case) -> Iterator[str]:
    suspicions = list(text_suspicions(case))
    notes: list[str] = []
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
        notes.append(_REHEARSAL)
    for suspicion in suspicions:
        yield from _note("WARNING", suspicion)
    for note in notes:
        yield from _note("NOTE", note)


def _note(kind: str, text: str) -> Iterator[str]:
    """Yield a sentence of ours; what it quotes never begins a line."""
    yield ""
    yield from textwrap.wrap(f"{kind}: {text}", WIDTH, subsequent_indent="  ")


def _intent_warnings(case: IntentCase) -> Iterator[str]:
    if is_custom(case.intent):
        yield "CUSTOM STRUCT, pinned on this machine: its values are shown raw. Airlock does not know their meaning."
    if not case.intent.deadline:
        yield "This intent has no deadline: it stays valid until its nonce is used."


def hash_lines(case: Case) -> Iterator[str]:
    """Yield the hashes of an examined item, grouped, in the order in which they are compared."""
    yield "HASHES"
    hashes = [("transaction hash", case.digest)]
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
        yield from hanging("REFUSED  ", safe_again(f"{verdict.check}{place}: {verdict.what}", limit=600))
        yield from row("got", safe(str(verdict.got), limit=600))
        yield from row("expected", safe(str(verdict.expected), limit=600))
        yield from row("do", verdict.do)
    for verdict in verdicts.not_judged():
        yield from hanging("NOT JUDGED  ", safe_again(f"{verdict.check}: {verdict.what}", limit=600))


def screen_lines(screens: list[list[str]], model: str) -> Iterator[str]:
    """Yield the pages that the device will show, numbered, each page's lines joined."""
    yield f"THE LEDGER WILL SHOW ({model}, {len(screens)} pages)"
    for number, page in enumerate(screens, start=1):
        text = " | ".join(safe(line.strip()) for line in page)
        yield from hanging(f"{number:>3}  ", text)
    if not MODELS[model].proved:
        product = MODELS[model].product
        yield from _note(
            "NOTE", f"No real {product} was compared with this list. It follows the device's published rules."
        )


def note_lines(notes: list[str]) -> Iterator[str]:
    """Yield the notes on what the device does not show in full."""
    for note in notes:
        yield from _note("NOTE", safe(note, limit=400))
