"""The process that reads pictures: the names of sources in, as one JSON list; records of what their codes say out."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from airlock_offline import airgap
from airlock_offline.confinement.confine import Needs, confine
from airlock_offline.scanning.records import END, ERROR, REMARK, TEXTS, error_value, record
from airlock_shared.errors import AirlockError
from airlock_shared.qr.sources import CAMERA, texts_of


def main() -> None:
    """Write a record for each picture, with the named files and, for a camera, the devices as all that it may open."""
    airgap.install()
    sources = json.loads(sys.stdin.buffer.read())
    files = [Path(source).absolute() for source in sources if not CAMERA.fullmatch(source)]
    confine(Needs(reads=tuple(files), machine=len(files) < len(sources)))
    try:
        for texts in texts_of(sources, lambda remark: _write(record(REMARK, remark))):
            _write(record(TEXTS, texts))
    except AirlockError as error:
        _write(record(ERROR, error_value(error)))
    else:
        _write(record(END))


def _write(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
