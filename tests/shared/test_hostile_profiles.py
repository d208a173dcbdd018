"""A profile by somebody who wants a byte signed that nobody saw: refused, or its difference is read before it is pinned."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from eth_abi.abi import encode
from eth_utils.crypto import keccak

from airlock_shared.documents.deployment import Deployment, parse_deployment
from airlock_shared.errors import DocumentError, PlanError
from airlock_shared.plan.decisions import Decision, decide
from airlock_shared.plan.model import AsSigned, Limits, Plan, Signer, Step
from airlock_shared.plan.reader import read_custom_fields
from airlock_shared.plan.values import value_faults
from airlock_shared.venue.calls import CALLS, Call, decode_call, selector_of
from airlock_shared.venue.profile import VENUE_FORMAT, venue_of
from airlock_shared.venue.profile_words import profile_words, resolve_profile, shipped
from airlock_shared.venue.structs import CATALOGUE, field
from refusals import check_of
from shared.world import DEPLOYMENT_TEXT, PLAN_TEXT, to_bytes

DOCUMENT = json.loads(DEPLOYMENT_TEXT)
LIMIT = shipped()["calls"]["updateOpenLimitOrder"]


def _struct(text: str, leaves: dict[str, Any]) -> dict[str, Any]:
    fixed = {"domain": "trading", "signer_rule": "trader-only", "route": "relayer"}
    return {"structs": {text.partition("(")[0]: {"encode_type": text, "leaves": leaves, **fixed}}}


def _call(signature: str, leaves: dict[str, Any] | None = None, name: str = "", **more: Any) -> dict[str, Any]:
    entry = {"signature": signature, "leaves": leaves or {}, **more}
    return {"calls": {name or signature.partition("(")[0]: entry}}


def _own(signature: str, *leaves: str, contract: str = "tradingStorage") -> dict[str, Any]:
    return _call(signature, dict.fromkeys(leaves, "raw"), contract=contract)


def _resolved(profile: dict[str, Any]) -> dict[str, Any]:
    return resolve_profile({"format": VENUE_FORMAT, "structs": {}, "calls": {}} | profile)


def _deployed(signed: dict[str, Any], **contracts: str) -> Deployment:
    pinned = DOCUMENT["contracts"] | contracts
    return parse_deployment(to_bytes({**DOCUMENT, "contracts": pinned, "signed": signed}))


_TWO_CODES = {"code": "code"}
_POSITION = CATALOGUE["CloseTradeReq"]
_OPENED_TWICE = {
    "encode_type": _POSITION.encode_type.replace("uint256 _amount", "uint256 _ms,uint256 _amount"),
    "leaves": {each.path: each.kind for each in _POSITION.fields} | {"_ms": "opened-ms"},
}
_ACCOUNT = {"trader": "trader", "nonce": "nonce"}
REFUSED: dict[str, dict[str, Any]] = {
    "an argument behind one of its name": _own("dep(address to,uint256 a,address to)", "to", "a"),
    "an argument behind a tuple of its name": _own("dep((address to) t,uint256 t)", "t.to", "t"),
    "a price behind one of its name": _call(
        LIMIT["signature"].replace("(uint256 pairIndex", "(uint256 price,uint256 pairIndex"),
        LIMIT["leaves"], "updateOpenLimitOrder",
    ),
    "two functions that ship, exchanged": {"calls": {
        "acceptCodeOwnership": {"signature": "setTraderReferralCodeByUser(bytes32 code)", "leaves": _TWO_CODES},
        "setTraderReferralCodeByUser": {"signature": "acceptCodeOwnership(bytes32 code)", "leaves": _TWO_CODES},
    }},
    "a dangerous name in another case": _own("Approve(address a,uint256 b)", "a", "b"),
    "a struct that ships in another case": _struct("closeTradeReq(address trader,uint256 nonce)", _ACCOUNT),
    "the domain's type in another case": _struct("EIP712domain(address trader,uint256 nonce)", _ACCOUNT),
    "a member behind one of its name, in a struct within it": _struct(
        "XReq(address trader,B b,uint256 nonce)B(uint8 a,uint8 a)", _ACCOUNT | {"b.a": "raw"}
    ),
    "a struct that is defined twice": _struct(
        "XReq(address trader,B b,uint256 nonce)B(uint8 a)B(uint8 c)", _ACCOUNT | {"b.a": "raw"}
    ),
    "a struct called as a type": _struct(
        "XReq(address trader,uint256 nonce)uint256(uint8 a)", {"trader": "trader", "nonce.a": "nonce"}
    ),
    "a struct without a member": _struct("XReq(address trader,B b,uint256 nonce)B()", _ACCOUNT),
    "two times at which it was opened": {"structs": {"CloseTradeReq": _OPENED_TWICE}},
    "a width that no type has": _struct("XReq(address trader,uint264 a,uint256 nonce)", _ACCOUNT | {"a": "raw"}),
    "a member that is a number": _struct("XReq(address trader,uint8 1,uint256 nonce)", _ACCOUNT | {"1": "raw"}),
}  # fmt: skip


@pytest.mark.parametrize("profile", REFUSED.values(), ids=REFUSED.keys())
def test_what_would_hide_something_is_refused(profile: dict[str, Any]) -> None:
    assert check_of(_resolved, profile) == "DOC-VENUE"


def test_a_deployment_that_was_written_by_hand_is_read_by_the_same_rules() -> None:
    calls = {name: entry for name, entry in shipped()["calls"].items() if name != "setDelegate"}
    leaves = {"delegate": "delegate", "expiry": "zero"}
    calls["removeDelegate"] = {"signature": CALLS["setDelegate"].signature, "leaves": leaves}
    with pytest.raises(DocumentError, match="the name of another function"):
        _deployed({**shipped(), "calls": calls})


def test_the_token_under_another_name_is_the_token_and_an_unknown_name_is_no_contract() -> None:
    signed = _resolved(_own("sweep(address to)", "to", contract="vault"))
    with pytest.raises(DocumentError, match="the token, under another name"):
        _deployed(signed, vault=DOCUMENT["contracts"]["usdc"])
    with pytest.raises(DocumentError, match="no contract of this deployment"):
        _deployed(signed)
    assert _deployed(signed, vault=DOCUMENT["contracts"]["tradingStorage"]).calls["sweep"].contract == "vault"


def test_arguments_of_one_type_that_change_places_are_told_though_the_selector_is_the_same() -> None:
    signature = LIMIT["signature"].replace("uint256 tp,uint256 sl)", "uint256 sl,uint256 tp)")
    lines = list(profile_words(*venue_of(_resolved(_call(signature, LIMIT["leaves"], "updateOpenLimitOrder")))))
    assert selector_of(signature) == selector_of(LIMIT["signature"])
    order = "pairIndex, index, price, slippage, {}, {}"
    expected = f"its members are in another order: {order.format('sl', 'tp')} (ships: {order.format('tp', 'sl')})"
    assert f"call updateOpenLimitOrder: {expected}" in lines
    assert f"call updateOpenLimitOrder: the function is now {signature}" in lines
    assert any(LIMIT["signature"] in line for line in lines)


@pytest.mark.parametrize("name", CATALOGUE)
def test_members_of_one_type_that_change_places_are_told(name: str) -> None:
    entry = {member: shipped()["structs"][name][member] for member in ("encode_type", "leaves")}
    paths = [each.path for each in CATALOGUE[name].fields]
    members = entry["encode_type"].partition("(")[2].partition(")")[0].split(",")
    moved = [*members[1:], members[0]]
    entry["encode_type"] = entry["encode_type"].replace(",".join(members), ",".join(moved))
    lines = list(profile_words(*venue_of(_resolved({"structs": {name: entry}}))))
    assert any(line.startswith(f"{name}: its members are in another order: ") for line in lines)
    assert f"(ships: {', '.join(paths)})" in " ".join(lines)


def test_calldata_of_which_a_part_is_not_shown_is_refused_even_where_a_profile_would_be_taken() -> None:
    """The second line of defence: what is shown must make the very bytes, whatever the call's description is."""
    call = Call("dep(address to,address to)", "", "x", (field("to", "raw"),))
    data = keccak(text="dep(address,address)")[:4] + encode(["address"] * 2, ["0x" + "11" * 20, "0x" + "22" * 20])
    assert check_of(decode_call, data, {"dep": call}) == "ENC-CANONICAL"


