"""What a venue does not have, does not name or does not prove: said at once, and nothing is final by it."""

from typing import Any

import pytest

from airlock_online.clients.builder import BuilderClient
from airlock_online.clients.builder_reads import question_of
from airlock_online.clients.http import Http
from airlock_online.clients.rpc import RpcClient
from airlock_online.delivery.chain_evidence import deployed_contracts
from airlock_online.delivery.outcome import OrderOutcome
from airlock_online.delivery.routes.posting import StatusRead
from airlock_online.journal.order_states import OrderEvent, OrderState
from airlock_online.preparing.prepare import is_built, planned_ask
from airlock_online.readback.delegates import allowance_on_chain
from airlock_online.speech.forms import resolve_services
from airlock_online.speech.sections import REPLIES, SERVICES_FORMAT, SHIPPED, Speech
from airlock_shared.errors import ServiceError, UsageError
from airlock_shared.ethereum.signatures import checksum_address
from airlock_shared.plan.reader import parse_plan
from airlock_shared.venue.profile import venue_of
from airlock_shared.venue.profile_words import profile_words, resolve_profile
from online.delivering_machine import Desk
from online.loopback import Wire, reply
from online.node import Failure, Node
from online.test_readback import KEY, TRADER, judged, node_of
from online.test_routes import APPROVAL, CANCEL, RELAY, RELAYED, REPLACE, STORE, TX, relay_status, sent, taken
from online.test_third_venue import DONE, RECEIPT, TAKEN, relayed
from shared.test_own_structs import ENTRY, LEAVES
from shared.test_own_structs import PLAN as OWN_PLAN
from shared.test_own_structs import deployed as own_deployed
from shared.world import deployment, plan, situation

ABSENT = "the services file says that this venue has no endpoint"
RELAYER = {"id": "r-1", "status": "confirmed", "hash": TX, "blockNumber": 8}
READS = ("nonce", "delegation", "positions", "referral")
APPROVED = {"trader": TRADER, "spender": KEY, "amountUsdc": "2500"}


def speech(**tables: Any) -> Speech:
    return resolve_services({"format": SERVICES_FORMAT, **tables})


def test_a_service_without_a_block_ends_nothing_and_is_not_waited_for(desk: Desk) -> None:
    outcome, seen = sent(desk, "relay", {RELAY: [taken()], RELAYED: [relay_status("confirmed")]})
    assert (outcome.state, len(seen), desk.naps) == (OrderState.ACCEPTED, 2, [])
    assert "by the service's word" in outcome.reason
    assert APPROVAL in outcome.reason
    assert "[rpc] url" in outcome.reason
    assert desk.types == ["TransactionSent"]
    outcome, seen = relayed(desk, TAKEN, DONE | {"receipt": RECEIPT})
    assert (outcome.state, [each.method for each in seen]) == (OrderState.ACCEPTED, ["POST", "GET"])
    assert "by the service's word" in outcome.reason
    assert "without a block beside it, that is no proof" in outcome.reason
    assert TX in outcome.reason
    assert "[rpc] url" in outcome.reason


def node_that_tells(tx_hash: str, status: str | None, block: int = 8, newest: int = 7) -> Node:
    """Return a node with this receipt, whose newest confirmed block is this."""
    receipt: dict[str, object] = {"transactionHash": tx_hash, "blockNumber": hex(block), "status": status, "logs": []}
    answers: dict[str, object] = {
        "eth_getTransactionReceipt": receipt if status else None,
        "eth_getBlockByNumber": {"number": hex(newest), "timestamp": "0x1", "transactions": []},
        "eth_getTransactionCount": "0x0",
        "eth_call": "0x" + "00" * 32,
    }
    return Node(answers)


