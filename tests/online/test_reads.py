"""The reads as commands: what the builder tells and does not tell, and what is never made up."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from airlock_online.cli.main import program
from airlock_online.clients.builder import BuilderClient
from airlock_online.clients.builder_reads import (
    DELEGATION_COLUMNS,
    NONCE_COLUMNS,
    NOT_TOLD,
    ORDER_COLUMNS,
    POSITION_COLUMNS,
    Column,
    relayed,
    values_read,
)
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
from airlock_online.speech.sections import REPLIES
from airlock_rehearsal.services.venue.positions import PAIRS, order_json, seeded, seeded_limit, trade_json
from airlock_shared.cli.program import run
from airlock_shared.ethereum.signatures import keccak256
from airlock_shared.plan.reader import parse_plan
from airlock_shared.venue.referral_code import code_bytes
from online import transaction_steps as steps
from online.loopback import Answer, Wire, http, reply
from online.node import CHAIN_ID, Failure, Node
from plans import plan_head
from shared.make_payloads import DESK, TREASURY
from shared.world import deployment

HASH = "0x" + "ab" * 32
Ask = Callable[..., int]


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    """Run a command on a machine that fetched the venue's deployment, its builder answering by this script."""

    def asked(script: Mapping[str, Sequence[Answer]], *words: str) -> int:
        with Wire(script) as wire:
            steps.fetched(tmp_path / "home", wire.url + "/b")
            code = run(program, ["--home", str(tmp_path / "home"), *words])
            asked.seen = wire.seen  # type: ignore[attr-defined]
        return code

    return asked


def told(data: object, path: str) -> dict[str, list[Answer]]:
    return {f"GET /b{path}": [reply(200, {"ok": True, "data": data})]}


def shown(capsys: pytest.CaptureFixture[str]) -> str:
    out = capsys.readouterr().out
    assert all(len(line) <= 80 for line in out.splitlines()), out
    return out


def test_meta_and_ready_take_what_was_fetched(ask: Ask, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(told(steps.meta(), "/v2/meta"), "meta") == 0
    told_of = capsys.readouterr()
    assert ("chain id   84532" in told_of.out, "What is pinned of" in told_of.err) == (True, True)
    answer = reply(503, {"ok": False, "data": {"ready": False, "components": {"rpc": "down"}}})
    assert ask({"GET /b/ready": [answer]}, "ready") == 8
    assert "down" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("path", "value", "where"),
    [
        (("chainId",), 8453, "chain_id"),
        (("addresses", "tradingRouter"), DESK, "contracts.tradingRouter"),
        (("addresses", "vault"), DESK, "contracts.vault"),
        (("eip712", "trading", "name"), "Other", "domains.trading.name"),
        (("enums", "triggerType", "fixed"), 1, "enums.triggerType.fixed"),
        (("units", "usdc"), "1e18", "units.usdc"),
        (("defaults", "intentDeadlineMs"), 1, "defaults.intentDeadlineMs"),
        (("defaults", "slippagePercent"), None, "defaults.slippagePercent"),
    ],
)
def test_a_changed_meta_is_reported_and_never_adopted(
    ask: Ask, capsys: pytest.CaptureFixture[str], path: tuple[str, ...], value: object, where: str
) -> None:
    document = steps.meta()
    node = document
    for name in path[:-1]:
        node = node[name]
    node[path[-1]] = value
    assert ask(told(document, "/v2/meta"), "meta", "--json") == 3
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["check"], f"{where}: " in error["got"]) == ("PIN-DEPLOYMENT", True)


def positions() -> dict[str, Any]:
    now_s = 1_790_000_000
    trades = [trade_json(held, held["pairIndex"] == 3) for held in seeded(TREASURY, now_s)]
    return {"trades": trades, "orders": [order_json(seeded_limit(TREASURY))]}