_OURS = ("slippagePercent", "side", "kind", "orderType", "triggerType", "collateralUsdc", "expiry", "openTimestamp")


def _decided(name: str, kind: str, text: str, raw: int, most: int | None = None) -> Decision:
    """Return what is decided of a leaf of a venue's own struct where the plan has one text, and the message a number."""
    leaves = _ACCOUNT | {name: kind}
    pinned = _deployed(_resolved(_struct(f"XReq(address trader,uint64 {name},uint256 nonce)", leaves)))
    action, _ = read_custom_fields({"struct": "XReq"}, "fields")
    step = Step("own", action, Signer("treasury", bytes(20), "m/0"), {name: AsSigned(text)})
    fields = [each for each in pinned.structs["XReq"].fields if each.path == name]
    plan = Plan("x", "x", "x", (), Limits(slippage_at_most_raw=most), {}, {}, "")
    (decision,) = decide(fields, {name: raw}, step, plan, pinned)
    return decision


@pytest.mark.parametrize("name", _OURS)
def test_a_leaf_that_is_called_like_a_field_of_ours_is_decided_by_its_raw_value_alone(name: str) -> None:
    text = "99000000000000"
    assert list(value_faults({name: AsSigned(text)}, Limits(slippage_at_most_raw=1), "fields")) == []
    for raw, ok in ((int(text), True), (int(text) + 1, False)):
        decision = _decided(name, "raw", text, raw)
        assert (decision.decided_by, decision.ok) == ("plan", ok)


