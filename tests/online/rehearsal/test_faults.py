"""Every fault of execution and of the network, over real HTTP."""

from __future__ import annotations

import time

import httpx
import pytest

from airlock_online.rehearsal.services import FAULTS, Faults
from airlock_online.rehearsal.services.faults import EVERYWHERE, IN_EXECUTION, IN_PAYLOADS
from airlock_shared.errors import UsageError
from online.rehearsal.conftest import OpenDesk
from online.rehearsal.desk import PROMPT, TRADER, Desk, Json, events_in
from online.rehearsal.intent_requests import REQUESTS

T = TRADER.address


# ---- in execution ----------------------------------------------------------------------------------------------------


def stream_until_cut(desk: Desk, body: Json) -> bytes:
    """Return what came before the connection was cut."""
    received = b""
    url = desk.services.batched_url + "/market/execute-batched"
    with desk.http.stream("POST", url, json=body) as reply:
        assert reply.status_code == 200
        try:
            for chunk in reply.iter_raw():
                received += chunk
        except httpx.RemoteProtocolError:
            return received
    raise AssertionError("the reply came to an orderly end")


def only_tracking_id(desk: Desk) -> str:
    """Return the id that the seed gives the first order."""
    return type(desk.world)(desk.world.settings, T, desk.clock).draw_id("tracking-id")


@pytest.mark.parametrize("failing", [1, 4])
def test_failed_attempts_come_before_the_registration(desk: Desk, failing: int) -> None:
    desk.faults(f"attempts-fail-{failing}")
    events = desk.execute(1, desk.close_payload())
    attempts = [e.data for e in events if e.type == "AttemptFailed"]
    assert [a["attempt"] for a in attempts] == list(range(1, failing + 1))
    assert all(set(a) == {"attempt", "code", "message", "willRetry"} and a["willRetry"] is True for a in attempts)
    assert events[-1].type == "MarketOrderExecuted"
    assert [e.id for e in events] == [str(i) for i in range(len(events))]


def test_exhausted_attempts_are_an_error_without_a_registration(desk: Desk) -> None:
    desk.faults("attempts-fail-9")
    payload = desk.close_payload()
    events = desk.execute(1, payload)
    assert [e.type for e in events] == ["MarketOrderAccepted", *["AttemptFailed"] * 5, "Error"]
    assert events[-2].data["willRetry"] is False
    assert set(events[-1].data) == {"status", "code", "message", "trackingId"}
    assert (events[-1].data["status"], events[-1].data["code"]) == ("failed", "ATTEMPTS_EXHAUSTED")
    assert not desk.nonce_used(payload)
    desk.faults()
    assert desk.execute(1, payload)[-1].type == "MarketOrderExecuted"


def test_an_unknown_event_is_persisted_and_ends_nothing(desk: Desk) -> None:
    desk.faults("unknown-event")
    events = desk.execute(1, desk.close_payload())
    assert [e.type for e in events][1] == "MarketPriceRefreshed"
    assert events[-1].type == "MarketOrderExecuted"
    replayed = desk.status(events[0].data["trackingId"]).json()["events"]
    assert [e["type"] for e in replayed] == [e.type for e in events]


def test_a_cancelled_fill_leaves_the_position(desk: Desk) -> None:
    desk.faults("cancel-fill")
    payload = desk.close_payload()
    assert desk.execute(1, payload)[-1].type == "MarketOrderCanceled"
    assert desk.position(0) is not None
    assert desk.nonce_used(payload)


def test_a_terminal_failure_after_registration_has_an_id_and_a_spent_nonce(desk: Desk) -> None:
    desk.faults("fail-terminal")
    payload = desk.close_payload()
    last = desk.execute(1, payload)[-1]
    assert (last.type, last.id, last.data["code"]) == ("Error", "2", "TX_NOT_EXECUTED")
    assert desk.nonce_used(payload)
    assert desk.position(0) is not None


def test_a_failed_enqueueing_has_no_id_and_is_not_persisted(desk: Desk) -> None:
    desk.faults("enqueue-failed-no-id")
    payload = desk.close_payload()
    accepted, error = desk.execute(1, payload)
    assert (error.type, error.id, error.data["code"]) == ("Error", "", "ENQUEUE_FAILED")
    assert [e["seq"] for e in desk.status(accepted.data["trackingId"]).json()["events"]] == [0]
    assert not desk.nonce_used(payload)


def test_the_lifetime_cap_by_fault_is_no_outcome(desk: Desk) -> None:
    desk.faults("stream-timeout")
    accepted, error = desk.execute(1, desk.close_payload())
    assert (error.type, error.id, error.data["code"]) == ("Error", "", "STREAM_TIMEOUT")
    events = desk.outcome(accepted.data["trackingId"])
    assert [e["type"] for e in events] == ["MarketOrderAccepted", "MarketOrderInitiated", "MarketOrderExecuted"]


