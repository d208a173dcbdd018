"""Delivering to the rehearsal services, every fault that they can be told to have: sent once, and settled by reads alone."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from airlock_online.clients.builder import BuilderClient
from airlock_online.clients.http import Http
from airlock_online.delivery.routes.context import Delivery
from airlock_online.delivery.submit import submit_delivery
from airlock_online.journal.order_states import OrderState
from airlock_rehearsal.services.delivery import rpc
from airlock_rehearsal.services.faults import Faults
from airlock_rehearsal.services.runtime import DEFAULT_TRADER
from airlock_rehearsal.services.server import RehearsalServices
from online.delivering_machine import TRADER_KEY, Desk, delivering_machine, unsent
from online.online_command import APPROVAL, CODE, TRIGGER, TWAP, OnlineCommand

TAKEN = ["drop-before-accepted", "http-500-after"]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with delivering_machine(
        tmp_path / "journal", now_ms=time.time_ns() // 10**6, nap=lambda _: time.sleep(0.02)
    ) as opened:
        yield opened


def an_open(services: RehearsalServices, http: Http) -> Delivery:
    """Return an open that the rehearsal's builder built, signed by its trader."""
    asked: dict[str, str | int] = {"trader": DEFAULT_TRADER, "pairIndex": 0, "side": "long", "orderType": "market"}
    asked |= {"collateralUsdc": "100", "leverage": "5"}
    data = BuilderClient(services.builder_url, http).call("/v2/intents/open", asked)
    signature = TRADER_KEY.sign_recoverable(bytes.fromhex(data["digest"][2:]), hasher=None)
    return unsent(
        services.batched_url,
        digest=data["digest"],
        encoded_intent=data["encodedIntent"],
        signature="0x" + signature[:64].hex() + f"{27 + signature[64]:x}",
        signer=DEFAULT_TRADER,
        contract=data["domain"]["verifyingContract"],
        nonce=data["message"]["_nonce"],
        deadline_ms=int(data["message"]["_deadline"]),
        chain_id=data["domain"]["chainId"],
    )


@pytest.mark.parametrize(
    ("faults", "state", "code"),
    [
        ([], OrderState.FILLED, ""),
        (["unknown-event"], OrderState.FILLED, ""),
        (["cancel-fill"], OrderState.MARKET_DECLINED, ""),
        (["fail-terminal"], OrderState.FAILED, "TX_NOT_EXECUTED"),
        (["attempts-fail=5"], OrderState.FAILED, "ATTEMPTS_EXHAUSTED"),
        (["enqueue-failed-no-id"], OrderState.FAILED, "ENQUEUE_FAILED"),
        (["stream-timeout"], OrderState.FILLED, ""),
        (["stream-timeout", "status-404-once"], OrderState.FILLED, ""),
        (["stream-timeout", "cancel-fill"], OrderState.MARKET_DECLINED, ""),
        (["stream-timeout", "duplicate-replay"], OrderState.FILLED, ""),
        (["duplicate-replay"], OrderState.FILLED, ""),
        (["drop-after-accepted"], OrderState.FILLED, ""),
        (["drop-mid-frame"], OrderState.FILLED, ""),
        (["drop-before-accepted"], OrderState.UNKNOWN, ""),
        (["http-500@batched"], OrderState.UNKNOWN, ""),
        (["huge-body@batched"], OrderState.UNKNOWN, ""),
        (["http-503@batched"], OrderState.UNKNOWN, ""),
        (["not-json@batched"], OrderState.UNKNOWN, ""),
        (["http-429@batched"], OrderState.REJECTED, ""),
    ],
)
def test_every_fault_has_its_outcome_and_an_order_is_posted_once(
    services: RehearsalServices, desk: Desk, faults: list[str], state: OrderState, code: str
) -> None:
    delivery = an_open(services, desk.world.http)
    services.faults = Faults.of(*faults)
    outcome = submit_delivery(delivery, desk.world)
    assert (outcome.state, outcome.code, outcome.anomalies) == (state, code, ())
    assert services.posts["batched"][delivery.nonce] == 1
    assert len(desk.events) == len({event.seq for event in desk.events})
    if state is not OrderState.REJECTED:
        services.faults = Faults()
        shown = len(desk.events)
        assert submit_delivery(delivery, desk.world).state is state
        assert (services.posts["batched"][delivery.nonce], len(desk.events)) == (1, shown)


