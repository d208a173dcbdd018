"""Which signatures could still execute: decided by deadline, outcome and nonce, and by nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from airlock_shared.checks.nonces import Use
from airlock_shared.report.facts import MARGIN_MS, standings

NOW_MS = 1_800_000_000_000
A, B = b"\xaa" * 20, b"\xbb" * 20
INTENT = Use("0x01", 8453, b"\xcc" * 20, A, A, 7, "demo", "step", NOW_MS + 1)
TRIGGER = INTENT._replace(deadline_ms=None)
TRANSACTION = Use("0x01", 8453, b"", A, A, 7, "demo", "step", None)
KINDS = {"intent": INTENT, "trigger": TRIGGER, "transaction": TRANSACTION}
OPEN = ("", "PREPARED", "SENDING", "REJECTED", "EXPORTED", "ACCEPTED", "UNKNOWN", "anything else", "confirmed")
ENDED = ("EXPIRED_UNUSED", "VOIDED")
SPENT = {
    "intent": {"FILLED", "MARKET_DECLINED", "CONFIRMED"},
    "trigger": {"FILLED", "MARKET_DECLINED"},
    "transaction": {"CONFIRMED", "FAILED"},
}
STATES = (*OPEN, "FILLED", "CONFIRMED", "MARKET_DECLINED", "FAILED", "EXPIRED_UNUSED", "VOIDED")


def alive(
    *uses: Use, states: dict[str, str] | None = None, now_ms: int | None = NOW_MS, unsure_ms: int = 0
) -> set[str]:
    return {each.use.digest for each in standings(uses, states or {}, now_ms, unsure_ms) if not each.over}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("state", STATES)
def test_an_outcome_ends_a_signature_only_when_its_nonce_is_spent(kind: str, state: str) -> None:
    over = state in SPENT[kind] or state in ENDED
    assert alive(KINDS[kind], states={"0x01": state}) == (set() if over else {"0x01"})


@pytest.mark.parametrize(
    ("past_ms", "unsure_ms", "over"),
    [(0, 0, False), (MARGIN_MS, 0, False), (MARGIN_MS + 1, 0, True), (MARGIN_MS + 1, MARGIN_MS + 1, False),
     (600_001, 600_000, True), (-1, 0, False)],
)  # fmt: skip
def test_a_deadline_is_past_when_it_surely_is(past_ms: int, unsure_ms: int, over: bool) -> None:
    use = INTENT._replace(deadline_ms=NOW_MS - past_ms)
    assert alive(use, unsure_ms=unsure_ms) == (set() if over else {"0x01"})
    assert alive(use, now_ms=None) == {"0x01"}
    assert alive(use._replace(deadline_ms=None)) == {"0x01"}


@pytest.mark.parametrize("kind", KINDS)
def test_what_replaced_it_ends_it_once_that_has_spent_the_nonce(kind: str) -> None:
    old = KINDS[kind]
    new = old._replace(digest="0x02", step="withdraw", replaces="0x01")
    for state in STATES:
        spent = state in SPENT[kind]
        expired = state in ENDED
        assert alive(old, new, states={"0x02": state}) == (
            set() if spent else {"0x01"} if expired else {"0x01", "0x02"}
        )


@pytest.mark.parametrize(
    "other",
    [{"chain_id": 1}, {"contract": b"\xdd" * 20}, {"signer": B}, {"trader": B}, {"nonce": 8}, {"contract": b""}],
)
def test_another_nonce_ends_nothing(other: dict[str, Any]) -> None:
    apart = INTENT._replace(digest="0x02", **other)
    assert alive(INTENT, apart, states={"0x02": "CONFIRMED"}) == {"0x01"}
