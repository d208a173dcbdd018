"""A deployment and a plan as the lines that people compare, the same on both machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby

from airlock_shared.documents.deployment import SCALES, Deployment
from airlock_shared.documents.ledger_metadata import (
    AMOUNT_FORMAT,
    DATETIME_FORMAT,
    TOKEN_FORMAT,
    FieldFilter,
    MessageFilters,
)
from airlock_shared.ethereum.signatures import checksum_address
from airlock_shared.ethereum.struct_types import leaves_of
from airlock_shared.plan.decisions import directions, odd_directions
from airlock_shared.plan.model import EITHER, Plan, Step
from airlock_shared.report.rows import code_notes, limit_rows, value_notes
from airlock_shared.text.safe import WIDTH, columns, fingerprint_lines, grouped, hanging, labelled_rows, safe
from airlock_shared.venue.profile_words import profile_words

_ALIKE_AT_LEAST = 5
_KINDS = {True: " (PnL pair)", False: "", None: " (the venue does not tell whether its orders are PnL orders)"}


def deployment_lines(deployment: Deployment, *, words: bool = True) -> Iterator[str]:
    """Yield everything in a deployment that decides whether a payload is genuine, with its fingerprint if ``words``."""
    yield f"deployment {deployment.name}" + (" (REHEARSAL: worth nothing)" if deployment.rehearsal else "")
    if deployment.test_mark:
        yield deployment.test_mark
    yield f"chain id   {deployment.chain_id}"
    for name, domain in deployment.domains.items():
        yield f"{name} domain: {domain.name}, version {domain.version}"
        yield f"  contract {checksum_address(domain.contract)}"
    for name, address in sorted(deployment.contracts.items()):
        yield f"contract {safe(name)}: {checksum_address(address)}"
    if deployment.token is not None:
        yield "a Ledger is told of USDC by a record that Ledger has signed; the device judges the signature"
    told = profile_words(deployment.structs, deployment.calls)
    for of, lines in (("signed", told), ("Ledger", _filter_words(deployment))):
        for line in lines:
            yield from hanging(safe(f"{of}: {line}", limit=4000))
    for name, enum in sorted(deployment.enums.items()):
        yield f"enum {safe(name)}: {', '.join(f'{safe(text)} = {number}' for text, number in enum.items())}"
    told = deployment.document["units"]
    scales = ((name, scale if name in told else f"{scale} (not told)") for name, scale in SCALES.items())
    yield from hanging("scales: " + ", ".join(f"{name} {scale}" for name, scale in scales))
    for pair in deployment.pairs.values():
        yield f"pair {pair.number}: {safe(pair.name)}" + _KINDS[pair.pnl]
    for name, url in sorted(deployment.base_urls.items()):
        yield f"service {name}: {safe(url)}"
    yield f"fetched at {safe(deployment.fetched_at)}"
    yield from fingerprint_lines("deployment", deployment.fingerprint) if words else ()


def changed_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each line with its mark: ``-`` is only in the old lines, ``+`` only in the new ones, a blank is in both.

    A line counts in its place: one that stands elsewhere now, or beside another one, has changed.
    """
    for what, old_from, old_to, new_from, new_to in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        same = what == "equal"
        yield from ((" " if same else "-", line) for line in old[old_from:old_to])
        yield from (("+", line) for line in new[new_from:new_to] if not same)


def plan_lines(plan: Plan, *, words: bool = True) -> Iterator[str]:
    """Yield a plan: who signs what, within which limits, and its fingerprint if ``words``."""
    yield from hanging(f"ceremony {plan.id}: {safe(plan.title)}")
    yield f"on deployment {plan.deployment}; roles: {', '.join(plan.roles) or 'none named'}"
    yield f"witness: {plan.witness_text}"
    yield "limits for the builder's choices:"
    for limit, bound in limit_rows(plan):
        yield f"  {limit:<18}  {bound}"
    for signer in plan.signers.values():
        yield f"signer {signer.name}: {checksum_address(signer.address)}"
        yield f"  {signer.path}, the device shows {signer.show}"
        if signer.delegate_of:
            yield f"  as delegate of {checksum_address(signer.delegate_of)}"
    numbered = enumerate(plan.steps.values(), start=1)
    for _, alike in groupby(numbered, lambda pair: (pair[1].signer.name, pair[1].action.name)):
        yield from _steps_lines(
            [(f"step {number}: {step.id}", list(_step_lines(step, plan))) for number, step in alike]
        )
    yield from fingerprint_lines("plan", plan.fingerprint) if words else ()


