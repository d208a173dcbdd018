"""What reads settle of a submission whose end is not known, what they do not, and what a person is told to wait for."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from airlock_online.delivery.outcome import OrderOutcome, outcome_error
from airlock_online.delivery.resolution import EXPIRY_MARGIN_MS, open_outcome
from airlock_online.delivery.submit import export_delivery, follow_submission, submit_delivery
from airlock_online.journal.journal import open_journal
from airlock_online.journal.order_states import FINAL, OPEN, OrderState
from airlock_shared.errors import ExitCode, Expired, Refusal
from online.crash.orders import order
from online.delivering_machine import NOW, Desk, unsent
from online.loopback import Wire, frame, reply, stream
from online.test_chain_evidence import lost
from online.test_journal import DIGEST, put

SUBMIT = "POST /market/execute-batched"
GONE = ("the position on pair 1, slot 0", "no such position")
THERE = (GONE[0], "long, 100 USDC")


def looked(desk: Desk, used: bool | None, seen: Sequence[tuple[str, str]]) -> OrderOutcome:
    world = desk.reading(lambda *_: used)._replace(read_back=lambda _: seen, on_asked=lambda *both: asked.append(both))
    asked: list[tuple[str, str]] = []
    outcome = follow_submission(order("batched-market", "https://venue.example").digest, world)
    assert {question for question, _ in asked} >= {f"the builder: {what}" for what, _ in seen if used}
    return outcome


@pytest.mark.parametrize(("used", "seen"), [(True, [GONE]), (True, [GONE, THERE]), (False, [GONE])])
def test_no_position_proves_a_fill_of_this_order(
    desk: Desk, used: bool | None, seen: Sequence[tuple[str, str]]
) -> None:
    lost(desk, "batched-market")
    outcome = looked(desk, used, seen)
    assert (outcome.state, THERE[1] in outcome.reason) == (OrderState.UNKNOWN, THERE in seen)


@pytest.mark.parametrize("way", ["batched-market", "relayer", "twap", "core-api-post"])
@pytest.mark.parametrize("used", [True, False, None])
@pytest.mark.parametrize("late_ms", [-1, EXPIRY_MARGIN_MS + 1])
def test_neither_clock_nor_service_settles(desk: Desk, way: str, used: bool | None, late_ms: int) -> None:
    delivery = lost(desk, way)
    desk.now_ms = (delivery.deadline_ms or NOW) + late_ms
    outcome = follow_submission(delivery.digest, desk.reading(lambda *_: used))
    assert (outcome.state, "which proves nothing: it may still" in outcome.reason) == (OrderState.UNKNOWN, used is True)
    assert "never be executed again" not in outcome.reason


def test_an_exported_intent_is_followed_by_reads_and_never_sent(desk: Desk) -> None:
    with Wire({}) as wire:
        delivery = order("twap", wire.url)
        export_delivery(delivery, desk.world)
        export_delivery(delivery, desk.world)
        assert follow_submission(delivery.digest, desk.reading(lambda *_: False)).state is OrderState.EXPORTED
        with pytest.raises(Refusal, match=r"ROUTE-EXPORTED.*only after this one has ended: until then it can still"):
            submit_delivery(delivery, desk.world)
        assert follow_submission(delivery.digest, desk.reading(lambda *_: True)).state is OrderState.EXPORTED
        assert wire.seen == []


def test_what_was_rejected_may_be_exported(desk: Desk) -> None:
    with Wire({"POST /twaps/cancel": [reply(400, {})]}) as wire:
        submit_delivery(order("twap", wire.url), desk.world)
        export_delivery(order("twap", wire.url)._replace(signed='{"isPnl": true}'), desk.world)
    known = desk.world.journal.get(order("twap", wire.url).digest)
    assert (known.state, known.record.signed) == (OrderState.EXPORTED, '{"isPnl": true}')


def test_what_is_expired_or_may_have_been_taken_is_not_exported(desk: Desk) -> None:
    with pytest.raises(Expired):
        export_delivery(unsent(deadline_ms=NOW - 1), desk.world)
    assert desk.world.journal.submissions() == []
    export_delivery(unsent(), desk.world)
    with pytest.raises(Expired):  # nor is a package of it written again
        export_delivery(unsent(), desk.world._replace(clock_ms=lambda: NOW + 600_001))
    delivery = lost(desk, "twap")
    with pytest.raises(Refusal, match="ROUTE-SENT"):
        export_delivery(delivery, desk.world)
    assert desk.world.journal.get(delivery.digest).state is OrderState.UNKNOWN


@pytest.mark.parametrize("act", ["export", "claim"])
def test_whose_claim_comes_second_sends_nothing(desk: Desk, tmp_path: Path, act: str) -> None:
    class Late(type(desk.world.journal)):  # type: ignore[misc]
        def claim(self, digest: str, *alone: object, **sent: str | None) -> str:
            with open_journal(str(tmp_path / "journal.sqlite"), lambda: NOW) as other:
                assert getattr(other, act)(digest)
                return str(super().claim(digest, *alone, **sent))

    with Wire({}) as wire:
        world = desk.world._replace(journal=Late(desk.world.journal._engine, lambda: NOW))
        if act == "export":
            with pytest.raises(Refusal, match="ROUTE-EXPORTED"):
                submit_delivery(unsent(wire.url), world)
        else:
            assert "is sending it" in submit_delivery(unsent(wire.url), world).reason
        assert wire.seen == []


@pytest.mark.parametrize("state", OrderState)
@pytest.mark.parametrize("nonce_used", [True, False])
def test_every_state_says_what_it_waits_for(desk: Desk, state: OrderState, nonce_used: bool) -> None:
    put(desk.world.journal, state)
    known = desk.world.journal.get(DIGEST)
    said = open_outcome(known, nonce_used=nonce_used)
    assert said.what
    assert said.do
    assert (said.until_ms is not None) is (state in OPEN and not nonce_used)
    assert ("it has ended" in said.what) is (state in FINAL)
    if said.until_ms is not None:
        assert "node of your own" in said.do
        assert "another step id" in said.do
    timeless = known._replace(record=known.record._replace(deadline_ms=None, old_entity_id="e-1"))
    assert open_outcome(timeless, nonce_used=False).until_ms is None
    assert open_outcome(known._replace(record=known.record._replace(route="rpc")), nonce_used=False).until_ms is None


def test_an_accepted_order_waits_for_the_last_word(desk: Desk) -> None:
    with Wire({SUBMIT: [stream(frame("MarketOrderAccepted", {"trackingId": "t-1"}, 0))]}) as wire:
        outcome = submit_delivery(unsent(wire.url), desk.world._replace(patience_s=0))
    assert "final answer" in open_outcome(desk.world.journal.get(outcome.digest), nonce_used=False).what


@pytest.mark.parametrize(
    ("state", "code", "exit_code", "advice"),
    [
        (OrderState.EXPORTED, "", ExitCode.UNKNOWN, "never sent from here"),
        (OrderState.FAILED, "REPLACED", ExitCode.EXECUTION_FAILED, "which transaction"),
        (OrderState.FAILED, "SOMETHING_NEW", ExitCode.EXECUTION_FAILED, "valid until its deadline"),
        (OrderState.REJECTED, "SIMULATION_FAILED", ExitCode.SERVICE, "decoded error"),
    ],
)
def test_an_outcome_is_advised_on_by_its_code(state: OrderState, code: str, exit_code: ExitCode, advice: str) -> None:
    error = outcome_error(OrderOutcome("0x", state, code=code))
    assert error is not None
    assert (error.exit_code, advice in error.do) == (exit_code, True)
