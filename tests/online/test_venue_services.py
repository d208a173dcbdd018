"""A services file says how a venue speaks and proves nothing: what it may not say is refused, no lie in it told as true."""

from __future__ import annotations

import copy
import json
import random
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from airlock_online.clients.builder import Spacing
from airlock_online.clients.builder_reads import used_in
from airlock_online.clients.reply_values import delegation_read, status_word
from airlock_online.clients.rpc import RpcClient
from airlock_online.config import OnlineConfig, read_config
from airlock_online.delivery.outcome import OrderOutcome, outcome_error
from airlock_online.delivery.routes.rpc import chain_hash
from airlock_online.delivery.submit import submit_delivery
from airlock_online.home import OnlineHome
from airlock_online.journal.order_states import KNOWN_TYPES, OrderState
from airlock_online.speech.forms import read_services, resolve_services
from airlock_online.speech.sections import (
    BODIES,
    KNOWN,
    MEANINGS,
    MEMBERS,
    OF_EVENTS,
    PATHS,
    REPLIES,
    SERVICES_FORMAT,
    SHIPPED,
    Speech,
    may_mean,
)
from airlock_shared.errors import UsageError
from draws import draws
from online.crash.orders import order
from online.delivering_machine import delivering_machine
from online.loopback import Answer, Seen, Wire, reply
from online.node import CHAIN_ID, Node
from second_venue.other_speech import SERVICES

TX = "0x" + "ee" * 32
APPROVAL = chain_hash(order("relay", "https://venue.example"))
FILE: dict[str, Any] = tomllib.loads(SERVICES)
OPEN = {OrderState.ACCEPTED, OrderState.UNKNOWN, OrderState.REJECTED, OrderState.PREPARED}
"""What may be said while nothing is decided; REJECTED: the venue does not know the path, and has taken nothing."""


def with_words(**words: str) -> Speech:
    return resolve_services({**FILE, "words": words})


# ---- reading --------------------------------------------------------------------------------------------------------


def test_every_member_is_told_in_the_reference_and_no_other() -> None:
    said = {(section, "NAME") for section in ("paths", "bodies", "requests")} | {
        ("words", "WORD"),
        ("limits", "builder"),
    }
    assert MEMBERS.keys() == said | {("replies", member) for reply in REPLIES.values() for member in reply}
    assert len(MEMBERS) <= 30


def test_what_ships_is_itself_a_good_file() -> None:
    paths = {name: path for name, path in PATHS.items() if path}
    assert (
        resolve_services({"format": SERVICES_FORMAT, "paths": paths, "bodies": BODIES, "replies": REPLIES}) == SHIPPED
    )


def test_the_market_s_events_are_those_of_the_specification() -> None:
    assert OF_EVENTS == KNOWN_TYPES


def test_without_a_difference_the_whole_is_what_ships() -> None:
    assert resolve_services({"format": SERVICES_FORMAT}) == SHIPPED == OnlineConfig().speech
    assert SHIPPED.differences == set()


DIFFERENT: dict[str, dict[str, Any]] = {
    "a path": {"paths": {"nonce": "/v2/other"}},
    "a body": {"bodies": {"twap": {"sig": "$signature"}}},
    "a place": {"replies": {"relayer": {"id": "requestId"}}},
    "what stands beside": {"replies": {"builder": {"extra_members": ["quoteId"]}}},
    "a request": {"requests": {"delegate": {"until": "$expirySeconds"}}},
    "a word": {"words": {"settled": "confirmed"}},
    "a limit": {"limits": {"builder": 7}},
}


@pytest.mark.parametrize("case", DIFFERENT)
def test_each_member_that_differs_changes_the_fingerprint(case: str) -> None:
    speech = resolve_services({"format": SERVICES_FORMAT, **DIFFERENT[case]})
    assert speech.fingerprint != SHIPPED.fingerprint
    assert len(speech.differences) == 1


def test_a_section_has_one_place(tmp_path: Path) -> None:
    (tmp_path / "services.toml").write_text(SERVICES)
    config = tmp_path / "config.toml"
    config.write_text('[venue]\nservices = "services.toml"\n')
    assert OnlineHome(tmp_path).config().speech.replies["relayer"]["id"] == "requestId"
    for text in ('[paths]\nnonce = "/v2/other"\n', '[speech.paths]\nnonce = "/v2/other"\n', "[speech]\n"):
        config.write_text(text)
        with pytest.raises(UsageError, match="unknown section"):
            read_config(config)
    config.write_text('[venue]\nservices = "nothing.toml"\n')
    with pytest.raises(UsageError):
        OnlineHome(tmp_path).config()


