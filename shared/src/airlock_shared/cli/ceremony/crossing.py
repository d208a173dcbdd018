"""How documents cross to the other machine of a led ceremony: handed over, waited for and taken; and what a wait says."""

from __future__ import annotations

import os
import select
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic, sleep, time_ns
from typing import TYPE_CHECKING

from airlock_shared.ceremony.roles import other_half
from airlock_shared.ceremony.workflow import (
    GIVEN,
    PROOFS,
    Task,
    newest,
    next_task,
    numbered,
    workflow_part,
)
from airlock_shared.cli.ceremony.waits import (
    LATE,
    OVER,
    cannot_cross,
    leave_note,
    names_in,
    note_of_other,
    other_machine,
    short,
)
from airlock_shared.cli.terminal import ask, ask_yes, at_a_terminal, forget_typed, renew, say, say_all, typed_line
from airlock_shared.errors import Declined, ExitCode, UsageError
from airlock_shared.host.files import make_folder
from airlock_shared.host.picture_sources import PICTURES
from airlock_shared.qr.scan import CAMERA
from airlock_shared.text.safe import WIDTH, safe, wrapped
from airlock_shared.units import span_text, utc_text

if TYPE_CHECKING:
    from airlock_shared.cli.ceremony.lead import Lead, WorkflowState

_ASKED = "press Enter on the online machine: it prepares them again"
_LOOK_AGAIN_S = 0.3
_WATCH_S = 60  # by which the other machine's watch may be slow


# ---- hand over ------------------------------------------------------------------------------------------------------


def hand_over(lead: Lead, state: WorkflowState, task: Task) -> bool:
    """Hand over what a task brings; False where it did not cross, and has to be tried again."""
    crossing = state.crossing
    if crossing is not None:
        needed = sum(path.stat().st_size for path in _here(lead, task))
        _wait(lambda: cannot_cross(crossing if crossing.is_dir() else crossing.parent, needed))
        make_folder(crossing)
    if crossing is None and not lead.pictures:
        _hand_over_by_hand(lead, task)
    elif not _crosses(lead, state, task):
        return False
    note_given(lead, task.brings)
    return True


def note_given(lead: Lead, names: Sequence[str]) -> None:
    """Remember what was handed over, by an empty file of the same name: the stick may be gone when it is asked again."""
    for name in names:
        (make_folder(lead.folder / GIVEN) / Path(name).name).touch(mode=0o600)


def _crosses(lead: Lead, state: WorkflowState, task: Task, pictures: Sequence[Path] = ()) -> bool:
    """Run the command by which a task's documents cross; where it fails, the cause stands above, and Enter tries again.

    That is False. Another picture in the folder ``pictures`` tries again, too. Ends as :meth:`Lead.require` after Ctrl-C,
    and where nobody can press Enter.
    """
    before = [*map(names_in, pictures)]
    code = lead.child(lead.words(task, state.crossing))
    if not code or lead.code_of(code) == ExitCode.INTERRUPTED or not at_a_terminal():  # also one that a signal ended
        lead.require(code)
        return True
    if pictures:
        _wait(lambda: "more pictures" if [*map(names_in, pictures)] == before else "", enter="Enter looks again")
    else:
        await_put_right("this")
    return False


def await_put_right(what: str) -> None:
    """Wait for an Enter of who has put right what is told above."""
    ask(f"Put {what} right, then press Enter: it goes on here. Ctrl-C stops. ", piped=False)


def _hand_over_by_hand(lead: Lead, task: Task) -> None:
    """Have people carry files where no folder for it was named. Raises ``Declined`` when nobody says that it was done."""
    files = _here(lead, task)
    say(f"Carry these files from {safe(str(files[0].parent))} into the ceremony's folder on the other machine:")
    say_all(f"  {path.name}" for path in files)
    if not at_a_terminal():
        raise Declined("nobody can say that it was handed over", do="name a folder for it: --exchange DIR")
    ask_yes("Are they there?", piped=False)


# ---- take -----------------------------------------------------------------------------------------------------------


