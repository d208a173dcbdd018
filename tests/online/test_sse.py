"""The event-stream decoder: the standard, case by case and at any split, beside two independent decoders, and its caps."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import httpx
import httpx_sse
import pytest
from hypothesis import given
from hypothesis import strategies as st

from airlock_online.clients import sse
from airlock_online.clients.sse import SseDecoder, SseEvent
from airlock_shared.errors import ServiceError

VECTORS = Path(__file__).parents[1] / "vectors" / "sse"
PEER = Path(__file__).with_name("eventsource_peer.mjs")
PARSER = Path(__file__).parents[2] / ".tools" / "node" / "node_modules" / "eventsource-parser" / "dist" / "index.js"

CASES: list[dict[str, Any]] = [
    case for file in sorted(VECTORS.glob("*.json")) for case in json.loads(file.read_text())["cases"]
]
each_case = pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])


def decode(*chunks: bytes) -> list[SseEvent]:
    decoder = SseDecoder()
    return [item for chunk in chunks for item in decoder.feed(chunk)]


def differing(peer: str) -> set[str]:
    return {case["name"] for case in CASES if peer in case.get("differs", {})}


@each_case
def test_a_case_of_the_standard_is_decoded_as_it_says(case: dict[str, Any]) -> None:
    items, told = decode(bytes.fromhex(case["hex"])), case["events"]
    assert items == [SseEvent(event["type"], event["data"], event["id"]) for event in told]


@each_case
def test_a_case_is_decoded_alike_at_every_split_and_comes_out_with_its_last_byte(case: dict[str, Any]) -> None:
    stream = bytes.fromhex(case["hex"])
    whole = decode(stream)
    assert decode(*(bytes([byte]) for byte in stream)) == whole
    for one in range(len(stream) + 1):
        assert decode(stream[:one], stream[one:]) == whole
        two = min(one + 3, len(stream))
        assert decode(stream[:one], stream[one:two], b"", stream[two:]) == whole
    decoder, came = SseDecoder(), 0
    for at, byte in enumerate(stream, 1):
        came += len(decoder.feed(bytes([byte])))
        assert came == len(decode(stream[:at]))


def test_httpx_sse_agrees_except_where_the_cases_name_its_difference() -> None:
    found = set()
    for case in CASES:
        response = httpx.Response(
            200, headers={"content-type": "text/event-stream"}, content=bytes.fromhex(case["hex"])
        )
        theirs = [(event.event, event.data, event.id) for event in httpx_sse.EventSource(response).iter_sse()]
        if theirs != [(event["type"], event["data"], event["last_id"]) for event in case["events"]]:
            found.add(case["name"])
    assert found == differing("httpx-sse")


@pytest.mark.parametrize("byte_by_byte", [False, True])
def test_eventsource_parser_agrees_except_where_the_cases_name_its_difference(byte_by_byte: bool) -> None:
    if not shutil.which("node") or not PARSER.exists():
        pytest.skip("needs Node and eventsource-parser in .tools/node")
    chunks = [[f"{byte:02x}" for byte in bytes.fromhex(c["hex"])] if byte_by_byte else [c["hex"]] for c in CASES]
    asked = "".join(json.dumps(pieces) + "\n" for pieces in chunks)
    told = subprocess.run(["node", PEER, PARSER], input=asked.encode(), capture_output=True, check=True).stdout
    answers = [json.loads(line) for line in told.decode().strip("\n").split("\n")]
    found = set()
    for case, answer in zip(CASES, answers, strict=True):
        ours = [{"type": e["type"], "data": e["data"], "id": e["id"]} for e in case["events"]]
        if answer["events"] != ours:
            found.add(case["name"])
    assert found == differing("eventsource-parser")


PIECES = [
    b"\r",
    b"\n",
    b"\r\n",
    b":",
    b" ",
    b"data",
    b"id",
    b"event",
    b"x",
    b"\0",
    b"\xe2\x82\xac",
    b"\xff",
    b"\xef\xbb\xbf",
]


def by_the_standard(stream: bytes) -> list[tuple[str, str, str | None]]:
    """Follow the standard's text word by word, over the whole decoded stream."""
    text = stream.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    found: list[tuple[str, str, str | None]] = []
    data, kind = "", ""
    own: str | None = None
    for line in text.split("\n")[:-1]:
        if not line:
            if data:
                found.append((kind or "message", data[:-1], own))
            data, kind, own = "", "", None
        elif not line.startswith(":"):
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "data":
                data += value + "\n"
            elif name == "event":
                kind = value
            elif name == "id" and "\0" not in value:
                own = value
    return found


@given(st.lists(st.sampled_from(PIECES), max_size=60), st.integers(0, 200))
def test_any_stream_decodes_as_the_standard_says(pieces: list[bytes], at: int) -> None:
    stream = b"".join(pieces)
    items = decode(stream[:at], stream[at:])
    found = [(item.type, item.data, item.id) for item in items]
    assert found == by_the_standard(stream)


@pytest.fixture
def small_caps(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, cap in (("LINE", 20), ("EVENT", 30), ("STREAM", 100)):
        monkeypatch.setattr(sse, f"{name}_AT_MOST", cap)


@pytest.mark.parametrize(
    ("chunks", "what"),
    [
        ([b"x" * 21], "line"),
        ([b"x" * 15, b"x" * 6], "line"),
        ([b":" + b"x" * 20 + b"\n"], "line"),
        ([b"\n\n" + b"x" * 21 + b"\n"], "line"),
        ([b"data: 123456789\n" * 4], "event"),
        ([b"data\n"] * 31, "event|stream"),
        ([b":\n"] * 51, "stream"),
        ([b"x" * 101], "stream"),
    ],
)
@pytest.mark.usefixtures("small_caps")
def test_a_cap_passed_is_a_service_error(chunks: list[bytes], what: str) -> None:
    with pytest.raises(ServiceError, match=what):
        decode(*chunks)


@pytest.mark.usefixtures("small_caps")
def test_caps_are_not_passed_by_what_fits_exactly_and_count_anew_for_each_event() -> None:
    assert decode(b"data: " + b"x" * 14 + b"\n\n") == [SseEvent("message", "x" * 14, None)]
    assert decode(*[b":\n"] * 50) == []
    assert len(decode(*[b"data: 12345678\n\n"] * 6)) == 6