def test_all_mistakes_are_told_at_once_each_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        f'format = "{SERVICES_FORMAT}"\n[replies.relayer]\nid = "a..b"\nnothing = 1\n\n[limits]\nbuilder = -1\n[words]\n'
        'queued = "reverted"\n"\\u202e" = "pending"\n[switch_off]\nchecks = true\n[bodies.relayer]\n'
        'a = "$signatur"\n[paths]\ndelagate = "/v2/x"\n'
    )
    with pytest.raises(UsageError) as caught:
        read_services(tmp_path / "s.toml")
    told = str(caught.value)
    assert "has 8 mistakes, and nothing of it is used" in told
    for line in (
        "line 3: [replies.relayer] id: 'a..b' is not a place",
        "line 4: [replies.relayer] nothing: it is unknown",
        "line 7: [limits] builder: -1",
        "line 9: [words] queued: it cannot mean reverted",
        "line 11: [switch_off] is no section",
        "line 13: [bodies] relayer: a = '$signatur' is no part of a delivery",
        "line 16: [paths] delagate: it is unknown; a struct or call of this venue alone has",
        "did you mean delegate?",
    ):
        assert line in told
    assert told.isprintable() or "\u202e" not in told


BAD: dict[str, dict[str, Any]] = {
    "another format": {"format": "airlock/venue-services@2"},
    "no format": {"format": None},
    "a section that there is not": {"checks": {"skip": True}},
    "a section that is none": {"words": "confirmed"},
    "a word that fails means confirmed": {"words": {"tx_failed": "confirmed"}},
    "a word that reverts means confirmed": {"words": {"REVERTED ": "confirmed"}},
    "a known word means another": {"words": {"pending": "reverted"}},
    "a known word in other letters": {"words": {"Pen-ding": "confirmed"}},
    "confirmed means pending": {"words": {"confirmed": "pending"}},
    "the specification's failed means reverted": {"words": {"failed": "reverted"}},
    "what waits means failed": {"words": {"in progress": "failed"}},
    "what is in flight means confirmed": {"words": {"Inflight": "confirmed"}},
    "what is not confirmed means confirmed": {"words": {"not_confirmed": "confirmed"}},
    "an unconfirmed one means confirmed": {"words": {"unconfirmed": "confirmed"}},
    "success means reverted": {"words": {"Success": "reverted"}},
    "one word with two meanings": {"words": {"Settled": "confirmed", "settled": "pending"}},
    "a meaning that there is not": {"words": {"settled": "filled"}},
    "a meaning that is a state": {"words": {"settled": "FILLED"}},
    "an event of the market": {"words": {"MarketOrderExecuted": "confirmed"}},
    "a word of other letters": {"words": {"ѕuccess": "confirmed"}},
    "an empty word": {"words": {"": "pending"}},
    "a word that is no text": {"words": {"settled": 1}},
    "used where it says available": {"replies": {"nonce": {"used": "available"}}},
    "used where it says unused": {"replies": {"nonce": {"used": "isUnused"}}},
    "available where it says used": {"replies": {"nonce": {"used": "not used"}}},
    "available where it says unavailable": {"replies": {"nonce": {"used": "not unavailable"}}},
    "enabled where it says disabled": {"replies": {"delegation": {"enabled": "isDisabled"}}},
    "a block that is a time": {"replies": {"relay": {"block": "blockTime"}}},
    "a block that is a status": {"replies": {"relay": {"block": "status_"}}},
    "a block that is a number of confirmations": {"replies": {"relay": {"block": "confirmations"}}},
    "a block that is a place of a list": {"replies": {"relay": {"block": "statuses.0"}}},
    "a hash that is an id": {"replies": {"relayer": {"transaction": "requestId"}}},
    "the new id where the old one is": {"replies": {"core-api-replace": {"id": "oldEntityId", "replaced": "oldId"}}},
    "two members at one place": {"replies": {"relayer": {"id": "status", "status": "status"}}},
    "a member at the place of one that ships": {"replies": {"relayer": {"id": "status"}}},
    "no place": {"replies": {"relayer": {"id": ""}}},
    "a place with brackets": {"replies": {"relayer": {"id": "ids[0]"}}},
    "a place that begins in a list": {"replies": {"relayer": {"id": "0.id"}}},
    "a number for a place": {"replies": {"relayer": {"id": 1}}},
    "a member of another reply": {"replies": {"nonce": {"enabled": "isEnabled"}}},
    "a reply that there is not": {"replies": {"market": {"id": "id"}}},
    "a reply of a struct by the relayer": {"replies": {"relayer-DelegateReq": {"id": "id"}}},
    "a busy word that any proxy says": {"replies": {"relayer": {"busy": "Service Unavailable"}}},
    "a busy word that is a status": {"replies": {"relayer": {"busy": "503"}}},
    "a busy word that is a flag": {"replies": {"relayer": {"busy": True}}},
    "a busy word of another service": {"replies": {"twap": {"busy": "RELAYER_BUSY"}}},
    "a path with a query": {"paths": {"nonce": "/v2/nonce?used=false"}},
    "a path of another host": {"paths": {"nonce": "//other.example/nonce"}},
    "a whole address": {"paths": {"relayer": "https://other.example/relays"}},
    "a path that goes up": {"paths": {"nonce": "/v2/../nonce"}},
    "a status path without an id": {"paths": {"relayer-status": "/intents"}},
    "a status path with two": {"paths": {"relayer-status": "/{id}/{id}"}},
    "a name that is nearly one": {"paths": {"relayer-state": "/intents/{id}"}},
    "an action that there is not": {"paths": {"withdraw": "/v2/withdraw"}},
    "a method of a read": {"paths": {"nonce": "POST /v2/nonce"}},
    "a path to what is not sent there": {"paths": {"relay-DelegateReq": "/v2/x"}},
    "a build where transactions are sent": {"paths": {"close-coin": "/v2/Relay"}},
    "a documented build where transactions are sent": {"paths": {"delegate": "/v2/relay"}},
    "a body with an unknown part": {"bodies": {"relayer": {"to": "$raw_transaction", "sig": "$signature"}}},
    "a body without the signature": {"bodies": {"relayer": {"abi": "$encoded_intent"}}},
    "a body with the signature twice": {"bodies": {"twap": {"a": "$signature", "b": "$signature"}}},
    "a body with the signature in two parts": {
        "bodies": {"relayer": {"a": "$signature", "b": {"c": "$executing.data"}}}
    },
    "a body of which the mark was forgotten": {"bodies": {"relayer": {"abi": "encoded_intent", "sig": "$signature"}}},
    "a mark forgotten below": {"bodies": {"relayer": {"a": {"b": "message.nonce"}, "sig": "$signature"}}},
    "a body with a list": {"bodies": {"relayer": {"a": ["$signature"], "sig": "$signature"}}},
    "a body with a fraction": {"bodies": {"relayer": {"a": 1.5, "sig": "$signature"}}},
    "a body with a number that is too large": {"bodies": {"relayer": {"a": 1 << 60, "sig": "$signature"}}},
    "a body too deep": {"bodies": {"relayer": {"a": {"b": {"c": {"d": {"e": "$signature"}}}}}}},
    "a member that is none": {"bodies": {"relayer": {"a b": "$signature"}}},
    "a transaction with an intent's part": {"bodies": {"relay": {"raw": "$raw_transaction", "m": "$message.nonce"}}},
    "a transaction with a signature": {"bodies": {"relay": {"raw": "$raw_transaction", "s": "$signature"}}},
    "no transaction": {"bodies": {"relay": {"digest": "$digest"}}},
    "an order's type to the relayer": {"bodies": {"relayer": {"t": "$order_type", "s": "$signature"}}},
    "a body of nothing": {"bodies": {"builder": {"s": "$signature"}}},
    "own of what ships": {"paths": {"DelegateReq": "/v2/other"}, "requests": {"DelegateReq": {}}},
    "own of a call that ships": {"paths": {"approve": "/v2/other"}, "requests": {"approve": {}}},
    "own built where transactions are sent": {"paths": {"AReq": "/v2/RELAY"}, "requests": {"AReq": {}}},
    "own without a request": {"paths": {"AReq": "/v2/other"}},
    "own without a path": {"requests": {"AReq": {}}},
    "own by a leaf that is none": {"paths": {"AReq": "/v2/other"}, "requests": {"AReq": {"a": "$b..c"}}},
    "own by decimals that are none": {
        "paths": {"AReq": "/v2/other"},
        "requests": {"AReq": {"a": "$b with 99 decimals"}},
    },
    "own that leaves out": {"paths": {"AReq": "/v2/other"}, "requests": {"AReq": {"a": "$nothing"}}},
    "a build by another path's query": {"paths": {"close-coin": "/v2/x?y"}},
    "a member that is sent nowhere": {"requests": {"delegate": {"x": "$delegat"}}},
    "a member of another action": {"requests": {"delegate": {"x": "$tradeIndex"}}},
    "a request of nothing": {"requests": {"withdraw": {"x": "y"}}},
    "a read with more than a table": {"requests": {"nonce": "check"}},
    "two members of one name": {"requests": {"delegate": {"delegate": "$trader"}}},
    "one member by two names": {"requests": {"delegate": {"a": "$trader", "b": "$trader"}}},
    "a constant in the place of a value": {"requests": {"delegate": {"expirySeconds": 99}}},
    "a mark forgotten in a request": {"requests": {"delegate": {"until": "expirySeconds"}}},
    "left out, and not sent anyway": {"requests": {"delegate": {"x": "$nothing"}}},
    "beside that is no list": {"replies": {"builder": {"extra_members": "quoteId"}}},
    "no limit below zero": {"limits": {"builder": -1}},
    "a limit that is a flag": {"limits": {"builder": True}},
    "a limit that is no whole number": {"limits": {"builder": 1.5}},
    "a limit of another service": {"limits": {"relayer": 60}},
    "a time in another form": {"replies": {"delegation": {"time": "unix-us"}}},
}


