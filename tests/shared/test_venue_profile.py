"""A venue's profile: what it may say, what is refused, and that nothing of it lets a changed byte be signed unseen."""

import copy
import random
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from eth_utils.crypto import keccak

from airlock_shared.checks.foreseen import foreseen
from airlock_shared.checks.model import Situation
from airlock_shared.cli.comparison_lines import deployment_lines
from airlock_shared.documents.deployment import Deployment, parse_deployment
from airlock_shared.errors import AirlockError, DocumentError
from airlock_shared.ethereum.struct_types import leaves_of
from airlock_shared.plan.model import Exact
from airlock_shared.venue import profile as profiles
from airlock_shared.venue.calls import CALLS, decode_call, selector_of
from airlock_shared.venue.profile import NEVER, VENUE_FORMAT, venue_of
from airlock_shared.venue.profile_words import profile_words, resolve_profile
from airlock_shared.venue.structs import CATALOGUE, LEAF_KINDS
from draws import draws
from refusals import error_of
from second_venue.other_types import PROFILE
from shared.make_payloads import NOW_MS
from shared.world import DEPLOYMENT_TEXT, deployed, deployment, plan

_CANCEL_LEAVES = {"trader": "trader", "order": "raw", "nonce": "nonce", "deadline": "deadlineMs"}
CANCEL: dict[str, Any] = {
    "encode_type": "CancelReq(address trader,uint64 order,uint256 nonce,uint64 deadline)",
    "leaves": _CANCEL_LEAVES,
    "domain": "trading",
    "signer_rule": "trader-only",
    "route": "relayer",
}