@pytest.mark.parametrize(
    ("word", "status", "block", "state"),
    [
        ("confirmed", "0x1", 8, OrderState.CONFIRMED), ("confirmed", "0x0", 8, OrderState.FAILED),
        ("confirmed", "0x1", 0x99, OrderState.ACCEPTED), ("confirmed", None, 8, OrderState.ACCEPTED),
        ("reverted", "0x0", 8, OrderState.FAILED), ("reverted", "0x1", 8, OrderState.CONFIRMED),
        ("confirmed", "0x0", 0x99, OrderState.ACCEPTED),
    ],
)  # fmt: skip
def test_a_node_ends_it_without_block(desk: Desk, word: str, status: str | None, block: int, state: OrderState) -> None:
    with node_that_tells(APPROVAL, status, block, newest=9) as node:
        desk.world = desk.world._replace(patience_s=3, confirmations=1, node=RpcClient(node.url, desk.world.http))
        outcome, _ = sent(desk, "relay", {RELAY: [taken()], RELAYED: [relay_status(word)]})
    assert outcome.state is state, outcome.reason


CONFIRMING: dict[str, tuple[str, dict[str, object]]] = {
    "relay": (RELAYED, {"hash": APPROVAL, "status": "confirmed", "blockNumber": 8}),
    "relayer": ("GET /intents/r-1", RELAYER),
    "twap": (CANCEL, {"twapId": 41, "transactionHash": TX, "blockNumber": 8}),
    "core-api-post": (STORE, {"entityId": "e-2"}),
    "core-api-put": (REPLACE, {"oldEntityId": "e-1", "newEntityId": "e-2"}),
}


def confirming(desk: Desk, way: str, said: dict[str, object], node: Node | None = None) -> OrderOutcome:
    """Send by a way whose service says that it is confirmed, and more."""
    endpoint, told = CONFIRMING[way]
    script = {RELAY: [taken()], "POST /intents": [reply(200, {"id": "r-1"})], endpoint: [reply(200, told | said)]}
    asked = RpcClient(node.url, desk.world.http) if node else None
    desk.world = desk.world._replace(node=asked, patience_s=0)
    return sent(desk, way, script)[0]


@pytest.mark.parametrize("way", CONFIRMING)
@pytest.mark.parametrize("sign", [{"success": False}, {"reverted": True}, {"decodedError": "WrongSl"}])
def test_confirmed_beside_a_failure_is_not_believed(desk: Desk, way: str, sign: dict[str, object]) -> None:
    outcome = confirming(desk, way, sign)
    assert outcome.state is (OrderState.ACCEPTED if way.startswith("relay") else OrderState.UNKNOWN)
    assert f"member {next(iter(sign))} speaks of a failure" in outcome.reason


def test_a_twap_s_cancellation_that_failed_is_not_done(desk: Desk) -> None:
    assert confirming(desk, "twap", {"status": "failed"}).state is OrderState.UNKNOWN


@pytest.mark.parametrize(
    ("way", "said"),
    [
        ("relay", {}),
        ("relayer", {}),
        ("twap", {}),
        ("relay", {"status": "reverted"}),
        ("relayer", {"status": "reverted"}),
    ],
)
@pytest.mark.parametrize("status", ["0x1", "0x0", None, "odd"])
def test_no_service_ends_it_against_the_node(desk: Desk, way: str, said: dict[str, object], status: str | None) -> None:
    with node_that_tells(APPROVAL if way == "relay" else TX, status) as node:
        outcome = confirming(desk, way, said, node)
    agreed, end = ("0x0", OrderState.FAILED) if said else ("0x1", OrderState.CONFIRMED)
    told = {"0x1": "its transaction succeeded", "0x0": "was reverted", None: "in no block", "odd": "cannot be asked"}
    assert (outcome.state is end) == (status == agreed), outcome.reason
    assert status == agreed or told[status] in outcome.reason


def test_a_log_of_the_token_is_none_of_the_venue_s() -> None:
    token = checksum_address(deployment().contracts["usdc"]).lower()
    own = {checksum_address(domain.contract).lower() for domain in deployment().domains.values()}
    assert own < deployed_contracts(deployment())
    assert token not in deployed_contracts(deployment())


