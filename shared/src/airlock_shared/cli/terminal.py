"""What both programs share at a terminal: results on stdout, talk on stderr, keys and lines typed, and progress."""

from __future__ import annotations

import json
import os
import select
import sys
import termios
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from copy import copy
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import click

from airlock_shared.errors import AirlockError, Declined, ExitCode, NotAnswered, Refusal
from airlock_shared.text.safe import WIDTH, columns, hanging, harmless, labelled_rows, safe_again

# ---- console --------------------------------------------------------------------------------------------------------
# What both programs' command lines share: results on stdout, talk on stderr, errors with what to do, exit codes.
# With ``--json`` stdout holds one JSON document (or JSON lines for a stream) and nothing else, also for an error.


_YES = "Type Yes to go on, no to stop: "
_SLIPS = 3
SWAPPED = "On this keyboard the keys Y and Z have changed places: type it again, with the other of the two."
LAYOUT = "These are not Latin letters: change the layout of the keyboard, and type it again."
_WHOLE = "Only the whole word Yes counts, with a capital Y, and nothing before or after it."
_YES_SLIPS = {"": _WHOLE, "yes": _WHOLE, "zes": SWAPPED}
PATH_TYPE = click.Path(path_type=Path)
INPUT = click.Path(path_type=Path, dir_okay=False)
FOLDER_TYPE = click.Path(path_type=Path, file_okay=False)
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout instead of text.")
plan_option = click.option("--plan", "plan_file", type=INPUT, required=True, help="The ceremony plan.")

MACHINES = {"online": "the online machine", "offline": "the air-gapped machine"}
LED = "AIRLOCK_LED"  # this variable is set where ``ceremony run`` started the command
LEDGER_HERE = "AIRLOCK_LEDGER_HERE"  # and this one where the software Ledger asks in this terminal

without_secrets: Callable[[str], str] = str
document_without_secrets: Callable[[Any], Any] = copy
"""What each text and document passes on its way to the screen: ``airlock_online.secrets`` puts its own, and nobody else."""

_Command = TypeVar("_Command", bound=Callable[..., Any])
Opens = Mapping[str, Callable[[], None]]
"""Answers that only open something to read, and what opens it."""
_OPENS_NOTHING: Opens = {}


def output_option(text: str) -> Callable[[_Command], _Command]:
    """Return ``--output``, the path of what a command writes."""
    return click.option("-o", "--output", type=PATH_TYPE, required=True, help=text)


def led() -> bool:
    """Tell whether ``ceremony run`` started this command: what it has just shown, or will do next, is left out."""
    return bool(os.environ.get(LED))


def say(text: str = "") -> None:
    """Write talk to stderr, a long line wrapped at 80 columns between words; nothing in it acts on the terminal."""
    renew()
    click.echo(harmless(filled(without_secrets(text))), err=True)


def say_all(lines: Iterable[str]) -> None:
    """Write lines of talk, each as :func:`say` does."""
    for line in lines:
        say(line)


def filled(text: str) -> str:
    """Return a line in rows of 80 columns: where the terminal broke it, a long name could go on like a line of ours."""
    return text if columns(text) <= WIDTH or "\n" in text else "\n".join(hanging(text))


def show(text: str) -> None:
    """Write lines of the result to stdout; nothing in them acts on the terminal."""
    renew()
    click.echo(harmless(without_secrets(text)))


def show_all(lines: Iterable[str]) -> None:
    """Write lines of the result, each as :func:`show` does."""
    for line in lines:
        show(line)


def paint(codes: str, *, err: bool = False, end: str = "\n") -> None:
    """Write our own screen control, such as a QR code in its colours: never a text that came from elsewhere."""
    click.echo(codes + end, err=err, nl=False)


def renew(text: str = "") -> None:
    """Show a row of progress in the place of the one before, on a terminal alone; what is said next takes its place."""
    global _row
    if text != _row and sys.stderr.isatty():
        _row = text
        paint(f"\r\x1b[K{harmless(without_secrets(text))}", err=True, end="")


_row = ""


def show_json(value: Any, indent: int | None = 2) -> None:
    """Write the result as one JSON document to stdout, in ASCII: JSON itself would let some control characters pass.

    Of a stream, each line is one, with ``indent`` None.
    """
    renew()
    click.echo(json.dumps(document_without_secrets(value), indent=indent))


def show_if_json(as_json: bool, **members: Any) -> None:
    """Write the result of a command that did what it was asked to, where one JSON document was asked for."""
    if as_json:
        show_json({"ok": True, **members})


