"""``ceremony run``: one command a machine, which leads its people through a ceremony.

A thin parent. It reads no document that somebody else made: where the ceremony stands, it learns from a child, and it
believes nothing of the answer but names of a closed list (``course.read_stop``). Each stop is a command of this program, in
a process of its own, in the same terminal. It keeps no state: after each stop it asks again.
"""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep, time_ns
from typing import Any, NamedTuple

import click

from airlock_shared.ceremony.roles import CHECKPOINTS, Half
from airlock_shared.ceremony.workflow import (
    STOPS_AT_MOST,
    WAS_READY,
    WORKFLOW_PARTS,
    CoursePlace,
    Stop,
    carrying,
    command_of,
    newest,
    next_stop,
    numbered,
    read_stop,
    scanning,
    showing,
    workflow_part,
)  # fmt: skip
from airlock_shared.cli.ceremony.by_screens import turn_page
from airlock_shared.cli.ceremony.status import word_lines
from airlock_shared.cli.ceremony.waits import (
    LATE,
    MACHINES,
    OVER,
    STOPPED,
    cannot_cross,
    leave_note,
    names_in,
    other_machine,
    place_of_other,
    short,
)
from airlock_shared.cli.ceremony.workflow import GIVEN, ceremony_folder, course_lines
from airlock_shared.cli.terminal import (
    FOLDER_TYPE,
    INPUT,
    LED,
    ask,
    ask_yes,
    at_a_terminal,
    finish,
    forget_typed,
    json_option,
    paint,
    rows,
    say,
    say_all,
    show,
    show_json,
    typed_line,
)
from airlock_shared.errors import AirlockError, Declined, ExitCode, UsageError
from airlock_shared.host.files import make_folder
from airlock_shared.text.safe import safe, wrapped
from airlock_shared.units import span_text, utc_text
from airlock_shared.wire.members import HEX_32, read_list, read_matching, read_members
from airlock_shared.wire.strict_json import parse_json

_RIGHT = "then press Enter: it goes on here. Ctrl-C stops. "
_TOO_LATE = "It is too late to sign these"
_ASKED = "press Enter on the online machine: it prepares them again"
_LOOK_AGAIN_S = 0.3
_MISSED_S = 1.0
_A_MINUTE_S = 60
_DEVICE = {"emulator_port": "--emulator", "ledger_path": "--ledger"}
_CAMERA = re.compile(r"camera(?::[0-9]{1,2})?")
_CROSSING = r"[a-z0-9][a-z0-9-]{0,62}-[0-9a-f]{16}"


class _Course(NamedTuple):
    """What the child told: the half, the folder for crossing, fingerprints of what was made here, and the stops.

    ``sign_by_ms`` is until when the requests can be signed, 0 for no end; it is shown. ``there`` are the names that stood in
    the ceremony's folder before it was asked.
    """

    half: Half
    crossing: str
    made_here: dict[str, str]
    stops: list[Stop]
    sign_by_ms: int
    there: frozenset[str]


class _Lead(NamedTuple):
    """What a run stands on: our own program's words, the place, and the folder through which documents cross, if any.

    ``light`` is the source of the other machine's codes, where documents cross as pictures: a camera, or a folder.
    """

    program: tuple[str, ...]
    place: CoursePlace
    exchange: Path | None
    to_stderr: bool
    light: str = ""

    @property
    def folder(self) -> Path:
        """The ceremony's folder on this machine."""
        return Path(self.place.folder)

    def course(self) -> _Course:
        """Ask a child where the ceremony stands. Ends the command with the child's exit code when it has no answer."""
        exchange = () if self.exchange is None else ("--exchange", str(self.exchange))
        words = ("ceremony", "course", self.place.plan, "--folder", self.place.folder, *exchange, "--json")
        there = names_in(self.folder)
        code, answer = _started([*self.program, *words], stdout=subprocess.PIPE)
        if code:
            finish(_code_of(code))
        return _read(answer, there)

    def child(self, words: Sequence[str]) -> int:
        """Run a command of this program in this terminal, and return its exit code."""
        environment = {**os.environ, LED: "1"}
        return _started([*self.program, *words], stdout=sys.stderr if self.to_stderr else None, env=environment)[0]


