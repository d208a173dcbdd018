"""The first page is the report: how far it came, what was asked and signed, who compared it with what, and one seal.

People sign this page: it has every value that decides, and the fingerprint of this very report. Everything after it is the
evidence for it, and says none of it again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from airlock_shared.ceremony.roles import CHECKPOINTS, HOW, NO_KIT
from airlock_shared.ceremony.sections import BY_PAPER, BY_WORDS
from airlock_shared.report.page.html import (
    Fact,
    Html,
    bad,
    dense,
    element,
    heading,
    hexes,
    joined,
    listed,
    pair_table,
    paragraph,
    sentence,
    strong,
    table,
    words,
)
from airlock_shared.report.page.labels import label, leaf_label
from airlock_shared.report.rows import PageRow, headline, machine_name
from airlock_shared.text.safe import spoken
from airlock_shared.units import utc_text
from airlock_shared.wire.strict_json import HEX_32

# ---- people ---------------------------------------------------------------------------------------------------------
# The people of a ceremony: on the first page who compared what with what, in the evidence when, and what stood there.


_TICKED = {BY_PAPER: "own paper", BY_WORDS: "other screen", "": "Yes"}
"""With what it was compared, by the record of the answer; a ``Yes`` is to the sentence of the checkpoint."""

_YES_TO = {
    "preflight": "preflight page",
    "address": "address, with the Ledger",
    "review": "review, with plan and Ledger",
    "outcome": "outcome, as it was read back",
    "seal": "seal, with the Ledger",
}


def comparisons(report: PageRow) -> Iterator[Html]:
    """Yield the table of the first page: for each comparison a tick of each role."""
    ceremony, rows = report.ceremony, list[list[object]]()
    yield heading("Who compared what, with what, on which machine")
    if ceremony.roles:
        for name in CHECKPOINTS:
            rows.append([_YES_TO.get(name, name), *(_ticks(name, role, report.people) for role in ceremony.roles)])
    else:
        yield paragraph("The plan names no roles.")
    said = "A name is what people said at a machine. It does not prove who was there."
    heads = ["what was compared", *_signing(report)]
    yield table(f"Witness: {ceremony.witness}. {said}", heads, rows, css="wide people")


def _signing(report: PageRow) -> Sequence[str]:
    """Return who signs the page by hand: each role, or the signer of a plan that names none."""
    roles: list[str] = report.ceremony.roles
    return roles or ("signer",)


def _signed_by_hand(report: PageRow) -> Html:
    """Return where each role signs by hand, beside the fingerprint: above all that may need a second sheet."""
    lines = []
    for role in _signing(report):
        named = [each.value for row in report.people for each in row.names if each.name == role and each.value]
        lines.append(f"{role}: {' / '.join(dict.fromkeys(named)) or 'nobody'}")
    return _by_hand(lines)


def _heads_by_hand(report: PageRow) -> Html:
    """Return a line for each machine's transcript head, which people bring on paper: no machine fills it in."""
    lines = []
    for row in report.transcripts:
        after = f", after {row.entries} entries" if row.given and row.entries else ""
        lines.append(f"{machine_name(row.machine)} machine{after}:")
    return _by_hand(lines, css="by-hand ruled")


def _by_hand(lines: Iterable[str], css: str = "by-hand") -> Html:
    return element("div", *(element("span", line) for line in lines), css=css)


def _ticks(name: str, role: str, people: Sequence[PageRow]) -> Html:
    """Return the answers of a role at a checkpoint, each once: with what it was compared, or that it was not, and where."""
    answers = [
        (each, machine_name(row.machine))
        for row in people
        for each in row.checkpoints
        if each.checkpoint == name and role in each.by
    ]
    again = {machine for each, machine in answers if each.holds}
    found: dict[Html, list[str]] = {}
    for each, machine in answers:
        found.setdefault(_tick(each, again=machine in again), []).append(machine)
    return joined(*(paragraph(said, f", {', '.join(dict.fromkeys(machines))}") for said, machines in found.items()))


