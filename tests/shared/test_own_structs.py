"""Structs that one venue alone has: checked like the catalogue's, decided by the plan's raw values."""

import json
from typing import Any

import pytest

from airlock_shared.checks.foreseen import foreseen
from airlock_shared.checks.model import IntentCase, Situation
from airlock_shared.cli.comparison_lines import changed_lines, deployment_lines
from airlock_shared.documents.deployment import Deployment, parse_deployment
from airlock_shared.documents.requests import read_request
from airlock_shared.errors import AirlockError, DocumentError
from airlock_shared.plan.reader import parse_plan
from airlock_shared.venue.profile import VENUE_FORMAT
from airlock_shared.venue.profile_words import resolve_profile
from airlock_shared.venue.structs import is_custom
from plans import TRADER as TRADER
from plans import plan_head
from shared.make_payloads import seal, types_in
from shared.world import DEPLOYMENT_TEXT, confirm, deployment, examined, situation, to_bytes
from shared.world import deployed as with_profile

ENCODE_TYPE = (
    "MoveReq(address trader,Target to,bool urgent,bytes4 tag,string note,int256 delta,uint256 deadline,uint256 nonce)"
    "Target(address account,uint256 slot)"
)
LEAVES = {
    "trader": "trader", **dict.fromkeys(("to.account", "to.slot", "urgent", "tag", "note", "delta"), "raw"),
    "deadline": "deadlineMs", "nonce": "nonce",
}  # fmt: skip
ENTRY: dict[str, Any] = {
    "encode_type": ENCODE_TYPE, "leaves": LEAVES, "domain": "trading", "signer_rule": "trader-only", "route": "relayer",
}  # fmt: skip
OTHER = "0x3eE3ae6EE4aFdA2CCe410EAb1365664FfBAD2b45"
PLAN = f"""{plan_head("custom", deployment="venue", deadline_at_most="30m")}
[[steps]]
id = "move"
action = "custom"
signer = "treasury"
[steps.fields]
struct = "MoveReq"
trader = "{TRADER}"
"to.account" = "{OTHER}"
"to.slot" = "7"
urgent = true
tag = "0xAABBCCDD"
delta = "-5"
note = "by hand"
"""


def deployed(entry: dict[str, Any]) -> Deployment:
    return with_profile({"format": VENUE_FORMAT, "structs": {"MoveReq": entry}})


def _message(now_ms: int) -> dict[str, Any]:
    return {
        "trader": TRADER, "to": {"account": OTHER, "slot": "7"}, "urgent": True, "tag": "0xaabbccdd", "note": "by hand",
        "delta": "-5", "deadline": str(now_ms + 600_000), "nonce": "11",
    }  # fmt: skip


def _situation() -> Situation:
    return situation()._replace(plan=parse_plan(PLAN.encode()), deployment=deployed(ENTRY))


def _item(message: dict[str, Any], encode_type: str = ENCODE_TYPE) -> dict[str, Any]:
    payload = {
        "intent": "MoveReq", "signerRule": "trader-only", "domain": _situation().deployment.document["domains"]["trading"],
        "primaryType": "MoveReq", "types": types_in(encode_type), "message": message,
    }  # fmt: skip
    seal(payload)
    return {
        "step": "move", "action": "custom", "endpoint": "/v2/other", "fields": {}, "payload": payload,
        "route": {"to": "relayer"}, "signer": {"address": TRADER, "path": "m/44'/60'/0'/0/0"},
    }  # fmt: skip


def _judge(item: dict[str, Any], where: Situation | None = None) -> set[str]:
    return {v.check for v in examined(read_request(item, "item"), where or _situation()).verdicts.refused()}


def test_own_structs_come_by_name_in_whatever_order_their_document_has_them() -> None:
    own = {name: ENTRY | {"encode_type": ENCODE_TYPE.replace("MoveReq", name)} for name in ("TwoReq", "OneReq")}
    venue = with_profile({"format": VENUE_FORMAT, "structs": own})
    assert [name for name in venue.structs if name in own] == ["OneReq", "TwoReq"]


def test_an_own_struct_with_the_plans_values_passes_every_check_and_the_second_opinion() -> None:
    found = examined(read_request(_item(_message(situation().now_ms)), "item"), _situation())
    assert found.verdicts.blocking() == []
    assert isinstance(found.case, IntentCase)
    assert is_custom(found.case.intent)
    confirm(found.case)
    not_pinned = _situation()._replace(deployment=deployment())
    assert "TYPES-KNOWN" in _judge(_item(_message(situation().now_ms)), not_pinned)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("to", {"account": OTHER, "slot": "8"}),
        ("to", {"account": TRADER, "slot": "7"}),
        ("urgent", False),
        ("tag", "0xaabbccde"),
        ("note", "By hand"),
        ("delta", "5"),
    ],
)
def test_every_leaf_of_an_own_struct_is_the_plans_to_decide(path: str, value: object) -> None:
    assert _judge(_item(_message(situation().now_ms) | {path: value})) == {"PLAN-FIELD"}


