"""The gate and the contract judge the same alterations: where they differ, it is a kind that has a name and a reason."""

from collections import Counter
from pathlib import Path

import pytest

from airlock_rehearsal.chain.evm import Reverted
from airlock_shared.checks.judge import Known, judge_item
from airlock_shared.checks.model import Situation
from airlock_shared.errors import Refusal
from draws import every_nth
from online.chain.alterations import CONTRACT_IS_STRICTER, GATE_IS_STRICTER, Altered, Bench, alterations
from online.chain.ground import ROOT, Ground, situation
from shared.world import STEPS, request_of

DOCUMENT = Path(ROOT / "docs/reference/chain.md")
ALTERATIONS_AT_LEAST = 1_000
NAMED = {  # the custom error of a kind, where there is one alone
    "domain": {"NotAuthorized"},
    "chain": {"NotAuthorized"},
    "contract": {"NotAuthorized"},
    "signer": {"NotAuthorized"},
    "type": {"NotAuthorized"},
    "deadline": {"DeadlineExpired"},
    "stamp": {"SignedInFuture", "StaleSignature"},
    "stamp ahead": {"SignedInFuture"},
    "stamp old": {"StaleSignature"},
    "expiry": {"InvalidExpiry"},
    "high s": {"BadSignature"},
    "signature": {"BadSignature", "NotAuthorized"},
}


def gate_refuses(altered: Altered, where: Situation) -> set[str]:
    try:
        request = request_of(altered.document)
    except Refusal as refusal:
        return {refusal.check}
    return {verdict.check for verdict in judge_item(request, where, Known(), altered.signed).verdicts.refused()}


def contract_rejects(ground: Ground, struct: str, altered: Altered) -> str:
    """Return what the contract reverts with; empty when it accepts."""
    try:
        ground.venue.check(struct, altered.intent, altered.signature)
    except Reverted as error:
        return error.name
    return ""


@pytest.mark.parametrize("step", STEPS)
def test_the_contract_rejects_where_the_gate_refuses(ground: Ground, step: str) -> None:
    where, bench = situation(), Bench(step)
    untouched = bench.altered("none", "nothing")
    assert not gate_refuses(untouched, where)
    assert not contract_rejects(ground, bench.struct, untouched)
    differed: Counter[str] = Counter()
    for altered in every_nth([*alterations(step)], 10, lambda altered: altered.kind):
        gate, contract = gate_refuses(altered, where), contract_rejects(ground, bench.struct, altered)
        told = f"{altered.kind}, {altered.what}: the gate refuses {gate or 'nothing'}, the contract {contract or 'nothing'}"
        if altered.kind in CONTRACT_IS_STRICTER:
            assert contract, told
            assert not gate, told
        else:
            assert gate, told
        if altered.kind not in GATE_IS_STRICTER:
            assert contract, told
            assert contract in NAMED.get(altered.kind, {contract}), told
        elif altered.kind != "consistent lie":  # of these some break a rule of the venue's, and are rejected for that
            assert not contract, told
        differed[altered.kind] += not (gate and contract)
    assert {kind for kind, count in differed.items() if count} <= {*GATE_IS_STRICTER, *CONTRACT_IS_STRICTER}


def test_there_are_enough_alterations_and_each_explained_kind_occurs() -> None:
    made = Counter(altered.kind for step in STEPS for altered in alterations(step))
    assert made.total() >= ALTERATIONS_AT_LEAST
    assert {*GATE_IS_STRICTER, *CONTRACT_IS_STRICTER, *NAMED, "message", "encoding"} == set(made)


def test_every_disagreement_is_in_the_documentation() -> None:
    text = " ".join(DOCUMENT.read_text().split())
    for kind, reason in (GATE_IS_STRICTER | CONTRACT_IS_STRICTER).items():
        assert f"| {kind} | {reason} |" in text