def test_a_replay_can_be_doubled(desk: Desk) -> None:
    desk.faults("duplicate-replay")
    events = desk.execute(1, desk.close_payload())
    assert [e.id for e in events] == ["0", "0", "1", "1", "2", "2"]
    replayed = desk.status(events[0].data["trackingId"], afterSeq=2).json()["events"]
    assert [e["seq"] for e in replayed] == [0, 0, 1, 1, 2, 2]


def test_status_can_have_no_events_and_can_be_missing_once(desk: Desk) -> None:
    tracking_id = desk.execute(1, desk.close_payload())[0].data["trackingId"]
    desk.faults("empty-events")
    assert desk.status(tracking_id).json() == {"events": []}
    desk.faults("stream-timeout", "status-404-once")
    other = desk.execute(1, desk.close_payload(pairIndex=1, collateralToCloseUsdc="500"))[0].data["trackingId"]
    assert desk.status(other).status_code == 404
    assert desk.status(other).status_code == 200


# ---- on the wire -----------------------------------------------------------------------------------------------------


def test_dropped_before_accepted_the_order_still_executes(desk: Desk) -> None:
    desk.faults("drop-before-accepted")
    payload = desk.close_payload()
    assert stream_until_cut(desk, desk.order(1, payload)) == b""
    desk.faults()
    assert desk.outcome(only_tracking_id(desk))[-1]["type"] == "MarketOrderExecuted"
    assert desk.nonce_used(payload)
    assert desk.services.posts["batched"][payload["message"]["_nonce"]] == 1


def test_dropped_after_accepted_the_order_still_executes(desk: Desk) -> None:
    desk.faults("drop-after-accepted")
    received = stream_until_cut(desk, desk.order(1, desk.close_payload()))
    (accepted,) = events_in(received.decode())
    assert desk.outcome(accepted.data["trackingId"])[-1]["type"] == "MarketOrderExecuted"


def test_dropped_in_the_middle_of_a_frame(desk: Desk) -> None:
    desk.faults("drop-mid-frame")
    received = stream_until_cut(desk, desk.order(1, desk.close_payload()))
    assert [e.type for e in events_in(received.decode())] == ["MarketOrderAccepted"]
    assert b"event: MarketOrderInitiated" in received
    assert not received.endswith(b"\n\n")


@pytest.mark.parametrize("service", ["relayer", "twap", "core"])
def test_a_lost_reply_does_not_undo_what_was_asked(desk: Desk, service: str) -> None:
    desk.faults("drop-before-accepted")
    payload = desk.build("referral-set-code", **REQUESTS["referral-set-code"])
    if service == "relayer":
        with pytest.raises(httpx.RemoteProtocolError):
            desk.relay(payload)
        assert desk.services.posts["relayer"] == {"7": 1}
        return
    with pytest.raises(httpx.RemoteProtocolError):
        desk.http.post(desk.services.urls[service] + {"twap": "/twaps/cancel", "core": "/price-triggers"}[service],
                       json=trigger_or_cancel(desk, service))  # fmt: skip
    assert desk.services.posts[service] == {"7": 1}
    assert (41 in desk.world.twaps, len(desk.world.triggers)) == {"twap": (False, 0), "core": (True, 1)}[service]


def trigger_or_cancel(desk: Desk, service: str) -> Json:
    from online.rehearsal.test_twap_core import cancel_body, trigger_body

    if service == "twap":
        return cancel_body(desk.build("twap-cancel", **REQUESTS["twap-cancel"]))
    return trigger_body(desk.build("tpsl-partial", **REQUESTS["tpsl-partial"]))


PATHS = [
    ("builder", "GET", "/v2/meta"),
    ("builder", "POST", "/v2/intents/close"),
    ("batched", "POST", "/market/execute-batched"),
    ("batched", "GET", "/tracking-id/x/status"),
    ("relayer", "POST", "/intents"),
    ("relayer", "GET", "/intents/x"),
    ("twap", "POST", "/twaps/cancel"),
    ("core", "POST", "/price-triggers"),
    ("core", "PUT", "/price-triggers/x"),
]


@pytest.mark.parametrize(("service", "method", "path"), PATHS)
@pytest.mark.parametrize("status", [500, 429, 503])
def test_a_failing_server_answers_everything_with_its_status(
    shared_desk: Desk, status: int, service: str, method: str, path: str
) -> None:
    shared_desk.faults(f"http-{status}")
    reply = shared_desk.http.request(method, shared_desk.services.urls[service] + path, json={})
    shared_desk.faults()
    assert reply.status_code == status
    assert ("retry-after" in reply.headers) == (status == 429)
    assert reply.headers["x-airlock-rehearsal"] == "simulator"
    assert set(reply.json()) == ({"ok", "error"} if service in ("builder", "relayer") else
                                 {"statusCode", "message", "error"})  # fmt: skip


@pytest.mark.parametrize("fault", ["http-500", "http-429", "http-503", "not-json", "huge-body"])
def test_a_failing_market_processes_nothing_and_counts_everything(desk: Desk, fault: str) -> None:
    payload = desk.close_payload()
    desk.faults(f"{fault}@batched")
    with desk.http.stream("POST", desk.services.batched_url + "/market/execute-batched", json=desk.order(1, payload)):
        pass
    desk.faults()
    assert desk.services.posts["batched"] == {payload["message"]["_nonce"]: 1}
    assert desk.execute(1, payload)[-1].type == "MarketOrderExecuted"


