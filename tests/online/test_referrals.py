"""A referral code read from two sources: what each tells, what is not told, where they differ, what is in the way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from airlock_online.cli.main import program
from airlock_online.clients.builder import BuilderClient
from airlock_online.clients.http import Http
from airlock_online.clients.rpc import RpcClient
from airlock_online.config import ReferralViews
from airlock_online.home import OnlineHome
from airlock_online.preparing.referral_warnings import in_the_way, wish_of
from airlock_online.readback.referral_codes import (
    NOBODY,
    ReferralFacts,
    disagreements,
    from_builder,
    from_chain,
    settled_facts,
)
from airlock_shared.cli.program import run
from airlock_shared.ethereum.signatures import keccak256
from airlock_shared.plan.reader import parse_plan
from airlock_shared.venue.referral_code import code_bytes
from online import transaction_steps as steps
from online.loopback import Answer, Wire, http, reply
from online.node import CHAIN_ID, Failure, Node
from shared.make_payloads import DESK, TREASURY
from shared.world import deployment

CODE = code_bytes("DESK")
PATH = "/v2/reads/referral"
NOWHERE = "0x" + "00" * 20
OWNED = {"owner": TREASURY, "pendingOwner": DESK, "isPrivate": False}


def word(value: str) -> str:
    return "0x" + value.removeprefix("0x").lower().rjust(64, "0")


# ---- the builder -----------------------------------------------------------------------------------------------------


def by_builder(client: Http, data: object, trader: str = "") -> ReferralFacts:
    answer = data if isinstance(data, Answer) else reply(200, {"ok": True, "data": data})
    with Wire({f"GET {PATH}": [answer]}) as wire:
        return from_builder(BuilderClient(wire.url, client), CODE, trader)


def test_the_builder_s_read_tells_owner_pending_owner_and_privacy(client: Http) -> None:
    assert by_builder(client, OWNED) == ReferralFacts("the builder", TREASURY, DESK, False)


@pytest.mark.parametrize("name", ["owner", "pendingOwner"])
@pytest.mark.parametrize(
    ("value", "told"),
    [
        (TREASURY.lower(), TREASURY),
        ("", NOBODY),
        (None, NOBODY),
        (NOWHERE, NOBODY),
        (TREASURY + "0", None),
        (TREASURY + "\n", None),
        (7, None),
        (False, None),
    ],
)
def test_an_owner_is_told_or_nobody_or_not_told(client: Http, name: str, value: object, told: str | None) -> None:
    seen = by_builder(client, OWNED | {name: value})
    assert (seen.owner if name == "owner" else seen.pending) == told


def test_a_member_that_is_missing_is_not_told_and_is_not_nobody(client: Http) -> None:
    seen = by_builder(client, {"code": "DESK"})
    assert (seen.owner, seen.pending, seen.private) == (None, None, None)


@pytest.mark.parametrize(("value", "told"), [(True, True), (False, False), (1, None), ("true", None), (None, None)])
def test_privacy_is_a_flag_or_not_told(client: Http, value: object, told: bool | None) -> None:
    assert by_builder(client, OWNED | {"isPrivate": value}).private is told


@pytest.mark.parametrize(
    "answer",
    [[], "text", 7, None, reply(404, {"ok": False}), reply(503, {"ok": False}), http(200, b"<html>", "text/html")],
)
def test_a_read_that_fails_tells_nothing_and_why(client: Http, answer: object) -> None:
    seen = by_builder(client, answer, DESK)
    assert (seen.owner, seen.pending, seen.private, seen.adopted) == (None, None, None, None)
    assert seen.trouble


def test_the_code_is_asked_in_its_own_spelling_and_the_trader_beside_it(client: Http) -> None:
    with Wire({f"GET {PATH}": [reply(200, {"ok": True, "data": {"code": "0x" + CODE.hex()}})]}) as wire:
        seen = from_builder(BuilderClient(wire.url, client), code_bytes("Desk"), TREASURY)
        assert [one.target.partition("?")[2] for one in wire.seen] == ["code=Desk", f"trader={TREASURY}"]
    assert seen.adopted == CODE


# ---- the chain -------------------------------------------------------------------------------------------------------


def by_chain(client: Http, **answers: object) -> ReferralFacts:
    with Node(answers) as node:
        return from_chain(RpcClient(node.url, client), deployment(), ReferralViews(), CODE)


def test_the_pinned_contract_is_asked_by_the_configured_views(client: Http) -> None:
    views = ReferralViews(owner="ownerOf(bytes32)")
    with Node({"eth_call": word(TREASURY)}) as node:
        seen = from_chain(RpcClient(node.url, client), deployment(), views, CODE, DESK)
        calls = [params[0] for method, params in node.asked if method == "eth_call"]
    assert (seen.owner, seen.pending, seen.private) == (TREASURY, TREASURY, None)
    contract = "0x" + deployment().domains["referral"].contract.hex()
    assert {call["to"].lower() for call in calls} == {contract}
    names = ["ownerOf(bytes32)", "pendingCodeOwners(bytes32)", "isPrivate(bytes32)", "traderReferralCodes(address)"]
    assert [call["data"][:10] for call in calls] == ["0x" + keccak256(name.encode())[:4].hex() for name in names]
    assert [call["data"][10:] for call in calls] == [CODE.hex()] * 3 + [word(DESK)[2:]]


@pytest.mark.parametrize(
    ("answer", "owner", "private"),
    [
        (word("0"), NOBODY, False),
        (word("1"), "0x0000000000000000000000000000000000000001", True),
        (word("2"), "0x0000000000000000000000000000000000000002", None),
        ("0x" + "ff" * 32, None, None),  # no address, and no flag
    ],
)
def test_a_word_is_an_address_a_flag_or_not_told(client: Http, answer: str, owner: str | None, private: bool) -> None:
    seen = by_chain(client, eth_call=answer)
    assert (seen.owner, seen.private, seen.trouble) == (owner, private, "")


@pytest.mark.parametrize(
    "answer", ["0x", word(TREASURY) + "00", word(TREASURY)[:-2], Failure(3, "execution reverted", "0x")]
)
def test_a_view_that_the_contract_does_not_have_is_named(client: Http, answer: object) -> None:
    seen = by_chain(client, eth_call=answer)
    assert (seen.owner, seen.pending, seen.private) == (None, None, None)
    assert "the contract has no view codeOwners(bytes32)" in seen.trouble


def test_a_node_of_another_chain_is_not_asked(client: Http) -> None:
    seen = by_chain(client, eth_chainId=hex(1), eth_call=word(TREASURY))
    assert (seen.owner, seen.trouble) == (None, f"it serves chain 1, but chain {CHAIN_ID} is pinned")


# ---- both ------------------------------------------------------------------------------------------------------------

BUILDER, CHAIN = (
    ReferralFacts("the builder", TREASURY, NOBODY, False, CODE),
    ReferralFacts("the chain", TREASURY, NOBODY, False, CODE),
)


def test_two_sources_that_agree_or_do_not_tell_do_not_disagree() -> None:
    assert disagreements([BUILDER, CHAIN]) == []
    assert disagreements([BUILDER, ReferralFacts("the chain")]) == []
    assert disagreements([BUILDER]) == []


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"owner": DESK}, "owner"),
        ({"owner": NOBODY}, "owner"),
        ({"pending": DESK}, "pending owner"),
        ({"private": True}, "private"),
        ({"adopted": bytes(32)}, "adopted"),
        ({"adopted": code_bytes("desk")}, "adopted"),
    ],
)
def test_a_difference_is_named_with_both_words(changed: dict[str, Any], named: str) -> None:
    [said] = disagreements([BUILDER, CHAIN._replace(**changed)])
    assert said.startswith(f"{named}: the builder says ")
    assert "; the chain says " in said


def test_the_chain_s_word_settles_what_it_tells() -> None:
    told = settled_facts([BUILDER, ReferralFacts("the chain", owner=DESK)])
    assert (told.owner, told.pending, told.private) == (DESK, NOBODY, False)


# ---- what is in the way ------------------------------------------------------------------------------------------

PLAN = f"""\
format = "airlock/plan@1"
[ceremony]
id = "handover"
title = "A code is handed over"
deployment = "test"
[signers.owner]
address = "{TREASURY}"
path = "m/44'/60'/0'/0/0"
[signers.heir]
address = "{DESK}"
path = "m/44'/60'/1'/0/0"
[[steps]]
id = "adopt"
action = "referral-set-code-tx"
signer = "owner"
fields = {{ caller = "{TREASURY}", code = "OTHER" }}
[[steps]]
id = "offer"
action = "referral-transfer"
signer = "owner"
fields = {{ caller = "{TREASURY}", code = "DESK", newOwner = "{DESK}" }}
[[steps]]
id = "accept"
action = "referral-accept"
signer = "heir"
fields = {{ caller = "{DESK}", code = "DESK" }}
"""
FREE = ReferralFacts("all", NOBODY, NOBODY, False, bytes(32))
MINE = ReferralFacts("all", TREASURY, NOBODY, False, bytes(32))
OFFERED = MINE._replace(pending=DESK)
STRANGER = "0x0000000000000000000000000000000000000009"


@pytest.mark.parametrize(
    ("step", "seen", "said"),
    [
        ("adopt", MINE, []),
        ("adopt", FREE, ["does not exist"]),
        ("adopt", MINE._replace(owner=DESK, private=True), ["is private"]),
        ("adopt", MINE._replace(adopted=code_bytes("OTHER")), ["adopted this code already"]),
        ("adopt", MINE._replace(adopted=CODE), ["another code, which this one replaces: DESK"]),
        ("offer", MINE, []),
        ("offer", MINE._replace(owner=STRANGER), ["is not the owner: " + STRANGER]),
        ("offer", OFFERED, ["is nominated already"]),
        ("offer", MINE._replace(pending=STRANGER), [f"{STRANGER} is nominated now"]),
        ("offer", MINE._replace(owner=DESK), ["is not the owner", "owns the code already"]),
        ("accept", OFFERED, []),
        ("accept", MINE, ["is not nominated: the pending owner is nobody", "step 2 (offer, signed by owner)"]),
        ("accept", MINE._replace(owner=DESK), ["owns the code already", "is not nominated", "step 2 (offer"]),
        ("offer", ReferralFacts("all"), []),
    ],
)
def test_what_is_in_the_way_of_a_step_is_said_and_what_is_not_told_is_not_guessed(
    step: str, seen: ReferralFacts, said: list[str]
) -> None:
    plan = parse_plan(PLAN.encode())
    wish = wish_of(plan.steps[step])
    assert wish is not None
    found = in_the_way(wish, seen, plan)
    assert len(found) == len(said), found
    assert [part in text for part, text in zip(said, found, strict=True)] == [True] * len(said)


@pytest.mark.parametrize(("owner", "said"), [(NOBODY, []), (None, []), (TREASURY, ["already"]), (DESK, ["is taken"])])
def test_a_code_that_is_taken_is_in_the_way_of_its_registration(owner: str | None, said: list[str]) -> None:
    text = PLAN.replace("referral-set-code-tx", "referral-register").replace("{ caller", "{ referrer", 1)
    plan = parse_plan(text.encode())
    wish = wish_of(plan.steps["adopt"])
    assert wish is not None
    found = in_the_way(wish, FREE._replace(owner=owner), plan)
    assert [part in text for part, text in zip(said, found, strict=True)] == [True] * len(said)


# ---- the command -----------------------------------------------------------------------------------------------------


def command(tmp_path: Path, data: object, *words: str) -> int:
    with Wire({f"GET /b{PATH}": [reply(200, {"ok": True, "data": data})]}) as wire:
        steps.fetched(tmp_path / "home", wire.url + "/b")
        return run(program, ["--home", str(tmp_path / "home"), "referral", *words])


def test_a_code_is_shown_for_comparing_with_its_owner(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(tmp_path, OWNED, "Desk") == 0
    out = capsys.readouterr().out
    for part in ("hex 4465 736b", "U+0044 U+0065 U+0073 U+006B", "1 capital letter, 3 small", TREASURY, DESK):
        assert part in out
    assert max(map(len, out.splitlines())) <= 80


def test_a_disagreement_is_shown_and_is_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Node({"eth_call": word(DESK)}) as node:
        assert command(tmp_path, OWNED, "DESK", "--rpc", node.url) == 8
        shown = capsys.readouterr()
        assert "DISAGREE  owner: the builder says" in shown.out
        assert "Sign nothing" in shown.err
        assert command(tmp_path, OWNED, "DESK", "--rpc", node.url, "--json") == 8
    told = json.loads(capsys.readouterr().out)
    assert (told["ok"], told["exists"], len(told["disagreements"])) == (False, True, 1)


@pytest.mark.parametrize(("data", "same"), [({"owner": DESK, "pendingOwner": DESK}, True), ({}, False)])
def test_both_say_the_same_only_where_both_told_the_owner(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], data: object, same: bool
) -> None:
    with Node({"eth_call": word(DESK)}) as node:
        assert command(tmp_path, data, "DESK", "--rpc", node.url) == 0
    assert ("both say the same" in capsys.readouterr().out) is same


def test_when_nobody_tells_the_owner_it_is_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(tmp_path, [], "DESK") == 8
    assert "no source gives the owner of the code" in capsys.readouterr().err


@pytest.mark.parametrize("words", [("TRE\u0410SURY",), ("0x12",), ("",), ("DESK", "--trader", "0x12")])
def test_what_is_no_code_and_no_account_is_not_asked(tmp_path: Path, words: tuple[str, ...]) -> None:
    assert command(tmp_path, OWNED, *words) == 2


def test_a_code_is_read_before_a_step_that_is_called_for_and_that_is_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    step = "referral-transfer"
    read = {f"GET {PATH}": [reply(200, {"ok": True, "data": {"owner": STRANGER, "pendingOwner": ""}})]}
    with Wire(steps.answers(**{step: steps.payload(step)}) | read) as wire:
        machine = steps.PlannedCommand(tmp_path, wire.url, step)
        assert machine.take("POST", steps.item(step)["endpoint"], step) == 0
    assert f"is not the owner: {STRANGER}" in " ".join(capsys.readouterr().err.split())
    [entry] = [entry for entry in OnlineHome(machine.home).transcript.entries() if entry.event == "referral-read"]
    assert (entry.data["step"], len(entry.data["warnings"])) == (step, 1)
