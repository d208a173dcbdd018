"""A file that cannot be locked is told with its name and the reason, wherever a lock is taken."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from airlock_offline.ledger.usb import DeviceLock, HeldByAnother
from airlock_offline.signing.guards import account_lock
from airlock_online.preparing.kept_payloads import KeptPayloads
from airlock_shared.errors import AirlockError, UsageError
from airlock_shared.host.files import TranscriptFile


def _sign(folder: Path) -> None:
    with account_lock(folder, bytes(20)):
        pass


def _prepare(folder: Path) -> None:
    with KeptPayloads(folder, "a" * 64, "b" * 64).alone():
        pass


def _record(folder: Path) -> None:
    TranscriptFile(folder / "transcript.jsonl").record("test", {}, 0)


def _open_device(folder: Path) -> None:
    DeviceLock("device", folder).release()


@pytest.mark.parametrize("take", [_sign, _prepare, _record, _open_device])
def test_a_disk_without_locks_is_told_with_the_file_and_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, take: Callable[[Path], None]
) -> None:
    take(tmp_path)

    def none(_descriptor: int, _how: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", none)
    with pytest.raises(AirlockError, match="cannot be locked: No locks available") as caught:
        take(tmp_path)
    assert isinstance(caught.value, UsageError | HeldByAnother)
    assert str(tmp_path) in caught.value.what
    assert "disk of this machine" in caught.value.do
