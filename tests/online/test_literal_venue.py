"""What a venue may write otherwise where the specification says nothing: taken where the meaning is beyond doubt."""

import json
from typing import Any

import pytest

from airlock_online.cli.deployment import _said_only
from airlock_online.clients.builder import BuilderClient
from airlock_online.clients.http import Http
from airlock_online.clients.reply_values import block_number
from airlock_online.delivery.routes import registry as core_api
from airlock_online.delivery.routes import twap
from airlock_online.delivery.routes.struct import body_of
from airlock_online.journal.order_states import OrderState
from airlock_online.preparing.deployment_fetch import deployment_document
from airlock_online.preparing.meta_forms import enums_of, named_contracts, told_scales
from airlock_online.preparing.prepare import extra_lines, set_aside
from airlock_online.preparing.venue_profile import add_venue_profile, require_deliverable
from airlock_online.speech.forms import resolve_services
from airlock_online.speech.sections import REPLIES, SHIPPED
from airlock_online.speech.sections import SERVICES_FORMAT as SERVICES
from airlock_shared.cli.comparison_lines import deployment_lines
from airlock_shared.documents.deployment import read_deployment
from airlock_shared.errors import DocumentError, ServiceError, UsageError
from airlock_shared.venue.profile import VENUE_FORMAT
from online import transaction_steps as steps
from online.crash.orders import order
from online.delivering_machine import Desk
from online.loopback import Wire, reply
from online.test_pages import pairs_of
from online.test_routes import APPROVAL, RELAY, RELAYED, TX, relay_status, sent, taken
from shared.world import DEPLOYMENT_TEXT

PAIR = {"index": 0, "symbol": "BTC/USD", "isPnl": False}
A, B = (steps.meta()["addresses"][name] for name in ("usdc", "tradingStorage"))
PLAIN = {"fixed": 0, "percentage": 1}


def document_of(meta: dict[str, Any]) -> dict[str, Any]:
    return deployment_document("v", meta, b"", [PAIR], {}, "2026-01-01", REPLIES)


def fault_of(meta: dict[str, Any], pairs: Any = None, replies: Any = REPLIES) -> str:
    """Return what is told of a venue whose values are not where the configuration says."""
    with pytest.raises(ServiceError) as caught:
        deployment_document("v", meta, b"", [PAIR] if pairs is None else pairs, {}, "2026-01-01", replies)
    assert "in the services file" in caught.value.do
    return caught.value.what


@pytest.mark.parametrize("said", [True, False, None])
@pytest.mark.parametrize("chain_id", [31337, 1337, 8453, 84532])
def test_a_rehearsal_is_told_by_its_chain_and_not_by_what_the_venue_says(chain_id: int, said: bool | None) -> None:
    meta = json.loads(json.dumps(steps.meta()).replace(str(steps.meta()["chainId"]), str(chain_id)))
    meta |= {} if said is None else {"simulator": said}
    document = document_of(meta)
    assert (document["chain_id"], document["rehearsal"]) == (chain_id, chain_id in (31337, 1337))
    pinned = read_deployment(document | {"meta_sha256": "0" * 64})
    notes = " ".join(_said_only(pinned, meta, "simulator", []))
    assert ("worth everything" in notes) is (said is True and chain_id not in (31337, 1337))


def test_a_venue_that_calls_itself_a_test_network_makes_none() -> None:
    said = {"test_network": "sepolia", "testNetwork": "sepolia", "rehearsal": True, "simulator": True}
    document = document_of(steps.meta() | said)
    assert "test_network" not in document
    assert document["rehearsal"] is False
    named = deployment_document("v", steps.meta() | said, b"", [PAIR], {}, "2026-01-01", REPLIES, "fork")
    assert named == {**document, "test_network": "fork"}


OWN = {
    "encode_type": "MoveReq(address trader,uint256 nonce,uint256 deadline)",
    "leaves": {"trader": "trader", "nonce": "nonce", "deadline": "deadlineMs"},
    "domain": "trading",
    "signer_rule": "trader-only",
}


