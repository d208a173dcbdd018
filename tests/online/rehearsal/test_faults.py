"""Every fault of execution and of the network, over real HTTP."""

from __future__ import annotations

import time

import httpx
import pytest

from airlock_rehearsal.services.faults import EVERYWHERE, FAULTS, IN_EXECUTION, IN_PAYLOADS, PLACES, Faults
from airlock_rehearsal.services.transport import another_hash
from airlock_rehearsal.services.venue.venue_state import set_up
from airlock_shared.errors import UsageError
from online.rehearsal.conftest import OpenClient
from online.rehearsal.intent_requests import REQUESTS
from online.rehearsal.services_client import PROMPT, TRADER, Json, ServicesClient, events_in
from online.rehearsal.wallet import node

T = TRADER.address


# ---- in execution ----------------------------------------------------------------------------------------------------


def stream_until_cut(desk: ServicesClient, body: Json) -> bytes:
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


def only_tracking_id(desk: ServicesClient) -> str:
    """Return the id that the seed gives the first order."""
    return set_up(desk.state.settings, T, desk.clock).draw_id("tracking-id")


@pytest.mark.parametrize("failing", [1, 4])
def test_failed_attempts_come_before_the_registration(desk: ServicesClient, failing: int) -> None:
    desk.faults(f"attempts-fail={failing}")
    events = desk.execute(1, desk.close_payload())
    attempts = [e.data for e in events if e.type == "AttemptFailed"]
    assert [a["attempt"] for a in attempts] == list(range(1, failing + 1))
    assert all(set(a) == {"attempt", "code", "message", "willRetry"} and a["willRetry"] is True for a in attempts)
    assert events[-1].type == "MarketOrderExecuted"
    assert [e.id for e in events] == [str(i) for i in range(len(events))]


def test_exhausted_attempts_are_an_error_without_a_registration(desk: ServicesClient) -> None:
    desk.faults("attempts-fail=9")
    payload = desk.close_payload()
    events = desk.execute(1, payload)
    assert [e.type for e in events] == ["MarketOrderAccepted", *["AttemptFailed"] * 5, "Error"]
    assert events[-2].data["willRetry"] is False
    assert set(events[-1].data) == {"status", "code", "message", "trackingId"}
    assert (events[-1].data["status"], events[-1].data["code"]) == ("failed", "ATTEMPTS_EXHAUSTED")
    assert not desk.nonce_used(payload)
    desk.faults()
    assert desk.execute(1, payload)[-1].type == "MarketOrderExecuted"


def test_an_unknown_event_is_persisted_and_ends_nothing(desk: ServicesClient) -> None:
    desk.faults("unknown-event")
    events = desk.execute(1, desk.close_payload())
    assert [e.type for e in events][1] == "MarketPriceRefreshed"
    assert events[-1].type == "MarketOrderExecuted"
    replayed = desk.status(events[0].data["trackingId"]).json()["events"]
    assert [e["type"] for e in replayed] == [e.type for e in events]


def test_a_cancelled_fill_leaves_the_position(desk: ServicesClient) -> None:
    desk.faults("cancel-fill")
    payload = desk.close_payload()
    assert desk.execute(1, payload)[-1].type == "MarketOrderCanceled"
    assert desk.position(0) is not None
    assert desk.nonce_used(payload)


def test_a_terminal_failure_after_registration_has_an_id_and_a_spent_nonce(desk: ServicesClient) -> None:
    desk.faults("fail-terminal")
    payload = desk.close_payload()
    last = desk.execute(1, payload)[-1]
    assert (last.type, last.id, last.data["code"]) == ("Error", "2", "TX_NOT_EXECUTED")
    assert desk.nonce_used(payload)
    assert desk.position(0) is not None


def test_a_failed_enqueueing_has_no_id_and_is_not_persisted(desk: ServicesClient) -> None:
    desk.faults("enqueue-failed-no-id")
    payload = desk.close_payload()
    accepted, error = desk.execute(1, payload)
    assert (error.type, error.id, error.data["code"]) == ("Error", "", "ENQUEUE_FAILED")
    assert [e["seq"] for e in desk.status(accepted.data["trackingId"]).json()["events"]] == [0]
    assert not desk.nonce_used(payload)


def test_the_lifetime_cap_by_fault_is_no_outcome(desk: ServicesClient) -> None:
    desk.faults("stream-timeout")
    accepted, error = desk.execute(1, desk.close_payload())
    assert (error.type, error.id, error.data["code"]) == ("Error", "", "STREAM_TIMEOUT")
    events = desk.outcome(accepted.data["trackingId"])
    assert [e["type"] for e in events] == ["MarketOrderAccepted", "MarketOrderInitiated", "MarketOrderExecuted"]