def ask(question: str, *, piped: bool) -> str:
    """Ask for a line on stderr, and return it without its end. What was typed before the question counts for nothing.

    Answers come from a terminal; ``piped`` says that this is a rehearsal, where a pipe may answer too. Raises ``Declined``
    when nobody can answer.
    """
    forget_typed()
    click.echo(harmless(without_secrets(question)), err=True, nl=False)
    if not (piped or at_a_terminal()):
        say()
        raise NotAnswered(
            "not answered: answers come from a terminal",
            do="run the command in a terminal; a pipe answers only for what is worth nothing, by the software Ledger",
        )
    answer = typed_line()
    if not at_a_terminal():
        say(safe_again(answer.rstrip("\n")))
    if not answer:
        raise NotAnswered
    return answer.removesuffix("\n")


def ask_yes(question: str, *, piped: bool, opens: Opens = _OPENS_NOTHING) -> None:
    """Ask a question that only the whole word ``Yes`` answers; ``piped`` and ``opens`` as for :func:`ask_opening`.

    The word in another case, or with a blank or a stop beside it, is a slip, and an empty line is no answer: it is asked for
    again, a few times. Raises ``Declined`` for any other answer, or when nobody can answer.
    """
    answer = yes_or_other(f"{filled(question)}\n{_YES}", _YES, opens, piped=piped)
    if answer != "Yes":
        raise Declined("not confirmed: the answer was not Yes", do="run the command again when everybody agrees")


def ask_opening(question: str, opens: Opens, *, piped: bool) -> str:
    """Ask as :func:`ask` does, and again after an answer that only ``opens`` something to read."""
    while (words := set((answer := ask(question, piped=piped)).split() or [""])) <= opens.keys():
        for word in sorted(words):
            opens[word]()
    return answer


def yes_or_other(question: str, again: str, opens: Opens, *, piped: bool) -> str:
    """Ask as :func:`ask_opening`, a few times more after an empty line or a slip of ``Yes``; return the last answer.

    Letters of another keyboard are a slip too. Raises ``NotAnswered`` where the last line is empty, too.
    """
    answer = ask_opening(question, opens, piped=piped)
    for _ in range(_SLIPS):
        typed = answer.strip(" .!\"'").casefold()
        slip = _YES_SLIPS.get(typed, "" if typed.isascii() else LAYOUT)
        if answer == "Yes" or not slip:
            break
        say(slip)
        answer = ask_opening(again, opens, piped=piped)
    if not answer.strip():
        raise NotAnswered("not answered: each line was empty")
    return answer


def explain_error(error: AirlockError) -> str:
    """Return an error as the lines that a person reads: what, got, expected, what to do; whatever it quotes is escaped."""
    what, found = error.what, dict[str, str]()
    if isinstance(error, Refusal):
        place = f" (at {error.where})" if error.where else ""
        what, found = f"{error.check}: {what}{place}", {"got": error.got, "expected": error.expected}
    lines = list(hanging(safe_again(without_secrets(what))))
    for label, text in (found | {"do": advice(error)}).items():
        lines += rows(f"  {label + ':':<10}", text) if text else []
    return "\n".join(lines)


def rows(label: str, text: str, *, limit: int = 2000) -> Iterator[str]:
    """Return untrusted text beside its label, cut, without secrets, as ``labelled_rows`` lays it out."""
    return labelled_rows(label, safe_again(without_secrets(text), limit=limit))


def advice(error: AirlockError) -> str:
    """Return what to do about an error: its own advice, else that of its check."""
    if error.do or not isinstance(error, Refusal):
        return error.do
    described = import_module(
        "airlock_shared.checks.catalogue"
    ).CHECKS_BY_ID  # every check: paid for when one has refused
    return described[error.check].do if error.check in described else ""


def error_as_json(error: AirlockError) -> dict[str, Any]:
    """Return an error as a command's JSON result."""
    return {"ok": False, "error": error.as_json() | {"do": advice(error)}}


def worst(codes: list[ExitCode]) -> ExitCode:
    """Return the exit code of several results: the first that is not 0 in the order of severity, 0 when all are."""
    order = (
        ExitCode.UNKNOWN,
        ExitCode.REFUSED,
        ExitCode.EXECUTION_FAILED,
        ExitCode.MARKET_DECLINED,
        ExitCode.SERVICE,
        ExitCode.EXPIRED,
        ExitCode.DECLINED,
        ExitCode.DOCUMENT,
        ExitCode.DEVICE,
        ExitCode.USAGE,
    )
    return next((code for code in order if code in codes), ExitCode.DONE)


