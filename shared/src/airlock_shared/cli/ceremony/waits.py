"""What stands in the way while a machine of a led ceremony waits, in a few words: the stick, or the other machine.

Each machine leaves a note in the ceremony's folder on the stick: an empty file whose name says where it is. Only names of a
closed form are looked at, and they decide nothing: they are shown to the people who wait.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from airlock_shared.ceremony.roles import Half, other_half
from airlock_shared.ceremony.workflow import NAMES as TASK_NAMES
from airlock_shared.cli.terminal import MACHINES
from airlock_shared.errors import UsageError
from airlock_shared.host.files import make_folder, write_new
from airlock_shared.text.safe import safe

STOPPED, OVER, LATE = "stopped", "over", "late"
_ABOUT = {**TASK_NAMES, LATE: "too late to sign"}
_NOTE = re.compile(
    r"(online|offline)-at-([1-9][0-9]{0,3})-of-([1-9][0-9]{0,3})"
    rf"-({'|'.join((*_ABOUT, STOPPED, OVER))})-([0-2][0-9])([0-5][0-9])",
    re.ASCII,
)
CROSSING_NAME = re.compile("([a-z0-9][a-z0-9-]{0,62})-[0-9a-f]{16}", re.ASCII)
_NAMES_AT_MOST = 1000
_PATH_AT_MOST = 27
_SPARE_BYTES = 64 << 10  # beyond what is handed over: a file system has its own needs


def names_in(folder: Path) -> frozenset[str]:
    """Return the names in a folder, a thousand at most; none where it is not there, or not for us to see."""
    try:
        return frozenset(path.name for path in islice(folder.iterdir(), _NAMES_AT_MOST))
    except OSError:
        return frozenset()


def leave_note(crossing: Path, half: Half, task: tuple[int, int], name: str, now_ms: int) -> None:
    """Say on the stick where this machine is: at which task of how many, and about what; nothing where that cannot be.

    ``name`` is a task's, ``STOPPED``, ``OVER`` or ``LATE``.
    """
    minutes = now_ms // 60_000 % 1440
    note = f"{half}-at-{task[0]}-of-{task[1]}-{name}-{minutes // 60:02}{minutes % 60:02}"
    with suppress(OSError, UsageError):  # it is a help, and no document
        if not crossing.parent.is_dir() or crossing.is_symlink():
            return
        for other in names_in(make_folder(crossing)):
            if (found := _NOTE.fullmatch(other)) and found[1] == half and other != note:
                (crossing / other).unlink()
        write_new(crossing / note, b"")  # not through a link that lies there


class Note(NamedTuple):
    """What a machine says on a stick: which it is, at which task of how many, about what, and since when (UTC)."""

    half: str
    number: str
    total: str
    about: str
    hour: str
    minute: str


def note_of_other(crossing: Path | None, half: Half) -> Note | None:
    """Return the note that the other machine left on a stick; None where it says nothing, or there is no stick."""
    names = names_in(crossing) if crossing else ()
    notes = sorted(Note(*found.groups()) for name in names if (found := _NOTE.fullmatch(name)))
    return next((note for note in notes if note.half != half), None)


def other_machine(crossing: Path, half: Half, asked: str) -> str:
    """Return what is seen of the other machine on a stick: where it says that it is, or that it was not there.

    ``asked`` is what its people have to do while it waits too, empty where the task itself says it.
    """
    machine = MACHINES[other_half(half)]
    if note := note_of_other(crossing, half):
        at, task = f"{note.hour}:{note.minute}", f"{note.number}/{note.total}"
        if note.about == OVER:
            return f"{machine} ended {at}; is it this stick?"
        if note.about == STOPPED:
            return f"{machine} stopped {at} at {task}: start it"
        if note.about == "take":
            return asked or f"{machine} waits, {at}: carry the stick"
        return f"{machine} is at {task}: {_ABOUT[note.about]}, {at}"
    other = names_in(crossing.parent) - {crossing.name}
    others = [found[1] for name in other if (found := CROSSING_NAME.fullmatch(name))]
    if crossing.name[:-17] in others:
        return "another plan of this id is there; compare it with paper"
    return f"is it this stick? Start run on {machine}" if others else f"start ceremony run on {machine}"


def short(path: Path) -> str:
    """Return the end of a path, so that a waiting line holds it."""
    place = safe(str(path))
    return place if len(place) <= _PATH_AT_MOST else f"…{place[1 - _PATH_AT_MOST :]}"


def cannot_cross(exchange: Path, needed_bytes: int | None) -> str:
    """Return why nothing can be put into a folder for crossing, and what to do; empty when it can.

    Without ``needed_bytes``: why nothing can be taken from it.
    """
    place = short(exchange)
    if not os.path.isdir(exchange):  # noqa: PTH112 (``is_dir`` raises where a folder above it may not be entered)
        return f"{place} is not there: plug it in"
    try:
        next(exchange.iterdir(), None)
        told = os.statvfs(exchange)
    except OSError:
        return f"{place} cannot be read: plug it in"
    if needed_bytes is None:
        return ""
    if told.f_flag & os.ST_RDONLY or not os.access(exchange, os.W_OK | os.X_OK):
        return f"{place} is read-only: unlock it"
    if told.f_bavail * told.f_frsize < needed_bytes + _SPARE_BYTES:
        return f"{place} is full: make room on it"
    return ""