def test_positions_and_orders_are_shown_human_and_raw(ask: Ask, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(told(positions(), "/v2/positions"), "positions", TREASURY.lower()) == 0
    text = shown(capsys)
    for line in (
        f"positions of {TREASURY}: 3",
        "pair                     0 BTC/USD",
        "pair                     3 (not in the pinned deployment)",
        "side                     short",
        "collateral               1000 USDC (raw 1000000000)",
        "open price               62000 USD (raw 620000000000000)",
        "opened (openTimestamp)   2026-09-18 14:13:20 UTC (unix s 1789740800)",
        f"orders of {TREASURY}: 1",
        "slippage                 1 % (raw 10000000000)",
    ):
        assert line in text, line


def test_a_missing_list_is_no_empty_one_and_a_reply_is_escaped(ask: Ask, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(told({"trades": []}, "/v2/positions"), "positions", TREASURY) == 0
    text = shown(capsys)
    assert f"positions of {TREASURY}: 0" in text
    assert f"orders of {TREASURY}: not told" in text
    hostile = {"status": "\x1b[2J\u202e", "hash": HASH, "decodedError": "\x07"}
    assert ask(told(hostile, f"/v2/relay/{HASH}"), "relay", HASH) == 0
    out = capsys.readouterr().out
    assert not set("\x1b\u202e\r\x07") & set(out)
    assert ask(told({"hash": HASH, "txHash": "0x" + "11" * 32}, f"/v2/relay/{HASH}"), "relay", HASH) == 8


@pytest.mark.parametrize("data", [{}, [], None, "none", {"trades": {}}])
def test_positions_of_no_known_shape_are_refused(ask: Ask, capsys: pytest.CaptureFixture[str], data: object) -> None:
    assert ask(told(data, "/v2/positions"), "positions", TREASURY) == 8
    assert "unknown shape" in capsys.readouterr().err


# ---- nonce, delegation, relay ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "text"),
    [({"used": True}, "yes"), ({"used": False}, "no"), ({}, NOT_TOLD), ({"used": "true"}, NOT_TOLD), ([], NOT_TOLD)],
)
def test_a_nonce_is_used_or_not_told(ask: Ask, capsys: pytest.CaptureFixture[str], data: object, text: str) -> None:
    assert ask(told(data, "/v2/nonce"), "nonce", TREASURY, "7") == 0
    assert shown(capsys).splitlines()[1].split(None, 1) == ["used", text]


LIVE = {"isEnabled": True, "expiry": "4102444800", "canSignIntents": True, "canDelegatedAction": True}


@pytest.mark.parametrize(
    ("changes", "signs", "sends"),
    [
        ({}, "yes", "yes"),
        ({"canSignIntents": False}, "NO: it may not", "yes"),
        ({"canDelegatedAction": None}, "yes", "not known: nobody told whether it may"),
        ({"isEnabled": False}, "NO: it is not enabled", "NO: it is not enabled"),
        ({"isEnabled": 1}, *["not known: nobody told whether it is enabled"] * 2),
        ({"expiry": None}, *["not known: nobody told when it expires"] * 2),
        ({"expiry": 0}, *["NO: it expired "] * 2),
        ({"expiry": "4102444800000"}, *["not known: its expiry, "] * 2),
    ],
)
def test_a_delegation_is_judged_and_not_only_shown(
    ask: Ask, capsys: pytest.CaptureFixture[str], changes: dict[str, object], signs: str, sends: str
) -> None:
    words = ("delegation", TREASURY, DESK)
    assert ask(told(LIVE | changes, "/v2/reads/delegation"), *words) == 0
    lines = [" ".join(line.split()) for line in shown(capsys).splitlines()]
    assert [any(line.startswith(f"can {what} now {said}") for line in lines)
            for what, said in (("sign intents", signs), ("send calls", sends))] == [True, True]  # fmt: skip
    assert ask(told(LIVE | changes, "/v2/reads/delegation"), *words, "--json") == 0
    judged = json.loads(capsys.readouterr().out)["judged"]
    words_of = {"yes": True, "NO": False, "not known": None}
    assert [judged[f"can {what} now"]["is"] for what in ("sign intents", "send calls")] == [
        words_of[said.partition(":")[0]] for said in (signs, sends)
    ]


BY_NODE = [
    (4102444800, True, "enabled until 2100-01-01 00:00:00 UTC (unix s 4102444800)", "yes"),
    (4102444800, False, "enabled until 2100", "not known: it is not enabled; by the chain it is enabled"),
    (0, True, "not enabled", "NO: by the chain it is not enabled"),
    (None, False, "not told: ", "NO: it is not enabled"),
]


@pytest.mark.parametrize("case", BY_NODE)
def test_the_operator_s_node_is_asked_of_a_delegate_too(
    ask: Ask,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    case: tuple[int | None, bool, str, str],
) -> None:
    expiry, enabled, row, able = case
    names_nobody = told(LIVE | {"isEnabled": enabled}, "/v2/reads/delegation")
    answer: object = Failure(3, "reverted", "0x") if expiry is None else f"0x{expiry:064x}"
    with Node({"eth_chainId": hex(84532), "eth_call": answer}) as node:
        monkeypatch.setenv("AIRLOCK_RPC", node.url)
        assert ask(names_nobody, "delegation", TREASURY, DESK) == 0
        [call] = [params[0] for method, params in node.asked if method == "eth_call"]
    assert call["data"] == "0x21ae831b" + "".join(each[2:].lower().rjust(64, "0") for each in (TREASURY, DESK))
    out, err = capsys.readouterr()
    assert f"by the chain {row}" in " ".join(out.split())
    assert f"can sign intents now {able}" in " ".join(out.split())
    assert "by the service's word alone" in " ".join(err.split())


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("positions", "0x1"), "not an address"),
        (("nonce", TREASURY, "-1"), "whole number"),
        (("nonce", TREASURY, str(2**256)), "whole number"),
        (("nonce", TREASURY, "1", "--space", "twap"), "--space"),
        (("relay", "0xabc"), "not a transaction hash"),
        (("ready", "--builder", "http://a", "--deployment", "venue"), "two builders"),
    ],
)
def test_wrong_words_are_refused_before_anything_is_asked(
    ask: Ask, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], told: str
) -> None:
    words = ("nonce", "--", *words[1:]) if "-1" in words else words
    assert ask({}, *words) == 2
    assert told in capsys.readouterr().err
    assert ask.seen == []  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "answer",
    [reply(200, {"ok": True}), http(502, b"bad gateway", "text/html"), http(200, b'{"ok": true, "data": NaN}')],
)
@pytest.mark.parametrize(
    ("path", "words"),
    [("/v2/meta", ("meta",)), ("/v2/pairs", ("pairs",)), ("/v2/positions", ("positions", TREASURY)),
     ("/v2/nonce", ("nonce", TREASURY, "1")), ("/v2/reads/delegation", ("delegation", TREASURY, DESK)),
     (f"/v2/relay/{HASH}", ("relay", HASH))],
)  # fmt: skip
def test_nonsense_ends_every_read_with_exit_code_8(ask: Ask, path: str, words: tuple[str, ...], answer: Answer) -> None:
    assert ask({f"GET /b{path}": [answer]}, *words) == 8


