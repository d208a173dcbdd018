"""Which signatures could still execute: all that were made and of which no end is known, whatever became of the paper.

An end is one of these: a deadline that is surely past; an outcome with which the nonce is spent; another signature that has
spent the same nonce, which is how a plan withdraws one. A transaction and a price trigger have no deadline. A trigger that a
venue has stored can execute at any time, and an intent whose execution failed has its nonce still.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from airlock_shared.checks.nonces import LATE, Use, spent_by, use_of
from airlock_shared.documents.transcript import Entry
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.report.evidence.artefacts import Evidence
from airlock_shared.report.evidence.transcript_entries import stated_uncertainty_ms
from airlock_shared.report.judged import Judged
from airlock_shared.report.rows import Row, moment
from airlock_shared.units import utc_text

MARGIN_MS = 120_000
"""For how long after a deadline the chain's clock may still be before ours."""

_SPENT = {
    "transaction": frozenset({"CONFIRMED", "FAILED"}),
    "intent": frozenset({"FILLED", "MARKET_DECLINED", "CONFIRMED"}),
}
_STORED = "CONFIRMED"  # of what has no deadline: the venue has stored it, and executes it one day
_OVER = frozenset({"EXPIRED_UNUSED", "VOIDED"})
"""It was not executed and can no longer be: its deadline is past, or something else has its nonce."""
NO_END = "this machine does not know its outcome"


class Liveness(NamedTuple):
    """A signature, why it can no longer execute (empty while it may), and what else is known of it."""

    use: Use
    over: str
    known: str


def standings(
    uses: Sequence[Use], states: Mapping[str, str], now_ms: int | None, uncertainty_ms: int = 0
) -> list[Liveness]:
    """Return how each signature stands; ``states`` are the outcomes that are known, by digest, as the journal names them.

    ``now_ms`` is unix milliseconds and may be wrong by ``uncertainty_ms``; None where nobody vouches for a clock, and no
    deadline is past then.
    """
    found = [(use, states.get(use.digest, "")) for use in uses]
    spent = [use for use, state in found if _spends(use, state)]
    surely_ms = None if now_ms is None else now_ms - max(uncertainty_ms, MARGIN_MS)
    return [Liveness(use, _over(use, state, spent, surely_ms), _known(use, state)) for use, state in found]


def _kind(use: Use) -> str:
    return "intent" if use.contract else "transaction"


def _is_stored(use: Use, state: str) -> bool:
    return bool(use.contract) and use.deadline_ms is None and state == _STORED


def _spends(use: Use, state: str) -> bool:
    return not _is_stored(use, state) and state in _SPENT[_kind(use)]


def _over(use: Use, state: str, spent: Iterable[Use], surely_ms: int | None) -> str:
    if _spends(use, state) or state in _OVER:
        return f"it ended as {state}"
    for other in spent:
        if other.digest != use.digest and other.shares_nonce(use):
            return f"its nonce is spent by {other.digest}, step {other.step} of ceremony {other.ceremony}"
    if use.deadline_ms is not None and surely_ms is not None and use.deadline_ms < surely_ms:
        return f"its deadline was {utc_text(use.deadline_ms)}"
    return ""


def _known(use: Use, state: str) -> str:
    if _is_stored(use, state):
        return "the venue has stored it"
    return f"the online machine has it as {state}" if state else NO_END


def until_text(use: Use) -> str:
    """Return until when a signature may execute."""
    if use.deadline_ms is not None:
        return f"until {utc_text(use.deadline_ms)}"
    return "at any time: it has no deadline"


def outcomes_told(entries: Iterable[Entry]) -> dict[str, str]:
    """Return the outcomes that an online transcript tells, by digest: the last of each."""
    told = {}
    for entry in entries:
        if entry.event == "outcome" and (state := entry.data.get("state")):
            told[str(entry.data.get("digest"))] = str(state)
    return told


def alive_row(evidence: Evidence, judged: Sequence[Judged]) -> Row:
    """Return the signatures that could still execute, of every ceremony that the offline transcript knows.

    Without it they are those of this ceremony. Raises ``DocumentError`` or ``Refusal`` for an entry of another form.
    """
    offline = evidence.transcripts.get("offline", [])
    online = evidence.transcripts.get("online", [])
    own = evidence.transcripts.get(evidence.half) or offline or online
    uses, begun = spent_by(offline)
    known = {use.digest: use for use in [*uses, *_answered(judged)]}
    late = {str(entry.data.get("digest")) for entry in evidence.told("offline", LATE)}
    states = outcomes_told(online)
    if evidence.timeline is not None:
        states |= {digest: str(sent.row["state"]) for digest, sent in evidence.timeline.sent.items()}
    now_ms = own[-1].at_ms if own else None
    found = standings([*known.values()], states, now_ms, stated_uncertainty_ms(offline))
    return {
        "as_of": moment(now_ms),
        "of_all_ceremonies": "offline" in evidence.transcripts,
        "signatures": [_row(each, begun, late) for each in found if not each.over],
    }


def _answered(judged: Sequence[Judged]) -> Iterable[Use]:
    for each in judged:
        case = each.examined.case
        if case is not None and case.digest and each.signed:
            yield use_of(case)


def _row(standing: Liveness, begun: Mapping[str, int], late: Iterable[str]) -> Row:
    use, known = standing.use, standing.known
    if use.digest in begun:
        known = f"begun at {utc_text(begun[use.digest])}; whether the Ledger made it is not known"
    elif use.digest in late:
        known = "signed after its time, and kept nowhere"
    return {
        "digest": use.digest,
        "ceremony": use.ceremony,
        "step": use.step,
        "kind": _kind(use),
        "signer": checksum_address(use.signer),
        "nonce": str(use.nonce),
        "may_execute": until_text(use),
        "known": known,
    }