@pytest.mark.parametrize("case", BAD)
def test_what_a_services_file_may_not_say_is_refused_by_name(case: str) -> None:
    with pytest.raises(UsageError) as caught:
        resolve_services({"format": SERVICES_FORMAT, **BAD[case]})
    assert "mistake" in caught.value.what
    assert caught.value.do


@pytest.mark.parametrize("word", [*KNOWN, "failed", "success", "Mined", "queued", "tx-error", "settled", "geprüft"])
def test_a_word_may_mean_at_least_one_thing_of_the_closed_list(word: str) -> None:
    assert may_mean(word)
    assert may_mean(word) <= set(MEANINGS)


# ---- what a reply says ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "meaning", "unknown"),
    [
        ({"state": "ready"}, "confirmed", False),
        ({"state": "ready", "status": "confirmed"}, "confirmed", False),
        ({"state": "ready", "status": "pending"}, "", True),
        ({"state": "ready", "status": "reverted"}, "", True),
        ({"state": "ready", "status": "a word of theirs"}, "confirmed", False),
        ({"state": "Ready"}, "", True),
        ({"state": True}, "", True),
        ({"state": None, "status": "confirmed"}, "", True),
        ({}, "", True),
    ],
)
def test_two_places_that_contradict_each_other_decide_nothing(
    data: dict[str, Any], meaning: str, unknown: bool
) -> None:
    found = status_word(data, {"ready": "confirmed"}, "state")
    assert (found.meaning, found.unknown) == (meaning, unknown)
    assert found.unknown or found.word == "ready"