def test_a_nonce_used_from_another_machine_is_a_rejection_with_its_reason(
    services: RehearsalServices, desk: Desk, tmp_path: Path
) -> None:
    delivery = an_open(services, desk.world.http)
    submit_delivery(delivery, desk.world)
    with delivering_machine(tmp_path / "other", now_ms=desk.now_ms) as other:
        outcome = submit_delivery(delivery, other.world)
    assert (outcome.state, "nonce" in outcome.reason) == (OrderState.REJECTED, True)


WAYS = {
    "relayer": (CODE, "relayer", ()),
    "twap": (TWAP, "twap", ()),
    "core": (TRIGGER, "core", ()),
    "relay": (APPROVAL, "relay", ()),
    "rpc": (APPROVAL, "rpc", ("--by-rpc",)),
}


def sent(machine: OnlineCommand, place: str) -> int:
    return sum(count for key, count in machine.services.posts[place].items() if key)


def submit(machine: OnlineCommand, way: str, *faults: str) -> None:
    step, place, words = WAYS[way]
    if way == "rpc":  # the chain is compared before anything is sent, by the same node
        faults = tuple(fault for fault in faults if not fault.startswith("http-"))
    signatures = machine.signatures(step=step)
    machine.services.faults = Faults.of(*(f"{fault}@{place}" for fault in faults))
    machine("submit", signatures, *words, "--patience", 0)
    machine.services.faults = Faults()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("fault", TAKEN)
def test_what_was_taken_unanswered_is_found_and_sent_once(machine: OnlineCommand, way: str, fault: str) -> None:
    submit(machine, way, fault)
    for _ in range(2 if way == "core" else 100):
        machine("follow", "--patience", 0)
        if machine.states() == {"step": "CONFIRMED"}:
            break
    # a stored trigger spends its nonce only when it is executed: nothing tells that it is there
    assert machine.states() == {"step": "UNKNOWN" if way == "core" else "CONFIRMED"}
    assert sent(machine, WAYS[way][1]) == 1


def test_a_trigger_replaces_another_and_both_ids_are_kept(machine: OnlineCommand) -> None:
    assert machine("submit", machine.signatures("first", arm=TRIGGER)).code == 0
    first = machine.submission
    again = TRIGGER.replace('"3000"', '"2900"') + f'replaces = "{first.entity_id}"\n'
    assert machine("submit", machine.signatures("second", rearm=again)).code == 0
    with machine.journal() as journal:
        second = journal.submissions()[1]
    assert (second.record.method, second.record.old_entity_id) == ("PUT", first.entity_id)
    assert set(machine.services.state.triggers) == {second.entity_id}


def test_a_node_on_another_chain_is_not_sent_to(machine: OnlineCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    signatures = machine.signatures(step=APPROVAL)
    with RehearsalServices() as other:
        monkeypatch.setattr(rpc, "CHAIN_ID", 1337)
        (machine.home / "config.toml").write_text(f'[rpc]\nurl = "{other.rpc_url}"\n')
        assert machine("submit", signatures, "--by-rpc").code == 3
    assert machine.states() == {}


@pytest.mark.parametrize("way", ["relay", "rpc"])
def test_another_hash_in_the_answer_is_told_and_the_signed_one_is_followed(machine: OnlineCommand, way: str) -> None:
    step, place, words = WAYS[way]
    signatures = machine.signatures(step=step)
    machine.services.faults = Faults.of(f"wrong-hash@{place}")
    ended = machine("submit", signatures, *words)
    assert (ended.code, machine.states()) == (0, {"step": "CONFIRMED"})
    assert "ANOMALY: other-transaction-hash" in ended.err