def test_of_no_deployment_or_several_nothing_is_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(program, ["--home", str(tmp_path), "pairs"]) == 2
    assert "no deployment was fetched" in capsys.readouterr().err
    with Wire(told([], "/v2/pairs")) as wire:
        for name in ("venue", "testnet"):
            steps.fetched(tmp_path, wire.url + "/b", name)
        assert run(program, ["--home", str(tmp_path), "pairs"]) == 2
        assert "testnet, venue" in capsys.readouterr().err
        assert run(program, ["--home", str(tmp_path), "pairs", "--deployment", "testnet"]) == 0


ODD: tuple[object, ...] = (None, 1.5, "1.5", "", "0x1", "01", "-", "1e3", "+1", [], {}, True, "9" * 79, "٣")


@pytest.mark.parametrize("value", ODD, ids=repr)
@pytest.mark.parametrize(
    "column", [c for c in POSITION_COLUMNS if c.unit.name not in ("side", "flag")], ids=lambda c: c.label
)
def test_a_number_in_another_form_is_not_told(column: Column, value: object) -> None:
    source: object = value
    for name in reversed(column.path.split(".")):
        source = {name: source}
    [row] = values_read(source, [column])
    assert (row.raw, row.text) == (None, NOT_TOLD)


def test_the_pairs_are_listed_against_the_pinned_ones(ask: Ask, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(told([pair.as_json() for pair in PAIRS.values()], "/v2/pairs"), "pairs") == 0
    lines = shown(capsys).splitlines()
    assert lines[1].split() == ["0", "BTC/USD", "ordinary", "1", "to", "100"]
    assert lines[3].endswith("not as pinned")
    assert lines[6].endswith("close only, not as pinned")


@pytest.mark.parametrize(
    "columns",
    [POSITION_COLUMNS, ORDER_COLUMNS, NONCE_COLUMNS, DELEGATION_COLUMNS, relayed(REPLIES["relay"])],
    ids=["p", "o", "n", "d", "r"],
)
@pytest.mark.parametrize("source", [None, [], "x", 5, {}, {"trade": []}, {"trade": None, "order": 1}])
def test_a_reply_without_the_members_tells_nothing(columns: Sequence[Column], source: object) -> None:
    assert {row.text for row in values_read(source, columns)} == {NOT_TOLD}


CODE = code_bytes("DESK")
PATH = "/v2/reads/referral"
OWNED = {"owner": TREASURY, "pendingOwner": DESK, "isPrivate": False}


def word(value: str) -> str:
    return "0x" + value.removeprefix("0x").lower().rjust(64, "0")


def by_builder(client: Http, data: object, trader: str = "") -> ReferralFacts:
    answer = data if isinstance(data, Answer) else reply(200, {"ok": True, "data": data})
    with Wire({f"GET {PATH}": [answer]}) as wire:
        return from_builder(BuilderClient(wire.url, client), CODE, trader)


@pytest.mark.parametrize("name", ["owner", "pendingOwner"])
@pytest.mark.parametrize(
    ("value", "told"),
    [
        (TREASURY.lower(), TREASURY),
        ("", NOBODY),
        ("0x" + "00" * 20, NOBODY),
        (None, NOBODY),
        (TREASURY + "0", None),
        (False, None),
    ],
)
def test_an_owner_is_told_or_nobody_or_not_told(client: Http, name: str, value: object, told: str | None) -> None:
    seen = by_builder(client, OWNED | {name: value})
    assert (seen.owner if name == "owner" else seen.pending) == told


def test_a_member_that_is_missing_is_not_told_and_is_not_nobody(client: Http) -> None:
    seen = by_builder(client, {"code": "DESK"})
    assert (seen.owner, seen.pending, seen.private) == (None, None, None)
    with Wire({f"GET {PATH}": [reply(200, {"ok": True, "data": {"code": "0x" + CODE.hex()}})]}) as wire:
        seen = from_builder(BuilderClient(wire.url, client), code_bytes("Desk"), TREASURY)
        assert [one.target.partition("?")[2] for one in wire.seen] == ["code=Desk", f"trader={TREASURY}"]
    assert seen.adopted == CODE


@pytest.mark.parametrize(("value", "told"), [(True, True), (False, False), (1, None), ("true", None), (None, None)])
def test_privacy_is_a_flag_or_not_told(client: Http, value: object, told: bool | None) -> None:
    seen = by_builder(client, OWNED | {"isPrivate": value})
    assert (seen.source, seen.owner, seen.pending, seen.private) == ("the builder", TREASURY, DESK, told)


@pytest.mark.parametrize(
    "answer",
    [[], "text", 7, None, reply(404, {"ok": False}), reply(503, {"ok": False}), http(200, b"<html>", "text/html")],
)
def test_a_read_that_fails_tells_nothing_and_why(client: Http, answer: object) -> None:
    seen = by_builder(client, answer, DESK)
    assert (seen.owner, seen.pending, seen.private, seen.adopted) == (None, None, None, None)
    assert seen.trouble


def by_chain(client: Http, **answers: object) -> ReferralFacts:
    with Node(answers) as node:
        return from_chain(RpcClient(node.url, client), deployment(), ReferralViews(), CODE)


def test_the_pinned_contract_is_asked_by_the_configured_views_on_its_own_chain(client: Http) -> None:
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
    seen = by_chain(client, eth_chainId=hex(1), eth_call=word(TREASURY))
    assert (seen.owner, seen.trouble) == (None, f"it serves chain 1, but chain {CHAIN_ID} is pinned")


@pytest.mark.parametrize(
    ("answer", "owner", "private"),
    [
        (word("0"), NOBODY, False),
        (word("1"), "0x0000000000000000000000000000000000000001", True),
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


BUILDER, CHAIN = (
    ReferralFacts("the builder", TREASURY, NOBODY, False, CODE),
    ReferralFacts("the chain", TREASURY, NOBODY, False, CODE),
)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"owner": DESK}, "owner"),
        ({"pending": DESK}, "pending owner"),
        ({"private": True}, "private"),
        ({"adopted": bytes(32)}, "adopted"),
    ],
)
def test_a_difference_is_named_with_both_words(changed: dict[str, Any], named: str) -> None:
    [said] = disagreements([BUILDER, CHAIN._replace(**changed)])
    assert said.startswith(f"{named}: the builder says ")
    assert "; the chain says " in said