@pytest.mark.parametrize(
    ("route", "body", "delivered"),
    [("relayer", "", True), ("core-api", "", False), ("core-api", "core-api-MoveReq", True), ("twap", "", False),
     ("twap", "twap-MoveReq", True), ("twap", "twap", False), ("twap", "core-api-MoveReq", False)],
)  # fmt: skip
def test_a_struct_that_no_route_can_send_is_refused_before_it_is_signed(route: str, body: str, delivered: bool) -> None:
    profile = {"format": VENUE_FORMAT, "structs": {"MoveReq": OWN | {"route": route}}, "calls": {}}
    document = add_venue_profile(json.loads(DEPLOYMENT_TEXT), json.dumps(profile).encode(), "a profile")
    made = read_deployment(document)
    said = {"format": SERVICES, "bodies": {body: {"id": "$message.nonce", "sig": "$signature"}}} if body else None
    speech = resolve_services(said) if said else SHIPPED
    if delivered:
        require_deliverable(made, speech)
    else:
        with pytest.raises(UsageError, match="MoveReq could not be delivered"):
            require_deliverable(made, speech)


@pytest.mark.parametrize("table", ["paths", "bodies", "replies"])
@pytest.mark.parametrize(
    ("name", "meant"), [("twap-MoveRek", "twap-MoveReq"), ("core-api-MoveReq", "core-api-TpSlReq")]
)
def test_what_the_services_file_says_of_no_struct_of_this_venue_is_refused(table: str, name: str, meant: str) -> None:
    profile = {"format": VENUE_FORMAT, "structs": {"MoveReq": OWN | {"route": "twap"}}, "calls": {}}
    made = read_deployment(add_venue_profile(json.loads(DEPLOYMENT_TEXT), json.dumps(profile).encode(), "a profile"))
    body = {"id": "$message.nonce", "sig": "$signature"}
    said: dict[str, dict[str, object]] = {
        "paths": {"twap-MoveReq": "/moves"}, "bodies": {"twap-MoveReq": body}, "replies": {"twap-MoveReq": {"id": "id"}}
    }  # fmt: skip
    require_deliverable(made, resolve_services({"format": SERVICES, **said}))
    said[table] |= {name: said[table]["twap-MoveReq"]}
    with pytest.raises(
        UsageError, match=f"no struct is signed at this venue that goes as {name}; did you mean {meant}"
    ):
        require_deliverable(made, resolve_services({"format": SERVICES, **said}))


def test_what_does_not_ship_is_never_sent_in_the_shape_of_what_ships(desk: Desk) -> None:
    delivery = order("core-api-post", "https://venue.example")
    assert delivery.primary_type == "TpSlReq"
    for route in (core_api.CORE_API_ROUTE, twap.ROUTE):
        with pytest.raises(UsageError, match="no body of it is known"):
            route.parcel(delivery._replace(primary_type="MoveReq"), desk.world)


@pytest.mark.parametrize("told", [None, True, [], {"percent": "1"}])
def test_a_default_slippage_is_not_assumed_where_it_is_not_told_and_refused_in_another_form(told: object) -> None:
    meta = steps.meta()
    meta["defaults"] |= {"slippagePercent": told}
    if told is None:
        del meta["defaults"]["slippagePercent"]
        assert set(read_deployment(document_of(meta)).document["defaults"]) == {"intentDeadlineMs"}
    else:
        with pytest.raises(ServiceError, match="slippagePercent"):
            document_of(meta)


def test_values_that_are_elsewhere_are_told_at_once_each_with_its_line_and_escaped() -> None:
    meta = steps.meta()
    meta |= {"domains": meta.pop("eip712"), "contracts": meta.pop("addresses"), "chain": meta.pop("chainId")}
    told = fault_of(meta, [{"number": 0, "symbol": "BTC/USD", "isPnl": False}])
    assert told.startswith("of what the venue tells of itself, 5 values are not as the configuration has it. ")
    assert "trading_domain = 'eip712.trading': there is no value; such a value is at domains.trading and" in told
    assert "contracts = 'addresses': there is no value; such a value is at contracts" in told
    for line in ("chain_id = 'chainId'", "referral_domain = 'eip712.referral'", "[replies.pairs] id = 'index'"):
        assert told.count(f"{line}: there is no") == 1
    meta = steps.meta()
    meta["evil\x1b[2J\u202e"] = meta.pop("addresses")
    told = fault_of(meta)
    assert "one value is not as the configuration has it. [replies.meta] contracts = 'addresses'" in told
    assert "\x1b" not in told
    assert ("\u202e" in told, "evil" in told) == (False, True)