def _tick(checkpoint: PageRow, *, again: bool) -> Html:
    how = getattr(checkpoint, "how", "")  # of the other machine's transcript it is any text
    said = (HOW | _TICKED).get(how, f'answered by "{how}"')
    if not checkpoint.holds:
        other = f"does not count, something else was confirmed: {said}"
        return joined(f"before it was made again: {said}") if again else bad(other)
    if hasattr(checkpoint, "no_kit"):
        return joined(NO_KIT, said)
    return joined(f"\N{CHECK MARK} {said}") if how in _TICKED else bad(said)


def confirmations(people: Sequence[PageRow]) -> Iterator[Html]:
    """Yield the evidence: over what each checkpoint was confirmed, and when by whom at which machine."""
    yield heading("What they agreed to, and when")
    said: dict[tuple[str, str, bool], list[Html]] = {}
    for row in people:
        machine = machine_name(row.machine)
        begun, ended = (at.utc if at else "never" for at in (row.begun, row.ended))
        yield paragraph(f"On the {machine} machine the ceremony began: {begun}; ended: {ended}.")
        for each in row.checkpoints:
            line = paragraph(f"{each.at.utc} {machine}: {', '.join(each.by)}")
            said.setdefault((each.checkpoint, each.compared, each.holds), []).append(line)
    rows = [
        (joined(strong(f"{name}: "), CHECKPOINTS[name].compares, *lines), _compared(compared, holds=holds))
        for (name, compared, holds), lines in said.items()
    ]
    if rows:
        heads = ("checkpoint, and when it was confirmed by whom", "what stood there")
        yield table("Confirmed on record", heads, rows, css="wide when")


def _compared(value: str, *, holds: bool) -> Html:
    shown = hexes(value) if HEX_32.fullmatch(value) else value
    return joined(shown, "" if holds else bad("does not count, this is something else", "p"))


# ---- front ----------------------------------------------------------------------------------------------------------


_KEPT = {True: "as promised", False: "NOT what was promised", None: "not known"}
_UNKNOWN = "not known: what came back cannot be read"
_ACCOUNTS = ("trader", "referee", "referrer", "caller")
_TIMES_MS = {"expiry": 1000, "openTimestamp": 1000, "deadlineMs": 1}
_DIGITS_AT_MOST = 15
_LONGEST = 300
_BY_CHAIN = ", by the chain"  # how the online half names what a node told it: readback/referral_codes.py
_HASH = re.compile(r"0x[0-9a-f]{64}", re.ASCII)


def front(report: PageRow, fingerprint: str) -> Iterator[Html]:
    """Yield the parts of the first page; ``fingerprint`` is the SHA-256 of ``report.json``, which covers every artefact."""
    yield element("h1", f"{report.ceremony.title} ({report.ceremony.id})")
    yield from _banners(report)
    yield _time_line(report)
    by = f"SHA-256 of report.json, of the {report.made_by} machine, by Airlock {report.airlock}"
    stands_on = [
        ("this report", joined(_side_by_side(fingerprint, by), words(spoken(fingerprint)))),
        ("sealed by", _seal(report.transcripts[0])),
        ("heads, from your papers", _heads_by_hand(report)),
        ("date, signature", _signed_by_hand(report)),
    ]
    yield pair_table("What this page stands on", stands_on, css="facts seal")
    yield heading("What was asked, and what became of it")
    for number, step in enumerate(report.steps, start=1):
        if step.in_part:
            facts = [*_step_facts(step, report), *_ended(step.outcome, report.made_by)]
            yield pair_table(f"{number} of {len(report.steps)}: {step.title} ({step.id})", facts)
    alive = f"Signatures that could still execute, of this or another ceremony: {len(report.alive.signatures)}."
    known = f"{alive} The evidence lists each."
    yield paragraph(known if report.alive.signatures else "No signature that is known could still execute.")
    yield from comparisons(report)