def test_a_replay_can_be_doubled(desk: ServicesClient) -> None:
    desk.faults("duplicate-replay")
    events = desk.execute(1, desk.close_payload())
    assert [e.id for e in events] == ["0", "0", "1", "1", "2", "2"]
    replayed = desk.status(events[0].data["trackingId"], afterSeq=2).json()["events"]
    assert [e["seq"] for e in replayed] == [0, 0, 1, 1, 2, 2]


def test_status_can_have_no_events_and_can_be_missing_once(desk: ServicesClient) -> None:
    tracking_id = desk.execute(1, desk.close_payload())[0].data["trackingId"]
    desk.faults("empty-events")
    assert desk.status(tracking_id).json() == {"events": []}
    desk.faults("stream-timeout", "status-404-once")
    other = desk.execute(1, desk.close_payload(pairIndex=1, collateralToCloseUsdc="500"))[0].data["trackingId"]
    assert desk.status(other).status_code == 404
    assert desk.status(other).status_code == 200


def test_an_attempt_can_fail_after_the_registration(desk: ServicesClient) -> None:
    desk.faults("late-attempt")
    kinds = [e.type for e in desk.execute(1, desk.close_payload())]
    assert kinds == ["MarketOrderAccepted", "MarketOrderInitiated", "AttemptFailed", "MarketOrderExecuted"]


@pytest.mark.parametrize("code", ["NO_PRICE", "SPREAD_BLOCKED", "SUBMISSION_FAILED", "WrongSl", "HighSlippage"])
def test_an_order_can_end_with_any_code_before_it_is_registered(desk: ServicesClient, code: str) -> None:
    desk.faults(f"error={code}@batched")
    payload = desk.close_payload()
    accepted, error = desk.execute(1, payload)
    assert (error.type, error.id, error.data["code"]) == ("Error", "1", code)
    assert error.data["trackingId"] == accepted.data["trackingId"]
    assert not desk.nonce_used(payload)


def test_a_replay_can_have_a_second_end_and_be_out_of_order(desk: ServicesClient) -> None:
    desk.faults("second-terminal")
    tracking_id = desk.execute(1, desk.close_payload())[0].data["trackingId"]
    kinds = [e["type"] for e in desk.status(tracking_id).json()["events"]]
    assert kinds[-2:] == ["MarketOrderExecuted", "Error"]
    desk.faults("out-of-order-replay")
    assert [e["seq"] for e in desk.status(tracking_id).json()["events"]] == [3, 2, 1, 0]


# ---- on the wire -----------------------------------------------------------------------------------------------------


def test_dropped_before_accepted_the_order_still_executes(desk: ServicesClient) -> None:
    desk.faults("drop-before-accepted")
    payload = desk.close_payload()
    assert stream_until_cut(desk, desk.order(1, payload)) == b""
    desk.faults()
    assert desk.outcome(only_tracking_id(desk))[-1]["type"] == "MarketOrderExecuted"
    assert desk.nonce_used(payload)
    assert desk.services.posts["batched"][payload["message"]["_nonce"]] == 1


def test_dropped_after_accepted_the_order_still_executes(desk: ServicesClient) -> None:
    desk.faults("drop-after-accepted")
    received = stream_until_cut(desk, desk.order(1, desk.close_payload()))
    (accepted,) = events_in(received.decode())
    assert desk.outcome(accepted.data["trackingId"])[-1]["type"] == "MarketOrderExecuted"


def test_dropped_in_the_middle_of_a_frame(desk: ServicesClient) -> None:
    desk.faults("drop-mid-frame")
    received = stream_until_cut(desk, desk.order(1, desk.close_payload()))
    assert [e.type for e in events_in(received.decode())] == ["MarketOrderAccepted"]
    assert b"event: MarketOrderInitiated" in received
    assert not received.endswith(b"\n\n")


def test_a_stream_without_keep_alive_has_no_comments(open_desk: OpenClient) -> None:
    desk = open_desk(PROMPT._replace(keep_alive_s=0.001, pacing_s=0.01))
    assert ": keep-alive" in desk.post_order(desk.order(1, desk.close_payload(collateralToCloseUsdc="1"))).text
    desk.faults("no-keep-alive")
    text = desk.post_order(desk.order(1, desk.close_payload(collateralToCloseUsdc="2"))).text
    assert text.startswith("event: MarketOrderAccepted")
    assert not any(line.startswith(":") for line in text.split("\n"))