def changed(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    made = copy.deepcopy(PROFILE)
    change(made)
    return made


def with_struct(name: str, **members: Any) -> dict[str, Any]:
    """Return the profile whose struct of this name has these members too."""
    return changed(lambda p: p["structs"].setdefault(name, {}).update(members))


def with_call(name: str, signature: str, **leaves: str) -> dict[str, Any]:
    return changed(lambda p: p["calls"].__setitem__(name, {"signature": signature, "leaves": leaves}))


NARROW = "DelegateReq(address trader,address delegate,uint64 expiry,uint64 deadline,string tnc,uint128 nonce)"


def test_a_leaf_that_is_named_as_the_shipped_one_is_of_its_kind_and_another_is_asked_for() -> None:
    renamed = NARROW.replace("uint64 expiry", "uint64 until")
    entry: dict[str, Any] = {"encode_type": renamed, "leaves": {"until": "expiry"}}
    venue = deployed({"format": VENUE_FORMAT, "structs": {"DelegateReq": entry}})
    kinds = {each.path: each.kind for each in venue.structs["DelegateReq"].fields}
    assert (kinds["until"], kinds["trader"], kinds["tnc"]) == ("expiry", "trader", "terms")
    assert venue.structs["DelegateReq"].abi_order == ()
    with pytest.raises(DocumentError, match="not every leaf once"):
        resolve_profile({"format": VENUE_FORMAT, "structs": {"DelegateReq": {"encode_type": renamed}}})


def test_a_call_of_the_venue_is_read_by_its_own_selector_and_no_longer_by_the_shipped_one() -> None:
    calls = deployed(PROFILE).calls
    assert decode_call(keccak(text="claimRewards()")[:4], calls).call.name == "claimTokens"
    with pytest.raises(AirlockError, match="does not know"):
        decode_call(keccak(text="claimTokens()")[:4], calls)


@pytest.mark.parametrize(
    "text", ["go(bytes intent,bytes signature)", "setDelegateWithSig(bytes intent,bytes signature)", ""]
)
def test_the_call_that_executes_an_intent_is_the_venue_s_and_people_compare_it(text: str) -> None:
    ships = CATALOGUE["DelegateReq"]
    pinned = deployed({"format": VENUE_FORMAT, "structs": {"DelegateReq": {"executing": text}}})
    assert pinned.structs["DelegateReq"] == ships._replace(executing=text)
    assert pinned.fingerprint != deployment().fingerprint
    told = f"DelegateReq: the contract executes it by {text or 'no call that is known'} (ships: {ships.executing})"
    assert list(profile_words(pinned.structs, pinned.calls)) == [told]
    assert "".join(told.split()) in "".join("".join(deployment_lines(pinned, words=False)).split())


@pytest.mark.parametrize("name", [*CATALOGUE, *CALLS])
def test_every_leaf_that_ships_is_one_of_the_closed_list_and_its_type_can_hold_it(name: str) -> None:
    found = CATALOGUE.get(name) or CALLS[name]
    leaves = dict(leaves_of(found.structs, next(iter(found.structs))))
    assert [field.path for field in found.fields] == list(leaves)
    assert all(profiles.holds(field.kind, leaves[field.path]) for field in found.fields)
    assert all(field.rule == LEAF_KINDS[field.kind].rule for field in found.fields)


def test_a_release_that_ships_another_type_signs_what_was_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    pinned = CATALOGUE["DelegateReq"].encode_type
    later = CATALOGUE["DelegateReq"]._replace(encode_type=pinned.replace("uint256 expiry", "uint64 expiry"))
    monkeypatch.setitem(CATALOGUE, "DelegateReq", later)
    read = parse_deployment(DEPLOYMENT_TEXT.encode())
    assert read.structs["DelegateReq"].encode_type == pinned
    assert "DelegateReq: member expiry is uint256 (ships: uint64)" in list(profile_words(read.structs, read.calls))


def test_a_difference_is_told_in_words_with_both_type_hashes() -> None:
    pinned = deployed(PROFILE)
    lines = list(profile_words(pinned.structs, pinned.calls))
    text = PROFILE["structs"]["DelegateReq"]["encode_type"]
    shipped = CATALOGUE["DelegateReq"].encode_type
    assert "DelegateReq: member tnc removed (string, the venue's terms, which are part of what is signed)" in lines
    assert "DelegateReq: member expiry is uint64 (ships: uint256)" in lines
    assert f"DelegateReq: the signed type is now {text}" in lines
    assert f"DelegateReq: its type hash is 0x{keccak(text=text).hex()} (ships: 0x{keccak(text=shipped).hex()})" in lines
    assert "call claimTokens: the function is now claimRewards()" in lines
    assert any("TpSlReq: encoded for the contract in the order salt, owner" in line for line in lines)


def test_a_label_is_told_beside_the_member_and_its_kind_and_changes_nothing_else() -> None:
    before, after = (deployed(each) for each in (PROFILE, labelled("End of the mandate (UTC)")))
    told = set(profile_words(after.structs, after.calls)) - set(profile_words(before.structs, before.calls))
    assert told == {'DelegateReq: member expiry, expiry, has the label "End of the mandate (UTC)" beside its name'}
    [(old, new)] = [
        pair
        for name, intent in before.structs.items()
        for pair in zip(intent.fields, after.structs[name].fields, strict=True)
        if pair[0] != pair[1]
    ]
    assert (old.label, new) == ("", old._replace(label="End of the mandate (UTC)"))
    assert deployed(PROFILE).fingerprint != deployed(labelled("End of the mandate (UTC)")).fingerprint


# ---- what is refused ------------------------------------------------------------------------------------------------

_DELEGATE = PROFILE["structs"]["DelegateReq"]
_LEAVES = _DELEGATE["leaves"]
_CLOSE = PROFILE["structs"]["CloseTradeReq"]
_ZEROS = ",".join(f"uint8 z{n}" for n in range(400))


def _delegate(old: str, new: str, **leaves: str) -> dict[str, Any]:
    text = _DELEGATE["encode_type"].replace(old, new)
    return with_struct("DelegateReq", encode_type=text, leaves={**_LEAVES, **leaves})


def _close(old: str, new: str) -> dict[str, Any]:
    return with_struct("CloseTradeReq", encode_type=_CLOSE["encode_type"].replace(old, new))


def _cancel(**members: Any) -> dict[str, Any]:
    return with_struct("CancelReq", **{**CANCEL, **members})


def labelled(label: object, **more: object) -> dict[str, Any]:
    return with_struct("DelegateReq", leaves=_LEAVES | {"expiry": {"kind": "expiry", "label": label} | more})


_MANY = (
    "".join(
        f"{name * 2}({','.join(f'{chr(ord(name) + 1) * 2} m{n}' for n in range(10))})" for name in "ABCDEFGHIJKL"
    ).replace("AA(", "Aa(")
    + "MM(uint8 x)"
)
_APPROVE = {"spender": "spender", "amount": "amountUsdc"}

BAD: dict[str, dict[str, Any]] = {
    "another format": {**PROFILE, "format": "airlock/venue-signed@2"},
    "no difference": {"format": PROFILE["format"], "structs": {}, "calls": {}},
    "a member that is no part of it": {**PROFILE, "checks": {"TIME-HORIZON": "off"}},
    "a check switched off in a struct": with_struct("DelegateReq", unchecked=["TIME-REMAINING"]),
    "who may sign, changed": with_struct("DelegateReq", signer_rule="trader-or-delegate"),
    "a kind that there is not": with_struct("DelegateReq", leaves={**_LEAVES, "expiry": "anything"}),
    "a kind that is no word": with_struct("DelegateReq", leaves={**_LEAVES, "expiry": 7}),

    "a leaf of its own left out": with_struct("CancelReq", **CANCEL | {"leaves": {"trader": "trader", "nonce": "nonce"}}),
    "nothing at all": {"format": VENUE_FORMAT},
    "a leaf too many": with_struct("DelegateReq", leaves={**_LEAVES, "fee": "raw"}),
    "an expiry shown raw": with_struct("DelegateReq", leaves={**_LEAVES, "expiry": "raw"}),
    "a deadline taken for an expiry": with_struct("DelegateReq", leaves={**_LEAVES, "deadline": "expiry"}),
    "two members that ship, exchanged": with_struct("OpenTradeReq", leaves={"_t.tp": "stopLoss", "_t.sl": "takeProfit"}),
    "no deadline": with_struct(
        "DelegateReq", encode_type="DelegateReq(address trader,address delegate,uint64 expiry,uint256 nonce)",
        leaves={k: v for k, v in _LEAVES.items() if k != "deadline"}),
    "two nonces": _delegate("uint256 nonce", "uint256 nonce,uint256 salt", salt="nonce"),
    "a text that nobody decides": _delegate("uint256 nonce", "uint256 nonce,bytes32 extra", extra="raw"),
    "a price that the builder chooses by slippage": with_struct(
        "CloseTradeReq", leaves={**_CLOSE["leaves"], "worst": "slippagePercent"}),
    "an address as a number": _delegate("address delegate", "uint256 delegate"),
    "an array": _delegate("address delegate", "address[] delegate"),
    "another name in the text": _delegate("DelegateReq", "DelegateReq2"),
    "blanks in the text": _delegate(",", ", "),
    "a struct that nothing refers to": with_struct("DelegateReq", encode_type=_DELEGATE["encode_type"] + "Zed(uint256 a)"),
    "a struct within, named as another intent": _close("Position", "TpSlReq"),
    "the domain within": _close("Position", "EIP712Domain"),
    "an executing call of one argument": with_struct("DelegateReq", executing="setDelegateWithSig(bytes signature)"),
    "an executing call with a part twice": with_struct("DelegateReq", executing="go(bytes signature,bytes signature)"),
    "an executing call of other names": with_struct("DelegateReq", executing="go(bytes sig,bytes intent)"),
    "an executing call of other types": with_struct("DelegateReq", executing="go(bytes32 signature,bytes intent)"),
    "an executing call with blanks": with_struct("DelegateReq", executing="go(bytes signature, bytes intent)"),
    "two executing calls": with_struct("DelegateReq", executing="a(bytes signature,bytes intent)" * 2),
    "an executing call and a line": with_struct("DelegateReq", executing="go(bytes signature,bytes intent)\n"),
    "an executing call that is no text": with_struct("DelegateReq", executing={"function": "go", "order": []}),
    "an executing call of a call": changed(lambda p: p["calls"]["claimTokens"].update(executing="")),
    "an order that lacks a member": with_struct("TpSlReq", abi_order=PROFILE["structs"]["TpSlReq"]["abi_order"][1:]),
    "an order of what reads like a name": _cancel(encode_type="CancelReq(address trader,uint256 nonce,bool None)",
        leaves={"trader": "trader", "nonce": "nonce", "None": "raw"}, abi_order=[None, "nonce", "trader"]),
    "a text that is longer than people read": _delegate(")", f",{_ZEROS})", **{f"z{n}": "zero" for n in range(400)}),
    "a struct within itself": _cancel(encode_type=CANCEL["encode_type"].replace("(", "(CancelReq again,")),
    "two structs within each other": _cancel(
        encode_type=CANCEL["encode_type"].replace("(", "(Aa a,") + "Aa(Bb b)Bb(Aa a)"),
    "a struct of a million million leaves": _cancel(
        encode_type=CANCEL["encode_type"].replace("(", "(Aa a,") + _MANY),
    "a struct of its own without its route": with_struct("CancelReq", **{k: v for k, v in CANCEL.items() if k != "route"}),
    "a call that no action makes": with_call("withdrawAll", "withdrawAll()"),
    "the token's approval": with_call("approve", "approve(address spender,uint128 amount)", **_APPROVE),
    "an approval under another name": with_call("approve", "allow(address spender,uint256 amount)", **_APPROVE),
    "a call without its deciding argument": with_call("setDelegate", "setDelegate(address delegate)", delegate="delegate"),
    "a call with an argument that nothing decides": with_call(
        "claimTokens", "claimRewards(address to)", to="raw"),
    "a call with an array": with_call("removeDelegate", "removeDelegates(address[] delegate)", delegate="delegate"),
    "a call with a blank": with_call("claimTokens", "claimRewards( )"),
    "another call's function": with_call("claimTokens", "cancelRequest()"),
    "a label that is no text": labelled(7),
    "a label longer than a line": labelled("x" * 61),
    "a blank before a label": labelled(" until"),
    "a blank after a label": labelled("until "),
    "a line of its own in a label": labelled("until\nplan 5 USDC: equal"),
    "a line of its own at a label's end": labelled("until\n"),
    "another alphabet's letter in a label": labelled("unt\u0456l"),
    "the end of a quotation in a label": labelled('until", as the plan says'),
    "a backslash in a label": labelled("until\\n"),
    "a unit beside a label": labelled("until", unit="USDC"),
    "who decides it, beside a label": labelled("until", by="builder"),
    "a label without a kind": with_struct("DelegateReq", leaves={**_LEAVES, "expiry": {"label": "until"}}),
    "one function for two calls": changed(lambda p: p["calls"].update(
        claimTokens={"signature": "go()", "leaves": {}}, cancelRequest={"signature": "go()", "leaves": {}})),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_what_a_profile_may_not_say_is_refused_by_name(case: str) -> None:
    error = error_of(DocumentError, resolve_profile, BAD[case])
    assert error.check == "DOC-FIELD" or (error.check == "DOC-VENUE" and error.do)


@pytest.mark.parametrize(
    "case", [case for case in BAD if case not in ("another format", "no difference", "nothing at all")]
)
def test_what_is_refused_of_a_profile_is_refused_in_a_document_that_was_made_by_hand(case: str) -> None:
    whole = resolve_profile(PROFILE)
    for part in ("structs", "calls"):
        for name, entry in BAD[case].get(part, {}).items():
            if entry != PROFILE[part].get(name):
                whole[part][name] = {**whole[part].get(name, {"abi_order": []} if part == "structs" else {}), **entry}
    whole |= {name: member for name, member in BAD[case].items() if name not in PROFILE}
    with pytest.raises(DocumentError):
        venue_of(whole)


@pytest.mark.parametrize("inner", [7, 100])
def test_a_struct_of_more_leaves_than_people_read_is_refused(inner: int) -> None:
    """A struct within a struct: 28 times 7 leaves and four are 200, and 28 times 100 are not."""
    members = ",".join(f"uint8 m{n}" for n in range(inner))
    text = CANCEL["encode_type"].replace("(", f"({','.join(f'Aa a{n}' for n in range(28))},") + f"Aa({members})"
    raw = {f"a{n}.m{m}": "raw" for n in range(28) for m in range(inner)}
    profile = _cancel(encode_type=text, leaves=_CANCEL_LEAVES | raw)
    if inner == 7:
        assert len(deployed(profile).structs["CancelReq"].fields) == 200
        return
    with pytest.raises(DocumentError, match="too many leaves"):
        resolve_profile(profile)


@pytest.mark.parametrize("never", NEVER)
def test_a_function_that_moves_money_or_power_is_never_a_venue_s_form_of_a_call(never: str) -> None:
    function = never.partition("(")[0]
    for signature in (never, f"{function}(address delegate,uint256 expiry)"):
        with pytest.raises(DocumentError):
            resolve_profile(with_call("setDelegate", signature, delegate="delegate", expiry="expiry"))


@pytest.mark.parametrize("other", [*NEVER, *(call.signature for call in CALLS.values())])
def test_no_searched_for_signature_has_the_selector_of_another(other: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A colliding name costs an hour; here the hash of one is given, as if it had been found."""
    found = "zz1f3a9(address delegate,uint32 expiry)"
    monkeypatch.setattr(profiles, "selector_of", lambda text: selector_of(other if text == found else text))
    with pytest.raises(DocumentError, match="selector of another function"):
        resolve_profile(with_call("setDelegate", found, delegate="delegate", expiry="expiry"))


def _other_profile(draw: random.Random) -> dict[str, Any]:
    """Return the profile with another width, name of a member, order of an encoding or label, or two meanings exchanged."""
    profile = copy.deepcopy(PROFILE)
    entry = draw.choice(list(profile["structs"].values()))
    text, leaves = entry["encode_type"], entry["leaves"]
    flat = [path for path in leaves if "." not in path and path not in entry.get("abi_order", ())]
    way = draw.choice(["width", "name", "meanings", "order", "label"])
    if way == "width":
        entry["encode_type"] = text.replace("uint64", draw.choice(["uint8", "uint32", "uint256", "int64"]), 1)
    elif way == "name" and flat:
        old = draw.choice(flat)
        entry["encode_type"] = re.sub(rf" {old}([,)])", r" other\1", text)
        leaves["other"] = leaves.pop(old)
    elif way == "meanings":
        one, other = draw.sample(list(leaves), 2)
        leaves[one], leaves[other] = leaves[other], leaves[one]
    elif way == "label":
        path = draw.choice(list(leaves))
        leaves[path] = {"kind": leaves[path], "label": f"Value {draw.randrange(100)}"}
    else:
        members = [member.split(" ")[1] for member in text.partition("(")[2].partition(")")[0].split(",")]
        entry["abi_order"] = draw.sample(members, len(members))
    return profile


def test_another_profile_is_refused_or_shown_to_people_before_it_is_pinned() -> None:
    draw, usual, outcomes = random.Random(16), deployed(PROFILE), Counter[str]()
    lines = list(deployment_lines(usual, words=False))
    for _ in range(draws(40, 100)):
        try:
            pinned = deployed(_other_profile(draw))
        except DocumentError:
            outcomes["refused"] += 1
            continue
        if (pinned.structs, pinned.calls) == (usual.structs, usual.calls):
            continue
        assert list(deployment_lines(pinned, words=False)) != lines
        assert pinned.fingerprint != usual.fingerprint
        _decides_every_leaf(pinned)
        outcomes["shown"] += 1
    assert outcomes["refused"] > 0
    assert outcomes["shown"] > draws(20, 50)


def _decides_every_leaf(pinned: Deployment) -> None:
    """What a profile that is taken can decide stays within the closed list."""
    for intent in pinned.structs.values():
        assert all(field.rule == LEAF_KINDS[field.kind].rule for field in intent.fields)
        assert {intent.trader, intent.nonce} <= {field.path for field in intent.fields}
        assert bool(intent.deadline) >= bool(CATALOGUE[intent.name].deadline)
    for call in pinned.calls.values():
        assert all(field.rule == LEAF_KINDS[field.kind].rule for field in call.fields)


@pytest.mark.parametrize(("opened_s", "refused"), [
    (NOW_MS // 1000 - 60, set()), (NOW_MS // 1000, set()), (NOW_MS // 1000 + 3600, {"TIME-OPENED"}),
])  # fmt: skip
def test_a_plan_s_time_of_opening_is_foreseen_in_the_venue_s_milliseconds(opened_s: int, refused: set[str]) -> None:
    agreed = plan("requests")
    (step,) = [step for step in agreed.steps.values() if step.action.name == "close"]
    step = step._replace(values={**step.values, "openTimestamp": Exact(opened_s, str(opened_s))})
    told = foreseen(Situation(agreed._replace(steps={step.id: step}), deployed(PROFILE), NOW_MS))
    assert {error.check for error in told} == refused