def _banners(report: PageRow) -> Iterator[Html]:
    part, first = report.part, headline(report.missing)
    if report.rehearsal:
        yield _mark("mark rehearsal", "REHEARSAL", "Nothing here is worth anything.")
    if report.complete:
        where = " in this part of the plan" if part else ""
        yield _mark("mark done", first, f"Nothing that this report looks for is missing{where}.")
    else:
        rest = [missing for missing in report.missing if missing != first]
        yield _mark("mark", first, listed(rest) if rest else "Nothing else that this report looks for is missing.")
    if part:
        apart = ", ".join(part.not_in_it) or "none"
        told_apart = f"Steps of the plan that are not in it, and neither done nor missing here: {apart}."
        yield _mark("note", f"This is {part.what}", paragraph(told_apart))
    if report.notes:
        yield _mark("note", "Look at this", listed(report.notes))


def _mark(css: str, first: str, rest: object) -> Html:
    return element("div", strong(first), " ", rest, css=css)


# ---- how far it came ------------------------------------------------------------------------------------------------


def _time_line(report: PageRow) -> Html:
    """Return when it was prepared, signed, sent, confirmed and sealed: each by the record of the machine that did it.

    What has a time stands in the order of the times, and what has none after it. Of several steps their number is told.
    """
    steps = [step for step in report.steps if step.in_part]
    signatures = [step.signature for step in steps if step.signature and step.signature.result == "signed"]
    outcomes = [step.outcome for step in steps if step.outcome]
    stages = [
        ("prepared", [report.prepared_at] if report.prepared_at else [], 1),
        ("signed", [signature.at for signature in signatures], len(steps)),
        ("sent", [outcome.sent_at for outcome in outcomes if outcome.sent_at], len(steps)),
        ("confirmed", [outcome.known_at for outcome in outcomes if outcome.done], len(steps)),
        ("sealed", [row.seals[-1].at for row in report.transcripts if row.given and row.seals], 1),
    ]
    stages.sort(key=lambda stage: max((at.ms for at in stage[1] if at), default=float("inf")))
    return element("ol", *(_stage(*stage) for stage in stages), css="line")


def _stage(name: str, found: Sequence[PageRow | None], of: int) -> Html:
    times = sorted({at.utc for at in found if at})
    when = " to ".join(dict.fromkeys(times[:1] + times[-1:])) or "at a time that is not on record here"
    shown = when if of == 1 else f"{len(found)} of {of}: {when}"
    said = element("span", shown) if len(found) >= of else bad(shown if found else "not on record here")
    return element("li", strong(name), " ", said, css="" if found else "open")


# ---- a step ---------------------------------------------------------------------------------------------------------


def _step_facts(step: PageRow, report: PageRow) -> Iterator[Fact]:
    """Yield what was asked, as it is signed, for which account, until when and by whom."""
    account, end = _account_and_end(step)
    [signer] = [signer for signer in report.plan.signers if signer.name == step.signer]
    of = f", as delegate of {account}" if signer.delegate_of == account else ""
    yield "asked", _asked(step.planned, step.request)
    yield "for the account", account
    yield "may be used", end
    yield "signed by", joined(f"{signer.name}, {signer.address}{of}: ", _signed(step.signature))


def _readable(row: PageRow) -> str:
    """Return a value of the plan; a time that it has as a number, as a date."""
    unit_ms, value = _TIMES_MS.get(row.name, 0), row.value
    is_number = value.isascii() and value.isdigit() and len(value) <= _DIGITS_AT_MOST
    return f"{utc_text(int(value) * unit_ms)} ({value})" if unit_ms and is_number else value


def _asked(planned: Sequence[PageRow], request: PageRow | None) -> Html | str:
    """Return what the plan and the builder decided, as it is signed, without nonces and fixed zeros.

    What the plan says is beside it where it has other words; what has another name there, or did not come back, as the plan
    has it.
    """
    rows: list[PageRow] = []
    if request:
        apart = request.account, request.until and request.until.utc
        decided = (row for row in request.decided if row.by != "fixed" and row.unit != "nonce")
        rows = [row for row in decided if row.value not in apart or not row.ok]
    same = {(label(row.kind), word) for row in rows for word in (row.value, row.expected)}
    named = [(label(row.name), row) for row in planned if row.name not in _ACCOUNTS]
    other = [f"{name}: {_readable(row)}" for name, row in named if (name, row.value) not in same]
    lines = [*other, *map(_value, rows)]
    return dense(lines) if lines else "nothing beside its name"