def finish(code: ExitCode) -> None:
    """End the command with a code that is not an error of the command itself."""
    if code is not ExitCode.DONE:
        raise click.exceptions.Exit(int(code))


# ---- keyboard -------------------------------------------------------------------------------------------------------
# The keyboard: a line that a person types after a question was shown. The edge to the terminal of stdin.
# Python's own reading of stdin keeps what it has read ahead; a terminal is therefore read past it, one line at a
# time.


_MOST_BYTES = 4096
"""Of a line: a terminal itself takes no longer one (Linux, ``N_TTY_BUF_SIZE``)."""


def at_a_terminal() -> bool:
    """Tell whether stdin is a terminal."""
    return sys.stdin is not None and sys.stdin.isatty()


def forget_typed() -> None:
    """Discard what was typed so far: keys pressed before a question was shown answer nothing."""
    if at_a_terminal():
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def typed_line() -> str:
    """Return the next line with its end; without one where the input ended, so an empty text says that nobody answers."""
    if not at_a_terminal():
        return sys.stdin.readline() if sys.stdin is not None else ""
    line = b""
    while not line.endswith(b"\n") and (read := os.read(sys.stdin.fileno(), _MOST_BYTES)):
        line += read
    return line.decode(errors="surrogateescape")


def screen_rows() -> int | None:
    """Return how many rows of 80 columns a person's screen holds; None where nobody reads and answers at one."""
    if not at_a_terminal() or not sys.stderr.isatty():
        return None
    size = os.get_terminal_size(sys.stderr.fileno())
    return size.lines // -(-WIDTH // (size.columns or WIDTH)) or None


# ---- single keys ----------------------------------------------------------------------------------------------------
# Single keys of a terminal, without Enter: they turn pages and decide nothing. What decides is typed as a whole word.
# Two kinds of key are known, forward and back; any other, and several pressed at once, are none. Afterwards the
# terminal is as it was before, also after Ctrl-C, which keeps its meaning meanwhile. Source: termios(3).


FORWARD, BACK, NONE, ENDED = "forward", "back", "none", "ended"
"""What a key means; ``ENDED``: there is no terminal any more, or the wait was ended."""

_KEYS = dict.fromkeys((b"\n", b"\r", b" ", b"n", b"\x1b[C", b"\x1b[B", b"\x1b[6~"), FORWARD)
_KEYS |= dict.fromkeys((b"b", b"p", b"\x7f", b"\x08", b"\x1b[D", b"\x1b[A", b"\x1b[5~"), BACK)
_MOST_KEY_BYTES = 64  # of a key; what comes in one go is one


class SingleKeys:
    """The terminal of stdin, read key by key while this is open."""

    def __init__(self) -> None:
        self._terminal = sys.stdin.fileno()
        self._before = termios.tcgetattr(self._terminal)

    def __enter__(self) -> SingleKeys:
        mode = termios.tcgetattr(self._terminal)
        mode[3] &= ~(termios.ICANON | termios.ECHO)
        termios.tcsetattr(self._terminal, termios.TCSANOW, mode)
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(termios.error):  # the terminal was closed
            termios.tcsetattr(self._terminal, termios.TCSANOW, self._before)
            forget_typed()

    def key(self, until: int | None = None) -> str:
        """Return what the next key means; ``ENDED`` at once when the file ``until`` can be read."""
        waiting = [self._terminal] if until is None else [self._terminal, until]
        ready, _, _ = select.select(waiting, [], [])
        if until in ready:
            return ENDED
        try:
            pressed = os.read(self._terminal, _MOST_KEY_BYTES)
        except OSError:  # the terminal was closed
            return ENDED
        return _KEYS.get(pressed, NONE) if pressed else ENDED


def next_key(
    keys: SingleKeys,
    place: str = "",
    back: bool = False,
    last: str = "",
    *,
    on: bool = True,
    until: int | None = None,
    same: Callable[[], bool] = lambda: True,
) -> str:
    """Say in the last row which keys there are, return the next of them, and leave the row empty afterwards.

    At any other key the row says that these are all; it is returned when the screen is no longer the ``same``.
    """
    known = {FORWARD: "Enter: on" * on, BACK: "b: back" * back, ENDED: last}
    before, words = f"-- {place} -- " if place else "-- ", " -- ".join(filter(None, known.values()))
    paint(f"{before}{words} --", err=True, end="")
    try:
        while not known.get(key := keys.key(until)) and key != ENDED and same():
            paint(f"\r{before}only {words} --", err=True, end="")
        return key
    finally:
        with suppress(OSError):  # the terminal was closed
            paint("\r\x1b[K", err=True, end="")
