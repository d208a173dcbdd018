"""A call that one venue alone has: what its profile may say of it, and that the plan decides every argument."""

import copy
import json
from typing import Any

import pytest
from eth_abi.abi import encode
from eth_utils.crypto import keccak
from hypothesis import given
from hypothesis import strategies as st

from airlock_shared.checks.foreseen import foreseen
from airlock_shared.checks.model import CallCase, Situation
from airlock_shared.cli.comparison_lines import changed_lines
from airlock_shared.documents.deployment import Deployment, parse_deployment
from airlock_shared.errors import DocumentError, PlanError
from airlock_shared.plan.reader import parse_plan
from airlock_shared.venue.calls import structs_of_call
from airlock_shared.venue.profile import MAX_OF_EACH, NEVER
from airlock_shared.venue.profile_words import profile_words
from refusals import check_of
from shared.make_payloads import DESK, NOW_MS, TREASURY
from shared.world import DEPLOYMENT_TEXT, VECTORS, confirm, deployed, examined_of, good, refusals, situation, to_bytes

FOLDER = "transactions"
DEPOSIT = {
    "signature": "depositLp(uint128 amount,(address to,bool lock) terms,bytes32 tag,int64 shift)",
    "leaves": {"amount": "raw", "terms.to": "raw", "terms.lock": "raw", "tag": "raw", "shift": "zero"},
    "contract": "tradingStorage",
}  # fmt: skip
TAG = "0x" + "ab" * 32
VALUES = {"amount": "5000000", "terms.to": TREASURY, "terms.lock": "true", "tag": TAG}


def _own(**changes: Any) -> dict[str, Any]:
    entry = copy.deepcopy(DEPOSIT)
    entry["leaves"]["shift"] = "raw"  # type: ignore[index]
    return {"depositLp": {name: member for name, member in (entry | changes).items() if member is not None}}


def _deployed(calls: dict[str, Any]) -> Deployment:
    return deployed({"format": "airlock/venue-signed@1", "structs": {}, "calls": calls})


def _situation(
    values: dict[str, str], calls: dict[str, Any] | None = None, call: str = "depositLp", signer: str = "treasury"
) -> Situation:
    text = (VECTORS / "transactions/plan.toml").read_text()
    fields = ", ".join(f'"{path}" = "{value}"' for path, value in ({"call": call} | values).items())
    step = f'\n[[steps]]\nid = "own"\naction = "custom"\nsigner = "{signer}"\nfields = {{ {fields} }}\n'
    return Situation(parse_plan((text + step).encode()), _deployed(calls or _own()), NOW_MS)


def _document(
    amount: int = 5_000_000, to: str = TREASURY, lock: bool = True, tag: bytes = b"\xab" * 32, shift: int = -3
) -> dict[str, Any]:
    document = copy.deepcopy(good("approve", FOLDER))
    item, deployment = document["requests"][0], json.loads(DEPLOYMENT_TEXT)
    item |= {"step": "own", "action": "custom", "endpoint": "/v2/lp/deposit", "fields": {"any": "thing"}}
    kinds = ["uint128", "(address,bool)", "bytes32", "int64"]
    data = keccak(text=f"depositLp({','.join(kinds)})")[:4] + encode(kinds, [amount, (to, lock), tag, shift])
    item["payload"] |= {"to": deployment["contracts"]["tradingStorage"], "data": "0x" + data.hex()}
    return document


WHOLE = VALUES | {"shift": "-3"}


def test_it_is_signed_when_the_plan_says_every_argument_and_other_libraries_agree() -> None:
    found = examined_of(_document(), _situation(WHOLE))
    assert found.verdicts.blocking() == []
    assert isinstance(found.case, CallCase)
    assert [decision.decided_by for decision in found.case.decisions] == 5 * ["plan"]
    confirm(found.case)


OTHERS = {
    "amount": _document(amount=5_000_001), "to": _document(to=DESK), "lock": _document(lock=False),
    "tag": _document(tag=b"\xab" * 31 + b"\xac"), "shift": _document(shift=3),
}  # fmt: skip


@pytest.mark.parametrize("document", OTHERS.values(), ids=OTHERS.keys())
def test_an_argument_that_differs_from_the_plan_is_refused(document: dict[str, Any]) -> None:
    assert refusals(examined_of(document, _situation(WHOLE)).verdicts.found) == {"PLAN-FIELD"}


@pytest.mark.parametrize("extra", [{"more": "1"}, {"terms": "x"}, {"nonce": "7"}])
def test_what_the_plan_names_and_no_argument_has_is_refused(extra: dict[str, str]) -> None:
    found = examined_of(_document(), _situation(WHOLE | extra))
    assert refusals(found.verdicts.found) == {"PLAN-FIELD"}
    (verdict,) = [each for each in found.verdicts.found if each.check == "PLAN-FIELD"]
    assert verdict.where == next(iter(extra))


def test_a_key_that_the_plan_calls_a_delegate_makes_none() -> None:
    with pytest.raises(PlanError, match="by no delegate"):
        _situation(WHOLE, signer="desk")


def test_it_goes_to_its_pinned_contract_from_the_signer_and_without_money() -> None:
    for member, value, check in (
        ("to", DESK, "TX-TO"), ("from", DESK, "TX-FROM"), ("value", "0x1", "TX-VALUE"), ("chainId", 1, "TX-CHAIN"),
    ):  # fmt: skip
        document = _document()
        document["requests"][0]["payload"][member] = value
        assert refusals(examined_of(document, _situation(WHOLE)).verdicts.found) == {check}


