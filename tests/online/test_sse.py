"""The event-stream decoder: the WHATWG examples and rules, any split, and caps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airlock_online.clients.sse import Caps, Item, SseDecoder, SseEvent
from airlock_shared.errors import ServiceError


def decode(*chunks: bytes, caps: Caps | None = None) -> list[Item]:
    decoder = SseDecoder(caps or Caps())
    return [item for chunk in chunks for item in decoder.feed(chunk)]


def events(*chunks: bytes) -> list[SseEvent]:
    return [item for item in decode(*chunks) if isinstance(item, SseEvent)]


# ---- the rules -----------------------------------------------------------------------------------------------------


def test_a_carriage_return_dispatches_without_waiting_for_what_follows() -> None:
    decoder = SseDecoder()
    assert decoder.feed(b"data: a\r\r") == [SseEvent("message", "a", None)]
    assert decoder.feed(b"\ndata: b\n\n") == [SseEvent("message", "b", None)]


# ---- any split -----------------------------------------------------------------------------------------------------

STREAM = (
    b"\xef\xbb\xbf:open\r\nretry: 1\r\nid: 0\r\nevent: MarketOrderAccepted\r\n"
    b'data: {"trackingId":"\xc3\xa9\xf0\x9f\x94\x92"}\r\n\r\n'
    b": keep\revent: X\rdata: a\rdata: \xe2\x82\xac\r\r\n\nid: 1\ndata\n\nid: 2\0\ndata: last\n\n\ndata: never"
)


def test_every_single_split_gives_the_same() -> None:
    whole = decode(STREAM)
    assert len([item for item in whole if isinstance(item, SseEvent)]) == 4
    for at in range(len(STREAM) + 1):
        assert decode(STREAM[:at], STREAM[at:]) == whole
    assert decode(*[STREAM[i : i + 1] for i in range(len(STREAM))]) == whole


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
    assert [(e.type, e.data, e.id) for e in events(stream[:at], stream[at:])] == by_the_standard(stream)


@given(st.binary(max_size=300), st.integers(0, 300))
def test_noise_never_crashes(noise: bytes, at: int) -> None:
    assert decode(noise[:at], noise[at:]) == decode(noise)


# ---- caps ----------------------------------------------------------------------------------------------------------

SMALL = Caps(line=20, event=30, total=100)


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
def test_a_cap_passed_is_a_service_error(chunks: list[bytes], what: str) -> None:
    with pytest.raises(ServiceError, match=what):
        decode(*chunks, caps=SMALL)


def test_caps_are_not_passed_by_what_fits_exactly() -> None:
    assert decode(b"data: " + b"x" * 14 + b"\n\n", caps=SMALL) == [SseEvent("message", "x" * 14, None)]
    assert len(decode(*[b":\n"] * 50, caps=SMALL)) == 50


def test_an_event_s_cap_is_counted_anew_for_each_event() -> None:
    assert len(decode(*[b"data: 12345678\n\n"] * 6, caps=SMALL)) == 6
