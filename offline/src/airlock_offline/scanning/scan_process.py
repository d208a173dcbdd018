"""The texts of the codes in pictures, read by another process, which is ended as soon as nobody wants more of them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any

from airlock_offline.confinement.command import end_child, start_child
from airlock_shared.errors import AirlockError, DocumentError, UsageError
from airlock_shared.wire.strict_json import parse_json

# ---- records --------------------------------------------------------------------------------------------------------
# What the process that reads pictures says: records of a kind, a length and a value. It is read as hostile.
# A record is one byte, its kind; four bytes, a length; and so much JSON in UTF-8. ``T`` has a picture's texts, ``S``
# a remark, ``E`` the error that it ended with; ``.`` is the end.


TEXTS, REMARK, ERROR, END = b"T", b"S", b"E", b"."
_MAX_BYTES = 1 << 20
MAX_TEXTS, MAX_LENGTH = 256, 8192  # codes in a picture; the longest code has 7,089 digits (ISO/IEC 18004)
_CHECKS = ("QR-IMAGE", "QR-LIMIT", "DOC-LINK", "DOC-FILE", "DOC-SIZE")  # what a picture may be refused with


def record(kind: bytes, value: Any = None) -> bytes:
    """Return a record."""
    data = json.dumps(value).encode()
    return kind + len(data).to_bytes(4, "big") + data


def error_value(error: AirlockError) -> dict[str, str]:
    """Return an error as the value of a record."""
    found = error.as_json()
    return {name: str(found.get(name, "")) for name in ("check", "what", "got", "expected", "do")}


def read_texts(data: bytes) -> list[str]:
    """Return a picture's texts. Raises ``DocumentError("QR-IMAGE")``."""
    value = _value(data)
    if not isinstance(value, list) or len(value) > MAX_TEXTS or not all(_is_text(text) for text in value):
        raise _broken("texts that are not texts")
    return value


def read_error(data: bytes) -> AirlockError:
    """Return an error: a refusal that a picture may have, a wrong use, or that the process is broken."""
    value = _value(data)
    if not isinstance(value, dict) or not all(_is_text(value.get(name)) for name in error_value(AirlockError(""))):
        return _broken("an error that is malformed")
    if not value["check"]:
        return UsageError(value["what"], do=value["do"])
    if value["check"] not in _CHECKS:
        return _broken("an error that reading a picture cannot give")
    return DocumentError(value["check"], value["what"], got=value["got"], expected=value["expected"], do=value["do"])


def _broken(got: str) -> DocumentError:
    """Return the refusal of a process that does not say what it should."""
    do = "take the pictures again; if it happens again, bring the document by file"
    return DocumentError("QR-IMAGE", "the process that reads pictures failed", got=got, expected="texts", do=do)


def _value(data: bytes) -> Any:
    try:
        return parse_json(data, max_bytes=_MAX_BYTES, max_depth=2)
    except DocumentError as error:
        raise _broken(error.what) from error


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= MAX_LENGTH


# ---- pictures process -----------------------------------------------------------------------------------------------


_CHILD = "airlock_offline.scanning.scan_child"


def texts_by_child(
    sources: Sequence[str],
    tell: Callable[[str], None],
    start: Callable[[], subprocess.Popen[bytes]] = lambda: start_child(_CHILD, cwd=os.getcwd()),  # noqa: PTH109
) -> Iterator[list[str]]:
    """Yield the texts of each picture, as ``airlock_shared.qr.scan.texts_of`` does in one process.

    Raises ``UsageError`` and ``DocumentError`` as it does, and ``DocumentError("QR-IMAGE")`` for a process that ends too
    early or says anything else.
    """
    process = start()
    try:
        assert process.stdin is not None  # noqa: S101 (both are pipes)
        assert process.stdout is not None  # noqa: S101
        _send(process.stdin, json.dumps(list(sources)).encode())
        while (kind := process.stdout.read(1)) != END:
            length = int.from_bytes(_exactly(process.stdout, 4), "big")
            if not kind or length > _MAX_BYTES:
                raise _broken("it ended too early" if not kind else f"a record of {length} bytes")
            data = _exactly(process.stdout, length)
            if kind == TEXTS:
                yield read_texts(data)
            elif kind == REMARK:
                remark = _value(data)
                if not _is_text(remark):
                    raise _broken("a remark that is not a text")
                tell(remark)
            else:
                raise read_error(data) if kind == ERROR else _broken(f"a record of kind {kind.hex()}")
    finally:
        end_child(process)


def _send(pipe: IO[bytes], data: bytes) -> None:
    try:
        pipe.write(data)
        pipe.close()
    except BrokenPipeError as error:
        raise _broken("it ended before it received its input") from error


def _exactly(pipe: IO[bytes], count: int) -> bytes:
    """Return so many bytes. Raises ``DocumentError("QR-IMAGE")`` when there are fewer."""
    data = pipe.read(count)
    if len(data) != count:
        raise _broken("it ended too early")
    return data