def _value(row: PageRow) -> str:
    long = len(row.value) > _LONGEST
    value = f"{len(row.value)} characters, which are in the evidence" if long else row.value
    plan = f" (plan: {row.expected})" if row.by == "plan" and row.expected != row.value else ""
    return f"{leaf_label(row)}: {value}{plan}" + ("" if row.ok else " NOT KEPT")


def _account_and_end(step: PageRow) -> tuple[str, str]:
    """Return the account and the deadline of what came back; without that, the account that the plan names."""
    request, nothing = step.request, "not known: nothing came back"
    if request is None:
        return next((row.value for row in step.planned if row.name in _ACCOUNTS), nothing), nothing
    if not request.account:
        return _UNKNOWN, _UNKNOWN
    return request.account, f"until {request.until.utc}" if request.until else "at any time: it has no deadline"


def _signed(signature: PageRow | None) -> Html | str:
    if signature is None:
        return bad("no signature was given")
    at = f" at {signature.at.utc}" if signature.at else ", when is not on record here"
    if signature.result == "signed":
        return f"signed{at}"
    return bad(f"{signature.result}{at}{': ' if signature.why else ''}{signature.why}")


def _ended(outcome: PageRow | None, half: str) -> Iterator[Fact]:
    """Yield what became of a step, what was read of it afterwards and when, and its transaction.

    Where the chain was not read, it says that the builder alone was asked.
    """
    if half == "offline":
        yield "outcome", "not known here: the online machine's report has it"
        yield "the chain says", "not read: the air-gapped machine reads no chain"
    elif outcome is None:
        yield "outcome", bad("not submitted from this machine")
        yield "the chain says", "not read"
    else:
        state = f"{outcome.state}: {outcome.meaning}"
        yield "outcome", state if outcome.done else bad(state)
        of_chain = [each for each in outcome.read_back if is_of_chain(each)]
        of_builder = [each for each in outcome.read_back if not is_of_chain(each)]
        unread = "not read: the builder alone was asked" if of_builder else "not read"
        yield "the chain says", _read(of_chain, outcome) if of_chain else unread
        if of_builder:
            yield "the builder says", _read(of_builder, outcome)
        yield "transaction", outcome_transaction(outcome) or "none is known"


def is_of_chain(promise: PageRow) -> bool:
    """Tell whether the operator's own node read it; anything else is the builder's word."""
    return str(promise.what).endswith(_BY_CHAIN)


def _read(promises: Sequence[PageRow], outcome: PageRow) -> Html:
    said = f"Read and put on record at {outcome.read_back_at.utc}; no later reading is on record."
    found: dict[str, Html] = {}
    for each in promises:
        before = Html(f"{found[each.what]}; ") if each.what in found else sentence(f"{each.what}: ")
        found[each.what] = joined(before, _promise(each))
    return joined(listed(found.values()), paragraph(said))


def _promise(promise: PageRow) -> Html:
    kept = f" ({_KEPT[promise.kept]})"
    promised = "" if promise.promised == promise.found else f"; promised: {promise.promised}"
    return joined(sentence(f"{promise.found}{promised}"), kept if promise.kept else bad(kept))


def outcome_transaction(outcome: PageRow) -> str:
    """Return the transaction's hash: of the journal, or the last that a service told; empty when there is none."""
    if outcome.transaction_hash:
        return str(outcome.transaction_hash)
    said = [row.value for event in outcome.events for row in event.payload if row.name == "transactionHash"]
    hashes = [value for value in said if _HASH.fullmatch(value)]
    return f"{hashes[-1]}, as the service told it" if hashes else ""


# ---- what this page stands on ---------------------------------------------------------------------------------------


def _seal(offline: PageRow) -> Html:
    """Return the last seal of the plan's ceremony over the air-gapped machine's transcript, and no other."""
    if not offline.given:
        return bad("not known: the air-gapped machine's transcript was not given")
    if not offline.seals:
        return bad("nobody")
    seal = offline.seals[-1]
    return _side_by_side(seal.head, f"{seal.by}, {seal.signer}: {seal.entries} entries, air-gapped; it holds")


def _side_by_side(digits: str, said: str) -> Html:
    return element("div", hexes(digits), paragraph(said), css="side-by-side")