@pytest.mark.parametrize(
    ("answer", "used"),
    [
        ({"available": True}, False),
        ({"available": False}, True),
        ({"available": False, "used": True}, True),
        ({"available": True, "used": True}, None),
        ({"available": False, "used": False}, None),
        ({"available": "false"}, None),
        ({"available": 0}, None),
        ({"available": {"used": True}}, None),
        ({}, None),
    ],
)
def test_available_is_the_opposite_of_used_and_a_contradiction_tells_nothing(
    answer: dict[str, Any], used: bool | None
) -> None:
    places = {"used": "not available"}
    assert used_in({"nonce": "7", **answer}, "0x1", "7", "trading", places) is used
    assert used_in({"nonce": "8", **answer}, "0x1", "7", "trading", places) is None
    assert used_in({"nonce": "7", **answer}, "0x1", "7", "referral", places) is None


@pytest.mark.parametrize(
    ("form", "told", "unix_s"),
    [
        ("iso", "2026-01-01T00:00:00Z", 1_767_225_600),
        ("iso", "2026-01-01T01:00:00+01:00", 1_767_225_600),
        ("iso", "2026-01-01T00:00:00", None),
        ("iso", "2026-01-01T00:00:00.5Z", None),
        ("iso", 1_767_225_600, None),
        ("unix-ms", 1_767_225_600_000, 1_767_225_600),
        ("unix-ms", "1767225600000", 1_767_225_600),
        ("unix-ms", 1_767_225_600_001, None),
        ("unix-ms", True, None),
        ("unix-s", "1767225600", "1767225600"),
    ],
)
def test_a_time_is_read_in_the_form_that_the_file_names(form: str, told: object, unix_s: object) -> None:
    read = delegation_read({"on": True, "to": told}, {"enabled": "on", "expiry": "to", "time": form})
    assert (read["isEnabled"], read["expiry"]) == (True, unix_s)


def test_a_delegate_of_whom_two_things_are_told_is_told_nothing() -> None:
    assert "isEnabled" not in delegation_read(
        {"active": True, "isEnabled": False}, {**REPLIES["delegation"], "enabled": "active"}
    )


# ---- words end nothing ----------------------------------------------------------------------------------------------


def relayed(speech: Speech, tmp_path: Path, *told: dict[str, Any]) -> tuple[OrderOutcome, list[Seen]]:
    """Relay a transaction at a venue that tells these things of it, one a question, the last for ever."""
    script = {
        "POST /v2/relay": [reply(200, {"ok": True, "data": {"txHash": APPROVAL}})],
        f"GET /v2/relay/{APPROVAL}": [reply(200, {"ok": True, "data": {"txHash": APPROVAL, **each}}) for each in told],
    }
    with delivering_machine(tmp_path) as desk, Wire(script) as wire:
        desk.world = desk.world._replace(speech=speech, patience_s=3)
        return submit_delivery(order("relay", wire.url), desk.world), wire.seen


def said(word: str, **more: Any) -> dict[str, Any]:
    return {"outcome": {"state": word, **more}}