@pytest.mark.parametrize("flag", [None, "no", 2, -1, "0", 0.0, {}])
def test_a_pair_that_does_not_say_whether_it_is_a_pnl_pair_is_not_taken_for_an_ordinary_one(flag: object) -> None:
    pair = {"index": 0, "symbol": "BTC/USD"} | ({} if flag is None else {"isPnl": flag})
    told = fault_of(steps.meta(), [pair])
    assert "[replies.pairs] pnl = 'isPnl': there is no flag in the pair" in told
    assert 'write pnl = "" for a venue that has no PnL pairs' in told
    replies = {**REPLIES, "pairs": {**REPLIES["pairs"], "pnl": "isPnl?"}}
    assert flag is None or "there is no flag" in fault_of(steps.meta(), [pair], replies)


@pytest.mark.parametrize(
    ("place", "pair", "pinned"),
    [
        ("isPnl", {"isPnl": 1}, {"pnl": True}),
        ("isPnl", {"isPnl": True}, {"pnl": True}),
        ("isPnl?", {}, {"pnl": False}),
        ("isPnl?", {"isPnl": True}, {"pnl": True}),
        ("flags.1", {"flags": [0, 1]}, {"pnl": True}),
        ("", {}, {"pnl": False}),
        ("isPnlTypeAllowed", {"isPnlTypeAllowed": True}, {}),
        ("isPnlTypeAllowed", {"isPnlTypeAllowed": False}, {"pnl": False}),
        ("isPnlTypeAllowed?", {}, {"pnl": False}),
        ("supportsPnl", {"supportsPnl": True}, {}),
    ],
)
def test_a_flag_may_be_0_and_1_and_missing_where_the_file_says_so_and_allowing_pnl_orders_makes_no_pnl_pair(
    place: str, pair: dict[str, Any], pinned: dict[str, bool]
) -> None:
    replies = resolve_services({"format": SERVICES, "replies": {"pairs": {"pnl": place}}}).replies
    pairs = [{"index": 0, "symbol": "BTC/USD", **pair}]
    document = deployment_document("v", steps.meta(), b"", pairs, {}, "2026-01-01", replies)
    assert document["pairs"] == [{"index": 0, "name": "BTC/USD", **pinned}]


@pytest.mark.parametrize("pairs", [None, {"pairs": []}, "BTC/USD"])
def test_a_catalogue_that_is_no_list_is_told(pairs: object) -> None:
    assert "[replies.pairs] id = 'index'" in fault_of(steps.meta(), pairs or "none")


@pytest.mark.parametrize(
    "told",
    ["1e6", "10^6", "10**6", "1000000", "1_000,000", 1_000_000, 1e6, 6, "6", "6 decimals", "raw,6-decimals", "1e6 each",
     {"decimals": 6}, {"scale": "1e6"}, {"scale": 1_000_000, "decimals": 6}, {"scale": "six", "decimals": 6}],
)  # fmt: skip
def test_a_scale_that_is_told_has_one_spelling(told: object) -> None:
    assert told_scales({"USDC": told, "else": "1e3"}) == {"usdc": "1e6"}


@pytest.mark.parametrize("told", [None, True, "six", "micro-dollars", "", [6], {}, {"scale": "millionths"}, "v1e6x"])
def test_a_scale_in_words_is_not_told_and_stops_nothing(told: object) -> None:
    meta = steps.meta()
    meta["units"]["usdc"] = told
    lines = " ".join(" ".join(deployment_lines(read_deployment(document_of(meta)))).split())
    assert "scales: price 1e10, leverage 1e10, usdc 1e6 (not told), coinExposure 1e10 (not told)" in lines
    if not isinstance(told, dict):  # nor are units that are no table
        assert read_deployment(document_of(meta | {"units": told})).document["units"] == {}