CODE = "0xd0" + 31 * "11"


@pytest.mark.parametrize(
    ("member", "kind", "value", "raw"),
    [
        ("string orderType", "raw", "limit", "limit"),
        ("uint8 orderType", "orderType", 2, "2"),
        ("bytes32 code", "code", CODE.upper().replace("X", "x"), CODE),
    ],
)
def test_a_shipped_name_or_kind_in_an_own_struct_is_raw(member: str, kind: str, value: object, raw: str) -> None:
    name = member.partition(" ")[2]
    encode_type = ENCODE_TYPE.replace("string note", member)
    leaves = {path: kinds for path, kinds in LEAVES.items() if path != "note"} | {name: kind}
    plan = PLAN.replace('note = "by hand"', f"{name} = {json.dumps(value)}")
    where = _situation()._replace(
        plan=parse_plan(plan.encode()), deployment=deployed(ENTRY | {"encode_type": encode_type, "leaves": leaves})
    )
    message = _message(situation().now_ms) | {name: raw}
    del message["note"]
    assert (_judge(_item(message, encode_type), where), list(foreseen(where))) == (set(), [])


_OTHER = {"trader": "trader", "nonce": "nonce", "deadline": "deadlineMs"}
_MEMBERS = "(address trader,uint256 nonce,uint256 deadline)"
REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("MoveReq", {"encode_type": "MoveReq(address trader,uint256 nonce", "leaves": {"trader": "trader", "nonce": "nonce"}}),
    ("MoveReq", {"encode_type": ENCODE_TYPE.partition("Target(")[0]}),
    ("MoveReq", {"encode_type": ENCODE_TYPE.replace("Target", "uint7")}),
    *((name, {"encode_type": name + _MEMBERS, "leaves": _OTHER})
      for name in ("DelegateReQ", "EIP712Domain", "bytes33", "function", "Move$Req")),
    ("MoveReq", {"encode_type": 5}),
    *(("MoveReq", {"leaves": LEAVES | {path: kind}}) for path, kind in (
        ("trader", "nonce"), ("missing", "raw"), ("urgent", "nonce"), ("note", "deadlineMs"), ("deadline", "nonce"),
        ("nonce", "trader"), ("trader", "raw"), ("nonce", "raw"), ("to.account", "trader"))),
    ("MoveReq", {"domain": "other"}),
    ("MoveReq", {"signer_rule": "anybody"}),
    ("MoveReq", {"route": "batched-market"}),
    ("MoveReq", {"more": "x"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "change"), REFUSED)
def test_what_is_no_struct_is_refused_in_a_profile_and_in_a_document_by_hand(name: str, change: dict[str, Any]) -> None:
    with pytest.raises(DocumentError):
        resolve_profile({"format": VENUE_FORMAT, "structs": {name: ENTRY | change}})
    document = json.loads(DEPLOYMENT_TEXT)
    document["signed"]["structs"][name] = ENTRY | {"abi_order": [], "executing": ""} | change
    with pytest.raises(DocumentError):
        parse_deployment(to_bytes(document))


@pytest.mark.parametrize(
    "fields", ['{ trader = "x" }', "{ struct = 5 }", '{ struct = "MoveReq", note = { at_most = "1" } }', '"MoveReq"']
)
def test_a_custom_step_that_is_no_list_of_raw_values_is_a_mistake_in_the_plan(fields: str) -> None:
    start = PLAN.index("[steps.fields]")
    with pytest.raises(AirlockError, match="PLAN-F"):
        parse_plan((PLAN[:start] + f"fields = {fields}\n").encode())


CHANGES = [
    ({"domain": "referral"}, "signed under the trading domain", "signed under the referral domain"),
    ({"signer_rule": "trader-or-delegate"}, "domain, trader-only,", "domain, trader-or-delegate,"),
    ({"route": "core-api"}, "sent to relayer", "sent to core-api"),
    ({"leaves": LEAVES | {"deadline": "raw"}}, "deadline added: uint256, deadlineMs:", "deadline added: uint256, raw:"),
    ({"leaves": LEAVES | {"to.slot": "nonce", "nonce": "raw"}},
     " nonce added: uint256, nonce:", "slot added: uint256, nonce:"),
    ({"encode_type": ENCODE_TYPE.replace("bool", "uint8")}, "urgent added: bool,", "urgent added: uint8,"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "old", "new"), CHANGES)
def test_what_differs_from_a_pinned_struct_is_shown_old_beside_new(change: dict[str, Any], old: str, new: str) -> None:
    before, after = (deployed(entry) for entry in (ENTRY, ENTRY | change))
    marked = list(changed_lines(*(list(deployment_lines(each, words=False)) for each in (before, after))))
    then, now = (" ".join(line.strip() for mark, line in marked if mark == sign) for sign in "-+")
    assert (old in then, old in now, new in then, new in now) == (True, False, False, True)
    assert before.fingerprint != after.fingerprint
