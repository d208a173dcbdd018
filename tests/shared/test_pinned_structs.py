"""Structs that an operator pins: checked like the catalogue's, decided by the plan's raw values."""

from __future__ import annotations

from typing import Any

import pytest
from eth_abi.abi import encode
from eth_account.messages import _hash_eip191_message, encode_typed_data

from airlock_shared.checks.model import IntentCase, Situation
from airlock_shared.documents.requests import read_request
from airlock_shared.errors import AirlockError
from airlock_shared.plan.reader import parse_plan
from airlock_shared.venue.pinned_structs import custom_intent, with_pins
from airlock_shared.venue.structs import is_custom
from shared.world import confirm, deployment, examined, situation

ENCODE_TYPE = (
    "MoveReq(address trader,Target to,bool urgent,bytes4 tag,string note,int256 delta,uint256 deadline,uint256 nonce)"
    "Target(address account,uint256 slot)"
)
PIN = {
    "encode_type": ENCODE_TYPE, "domain": "trading", "signer_rule": "trader-only", "route": "relayer",
    "trader": "trader", "nonce": "nonce", "deadline": "deadline",
}  # fmt: skip
TRADER = "0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D"
OTHER = "0x3eE3ae6EE4aFdA2CCe410EAb1365664FfBAD2b45"
PLAN = f"""
format = "airlock/plan@1"
[ceremony]
id = "custom"
title = "A struct of the venue's own"
deployment = "venue"
[limits]
deadline_at_most = "30m"
[signers.treasury]
address = "{TRADER}"
path = "m/44'/60'/0'/0/0"
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


def _message(now_ms: int) -> dict[str, Any]:
    return {
        "trader": TRADER, "to": {"account": OTHER, "slot": "7"}, "urgent": True, "tag": "0xaabbccdd", "note": "by hand",
        "delta": "-5", "deadline": str(now_ms + 600_000), "nonce": "11",
    }  # fmt: skip


def _situation() -> Situation:
    known = deployment()._replace(structs=with_pins(deployment().structs, [PIN]))
    return situation()._replace(plan=parse_plan(PLAN.encode()), deployment=known)


def _item(message: dict[str, Any]) -> dict[str, Any]:
    where = _situation()
    trading = where.deployment.document["domains"]["trading"]
    types = {
        "MoveReq": [
            {"name": n, "type": t}
            for t, n in (m.split(" ") for m in ENCODE_TYPE[len("MoveReq(") :].split(")")[0].split(","))
        ],
        "Target": [{"name": "account", "type": "address"}, {"name": "slot", "type": "uint256"}],
    }
    domain = [{"name": n, "type": t} for n, t in (("name", "string"), ("version", "string"), ("chainId", "uint256"),
                                                  ("verifyingContract", "address"))]  # fmt: skip
    numbers = message | {"to": message["to"] | {"slot": int(message["to"]["slot"])}}
    numbers |= {name: int(message[name]) for name in ("delta", "deadline", "nonce")}
    full = {"types": {"EIP712Domain": domain, **types}, "primaryType": "MoveReq", "domain": trading, "message": numbers}
    values = (
        numbers["trader"], tuple(numbers["to"].values()), numbers["urgent"], bytes.fromhex(numbers["tag"][2:]),
        numbers["note"], numbers["delta"], numbers["deadline"], numbers["nonce"],
    )  # fmt: skip
    kind = "(address,(address,uint256),bool,bytes4,string,int256,uint256,uint256)"
    payload = {
        "intent": "MoveReq", "signerRule": "trader-only", "domain": trading, "primaryType": "MoveReq", "types": types,
        "message": message, "digest": "0x" + _hash_eip191_message(encode_typed_data(full_message=full)).hex(),
        "encodedIntent": "0x" + encode([kind], [values]).hex(),
    }  # fmt: skip
    return {
        "step": "move", "action": "custom", "endpoint": "/v2/other", "fields": {}, "payload": payload,
        "route": {"to": "relayer"}, "signer": {"address": TRADER, "path": "m/44'/60'/0'/0/0"},
    }  # fmt: skip


def _judge(item: dict[str, Any], where: Situation | None = None) -> set[str]:
    return {v.check for v in examined(read_request(item), where or _situation()).verdicts.refused()}


def test_a_pinned_struct_with_the_plans_values_passes_every_check_and_the_second_opinion() -> None:
    found = examined(read_request(_item(_message(situation().now_ms))), _situation())
    assert found.verdicts.blocking() == []
    assert isinstance(found.case, IntentCase)
    assert is_custom(found.case.intent)
    confirm(found.case)


def test_the_same_payload_is_refused_where_the_struct_is_not_pinned() -> None:
    item = _item(_message(situation().now_ms))
    assert "TYPES-KNOWN" in _judge(item, _situation()._replace(deployment=deployment()))


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
def test_every_leaf_of_a_pinned_struct_is_the_plans_to_decide(path: str, value: object) -> None:
    assert _judge(_item(_message(situation().now_ms) | {path: value})) == {"PLAN-FIELD"}


@pytest.mark.parametrize(
    "change",
    [
        {"encode_type": "MoveReq(address trader,uint256[] nonces)"},
        {"encode_type": "MoveReq(address trader, uint256 nonce)"},
        {"encode_type": "MoveReq(address trader,uint256 nonce"},
        {"encode_type": "MoveReq(address trader,Target to,uint256 nonce)"},
        {"encode_type": "MoveReq(address trader,uint nonce)"},
        {"encode_type": ENCODE_TYPE + "Unused(bool x)"},
        {"encode_type": "DelegateReq(address trader,uint256 nonce,uint256 deadline)"},
        {"encode_type": "EIP712Domain(address trader,uint256 nonce,uint256 deadline)"},
        {"encode_type": ""},
        {"encode_type": "bytes33(address trader,uint256 nonce,uint256 deadline)"},
        {"encode_type": "function(address trader,uint256 nonce,uint256 deadline)"},
        {"encode_type": "MoveReq(address trader,uint7 to,uint256 nonce,uint256 deadline)uint7(bool x)"},
        {"encode_type": "Move$Req(address trader,uint256 nonce,uint256 deadline)"},
        {"trader": "nonce"},
        {"trader": "missing"},
        {"nonce": "urgent"},
        {"deadline": "note"},
        {"deadline": "missing"},
        {"deadline": "nonce"},
        {"nonce": "trader"},
        {"encode_type": "MoveReq(MoveReq again,address trader,uint256 nonce,uint256 deadline)"},
        {"encode_type": ENCODE_TYPE.replace("Target", "DelegateReq")},
        {"domain": "other"},
        {"signer_rule": "anybody"},
        {"route": "batched-market"},
        {"encode_type": 5},
        {"more": "x"},
    ],
)
def test_a_pin_that_is_no_struct_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(AirlockError):
        custom_intent(PIN | change)


@pytest.mark.parametrize(
    "fields",
    ['{ trader = "x" }', "{ struct = 5 }", '{ struct = "MoveReq", note = { at_most = "1" } }', '"MoveReq"', "{}"],
)
def test_a_custom_step_that_is_no_list_of_raw_values_is_a_mistake_in_the_plan(fields: str) -> None:
    start = PLAN.index("[steps.fields]")
    with pytest.raises(AirlockError, match="PLAN-F"):
        parse_plan((PLAN[:start] + f"fields = {fields}\n").encode())


def test_a_pin_of_a_struct_that_the_profile_describes_is_not_read() -> None:
    of_profile, other = {"MoveReq": custom_intent(PIN)}, PIN | {"route": "core-api"}
    assert with_pins(of_profile, [other]) == of_profile
    assert with_pins(deployment().structs, [PIN, other])["MoveReq"].route == "core-api"
    assert [*with_pins(deployment().structs, [PIN])] == [*deployment().structs, "MoveReq"]
