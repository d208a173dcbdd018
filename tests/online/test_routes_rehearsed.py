"""Every route at the rehearsal services with every way of losing an answer: sent once, and settled by reads alone."""

import pytest

from airlock_rehearsal.services.delivery import rpc
from airlock_rehearsal.services.faults import Faults
from airlock_rehearsal.services.server import RehearsalServices
from online.online_command import APPROVAL, CODE, TRIGGER, TWAP, OnlineCommand

WAYS = {
    "relayer": (CODE, "relayer", ()),
    "twap": (TWAP, "twap", ()),
    "core": (TRIGGER, "core", ()),
    "relay": (APPROVAL, "relay", ()),
    "rpc": (APPROVAL, "rpc", ("--by-rpc",)),
}
TAKEN = ["drop-before-accepted", "http-500-after"]


def sent(machine: OnlineCommand, place: str) -> int:
    return sum(count for key, count in machine.services.posts[place].items() if key)


def submit(machine: OnlineCommand, way: str, *faults: str) -> tuple[int, str]:
    step, place, words = WAYS[way]
    signatures = machine.signatures(step=step)
    if way == "rpc":  # the chain is compared before anything is sent, by the same node
        faults = tuple(fault for fault in faults if not fault.startswith("http-"))
    machine.services.faults = Faults.of(*(f"{fault}@{place}" for fault in faults))
    code = machine("submit", signatures, *words, "--patience", 0).code
    machine.services.faults = Faults()
    return code, machine.states().get("step", "")


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
    with machine.journal() as journal:
        [first] = journal.submissions()
    again = TRIGGER.replace('"3000"', '"2900"') + f'replaces = "{first.entity_id}"\n'
    ended = machine("submit", machine.signatures("second", arm=again))
    assert ended.code == 0, ended.err
    with machine.journal() as journal:
        second = journal.submissions()[1]
    assert second.record.method == "PUT"
    assert second.record.old_entity_id == first.entity_id != second.entity_id
    assert set(machine.services.state.triggers) == {second.entity_id}


def test_a_node_on_another_chain_is_not_sent_to(machine: OnlineCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    signatures = machine.signatures(step=APPROVAL)
    with RehearsalServices() as other:
        monkeypatch.setattr(rpc, "CHAIN_ID", 1337)
        (machine.home / "config.toml").write_text(f'[rpc]\nurl = "{other.rpc_url}"\n')
        assert machine("submit", signatures, "--by-rpc").code == 3
    assert machine.states() == {}


@pytest.mark.parametrize("way", ["relay", "rpc"])
def test_another_hash_in_the_answer_is_an_anomaly_and_the_signed_one_is_followed(
    machine: OnlineCommand, way: str
) -> None:
    step, place, words = WAYS[way]
    signatures = machine.signatures(step=step)
    machine.services.faults = Faults.of(f"wrong-hash@{place}")
    ended = machine("submit", signatures, *words)
    assert (ended.code, machine.states()) == (0, {"step": "CONFIRMED"})
    assert "ANOMALY: other-transaction-hash" in ended.err