def _step_lines(step: Step, plan: Plan) -> Iterator[str]:
    """Yield a step below its name: who signs, what it does, its values, and what they mean."""
    yield f"signed by {step.signer.name}"
    yield f"  {step.action.name}: {step.action.title}"
    if step.replaced_digest:
        yield "  REPLACES an earlier signature, digest"
        yield f"    {grouped(step.replaced_digest[2:34])}"
        yield f"    {grouped(step.replaced_digest[34:])}"
        yield f"  {EITHER}"
    for name, value in step.values.items():
        label = f"  {safe(name):<26} "
        whole = safe(value.text)
        if columns(label) + columns(whole) <= WIDTH:
            yield label + whole
        else:
            yield from hanging(label.rstrip())
            yield from labelled_rows(" " * 6, whole)
        for note in value_notes(step, name, plan.limits):
            yield from labelled_rows(" " * 29, note)
    for text in directions(step):
        yield from labelled_rows("  ", safe(text))
    for text in odd_directions(step):
        yield from labelled_rows("  WARNING: ", safe(text))


def _steps_lines(steps: Sequence[tuple[str, list[str]]]) -> Iterator[str]:
    """Yield steps of one signer and one action; of five and more, what is the same in all stands once, above the rest."""
    lengths = {len(lines) for _, lines in steps}
    if len(steps) < _ALIKE_AT_LEAST or len(lengths) > 1:
        for name, (signed_by, *lines) in steps:
            yield f"{name}, {signed_by}"
            yield from lines
        return
    first = steps[0][1]
    own = [place for place, line in enumerate(first) if any(lines[place] != line for _, lines in steps)]
    yield f"{len(steps)} steps, each {first[0]}, alike in this:"
    yield from (line for place, line in enumerate(first) if place and place not in own)
    for name, lines in steps:
        yield from hanging("; ".join([name, *(" ".join(lines[place].split(maxsplit=1)) for place in own)]))


def code_lines(code: bytes, margin: str) -> Iterator[str]:
    """Yield what people compare beside a referral code, and warnings of what they may miss, each row behind a margin."""
    for note in code_notes(code):
        yield from labelled_rows(margin, note)


# ---- message filters ---------------------------------------------------------------------------------------------
# What a Ledger shows of a message that has filters, in the words that people pin them by: a label stands beside the
# member's own name, never alone.


_NOT_SHOWN = "NOT SHOWN by the Ledger"


def _filter_words(deployment: Deployment) -> Iterator[str]:
    """Yield in words, for the people who pin it, what a Ledger shows of each message that has filters, and what not."""
    structs = deployment.structs
    for name, filters in deployment.filters.items():
        yield f"{name}: shown by message filters that Ledger has signed; the device judges the signatures"
        yield f'{name}: the contract {checksum_address(filters.contract)} is called "{filters.label}"'
        shown = {each.path: each for each in filters.fields}
        for path, _ in leaves_of(structs[name].structs, name):
            yield f"{name}: member {path} is {_shown_as(shown[path], filters) if path in shown else _NOT_SHOWN}"
        yield f"{name}: the domain is {_NOT_SHOWN}, but for the network's name; {_MUST_BE_OFF}"


_MUST_BE_OFF = "Raw messages must be off for it"
"""The setting with which the app heeds filters. With it on, it shows every member as without them."""


def _shown_as(each: FieldFilter, filters: MessageFilters) -> str:
    """Return in words how a Ledger shows a member that has a filter."""
    if each.format == TOKEN_FORMAT:
        return f"{_NOT_SHOWN} itself: its ticker stands beside the amount, or ??? for a token that it is not told of"
    if each.format == AMOUNT_FORMAT:
        token = next(
            (other.path for other in filters.fields if other.format == TOKEN_FORMAT and other.token == each.token), ""
        )
        return f'shown as "{each.label}", an amount of the token {token or "that is the contract"}'
    return f'shown as "{each.label}", {"a date and time in UTC" if each.format == DATETIME_FORMAT else "raw"}'
