"""A services file says how a venue speaks and proves nothing: what it may not say is refused, no lie in it told as true."""

import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from airlock_online.clients.builder import Spacing
from airlock_online.clients.builder_reads import used_in
from airlock_online.clients.reply_values import delegation_read, reply_names, status_word
from airlock_online.config import OnlineConfig, read_config
from airlock_online.delivery.outcome import OrderOutcome, outcome_error
from airlock_online.delivery.submit import submit_delivery
from airlock_online.home import OnlineHome
from airlock_online.journal.order_states import KNOWN_TYPES, OrderState
from airlock_online.speech.forms import read_services, resolve_services
from airlock_online.speech.sections import BODIES, OF_EVENTS, PATHS, REPLIES, SERVICES_FORMAT, SHIPPED, Speech
from airlock_shared.errors import UsageError
from online.crash.orders import order
from online.delivering_machine import Desk
from online.loopback import Seen, Wire, reply
from online.test_routes import APPROVAL, CANCEL, RELAY, RELAYED, STORE, TX, sent, taken
from second_venue.other_speech import SERVICES
from workspace.service_pages import MEMBERS

FILE: dict[str, Any] = tomllib.loads(SERVICES)
OPEN = {OrderState.ACCEPTED, OrderState.UNKNOWN, OrderState.REJECTED, OrderState.PREPARED}
"""What may be said while nothing is decided; REJECTED: the venue does not know the path, and has taken nothing."""
TAKEN = reply(200, {"requestId": "r-1", "state": "queued"})
RECEIPT = {"txHash": TX, "block": "0x20"}
DONE = {"twapId": "41", "transactionHash": TX, "blockNumber": "0x7"}


def with_words(**words: str) -> Speech:
    return resolve_services({**FILE, "words": words})