@pytest.mark.parametrize("name", ["meta", "pairs", "relayer", "relayer-status", "relay", "twap", "market", "core-api"])
def test_without_some_endpoints_there_is_no_venue_and_others_it_may_lack(name: str) -> None:
    for other in (*READS, "delegate", "token-approve", "close"):
        assert speech(paths={other: ""}).paths[other] == ""
    with pytest.raises(UsageError, match=f"paths. {name}: '' is not a path"):
        speech(paths={name: ""})


@pytest.mark.parametrize("name", READS)
def test_a_read_that_a_venue_does_not_have_is_not_asked_for_and_that_is_said(name: str) -> None:
    with Wire({}) as wire, Http() as http:
        client = BuilderClient(wire.url, http, speech(paths={name: ""}))
        with pytest.raises(ServiceError, match=f"{ABSENT} {name}"):
            client.read(name, {"trader": TRADER})
        assert isinstance(client.read_or_error(name, {}), ServiceError)
        assert wire.seen == []


def test_a_build_that_a_venue_does_not_have_is_said_before_anything_is_asked() -> None:
    said = speech(paths={"close": ""})
    step = plan().steps["close"]
    assert not is_built(step, said)
    with pytest.raises(UsageError, match=f"step close: {ABSENT} close"):
        planned_ask(step, situation(), said)


@pytest.mark.parametrize(("flag", "sent"), [("true", "long"), ("false", "short"), ('"7"', "7")])
def test_a_side_of_the_venue_s_own_is_asked_for_as_long_or_short(flag: str, sent: str) -> None:
    pinned = own_deployed(ENTRY | {"leaves": LEAVES | {"urgent": "side"}})
    agreed = parse_plan(OWN_PLAN.replace("urgent = true", f"urgent = {flag}").encode())
    said = speech(paths={"MoveReq": "/v2/move"}, requests={"MoveReq": {"side": "$urgent", "slot": "$to.slot"}})
    asked = planned_ask(agreed.steps["move"], situation()._replace(plan=agreed, deployment=pinned), said)
    assert asked.fields == {"side": sent, "slot": "7"}


@pytest.mark.parametrize(
    ("said", "sent"),
    [
        ({}, {}), ({"nonce": {"owner": "$trader"}}, {}), ({"nonce": {"space": "$nothing"}}, {}),
        ({"nonce": {"space": "$space"}}, {"space": "referral"}), ({"all": {"of": "$space"}}, {"space": "referral"}),
    ],
)  # fmt: skip
def test_no_member_is_sent_that_neither_specification_nor_file_name(said: dict[str, Any], sent: dict[str, str]) -> None:
    known = speech(requests=said) if said else SHIPPED
    assert question_of(TRADER, "7", "referral", known) == {"trader": TRADER, "check": "7"} | sent
    assert question_of(TRADER, "7", "trading", known) == {"trader": TRADER, "check": "7"}


@pytest.mark.parametrize(
    ("amount", "found", "kept", "words"),
    [
        ("2500", 2_500_000_000, True, "2500 USDC"), ("2500", 2_499_999_999, None, "some may be taken already"),
        ("2500", 0, None, "some may be taken already"), ("2500", 2_500_000_001, False, "2500.000001 USDC"),
        ("2500", (1 << 256) - 1, False, "everything"), ("", (1 << 256) - 1, True, "everything, unlimited"),
        ("", 5, None, "some may be taken already"), ("2500", None, None, "does not tell"),
    ],
)  # fmt: skip
def test_an_allowance_is_read_from_the_chain(amount: str, found: int | None, kept: bool | None, words: str) -> None:
    fields = {name: value for name, value in APPROVED.items() if name != "amountUsdc" or amount}
    asked = ("allowance(address,address)", *(bytes.fromhex(APPROVED[name][2:]) for name in ("trader", "spender")))
    node = node_of({} if found is None else {asked: found.to_bytes(32, "big")})
    [expectation] = judged("token-approve", fields, node=node)
    assert (expectation.kept, expectation.what.endswith(", by the chain")) == (kept, True)
    assert words in expectation.found