def take(lead: Lead, state: WorkflowState, task: Task, asked: str = "") -> bool:
    """Wait for what a task brings, and take it; False where something new in the ceremony's folder has to be looked at.

    ``asked`` is what people of the other machine have to do for it.
    """
    crossing, awaited = state.crossing, _awaited(lead, state, task)
    signatures = task.brings[0].startswith("signatures")

    def new_here() -> bool:
        there = names_in(crossing) if signatures and crossing else frozenset[str]()
        later = newest("signatures", there) > newest("signatures", task.brings)  # signed again, under the next name
        return later or bool(names_in(lead.folder) - state.there) or all(map(os.path.lexists, _here(lead, task)))

    def sees() -> str:
        note = note_of_other(crossing, state.half)
        over = state.half == "offline" and note is not None and note.about == OVER  # another day's stick
        if new_here() or (all(map(_has_come, awaited)) and not over):
            return ""
        if crossing is None:
            place = short(Path(*awaited[0].parts[-2:]))
            if lead.pictures:
                what = "put the proof here, or photos into" if task.of == PROOFS else "photograph the other screen into"
                return _elsewhere(state, awaited[0]) or f"{what} {place}"
            return f"bring {place} here"
        return cannot_cross(crossing.parent, None) or other_machine(crossing, state.half, asked)

    sign_by_ms = state.sign_by_ms if signatures else 0
    if not (_still_in_time(sign_by_ms) if not awaited else _wait(sees, sign_by_ms) is None):
        prepare_again(lead, state)
        return False
    return not new_here() and _crosses(lead, state, task, awaited if lead.pictures else ())


def _here(lead: Lead, task: Task) -> list[Path]:
    """Return where a task's files stand when somebody puts them into the ceremony's folder by hand."""
    return [lead.folder / name for name in task.brings]


def _awaited(lead: Lead, state: WorkflowState, task: Task) -> list[Path]:
    """Return what appears when the documents of a task have come; nothing before a camera."""
    if lead.pictures:
        return [] if CAMERA.fullmatch(lead.pictures) else [Path(lead.source(task))]
    return [(state.crossing or lead.folder) / name for name in task.brings]


def _has_come(path: Path) -> bool:
    """Tell whether a file is there, or pictures in their folder."""
    return bool(names_in(path)) if path.is_dir() else os.path.lexists(path)


def _elsewhere(state: WorkflowState, awaited: Path) -> str:
    """Return where pictures lie that nobody looks for: beside the folders of the hand-overs, or in one of another name."""
    expected = [awaited.name, *(each.brings[0].partition(".")[0] for each in state.tasks if each.name == "take")]
    known = tuple(name.rstrip("-0123456789") for name in expected)  # those of earlier documents stay as they are
    others = [name for name in sorted(names_in(awaited.parent)) if name.rstrip("-0123456789") not in known]
    for place in (awaited.parent, *(awaited.parent / name for name in others)):
        if any(Path(name).suffix.lower() in PICTURES for name in names_in(place)):
            return f"move the photos in {short(Path(place.name))} to {short(Path(*awaited.parts[-2:]))}"
    return ""


# ---- too late -------------------------------------------------------------------------------------------------------


def is_past(sign_by_ms: int) -> bool:
    """Tell whether requests that can be signed until then (unix ms, 0: without an end) are too old."""
    return 0 < sign_by_ms <= time_ns() // 1_000_000


def prepare_again(lead: Lead, state: WorkflowState) -> None:
    """Prepare requests in the place of the newest ones, under the next name."""
    prepare = next(each for each in state.tasks if each.name == "prepare")
    lead.require(lead.child(lead.words(prepare._replace(attempt=prepare.attempt + 1))))


def offer_new_requests(lead: Lead, state: WorkflowState) -> None:
    """Have people of the online machine prepare again what is too late to be submitted, and was not sent."""
    say(
        "It is too late to submit these, and nothing was sent. This run prepares them again. Then type n on the air-gapped "
        "machine, where it waits to seal: the new ones are signed."
    )
    over_s = monotonic() + _WATCH_S  # until then that machine refuses what it signed before in the same step
    _wait(lambda: "a minute, until what was signed is surely over" if monotonic() < over_s else "")
    ask("Enter prepares them again: ", piped=False)
    prepare_again(lead, state)


def await_new_requests(lead: Lead, state: WorkflowState, task: Task) -> None:
    """Wait on the machine that signs for requests in the place of those for which it is too late, and take them."""
    leave_place(state, task, LATE)
    say("It is too late to sign these. On the online machine press Enter when it offers it: they are prepared again.")
    take(lead, state, _new_requests(state, task), _ASKED)


