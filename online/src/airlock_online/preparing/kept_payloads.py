"""What the builder has answered for a plan's steps, kept until the requests are written: the rest is asked for alone.

One file a step, in a folder for each plan and deployment. A file names both, the step, how its payload was asked for and
when, and is sealed with its own fingerprint. It is believed in no more than the builder: the checks read it again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from airlock_online.preparing.prepare import BuildRequest
from airlock_shared.errors import DocumentError, UsageError
from airlock_shared.host.files import locked, make_folder, open_lock, read_input, write_new
from airlock_shared.wire.codec import fingerprint, parse_json, to_json
from airlock_shared.wire.members import read_members

FORMAT = "airlock/kept-payload@1"
_ENTRY = {
    "format": str, "plan": str, "deployment": str, "step": str, "method": str, "path": str, "fields": dict,
    "payload": dict, "built_ms": int, "seal": str,
}  # fmt: skip


class KeptPayload(NamedTuple):
    """A builder's answer for a step: how it was asked for, the payload as it came, and when (unix ms)."""

    asked: BuildRequest
    payload: dict[str, Any]
    built_ms: int


class KeptPayloads:
    """The kept payloads of one plan under one deployment, both named by fingerprint (64 hex digits)."""

    def __init__(self, home: Path, plan: str, deployment: str) -> None:
        self._names = {"format": FORMAT, "plan": plan, "deployment": deployment}
        self._folder = home / "prepared" / f"{plan[:32]}-{deployment[:32]}"

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other terminals off this plan meanwhile. Raises ``UsageError`` when one is at it."""
        make_folder(self._folder.parent)
        file = self._folder.with_suffix(".lock")

        def busy(_descriptor: int) -> None:
            raise UsageError("another terminal is preparing this plan", do="wait until it has ended")

        with locked(open_lock(file), file, busy):
            yield

    def find(self, step: str) -> KeptPayload | None:
        """Return what is kept for a step, or None. Raises ``DocumentError`` for a file that is not as it was written."""
        path = self._path(step)
        if not path.exists():
            return None
        entry = parse_json(read_input(path))
        read_members(entry, "kept payload", _ENTRY)
        seal = entry.pop("seal")
        names = {**self._names, "step": step}
        if fingerprint(entry) != seal or not names.items() <= entry.items():
            raise DocumentError("DOC-FIELD", f"{path.name} is not as it was written")
        asked = BuildRequest(entry["path"], entry["fields"], entry["method"])
        return KeptPayload(asked, entry["payload"], entry["built_ms"])

    def keep(self, step: str, kept: KeptPayload) -> None:
        """Keep a step's payload on the disk, in place of an older one. Raises ``UsageError`` when it cannot be written."""
        asked = kept.asked
        entry = {
            **self._names, "step": step, "method": asked.method, "path": asked.path, "fields": dict(asked.fields),
            "payload": kept.payload, "built_ms": kept.built_ms,
        }  # fmt: skip
        self.forget(step)
        make_folder(self._folder)
        write_new(self._path(step), to_json({**entry, "seal": fingerprint(entry)}))

    def forget(self, *steps: str) -> None:
        """Keep nothing for steps: the requests hold them now, or they are asked for again."""
        for step in steps:
            self._path(step).unlink(missing_ok=True)
        with suppress(OSError):  # other steps' payloads, or no folder
            self._folder.rmdir()

    def _path(self, step: str) -> Path:
        return self._folder / f"{step}.json"