@pytest.mark.parametrize("kind", ["deadlineMs", "nonce", "signed-at", "slippagePercent", "openTimestamp"])
def test_no_argument_of_a_venue_s_own_call_is_the_builder_s(kind: str) -> None:
    pinned = _deployed(_resolved(_call("dep(uint256 a)", {"a": kind}, contract="tradingStorage")))
    (leaf,) = pinned.calls["dep"].fields
    assert (leaf.rule.decider, leaf.rule.parameter) == ("plan", "a")


def test_a_leaf_of_a_venue_s_own_keeps_the_plan_s_limit_and_its_milliseconds() -> None:
    most = 10**10
    for kind, raw, expected in (
        ("slippagePercent", most, str(most)), ("slippagePercent", most + 1, "at most 1 %"), ("raw", most + 1, str(most + 1)),
    ):  # fmt: skip
        decision = _decided("slippagePercent", kind, str(raw), raw, most)
        assert (decision.ok, decision.expected) == (expected == str(raw), expected)
    assert [_decided("at", "opened-ms", "1750000000123", raw).ok for raw in (1750000000123, 1750000000124)] == [
        True,
        False,
    ]


@pytest.mark.parametrize(("member", "names"), [("struct", CATALOGUE), ("call", CALLS)])
def test_what_ships_is_asked_for_by_its_own_action_under_its_own_limits(member: str, names: dict[str, Any]) -> None:
    reader: Callable[..., Any] = read_custom_fields
    for name in names:
        with pytest.raises(PlanError, match=f"this {member} ships"):
            reader({member: name, "slippagePercent": "990000000000"}, "fields")
    assert "slippage_percent_at_most" in PLAN_TEXT