def test_ready_has_its_breakdown_when_it_is_not(shared_desk: Desk) -> None:
    shared_desk.faults("http-503")
    reply = shared_desk.http.get(shared_desk.services.builder_url + "/ready")
    shared_desk.faults()
    assert reply.status_code == 503
    assert reply.json()["data"]["components"]["rpc"]["ok"] is False


@pytest.mark.parametrize(("service", "method", "path"), PATHS)
def test_a_page_of_html_comes_instead_of_json(shared_desk: Desk, service: str, method: str, path: str) -> None:
    shared_desk.faults("not-json")
    reply = shared_desk.http.request(method, shared_desk.services.urls[service] + path, json={})
    shared_desk.faults()
    assert reply.status_code == 200
    assert reply.headers["content-type"].startswith("text/html")
    assert reply.text.startswith("<!doctype")


def test_a_huge_body_goes_on_and_on(shared_desk: Desk) -> None:
    shared_desk.faults("huge-body")
    size = 0
    with shared_desk.http.stream("GET", shared_desk.services.builder_url + "/v2/meta") as reply:
        for chunk in reply.iter_raw():
            size += len(chunk)
    shared_desk.faults()
    assert size > 32 * 1024 * 1024


def test_a_silent_service_never_answers(desk: Desk) -> None:
    desk.faults("silent@builder")
    with pytest.raises(httpx.ReadTimeout):
        desk.http.get(desk.services.builder_url + "/v2/meta", timeout=0.1)
    assert desk.http.get(desk.services.url + "/rehearsal/faults").status_code == 200


def test_a_silent_market_processes_the_order_and_stays_mute(desk: Desk) -> None:
    payload = desk.close_payload()
    desk.faults("silent@batched")
    url = desk.services.batched_url + "/market/execute-batched"
    with desk.http.stream("POST", url, json=desk.order(1, payload), timeout=0.1) as reply:
        assert reply.status_code == 200
        with pytest.raises(httpx.ReadTimeout):
            next(reply.iter_raw())
    desk.faults()
    assert desk.outcome(only_tracking_id(desk))[-1]["type"] == "MarketOrderExecuted"


def test_a_slow_stream_comes_in_small_pieces(desk: Desk) -> None:
    payload = desk.close_payload()
    desk.faults("slow")
    url = desk.services.batched_url + "/market/execute-batched"
    with desk.http.stream("POST", url, json=desk.order(1, payload)) as reply:
        text = b"".join(reply.iter_raw()).decode()
    assert events_in(text)[-1].type == "MarketOrderExecuted"


def test_a_slow_service_waits_as_long_as_it_was_told(open_desk: OpenDesk) -> None:
    desk = open_desk(PROMPT._replace(slow_s=0.2))
    desk.faults("slow@builder")
    started = time.monotonic()
    desk.read("/v2/meta")
    assert time.monotonic() - started >= 0.2


# ---- the table -------------------------------------------------------------------------------------------------------


def test_every_fault_has_one_sentence_and_one_place() -> None:
    assert len(FAULTS) == len(IN_PAYLOADS) + len(IN_EXECUTION) + len(EVERYWHERE) == 27
    assert all(sentence.endswith(".") for sentence in FAULTS.values())


@pytest.mark.parametrize(
    "name",
    ["nope", "", "attempts-fail", "attempts-fail-", "attempts-fail-x", "http-500@moon", "http-500@", "cancel-fill@batched",
     "HTTP-500", "digest-flipped@builder", "attempts-fail-2@batched"],
)  # fmt: skip
def test_a_fault_that_is_not_in_the_table_is_refused(shared_desk: Desk, name: str) -> None:
    with pytest.raises(UsageError):
        Faults.of(name)
    reply = shared_desk.http.put(shared_desk.services.url + "/rehearsal/faults", json={"faults": [name]})
    assert reply.status_code == 400
    assert shared_desk.services.faults == Faults()


@pytest.mark.parametrize("body", [{}, {"faults": "slow"}, {"faults": [1]}, {"faults": None}])
def test_a_switch_of_another_shape_is_refused(shared_desk: Desk, body: Json) -> None:
    reply = shared_desk.http.put(shared_desk.services.url + "/rehearsal/faults", json=body)
    assert reply.status_code == 400


def test_faults_are_switched_over_http_too(desk: Desk) -> None:
    url = desk.services.url + "/rehearsal/faults"
    assert desk.http.put(url, json={"faults": ["http-500@builder"]}).json()["in_force"] == ["http-500@builder"]
    assert desk.http.get(desk.services.builder_url + "/v2/meta").status_code == 500
    assert desk.http.get(desk.services.batched_url + "/tracking-id/x/status").status_code == 404
    assert desk.http.put(url, json={"faults": []}).json()["in_force"] == []
    assert desk.http.get(desk.services.builder_url + "/v2/meta").status_code == 200