def test_a_delegate_does_not_make_it_for_a_trader() -> None:
    document = _document()
    inner = bytes.fromhex(document["requests"][0]["payload"]["data"][2:])
    wrapped = bytes.fromhex("9a10cc32") + encode(["address", "bytes"], [TREASURY, inner])
    document["requests"][0]["payload"]["data"] = "0x" + wrapped.hex()
    assert "TX-DELEGABLE" in refusals(examined_of(document, _situation(WHOLE)).verdicts.found)


REFUSED: dict[str, dict[str, Any]] = {
    "no contract": _own(contract=None),
    "the token": _own(contract="usdc"),
    "a contract that is a path": _own(contract="a.b"),
    "a number for a contract": _own(contract=7),
    "a name that is not the function's": {"deposit": _own()["depositLp"]},
    "bytes": _own(signature="depositLp(bytes data)", leaves={"data": "raw"}),
    "an argument of the function's own type": _own(signature="depositLp((depositLp x) y)", leaves={}),
    "an array": _own(signature="depositLp(uint256[] amounts)", leaves={"amounts": "raw"}),
    "an argument without a kind": _own(leaves={}),
    "a kind of another type": _own(leaves={**_own()["depositLp"]["leaves"], "amount": "trader"}),
    "an unknown kind": _own(leaves={**_own()["depositLp"]["leaves"], "amount": "wei"}),
    "an argument called call": _own(signature="depositLp(uint256 call)", leaves={"call": "raw"}),
    "a title": _own(title="Withdraw nothing"),
    "another contract of a shipped call with arguments": {"setDelegate": {"contract": "tradingStorage"}},
    "a shipped call to the token": {"claimTokens": {"contract": "usdc"}},
    "a shipped call to no pinned contract": {"claimTokens": {"contract": "vault"}},
    "too many": {f"f{n}": {"signature": f"f{n}()", "leaves": {}, "contract": "referral"} for n in range(MAX_OF_EACH + 1)},
}  # fmt: skip


@pytest.mark.parametrize("calls", REFUSED.values(), ids=REFUSED.keys())
def test_what_a_profile_may_not_say_of_a_call_is_refused(calls: dict[str, Any]) -> None:
    assert check_of(_deployed, calls) in ("DOC-VENUE", "DOC-FIELD")


@pytest.mark.parametrize("never", NEVER)
def test_no_call_of_its_own_in_a_document_that_was_written_by_hand_has_the_name_of_another(never: str) -> None:
    """The reader of the signing machine says so by itself: nothing that resolves a profile has looked at this one."""
    document = json.loads(DEPLOYMENT_TEXT)
    leaves = {each.name: "raw" for each in structs_of_call(never)[""]}
    entry = {"signature": never, "leaves": leaves, "contract": "tradingStorage"}
    document["signed"]["calls"][never.partition("(")[0]] = entry
    with pytest.raises(DocumentError, match=r"the name of another function|not a signature|approve is the token"):
        parse_deployment(to_bytes(document))


def test_people_read_all_of_it_before_they_pin_it() -> None:
    pinned = _deployed(_own(value="fee"))
    lines = list(profile_words(pinned.structs, pinned.calls))
    assert lines[0] == "call depositLp: a call that does not ship; its meaning is this profile's alone"
    assert lines[1] == "call depositLp: made to the pinned tradingStorage, by the signer for itself"
    for path, solidity in (("amount", "uint128"), ("terms.to", "address"), ("tag", "bytes32"), ("shift", "int64")):
        assert any(line.startswith(f"call depositLp: member {path} added: {solidity}, raw") for line in lines)
    assert f"call depositLp: the function is now {DEPOSIT['signature']}" in lines
    assert any("native currency may be sent with it" in line for line in lines)
    assert any("its selector is 0x" in line and "ships" not in line for line in lines)


def test_rewards_are_claimed_at_the_contract_that_people_pinned_for_it() -> None:
    pinned = _deployed({"claimTokens": {"contract": "tradingStorage"}})
    told = "call claimTokens: made to the pinned tradingStorage, by the signer for itself (ships: tradingRouter)"
    assert list(profile_words(pinned.structs, pinned.calls)) == [told]
    document, where = good("keeper-rewards", FOLDER), situation(FOLDER)._replace(deployment=pinned)
    document["requests"][0]["payload"]["to"] = pinned.document["contracts"]["tradingStorage"]
    assert refusals(examined_of(document, where).verdicts.found) == set()
    assert refusals(examined_of(good("keeper-rewards", FOLDER), where).verdicts.found) == {"TX-TO"}


def test_a_call_that_increases_something_else_than_a_position_is_for_a_pnl_pair_too() -> None:
    leaves = {"pairIndex": "pairIndex"}
    entry = {"signature": "increaseCap(uint256 pairIndex)", "leaves": leaves, "contract": "referral"}
    assert list(foreseen(_situation({"pairIndex": "7"}, {"increaseCap": entry}, "increaseCap"))) == []


def test_a_zero_that_is_not_zero_is_refused() -> None:
    kinds = _own()["depositLp"]["leaves"] | {"amount": "zero"}
    situation = _situation({name: value for name, value in WHOLE.items() if name != "amount"}, _own(leaves=kinds))
    assert refusals(examined_of(_document(), situation).verdicts.found) == {"PLAN-FIELD"}
    assert refusals(examined_of(_document(amount=0), situation).verdicts.found) == set()


@given(st.lists(st.sampled_from("abc"), max_size=8), st.lists(st.sampled_from("abc"), max_size=8))
def test_lines_are_compared_in_their_order(old: list[str], new: list[str]) -> None:
    marked = list(changed_lines(old, new))
    assert [line for mark, line in marked if mark != "+"] == old
    assert [line for mark, line in marked if mark != "-"] == new
    assert any(mark != " " for mark, _ in marked) == (old != new)