@pytest.mark.parametrize(
    "told",
    [18, "18", 8, "1e18", 1_000_001, "1000001", 0, -6, "-6", "6.5", 1e5, 0.5, 10**30, "1" * 5000, "8 decimals",
     "millionths, 1e5", "1e6 or 1e8", {"decimals": 18}, {"decimals": 6, "scale": "1e8"}, {"decimals": 6, "precision": 8}],
)  # fmt: skip
def test_another_scale_or_two_scales_are_refused(told: object) -> None:
    meta = steps.meta()
    meta["units"]["usdc"] = told
    with pytest.raises(DocumentError, match="another scale") as caught:
        read_deployment(document_of(meta))
    assert caught.value.check == "DOC-DEPLOYMENT"


def test_contracts_are_known_by_name_whatever_its_case() -> None:
    meta, known = steps.meta(), {"tradingrouter", "tradingstorage", "usdc", "referral"}
    names = {label: label.upper() if label.lower() in known else label for label in meta["addresses"]}
    before = document_of(meta)["contracts"]
    meta["addresses"] = {names[label]: address for label, address in meta["addresses"].items()}
    assert document_of(meta)["contracts"] == before
    meta = steps.meta()
    whole = document_of(meta)["contracts"]
    for name in ("tradingRouter", "referral"):
        del meta["addresses"][name]
    assert document_of(meta)["contracts"] == whole


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ({"USDC": {"address": A, "decimals": 6}}, {"usdc": A}),
        ({"tokens": {"UsdC": A}, "core": {"main": {"tradingstorage": B}}}, {"usdc": A, "tradingStorage": B}),
        ({"usdc": A.lower()}, {"usdc": A}),
    ],
)
def test_contracts_may_stand_in_tables_within_tables(told: dict[str, Any], found: dict[str, str]) -> None:
    assert named_contracts(told) == found


@pytest.mark.parametrize(
    "told",
    [
        {"usdc": A, "tokens": {"USDC": B}}, {"usdc": 6}, {"usdc": ""}, {"usdc": [A]}, {"usdc": {"address": None}},
        {"usdc": A[:-1]}, {"a": {"b": {"c": {"d": {"usdc": A}}}}},
    ],
)  # fmt: skip
def test_a_contract_twice_or_without_an_address_is_refused(told: dict[str, Any]) -> None:
    with pytest.raises(ServiceError):
        named_contracts(told)


@pytest.mark.parametrize(
    ("told", "first"),
    [
        (PLAIN, ""), ({"FIXED": 0, "Percentage": 1}, ""), ({"fixed": "0", "percentage": "1"}, ""),
        ({"0": "fixed", "1": "percentage"}, ""), (["fixed", "percentage"], "0"),
        ([{"name": "fixed", "value": 0}, {"key": "percentage", "code": 1}], ""),
        ([{"label": "fixed", "id": 7, "number": 0}, {"id": "percentage", "index": 1}], ""),
        ({"fixed": 0, "percentage": 1, "usual": 0, "default": 1}, ""),
    ],
)  # fmt: skip
def test_an_enum_that_a_plan_uses_has_our_names_whatever_its_form(told: object, first: str) -> None:
    for name in ("triggerType", "TriggerType", "trigger_type"):
        assert enums_of({name: told}, first) == {"triggerType": PLAIN}


@pytest.mark.parametrize(
    "told",
    [["fixed", "percentage"], {"fixed": 0, "FIXED": 1}, {"fixed": "zero"}, {"fixed": None}, [], {}, "fixed", 3, None,
     [{"name": "fixed"}], [["fixed", 0]], {"fixed": 0.0}, {"fixed": True}],
)  # fmt: skip
def test_an_enum_in_doubt_is_refused_where_a_plan_uses_it(told: object) -> None:
    with pytest.raises(ServiceError):
        enums_of({"triggerType": told}, "")


