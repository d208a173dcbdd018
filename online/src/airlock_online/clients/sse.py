"""Server-sent events, decoded incrementally and without I/O.

Source of the rules: WHATWG HTML, 9.2.6 "Interpreting an event stream". One thing is told that a browser hides, because an
order depends on it: whether this very event carried an ``id:`` (a stream's time-out has none). Everything is capped: the
peer may be hostile.
"""

from __future__ import annotations

from typing import NamedTuple

from airlock_shared.errors import ServiceError

LINE_AT_MOST, EVENT_AT_MOST, STREAM_AT_MOST = 256 << 10, 1 << 20, 8 << 20
"""The most bytes that a line, one event's data, and a whole stream may have."""


class SseEvent(NamedTuple):
    """A dispatched event. ``id`` is the one that this event itself carried, None without an ``id:`` line of its own."""

    type: str
    data: str
    id: str | None


class SseDecoder:
    """Bytes in any pieces go in, events come out. An event without its final blank line never comes out."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._after_cr = False
        self._encoding = "utf-8-sig"  # before the first line, and there alone, a byte order mark may stand
        self._total = 0
        self._type = ""
        self._data: list[str] = []
        self._data_size = 0
        self._own_id: str | None = None

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Return what the next bytes complete. Raises ``ServiceError`` when a cap is passed."""
        self._total += len(chunk)
        if self._total > STREAM_AT_MOST:
            raise _too_large("stream", STREAM_AT_MOST)
        if self._after_cr and chunk:  # the LF of a CRLF that was split between two chunks
            chunk = chunk.removeprefix(b"\n")
            self._after_cr = False
        if not chunk:
            return []
        self._after_cr = chunk.endswith(b"\r")
        items: list[SseEvent] = []
        for number, piece in enumerate(chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")):
            if number:  # a line end, which is never part of a character, stands before this piece
                self._take(self._rest.decode(self._encoding, "replace"), items)
                self._encoding = "utf-8"
                self._rest.clear()
            self._rest += piece
            if len(self._rest) > LINE_AT_MOST:
                raise _too_large("line", LINE_AT_MOST)
        return items

    def _take(self, line: str, items: list[SseEvent]) -> None:
        if not line:
            if self._data:
                items.append(SseEvent(self._type or "message", "\n".join(self._data), self._own_id))
            self._type, self._data, self._data_size, self._own_id = "", [], 0, None
            return
        name, _, value = line.partition(":")  # of a comment, no name
        self._field(name, value.removeprefix(" "))

    def _field(self, name: str, value: str) -> None:
        if name == "data":
            self._data_size += len(value) + 1
            if self._data_size > EVENT_AT_MOST:
                raise _too_large("event", EVENT_AT_MOST)
            self._data.append(value)
        elif name == "event":
            self._type = value
        elif name == "id" and "\0" not in value:
            self._own_id = value


def _too_large(what: str, cap: int) -> ServiceError:
    return ServiceError(
        f"the event stream's {what} has more than {cap} bytes",
        do="ask the service's operator; the order is followed by its status instead",
    )
