"""The review on a terminal: the page that decides, sections that a person opens, and the Ledger's list beside the Ledger.

It changes nothing of what is examined, and the question is ``sign``'s. It always stands below the page that decides. The
sections are those that a pipe gets in one piece; which of them were opened is told to who records it. What was pressed
before a screen stood there turns nothing.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from time import monotonic, sleep

from airlock_offline.signing.review import QUESTION_ROWS, Group, Section, rows_of_page, section_lines
from airlock_offline.signing.rows import CHOSEN, KEPT, NOT_KEPT
from airlock_shared.checks.model import CallCase, Case, IntentCase
from airlock_shared.cli.terminal import (
    BACK,
    ENDED,
    FORWARD,
    SingleKeys,
    filled,
    forget_typed,
    led,
    next_key,
    paint,
    say,
    say_all,
    screen_rows,
)
from airlock_shared.errors import Declined, NotAnswered
from airlock_shared.ethereum.signatures import checksum_address, value_wei
from airlock_shared.plan.decisions import Decision
from airlock_shared.start import ENDING
from airlock_shared.text.safe import WIDTH, columns, labelled_rows, safe
from airlock_shared.units import COIN, LEVERAGE, NATIVE, USDC, span_text, to_human
from airlock_shared.venue.actions import REGISTRATIONS
from airlock_shared.venue.structs import DEADLINE, EXPIRY, is_custom

LOOK_S = 0.3
"""For so long a screen stands before a key counts: who holds Enter down sees each."""
WAIT_S = 0.5
"""After so long the Ledger's list is shown: an answer of the device alone is quicker."""
_SILENT = "Waiting for the Ledger. Reject there what an earlier command still asks."
_NUMBERS = 100
"""A number below this is meant for a section, and is no answer."""
_LEAST_ROWS = 4  # a heading, two lines and the row for the keys
_COLOURS = {KEPT: "32", NOT_KEPT: "31", CHOSEN: "33"}  # green, red, yellow: beside the mark, never in its place


def terminal_screens(sections: list[Section], rows: int, width: int, below: int = 1) -> list[tuple[int, list[str]]]:
    """Return screens of so many rows, each with its section's number; a long section goes on under its heading.

    Those of the last section leave so many rows ``below`` them, the others one, for the keys.
    """
    screens = []
    for number, section in enumerate(sections):
        heading = next((line for line in section if line.strip("=")), "")
        screen: list[str] = []
        for line in section:
            left = rows - (below if section is sections[-1] else 1)
            if screen and _height([*screen, line], width) > max(left, _LEAST_ROWS - 1):
                screens.append((number, screen))
                screen = [f"{heading}, continued"]
            screen.append(line)
        screens.append((number, screen))
    return screens