def test_what_ships_is_a_good_file_and_its_members_are_those_of_the_reference() -> None:
    whole = {"paths": {name: path for name, path in PATHS.items() if path}, "bodies": BODIES, "replies": REPLIES}
    assert resolve_services({"format": SERVICES_FORMAT, **whole}) == SHIPPED == OnlineConfig().speech
    assert resolve_services({"format": SERVICES_FORMAT}) == SHIPPED
    assert (SHIPPED.differences, OF_EVENTS) == (set(), KNOWN_TYPES)
    said = {(section, "NAME") for section in ("paths", "bodies", "requests")} | {
        ("words", "WORD"),
        ("limits", "builder"),
    }
    assert MEMBERS.keys() == said | {("replies", member) for reply in REPLIES.values() for member in reply}
    assert len(MEMBERS) <= 30


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
    "a section that there is not": {"checks": {"skip": True}},
    "a section that is none": {"words": "confirmed"},
    "a word that fails means confirmed": {"words": {"tx_failed": "confirmed"}},
    "a known word means another": {"words": {"pending": "reverted"}},
    "a known word in other letters": {"words": {"Pen-ding": "confirmed"}},
    "what is not confirmed means confirmed": {"words": {"not_confirmed": "confirmed"}},
    "an unconfirmed one means confirmed": {"words": {"unconfirmed": "confirmed"}},
    "what is in flight means confirmed": {"words": {"Inflight": "confirmed"}},
    "success means reverted": {"words": {"Success": "reverted"}},
    "one word with two meanings": {"words": {"Settled": "confirmed", "settled": "pending"}},
    "a meaning that there is not": {"words": {"settled": "filled"}},
    "an event of the market": {"words": {"MarketOrderExecuted": "confirmed"}},
    "a word of other letters": {"words": {"ѕuccess": "confirmed"}},
    "an empty word": {"words": {"": "pending"}},
    "used where it says available": {"replies": {"nonce": {"used": "available"}}},
    "used where it says unused": {"replies": {"nonce": {"used": "isUnused"}}},
    "available where it says used": {"replies": {"nonce": {"used": "not used"}}},
    "available where it says unavailable": {"replies": {"nonce": {"used": "not unavailable"}}},
    "enabled where it says disabled": {"replies": {"delegation": {"enabled": "isDisabled"}}},
    "a block that is a time": {"replies": {"relay": {"block": "blockTime"}}},
    "a block that is a status": {"replies": {"relay": {"block": "status_"}}},
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
    "a busy word that is a flag": {"replies": {"relayer": {"busy": True}}},
    "a busy word that is a status": {"replies": {"relayer": {"busy": "503"}}},
    "a whole address": {"paths": {"relayer": "https://other.example/relays"}},
    "a path of another host": {"paths": {"nonce": "//other.example/nonce"}},
    "a path with a query": {"paths": {"nonce": "/v2/nonce?used=false"}},
    "a path that goes up": {"paths": {"nonce": "/v2/../nonce"}},
    "a status path without an id": {"paths": {"relayer-status": "/intents"}},
    "a status path with two": {"paths": {"relayer-status": "/{id}/{id}"}},
    "a method that sends nothing": {"paths": {"relayer": "GET /submit"}},
    "a name that is nearly one": {"paths": {"relayer-state": "/intents/{id}"}},
    "a method of a read": {"paths": {"nonce": "POST /v2/nonce"}},
    "a path to what is not sent there": {"paths": {"relay-DelegateReq": "/v2/x"}},
    "a documented build where transactions are sent": {"paths": {"delegate": "/v2/relay"}},
    "a body with an unknown part": {"bodies": {"relayer": {"to": "$raw_transaction", "sig": "$signature"}}},
    "a body without the signature": {"bodies": {"relayer": {"abi": "$encoded_intent"}}},
    "a body with the signature twice": {"bodies": {"twap": {"a": "$signature", "b": "$signature"}}},
    "the signature in two parts": {"bodies": {"relayer": {"a": "$signature", "b": {"c": "$executing.data"}}}},
    "a body of which the mark was forgotten": {"bodies": {"relayer": {"abi": "encoded_intent", "sig": "$signature"}}},
    "a mark forgotten below": {"bodies": {"relayer": {"a": {"b": "message.nonce"}, "sig": "$signature"}}},
    "a body with a fraction": {"bodies": {"relayer": {"a": 1.5, "sig": "$signature"}}},
    "a body with a list": {"bodies": {"relayer": {"a": ["$signature"], "sig": "$signature"}}},
    "a body with a number that is too large": {"bodies": {"relayer": {"a": 1 << 60, "sig": "$signature"}}},
    "a body too deep": {"bodies": {"relayer": {"a": {"b": {"c": {"d": {"e": "$signature"}}}}}}},
    "a member that is none": {"bodies": {"relayer": {"a b": "$signature"}}},
    "a transaction with an intent's part": {"bodies": {"relay": {"raw": "$raw_transaction", "m": "$message.nonce"}}},
    "a transaction with a signature": {"bodies": {"relay": {"raw": "$raw_transaction", "s": "$signature"}}},
    "no transaction": {"bodies": {"relay": {"digest": "$digest"}}},
    "an order's type to the relayer": {"bodies": {"relayer": {"t": "$order_type", "s": "$signature"}}},
    "own of what ships": {"paths": {"DelegateReq": "/v2/other"}, "requests": {"DelegateReq": {}}},
    "own built where transactions are sent": {"paths": {"AReq": "/v2/RELAY"}, "requests": {"AReq": {}}},
    "own without a path": {"requests": {"AReq": {}}},
    "own without a request": {"paths": {"AReq": "/v2/other"}},
    "own by a leaf that is none": {"paths": {"AReq": "/v2/other"}, "requests": {"AReq": {"a": "$b..c"}}},
    "own by no decimals": {"paths": {"AReq": "/v2/x"}, "requests": {"AReq": {"a": "$b with 99 decimals"}}},
    "own that leaves out": {"paths": {"AReq": "/v2/other"}, "requests": {"AReq": {"a": "$nothing"}}},
    "a member of another action": {"requests": {"delegate": {"x": "$tradeIndex"}}},
    "a request of nothing": {"requests": {"withdraw": {"x": "y"}}},
    "two members of one name": {"requests": {"delegate": {"delegate": "$trader"}}},
    "one member by two names": {"requests": {"delegate": {"a": "$trader", "b": "$trader"}}},
    "a constant in the place of a value": {"requests": {"delegate": {"expirySeconds": 99}}},
    "a mark forgotten in a request": {"requests": {"delegate": {"until": "expirySeconds"}}},
    "a member of a request without a name": {"requests": {"all": {"": "$trader"}}},
    "a request with a fraction": {"requests": {"delegate": {"trader": 1.5}}},
    "left out, and not sent anyway": {"requests": {"delegate": {"x": "$nothing"}}},
    "beside that is no list": {"replies": {"builder": {"extra_members": "quoteId"}}},
    "no limit below zero": {"limits": {"builder": -1}},
    "a limit that is a flag": {"limits": {"builder": True}},
    "a limit of another service": {"limits": {"relayer": 60}},
    "a time in another form": {"replies": {"delegation": {"time": "unix-us"}}},
}