@pytest.mark.parametrize("beside", [{}, {"minedBlock": 7}])
@pytest.mark.parametrize(("word", "meaning"), [("rolled back", "reverted"), ("failed", "failed"), ("gone", "failed")])
def test_a_word_for_failure_stops_the_asking_and_ends_nothing(
    tmp_path: Path, word: str, meaning: str, beside: dict[str, Any]
) -> None:
    outcome, seen = relayed(with_words(**{word: meaning}), tmp_path / "j", said(word, **beside))
    error = outcome_error(outcome)
    assert (outcome.state, len(seen)) == (OrderState.ACCEPTED, 2)
    assert f"'{word}' at data.outcome.state, which the services file calls {meaning}" in outcome.reason
    assert error is not None
    assert ("sign" in error.do, "never sent again" in error.do) == (False, True)


@pytest.mark.parametrize(
    ("told", "state"),
    [
        (said("settled", minedBlock=7), OrderState.CONFIRMED),
        (said("settled", minedBlock="0x7"), OrderState.CONFIRMED),
        (said("settled"), OrderState.ACCEPTED),
        (said("settled", minedBlock="7"), OrderState.ACCEPTED),
        (said("settled", minedBlock=-1), OrderState.ACCEPTED),
        (said("settled", minedBlock=7) | {"decodedError": "Paused()"}, OrderState.ACCEPTED),
        (said("settled", minedBlock=7) | {"revertReason": "no"}, OrderState.ACCEPTED),
        (said("settled", minedBlock=7) | {"success": False}, OrderState.ACCEPTED),
        (said("settled", minedBlock=7) | {"reverted": True}, OrderState.ACCEPTED),
        (said("settled", minedBlock=7) | {"status": "reverted"}, OrderState.ACCEPTED),
        (said("settled", minedBlock=7) | {"status": "pending"}, OrderState.ACCEPTED),
        (said("settled", minedBlock=7) | {"hash": TX}, OrderState.ACCEPTED),
        (said("settled", minedBlock=7) | {"error": None, "success": True}, OrderState.CONFIRMED),
    ],
)
def test_a_word_for_confirmed_counts_with_its_block_and_without_a_sign_of_failure(
    tmp_path: Path, told: dict[str, Any], state: OrderState
) -> None:
    outcome, _ = relayed(with_words(settled="confirmed"), tmp_path / "j", told)
    assert outcome.state is state, outcome.reason


def test_the_word_that_was_said_is_in_the_journal(tmp_path: Path) -> None:
    speech = with_words(settled="confirmed", queued="pending")
    script = {
        "POST /v2/relay": [reply(200, {"ok": True, "data": {"txHash": APPROVAL}})],
        f"GET /v2/relay/{APPROVAL}": [
            reply(200, {"ok": True, "data": {"txHash": APPROVAL} | each})
            for each in (said("queued"), said("settled", minedBlock=7))
        ],
    }
    with delivering_machine(tmp_path / "j") as desk, Wire(script) as wire:
        desk.world = desk.world._replace(speech=speech)
        submit_delivery(order("relay", wire.url), desk.world)
        assert desk.events[-1].payload == {"transactionHash": APPROVAL, "blockNumber": 7, "said": "settled"}


def receipt(ok: bool) -> dict[str, Any]:
    return {"transactionHash": APPROVAL, "blockNumber": "0x7", "status": "0x1" if ok else "0x0", "logs": []}


@pytest.mark.parametrize(("found", "confirmed"), [(receipt(ok=True), True), (receipt(ok=False), False), (None, False)])
def test_the_operator_s_node_outweighs_a_word_for_confirmed(tmp_path: Path, found: Any, confirmed: bool) -> None:
    speech = with_words(settled="confirmed")
    script = {
        "POST /v2/relay": [reply(200, {"ok": True, "data": {"txHash": APPROVAL}})],
        f"GET /v2/relay/{APPROVAL}": [
            reply(200, {"ok": True, "data": {"txHash": APPROVAL} | said("settled", minedBlock=7)})
        ],
    }
    with (
        delivering_machine(tmp_path / "j") as desk,
        Wire(script) as wire,
        Node(
            {
                "eth_chainId": hex(CHAIN_ID),
                "eth_getTransactionReceipt": found,
                "eth_getTransactionCount": "0x0",
                "eth_blockNumber": "0x1",
                "eth_getBlockByNumber": None,
            }
        ) as node,
    ):
        desk.world = desk.world._replace(speech=speech, patience_s=2, node=RpcClient(node.url, desk.world.http))
        outcome = submit_delivery(order("relay", wire.url), desk.world)
    assert (outcome.state is OrderState.CONFIRMED) is confirmed, outcome.reason
    assert outcome.state in (OrderState.CONFIRMED, OrderState.ACCEPTED)


