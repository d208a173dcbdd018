"""The event stream on the wire, its independence of the connection, and the replay."""

from __future__ import annotations

import pytest

from online.rehearsal.conftest import OpenClient
from online.rehearsal.services_client import PROMPT, START_MS, ServicesClient, events_in


def test_the_wire_format_is_that_of_the_specification(desk: ServicesClient) -> None:
    reply = desk.post_order(desk.order(1, desk.close_payload()))
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert reply.headers["x-airlock-rehearsal"] == "simulator"
    assert reply.text.startswith(": open\n\nevent: MarketOrderAccepted\nid: 0\ndata: {")
    for block in reply.text.split("\n\n")[1:-1]:
        assert [line.split(": ")[0] for line in block.split("\n")] == ["event", "id", "data"]


def test_keep_alives_are_comments(open_desk: OpenClient) -> None:
    desk = open_desk(PROMPT._replace(pacing_s=0.05, keep_alive_s=0.01))
    text = desk.post_order(desk.order(1, desk.close_payload())).text
    assert ": keep-alive\n\n" in text
    assert [e.type for e in events_in(text)] == ["MarketOrderAccepted", "MarketOrderInitiated", "MarketOrderExecuted"]


def test_the_lifetime_cap_ends_the_view_and_not_the_order(open_desk: OpenClient) -> None:
    desk = open_desk(PROMPT._replace(pacing_s=0.2, stream_cap_s=0.05))
    accepted, error = desk.execute(1, desk.close_payload())
    assert (error.type, error.id, error.data["code"]) == ("Error", "", "STREAM_TIMEOUT")
    before = desk.status(accepted.data["trackingId"]).json()["events"]
    assert [e["type"] for e in before] == ["MarketOrderAccepted"]
    for _ in range(5000):
        events = desk.status(accepted.data["trackingId"]).json()["events"]
        if len(events) == 3:
            break
    assert [e["type"] for e in events] == ["MarketOrderAccepted", "MarketOrderInitiated", "MarketOrderExecuted"]
    assert all(e["payload"].get("code") != "STREAM_TIMEOUT" for e in events)


@pytest.mark.parametrize(("mode", "cap_s"), [("eip712", 60), ("eip7702", 180)])
def test_the_cap_is_that_of_the_specification_unless_it_is_set(mode: str, cap_s: int) -> None:
    assert PROMPT._replace(execution=mode).stream_cap == cap_s


def test_a_client_that_leaves_does_not_stop_the_order(open_desk: OpenClient) -> None:
    desk = open_desk(PROMPT._replace(pacing_s=0.02))
    body = desk.order(1, desk.close_payload())
    with desk.http.stream("POST", desk.services.batched_url + "/market/execute-batched", json=body) as reply:
        received = ""
        for text in reply.iter_text():
            received += text
            if events_in(received):
                break
    events = desk.outcome(events_in(received)[0].data["trackingId"])
    assert events[-1]["type"] == "MarketOrderExecuted"


def test_a_replay_has_everything_or_what_came_after(desk: ServicesClient) -> None:
    events = desk.execute(1, desk.close_payload())
    tracking_id = events[0].data["trackingId"]
    full = desk.status(tracking_id).json()["events"]
    assert [(str(e["seq"]), e["type"], e["payload"]) for e in full] == [(e.id, e.type, e.data) for e in events]
    assert {e["at"] for e in full} == {START_MS}
    assert all(set(e) == {"seq", "type", "payload", "at"} for e in full)
    assert [e["seq"] for e in desk.status(tracking_id, afterSeq=0).json()["events"]] == [1, 2]
    assert desk.status(tracking_id, afterSeq=2).json() == {"events": []}
    assert len(desk.status(tracking_id, afterSeq=-1).json()["events"]) == 3


def test_an_unknown_tracking_id_is_404(shared_desk: ServicesClient) -> None:
    reply = shared_desk.status("00000000-0000-4000-8000-000000000000")
    assert (reply.status_code, reply.json()["error"]) == (404, "Not Found")


@pytest.mark.parametrize("after", ["x", "", "1.5", "1e3", "--1", "-", "9" * 30, "٣"])
def test_an_after_seq_that_is_no_integer_is_refused(shared_desk: ServicesClient, after: str) -> None:
    assert shared_desk.status("x", afterSeq=after).status_code == 400