@pytest.mark.parametrize("case", BAD)
def test_what_a_services_file_may_not_say_is_refused_by_name(case: str) -> None:
    with pytest.raises(UsageError) as caught:
        resolve_services({"format": SERVICES_FORMAT, **BAD[case]})
    assert "mistake" in caught.value.what
    assert caught.value.do


@pytest.mark.parametrize(
    ("data", "meaning", "unknown"),
    [
        ({"state": "ready"}, "confirmed", False),
        ({"state": "ready", "status": "confirmed"}, "confirmed", False),
        ({"state": "ready", "status": "reverted"}, "", True),
        ({"state": "ready", "status": "a word of theirs"}, "confirmed", False),
        ({"state": "Ready"}, "", True),
        ({"state": None, "status": "confirmed"}, "", True),
        ({}, "", True),
    ],
)
def test_two_places_that_contradict_decide_nothing(data: dict[str, Any], meaning: str, unknown: bool) -> None:
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
        ({}, None),
    ],
)
def test_available_is_not_used_and_a_contradiction_tells_nothing(answer: dict[str, Any], used: bool | None) -> None:
    places = {"used": "not available"}
    assert used_in({"nonce": "7", **answer}, "0x1", "7", "trading", places) is used
    assert used_in({"nonce": "8", **answer}, "0x1", "7", "trading", places) is None
    assert used_in({"nonce": "7", **answer}, "0x1", "7", "referral", places) is None


