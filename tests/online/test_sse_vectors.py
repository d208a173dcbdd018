"""The event-stream decoder against the standard, case by case, at every split, and beside two independent decoders."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import httpx
import httpx_sse
import pytest

from airlock_online.clients.sse import Comment, Item, SseDecoder, SseEvent

VECTORS = Path(__file__).parents[1] / "vectors" / "sse"
PEER = Path(__file__).with_name("eventsource_peer.mjs")
PARSER = Path(__file__).parents[2] / ".tools" / "node" / "node_modules" / "eventsource-parser" / "dist" / "index.js"

CASES: list[dict[str, Any]] = [
    case for file in sorted(VECTORS.glob("*.json")) for case in json.loads(file.read_text())["cases"]
]
each_case = pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])


def decode(*chunks: bytes) -> list[Item]:
    decoder = SseDecoder()
    return [item for chunk in chunks for item in decoder.feed(chunk)]


def differing(peer: str) -> set[str]:
    return {case["name"] for case in CASES if peer in case.get("differs", {})}


@each_case
def test_a_case_of_the_standard_is_decoded_as_it_says(case: dict[str, Any]) -> None:
    items, told = decode(bytes.fromhex(case["hex"])), case["events"]
    assert [item for item in items if isinstance(item, SseEvent)] == [
        SseEvent(event["type"], event["data"], event["id"]) for event in told
    ]
    assert [item.text for item in items if isinstance(item, Comment)] == case["comments"]


@each_case
def test_a_case_is_decoded_alike_at_every_split_and_byte_by_byte(case: dict[str, Any]) -> None:
    stream = bytes.fromhex(case["hex"])
    whole = decode(stream)
    assert decode(*(bytes([byte]) for byte in stream)) == whole
    for one in range(len(stream) + 1):
        assert decode(stream[:one], stream[one:]) == whole
        two = min(one + 3, len(stream))
        assert decode(stream[:one], stream[one:two], b"", stream[two:]) == whole


@each_case
def test_what_is_complete_comes_out_with_the_byte_that_completes_it(case: dict[str, Any]) -> None:
    stream = bytes.fromhex(case["hex"])
    decoder, came = SseDecoder(), 0
    for at, byte in enumerate(stream, 1):
        came += len(decoder.feed(bytes([byte])))
        assert came == len(decode(stream[:at]))


def test_the_names_of_the_cases_are_unique_and_each_says_why() -> None:
    assert len({case["name"] for case in CASES}) == len(CASES)
    assert all(case["why"] for case in CASES)


# ---- beside others: where they differ, the case says why the standard is on our side ----------------------------------


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