def test_two_choices_of_one_number_are_refused_and_what_no_plan_uses_is_pinned_as_it_is_or_left_out() -> None:
    meta = steps.meta()
    meta["enums"]["triggerType"] = {"fixed": 1, "percentage": 1}
    with pytest.raises(DocumentError, match="two names for one number"):
        read_deployment(document_of(meta))
    meta["enums"]["triggerType"] = PLAIN | {"other": 7, "another": 7, "third": 8, "is fixed": 9}
    assert document_of(meta)["enums"]["triggerType"] == PLAIN | {"third": 8}
    assert enums_of({"triggerType": ["fixed", "percentage"]}, "1") == {"triggerType": {"fixed": 1, "percentage": 2}}
    others = {
        "side": {"buy": 1, "sell": 2},
        "twice": {"a": 1, "b": 1},
        "odd": {"a": None},
        "a b": {"x": 1},
        "list": ["x"],
    }
    assert enums_of(others, "") == {"side": {"buy": 1, "sell": 2}}


@pytest.mark.parametrize(
    ("data", "pair"),
    [
        ([PAIR], PAIR),
        ({"items": [PAIR], "total": 1}, PAIR),
        ({"pairs": [PAIR], "page": 1, "pages": 1}, PAIR),
        ({"3": {"symbol": "A"}}, {"symbol": "A", "index": 3}),
        ({"pairs": {"3": {"symbol": "A", "index": 3}}, "total": 1}, {"symbol": "A", "index": 3}),
    ],
)
def test_a_catalogue_is_a_list_or_an_object_with_one_or_with_pairs_by_index(data: object, pair: object) -> None:
    assert pairs_of(SHIPPED, data) == [pair]


@pytest.mark.parametrize("own", [4, "4", -3, None, True])
def test_a_pair_under_another_index_than_its_own_is_refused(own: object) -> None:
    with pytest.raises(ServiceError, match="says that its index is another one"):
        pairs_of(SHIPPED, {"3": {"symbol": "A", "index": own}})


@pytest.mark.parametrize("first", [0, 1])
def test_every_page_is_read(first: int) -> None:
    pages = [{"pairs": [{"index": n}], "page": first + n, "pages": 3, "total": 3} for n in range(3)]
    assert [pair["index"] for pair in pairs_of(SHIPPED, *pages)] == [0, 1, 2]


@pytest.mark.parametrize(
    "pages",
    [
        [{"pairs": [PAIR], "total": 2}],
        [{"pairs": [PAIR], "nextCursor": "abc"}],
        [{"pairs": [PAIR], "page": 2, "pages": 3}],
        [{"pairs": [PAIR], "page": 1, "pages": 2}, {"pairs": [PAIR], "page": 1, "pages": 2}],
        [{"pairs": [PAIR], "page": 1, "pages": 2, "total": 5}, {"pairs": [PAIR], "page": 2}],
        [{"pairs": [PAIR], "delisted": []}],
        [{"zero": PAIR}],
        [{"0": PAIR, "1": "BTC/USD"}],
    ],
)
def test_a_part_of_a_catalogue_is_never_the_whole(pages: list[object]) -> None:
    with pytest.raises(ServiceError, match="pair catalogue"):
        pairs_of(SHIPPED, *pages)


@pytest.mark.parametrize("error", [None, {"code": "X"}, "", False, 0, {}])
def test_an_error_of_null_beside_ok_is_none(error: object) -> None:
    script = {"GET /x": [reply(200, {"ok": True, "data": 7, "error": error, "requestId": "a"})]}
    with Wire(script) as wire, Http() as http:
        builder = BuilderClient(wire.url, http)
        if error is None:
            assert builder.ask("/x", {}, method="GET") == 7
        else:
            with pytest.raises(ServiceError, match="contradictory"):
                builder.ask("/x", {}, method="GET")


def test_what_stands_beside_a_payload_is_named_and_not_carried() -> None:
    told = steps.payload("approve") | {"requestId": "a", "expires\x1b[2J": [1.5]}
    carried, extra = set_aside(told, transaction=True)
    assert carried == steps.payload("approve")
    lines = extra_lines("one", extra)
    assert lines[1:] == ['  requestId = "a"', "  expires\\u{1b}[2J = [1.5]"]
    assert set_aside({"intent": "X", "meta": None}, transaction=False) == ({"intent": "X"}, {"meta": None})