def relayer(speech: Speech, path: Path, taken: Answer, told: object) -> OrderOutcome:
    script = {"POST /submit": [taken], "GET /submissions/r-1": [reply(200, told)]}
    with delivering_machine(path) as desk, Wire(script) as wire:
        desk.world = desk.world._replace(speech=speech, patience_s=3)
        return submit_delivery(order("relayer", wire.url), desk.world)


TAKEN = reply(200, {"requestId": "r-1", "state": "queued"})
RECEIPT = {"txHash": TX, "block": "0x20"}


@pytest.mark.parametrize(
    ("told", "state"),
    [
        ({"requestId": "r-1", "state": "success", "receipt": RECEIPT}, OrderState.CONFIRMED),
        ({"requestId": "r-1", "state": "success", "receipt": {"txHash": TX}}, OrderState.ACCEPTED),
        ({"requestId": "r-1", "state": "success", "receipt": {"block": 3}}, OrderState.ACCEPTED),
        ({"requestId": "r-1", "state": "success", "receipt": RECEIPT, "success": False}, OrderState.ACCEPTED),
        ({"requestId": "r-1", "state": "success", "receipt": RECEIPT, "ok": False}, OrderState.ACCEPTED),
        ({"requestId": "r-1", "state": "success", "receipt": RECEIPT, "error": "x"}, OrderState.ACCEPTED),
        ({"requestId": "r-2", "state": "success", "receipt": RECEIPT}, OrderState.ACCEPTED),
        ({"id": "r-1", "state": "success", "receipt": RECEIPT}, OrderState.ACCEPTED),
        ({"ok": True, "data": {"requestId": "r-1", "state": "success", "receipt": RECEIPT}}, OrderState.CONFIRMED),
        ({"ok": True, "data": {"requestId": "r-1", "state": "success"}, "receipt": RECEIPT}, OrderState.ACCEPTED),
        ({"ok": False, "data": {"requestId": "r-1", "state": "success", "receipt": RECEIPT}}, OrderState.ACCEPTED),
        ({"requestId": "r-1", "state": "failed", "receipt": RECEIPT}, OrderState.ACCEPTED),
        ({"requestId": "r-1", "state": "queued", "receipt": RECEIPT}, OrderState.ACCEPTED),
        ([], OrderState.ACCEPTED),
    ],
)
def test_a_relayer_without_an_envelope_is_held_to_the_same_evidence(
    tmp_path: Path, told: object, state: OrderState
) -> None:
    outcome = relayer(resolve_services(FILE), tmp_path / "j", TAKEN, told)
    assert outcome.state is state, outcome.reason


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_the_relayer_s_method_is_the_file_s_and_what_was_sent_by_it_is_sent_once(tmp_path: Path, method: str) -> None:
    speech = resolve_services({**FILE, "paths": FILE["paths"] | {"relayer": f"{method} /submit"}})
    script = {f"{method} /submit": [TAKEN], "GET /submissions/r-1": [reply(503, {})] * 9}
    with delivering_machine(tmp_path / "j") as desk, Wire(script) as wire:
        desk.world = desk.world._replace(speech=speech, patience_s=1)
        states = [submit_delivery(order("relayer", wire.url), desk.world).state for _ in range(2)]
        assert [seen.method for seen in wire.seen if seen.method != "GET"] == [method]
    assert states == [OrderState.ACCEPTED, OrderState.ACCEPTED]


@pytest.mark.parametrize("method", ["GET", "DELETE", "post", "", 1, None, "POST "])
def test_no_other_method_is_taken(method: object) -> None:
    with pytest.raises(UsageError, match=r"relayer: .* is not a path"):
        resolve_services({"format": SERVICES_FORMAT, "paths": {"relayer": f"{method} /submit"}})


def test_a_relayer_that_takes_nothing_without_an_envelope_has_taken_nothing_that_we_know_of(tmp_path: Path) -> None:
    for number, taken in enumerate(
        [reply(200, {"ok": False, "requestId": "r-1"}), reply(200, {"error": "x", "requestId": "r-1"}), reply(200, {})]
    ):
        outcome = relayer(resolve_services(FILE), tmp_path / str(number), taken, {})
        assert outcome.state is OrderState.UNKNOWN


@pytest.mark.parametrize(
    ("status", "told", "state"),
    [
        (202, {"queued": True}, OrderState.ACCEPTED),
        (200, {"queued": True, "twapId": "41"}, OrderState.ACCEPTED),
        (202, {"ok": True, "data": {"queued": True}}, OrderState.ACCEPTED),
        (202, {"queued": True, "twapId": 42}, OrderState.UNKNOWN),
        (202, {"queued": False}, OrderState.UNKNOWN),
        (202, {"queued": "true"}, OrderState.UNKNOWN),
        (202, {}, OrderState.UNKNOWN),
        (201, {"twapId": 41, "transactionHash": TX, "blockNumber": "0x7"}, OrderState.CONFIRMED),
    ],
)
def test_a_cancellation_that_is_only_queued_stays_open(
    tmp_path: Path, status: int, told: object, state: OrderState
) -> None:
    with delivering_machine(tmp_path / "j") as desk, Wire({"POST /twaps/cancel": [reply(status, told)]}) as wire:
        desk.world = desk.world._replace(speech=resolve_services(FILE))
        outcome = submit_delivery(order("twap", wire.url), desk.world)
    assert outcome.state is state