def test_the_chain_s_word_settles_what_it_tells() -> None:
    told = settled_facts([BUILDER, ReferralFacts("the chain", owner=DESK)])
    assert (told.owner, told.pending, told.private) == (DESK, NOBODY, False)


SIGNERS = {"owner": (TREASURY, "m/44'/60'/0'/0/0"), "heir": (DESK, "m/44'/60'/1'/0/0")}
PLAN = f"""{plan_head("handover", SIGNERS)}
[[steps]]
id = "adopt"
action = "referral-set-code-tx"
signer = "owner"
fields = {{ caller = "{TREASURY}", code = "OTHER" }}
[[steps]]
id = "register"
action = "referral-register"
signer = "owner"
fields = {{ referrer = "{TREASURY}", code = "NEW" }}
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
        ("accept", MINE, ["is not nominated: the pending owner is nobody", "step 3 (offer, signed by owner)"]),
        ("accept", MINE._replace(owner=DESK), ["owns the code already", "is not nominated", "step 3 (offer"]),
        ("offer", ReferralFacts("all"), []),
        ("register", FREE, []),
        ("register", FREE._replace(owner=TREASURY), ["already"]),
        ("register", FREE._replace(owner=DESK), ["is taken"]),
    ],
)
def test_what_is_in_a_step_s_way_is_said_and_not_guessed(step: str, seen: ReferralFacts, said: list[str]) -> None:
    plan = parse_plan(PLAN.encode())
    wish = wish_of(plan.steps[step])
    assert wish is not None
    found = in_the_way(wish, seen, plan)
    assert len(found) == len(said), found
    assert [part in text for part, text in zip(said, found, strict=True)] == [True] * len(said)


def test_a_code_is_shown_for_comparing_with_its_owner(ask: Ask, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(told(OWNED, PATH), "referral", "Desk") == 0
    out = capsys.readouterr().out
    for part in ("hex 4465 736b", "U+0044 U+0065 U+0073 U+006B", "1 capital letter, 3 small", TREASURY, DESK):
        assert part in out
    assert max(map(len, out.splitlines())) <= 80
    assert ask(told([], PATH), "referral", "DESK") == 8
    assert "no source gives the owner of the code" in capsys.readouterr().err


def test_a_disagreement_is_shown_and_is_no_success(ask: Ask, capsys: pytest.CaptureFixture[str]) -> None:
    with Node({"eth_call": word(DESK)}) as node:
        assert ask(told(OWNED, PATH), "referral", "DESK", "--rpc", node.url) == 8
        shown = capsys.readouterr()
        assert "DISAGREE  owner: the builder says" in shown.out
        assert "Sign nothing" in shown.err
        assert ask(told(OWNED, PATH), "referral", "DESK", "--rpc", node.url, "--json") == 8
    document = json.loads(capsys.readouterr().out)
    assert (document["ok"], document["exists"], len(document["disagreements"])) == (False, True, 1)


@pytest.mark.parametrize(("data", "same"), [({"owner": DESK, "pendingOwner": DESK}, True), ({}, False)])
def test_both_say_the_same_only_where_both_told_the_owner(
    ask: Ask, capsys: pytest.CaptureFixture[str], data: object, same: bool
) -> None:
    with Node({"eth_call": word(DESK)}) as node:
        assert ask(told(data, PATH), "referral", "DESK", "--rpc", node.url) == 0
    assert ("both say the same" in capsys.readouterr().out) is same


@pytest.mark.parametrize("words", [("TRE\u0410SURY",), ("0x12",), ("",), ("DESK", "--trader", "0x12")])
def test_what_is_no_code_and_no_account_is_not_asked(ask: Ask, words: tuple[str, ...]) -> None:
    assert ask(told(OWNED, PATH), "referral", *words) == 2


def test_a_code_is_read_before_its_step_and_recorded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    step = "referral-transfer"
    read = {f"GET {PATH}": [reply(200, {"ok": True, "data": {"owner": STRANGER, "pendingOwner": ""}})]}
    with Wire(steps.answers(**{step: steps.payload(step)}) | read) as wire:
        machine = steps.PlannedCommand(tmp_path, wire.url, step)
        assert machine.take("POST", steps.item(step)["endpoint"], step) == 0
    assert f"is not the owner: {STRANGER}" in " ".join(capsys.readouterr().err.split())
    [entry] = [entry for entry in OnlineHome(machine.home).transcript.entries() if entry.event == "referral-read"]
    assert (entry.data["step"], len(entry.data["warnings"])) == (step, 1)
