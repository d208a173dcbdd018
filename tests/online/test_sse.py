"""The event-stream decoder: the WHATWG examples and rules, any split, and caps."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airlock_online.clients.sse import Caps, Comment, Item, SseDecoder, SseEvent
from airlock_shared.errors import ServiceError


def decode(*chunks: bytes, caps: Caps | None = None) -> list[Item]:
    decoder = SseDecoder(caps or Caps())
    return [item for chunk in chunks for item in decoder.feed(chunk)]


def events(*chunks: bytes) -> list[SseEvent]:
    return [item for item in decode(*chunks) if isinstance(item, SseEvent)]


# ---- the standard's own examples -----------------------------------------------------------------------------------


def test_the_first_example_of_the_standard() -> None:
    stream = b"data: This is the first message.\n\ndata: This is the second message, it\ndata: has two lines.\n\n"
    stream += b"data: This is the third message.\n\n"
    assert [event.data for event in events(stream)] == [
        "This is the first message.",
        "This is the second message, it\nhas two lines.",
        "This is the third message.",
    ]


def test_the_stock_ticker_example() -> None:
    assert [event.data for event in events(b"data: YHOO\ndata: +2\ndata: 10\n\n")] == ["YHOO\n+2\n10"]


def test_the_example_with_a_comment_and_ids() -> None:
    stream = b": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n"
    assert decode(stream) == [
        Comment(" test stream"),
        SseEvent("message", "first event", "1", "1"),
        SseEvent("message", "second event", "", ""),
        SseEvent("message", " third event", None, ""),
    ]


def test_the_example_with_empty_data() -> None:
    assert [event.data for event in events(b"data\n\ndata\ndata\n\ndata:")] == ["", "\n"]


def test_the_example_where_a_space_after_the_colon_is_optional() -> None:
    assert [event.data for event in events(b"data:test\n\ndata: test\n\n")] == ["test", "test"]


# ---- the rules -----------------------------------------------------------------------------------------------------


def test_a_named_event_and_fields_in_any_order() -> None:
    assert events(b"id: 4\ndata: {}\nevent: Error\n\n") == [SseEvent("Error", "{}", "4", "4")]


def test_an_event_without_an_id_of_its_own_is_told_from_one_that_inherits_it() -> None:
    first, second = events(b"id: 7\ndata: a\n\ndata: b\n\n")
    assert (first.id, second.id, second.last_id) == ("7", None, "7")


def test_an_id_in_a_block_without_data_is_not_the_next_events_own() -> None:
    assert events(b"id: 3\n\ndata: b\n\n") == [SseEvent("message", "b", None, "3")]


def test_an_id_with_nul_is_ignored() -> None:
    assert events(b"id: 1\0\ndata: a\n\n") == [SseEvent("message", "a", None, "")]


def test_a_name_is_forgotten_with_a_block_that_has_no_data() -> None:
    assert events(b"event: Error\n\ndata: a\n\n") == [SseEvent("message", "a", None, "")]


def test_a_final_event_without_its_blank_line_is_not_dispatched() -> None:
    assert events(b"data: a\n\ndata: b\n") == [SseEvent("message", "a", None, "")]


def test_unknown_fields_and_fields_in_another_case_are_ignored() -> None:
    assert events(b"Data: x\nfoo: y\n data: z\n\n") == []


def test_only_the_first_space_is_removed_and_later_colons_stay() -> None:
    assert events(b"data:  a: b\n\n")[0].data == " a: b"


@pytest.mark.parametrize(
    ("line", "retry"), [(b"retry: 3000", 3000), (b"retry: 3s", None), (b"retry: -1", None), (b"retry", None)]
)
def test_retry_is_digits_or_ignored(line: bytes, retry: int | None) -> None:
    decoder = SseDecoder()
    assert decoder.feed(line + b"\n\n") == []
    assert decoder.retry_ms == retry


def test_a_retry_of_other_digits_is_ignored() -> None:
    decoder = SseDecoder()
    decoder.feed("retry: ٣\n".encode())
    assert decoder.retry_ms is None


def test_a_keep_alive_comes_out_at_once_and_is_no_event() -> None:
    assert decode(b":\n") == [Comment("")]
    assert decode(b"data: a\n: ping\ndata: b\n\n") == [Comment(" ping"), SseEvent("message", "a\nb", None, "")]


def test_one_leading_byte_order_mark_is_dropped() -> None:
    assert events(b"\xef\xbb\xbfdata: a\n\n")[0].data == "a"


def test_a_second_byte_order_mark_belongs_to_the_field_name() -> None:
    assert events(b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n") == []
    assert events(b"data: a\n\n\xef\xbb\xbfdata: b\n\n")[1:] == []


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_every_line_end_ends_a_line(end: bytes) -> None:
    assert events(end.join([b"data: a", b"data: b", b"", b"data: c", b"", b""])) == [
        SseEvent("message", "a\nb", None, ""),
        SseEvent("message", "c", None, ""),
    ]


def test_line_ends_may_be_mixed() -> None:
    assert [event.data for event in events(b"data: a\r\rdata: b\n\r\ndata: c\r\n\n")] == ["a", "b", "c"]


def test_a_carriage_return_dispatches_without_waiting_for_what_follows() -> None:
    decoder = SseDecoder()
    assert decoder.feed(b"data: a\r\r") == [SseEvent("message", "a", None, "")]
    assert decoder.feed(b"\ndata: b\n\n") == [SseEvent("message", "b", None, "")]


def test_a_line_feed_after_a_split_carriage_return_is_swallowed_once() -> None:
    decoder = SseDecoder()
    assert decoder.feed(b"data: a\r") == []
    assert decoder.feed(b"") == []
    assert decoder.feed(b"\n") == []
    assert decoder.feed(b"\n") == [SseEvent("message", "a", None, "")]


def test_bytes_that_are_not_utf8_become_replacement_characters() -> None:
    assert events(b"data: a\xff\xe2\x82\n\n")[0].data == "a\ufffd\ufffd"


def test_other_line_separators_of_unicode_end_nothing() -> None:
    assert events("data: a\u2028b\x0bc\x85d\n\n".encode())[0].data == "a\u2028b\x0bc\x85d"


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


@given(st.lists(st.integers(0, len(STREAM)), max_size=12).map(sorted))
def test_any_splits_give_the_same(cuts: list[int]) -> None:
    edges = [0, *cuts, len(STREAM)]
    assert decode(*[STREAM[a:b] for a, b in itertools.pairwise(edges)]) == decode(STREAM)


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


def by_the_standard(stream: bytes) -> list[tuple[str, str, str]]:
    """Follow the standard's text word by word, over the whole decoded stream."""
    text = stream.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    found, data, kind, last = [], "", "", ""
    for line in text.split("\n")[:-1]:
        if not line:
            if data:
                found.append((kind or "message", data[:-1], last))
            data = kind = ""
        elif not line.startswith(":"):
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "data":
                data += value + "\n"
            elif name == "event":
                kind = value
            elif name == "id" and "\0" not in value:
                last = value
    return found


@given(st.lists(st.sampled_from(PIECES), max_size=60), st.integers(0, 200))
def test_any_stream_decodes_as_the_standard_says(pieces: list[bytes], at: int) -> None:
    stream = b"".join(pieces)
    assert [(e.type, e.data, e.last_id) for e in events(stream[:at], stream[at:])] == by_the_standard(stream)


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
    assert decode(b"data: " + b"x" * 14 + b"\n\n", caps=SMALL) == [SseEvent("message", "x" * 14, None, "")]
    assert len(decode(*[b":\n"] * 50, caps=SMALL)) == 50


def test_an_event_s_cap_is_counted_anew_for_each_event() -> None:
    assert len(decode(*[b"data: 12345678\n\n"] * 6, caps=SMALL)) == 6