DONE = {"twapId": "41", "transactionHash": TX, "blockNumber": "0x7"}


@pytest.mark.parametrize(
    ("told", "used", "state"),
    [
        (DONE, True, OrderState.CONFIRMED),
        ({"ok": True, "data": DONE}, True, OrderState.CONFIRMED),
        (DONE, False, OrderState.ACCEPTED),
        (DONE, None, OrderState.ACCEPTED),
        (DONE | {"twapId": 42}, True, OrderState.ACCEPTED),
        ({name: value for name, value in DONE.items() if name != "twapId"}, True, OrderState.ACCEPTED),
        (DONE | {"queued": True}, True, OrderState.ACCEPTED),
        (DONE | {"blockNumber": None}, True, OrderState.ACCEPTED),
        (DONE | {"transactionHash": "0x1"}, True, OrderState.ACCEPTED),
        (DONE | {"error": "reverted"}, True, OrderState.ACCEPTED),
        (DONE | {"success": False}, True, OrderState.ACCEPTED),
        ({"twapId": 41, "queued": True}, True, OrderState.ACCEPTED),
        ({"twapId": 41, "status": "cancelled"}, True, OrderState.ACCEPTED),
        ([], True, OrderState.ACCEPTED),
    ],
)
def test_a_cancellation_that_was_taken_ends_by_a_transaction_a_block_and_a_used_nonce(
    tmp_path: Path, told: object, used: bool | None, state: OrderState
) -> None:
    file = {**FILE, "paths": FILE["paths"] | {"twap-status": "/twaps/{id}/state"}}
    script = {"POST /twaps/cancel": [reply(202, {"queued": True})], "GET /twaps/41/state": [reply(200, told)] * 4}
    with delivering_machine(tmp_path / "j") as desk, Wire(script) as wire:

        def read(*_: object) -> bool | None:  # unused until it is sent, or it would not be
            return used if any(seen.method == "POST" for seen in wire.seen) else False

        desk.world = desk.world._replace(speech=resolve_services(file), nonce_used=read, patience_s=3)
        outcome = submit_delivery(order("twap", wire.url), desk.world)
        assert outcome.state is state, outcome.reason
        assert [seen.method for seen in wire.seen].count("POST") == 1


@pytest.mark.parametrize("path", ["/twaps", "/twaps/{id}/{id}", "twaps/{id}", "/twaps/{id}?x=1", 5, None])
def test_the_read_of_a_twap_is_a_path_with_one_id(path: object) -> None:
    with pytest.raises(UsageError, match="twap-status"):
        resolve_services({"format": SERVICES_FORMAT, "paths": {"twap-status": path}})


@pytest.mark.parametrize(
    ("told", "entity"),
    [({"id": 5}, "5"), ({"id": "e-5"}, "e-5"), ({"id": True}, ""), ({"id": -5}, ""), ({"id": 5.0}, ""), ({}, "")],
)
def test_a_trigger_s_id_may_be_a_whole_number(tmp_path: Path, told: dict[str, Any], entity: str) -> None:
    script = {"POST /price-triggers": [reply(200, {"trigger": told})]}
    with delivering_machine(tmp_path / "j") as desk, Wire(script) as wire:
        desk.world = desk.world._replace(speech=resolve_services(FILE))
        outcome = submit_delivery(order("core-api-post", wire.url), desk.world)
        assert desk.world.journal.get(outcome.digest).entity_id == entity
    assert outcome.state is (OrderState.CONFIRMED if entity else OrderState.UNKNOWN)


# ---- the rest -------------------------------------------------------------------------------------------------------


def test_questions_begin_evenly_apart_and_without_a_limit_at_once() -> None:
    now_s, slept = [100.0], list[float]()

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now_s[0] += seconds

    spacing = Spacing(30, lambda: now_s[0], sleep)
    for _ in range(3):
        spacing.wait()
    now_s[0] += 60
    spacing.wait()
    assert slept == [2.0, 2.0]
    Spacing(0, lambda: now_s[0], sleep).wait()
    assert slept == [2.0, 2.0]


# ---- mutations of a good file ---------------------------------------------------------------------------------------

MUTATIONS = draws(80, 300)
PENDING_WORDS = ("queued", "in-progress", "awaiting confirmation", "unconfirmed", "PENDING")
FAILED_WORDS = ("failed", "tx_failed", "REVERTED", "execution error", "unsuccessful")
PLACES = ("outcome.state", "txHash", "outcome.minedBlock", "state", "receipt.block", "receipt.txHash", "requestId", "used",
          "state.isAvailable", "nonce", "available", "blockNumber", "status", "queued", "trader", "")  # fmt: skip