def _started(words: Sequence[str], **how: Any) -> tuple[int, bytes]:
    """Run a child to its end, and return its exit code, and its stdout where that is a pipe.

    Ctrl-C is the child's, which has the terminal too: we wait for what it makes of it. A child that is being started may
    miss it, and gets it once more when it goes on as if nothing had been. Raises ``KeyboardInterrupt`` when it ended with 0.
    """
    pressed: list[float] = []
    sent_again = False
    with subprocess.Popen(words, **how) as process:  # noqa: S603 (our own program)
        before = signal.signal(signal.SIGINT, lambda *_: pressed.append(monotonic()))
        try:
            while True:
                with suppress(subprocess.TimeoutExpired):
                    answer, _ = process.communicate(timeout=_LOOK_AGAIN_S)
                    break
                if pressed and not sent_again and monotonic() - pressed[-1] > _MISSED_S:
                    sent_again = True
                    process.send_signal(signal.SIGINT)
        finally:
            signal.signal(signal.SIGINT, before)
    if pressed and not process.returncode:
        raise KeyboardInterrupt
    return process.returncode, answer or b""


def run_command() -> click.Command:
    """Return ``ceremony run`` for one of the halves, which may add options to it."""

    @click.command("run", short_help="Lead this machine's people through the whole ceremony.")
    @click.argument("plan_file", metavar="PLAN", type=INPUT)
    @click.option(
        "--exchange", type=FOLDER_TYPE, help="The folder or stick through which documents cross, on each machine."
    )
    @click.option("--qr", "light", metavar="SOURCE",
                  help="Cross by QR codes: camera, camera:N, or a folder for pictures.")  # fmt: skip
    @click.option("--dry-run", is_flag=True, help="Only show what was done and what will be done, by whom.")
    @json_option
    @click.pass_context
    def run(
        context: click.Context,
        /,
        plan_file: Path,
        exchange: Path | None,
        light: str | None,
        dry_run: bool,
        as_json: bool,
        **device: Any,
    ) -> None:
        r"""Lead this machine's people through the ceremony of PLAN: do what comes next, and ask whose turn it is.

        It stops where the other machine is needed, and waits. Start it on both machines. After Ctrl-C, or on another
        day, the same command goes on where it stood. Each stop is a command that you can also give yourself. The
        documents of the ceremony are kept beside the plan, in plan.ceremony. With --qr each hand-over is a page of
        codes. This machine's camera reads it. Or SOURCE is a folder, and the pictures go into a folder in it, such as
        requests.

        \b
        Example:
          PROGRAM ceremony run plan.toml --exchange /media/stick
        """
        if exchange is not None and light:
            raise UsageError("documents cross by --exchange or by --qr", do="give one of them")
        given = context.get_parameter_source("model")
        model = (
            ("--model", device["model"])
            if "model" in device and given is not None and given.name == "COMMANDLINE"
            else ()
        )
        ledger = tuple(word for name, option in _DEVICE.items() if device.get(name) is not None
                       for word in (option, str(device[name])))  # fmt: skip
        plan = plan_file.absolute()
        place = CoursePlace(str(plan), str(ceremony_folder(plan)), ledger, model)
        home = context.find_root().params.get("home")
        program = (*own_program(), *(("--home", str(home.absolute())) if home else ()))
        lead = _Lead(program, place, exchange and exchange.absolute(), as_json, light or "")
        if dry_run:
            _tell_course(lead, as_json=as_json)
            return
        make_folder(lead.folder)
        _walk(lead)
        if as_json:
            show_json({"ok": True, "folder": place.folder})

    return run


def own_program() -> tuple[str, ...]:
    """Return the words that start this very program again: the interpreter with its flags, and the program, absolute."""
    words = sys.orig_argv[: len(sys.orig_argv) - len(sys.argv) + 1]
    last = Path(words[-1])
    return (sys.executable, *words[1:-1], str(last.absolute()) if last.is_file() else words[-1])


# ---- the walk -------------------------------------------------------------------------------------------------------


def _walk(lead: _Lead) -> None:
    """Do stop after stop until nothing is left; a stop that fails ends the command with its exit code."""
    before: tuple[Stop, bool] | None = None
    shown: set[str] = set()
    part = ""
    while (stop := next_stop((told := lead.course()).stops)) is not None:
        if before == (stop, True):
            raise UsageError(f"stop {stop.name} {stop.of} ran, but it is still not done",
                             do="look at the course: ceremony course PLAN; then give its command by hand")  # fmt: skip
        number = 1 + told.stops.index(stop)
        heading = rows(f"[{number}/{len(told.stops)}] ", f"{', '.join(stop.by)}: {stop.says}" if stop.by else stop.says)
        if part != (part := workflow_part(told.half, number, len(told.stops))):
            say(_bar(lead, told, part))
        if before != (stop, False) and (stop.by or _awaits_somebody(lead, told, stop)):
            say_all(heading)
        done = False
        _leave_note(lead, told, stop, "proof" if stop.name == "take" and stop.of else stop.name)
        try:
            done = _do(lead, told, stop, shown)
        except BaseException as error:
            _leave_note(lead, told, stop, STOPPED)
            if not stop.by and not isinstance(error, KeyboardInterrupt):
                say_all(heading)  # it was not said before, for nobody acts there
            if isinstance(error, AirlockError):
                error.do = (
                    f"{error.do}; then give the same command again" if error.do else "give the same command again"
                )
            raise
        before = stop, done
    _leave_note(lead, told, told.stops[-1], OVER)
    _show_words(told, shown)  # whoever began this run late may still be asked for them on the other machine
    say(f"The ceremony is over on {MACHINES[told.half]}. Its documents and report:")
    say(f"  {safe(lead.place.folder)}")


