"""The process that reads pictures: the names of sources in, as one JSON list; records of what their codes say out."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from airlock_offline import airgap
from airlock_offline.confinement.command import ALONE, confine
from airlock_offline.scanning.scan_process import END, ERROR, REMARK, TEXTS, error_value, record
from airlock_shared.errors import AirlockError
from airlock_shared.host.picture_sources import DPKG_STATUS
from airlock_shared.qr.scan import CAMERA, texts_of


def main() -> None:
    """Write a record for each picture.

    It may open the named files and cameras, Python, and the system's libraries; on an older kernel more is left to it.
    """
    airgap.install_airgap()
    sources = json.loads(sys.stdin.buffer.read())
    cameras = [match for source in sources if (match := CAMERA.fullmatch(source))]
    files = [Path(source).absolute() for source in sources if not CAMERA.fullmatch(source)]
    devices = [Path(f"/dev/video{int(match[1] or 0)}") for match in cameras]  # Video4Linux's name of a number
    confine(ALONE._replace(reads=(*files, Path("/", DPKG_STATUS)), devices=tuple(devices)))
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