def _height(lines: list[str], width: int) -> int:
    return sum(max(-(-columns(line) // width), 1) for line in lines)


class ReviewPages:
    """The screen of a person who reviews: what decides, what can be opened, and the list to compare with the Ledger.

    ``opened`` holds what the sections are called that were on the screen whole. Without ``turns`` the list stands in one
    piece: the keys are those of a software Ledger, which asks in this terminal.
    """

    def __init__(self, ask_yes: Callable[..., None], *, turns: bool = True) -> None:
        self._ask_yes, self._turns = ask_yes, turns
        self._page: list[Section] = []
        self._sections: list[Section] = []
        self._ledger: list[str] = []
        self._said_before: list[str] = []
        self.opened: set[str] = set()

    def begin(self) -> None:
        """Where it is led, wait for a key: what was said before is not pushed away unread, and no time runs on behind it."""
        if led():
            with SingleKeys() as keys:
                next_key(keys)

    def show(self, sections: list[Section], five: list[str], ledger: list[str]) -> None:
        """Take the page that decides, which :meth:`ask` shows above its question. Raises ``Declined``.

        It has what the builder chose, what stands out, and ``five`` lines. A refused item has no five lines: each section
        is shown, until the last one was turned. ``ledger`` is the list that stands beside the Ledger.
        """
        self._ledger, self._said_before, self._page, self.opened = ledger, [], [], set()
        if five:
            self._sections = [part for part in sections if not _decides(part)]
            self._page = [[line for part in filter(_decides, sections) for line in part if line.strip("=")], five]
        else:
            self._turn_all(sections)

    def show_group_page(self, lines: list[str], below: int) -> None:
        """Show a page of a group alone on the screen, with so many rows left below it for the question.

        It waits until the screen can hold all of it: nobody is asked about what does not stand there.
        """
        needed = _height(lines, WIDTH) + below
        while (size := _size())[0] < needed or size[1] < WIDTH:
            self._turn_all([[f"The page needs {needed} rows and {WIDTH} columns.", "Make it so, then turn the page."]])
        _draw([*lines, *[""] * (size[0] - needed)], size, alone=False)
        sleep(LOOK_S)

    def set_list(self, step: str, ledger: list[str]) -> None:
        """Set the list to show while the Ledger shows a step, which was confirmed on a page of its group."""
        self._ledger = [f"{step}:", *ledger]

    def _show_page(self, question: str, *, again: bool = False) -> None:
        """Show the page that decides, above all that stands between it and the answer; ``again``: its five lines."""
        below = [row for text in [*self._said_before, self._names(), question] for row in filled(text).split("\n")]
        rows, width = _size()
        whole = [line for part in self._page for line in part]
        fits = _height([*whole, *below], width) < rows
        self._turn_all(self._page[-1:] if again else [whole] if fits else self._page, below)
        say_all(self._said_before)
        self._say_sections()

    def _turn_all(self, sections: list[Section], below: list[str] | None = None) -> None:
        """Show screen by screen; where something comes ``below`` the last one, and the answer, that one is not turned."""

        def same() -> bool:
            return _size() == size

        def cut() -> list[tuple[int, list[str]]]:
            return terminal_screens(sections, *size, _height(below or [], size[1]) + 1)

        size = _size()
        screens, at, seen = cut(), 0, -1
        with SingleKeys() as keys:
            while at < len(screens) - (bool(below) and size[1] >= WIDTH):
                _draw(screens[at][1], size, alone=seen >= 0)  # above the first one stands what was said before
                if at > seen:
                    sleep(LOOK_S)
                    seen = at
                forget_typed()
                key = next_key(keys, f"{at + 1} of {len(screens)}", at > 0, same=same)
                if key == ENDED:
                    raise NotAnswered
                now = _size()
                if now == size and now[1] >= WIDTH:
                    at = max(at + _step(key), 0)
                    continue
                number, size = screens[at][0], now  # what was drawn may be cut: the section once more
                screens = cut()
                at = next(place for place, (section, _) in enumerate(screens) if section == number)
                seen = at - 1
        for line in screens[-1][1] if below else ():
            _say(line)

    def tell(self, text: str) -> None:
        """Say what stands between a page that decides and its question, also after a section was opened."""
        if self._page:
            self._said_before.append(text)
        else:
            say(text)

    def ask(self, question: str) -> None:
        """Show the page, and ask as ``sign`` does; a section's number opens it. Numbers and an empty line answer nothing.

        Raises ``Declined``.
        """
        opens = dict.fromkeys(["?", ""], self._say_sections) | {
            str(number): partial(say, f"There is no section {number}.") for number in range(_NUMBERS)
        }
        opens |= {str(number): partial(self._open, number, question) for number in range(1, len(self._sections) + 1)}
        if self._page:
            self._show_page(question)
        try:
            self._ask_yes(question, opens=opens)
        finally:
            self._page = []

    def _names(self) -> str:
        names = [f"{number} = {_called(section)}" for number, section in enumerate(self._sections, 1)]
        return f"To read one, type its number: {', '.join(names)}"

    def _say_sections(self) -> None:
        say(self._names())

    def _open(self, number: int, question: str) -> None:
        section = self._sections[number - 1]
        self._turn_all([section])
        self.opened.add(_called(section))
        self._show_page(question, again=True)

    @contextmanager
    def turning(self, person: bool) -> Iterator[None]:
        """Show the Ledger's list while a person is waited for, a screen at a time, turned by keys.

        A Ledger that is silent where nobody has to press anything may still ask what a command of before asked.
        """
        ended, end = os.pipe()
        keys = SingleKeys()
        turner = threading.Thread(target=self._turn, args=(keys, ended, person), daemon=True)
        turner.start()
        try:
            yield
        finally:
            try:
                os.write(end, b".")
                turner.join(timeout=2)
            finally:
                keys.__exit__()
                if not turner.is_alive():
                    os.close(ended)
                    os.close(end)

    def _turn(self, keys: SingleKeys, ended: int, person: bool) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)  # Ctrl-C is for who waits for the device
        if select.select([ended], [], [], WAIT_S)[0] or (person and not self._ledger):
            return
        if not person:
            say(_SILENT)
            return
        if not self._turns:
            say_all((*self._ledger, "The software Ledger asks above this list: Yes approves, anything else rejects."))
            return

        def same() -> bool:
            return _size() == size

        key, at, size, shown = "", 0, _size(), -1
        with keys:
            while key != ENDED:
                if not same():  # what was drawn may be cut: the page once more
                    key, size, shown = "", _size(), -1
                rows, width = size
                screens = terminal_screens([self._ledger], rows - 2, width)  # above stands that it is compared now
                at = min(max(at + _step(key) * (width >= WIDTH), 0), len(screens) - 1)
                if at != shown:
                    _draw(screens[at][1], size, alone=False)
                shown = at
                forget_typed()
                count = len(screens)
                last, more = "confirm or reject on the Ledger", at + 1 < count
                key = next_key(keys, f"{at + 1} of {count}", at > 0, last, on=more, until=ended, same=same)


def _decides(section: list[str]) -> bool:
    """Tell whether a section is on the page that decides: something in it was chosen by the builder, or stands out."""
    return section[0].startswith(("NOTE", "WARNING", "REPLACES", "CHECKS")) or any(
        line[:1] == CHOSEN for line in section
    )


def _called(section: list[str]) -> str:
    """Return what a section is called where it can be opened."""
    return next(line for line in section if line.strip("=")).partition(" (")[0].lower()


def _size() -> tuple[int, int]:
    """Return the rows and columns of the terminal."""
    size = os.get_terminal_size(sys.stderr.fileno())
    return size.lines or 24, size.columns or 80


def _step(key: str) -> int:
    return 1 if key == FORWARD else -1 if key == BACK else 0


def _draw(lines: list[str], size: tuple[int, int], *, alone: bool) -> None:
    """Write a screen; ``alone``: it fills all rows but the last, so that nothing else stands there."""
    rows, width = size
    if width < WIDTH:  # it was made narrow since the command began
        lines = ["This terminal is too narrow.", f"Make it {WIDTH} columns wide,", "then turn the page."]
    for line in lines:
        _say(line)
    for _ in range(rows - 1 - _height(lines, width) if alone else 0):
        say()


def _say(line: str) -> None:
    """Say a line of the review, its mark in colour where the terminal has any."""
    coloured = not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"
    if coloured and (colour := _COLOURS.get(line[:1])):
        paint(f"\x1b[{colour}m{line[0]}\x1b[0m", err=True, end="")
        line = line[1:]
    say(line)


# ---- deciding lines -------------------------------------------------------------------------------------------------
# The five lines that decide, for the last look before the question: what, how much, for whom, until when, as whom.
# They are read off what is signed, beside the raw name of each value. They repeat a part of the review, and add
# nothing. A value that the plan decides is among them; the signer's own address stands in the last alone.


HEADING = "WHAT IS SIGNED, IN FIVE LINES"
_NAMED = {"pairIndex": "", "tradeIndex": "position ", "orderIndex": "order ", "twapId": "TWAP ", "side": "", "kind": "",
          "code": ""}  # fmt: skip
_PRICES = ("price", "expectedPrice", "percentage")
_WHOM = ("delegate", "spender", "newOwner", "trader", "referee", "referrer", "contract")
"""Kinds of leaves that say what it is about, at which price, and who gets something from it, the first one first."""


def deciding_rows(case: Case) -> dict[str, str]:
    """Return the five, each by its label. What the plan decides beside them stands with the first."""
    signer = case.step.signer
    as_whom = f"{signer.account} ({safe(signer.name, limit=40)})"
    if of := case.step.delegate_of:
        as_whom += f", as delegate of {checksum_address(of)}"
    five = {"how much": _how_much(case), "for whom": _for_whom(case), "until when": _until(case), "as whom": as_whom}
    said = "; ".join(five.values())
    others = (d for d in case.decisions if d.decided_by == "plan" and d.field.rule.parameter not in _NAMED)
    also = (_value(d) for d in others if d.raw != signer.address)
    return {"what": ", ".join([case.title, *_position(case), *(text for text in also if text not in said)])} | five


def deciding_lines(five: dict[str, str], before: dict[str, str] | None) -> Iterator[str]:
    """Yield the heading and the five, a long one goes on below; and what the same kind said ``before``, where it differs."""
    yield HEADING if before is not None else f"{HEADING} (no page of this kind was shown here before)"
    for label, text in five.items():
        yield from labelled_rows(f"  {label:<12}", text)
        if before and label != "until when" and before[label] != text:
            yield from labelled_rows(f"  {'':<12}", f"OTHER THAN LAST TIME: {before[label]}")


def _position(case: Case) -> Iterator[str]:
    """Yield which position, order or code it is, on which pair, and which way."""
    for decision in case.decisions:
        parameter = decision.field.rule.parameter
        if parameter in _NAMED:
            text = decision.value
            if parameter in ("side", "kind"):  # the word is the plan's, and the value is equal to it
                text = decision.expected
            elif parameter == "pairIndex":
                pair = case.situation.deployment.pair_at(decision.raw)
                text = pair.name if pair else f"pair {text}"
            yield safe(_NAMED[parameter] + text, limit=100)


def _how_much(case: Case) -> str:
    if isinstance(case, CallCase) and case.is_authorization:
        return "all that the account holds, and all that it may do"
    amounts = (d for d in case.decisions if d.field.unit in (USDC, COIN, LEVERAGE) or d.field.kind in _PRICES)
    said = "; ".join(_value(amount) for amount in amounts if amount.raw != 0)
    if is_custom(case.intent) if isinstance(case, IntentCase) else case.call.is_own:
        said = "Airlock does not know the meaning of these values: the review has them all"
    elif not said:
        registers = case.step.action.name in REGISTRATIONS
        said = "all that the account trades with" if registers else "no amount"
    if filled := case.request.transaction:
        if wei := value_wei(case.request.payload):
            said += f"; {to_human(wei, NATIVE)} {NATIVE.name} is sent with it"
        said += f"; fee at most {to_human(filled.gas * filled.maxFeePerGas, NATIVE)} of the native currency"
    return said


def _value(decision: Decision) -> str:
    asked = decision.expected if decision.expected == "unlimited" else decision.value
    name = safe(decision.name, limit=40)
    if decision.in_bounds:
        name += f": chosen by the builder, the plan has {safe(decision.expected, limit=200)}"
    planned = f", the plan's {decision.planned_as}" if decision.planned_as else ""
    return f"{safe(asked, limit=200)} ({name}){planned}"


def _for_whom(case: Case) -> str:
    for kind in _WHOM:
        for decision in case.decisions:
            if decision.field.kind == kind:
                return _value(decision)
    if isinstance(case, CallCase) and case.delegated_for is not None:
        return f"{checksum_address(case.delegated_for)} (trader)"
    return f"{case.step.signer.account} (from)"


def _until(case: Case) -> str:
    said = [_value(decision) for decision in case.decisions if decision.field.kind in (EXPIRY, DEADLINE)]
    if filled := case.request.transaction:
        said.append(f"sent until account nonce {filled.nonce} is used")
    elif isinstance(case, CallCase):
        said.append(f"until account nonce {case.message['nonce']} is used; once used, until another takes it back")
    elif not case.intent.deadline:
        said.append("no deadline: until its nonce is used")
    return "; ".join(said)


# ---- groups ---------------------------------------------------------------------------------------------------------
# The groups of a document at ``sign``: the form of each shown once, then page after page of rows, a ``Yes`` for each page.
#
# A page is shown when its first step comes. Its ``Yes`` is on record, with the digest of each row, before anything of it is
# signed; so it is not asked again when the command goes on another day, and it counts for these digests alone.


_ROWS_WITHOUT_A_SCREEN = 24


class GroupPages:
    """The pages of a document's groups. ``confirmed`` has each digest (0x-hex) asked about, and whether it was confirmed.

    It begins with ``before``, the digests confirmed in earlier runs. ``record`` puts those of a page on record.
    """

    def __init__(
        self,
        groups: Iterable[Group],
        before: Iterable[str],
        screen: ReviewPages | None,
        ask: Callable[..., None],
        record: Callable[[list[str]], None],
    ) -> None:
        self.confirmed = dict.fromkeys(before, True)
        self._groups = {digest: group for group in groups for digest in group.rows}
        self._screen, self._ask, self._record = screen, ask, record
        self._form: list[Section] = []
        self._began_s, self._signed = monotonic(), 0

    def show_from(self, digest: str, can_be_signed: Callable[[str], bool]) -> None:
        """Show the page that begins with a digest, and have it answered, where it is one of a group and was not answered.

        ``can_be_signed`` tells whether a step can be signed now, and was not yet.
        """
        group = self._groups.get(digest)
        if group is None or digest in self.confirmed:
            return
        rows = list(group.rows)
        left = [each for each in rows[rows.index(digest) :] if each not in self.confirmed and can_be_signed(each)]
        if left[:1] != [digest]:
            return
        page = left[: rows_of_page(group, left, screen_rows() or _ROWS_WITHOUT_A_SCREEN)]
        lines = [*group.heading, *(line for each in page for line in group.rows[each])]

        def show(*, form: bool) -> None:
            if self._screen:
                if form:
                    self._screen.show(group.form, [], [])
                self._screen.show_group_page(lines, QUESTION_ROWS)
            else:
                say_all([*(section_lines(group.form) if form else ()), "", *lines])

        show(form=self._form is not group.form)
        self._form = group.form
        question = f"Sign these {len(page)} steps of {len(group.rows)}, which differ from the form in this alone?"
        opens = dict.fromkeys(["?", *map(str, range(_NUMBERS))], partial(show, form=True))
        try:
            self._ask(question, opens=opens)
        except Declined as declined:
            self.confirmed |= dict.fromkeys(page, False)
            say(f"Not signed: {declined.what}.")
            return
        self._record(page)
        self.confirmed |= dict.fromkeys(page, True)

    def signed(self, left: int) -> str:
        """Return how long the rest will take, after one more was signed: ``left`` are not signed yet."""
        self._signed += 1
        each_s = (monotonic() - self._began_s) / self._signed
        return f", about {span_text(int(each_s * left))} left" if left else ""