def test_without_a_node_it_is_said_what_would_tell_an_allowance() -> None:
    (expectation,) = judged("token-approve", APPROVED)
    assert (expectation.kept, "[rpc] url" in expectation.found) == (None, True)


@pytest.mark.parametrize(
    ("answer", "chain", "found"),
    [
        ("0x" + f"{25:064x}", 0, 25), ("0x", 0, None), ("0x01", 0, None), (Failure(-32000, "reverted"), 0, None),
        ("0x" + f"{25:064x}", 1, None),
    ],
)  # fmt: skip
def test_the_pinned_token_is_asked_on_its_own_chain(answer: object, chain: int, found: int | None) -> None:
    pinned = deployment()
    with Node({"eth_chainId": hex(pinned.chain_id + chain), "eth_call": answer}) as node, Http() as http:
        assert allowance_on_chain(RpcClient(node.url, http), pinned, TRADER, KEY) == found
        calls = [params[0] for method, params in node.asked if method == "eth_call"]
    assert all(call["to"].lower() == "0x" + pinned.contracts["usdc"].hex() for call in calls)
    assert all(call["data"] == "0xdd62ed3e" + (TRADER[2:].rjust(64, "0") + KEY[2:].rjust(64, "0")) for call in calls)


def cancelled(told: object, event: bool = True) -> Any:
    def status(asked: str) -> StatusRead:
        assert asked == "7"
        if isinstance(told, ServiceError):
            raise told
        assert isinstance(told, dict)
        return StatusRead(told, "", dict(REPLIES["twap"]), asked)

    events = (OrderEvent(0, "TwapCancelled", {"twapId": "7", "transactionHash": TX}),) if event else ()
    return judged("twap-cancel", {"trader": TRADER, "twapId": "7"}, {}, events, twap_status=status)[0]


@pytest.mark.parametrize(
    ("told", "kept", "words"),
    [
        ({"twapId": 7, "hash": TX}, True, "cancelled, by transaction"),
        ({"twapId": "7", "transactionHash": TX.upper().replace("0X", "0x")}, True, "cancelled, by transaction"),
        ({"hash": TX}, None, "which names nothing"),
        ({"twapId": 8, "hash": TX}, None, "about the TWAP order 8"),
        ({"twapId": 7}, None, "transaction none"),
        ({"twapId": 7, "hash": "0x" + "11" * 32}, None, "0x1111"),
        ({"twapId": 7, "hash": TX, "txHash": "0x" + "11" * 32}, None, "0x1111"),
        ({"twapId": 7, "hash": TX, "failed": True}, None, "speaks of a failure"),
        ({"twapId": 7, "hash": "\x1b[2J"}, None, "transaction"),
        (ServiceError("it answered 500"), None, "it answered 500"),
    ],
)
def test_a_twap_is_read_back_where_the_venue_has_such_a_read(told: object, kept: bool | None, words: str) -> None:
    expectation = cancelled(told)
    assert (expectation.kept, cancelled(told, event=False).kept) == (kept, None)
    assert words in expectation.found
    assert "\x1b" not in expectation.found


@pytest.mark.parametrize("name", ["claimTokens", "updateOpenLimitOrder"])
def test_a_fee_on_a_call_that_ships_needs_its_name_alone(name: str) -> None:
    signed = resolve_profile({"format": "airlock/venue-signed@1", "calls": {name: {"value": "fee"}}})
    (line,) = profile_words(*venue_of(signed))
    assert "native currency may be sent with it as a fee" in line
    assert signed["calls"][name]["signature"].startswith(f"{name}(")