@pytest.mark.parametrize(
    "name", ["accessList", "authorizationList", "AuthorizationList", "blobVersionedHashes", "gas", "gasLimit", "gas_limit",
             "maxFeePerGas", "nonce", "type", "input", "r", "yParity"],
)  # fmt: skip
def test_what_a_transaction_itself_may_have_is_never_set_aside(name: str) -> None:
    carried, extra = set_aside(steps.payload("approve") | {name: "0x0"}, transaction=True)
    assert (name in carried, extra) == (True, {})


@pytest.mark.parametrize("word", ["success", "Confirmed", "mined", "", 1, True, ["confirmed"], {"is": "confirmed"}])
def test_a_word_that_is_not_known_ends_nothing_and_is_told_with_place(desk: Desk, word: object) -> None:
    notices: list[str] = []
    desk.world = desk.world._replace(on_notice=notices.append)
    outcome, _ = sent(desk, "relay", {RELAY: [taken()], RELAYED: [relay_status(word, blockNumber=7)] * 200})
    assert outcome.state is OrderState.ACCEPTED
    assert f"the reply says {str(word)!r} at data.status, a word that Airlock does not know" in outcome.reason
    assert [notice.count("at data.status") for notice in notices if "decides nothing" in notice] == [1]


@pytest.mark.parametrize("value", ["", "0x", "0x" + "f" * 17, "1f", -1, True, None, 7.0, "0xg"])
def test_a_block_in_another_form_is_none(value: object) -> None:
    assert block_number(value) is None


@pytest.mark.parametrize(
    "named",
    [{"hash": TX}, {"transactionHash": TX}, {"txHash": TX}, {"hash": None, "transactionHash": TX}, {"hash": None}],
)
def test_every_hash_that_a_reply_names_is_the_signed_one(desk: Desk, named: dict[str, Any]) -> None:
    wrong = [relay_status("confirmed", blockNumber=7, **named)] * 3
    right = relay_status("confirmed", blockNumber="8", hash=None, txHash=APPROVAL)
    outcome, seen = sent(desk, "relay", {RELAY: [taken()], RELAYED: [*wrong, relay_status("queued"), right]})
    assert (outcome.state, len(seen)) == (OrderState.CONFIRMED, 6)
    assert desk.events[1].payload["blockNumber"] == 8


def test_a_body_has_the_parts_that_it_names_and_no_others() -> None:
    delivery = order("twap", "https://venue.example")
    template = {
        "a": "$message", "b": "$message.twapId", "c": {"d": "$signature", "e": "$shipped.twapId as number"}, "f": "message",
        "g": 7, "h": True,
    }  # fmt: skip
    told = body_of(template, delivery)
    assert set(told["a"]) == {"trader", "twapId", "nonce", "deadline"}
    assert (told["b"], told["c"]) == ("41", {"d": delivery.signature, "e": 41})
    assert (told["f"], told["g"], told["h"]) == ("message", 7, True)


@pytest.mark.parametrize(
    "part",
    ["raw_transaction", "base_url", "eip7702", "_replace", "__class__", "message.none", "messages", "", "message as number",
     "signature as number", "shipped.none", "executing.gas"],
)  # fmt: skip
def test_a_part_that_there_is_not_is_refused(part: str) -> None:
    with pytest.raises(UsageError, match="no such part"):
        body_of({"a": f"${part}"}, order("twap", "https://venue.example"))


def test_a_member_goes_by_the_venues_name_with_the_same_value() -> None:
    good = [reply(200, {"ok": True, "data": {}})]
    requests = {"all": {"who": "$trader"}, "meta": {"network": "main"}}
    speech = resolve_services({"format": SERVICES, "paths": {"nonce": "/y", "meta": "/m"}, "requests": requests})
    members = {"slot": "$tradeIndex", "kind": "dex", "deep": True, "pair": "$nothing"}
    with Wire({"POST /x": good, "GET /y": good, "GET /m": good}) as wire, Http() as http:
        builder = BuilderClient(wire.url, http, speech)
        builder.call("/x", {"tradeIndex": "7", "trader": "0x1", "pair": "p"}, members=members)
        builder.read("nonce", {"trader": "7"})
        builder.meta()
    assert wire.seen[0].body == b'{"trader":"0x1","slot":7,"kind":"dex","deep":true}'
    assert [each.target for each in wire.seen[1:]] == ["/y?who=7", "/m?network=main"]