@pytest.mark.parametrize(
    ("form", "told", "unix_s"),
    [
        ("iso", "2026-01-01T00:00:00Z", 1_767_225_600),
        ("iso", "2026-01-01T00:00:00", None),
        ("iso", "2026-01-01T00:00:00.5Z", None),
        ("iso", 1_767_225_600, None),
        ("unix-ms", 1_767_225_600_000, 1_767_225_600),
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


@pytest.mark.parametrize(
    ("own", "names"), [({}, True), ({"delegate": "0xb", "canSignIntents": True}, True), ({"delegate": "0xc"}, False)]
)
def test_what_stands_beside_the_flag_of_a_delegate_is_read_too(own: dict[str, Any], names: bool) -> None:
    grant = {"on": True, "to": 7, "trader": "0xa", "delegate": "0xB", "canSignIntents": True}
    places = {"enabled": "grants.0.on", "expiry": "grants.0.to", "time": "unix-s"}
    read = delegation_read({"grants": [grant], **own}, places)
    assert (reply_names(read, trader="0xa", delegate="0xb"), read["canSignIntents"]) == (names, True)


def relayed(desk: Desk, speech: Speech, *told: dict[str, Any]) -> tuple[OrderOutcome, list[Seen]]:
    """Relay a transaction at a venue that tells these things of it, one a question, the last for ever."""
    status = [reply(200, {"ok": True, "data": {"txHash": APPROVAL, **each}}) for each in told]
    desk.world = desk.world._replace(speech=speech, patience_s=3)
    return sent(desk, "relay", {RELAY: [taken()], RELAYED: status})


def said(word: str, **more: Any) -> dict[str, Any]:
    return {"outcome": {"state": word, **more}}


@pytest.mark.parametrize("beside", [{}, {"minedBlock": 7}])
@pytest.mark.parametrize(("word", "meaning"), [("rolled back", "reverted"), ("failed", "failed"), ("gone", "failed")])
def test_a_word_for_failure_ends_the_asking(desk: Desk, word: str, meaning: str, beside: dict[str, Any]) -> None:
    outcome, seen = relayed(desk, with_words(**{word: meaning}), said(word, **beside))
    error = outcome_error(outcome)
    assert (outcome.state, len(seen)) == (OrderState.ACCEPTED, 2)
    assert f"'{word}' at data.outcome.state, which the services file calls {meaning}" in outcome.reason
    assert error is not None
    assert ("sign" in error.do, "never sent again" in error.do) == (False, True)


@pytest.mark.parametrize(
    ("told", "state"),
    [
        (said("settled", minedBlock=7), OrderState.CONFIRMED),
        (said("settled", minedBlock="7"), OrderState.CONFIRMED),
        (said("settled"), OrderState.ACCEPTED),
        (said("settled", minedBlock="7f"), OrderState.ACCEPTED),
        (said("settled", minedBlock=7) | {"decodedError": "Paused()"}, OrderState.ACCEPTED),
        (said("settled", minedBlock=7) | {"success": False}, OrderState.ACCEPTED),
        (said("settled", minedBlock=7) | {"status": "reverted"}, OrderState.ACCEPTED),
        (said("settled", minedBlock=7) | {"hash": TX}, OrderState.ACCEPTED),
        (said("settled", minedBlock=7) | {"error": None, "success": True}, OrderState.CONFIRMED),
        (said("reverted", minedBlock=7), OrderState.ACCEPTED),
        (said("confirmed"), OrderState.ACCEPTED),
        (said("confirmed", minedBlock=7), OrderState.CONFIRMED),
    ],
)
def test_a_word_for_confirmed_counts_with_its_block_and_without_a_sign_of_failure(
    desk: Desk, told: dict[str, Any], state: OrderState
) -> None:
    outcome, _ = relayed(desk, with_words(settled="confirmed"), told)
    assert outcome.state is state, outcome.reason


def test_the_word_that_was_said_is_in_the_journal(desk: Desk) -> None:
    relayed(desk, with_words(settled="confirmed", queued="pending"), said("queued"), said("settled", minedBlock=7))
    assert desk.events[-1].payload == {"transactionHash": APPROVAL, "blockNumber": 7, "said": "settled"}


@pytest.mark.parametrize(
    ("told", "state"),
    [
        ({"requestId": "r-1", "state": "success", "receipt": RECEIPT}, OrderState.CONFIRMED),
        ({"requestId": "r-1", "state": "success", "receipt": {"txHash": TX}}, OrderState.ACCEPTED),
        ({"requestId": "r-1", "state": "success", "receipt": {"block": 3}}, OrderState.ACCEPTED),
        ({"requestId": "r-1", "state": "success", "receipt": RECEIPT, "ok": False}, OrderState.ACCEPTED),
        ({"requestId": "r-1", "state": "success", "receipt": RECEIPT, "success": False}, OrderState.ACCEPTED),
        ({"requestId": "r-1", "state": "success", "receipt": RECEIPT, "error": "x"}, OrderState.ACCEPTED),
        ({"requestId": "r-2", "state": "success", "receipt": RECEIPT}, OrderState.ACCEPTED),
        ({"id": "r-1", "state": "success", "receipt": RECEIPT}, OrderState.ACCEPTED),
        ({"ok": True, "data": {"requestId": "r-1", "state": "success", "receipt": RECEIPT}}, OrderState.CONFIRMED),
        ({"ok": True, "data": {"requestId": "r-1", "state": "success"}, "receipt": RECEIPT}, OrderState.ACCEPTED),
        ({"ok": False, "data": {"requestId": "r-1", "state": "success", "receipt": RECEIPT}}, OrderState.ACCEPTED),
        ({"requestId": "r-1", "state": "failed", "receipt": RECEIPT}, OrderState.ACCEPTED),
        ([], OrderState.ACCEPTED),
    ],
)
def test_a_relayer_without_envelope_is_held_to_the_same_evidence(desk: Desk, told: object, state: OrderState) -> None:
    desk.world = desk.world._replace(speech=resolve_services(FILE), patience_s=3)
    outcome, _ = sent(desk, "relayer", {"POST /submit": [TAKEN], "GET /submissions/r-1": [reply(200, told)]})
    assert outcome.state is state, outcome.reason


@pytest.mark.parametrize(("method", "end"), [("POST", ""), ("PUT", "/")])
def test_the_relayer_s_method_is_the_file_s_and_its_request_is_sent_once(desk: Desk, method: str, end: str) -> None:
    paths = {
        "relayer": f"{method} /submit{end}",
        "relayer-status": f"/submissions/{{id}}{end}",
        "nonce": f"/nonce{end}",
    }
    speech = resolve_services({**FILE, "paths": FILE["paths"] | paths | {"twap-TwapOpenOrder": f"/twaps{end}"}})
    script = {f"{method} /submit{end}": [TAKEN], f"GET /submissions/r-1{end}": [reply(503, {})] * 9}
    desk.world = desk.world._replace(speech=speech, patience_s=1)
    with Wire(script) as wire:
        states = [submit_delivery(order("relayer", wire.url), desk.world).state for _ in range(2)]
        assert [seen.method for seen in wire.seen if seen.method != "GET"] == [method]
    assert states == [OrderState.ACCEPTED, OrderState.ACCEPTED]


@pytest.mark.parametrize(
    ("status", "told", "state"),
    [
        (202, {"queued": True}, OrderState.ACCEPTED),
        (200, {"queued": True, "twapId": "41"}, OrderState.ACCEPTED),
        (202, {"queued": True, "twapId": 42}, OrderState.UNKNOWN),
        (202, {"queued": False}, OrderState.UNKNOWN),
        (202, {"queued": "true"}, OrderState.UNKNOWN),
        (201, {"twapId": 41, "transactionHash": TX, "blockNumber": "0x7"}, OrderState.CONFIRMED),
    ],
)
def test_a_cancellation_that_is_queued_is_open(desk: Desk, status: int, told: object, state: OrderState) -> None:
    desk.world = desk.world._replace(speech=resolve_services(FILE))
    assert sent(desk, "twap", {CANCEL: [reply(status, told)]})[0].state is state


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
        ({"twapId": 41, "status": "cancelled"}, True, OrderState.ACCEPTED),
    ],
)
def test_a_cancellation_that_was_taken_ends_by_a_transaction_a_block_and_a_used_nonce(
    desk: Desk, told: object, used: bool | None, state: OrderState
) -> None:
    file = {**FILE, "paths": FILE["paths"] | {"twap-status": "/twaps/{id}/state"}}
    script = {CANCEL: [reply(202, {"queued": True})], "GET /twaps/41/state": [reply(200, told)] * 4}
    before = iter([False])  # unused until it is sent, or it would not be
    desk.world = desk.reading(lambda *_: next(before, used))._replace(speech=resolve_services(file), patience_s=3)
    outcome, seen = sent(desk, "twap", script)
    assert outcome.state is state, outcome.reason
    assert [each.method for each in seen].count("POST") == 1


