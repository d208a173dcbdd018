"""Transactions prepared: what is asked, filled in, and refused before a byte is written."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airlock_online.clients.builder import BuilderClient
from airlock_online.clients.http import Http
from airlock_online.preparing.gas_and_fees import ByHand, GasAndFees, gas_and_fees_of
from airlock_online.preparing.prepare import BuildRequest, Prepared, Sources, prepare_step, with_decimals
from airlock_shared.checks.nonces import UsedNonces
from airlock_shared.documents.requests import parse_requests
from airlock_shared.errors import Refusal, ServiceError, UsageError
from airlock_shared.ethereum.signatures import Transaction
from airlock_shared.host.files import TranscriptFile
from airlock_shared.plan.model import CUSTOM, Plan
from airlock_shared.plan.reader import parse_plan
from airlock_shared.venue.actions import Action
from online import transaction_steps as steps
from online.loopback import Wire, reply
from online.node import CHAIN_ID, GWEI, Failure, Node
from shared.make_payloads import DESK, TREASURY

BY_HAND = ByHand(nonce=3, gas=60_000, max_fee_wei=2 * GWEI, priority_fee_wei=GWEI)
FROM_NODE = Transaction(7, 120_002, 2 * GWEI + GWEI // 10, GWEI // 10)  # the estimate, and 20 % of it, rounded up


def prepared(client: Http, wire: Wire, plan: Plan, filler: GasAndFees | None) -> list[Prepared]:
    sources = Sources(BuilderClient(wire.url, client), filler)
    ledger, where = UsedNonces(), steps.situation(plan)
    return [prepare_step(step, where, sources, ledger, steps.asked(step)) for step in plan.steps.values()]


def one(client: Http, step: str, node: Node, **changes: Any) -> Prepared:
    plan = steps.plan_of(step)
    script = steps.answers(**{step.replace("-", "_"): steps.payload(step, **changes)})
    with Wire(script) as wire, node:
        filler = gas_and_fees_of(steps.situation(plan).deployment, ByHand(), node.url, client)
        return prepared(client, wire, plan, filler)[0]


def refusals(result: Prepared) -> set[str]:
    return {verdict.check for verdict in result.verdicts.refused()}


@pytest.mark.parametrize("step", steps.STEPS)
def test_every_transaction_becomes_the_request_of_its_vector(client: Http, step: str) -> None:
    """The vectors were written by other libraries; what a node tells is all that may differ."""
    result = one(client, step, Node())
    expected = steps.request(step)
    assert refusals(result) == set()
    assert result.request.transaction == FROM_NODE
    assert result.request.delegation in (None, steps.DELEGATION)
    assert (result.request.delegation is None) == (expected.delegation is None)
    assert result.request._replace(transaction=None, delegation=None) == expected._replace(
        transaction=None, delegation=None
    )


def test_the_node_is_asked_for_the_signer_and_the_call_and_each_signer_s_nonces_count_up(client: Http) -> None:
    node = Node()
    one(client, "position-increase-desk", node)
    payload = steps.payload("position-increase-desk")
    assert node.asked[0] == ("eth_chainId", [])
    assert ("eth_getTransactionCount", [DESK, "pending"]) in node.asked
    call = {"from": DESK, "to": payload["to"], "data": payload["data"], "value": "0x0"}
    assert node.asked[-1] == ("eth_estimateGas", [call])
    names = ("approve", "cancel-request", "limit-update-desk", "referral-transfer", "referral-adopt-desk")
    plan = steps.plan_of(*names)
    script = steps.answers(**{name.replace("-", "_"): steps.payload(name) for name in names})
    with Wire(script) as wire, Node() as node:
        filler = gas_and_fees_of(steps.situation(plan).deployment, ByHand(), node.url, client)
        found = prepared(client, wire, plan, filler)
    nonces = [(item.request.signer, item.request.transaction.nonce) for item in found if item.request.transaction]
    assert nonces == [(TREASURY, 7), (TREASURY, 8), (DESK, 7), (TREASURY, 9), (DESK, 8)]
    assert node.methods.count("eth_getTransactionCount") == 2
    assert node.methods.count("eth_maxPriorityFeePerGas") == 1  # one price for all
    assert set.union(*(refusals(item) for item in found)) == set()


def test_by_hand_no_node_is_needed_the_nonce_counts_up_and_one_value_stands_in_for_the_nodes(client: Http) -> None:
    plan = steps.plan_of("approve", "cancel-request")
    script = steps.answers(approve=steps.payload("approve"), cancel_request=steps.payload("cancel-request"))
    with Wire(script) as wire:
        found = prepared(client, wire, plan, gas_and_fees_of(steps.situation(plan).deployment, BY_HAND, "", client))
    wanted = Transaction(3, 60_000, 2 * GWEI, GWEI)
    assert [item.request.transaction for item in found] == [wanted, wanted._replace(nonce=4)]
    plan = steps.plan_of("approve")
    with Wire(steps.answers(approve=steps.payload("approve"))) as wire, Node() as node:
        filler = gas_and_fees_of(steps.situation(plan).deployment, ByHand(gas=90_000), node.url, client)
        [item] = prepared(client, wire, plan, filler)
    assert item.request.transaction == FROM_NODE._replace(gas=90_000)
    assert "eth_estimateGas" not in node.methods


@pytest.mark.parametrize(("changes", "check"), [({"to": DESK}, "TX-TO"), ({"data": "approve"}, "TX-HEX")])
def test_what_a_check_refuses_is_never_shown_to_the_node(client: Http, changes: dict[str, Any], check: str) -> None:
    node = Node({"eth_estimateGas": Failure(3, "execution reverted")})
    assert check in refusals(one(client, "approve", node, **changes))
    assert "eth_estimateGas" not in node.methods


@pytest.mark.parametrize(
    ("node", "check"),
    [
        (Node({"eth_feeHistory": {"baseFeePerGas": [hex(GWEI), hex(3 * GWEI)]}}), "TX-FEES"),
        (Node({"eth_estimateGas": hex(15_000_000)}), "TX-GAS"),
        (Node({"eth_getTransactionCount": hex(2**32)}), "TX-NONCE"),
    ],
)
def test_what_the_node_tells_is_bounded_by_the_gate(client: Http, node: Node, check: str) -> None:
    assert refusals(one(client, "approve", node)) == {check}


def test_no_fee_limit_a_node_of_another_chain_and_a_nonce_for_two_accounts_are_refused(client: Http) -> None:
    plan = steps.plan_of("approve", max_fee_gwei_at_most="")
    with Wire(steps.answers(approve=steps.payload("approve"))) as wire:
        [item] = prepared(client, wire, plan, GasAndFees(BY_HAND, None))
    assert refusals(item) == {"TX-FEES"}
    deployment = steps.situation(steps.plan_of("approve")).deployment
    with Node({"eth_chainId": hex(1)}) as node, pytest.raises(Refusal) as caught:
        gas_and_fees_of(deployment, ByHand(), node.url, client)
    assert (caught.value.check, node.methods) == ("TX-CHAIN", ["eth_chainId"])
    assert (caught.value.got, caught.value.expected) == ("chain id 1", f"chain id {CHAIN_ID}")
    names = ("approve", "limit-update-desk")
    script = steps.answers(**{name.replace("-", "_"): steps.payload(name) for name in names})
    with Wire(script) as wire, pytest.raises(UsageError, match="several signers"):
        prepared(client, wire, steps.plan_of(*names), GasAndFees(BY_HAND, None))


@pytest.mark.parametrize(
    "changes",
    [{"to": None}, {"chainId": "84532"}, {"value": 0}, {"description": 1.5}, {"meta": {"long": "x" * (256 << 10)}}],
)
def test_a_payload_of_another_shape_is_the_builders_fault(client: Http, changes: dict[str, Any]) -> None:
    with pytest.raises(ServiceError, match="is not in the form"):
        one(client, "approve", Node(), **changes)


@pytest.mark.parametrize(
    ("failure", "told", "reverts"),
    [
        (Failure(3, "execution reverted", "0x4e487b71" + f"{0x11:064x}"), "panic 0x11", True),
        (Failure(-32000, "reverted", {"data": "0x12345678"}), "selector 0x12345678", True),
        (Failure(-32000, "execution reverted"), "execution reverted", True),
        (Failure(-32000, "insufficient funds for gas"), "insufficient funds", False),
    ],
)
def test_a_revert_is_told_with_its_reason_and_what_is_none_in_the_node_s_own_words(
    client: Http, failure: Failure, told: str, reverts: bool
) -> None:
    with pytest.raises(ServiceError, match=told) as caught:
        one(client, "approve", Node({"eth_estimateGas": failure}))
    assert ("step approve: the transaction would revert" in caught.value.what) is reverts


def test_gas_is_estimated_with_the_fee_that_is_sent(client: Http) -> None:
    deployment = steps.situation(steps.plan_of("approve")).deployment
    with Node() as node:
        filler = gas_and_fees_of(deployment, ByHand(), node.url, client)
        filler.fill(steps.payload("approve", value="0x05"), TREASURY, "approve", lambda _: True)
    assert node.asked[-1][1][0]["value"] == "0x5"


@pytest.mark.parametrize("missing", ByHand._fields)
def test_without_a_node_everything_must_be_given_by_hand(client: Http, missing: str) -> None:
    deployment = steps.situation(steps.plan_of("approve")).deployment
    with pytest.raises(UsageError, match="no node is configured"):
        gas_and_fees_of(deployment, BY_HAND._replace(**{missing: None}), "", client)


def test_prepare_writes_a_transaction_and_says_its_cost(tmp_path: Path) -> None:
    with Wire(steps.answers(approve=steps.payload("approve"))) as wire, Node() as node:
        machine = steps.PlannedCommand(tmp_path, wire.url, "approve")
        ended = machine.prepare("--rpc", node.url)
    _, [item], _ = parse_requests(machine.output.read_bytes())
    assert (ended.code, item.transaction, machine.output.stat().st_mode & 0o777) == (0, FROM_NODE, 0o600)
    for text in ("nonce 7, gas 120002", "fee at most 2.1 gwei, priority 0.1 gwei", "costs at most 0.0002520042 of"):
        assert text in ended.out
    assert max(len(line) for line in ended.out.splitlines()) <= 80


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ((), 2, "no node is configured"),
        ((*steps.HAND_WORDS[:4], "--max-fee-gwei", "5.000000001", "--priority-fee-gwei", "1"), 3, "TX-FEES"),
        ((*steps.HAND_WORDS[:2], "--gas", "20999", *steps.HAND_WORDS[4:]), 3, "TX-GAS"),
        ((*steps.HAND_WORDS[:4], "--max-fee-gwei", "0.0000000001", "--priority-fee-gwei", "0"), 2, "--max-fee-gwei"),
        (("--nonce", "-1", *steps.HAND_WORDS[2:]), 2, "--nonce"),
        (("--rpc", "node"), 2, "not a plain http(s) address"),
    ],
)
def test_a_wrong_filling_has_nothing_written(tmp_path: Path, words: tuple[str, ...], code: int, told: str) -> None:
    with Wire(steps.answers(approve=steps.payload("approve"))) as wire:
        machine = steps.PlannedCommand(tmp_path, wire.url, "approve")
        ended = machine.prepare(*words)
    assert (ended.code, told in ended.err, machine.output.exists()) == (code, True, False), ended.err


def test_of_a_builder_that_is_not_ready_nothing_is_prepared_unasked(tmp_path: Path) -> None:
    script = steps.answers(approve=steps.payload("approve"))
    with Wire(script | {"GET /ready": [reply(503, {"ok": False, "data": {"ready": False}})]}) as wire:
        machine = steps.PlannedCommand(tmp_path, wire.url, "approve")
        ended = machine.prepare(*steps.HAND_WORDS)
        assert (ended.code, "is not ready" in ended.err, machine.output.exists()) == (8, True, False), ended.err
        assert machine.prepare("--even-if-not-ready", *steps.HAND_WORDS).code == 0


def test_a_changed_meta_is_told_and_what_is_pinned_decides(tmp_path: Path) -> None:
    script = steps.answers(approve=steps.payload("approve"))
    script["GET /v2/meta"] = [reply(200, {"ok": True, "data": steps.meta() | {"chainId": 8453}})]
    with Wire(script) as wire:
        ended = steps.PlannedCommand(tmp_path, wire.url, "approve").prepare(*steps.HAND_WORDS)
    told = "WARNING: the venue now says of chain_id: 8453; pinned is 84532"
    assert (ended.code, told in " ".join(ended.err.split())) == (0, True)


@pytest.mark.parametrize(
    ("later", "replaces", "warned"),
    [
        ({}, "", True),
        ({"error": "no answer"}, "", True),
        ({"state": "VOIDED"}, "", False),
        ({"state": "VOIDED", "ceremony": "other"}, "", True),
        ({}, f'replaces = "0x{"cd" * 32}"\n', False),  # with the same nonce, it is sent
    ],
)
def test_a_step_that_was_carried_out_is_prepared_with_a_warning(
    tmp_path: Path, later: dict[str, str], replaces: str, warned: bool
) -> None:
    with Wire(steps.answers(approve=steps.payload("approve"))) as wire:
        machine = steps.PlannedCommand(tmp_path, wire.url, "approve")
        text = machine.plan.read_text()
        machine.plan.write_text(text.replace('id = "approve"\n', f'id = "approve"\n{replaces}'))
        plan = parse_plan(machine.plan.read_bytes())
        assert bool(plan.steps["approve"].replaced_digest) == bool(replaces)
        of = {"ceremony": plan.id, "step": "approve", "digest": "0x" + "ab" * 32}
        for told in ({"state": "CONFIRMED"}, later):
            TranscriptFile(machine.home / "transcript.jsonl").record("outcome", of | told, 1)
        ended = machine.prepare(*steps.HAND_WORDS)
    warning = "WARNING: step approve is CONFIRMED. A new signature is not sent: answer no at its review."
    assert (ended.code, warning in " ".join(ended.err.split())) == (0, warned), ended.err


def test_a_step_of_a_pinned_struct_is_not_built_here(client: Http) -> None:
    plan = steps.plan_of("approve")
    action = Action(CUSTOM, "A pinned struct", "", "OtherReq", ())
    step = plan.steps["approve"]._replace(action=action, values={})
    sources = Sources(BuilderClient("http://127.0.0.1:9", client))
    with pytest.raises(UsageError, match="describes no OtherReq"):
        prepare_step(step, steps.situation(plan), sources, UsedNonces(), BuildRequest("/v2/x", {}))


def test_build_shows_a_transaction_by_what_its_calldata_say(tmp_path: Path) -> None:
    spender = steps.item("approve")["fields"]["spender"]
    fields = (f"trader={TREASURY}", f"spender={spender}", "amountUsdc=25000.5")
    with Wire(steps.answers(approve=steps.payload("approve", description="Nothing to see here"))) as wire:
        machine = steps.PlannedCommand(tmp_path, wire.url, "approve")
        ended = machine("build", "token-approve", *fields, *steps.HAND_WORDS)
    shown = ("approve: Let a contract take USDC", "25000.5 USDC (raw 25000500000)", spender, "nonce 3, gas 60000")
    assert (ended.code, [text for text in shown if text not in ended.out]) == (0, [])
    assert "Nothing to see here" not in ended.out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("token-approve", "trader=0x1"), "PLAN-ADDRESS"),
        (("claim-keeper-rewards", f"caller={TREASURY}", "colour=red"), "not a field of this action"),
        (("claim-keeper-rewards", f"caller={TREASURY}", f"caller={TREASURY}"), "given twice"),
        (("delegate-set", f"trader={TREASURY}", f"delegate={DESK}", "expiry=1806451200000"), "mixed up"),
        (("twap-cancel", f"trader={TREASURY}", "twapId=1", "--gas", "60000"), "no step is a transaction"),
    ],
)
def test_build_refuses_wrong_words_before_anything_is_asked(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    with Wire({}) as wire:
        ended = steps.PlannedCommand(tmp_path, wire.url, "approve")("build", *words)
    assert (ended.code, told in ended.err, wire.seen) == (2, True, []), ended.err


@given(st.integers(-(10**78), 10**78), st.integers(1, 36))
def test_a_value_with_decimals_is_the_same_value(raw: int, decimals: int) -> None:
    sent = with_decimals(str(raw), decimals, "step")
    whole, _, part = sent.lstrip("-").partition(".")
    assert whole.isdecimal()
    assert part == "" or part.isdecimal()
    assert not part.endswith("0")
    sign, digits, exponent = Decimal(sent).as_tuple()
    value = int("".join(map(str, digits)))
    assert isinstance(exponent, int)
    assert value * 10 ** (exponent + decimals) * (-1 if sign else 1) == raw


@pytest.mark.parametrize("text", ["", "-", "1.5", "1e6", "0x10", "٣", " 1", "1" * 81])
def test_what_is_no_whole_number_is_sent_with_no_decimals(text: str) -> None:
    with pytest.raises(UsageError, match="is no whole number"):
        with_decimals(text, 6, "step")
