"""The review on a terminal: every line on a screen of its own section, keys that only turn, a terminal left as it was."""

import fcntl
import json
import os
import re
import select
import signal
import struct
import sys
import termios
import time
from pathlib import Path

import pytest

from airlock_offline.cli import review_pages
from airlock_offline.cli.review_pages import deciding_lines, deciding_rows, terminal_screens
from airlock_offline.cli.sign import sections_of
from airlock_offline.signing.review import screen_lines
from airlock_offline.signing.rows import CHOSEN, KEPT, NOT_KEPT
from airlock_shared.checks.judge import Known
from airlock_shared.checks.model import CallCase, Case, IntentCase
from airlock_shared.checks.nonces import UsedNonces
from airlock_shared.ethereum.signatures import checksum_address
from airlock_shared.plan.decisions import shown_value
from airlock_shared.text.safe import WIDTH, columns, safe
from e2e.terminal import Terminal
from offline.signing_world import FOLDERS
from shared.world import examined, good, good_challenges, plan, request_of, situation

SECTIONS = [
    ["=" * 80, "STEP 1", "=" * 80],
    [f"section {n}" for n in range(3)],
    [f"long {n}" for n in range(95)],
    ["CHECKS"],
]


@pytest.mark.parametrize("rows", [1, 4, 5, 6, 24, 25, 60])
@pytest.mark.parametrize("width", [40, 80])
def test_every_line_is_on_one_screen_in_its_order_and_no_screen_is_too_high(rows: int, width: int) -> None:
    screens = terminal_screens(SECTIONS, rows, width)
    shown = [line for _, screen in screens for line in screen if not line.endswith(", continued")]
    assert shown == [line for section in SECTIONS for line in section]
    if rows > 5:
        assert max(sum(-(-columns(line) // width) for line in screen) for _, screen in screens) < rows
    if (rows, width) == (24, 80):
        assert [number for number, _ in screens] == [0, 1, 2, 2, 2, 2, 2, 3]  # a section begins a screen
        assert [screen[0] for _, screen in screens[3:7]] == ["long 0, continued"] * 4


CHILD = """
import json, os, signal, sys, termios, time
from functools import partial
from pathlib import Path
from airlock_offline.cli import review_pages
from airlock_offline.ledger.ethereum_app import EthereumApp
from airlock_offline.ledger.transport import Apdu
from airlock_shared.cli.ceremony.by_screens import show_above_question
from airlock_shared.cli.terminal import ask_yes
from airlock_shared.errors import Declined

work, arguments, home = sys.argv[1], json.loads(sys.argv[2]), Path(sys.argv[3])
review_pages.LOOK_S, review_pages.WAIT_S = 0.1, 0.2
before = termios.tcgetattr(0)


class Slow:
    def exchange(self, apdu, *, person):
        print("ASKED", flush=True)
        began = time.monotonic()
        while not (home / "answer").exists() and time.monotonic() - began < arguments["wait"]:
            time.sleep(0.02)
        if arguments.get("fails"):
            raise OSError("no cable")
        return b"signature", 0x9000

    def close(self): pass


def ask(question, opens):
    print("THE QUESTION", flush=True)


def main():
    pages = review_pages.ReviewPages(partial(ask_yes, piped=False) if work == "page" else ask)
    if work == "review":
        time.sleep(arguments.get("first", 0))
        pages.show(arguments["sections"], [], [])
        pages.ask("Sign?")
        return "asked"
    if work == "long":
        show_above_question(arguments["lines"])
        return "shown"
    if work == "page":
        pages.show(arguments["sections"], arguments["five"], [])
        pages.tell("it is not known whether the Ledger signed")
        pages.ask("Sign?")
        return sorted(pages.opened)
    pages.show([], [], arguments["lines"])
    answer = EthereumApp(Slow(), pages.turning).exchange(Apdu(0, 0, 0, 0), person=arguments.get("person", True))
    return repr(answer)


if arguments.get("deaf"):
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
try:
    ended = main()
except BaseException as error:
    ended = type(error).__name__
try:
    same = termios.tcgetattr(0) == before
except termios.error:
    same = None
(home / "ended").write_text(json.dumps([ended, same]))
print("OVER", flush=True)
"""
KEYS = re.compile(r"-- (\d+) of (\d+) -- [^\r\n]* --$")


class Reader:
    """A person at a terminal of 24 rows before whom a child shows something."""

    def __init__(self, home: Path, work: str, rows: int = 24, **arguments: object) -> None:
        self.home = home
        words = (sys.executable, "-c", CHILD, work, json.dumps(arguments), home)
        self.terminal = Terminal(*words, TERM="xterm", NO_COLOR="" if arguments.get("colour") else "1")
        self.size(rows)

    def size(self, rows: int, width: int = 80) -> None:
        fcntl.ioctl(self.terminal.outside, termios.TIOCSWINSZ, struct.pack("HHHH", rows, width, 0, 0))

    def keys(self) -> tuple[int, int] | None:
        """Wait for the row of keys, and return its numbers; None at the end."""
        start = len(self.terminal.shown)
        while not (found := KEYS.search(self.terminal.shown[start:])):
            if not self.terminal.more() or "OVER" in self.terminal.shown:
                return None
        return int(found[1]), int(found[2])

    def turned(self, *keys: str) -> list[tuple[int, int] | None]:
        """Press keys, and return the numbers of the page before them and after each."""
        came = [self.keys()]
        for key in keys:
            self.terminal.press(key)
            came.append(self.keys())
        return came

    def ended(self) -> list[object]:
        self.terminal.end()
        told: list[object] = json.loads((self.home / "ended").read_text())
        return told

    def interrupt(self) -> None:
        time.sleep(0.05)  # Python keeps a signal of the instant before it waits for keys until the next key
        self.terminal.press("\x03")
        assert self.ended() == ["KeyboardInterrupt", True]


def _quiet(reader: Reader, for_s: float) -> bool:
    """Tell whether nothing more is shown for so long."""
    return not select.select([reader.terminal.outside], [], [], for_s)[0]


@pytest.fixture
def sections() -> list[list[str]]:
    return [["FIRST", "✓ kept"], ["SECOND", "✗ not kept"], ["THIRD", "· chosen"], ["FOURTH", *map(str, range(30))]]


def test_forward_and_back_and_the_question_after_the_last(tmp_path: Path, sections: list[list[str]]) -> None:
    reader = Reader(tmp_path, "review", sections=sections)
    came = reader.turned("\n", "n", "b", "\x1b[D", "\x1b[D", " ", "\x1b[C", "\x1b[6~", "\r", "\x7f", "\n")
    assert came == [(number, 5) for number in (1, 2, 3, 2, 1, 1, 2, 3, 4, 5, 4, 5)]
    assert "THE QUESTION" not in reader.terminal.shown
    reader.terminal.press("\n")
    assert reader.ended() == ["asked", True]
    assert reader.terminal.shown.count("THE QUESTION") == 1


@pytest.mark.parametrize("keys", ["x", "Yes\n", "\n\n", "yy", "\x1b", "\x04", "\x1b[C\x1b[C", "\x00", "é"])
def test_other_keys_turn_nothing(tmp_path: Path, sections: list[list[str]], keys: str) -> None:
    reader = Reader(tmp_path, "review", sections=sections)
    assert reader.turned(keys, keys, keys) == [(1, 5)] * 4
    assert reader.terminal.shown.count("\r-- 1 of 5 -- only Enter: on --") == 3
    reader.interrupt()


@pytest.mark.parametrize("ahead", ["\n" * 50, "\n", "Yes\n" * 20])
def test_what_was_pressed_before_a_screen_stood_there_turns_nothing(
    tmp_path: Path, sections: list[list[str]], ahead: str
) -> None:
    reader = Reader(tmp_path, "review", sections=sections, first=0.5)
    reader.terminal.press(ahead)
    assert reader.keys() == (1, 5)
    assert _quiet(reader, 0.4)
    reader.terminal.press("\n")
    time.sleep(0.03)
    reader.terminal.press("\n")  # while the second screen has only just come
    assert reader.keys() == (2, 5) or reader.keys() == (2, 5)  # a busy machine may draw the first row of keys once more
    assert _quiet(reader, 0.4)
    reader.interrupt()


def test_after_another_size_the_section_is_shown_once_more(tmp_path: Path, sections: list[list[str]]) -> None:
    reader = Reader(tmp_path, "review", sections=sections)
    assert reader.turned("\n", "\n") == [(1, 5), (2, 5), (3, 5)]
    reader.size(12)
    reader.terminal.press("\n")
    assert reader.turned("\n") == [(3, 6), (4, 6)]
    reader.interrupt()


def test_a_long_text_is_shown_once_more_where_the_terminal_has_another_size(tmp_path: Path) -> None:
    reader = Reader(tmp_path, "long", lines=[f"line {number}." for number in range(50)])
    assert reader.keys() == (1, 3)
    sizes = ((24, 60), (1, 7)), ((24, 60), (2, 7)), ((16, 80), (2, 5)), ((16, 80), (3, 5))
    for size, keys in sizes:  # a row of 80 columns may take two of 60
        reader.size(*size)
        reader.terminal.press("\n")
        assert reader.keys() == keys
    assert [reader.terminal.shown.count(f"line {number}.") for number in (0, 7, 8, 19, 20, 31)] == [2, 2, 3, 2, 1, 1]
    reader.interrupt()


def test_a_terminal_that_was_closed_declines(tmp_path: Path, sections: list[list[str]]) -> None:
    reader = Reader(tmp_path, "review", sections=sections, deaf=True)
    assert reader.keys() == (1, 5)
    os.close(reader.terminal.outside)
    reader.terminal.command.wait(20)
    assert json.loads((tmp_path / "ended").read_text())[0] == "NotAnswered"


FIVE = ["WHAT IS SIGNED", "  what        all of it"]
QUESTION = "Type Yes to go on, no to stop: "
STANDS_OUT = ("NOTE: a note", "WARNING: a warning", "REPLACES (named by the plan; old and new have the same nonce)")


def _until(reader: Reader, text: str, times: int) -> None:
    while reader.terminal.shown.count(text) < times:
        assert reader.terminal.more(), reader.terminal.shown


@pytest.mark.parametrize(("numbers", "opened"), [((), []), ((2, 3), ["fourth", "second"])])
def test_the_page_that_decides_stands_above_the_question_and_says_what_was_opened(
    tmp_path: Path, sections: list[list[str]], numbers: tuple[int, ...], opened: list[str]
) -> None:
    sections.append(["CHECKS: 3 passed, 0 refused"])
    sections += [[head, f"  of {head[:4]}"] for head in STANDS_OUT]  # these need no opening
    reader = Reader(tmp_path, "page", sections=sections, five=FIVE)
    _until(reader, QUESTION, 1)
    assert "-- " not in reader.terminal.shown
    on_page = {line for section in sections[2:3] + sections[4:] for line in section}.union(FIVE)
    assert [line for line in on_page if line not in reader.terminal.shown] == []
    assert "not kept" not in reader.terminal.shown
    assert "To read one, type its number: 1 = first, 2 = second, 3 = fourth" in reader.terminal.shown
    for times, number in enumerate(numbers, 2):
        reader.terminal.press(f"{number}\n")
        for _ in range({2: 1, 3: 2}[number]):
            assert reader.keys()
            reader.terminal.press("\n")
        _until(reader, QUESTION, times)
        assert reader.terminal.shown.count("WHAT IS SIGNED") == times
        assert reader.terminal.shown.count("it is not known whether the Ledger signed") == times
        assert reader.terminal.shown.count("type its number: 1 = first") == times
    reader.terminal.press("Yes\n")
    assert reader.ended() == [opened, True]


def _narrow(reader: Reader, key: str) -> None:
    """Press a key at a terminal that is too narrow, and Enter twice: nothing is passed. Then make it wide again."""
    for pressed in (key, "\n", "\n"):
        reader.terminal.press(pressed)
        assert reader.keys() == (1, 1)
    reader.size(24)
    reader.terminal.press("\n")


def test_in_a_terminal_that_became_too_narrow_no_key_passes_a_screen(tmp_path: Path, sections: list[list[str]]) -> None:
    reader = Reader(tmp_path, "page", sections=sections, five=FIVE)
    reader.size(24, 60)
    assert reader.keys() == (1, 1)
    _narrow(reader, "\n")
    _until(reader, QUESTION, 1)
    assert all(line in reader.terminal.shown.partition(QUESTION)[0] for line in FIVE)
    reader.size(24, 60)
    _narrow(reader, "1\n")
    assert reader.keys() == (1, 1)
    assert "✓ kept" in reader.terminal.shown
    reader.terminal.press("\n")
    _until(reader, QUESTION, 2)
    reader.terminal.press("Yes\n")
    assert reader.ended() == [["first"], True]


@pytest.mark.parametrize("lines", [8, 12, 14, 15, 16, 18, 21, 40])
def test_the_question_pushes_nothing_away_that_decides(tmp_path: Path, sections: list[list[str]], lines: int) -> None:
    five = [f"line {number} of what decides" for number in range(lines)]
    reader, turned = Reader(tmp_path, "page", sections=sections, five=five), 0
    while QUESTION not in reader.terminal.shown:
        assert reader.terminal.more()
        if KEYS.search(reader.terminal.shown[turned:]):
            turned = len(reader.terminal.shown)
            reader.terminal.press("\n")
    assert reader.terminal.shown[turned:].count("\n") < 24
    assert [line for line in five if line not in reader.terminal.shown] == []
    reader.interrupt()


def test_the_ledgers_list_comes_again_when_the_terminal_is_wide_again(tmp_path: Path) -> None:
    reader = Reader(tmp_path, "ledger", lines=["THE LEDGER WILL SHOW", "  1  page"], wait=30)
    reader.size(24, 60)
    assert reader.keys() == (1, 1)
    assert "1  page" not in reader.terminal.shown
    reader.size(24)
    reader.terminal.press("\n")
    assert reader.keys() == (1, 1)
    assert "1  page" in reader.terminal.shown
    (tmp_path / "answer").touch()
    reader.ended()


LIST = ["THE LEDGER WILL SHOW", *(f"{number:>3}  page" for number in range(1, 59)), " 59  \x1b[31mSign\u202e"]


def test_the_ledgers_list_is_turned_while_it_waits(tmp_path: Path) -> None:
    reader = Reader(tmp_path, "ledger", lines=LIST, wait=30)
    came = reader.turned("\n", "\n", "\n", "b", "x", "Yes\n", "\x1b[D", "b")
    assert came == [(number, 3) for number in (1, 2, 3, 3, 2, 2, 2, 1, 1)]
    assert all(f"{line}\r\n" in reader.terminal.shown for line in LIST[:-1])
    assert "\x1b" not in reader.terminal.shown.replace("\r\x1b[K", "")  # the row of keys is taken away
    assert "\\u{1b}[31mSign\\u{202e}" in reader.terminal.shown
    assert "3 of 3 -- b: back -- confirm or reject on the Ledger --" in reader.terminal.shown
    (tmp_path / "answer").touch()
    assert reader.ended() == ["(b'signature', 36864)", True]


LABELS = ["what", "how much", "for whom", "until when", "as whom"]


def _cases() -> dict[str, Case]:
    cases: dict[str, Case] = {}
    for folder in FOLDERS:
        known = Known(used=UsedNonces(), proofs={each.sha256() for each in good_challenges(folder)})
        for step in plan(folder).steps:
            if step not in cases:  # an authorization's order is as it is elsewhere
                item = examined(request_of(good(step, folder)), situation(folder), known=known)
                assert item.case is not None
                cases[step] = item.case
    return cases


CASES = _cases()
EVERY = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def _five(case: Case) -> dict[str, str]:
    heading, *lines = deciding_lines(deciding_rows(case), {})
    lines = [line for line in lines if "OTHER THAN" not in line]
    assert heading == review_pages.HEADING
    assert max(map(columns, lines)) <= WIDTH
    found: dict[str, str] = {}
    for line in lines:
        label = line[2:14].strip() or list(found)[-1]
        found[label] = f"{found[label]} {line.strip()}" if label in found else line[14:].strip()
    return found


SAID = {
    "open": ("BTC/USD, long", "the plan's collateralUsdc; 10 x (leverage)", "0xf39F", "2026-09-21 14:28:20"),
    "close": ("position 2", "the plan has at least 60000, at most 64000", "(_trader)", "(_deadline)"),
    "take-profit": ("long, take_profit", "(coinSize), the plan's coinExposure; 70000", "(trader)", "no deadline"),
    "desk-key": ("delegate", "all that the account trades with", "0x7099", "2027-03-31 00:00:00 UTC (expiry)"),
    "own-code": ('"Desk-7!!"', "no amount", "(_referrer)", "(_deadline)"),
    "approve": ("take USDC", "25000.5 USDC (amount)", "(spender)", "account nonce 18"),
    "approve-unlimited": ("take USDC", "unlimited (amount)", "(spender)", "account nonce 19"),
    "limit-update": ("order 3", "61000.5 USD (price)", "(from)", "account nonce 4"),
    "limit-update-desk": ("order 0", "60500 USD (price)", "(trader)", "account nonce 5"),
    "give": ("EIP-7702", "all that the account holds, and all that it may do", "(contract)", "account nonce 5 is used"),
    "referral-transfer": ("TREASURY", "no amount", "(newOwner)", "account nonce 10"),
}


@pytest.mark.parametrize("step", SAID)
def test_they_say_what_decides(step: str) -> None:
    five = _five(CASES[step])
    assert [text in five[label] for text, label in zip(SAID[step], LABELS, strict=False)] == [True] * 4, five


def test_they_are_read_off_what_is_signed_and_not_off_the_plan() -> None:
    case = CASES["close"]
    changed = [d._replace(raw=7_000_000) if d.field.path == "_amount" else d for d in case.decisions]
    assert isinstance(case, IntentCase | CallCase)
    assert "7 USDC (_amount)" in _five(case._replace(decisions=changed))["how much"]
    case = CASES["approve"]
    sent = case._replace(request=case.request._replace(payload={**case.request.payload, "value": "0x470de4df820000"}))
    assert "; 0.02 of the native currency is sent with it; fee at most " in _five(sent)["how much"]


@EVERY
def test_every_value_that_the_plan_decides_is_in_the_five_lines(case: Case) -> None:
    five, signer = _five(case), case.step.signer
    assert list(five) == LABELS
    assert five["what"].startswith(case.title)
    assert five["as whom"].startswith(checksum_address(signer.address))
    if signer.delegate_of is not None:
        named = f"as delegate of {checksum_address(signer.delegate_of)}" in five["as whom"]
        assert named == (case.step.id != "keeper-rewards")  # those are the desk's own
    if isinstance(case, IntentCase):
        assert (case.intent.deadline.rsplit(".", 1)[-1] or "no deadline") in five["until when"]
    elif case.request.transaction is not None:
        assert "fee at most " in five["how much"]
    said = " ".join(five.values()).replace(" ", "")
    for decision in case.decisions:
        parameter, shown = decision.field.rule.parameter, shown_value(decision.field, decision.raw)
        if decision.decided_by == "plan":
            pair = case.situation.deployment.pair_at(decision.raw) if parameter == "pairIndex" else None
            word = decision.expected if parameter in ("side", "kind") or decision.expected == "unlimited" else shown
            assert safe(pair.name if pair else word, limit=100).replace(" ", "") in said, decision


@EVERY
def test_what_the_builder_chose_is_on_the_page_and_everything_else_can_be_opened(case: Case) -> None:
    item = examined(case.request, case.situation, known=Known(used=UsedNonces()))
    sections = [part for part in sections_of(item, UsedNonces(), [["Sign"]], [], "nanosp") if part]
    page = [line for part in sections if review_pages._decides(part) for line in part]
    chosen = [line for part in sections for line in part if line.startswith(CHOSEN)]
    assert bool(chosen) == any(decision.decided_by == "builder" for decision in case.decisions) or isinstance(
        case, CallCase
    )
    assert [line for line in page if line.startswith(CHOSEN)] == chosen
    assert any(line.startswith("CHECKS") for line in page)
    assert not [line for part in sections for line in part if line.startswith(("WARNING", "NOTE")) and line not in page]


def test_what_differs_from_the_last_time_stands_beside_the_line() -> None:
    now = deciding_rows(CASES["close"])
    told = list(deciding_lines(now, now | {"how much": "1 USDC", "until when": "then"}))
    assert [line.strip() for line in told if "LAST" in line] == ["OTHER THAN LAST TIME: 1 USDC"]
    assert not [line for line in deciding_lines(now, now) if "LAST" in line or "of this kind" in line]
    assert "no page of this kind was shown here before" in next(deciding_lines(now, None))


def test_a_screen_stands_alone_but_the_first(tmp_path: Path, sections: list[list[str]]) -> None:
    reader = Reader(tmp_path, "review", sections=sections)
    assert reader.keys() == (1, 5)
    assert reader.terminal.shown.count("\n") == len(sections[0])
    reader.terminal.press("\n")
    for number in range(2, 5):
        start = len(reader.terminal.shown)
        assert reader.keys() == (number, 5)
        rows = reader.terminal.shown[start:].replace("\r\n", "\n").split("\n")
        assert len(rows) == 24
        assert rows[0].rpartition("\x1b[K")[2] == sections[number - 1][0]
        reader.terminal.press("\n")
    assert reader.keys() == (5, 5)
    reader.terminal.press("\n")
    assert reader.ended() == ["asked", True]


def test_colour_stands_beside_the_mark_and_only_there(tmp_path: Path) -> None:
    lines = ["FIRST", f"{KEPT} kept", f"{NOT_KEPT} not {KEPT} kept", f"{CHOSEN} chosen"]
    lines += [f"  {KEPT} imitated", "\x1b[31mx"]
    for colour in (True, False):
        (tmp_path / str(colour)).mkdir()
        reader = Reader(tmp_path / str(colour), "review", sections=[lines], colour=colour)
        assert reader.keys() == (1, 1)
        shown = reader.terminal.shown
        assert re.findall(r"\x1b\[\d+m(.)\x1b\[0m", shown) == ([KEPT, NOT_KEPT, CHOSEN] if colour else [])
        assert shown.count("\x1b") == (6 if colour else 0)
        for mark in (KEPT, NOT_KEPT, CHOSEN):
            assert mark in shown
        reader.terminal.press("\n")
        assert reader.ended() == ["asked", True]


def test_what_is_too_high_is_turned_and_the_five_lines_stay(tmp_path: Path, sections: list[list[str]]) -> None:
    sections[2] += map(str, range(40))
    reader = Reader(tmp_path, "page", sections=sections, five=FIVE)
    assert reader.keys() == (1, 3)
    reader.terminal.press("\n")
    assert reader.keys() == (2, 3)
    assert "WHAT IS SIGNED" not in reader.terminal.shown
    reader.terminal.press("\n")
    _until(reader, QUESTION, 1)
    for times, slip in enumerate(("4", "?", ""), 2):  # there are three to open
        reader.terminal.press(f"{slip}\n")
        _until(reader, QUESTION, times)
    reader.terminal.press("no\n")
    assert reader.ended() == ["Declined", True]


@pytest.mark.parametrize("quick", [{"wait": 0}, {"wait": 0.6, "person": False}, {"wait": 0.6, "lines": []}])
def test_where_nobody_has_to_compare_anything_nothing_is_shown(tmp_path: Path, quick: dict[str, object]) -> None:
    reader = Reader(tmp_path, "ledger", 24, **({"lines": LIST} | quick))
    assert reader.ended() == ["(b'signature', 36864)", True]
    assert "THE LEDGER" not in reader.terminal.shown
    assert ("Reject there what an earlier command still asks." in reader.terminal.shown) is ("person" in quick)


@pytest.mark.parametrize(("fails", "ended"), [(True, "OSError"), (False, "KeyboardInterrupt")])
def test_what_the_device_fails_with_and_ctrl_c_come_through(tmp_path: Path, fails: bool, ended: str) -> None:
    reader = Reader(tmp_path, "ledger", lines=LIST, wait=0.6 if fails else 30, fails=fails)
    assert reader.keys() == (1, 3)
    if not fails:
        os.kill(reader.terminal.pid, signal.SIGINT)
    assert reader.ended() == [ended, True]


def test_a_page_that_comes_again_is_listed_once() -> None:
    pages = [["press", "right"], ["amount", "1"], ["press", "right"], ["price", "2"], ["press", "right"], ["Sign"]]
    whole, short = list(screen_lines(pages, "nanosp")), list(screen_lines(pages, "nanosp", each=False))
    assert short[0] == "THE LEDGER WILL SHOW (nanosp, 6 pages, each listed once)"
    assert [line for line in short[1:] if line not in whole] == []
    assert [line for line in whole[1:] if line not in short] == ["  3  press | right", "  5  press | right"]