def test_an_order_answered_with_500_executes_all_the_same(desk: ServicesClient) -> None:
    desk.faults("http-500-after")
    payload = desk.close_payload()
    assert desk.post_order(desk.order(1, payload)).status_code == 500
    assert desk.outcome(only_tracking_id(desk))[-1]["type"] == "MarketOrderExecuted"
    assert desk.services.posts["batched"] == {payload["message"]["_nonce"]: 1}


@pytest.mark.parametrize(("service", "path"), [("twap", "/twaps/cancel"), ("core", "/price-triggers")])
def test_what_was_done_may_never_be_answered_or_answered_with_500(
    desk: ServicesClient, service: str, path: str
) -> None:
    body, url = trigger_or_cancel(desk, service), desk.services.urls[service] + path
    desk.faults(f"http-500-after@{service}")
    assert desk.http.post(url, json=body).status_code == 500
    assert (desk.state.twap_trader(41) == T, len(desk.state.triggers)) == {"twap": (False, 0), "core": (True, 1)}[
        service
    ]
    desk.faults(f"silent-after@{service}")
    assert desk.http.post(url, json=body).status_code in (400, 404)


def test_a_twap_service_can_tell_another_hash(desk: ServicesClient) -> None:
    desk.faults("wrong-hash@twap")
    reply = desk.http.post(desk.services.twap_url + "/twaps/cancel", json=trigger_or_cancel(desk, "twap")).json()
    assert node(desk, "eth_getTransactionReceipt", reply["transactionHash"]) is None
    right = another_hash(reply["transactionHash"])
    assert node(desk, "eth_getTransactionReceipt", right)["status"] == "0x1"


@pytest.mark.parametrize("service", ["relayer", "twap", "core"])
def test_a_lost_reply_does_not_undo_what_was_asked(desk: ServicesClient, service: str) -> None:
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
    assert (desk.state.twap_trader(41) == T, len(desk.state.triggers)) == {"twap": (False, 0), "core": (True, 1)}[
        service
    ]


def trigger_or_cancel(desk: ServicesClient, service: str) -> Json:
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
    ("builder", "POST", "/v2/token/approve"),
    ("builder", "POST", "/v2/relay"),
    ("builder", "GET", "/v2/relay/x"),
    ("rpc", "POST", ""),
]


