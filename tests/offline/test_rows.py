"""Untrusted text in rows: it is escaped, it never begins a row, and a terminal that would break our rows is refused."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airlock_offline.signing.rows import goes_to, noted, replacement_rows, route_of, row, value_rows
from airlock_shared.checks.nonces import UsedNonces, use_of
from airlock_shared.cli.terminal import explain_error, rows
from airlock_shared.errors import Refusal
from airlock_shared.plan.decisions import Decision
from airlock_shared.text.safe import WIDTH, columns, is_visible, labelled_rows, safe
from airlock_shared.units import ADDRESS
from airlock_shared.venue.kinds import LEAF_KINDS, field
from shared.make_payloads import NOW_MS
from shared.world import deployment, examined, good, request_of, situation

HOSTILE = [
    "\n✓ trader            0x1111111111111111111111111111111111111111",
    "x\r✓ all fingerprints are equal.",
    "x\x1b[2J\x1b[Hdecided by the plan",
    "x" * 70 + " ✓ signer",
    " " * 90 + "REFUSED",
    "✓ " * 60,
    "\u202egnihton \u2066x\u2069",
    "a\u200bb\u0000c\u0301",
    "\\u{a}",
    "漢字" * 50,
    "b'\\x00'",
    "\u2028 next",
]
VALUES = [*HOSTILE, b"\x11" * 20, b"\x22" * 32, b"\nall is well", b"", True, 2**256 - 1, -(2**255)]


def require_rows(lines: list[str]) -> None:
    for line in lines:
        assert all(map(is_visible, line.replace(" ", ""))), line
        assert columns(line) <= WIDTH, line


@pytest.mark.parametrize("kind", LEAF_KINDS)
@pytest.mark.parametrize("raw", VALUES, ids=repr)
def test_a_leaf_of_any_kind_stays_in_its_column(kind: str, raw: object) -> None:
    if LEAF_KINDS[kind].unit is ADDRESS and type(raw) is bytes and len(raw) != 20:
        return  # no message holds one
    decision = Decision(field("_t.leaf", kind), raw, "plan", "as planned", ok=True)
    lines = list(value_rows(decision, 1_790_000_000_000, None))
    require_rows(lines)
    assert lines[0].startswith("  leaf ")
    for line in lines[1:]:
        assert line.startswith(" " * 22) or line == "", line
    assert not any("b'" in line for line in lines) or raw == "b'\\x00'"


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_that_nobody_made_safe_does_not_begin_a_row(text: str) -> None:
    laid_out = (
        row("label", text),
        row(text, "value"),
        labelled_rows("  1  ", text),
        labelled_rows("  ", text),
        rows("  got: ", text),
    )
    for lines in (list(noted("NOTE", text))[1:], *map(list, laid_out)):
        require_rows(lines)
        for line in lines[1:]:
            assert line.startswith("  ") or line == "", lines
    require_rows(explain_error(Refusal("X", "what", got=text, expected=text, do="do")).split("\n"))


@given(st.text(max_size=300), st.sampled_from(["", "  ", "  label   ", "REFUSED  "]))
def test_no_text_leaves_its_column(text: str, label: str) -> None:
    first, *rest = labelled_rows(label, text)
    assert first.startswith(label)
    assert all(line.startswith(" " * len(label)) for line in rest)
    require_rows([first, *rest])


def shown_at(width: int, *words: object) -> tuple[int, str]:
    """Run the program at a terminal of this width, and return its exit code and what stands there."""
    outside, inside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    program = [sys.executable, "-c", "from airlock_offline.start import main; main()"]
    child = subprocess.Popen([*program, *map(str, words)], stdin=inside, stdout=inside, stderr=inside)
    os.close(inside)
    shown = b""
    while True:
        try:
            data = os.read(outside, 1 << 16)
        except OSError:
            break
        shown += data
    os.close(outside)
    return child.wait(), shown.decode()


@pytest.mark.parametrize(("width", "words"), [(79, ("plan", "show")), (40, ("verify", "x.json", "--plan"))])
def test_a_terminal_that_would_break_our_rows_is_refused(width: int, words: tuple[str, ...], tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text("# nothing\n")
    code, shown = shown_at(width, "--home", tmp_path / "home", *words, plan)
    assert (code, f"it has {width} columns" in shown.replace("\r\n", " "), "80" in shown) == (2, True, True)
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("entity", ["trigger-17", "x\x1b[2J", "~" * 200])
def test_the_trigger_that_is_replaced_stands_where_the_signature_goes(entity: str) -> None:
    said = route_of(request_of(good("take-profit"))._replace(replaces=entity))
    assert said == f"core-api, in place of the stored trigger {safe(entity)}"
    assert "in place" not in route_of(request_of(good("take-profit")))


@pytest.mark.parametrize(("pnl", "mark"), [(False, "✓"), (None, "·")])
def test_an_order_type_that_the_plan_leaves_open_is_the_online_machine_s(pnl: bool | None, mark: str) -> None:
    pairs = {number: pair._replace(pnl=pnl) for number, pair in deployment().pairs.items()}
    case = examined(request_of(good("close")), situation()._replace(deployment=deployment()._replace(pairs=pairs))).case
    assert case is not None
    assert {line[0] for line in goes_to(case)} == {mark}


@pytest.mark.parametrize(
    ("deadlines", "said"),
    [
        ([NOW_MS + 1], "Either of the two may execute"),
        ([NOW_MS - 10**7], "The old one can no longer execute"),
        ([NOW_MS - 10**7, None], "Either of the two may execute"),
        ([NOW_MS + 1, None], "Any one of these 3 may execute"),
    ],
)
def test_what_may_execute_beside_a_replacement_is_counted_by_the_deadlines(
    deadlines: list[int | None], said: str
) -> None:
    case = examined(request_of(good("open"))).case
    assert case is not None
    case = case._replace(step=case.step._replace(replaced_digest="0x" + "ee" * 32))
    old = [use_of(case)._replace(digest=f"0x{at:064x}", deadline_ms=ms) for at, ms in enumerate(deadlines)]
    assert list(replacement_rows(case, UsedNonces(old)))[-1].startswith(said)