@pytest.mark.parametrize(
    ("told", "entity"),
    [({"id": 5}, "5"), ({"id": "e-5"}, "e-5"), ({"id": True}, ""), ({"id": -5}, ""), ({"id": 5.0}, ""), ({}, "")],
)
def test_a_trigger_s_id_may_be_a_whole_number(desk: Desk, told: dict[str, Any], entity: str) -> None:
    desk.world = desk.world._replace(speech=resolve_services(FILE))
    outcome, _ = sent(desk, "core-api-post", {STORE: [reply(200, {"trigger": told})]})
    assert desk.world.journal.get(outcome.digest).entity_id == entity
    assert outcome.state is (OrderState.CONFIRMED if entity else OrderState.UNKNOWN)


def test_questions_begin_evenly_apart_and_without_a_limit_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s, slept = [100.0], list[float]()

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now_s[0] += seconds

    clock = SimpleNamespace(monotonic=lambda: now_s[0], sleep=sleep)
    monkeypatch.setattr("airlock_online.clients.builder.time", clock)
    spacing = Spacing(30)
    for _ in range(3):
        spacing.wait()
    now_s[0] += 60
    spacing.wait()
    assert slept == [2.0, 2.0]
    Spacing(0).wait()
    assert slept == [2.0, 2.0]