def _mutations(seed: int) -> Iterator[dict[str, Any]]:
    draw = random.Random(seed)
    for _ in range(MUTATIONS):
        made = copy.deepcopy(FILE)
        for _ in range(draw.randint(1, 2)):
            way = draw.randrange(5)
            if way == 0:
                word = draw.choice((*PENDING_WORDS, *FAILED_WORDS, "settled", "success"))
                made["words"][word] = draw.choice([*MEANINGS, "FILLED"])
                continue
            reply_name = draw.choice([*REPLIES])
            table = made["replies"].setdefault(reply_name, {})
            name = draw.choice([*REPLIES[reply_name]])
            if way == 1:
                table.pop(name, None)
            elif way == 2:
                table[name] = draw.choice(PLACES)
            elif way == 3 and type(value := table.get(name)) is str and value:
                at = draw.randrange(len(value))
                table[name] = value[:at] + draw.choice("a./{}_N\u202e") + value[at + 1 :]
            else:
                table[name] = draw.choice([True, False, 0, 1, -1, "", [], {}, None, "confirmed"])
        yield made


def test_a_hostile_file_is_refused_or_says_nothing_false(tmp_path: Path) -> None:
    draw, refused, taken = random.Random(38), 0, 0
    for number, made in enumerate(_mutations(16)):
        try:
            speech = resolve_services(made)
        except UsageError:
            refused += 1
            continue
        taken += 1
        waiting, failing = draw.choice(PENDING_WORDS), draw.choice(FAILED_WORDS)
        scenes = {
            "relay waits": said(waiting), "relay failed": said(failing, minedBlock=7),
            "relay waits, as it ships": {"status": "pending"},
        }  # fmt: skip
        for name, told in scenes.items():
            outcome, _ = relayed(speech, tmp_path / f"{number} {name}", told)
            _nothing_false(outcome, made, name)
        for word, more in ((waiting, {}), (failing, {"receipt": RECEIPT})):
            told = {"requestId": "r-1", "state": word, **more}
            _nothing_false(relayer(speech, tmp_path / f"{number} {word} relayer", TAKEN, told), made, word)
        for used in (True, False):
            answer = {"nonce": "7", "trader": "0x1", "state": {"isAvailable": not used}}
            assert used_in(answer, "0x1", "7", "trading", speech.replies["nonce"]) in (used, None), made
    assert (min(refused, taken) > MUTATIONS // 5, refused + taken) == (True, MUTATIONS), (refused, taken)


def _nothing_false(outcome: OrderOutcome, made: dict[str, Any], scene: str) -> None:
    error = outcome_error(outcome)
    assert outcome.state in OPEN, (scene, outcome, json.dumps(made))
    assert error is None or "sign a new" not in error.do, (scene, made)


def test_a_known_word_at_a_place_that_the_file_names_is_no_more_than_the_file_s_word(tmp_path: Path) -> None:
    reverted, _ = relayed(with_words(), tmp_path / "reverted", said("reverted", minedBlock=7))
    assert reverted.state is OrderState.ACCEPTED
    bare, _ = relayed(with_words(), tmp_path / "bare", said("confirmed"))
    assert bare.state is OrderState.ACCEPTED
    whole, _ = relayed(with_words(), tmp_path / "whole", said("confirmed", minedBlock=7))
    assert whole.state is OrderState.CONFIRMED


@pytest.mark.parametrize(("ok", "state"), [(False, OrderState.FAILED), (True, OrderState.CONFIRMED)])
def test_after_a_word_for_failure_the_chain_has_the_last_word(tmp_path: Path, ok: bool, state: OrderState) -> None:
    told = {"txHash": APPROVAL} | said("failed", minedBlock=7)
    script = {
        "POST /v2/relay": [reply(200, {"ok": True, "data": {"txHash": APPROVAL}})],
        f"GET /v2/relay/{APPROVAL}": [reply(200, {"ok": True, "data": told})],
    }
    block = {"number": "0x9", "timestamp": "0x1", "hash": TX, "transactions": []}
    answers = {
        "eth_chainId": hex(CHAIN_ID), "eth_getTransactionReceipt": receipt(ok), "eth_getTransactionCount": "0x1",
        "eth_blockNumber": "0x9", "eth_getBlockByNumber": block,
    }  # fmt: skip
    with delivering_machine(tmp_path / "j") as desk, Wire(script) as wire, Node(answers) as node:
        desk.world = desk.world._replace(
            speech=resolve_services(FILE), node=RpcClient(node.url, desk.world.http), patience_s=2
        )
        assert submit_delivery(order("relay", wire.url), desk.world).state is state
