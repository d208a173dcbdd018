"""The texts of the codes in pictures, read by another process, which is ended as soon as nobody wants more of them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from typing import IO

from airlock_offline import child_process
from airlock_offline.scanning.records import (
    END,
    ERROR,
    MAX_BYTES,
    REMARK,
    TEXTS,
    broken,
    read_error,
    read_remark,
    read_texts,
)

CHILD = "airlock_offline.scanning.pictures_child"


def texts_of(
    sources: Sequence[str],
    tell: Callable[[str], None],
    start: Callable[[], subprocess.Popen[bytes]] = lambda: child_process.start(CHILD, cwd=os.getcwd()),  # noqa: PTH109
) -> Iterator[list[str]]:
    """Yield the texts of each picture, as ``airlock_shared.qr.sources.texts_of`` does in one process.

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
            if not kind or length > MAX_BYTES:
                raise broken("it ended too early" if not kind else f"a record of {length} bytes")
            data = _exactly(process.stdout, length)
            if kind == TEXTS:
                yield read_texts(data)
            elif kind == REMARK:
                tell(read_remark(data))
            else:
                raise read_error(data) if kind == ERROR else broken(f"a record of kind {kind.hex()}")
    finally:
        child_process.end(process)


def _send(pipe: IO[bytes], data: bytes) -> None:
    try:
        pipe.write(data)
        pipe.close()
    except BrokenPipeError as error:
        raise broken("it ended before it received its input") from error


def _exactly(pipe: IO[bytes], count: int) -> bytes:
    """Return so many bytes. Raises ``DocumentError("QR-IMAGE")`` when there are fewer."""
    data = pipe.read(count)
    if len(data) != count:
        raise broken("it ended too early")
    return data