@pytest.mark.parametrize(("service", "method", "path"), PATHS)
@pytest.mark.parametrize("status", [500, 429, 503])
def test_a_failing_server_answers_everything_with_its_status(
    shared_desk: ServicesClient, status: int, service: str, method: str, path: str
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
def test_a_failing_market_processes_nothing_and_counts_everything(desk: ServicesClient, fault: str) -> None:
    payload = desk.close_payload()
    desk.faults(f"{fault}@batched")
    with desk.http.stream("POST", desk.services.batched_url + "/market/execute-batched", json=desk.order(1, payload)):
        pass
    desk.faults()
    assert desk.services.posts["batched"] == {payload["message"]["_nonce"]: 1}
    assert desk.execute(1, payload)[-1].type == "MarketOrderExecuted"


def test_ready_has_its_breakdown_when_it_is_not(shared_desk: ServicesClient) -> None:
    shared_desk.faults("http-503")
    reply = shared_desk.http.get(shared_desk.services.builder_url + "/ready")
    shared_desk.faults()
    assert reply.status_code == 503
    assert reply.json()["data"]["components"]["rpc"]["ok"] is False


@pytest.mark.parametrize(("service", "method", "path"), PATHS)
def test_a_page_of_html_comes_instead_of_json(
    shared_desk: ServicesClient, service: str, method: str, path: str
) -> None:
    shared_desk.faults("not-json")
    reply = shared_desk.http.request(method, shared_desk.services.urls[service] + path, json={})
    shared_desk.faults()
    assert reply.status_code == 200
    assert reply.headers["content-type"].startswith("text/html")
    assert reply.text.startswith("<!doctype")


def test_a_huge_body_goes_on_and_on(shared_desk: ServicesClient) -> None:
    shared_desk.faults("huge-body")
    size = 0
    with shared_desk.http.stream("GET", shared_desk.services.builder_url + "/v2/meta") as reply:
        for chunk in reply.iter_raw():
            size += len(chunk)
    shared_desk.faults()
    assert size > 32 * 1024 * 1024


def test_a_silent_service_never_answers(desk: ServicesClient) -> None:
    desk.faults("silent@builder")
    with pytest.raises(httpx.ReadTimeout):
        desk.http.get(desk.services.builder_url + "/v2/meta", timeout=0.1)
    assert desk.http.get(desk.services.url + "/rehearsal/faults").status_code == 200


def test_a_silent_market_processes_the_order_and_stays_mute(desk: ServicesClient) -> None:
    payload = desk.close_payload()
    desk.faults("silent@batched")
    url = desk.services.batched_url + "/market/execute-batched"
    with desk.http.stream("POST", url, json=desk.order(1, payload), timeout=0.1) as reply:
        assert reply.status_code == 200
        with pytest.raises(httpx.ReadTimeout):
            next(reply.iter_raw())
    desk.faults()
    assert desk.outcome(only_tracking_id(desk))[-1]["type"] == "MarketOrderExecuted"


def test_a_slow_stream_comes_in_small_pieces(desk: ServicesClient) -> None:
    payload = desk.close_payload()
    desk.faults("slow")
    url = desk.services.batched_url + "/market/execute-batched"
    with desk.http.stream("POST", url, json=desk.order(1, payload)) as reply:
        text = b"".join(reply.iter_raw()).decode()
    assert events_in(text)[-1].type == "MarketOrderExecuted"


def test_a_slow_service_waits_as_long_as_it_was_told(open_desk: OpenClient) -> None:
    desk = open_desk(PROMPT._replace(slow_s=0.2))
    desk.faults("slow@builder")
    started = time.monotonic()
    desk.read("/v2/meta")
    assert time.monotonic() - started >= 0.2


# ---- the table -------------------------------------------------------------------------------------------------------


def test_every_fault_has_one_sentence_and_its_places() -> None:
    assert len(FAULTS) == len(IN_PAYLOADS) + len(IN_EXECUTION) + len(EVERYWHERE) == 40
    assert all(fault.does.endswith(".") and fault.where for fault in FAULTS.values())
    assert all(set(fault.where) <= set(PLACES) for fault in FAULTS.values())


@pytest.mark.parametrize(
    "name",
    ["nope", "", "@", "=", "attempts-fail", "attempts-fail=", "attempts-fail=x", "attempts-fail-2", "attempts-fail=1000",
     "attempts-fail=2@core", "attempts-fail=2@", "error", "error=", "error=a b", "error=NO_PRICE@builder", "http-500@moon",
     "http-500@", "http-500=3", "slow=1@core", "cancel-fill@core", "HTTP-500", "digest-flipped@batched",
     "simulation-fails@rpc", "wrong-hash@batched", "http-500@builder@core"],
)  # fmt: skip
def test_a_fault_that_is_not_in_the_table_is_refused(shared_desk: ServicesClient, name: str) -> None:
    with pytest.raises(UsageError):
        Faults.of(name)
    reply = shared_desk.http.put(shared_desk.services.url + "/rehearsal/faults", json={"faults": [name]})
    assert reply.status_code == 400
    assert shared_desk.services.faults == Faults()


def test_a_fault_holds_at_its_place_alone() -> None:
    faults = Faults.of(
        "http-500@relay", "slow", "attempts-fail=3@batched", "attempts-fail=12", "error=NO_PRICE@batched"
    )
    assert (faults.has("http-500", "relay"), faults.has("http-500", "builder")) == (True, False)
    assert all(faults.has("slow", place) for place in PLACES)
    assert faults.failing_attempts == 12
    assert (faults.value("error", "batched"), faults.value("error", "core")) == ("NO_PRICE", None)


@pytest.mark.parametrize("body", [{}, {"faults": "slow"}, {"faults": [1]}, {"faults": None}])
def test_a_switch_of_another_shape_is_refused(shared_desk: ServicesClient, body: Json) -> None:
    reply = shared_desk.http.put(shared_desk.services.url + "/rehearsal/faults", json=body)
    assert reply.status_code == 400


def test_faults_are_switched_over_http_too(desk: ServicesClient) -> None:
    url = desk.services.url + "/rehearsal/faults"
    assert desk.http.put(url, json={"faults": ["http-500@builder"]}).json()["in_force"] == ["http-500@builder"]
    assert desk.http.get(desk.services.builder_url + "/v2/meta").status_code == 500
    assert desk.http.get(desk.services.batched_url + "/tracking-id/x/status").status_code == 404
    assert desk.http.put(url, json={"faults": []}).json()["in_force"] == []
    assert desk.http.get(desk.services.builder_url + "/v2/meta").status_code == 200
