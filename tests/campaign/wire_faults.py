"""Answers as no service should give them: a good answer in, what goes on the wire out."""

import gzip
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any, NamedTuple

from online.loopback import reply

BOMB_BYTES = 128 << 20
LOCATIONS = ("//xn--/", "mailto:x", "data:,x", "http://[", "http://a:99999/", "x:" + "y" * 70_000, "/again", "\x01")


class Sending(NamedTuple):
    """What is sent, in pieces, with a pause after each; how it then ends: ``close``, ``reset``, ``hold``.

    ``has_all``: the good answer is in it whole, so that an end that it tells was told. ``refuses``: it says that nothing was
    taken.
    """

    pieces: list[bytes]
    slow_s: float = 0.0
    ends: str = "close"
    has_all: bool = True
    refuses: bool = False


Fault = Callable[[Sending, Random], Sending]


def whole(status: int, document: Any) -> Sending:
    """Return an answer as it should be: one JSON document with its length."""
    return Sending([reply(status, document, "connection: close").data])


def _split(answer: Sending) -> tuple[bytes, bytes]:
    head, _, body = b"".join(answer.pieces).partition(b"\r\n\r\n")
    return head, body


def _kept(head: bytes) -> list[bytes]:
    return [line for line in head.split(b"\r\n") if not line.lower().startswith(b"content-length")]


def _with(answer: Sending, *lines: bytes, body: bytes | None = None, has_all: bool = False) -> Sending:
    head, good = _split(answer)
    return Sending(
        [b"\r\n".join((*_kept(head), *lines)) + b"\r\n\r\n" + (good if body is None else body)], has_all=has_all
    )


def head_one_byte_a_second(answer: Sending, _: Random) -> Sending:
    head, body = _split(answer)
    return Sending([bytes([each]) for each in head + b"\r\n\r\n" + body], slow_s=1.0)


def redirected(answer: Sending, drawn: Random) -> Sending:
    _, body = _split(answer)
    status, place = drawn.choice((301, 302, 303, 307, 308)), drawn.choice(LOCATIONS)
    head = f"HTTP/1.1 {status} X\r\nlocation: {place}\r\ncontent-length: {len(body)}\r\n\r\n"
    return Sending([head.encode("latin-1") + body], has_all=False)


def slow(answer: Sending, drawn: Random) -> Sending:
    data = b"".join(answer.pieces)
    size = drawn.randint(1 + len(data) // 60, 1 + len(data) // 10)
    return Sending([data[at : at + size] for at in range(0, len(data), size)], slow_s=0.01)


def cut(answer: Sending, drawn: Random) -> Sending:
    data = b"".join(answer.pieces)
    at = drawn.choice((0, 1, len(data) - 1, drawn.randint(2, len(data) - 2), drawn.randint(2, len(data) - 2)))
    return Sending([data[:at]] if at else [b""], ends=drawn.choice(("close", "reset")), has_all=False)


@cache
def _bomb() -> bytes:
    return gzip.compress(bytes(BOMB_BYTES), 1)


def gzip_bomb(answer: Sending, drawn: Random) -> Sending:
    coding = drawn.choice((b"gzip", b"gzip, gzip", b"deflate", b"br", b"x-gzip"))
    return _with(answer, b"content-encoding: " + coding, b"content-length: %d" % len(_bomb()), body=_bomb())


def wrong_length(answer: Sending, drawn: Random) -> Sending:
    _, body = _split(answer)
    size = len(body)
    wrong = (size + 1, size + 10**9, max(size - 1, 0), 0, -1, "x", "9" * 5000, f"+{size}")
    lines = drawn.choice([(size, size + 1), *((each,) for each in wrong)])
    return _with(answer, *(f"content-length: {line}".encode() for line in lines))


def chunked(answer: Sending, drawn: Random) -> Sending:
    _, body = _split(answer)
    one = b"%x\r\n%s\r\n" % (len(body), body)
    sent = drawn.choice(
        (
            one,  # no last chunk
            b"zz\r\n" + body,
            b"-5\r\n" + body,
            b"ffffffffffffffffff\r\n" + body,
            b"%x\r\n%s" % (len(body) + 50, body),
            b"%x\r\n%s\r\n0\r\n\r\n" % (max(len(body) - 3, 1), body),
            b"%x;%s\r\n%s\r\n0\r\n\r\n" % (len(body), b"e" * 70_000, body),
            one + b"0\r\n" + b"x: " + b"y" * 300_000,
        )
    )
    is_whole = b";" in sent[:9]  # a long extension is allowed
    return _with(answer, b"transfer-encoding: chunked", body=sent, has_all=is_whole)


def odd_head(answer: Sending, drawn: Random) -> Sending:
    _, body = _split(answer)
    numbered = [b"HTTP/1.1 %d X" % number for number in (99999, -1, 101)]
    first = drawn.choice([b"HTTP/1.1", b"HTTP/9.9 200 OK", b"200 OK", b"\x00\xff\xfe", *numbered])
    more = drawn.choice((b"", b"x: " + b"y" * 400_000, b"bad header", b"\x00: \x00", b"content-type: \xff"))
    return Sending([first + b"\r\n" + more + b"\r\n\r\n" + body], has_all=False)


def endless_head(answer: Sending, _: Random) -> Sending:
    del answer
    return Sending([b"HTTP/1.1 200 OK\r\n", *([b"x-more: " + b"y" * 4000 + b"\r\n"] * 500)], has_all=False)


def refusing(answer: Sending, drawn: Random) -> Sending:
    del answer
    status = drawn.choice((400, 401, 403, 404, 408, 409, 413, 422, 425, 429, 451, 499))
    said = {"ok": False, "error": {"code": drawn.choice(("BAD", "\x1b[2J", "NO_PRICE")), "message": "no"}}
    return whole(status, said)._replace(has_all=False, refuses=True)


def failing(answer: Sending, drawn: Random) -> Sending:
    del answer
    return whole(drawn.choice((500, 502, 503, 504, 520, 204, 206, 226)), {"error": "later"})._replace(has_all=False)


def other_document(answer: Sending, drawn: Random) -> Sending:
    deep, huge = b"[" * 100_000, b'{"a":"' + b"b" * (20 << 20) + b'"}'
    body = drawn.choice(
        (b"", b"null", b"[]", b"7", b"{", b"\xff\xfe", b"<html>", deep, huge, b'{"ok":true,"data":{}}', b"NaN")
    )
    return _with(answer, b"content-length: %d" % len(body), body=body)


def silent(answer: Sending, _: Random) -> Sending:
    del answer
    return Sending([b""], ends="hold", has_all=False)


FAULTS: dict[str, Fault] = {
    each.__name__.replace("_", "-"): each
    for each in (
        redirected, slow, cut, gzip_bomb, wrong_length, chunked, odd_head, endless_head, refusing, failing, other_document,
        head_one_byte_a_second, silent,
    )
}  # fmt: skip
WAITING = ("head-one-byte-a-second", "silent")
"""Those that cost the whole time-out of a sending: a few of each."""
