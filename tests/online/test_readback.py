"""What was promised against what is found: kept, broken, or honestly not told. The reads come over real HTTP."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from airlock_online.clients.builder import BuilderClient
from airlock_online.clients.http import Http
from airlock_online.config import OnlineConfig
from airlock_online.delivery.event_lines import FOUND
from airlock_online.delivery.routes.posting import StatusRead
from airlock_online.journal.order_states import OrderEvent
from airlock_online.readback.delegates import DELEGATIONS
from airlock_online.readback.expectations import Expectation, Scene, expectation_lines
from airlock_online.readback.read_back import read_back
from airlock_shared.documents.requests import Request
from airlock_shared.text.safe import columns, is_visible
from airlock_shared.venue.actions import ACTIONS
from airlock_shared.venue.structs import CATALOGUE, OPENED, OPENED_MS, Intent, field
from online.loopback import Answer, Wire, http, reply
from shared.world import deployment

NOW = 1_790_000_000_000
EXPIRY = 1_800_000_000
OPENED_S = 1_789_000_000
TRADER, KEY = "0x" + "11" * 20, "0x" + "22" * 20
DELEGATION, REFERRAL, POSITIONS = "/v2/reads/delegation", "/v2/reads/referral", "/v2/positions"
OF_CODES = ("referral-register", "referral-transfer", "referral-accept")
CODE = b"DESK".ljust(32, b"\0")
DELEGATE = {"trader": TRADER, "delegate": KEY, "expirySeconds": str(EXPIRY)}
ENABLED = {"isEnabled": True, "expiry": EXPIRY, "canSignIntents": True, "canDelegatedAction": True}
CLOSE = {"trader": TRADER, "pairIndex": "1", "tradeIndex": "2", "collateralToCloseUsdc": "30"}
CLOSING = {"_trader": TRADER, "_pairIndex": "1", "_index": "2", "_openTimestamp": str(OPENED_S), "_amount": "30000000"}
EXECUTED, INCREASED, STORED = "MarketOrderExecuted", "PositionSizeIncreased", "TriggerStored"
INCREASE = {"trader": TRADER, "pairIndex": "1", "tradeIndex": "2", "additionalCollateralUsdc": "20"}
INCREASING = {"_updateInfo": {"trader": TRADER, "pairIndex": "1", "index": "2", "initialPosToken": "20000000"}}
OPEN = {"trader": TRADER, "pairIndex": "1", "side": "long", "collateralUsdc": "70"}
REGISTERED = {"_code": "0x" + CODE.hex(), "_referrer": TRADER}
TRANSFER = {"caller": TRADER, "code": "DESK", "newOwner": KEY}
ACCEPT = {"caller": KEY, "code": "DESK"}
TWINS = {"referral-set-code": "referral-set-code-tx", "increase": "increase-coin", "open": "open-coin"}
TRIGGER = {"trader": TRADER, "pairIndex": "1", "tradeIndex": "2", "kind": "take_profit"}
TRIGGERING = {"trader": TRADER, "pairIndex": "1", "index": "2", "timestamp": str(OPENED_S)}
SIGNED_MS = OPENED_S * 1000 + 7
CLOSING_MS = CLOSING | {"_openTimestamp": str(SIGNED_MS)}
OWNER, PENDING = ((view, CODE) for view in OnlineConfig().referral[:2])
ADOPTED = (OnlineConfig().referral.adopted, bytes([0x11] * 20))
OF_TRADER, OF_KEY = (bytes.fromhex(account[2:]).rjust(32, b"\0") for account in (TRADER, KEY))
WITHOUT = ["referral-cancel-request", "claim-keeper-rewards"]
OPENING = {
    "_t": {"trader": TRADER, "pairIndex": "1", "buy": True, "positionSizeUSDC": "70000000", "tp": "0", "sl": "0"}
}


def request(action: str, fields: dict[str, str], message: dict[str, Any]) -> Request:
    return Request(
        step="step",
        action=action,
        endpoint=ACTIONS[action].path or "/none",
        fields=fields,
        payload={"primaryType": ACTIONS[action].primary_type, "message": message},
        route="",
        order_type=None,
        order_reason="",
        signer=TRADER,
        path="m/44'/60'/0'/0/0",
        delegation=None,
    )


def node_of(words: Mapping[Any, bytes]) -> Any:
    """Return a node of the pinned chain, whose contracts tell these words, by view and arguments."""
    return SimpleNamespace(name="node", chain_id=lambda: deployment().chain_id, view=lambda _, *asked: words.get(asked))


def judged(
    action: str,
    fields: dict[str, str],
    message: dict[str, Any] | None = None,
    events: tuple[OrderEvent, ...] = (),
    replaces: str = "",
    node: Any = None,
    echo: bool = True,
    structs: Mapping[str, Intent] = CATALOGUE,
    of_others: Callable[[], Iterable[OrderEvent]] = tuple,
    prepared_ms: int = 0,
    twap_status: Callable[[str], StatusRead] | None = None,
    nonce_used: bool | None = True,
    **reads: Answer | object,
) -> list[Expectation]:
    """Return the promises of a request whose reads answer with these data, or with these very replies.

    With ``echo`` the data name what was asked for, where they do not name something else themselves.
    """
    paths = {"delegation": DELEGATION, "referral": REFERRAL, "positions": POSITIONS}
    own: dict[str, object] = {"trader": TRADER, "delegate": KEY} if echo else {}
    own |= {"code": "DESK"} if echo and action in OF_CODES else {}
    reads = {name: own | data if isinstance(data, dict) else data for name, data in reads.items()}
    script = {
        f"GET {paths[name]}": [answer if isinstance(answer, Answer) else reply(200, {"ok": True, "data": answer})]
        for name, answer in reads.items()
    }
    with Wire(script) as wire, Http() as client:
        asked = request(action, fields, message or {})._replace(replaces=replaces)
        builder = BuilderClient(wire.url, client)
        pinned = deployment()._replace(structs=structs)
        scene = Scene(asked, events, builder, OnlineConfig(), NOW, pinned, node, twap_status, of_others, prepared_ms)
        return read_back(scene._replace(nonce_used=lambda: nonce_used))


def kept(promises: list[Expectation]) -> list[bool | None]:
    return [promise.kept for promise in promises]


@pytest.mark.parametrize("action", ["delegate", "delegate-set"])
def test_a_delegate_that_is_enabled_as_signed_is_kept(action: str) -> None:
    enabled, signs, sends = judged(action, DELEGATE, delegation=ENABLED)
    assert (enabled.kept, signs.kept, sends.kept) == (True, True, True)
    assert (signs.promised, sends.promised) == ("may sign intents", "may send calls")
    assert enabled.promised == enabled.found == "enabled until 2027-01-15 08:00:00 UTC (in 115 d 17 h; raw 1800000000)"
    assert (TRADER in enabled.what, KEY in enabled.what) == (True, True)


def trade(**changed: object) -> dict[str, object]:
    own: dict[str, object] = {
        "trader": TRADER, "pairIndex": "1", "index": "2", "initialPosToken": "70000000", "positionSizeUSDC": "700000000",
        "openPrice": "32000000000000", "buy": True, "leverage": "100000000000", "tp": "0", "sl": "0",
        "timestamp": str(OPENED_S),
    }  # fmt: skip
    return own | changed


def holding(*trades: dict[str, object]) -> dict[str, object]:
    return {"trades": [{"trade": one} for one in trades], "orders": []}


def ended(kind: str, **changed: object) -> tuple[OrderEvent, ...]:
    return (OrderEvent(0, "MarketOrderAccepted", {}), OrderEvent(2, kind, {"t": trade(**changed)}))


OTHER_SLOT, OTHER_PAIR = trade(index="3"), trade(pairIndex="4")
REOPENED = trade(timestamp=str(OPENED_S + 5))


EVERY: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "delegate": (DELEGATE, {}),
    "delegate-set": (DELEGATE, {}),
    "delegate-remove": (DELEGATE, {}),
    "referral-set-code": ({"referee": TRADER, "code": "DESK"}, {}),
    "referral-set-code-tx": ({"caller": TRADER, "code": "DESK"}, {}),
    "referral-register": ({}, REGISTERED),
    "referral-transfer": (TRANSFER, {}),
    "referral-accept": (ACCEPT, {}),
    "open": (OPEN, OPENING),
    "open-coin": (OPEN, OPENING),
    "close": (CLOSE, CLOSING),
    "increase": (INCREASE, INCREASING),
    "increase-coin": (INCREASE, INCREASING),
    "limit-update": ({"trader": TRADER, "pairIndex": "1", "orderIndex": "0", "price": "1"}, {}),
}
JUDGED: list[tuple[str, tuple[OrderEvent, ...], dict[str, Any], list[bool | None]]] = [
    ("delegate", (), {"delegation": ENABLED | {"expiry": EXPIRY + 1}}, [False, True, True]),
    ("delegate", (), {"delegation": ENABLED | {"expiry": EXPIRY * 1000}}, [False, True, True]),
    ("delegate", (), {"delegation": ENABLED | {"isEnabled": False}}, [False, True, True]),
    ("delegate", (), {"delegation": ENABLED | {"canSignIntents": False}}, [True, False, True]),
    ("delegate", (), {"delegation": ENABLED | {"canSignIntents": None}}, [True, None, True]),
    ("delegate", (), {"delegation": ENABLED | {"canDelegatedAction": False}}, [True, True, False]),
    ("delegate", (), {"delegation": ENABLED | {"expiry": None}}, [None, True, True]),
    ("delegate", (), {"delegation": ENABLED | {"isEnabled": "true"}}, [None]),
    ("delegate-remove", (), {"delegation": {"isEnabled": False}}, [True]),
    ("delegate-remove", (), {"delegation": {"isEnabled": False, "canSignIntents": True}}, [False]),  # a contradiction
    ("delegate-remove", (), {"delegation": {"isEnabled": False, "canDelegatedAction": True}}, [False]),
    ("delegate-remove", (), {"delegation": {"isEnabled": True}}, [False]),
    ("delegate-remove", (), {"delegation": {"isEnabled": None}}, [None]),
    ("delegate-remove", (), {"delegation": {}}, [None]),
    ("referral-set-code", (), {"referral": {"code": "0x" + CODE.hex()}}, [True]),
    ("referral-set-code", (), {"referral": {"code": "DESK"}}, [True]),
    ("referral-set-code", (), {"referral": {"code": "desk"}}, [False]),
    ("referral-set-code", (), {"referral": {"code": ""}}, [False]),
    ("referral-set-code", (), {"referral": {"code": "0x12"}}, [None]),
    ("referral-set-code", (), {"referral": {"code": None}}, [None]),
    ("close", ended(EXECUTED, initialPosToken="0"), {"positions": holding(OTHER_SLOT, OTHER_PAIR)}, [True]),
    ("close", ended(EXECUTED, initialPosToken="0"), {"positions": holding(REOPENED)}, [True]),
    ("close", ended(EXECUTED), {"positions": holding(trade())}, [True]),
    ("close", ended(EXECUTED) + ended(EXECUTED, initialPosToken="0"), {"positions": holding(trade())}, [True]),
    ("close", (), {"positions": holding()}, [None]),
    ("close", ended(EXECUTED, initialPosToken=None), {"positions": holding()}, [None]),
    ("close", ended(EXECUTED, initialPosToken="0"), {"positions": holding(trade())}, [False]),
    ("close", ended(EXECUTED), {"positions": holding(trade(initialPosToken="100000000"))}, [False]),
    ("close", ended(EXECUTED), {"positions": holding()}, [False]),
    ("close", (), {"positions": holding(trade())}, [None]),
    ("close", ended(EXECUTED, index="3"), {"positions": holding(trade())}, [None]),
    ("close", ended(EXECUTED, timestamp="5"), {"positions": holding(trade())}, [None]),
    ("close", ended(EXECUTED), {"positions": {}}, [None]),
    ("close", ended(EXECUTED), {"positions": {"trades": [{"trade": trade(index=-1)}]}}, [None]),
    ("increase", ended(INCREASED), {"positions": holding(trade())}, [True]),
    ("increase", ended(INCREASED), {"positions": holding(trade(initialPosToken="19999999"))}, [False]),
    ("increase", ended(INCREASED), {"positions": holding()}, [False]),
    ("increase", (), {"positions": holding(trade())}, [None]),
    ("increase", ended(EXECUTED), {"positions": holding(trade())}, [None]),
    ("increase", ended(INCREASED), {"positions": holding(trade(initialPosToken=None))}, [None]),
    ("open", ended(EXECUTED), {"positions": holding(trade())}, [True]),
    ("open", ended(EXECUTED), {"positions": holding(OTHER_PAIR, trade(initialPosToken="69000000"))}, [True]),
    ("open", ended(EXECUTED), {"positions": holding()}, [False]),
    ("open", ended(EXECUTED), {"positions": holding(trade(buy=False))}, [False]),
    ("open", ended(EXECUTED), {"positions": holding(REOPENED)}, [False]),
    ("open", (), {"positions": holding()}, [False]),
    ("open", (), {"positions": holding(trade())}, [None]),
    ("open", ended(EXECUTED, pairIndex="9"), {"positions": holding(trade())}, [None]),
    ("open", ended(EXECUTED), {"positions": holding(trade(buy="true"))}, [None]),
    ("referral-register", (), {"referral": {"owner": TRADER}}, [True]),
    ("referral-register", (), {"referral": {"owner": KEY}}, [False]),
    ("referral-register", (), {"referral": {}}, [None]),
    ("referral-transfer", (), {"referral": {"owner": TRADER, "pendingOwner": KEY}}, [True, True]),
    ("referral-transfer", (), {"referral": {"owner": TRADER, "pendingOwner": TRADER}}, [True, False]),
    ("referral-transfer", (), {"referral": {"owner": KEY, "pendingOwner": KEY}}, [False, True]),
    ("referral-transfer", (), {"referral": {"owner": TRADER, "pendingOwner": KEY + "0"}}, [True, None]),
    ("referral-accept", (), {"referral": {"owner": KEY, "pendingOwner": ""}}, [True, True]),
    ("referral-accept", (), {"referral": {"owner": KEY, "pendingOwner": KEY}}, [True, False]),
]
"""An action, the events of its order, what the reads tell, and what is kept of each promise."""


@pytest.mark.parametrize(("action", "events", "reads", "verdicts"), JUDGED)
def test_what_was_promised_is_judged_by_what_is_found(
    action: str, events: tuple[OrderEvent, ...], reads: dict[str, Any], verdicts: list[bool | None]
) -> None:
    for each in {action, TWINS.get(action, action)}:
        fields, message = EVERY[each]
        assert kept(judged(each, fields, message, events, **reads)) == verdicts


@pytest.mark.parametrize("action", ["close", "increase"])
def test_a_position_as_another_order_left_it_may_be_what_it_was_before(action: str) -> None:
    (fields, message), events = EVERY[action], ended(INCREASED if action == "increase" else EXECUTED)
    for others, verdict in ((ended(EXECUTED), None), (ended(EXECUTED, initialPosToken="100000000"), True)):
        found = judged(action, fields, message, events, positions=holding(trade()), of_others=partial(iter, others))
        assert (kept(found), "may be what it was before" in found[0].found) == ([verdict], verdict is None)


@pytest.mark.parametrize("used", [False, None])
@pytest.mark.parametrize(("action", "kind"), [("open", EXECUTED), ("close", EXECUTED), ("increase", INCREASED)])
def test_a_market_that_tells_the_position_as_it_was_has_kept_nothing(action: str, kind: str, used: bool | None) -> None:
    fields, message = EVERY[action]
    later = partial(ended, kind)
    found = judged(action, fields, message, ended(kind), positions=holding(trade()), nonce_used=used, of_others=later)
    assert (kept(found), "nonce is u" in found[0].found) == ([used], True)


@pytest.mark.parametrize("used", [False, None])
def test_a_position_that_is_gone_was_closed_by_something_else_where_the_nonce_is_unused(used: bool | None) -> None:
    fields, message = EVERY["close"]
    events = ended(EXECUTED, initialPosToken="0")
    assert kept(judged("close", fields, message, events, positions=holding(), nonce_used=used)) == [used]
    assert kept(judged("close", fields, message, events, positions=holding())) == [True]


@pytest.mark.parametrize(("rest", "verdict"), [("70000000", None), ("60000000", False)])
def test_a_whole_close_may_tell_the_trade_as_it_was_stored(rest: str, verdict: bool | None) -> None:
    fields, message = EVERY["close"]
    events = ended(EXECUTED, initialPosToken=rest)
    asked = fields | {"collateralToCloseUsdc": "70"}
    assert kept(judged("close", asked, message, events, positions=holding())) == [verdict]


def test_a_close_by_exposure_is_judged_alike() -> None:
    fields = {"trader": TRADER, "pairIndex": "1", "tradeIndex": "2", "coinExposure": "0.5"}
    [promise] = judged("close-coin", fields, CLOSING, ended(EXECUTED), positions=holding(trade()))
    what, promised = "the position on pair 1, slot 2", "0.5 coins closed"
    found = (
        "long, collateral 70 USDC (raw 70000000), open price 3200 USD (raw 32000000000000), opened 2026-09-10 00:26:40 UTC; "
        "the venue's event told 70 USDC (raw 70000000) of collateral"
    )
    assert promise == Expectation(what, promised, found, True)


@pytest.mark.parametrize(
    ("ours", "other", "changed", "verdict"),
    [
        (10, 20, {}, None),
        (10, None, {}, None),
        (None, 20, {}, None),
        (20, 10, {}, False),
        (10, 20, {"index": "7"}, False),
        (10, 20, {"timestamp": "5"}, False),
    ],
)
@pytest.mark.parametrize("found", [holding(trade(initialPosToken="90000000")), holding()])
def test_an_order_is_not_called_broken_for_what_a_later_one_did(
    ours: int | None, other: int | None, changed: dict[str, str], verdict: bool | None, found: object
) -> None:
    [mine] = ended(EXECUTED)[-1:]
    later = (mine._replace(payload={"t": trade(initialPosToken="90000000", **changed)}, at_ms=other),)
    told = (mine._replace(at_ms=ours),)
    assert kept(judged("close", CLOSE, CLOSING, told, of_others=lambda: later, positions=found)) == [verdict]
    assert kept(judged("close", CLOSE, CLOSING, told, positions=found)) == [False]


@pytest.mark.parametrize(
    ("prepared_s", "verdict"), [(OPENED_S - 9, True), (OPENED_S + 60, True), (OPENED_S + 61, None)]
)
def test_a_position_that_is_older_than_the_order_is_not_what_it_opened(prepared_s: int, verdict: bool | None) -> None:
    """A market that tells of a position that was there before fills nothing by that."""
    found = judged("open", OPEN, OPENING, ended(EXECUTED), prepared_ms=prepared_s * 1000, positions=holding(trade()))
    assert (kept(found), "older than the order" in found[0].found) == ([verdict], verdict is None)


@pytest.mark.parametrize(
    ("tp", "sl", "verdict"), [("7", "9", True), ("0", "9", False), ("7", "8", False), ("7", None, None)]
)
def test_an_open_is_read_back_with_the_triggers_that_were_signed(tp: object, sl: object, verdict: bool | None) -> None:
    message = {"_t": OPENING["_t"] | {"tp": "7", "sl": "9"}}
    (found,) = judged("open", OPEN, message, ended(EXECUTED), positions=holding(trade(tp=tp, sl=sl)))
    assert (found.kept, "stop loss" in found.promised) == (verdict, True)


@pytest.mark.parametrize(
    ("payload", "found", "verdicts"),
    [
        ({"entityId": "e-1"}, holding(trade()), [None, True]),
        ({"entityId": "e-1"}, holding(), [None, False]),
        ({"entityId": "e-1"}, holding(REOPENED), [None, False]),
        ({"entityId": "e-1"}, {}, [None, None]),
        ({"entityId": ""}, holding(trade()), [False, True]),
    ],
)
def test_a_trigger_has_id_and_position(payload: dict[str, Any], found: object, verdicts: list[bool | None]) -> None:
    events = (OrderEvent(0, STORED, payload),)
    promises = judged("tpsl-partial", TRIGGER, TRIGGERING, events, positions=found)
    assert (kept(promises), "by the service's answer alone" in promises[0].found) == (verdicts, True)
    assert promises[1].found.startswith("no such position in this slot") is (verdicts[1] is False)


def test_a_trigger_that_was_executed_may_have_closed_its_position_itself() -> None:
    events = (
        OrderEvent(0, STORED, {"entityId": "e-1"}),
        OrderEvent(None, FOUND, {"transactionHash": "0x" + "aa" * 32}),
    )
    promises = judged("tpsl-partial", TRIGGER, TRIGGERING, events, positions=holding())
    assert (kept(promises), "was executed" in promises[1].found) == ([None, None], True)


@pytest.mark.parametrize(
    ("payload", "verdict"),
    [
        ({"entityId": "e-2", "oldEntityId": "e-1"}, None),
        ({"entityId": "e-2", "oldEntityId": "e-9"}, False),
        ({"entityId": "e-1", "oldEntityId": "e-1"}, False),  # a replacement has an id of its own
        ({"entityId": "e-2"}, None),
    ],
)
def test_a_trigger_that_replaces_names_the_old_one(payload: dict[str, Any], verdict: bool | None) -> None:
    events = (OrderEvent(0, STORED, payload),)
    _, replaced, _ = judged("tpsl-partial", TRIGGER, TRIGGERING, events, "e-1", positions=holding(trade()))
    assert (replaced.promised, replaced.kept) == ("entity id e-1", verdict)


@pytest.mark.parametrize("action", ["position-increase", "position-increase-coin", "trade-open", "trade-close"])
def test_a_transaction_that_stores_an_order_promises_nothing_yet(action: str) -> None:
    fields = {"trader": TRADER, "pairIndex": "1", "tradeIndex": "2"}
    [promise] = judged(action, fields, positions=holding(trade()))
    assert promise.kept is None
    assert promise.found.startswith("pending: ")
    [unread] = judged(action, fields)
    assert (unread.kept, unread.found) == (None, "pending: the transaction stored an order that is filled later")


@pytest.mark.parametrize(
    ("order", "verdicts"),
    [
        ({"price": "1205000000000", "tp": "1300000000000"}, [True, True]),
        ({"price": "1205000000001", "tp": "0"}, [False, False]),
        ({"price": "120.5", "tp": None}, [None, None]),
        (None, [None, None]),
    ],
)
def test_a_limit_order_is_judged_by_its_prices(order: dict[str, object] | None, verdicts: list[bool | None]) -> None:
    fields = {"trader": TRADER, "pairIndex": "1", "orderIndex": "0", "price": "120.5", "takeProfit": "130"}
    orders = [{"order": {"pairIndex": "1", "index": "0"} | order}] if order else []
    assert kept(judged("limit-update", fields, positions={"trades": [], "orders": orders})) == verdicts
    assert kept(judged("limit-update", fields, positions={"trades": []})) == [None, None]


def in_ms(struct: Intent) -> Intent:
    """Return a struct of a venue whose profile says that it signs the moment of an opening in milliseconds."""
    fields = tuple(field(each.path, OPENED_MS) if each.kind == OPENED else each for each in struct.fields)
    return struct._replace(fields=fields)


IN_MS = {name: in_ms(struct) for name, struct in CATALOGUE.items()}


@pytest.mark.parametrize("told_at", [SIGNED_MS, str(SIGNED_MS), OPENED_S, str(OPENED_S)])
def test_a_close_is_judged_alike_where_the_venue_signs_milliseconds(told_at: object) -> None:
    left = holding(trade(timestamp=told_at))
    gone = ended(EXECUTED, initialPosToken="0", timestamp=told_at)
    assert kept(judged("close", CLOSE, CLOSING_MS, gone, structs=IN_MS, positions=left)) == [False]
    assert kept(judged("close", CLOSE, CLOSING_MS, gone, structs=IN_MS, positions=holding())) == [True]
    for event_at in (SIGNED_MS, OPENED_S):
        events = ended(EXECUTED, timestamp=event_at)
        [promise] = judged("close", CLOSE, CLOSING_MS, events, structs=IN_MS, positions=left)
        assert (promise.kept, "opened 2026-09-10 00:26:40 UTC" in promise.found) == (True, True)


@pytest.mark.parametrize("told", ["70000000", "1", "100000000"])
@pytest.mark.parametrize(
    ("action", "kind", "promised"),
    [
        ("close", EXECUTED, "30 USDC closed"),
        ("increase", INCREASED, "20 USDC (raw 20000000) of collateral added"),
        ("open", EXECUTED, "a long position"),
    ],
)
def test_what_was_promised_is_the_plan_s_whatever_is_told(action: str, kind: str, promised: str, told: str) -> None:
    fields, message = EVERY[action]
    [promise] = judged(action, fields, message, ended(kind, initialPosToken=told), positions=holding(trade()))
    assert promise.promised == promised
    assert action == "open" or "the venue's event told" in promise.found


def test_every_read_that_names_nothing_is_told_by_the_service_s_word() -> None:
    every: dict[str, dict[str, Any]] = {
        "delegate": {"delegation": ENABLED | {"expiry": EXPIRY + 1}},
        "delegate-remove": {"delegation": {"isEnabled": False}},
        "close": {"positions": {"trades": []}},
        "open": {"positions": {"trades": []}},
        "limit-update": {"positions": {"orders": [{"order": {"pairIndex": "1", "index": "0", "price": 1}}]}},
        "referral-set-code": {"referral": {"code": "DESK"}},
        "referral-accept": {"referral": {"owner": KEY, "pendingOwner": ""}},
    }
    for action, reads in every.items():
        fields, message = EVERY[action]
        promises = judged(action, fields, message, echo=False, **reads)
        assert [promise.found.startswith("by the service's word, ") for promise in promises] == [True] * len(promises)
        assert set(kept(promises)) == {None}


@pytest.mark.parametrize("delegation", [ENABLED, {}, {"isEnabled": True}])
@pytest.mark.parametrize(
    ("action", "expiry", "verdict"),
    [
        ("delegate", EXPIRY, True),
        ("delegate-set", EXPIRY, True),
        ("delegate", EXPIRY + 1, False),
        ("delegate-remove", 0, True),
        ("delegate-remove", EXPIRY, False),
    ],
)
def test_delegates_are_read_on_chain(action: str, expiry: int, verdict: bool, delegation: dict[str, object]) -> None:
    node = node_of({(DELEGATIONS, bytes([0x11] * 20), bytes([0x22] * 20)): expiry.to_bytes(32, "big")})
    promises = judged(action, DELEGATE, echo=False, node=node, delegation=delegation)
    assert promises[-1].what.endswith(", by the chain")
    assert promises[-1].kept is verdict
    assert set(kept(promises[:-1])) == {None}


def test_a_silent_chain_adds_nothing_and_a_cancelled_twap_must_be_the_one_that_was_signed() -> None:
    silent = judged("delegate", DELEGATE, node=node_of({}), delegation=ENABLED)
    assert silent == judged("delegate", DELEGATE, delegation=ENABLED)
    fields = {"trader": TRADER, "twapId": "7"}
    for told, verdict in ((7, None), ("7", None), (None, None), (8, False)):
        events = (OrderEvent(0, "TwapCancelled", {"twapId": told, "transactionHash": "0x"}),)
        assert kept(judged("twap-cancel", fields, {}, events)) == [verdict]


@pytest.mark.parametrize(
    ("action", "told", "verdicts"),
    [
        ("referral-register", {OWNER: OF_KEY}, [True, False]),
        ("referral-register", {}, [True]),
        ("referral-transfer", {OWNER: OF_TRADER, PENDING: OF_KEY}, [True, True, True, True]),
        ("referral-transfer", {OWNER: OF_TRADER, PENDING: bytes(32)}, [True, True, True, False]),
        ("referral-set-code", {ADOPTED: CODE}, [True, True]),
        ("referral-set-code", {ADOPTED: bytes(32)}, [True, False]),
    ],
)
def test_the_chain_s_word_is_beside_another(action: str, told: dict[Any, bytes], verdicts: list[bool | None]) -> None:
    data = {"owner": TRADER, "pendingOwner": KEY, "code": "DESK"}
    fields, message = EVERY[action]
    promises = judged(action, fields, message, node=node_of(told), referral=data)
    assert kept(promises) == verdicts
    by_chain = sum(", by the chain" in promise.what for promise in promises)
    assert by_chain == len(promises) - len(judged(action, fields, message, referral=data))


@pytest.mark.parametrize("action", WITHOUT)
def test_what_no_read_tells_is_said_to_be_so(action: str) -> None:
    assert [(p.found, p.kept) for p in judged(action, {"caller": TRADER})] == [("the builder does not report it", None)]


BROKEN = {
    "503": reply(503, {"ok": False, "error": {"code": "UPSTREAM_ERROR", "message": "\x1b[31m"}}),
    "html": http(200, b"<html>", "text/html"),
    "reset": Answer(b"", reset=True),
    "text": reply(200, {"ok": True, "data": "\x1b[31menabled"}),
    "contradiction": reply(200, {"ok": True, "data": {}, "error": {}}),
}


@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("action", EVERY)
def test_a_read_that_fails_keeps_and_breaks_nothing(action: str, how: str) -> None:
    fields, message = EVERY[action]
    answer = BROKEN[how]
    promises = judged(action, fields, message, delegation=answer, referral=answer, positions=answer)
    assert promises
    assert set(kept(promises)) == {None}


def test_every_action_has_a_promise() -> None:
    judged_here = {*EVERY, *WITHOUT, "token-approve", "twap-cancel", "tpsl-partial", "open-coin", "close-coin"}
    judged_here |= {"increase-coin", "position-increase", "position-increase-coin", "trade-open", "trade-close"}
    judged_here |= {"authorization"}  # which has no outcome of its own
    assert set(ACTIONS) <= judged_here, "an example in EVERY, or its name in WITHOUT"


def test_promises_are_shown_against_what_was_found() -> None:
    shown = expectation_lines(
        [Expectation("the trigger", "stored", "no entity id", False), Expectation("a", "b", "c", None)]
    )
    assert shown == [
        "    read back: the trigger",
        "      promised  stored",
        "      found     no entity id",
        "      kept      NO: this is not what was promised",
        "    read back: a",
        "      promised  b",
        "      found     c",
        "      kept      not known",
    ]


@pytest.mark.parametrize("hostile", ["\x1b[2J", "x\n      kept      yes", "\u202e", "w " * 3_000, "漢" * 500])
def test_nothing_that_a_service_sends_acts_on_the_terminal(hostile: str) -> None:
    error = reply(400, {"ok": False, "error": {"code": hostile, "message": hostile, "details": [hostile]}})
    for read in (error, {"code": hostile}, {"isEnabled": True, "expiry": hostile}):
        for action in ("delegate", "referral-set-code"):
            fields, message = EVERY[action]
            shown = expectation_lines(judged(action, fields, message, delegation=read, referral=read))
            assert all(is_visible(character) for line in shown for character in line)
            assert max(map(columns, shown)) <= 80
            assert all(line.startswith("    ") for line in shown)
    [promise, _] = judged("tpsl-partial", TRIGGER, TRIGGERING, (OrderEvent(0, STORED, {"entityId": hostile}),))
    assert all(is_visible(character) for line in expectation_lines([promise]) for character in line)