def await_outcome(lead: Lead, state: WorkflowState, task: Task) -> bool:
    """Wait until people say that the outcome was read on the other machine; False when they say that it was too late there.

    Then the newest requests are noted, and the next ones: these are signed in the place of the ones before. What the other
    machine's note says is shown, and decides nothing.
    """
    crossing, new = state.crossing, _new_requests(state, task)

    def sees() -> str:
        if any(map(_has_come, (*_awaited(lead, state, new), *_here(lead, new)))):
            return "new requests are there; was it too late? Then type n"
        if lead.pictures:  # sealing puts other pages in the place of the signatures
            return "keep codes/now.html open (signatures) until the outcome"
        if crossing is None or cannot_cross(crossing.parent, None):  # the stick may be at the other machine
            return "read the outcome on the online machine"
        past = part_of_other(state) == "record"
        return other_machine(crossing, state.half, "the online machine has its outcome" if past else "")

    while (typed := _wait(sees, enter="Enter seals")) not in ("", "n") or (typed and not _is_too_late()):
        say("Enter seals. Was it too late there, type n: the new requests are signed.")
    if not typed:
        if part_of_other(state) not in ("", "record"):
            say(_NO_OUTCOME_YET)
        return True
    note_given(lead, (*(name for name in state.there if name.startswith("requests")), *new.brings))
    if next_task(lead.state().tasks) == task:
        take(lead, state, new, _ASKED)
    return False


def _is_too_late() -> bool:
    """Ask whether the other machine prepares again: one key alone would have what was signed stand aside for good."""
    return ask("Was it too late on the online machine? Type Yes: ", piped=False).strip() == "Yes"


_NO_OUTCOME_YET = (
    "The online machine has NO outcome yet, by its note. Sealed now, the report will say: sent after the seal. Better "
    "answer no, and wait."
)


def _new_requests(state: WorkflowState, task: Task) -> Task:
    """Return the task at which the requests after the newest ones are taken."""
    name = numbered("requests", newest("requests", (*task.brings, *state.there)) + 1)
    return task._replace(name="take", brings=(name,))


def _still_in_time(sign_by_ms: int) -> bool:
    """Before a camera waits for signatures, say how long they can be made; when it is too late, False for an Enter."""
    if is_past(sign_by_ms):
        offered = "It is too late to sign these: Enter prepares them again. s and Enter: read what was signed in time. "
        return bool(ask(offered, piped=False))
    if sign_by_ms:
        say(f"They can be signed until {utc_text(sign_by_ms)}. Later, Ctrl-C and the same command prepare them again.")
    return True


# ---- a wait ---------------------------------------------------------------------------------------------------------


def part_of_other(state: WorkflowState) -> str:
    """Return at which part of its workflow the other machine says on the stick that it is; empty where it says nothing."""
    note = note_of_other(state.crossing, state.half)
    return workflow_part(other_half(state.half), int(note.number), int(note.total)) if note else ""


def leave_place(state: WorkflowState, task: Task, name: str) -> None:
    """Say on the stick that this machine is at a task, about what ``name`` says; nothing where there is no stick."""
    if state.crossing is not None:
        place = 1 + state.tasks.index(task), len(state.tasks)
        leave_note(state.crossing, state.half, place, name, time_ns() // 1_000_000)


def _wait(sees: Callable[[], str], sign_by_ms: int = 0, enter: str = "") -> str | None:
    """Wait while ``sees`` says what stands in the way, and say it in one line; an empty text lets it go on, as None.

    With ``sign_by_ms`` the time until then is counted down. After it, or where ``enter`` says what it does, Enter ends the
    wait: what was typed before it is returned. Raises ``UsageError`` where nobody waits with us, because there is no
    terminal.
    """
    began, listens = monotonic(), False
    first_s = sign_by_ms // 1000 - time_ns() // 1_000_000_000
    while said := sees():
        if not at_a_terminal():
            raise UsageError(f"not there yet: {said}", do="bring it from the other machine")
        waited_s = int(monotonic() - began)  # the clock may be set back meanwhile
        left_s = min(first_s - waited_s, sign_by_ms // 1000 - time_ns() // 1_000_000_000)
        if sign_by_ms and left_s <= 0:
            said, enter = "too late to sign; signed ones still count", "Enter prepares them again"
        if enter and not listens:
            listens = True
            forget_typed()
        unit_s = next((size for size in (3600, 60) if left_s >= size), 1)
        left = f"{span_text(left_s // unit_s * unit_s)} left" if sign_by_ms else f"{waited_s} s"
        last = f"; {enter}" if enter else f" ({left})"
        width = min(WIDTH, shutil.get_terminal_size().columns) - 2
        renew(next(wrapped(f"waiting: {said}", width - len(last))).rstrip() + last)
        if enter and select.select([sys.stdin], [], [], 0)[0]:
            typed = typed_line().strip()
            renew("")
            return typed
        sleep(_LOOK_AGAIN_S)
    renew("")
    return None