def _awaits_somebody(lead: _Lead, told: _Course, stop: Stop) -> bool:
    """Tell whether somebody has to make what a stop waits for: a proof that is not there yet."""
    there = lead.folder if lead.exchange is None else lead.exchange / told.crossing
    return stop.name == "take" and bool(stop.of) and not all(os.path.lexists(there / name) for name in stop.brings)


def _bar(lead: _Lead, told: _Course, here: str) -> str:
    """Return the parts of the day in one line: where this machine is, and the other one by its note on the stick."""
    arrow = " \u25b8 " if "utf" in str(getattr(sys.stderr, "encoding", "")).lower() else " > "
    parts = arrow.join(f"[{part.upper()}]" if part == here else part for part in WORKFLOW_PARTS)
    other: Half = "offline" if told.half == "online" else "online"
    place = None if lead.exchange is None else place_of_other(lead.exchange / told.crossing, told.half)
    return f"{parts}{f'   {MACHINES[other]}: {workflow_part(other, *place)}' if place else ''}"


def _leave_note(lead: _Lead, told: _Course, stop: Stop, name: str) -> None:
    if lead.exchange is not None:
        place = 1 + told.stops.index(stop), len(told.stops)
        leave_note(lead.exchange / told.crossing, told.half, place, name, time_ns() // 1_000_000)


def _do(lead: _Lead, told: _Course, stop: Stop, shown: set[str]) -> bool:
    """Do a stop; tell whether it was: while it waited, something else may have come first."""
    crossing = None if lead.exchange is None else lead.exchange / told.crossing
    if stop.name == "take":
        _show_words(told, shown)
        return _take(lead, told, stop, crossing)
    if stop.name == "hand":
        if lead.light:
            crossed = _crosses(lead, showing(stop, lead.place))
            if crossed:
                _show_window(lead, shown)
        elif crossing is None:
            _hand_over_by_hand(lead, stop)
            crossed = True
        else:
            needed = sum(path.stat().st_size for path in _here(lead, stop))
            _wait(lambda: cannot_cross(crossing if crossing.is_dir() else crossing.parent, needed))
            make_folder(crossing)
            crossed = _crosses(lead, carrying(stop, lead.place.folder, str(crossing)))
        if crossed:
            _note(lead, stop.brings)
        return crossed
    if stop.name == "seal" and _show_words(told, shown):
        turn_page()
    words = command_of(stop, lead.place)
    code = lead.child(words)
    if code == ExitCode.DEVICE and at_a_terminal():  # what is wrong with it stands above
        ask(f"Put the Ledger right, {_RIGHT}", piped=False)
        return False
    if (stop.name, code) == ("sign", ExitCode.EXPIRED) and _is_past(told.sign_by_ms):
        if (lead.folder / numbered("signatures", stop.attempt)).exists():
            return True  # what was signed in time goes on
        _await_new_requests(lead, told, stop, crossing)
        return False
    _require(code)
    if stop.name == "ready":
        _note(lead, (WAS_READY,))
    return True


def _crosses(lead: _Lead, words: Sequence[str]) -> bool:
    """Run the command by which documents cross. Where it fails, the cause stands above, and Enter tries it again, as False.

    Ends as :func:`_require` after Ctrl-C, and where nobody can press Enter.
    """
    code = lead.child(words)
    if not code or _code_of(code) == ExitCode.INTERRUPTED or not at_a_terminal():  # also one that a signal ended
        _require(code)
        return True
    ask(f"Put this right, {_RIGHT}", piped=False)
    return False


def _await_new_requests(lead: _Lead, told: _Course, stop: Stop, crossing: Path | None) -> None:
    """Wait on the machine that signs for requests in the place of those for which it is too late, and take them."""
    _leave_note(lead, told, stop, LATE)
    name = numbered("requests", newest("requests", stop.brings) + 1)
    say(f"{_TOO_LATE}. On the online machine press Enter when it offers it: they are prepared again.")
    _take(lead, told, stop._replace(name="take", brings=(name,)), crossing, _ASKED)


def _take(lead: _Lead, told: _Course, stop: Stop, crossing: Path | None, asked: str = "") -> bool:
    """Wait for what a stop brings, and take it; False where something new in the ceremony's folder has to be looked at.

    ``asked`` is what people of the other machine have to do for it.
    """
    pictures = _pictures(lead, stop) if lead.light else ""
    by_camera = bool(_CAMERA.fullmatch(pictures))
    source = lead.folder if crossing is None else crossing
    awaited = [Path(pictures)] if pictures else [source / name for name in stop.brings]

    signatures = stop.brings[0].startswith("signatures")

    def new_here() -> bool:
        there = names_in(crossing) if signatures and crossing else frozenset[str]()
        later = newest("signatures", there) > newest("signatures", stop.brings)  # signed again, under the next name
        return later or bool(names_in(lead.folder) - told.there) or all(map(os.path.lexists, _here(lead, stop)))

    def sees() -> str:
        if by_camera or new_here() or all(map(os.path.lexists, awaited)):
            return ""
        if crossing is None:
            place = short(Path(*awaited[0].parts[-2:]))
            return f"put the other machine's page into {place}" if pictures else f"bring {place} here"
        return cannot_cross(crossing.parent, None) or other_machine(crossing, told.half, asked)

    sign_by_ms = told.sign_by_ms if signatures else 0
    if not (_still_in_time(sign_by_ms) if by_camera else _wait(sees, sign_by_ms)):
        prepare = next(each for each in told.stops if each.name == "prepare")
        _require(lead.child(command_of(prepare._replace(attempt=prepare.attempt + 1), lead.place)))
        return False
    if new_here():
        return False
    if pictures:
        return _crosses(lead, scanning(stop, lead.place, pictures))
    return crossing is None or _crosses(lead, carrying(stop, str(crossing), lead.place.folder))


def _is_past(sign_by_ms: int) -> bool:
    return 0 < sign_by_ms <= time_ns() // 1_000_000


def _still_in_time(sign_by_ms: int) -> bool:
    """Before a camera waits for signatures, say how long they can be made; when it is too late, False for an Enter."""
    if _is_past(sign_by_ms):
        return bool(
            ask(f"{_TOO_LATE}: Enter prepares them again. s and Enter: read what was signed in time. ", piped=False)
        )
    if sign_by_ms:
        say(f"They can be signed until {utc_text(sign_by_ms)}. Later, Ctrl-C and the same command prepare them again.")
    return True


def _pictures(lead: _Lead, stop: Stop) -> str:
    """Return where the codes of what a stop waits for are read: the camera, or a folder of that name with pictures."""
    if _CAMERA.fullmatch(lead.light):
        return lead.light
    return str(Path(lead.light).absolute() / stop.brings[0].partition(".")[0])


def _hand_over_by_hand(lead: _Lead, stop: Stop) -> None:
    """Have people carry files where no folder for it was named. Raises ``Declined`` when nobody says that it was done."""
    say(f"Carry these files from {safe(lead.place.folder)} into the ceremony's folder on the other machine:")
    for name in stop.brings:
        say(f"  {name}")
    if not at_a_terminal():
        raise Declined("nobody can say that it was handed over", do="name a folder for it: --exchange DIR")
    ask_yes("Are they there?", piped=False)


def _show_window(lead: _Lead, shown: set[str]) -> None:
    """Open, once a run, the page that shows whatever is handed over, and say where it is: for a person without a desktop."""
    from airlock_shared.qr.pictures import WINDOW

    page = lead.folder / "codes" / WINDOW
    if str(page) in shown:
        return
    shown.add(str(page))
    say(f"Show the other camera {safe('/'.join(page.parts[-3:]))}. It is renewed by itself.")
    opener = shutil.which("xdg-open") if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") else None
    if opener:
        quiet = subprocess.DEVNULL
        subprocess.Popen([opener, page], stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)  # noqa: S603 (ours)


def _note(lead: _Lead, names: Sequence[str]) -> None:
    """Remember what was handed over, by an empty file of the same name: the stick may be gone when it is asked again."""
    for name in names:
        (make_folder(lead.folder / GIVEN) / Path(name).name).touch(mode=0o600)


def _require(code: int) -> None:
    """End the command with the exit code of a child that did not end with 0, and say how to go on."""
    if code:
        if code != ExitCode.INTERRUPTED:  # that child has said it
            say("The ceremony stops here. Put right what stands above, then give the same command: it goes on here.")
        finish(_code_of(code))


def _code_of(code: int) -> ExitCode:
    known = [each for each in ExitCode if each == code]
    return known[0] if known else ExitCode.INTERRUPTED


def _here(lead: _Lead, stop: Stop) -> list[Path]:
    """Return where a stop's files stand when somebody puts them into the ceremony's folder by hand."""
    return [lead.folder / name for name in stop.brings]


def _wait(sees: Callable[[], str], sign_by_ms: int = 0) -> bool:
    """Wait while ``sees`` says what stands in the way, and say it in one line; an empty text lets it go on, as True.

    With ``sign_by_ms`` the time until then is counted down. After it Enter ends the wait, as False: what was not signed
    until then cannot be. Raises ``UsageError`` where nobody waits with us, because there is no terminal.
    """
    began, late = monotonic(), False
    while said := sees():
        if not at_a_terminal():
            raise UsageError(f"not there yet: {said}", do="bring it from the other machine")
        left_s = sign_by_ms // 1000 - time_ns() // 1_000_000_000
        if sign_by_ms and left_s <= 0:
            if not late:
                late = True
                forget_typed()
            _progress("waiting: it is too late to sign these; Enter prepares them again")
            if select.select([sys.stdin], [], [], 0)[0]:
                typed_line()
                _progress("")
                return False
        elif sign_by_ms:
            _progress(f"waiting: {said} ({span_text(left_s if left_s < _A_MINUTE_S else left_s // 60 * 60)} left)")
        else:
            _progress(f"waiting: {said} ({monotonic() - began:.0f} s)")
        sleep(_LOOK_AGAIN_S)
    _progress("")
    return True


def _progress(text: str) -> None:
    """Show one line in the place of the one before, on a terminal alone."""
    if sys.stderr is not None and sys.stderr.isatty():
        paint(f"\r\x1b[K{next(iter(wrapped(text, 78)), '') if text else ''}", err=True, end="")


def _show_words(told: _Course, shown: set[str]) -> bool:
    """Show the words of what this machine made, once, so that they are there while others type two of them.

    Tell whether there were any.
    """
    new = {name: mark for name, mark in told.made_here.items() if mark not in shown}
    shown.update(new.values())
    if new:
        say("Two words of each are typed on the other machine:")
    for name, mark in new.items():
        for line in word_lines(name, mark):
            say(line)
    return bool(new)


def _tell_course(lead: _Lead, *, as_json: bool) -> None:
    told = lead.course()
    if as_json:
        stops = [{**stop._asdict(), "command": _command(lead, told, stop)} for stop in told.stops]
        show_json({"ok": True, "half": told.half, "folder": lead.place.folder, "stops": stops})
        return
    for line in course_lines(told.stops, told.half, [_command(lead, told, stop) for stop in told.stops]):
        show(line)


def _command(lead: _Lead, told: _Course, stop: Stop) -> list[str]:
    """Return the words of a stop's command, as a person would give them after the program's name."""
    if lead.light and stop.name in ("take", "hand"):
        return list(
            showing(stop, lead.place) if stop.name == "hand" else scanning(stop, lead.place, _pictures(lead, stop))
        )
    other = "EXCHANGE" if lead.exchange is None else str(lead.exchange / told.crossing)
    if stop.name == "take":
        return list(carrying(stop, other, lead.place.folder))
    return list(carrying(stop, lead.place.folder, other) if stop.name == "hand" else command_of(stop, lead.place))


def _read(answer: bytes, there: frozenset[str]) -> _Course:
    """Read the child's answer, strictly. Raises ``DocumentError``."""
    value = parse_json(answer)
    form = {"ok": bool, "half": str, "crossing": str, "made_here": dict, "sign_by_ms": int, "stops": list}
    read_members(value, "course", form)
    read_matching(value["half"], "course.half", re.compile("online|offline"), "a machine")
    read_matching(value["crossing"], "course.crossing", re.compile(_CROSSING), "a ceremony's folder")
    made = read_members(value["made_here"], "course.made_here", {}, dict.fromkeys(CHECKPOINTS, str))
    for name in made:
        read_matching(made[name], f"course.made_here.{name}", HEX_32, "a fingerprint in hex")
    stops = [read_stop(each) for each in read_list(value["stops"], "course.stops", STOPS_AT_MOST)]
    return _Course(value["half"], value["crossing"], made, stops, value["sign_by_ms"], there)
