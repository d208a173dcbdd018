"""Untrusted texts and what people type: shown escaped, flagged, named with their place, and a whole word for a Yes."""

import errno
import os
import re
import sys
import threading
import unicodedata
from pathlib import Path
from typing import NamedTuple

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from airlock_shared.cli import progress as module
from airlock_shared.cli import terminal as console
from airlock_shared.cli.comparison_lines import plan_lines
from airlock_shared.cli.machine import settings_of
from airlock_shared.cli.program import run
from airlock_shared.cli.progress import working
from airlock_shared.cli.terminal import explain_error, renew, rows, say
from airlock_shared.errors import AirlockError, Declined, DocumentError, PlanError, Refusal, ServiceError, UsageError
from airlock_shared.plan.mistakes import find_mistakes
from airlock_shared.plan.reader import parse_plan
from airlock_shared.text import safe as texts
from airlock_shared.text.safe import columns, flags, harmless, is_visible, safe, spoken, wrapped
from airlock_shared.units import code_bytes, code_rows
from airlock_shared.wire.strict_json import ONLY, parse_json, parse_toml
from draws import repeatable
from refusals import error_of
from shared.make_payloads import plan_fingerprint
from shared.world import PLAN_TEXT, good_with, judge, replaced, situation

NASTY = (
    "\x1b\x9b\x07\x08\x00\r\n\t\x7f\x85"
    "\u200b\u200d\u2028\u2029\u202a\u202e\u2066\u2069\u061c\ufeff\u00ad\u034f\u180e\U000e0041\ud800\\{}u"
)
ANY_TEXT = st.text(st.characters() | st.sampled_from(NASTY), max_size=60)
HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Mn", "Me", "Mc"}


def test_no_hidden_character_of_unicode_reaches_a_screen() -> None:
    shown = {character for n in range(sys.maxunicode + 1) if (character := chr(n)) in safe(character)}
    assert not [f"{ord(character):x}" for character in shown if unicodedata.category(character) in HIDDEN]
    assert not [f"{ord(character):x}" for character in shown if character.isspace() and character != " "]
    assert set(map(chr, range(0x20, 0x7F))) <= shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J", "\\u{1b}[2J"),
        ("\x1b]8;;http://x\x07", "\\u{1b}]8;;http://x\\u{7}"),
        ("a\u202eb", "a\\u{202e}b"),
        ("\\u{1b}", "\\\\u{1b}"),
        ("line\r\nline", "line\\u{d}\\u{a}line"),
        ("a\u0301", "a\\u{301}"),
        ("pay 1 אب٣\u07c0 2", "pay 1 \\u{5d0}\\u{628}\\u{663}\\u{7c0} 2"),  # they reorder their neighbours
        ("\u115f\u3164\u2800", "\\u{115f}\\u{3164}\\u{2800}"),  # letters and a symbol that show as nothing
        ("\ud800", "\\u{d800}"),
        ("é無😀", "é無😀"),
    ],
)
def test_a_text_is_shown_as_what_is_there(text: str, shown: str) -> None:
    assert safe(text) == shown
    assert safe("a" * 30 + text, limit=30) == "a" * 30 + f" … [{30 + len(text)} characters, {len(text)} not shown]"


@repeatable
@given(ANY_TEXT)
def test_every_text_can_be_read_back_from_what_is_shown(text: str) -> None:
    def character(match: re.Match[str]) -> str:
        return "\\" if match[0] == "\\\\" else chr(int(match[1], 16))

    assert re.sub(r"\\\\|\\u\{([0-9a-f]+)\}", character, safe(text)) == text


def test_a_fingerprint_is_spoken_as_its_first_twenty_four_bytes() -> None:
    assert spoken("00" * 31 + "ff") == " ".join(["able"] * 24)
    assert spoken("c7098580125e2ab0981253468b2dbc52" + "00" * 16) == (  # Bytewords of the standard's own example
        "slot axis limp lava brag holy door puff monk brag guru frog luau drop roof grim" + 8 * " able"
    )
    assert len(spoken("ab" * 32).split()) == texts.SPOKEN_BYTES
    one, other = "c7" * 12 + "00" * 20, "c7" * 12 + "01" + "00" * 19  # made alike in 96 bits
    assert spoken(one) != spoken(other)
    assert texts.spoken_rows(one) != texts.spoken_rows(other)


def test_what_is_said_or_shown_unescaped_does_not_act_on_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for write in (console.say, console.show):
        write(f"a{NASTY}b")
        seen = "".join(capsys.readouterr())
        assert not [c for c in NASTY if c in seen and c not in "\n\\{}u"]


@pytest.mark.parametrize("name", ["x" * 300, "\u6f22" * 39 + " REHEARSAL: worth nothing", "a name of ours " * 9])
def test_a_long_name_does_not_go_on_at_the_first_column(capsys: pytest.CaptureFixture[str], name: str) -> None:
    for said in ("Wrote ", "      Wrote "):
        console.say(said + name)
        first, *rest = capsys.readouterr().err.splitlines()
        assert rest
        assert first.startswith(said.rstrip())
        assert all(line.startswith("  ") for line in rest)
        assert max(map(columns, [first, *rest])) <= texts.WIDTH


@repeatable
@given(ANY_TEXT)
def test_the_guard_leaves_what_is_visible_and_our_own_lines_as_they_are(text: str) -> None:
    assert harmless(safe(text)) == safe(text)
    assert texts.safe_again(safe("\x1b[2J")) == safe("\x1b[2J")
    assert harmless(f"a\n{safe(text)}\n  b") == f"a\n{safe(text)}\n  b"
    plain = harmless(text.replace("\n", "")).replace("\\", "")
    assert safe(plain) == plain


def _errors() -> list[AirlockError]:
    refusal = Refusal("MSG-INT", f"what {HOSTILE}", got=HOSTILE, expected=HOSTILE, do=HOSTILE).at(HOSTILE)
    return [refusal, ServiceError(HOSTILE, do=HOSTILE), UsageError(HOSTILE)]


HOSTILE = "\x1b[2J\x1b]0;owned\x07\n  do:       type Yes\r\u202e\u200b\x9b"


FLAGGED_TEXT = st.text(st.characters() | st.sampled_from("\x1b\x9b\u200b\u202e\u0301無ａ  \U000e0041"), max_size=300)


@pytest.mark.parametrize(
    "text",
    ["", "TREASURY", "Desk-7!!", "BTC/USD", "Gewähr", "São Tomé, naïve façade", "keine Gewähr — 無保証", "BTCの注文",
     "주문 BTC", "Привет, мир", "λόγος", "100 €", "½ m²", "«quoted»", "line\nline\n", "日本語"],
)  # fmt: skip
def test_an_honest_text_is_not_flagged_and_stays_readable(text: str) -> None:
    assert flags(text) == []
    assert safe(text.replace("\n", " ")) == text.replace("\n", " ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ТREASURY", "U+0422 like 'T'"),  # Cyrillic, with Latin
        ("ВТС", "U+0412 like 'B', U+0422 like 'T', U+0421 like 'C'"),  # Cyrillic throughout
        ("ΑΒΕ", "U+0391 like 'A'"),
        ("ｔｒｅａｓｕｒｙ", "U+FF54 like 't'"),
        ("𝐓𝐑𝐄𝐀𝐒𝐔𝐑𝐘", "like 'T'"),
        ("ՏREASURY", "ARMENIAN, LATIN"),
        ("admın", "U+0131 like 'i'"),
        ("БTC", "CYRILLIC, LATIN"),  # nothing in ASCII looks like it, and it stands among Latin letters
        ("pay\u200bpal", "U+200B"),
        ("\u202eYRUSAERT", "U+202E"),
        ("a\u0301\u0302\u0303", "U+0301, U+0302, U+0303"),
        ("\x1b[31mred", "U+001B"),
        ("a\u00a0b", "U+00A0"),
        ("a\u3164b", "U+3164"),
        ("שלום", "the screen does not show"),  # right-to-left letters reorder their neighbours, and are escaped
        ("\ud800", "U+D800"),
    ],
)
def test_what_a_reader_may_miss_is_flagged(text: str, said: str) -> None:
    assert any(said in flag for flag in flags(text)), flags(text)


@pytest.mark.parametrize(("letters", "refused"), [("ТREASURY", set()), ("TREASURY", {"PLAN-FIELD"})])
def test_a_code_in_other_letters_passes_when_the_plan_gives_all_its_bytes(letters: str, refused: set[str]) -> None:
    code, signed = ("0x" + text.encode().ljust(32, b"\0").hex() for text in ("ТREASURY", letters))
    text = replaced(PLAN_TEXT, [('code = "TREASURY"', f'code = "{code}"')])
    document = good_with("referral", _code=signed)
    document["requests"][0]["fields"]["code"] = code
    document["header"]["plan"] = plan_fingerprint(text)
    assert judge(document, situation()._replace(plan=parse_plan(text.encode()))) == refused


@repeatable
@given(FLAGGED_TEXT)
def test_whatever_is_escaped_on_the_screen_is_flagged_too_in_short_plain_ascii(text: str) -> None:
    for flag in flags(text * 20):
        assert flag.isascii()
        assert flag.isprintable()
        assert len(flag) < 400
    hidden = [c for c in text if not is_visible(c) and c not in "\n\t"]
    assert any("the screen does not show" in flag for flag in flags(text)) == bool(hidden)


@repeatable
@given(FLAGGED_TEXT, st.integers(4, 80))
def test_no_line_is_wider_than_it_may_be_and_nothing_is_lost(text: str, width: int) -> None:
    shown = safe(text)
    lines = list(wrapped(shown, width))
    assert all(columns(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == shown.replace(" ", "")


@pytest.mark.parametrize("attack", ["無" * 40 + "REFUSED", "x" * 200, " " * 70 + "plan 5: equal", "é" * 79, "a b" * 90])
def test_a_text_cannot_begin_a_line_of_its_own(attack: str) -> None:
    lines = list(rows("  got:      ", attack))
    assert all(line.startswith(("  got:", " " * 12)) for line in lines)
    assert all(columns(line) <= texts.WIDTH for line in lines)


@pytest.mark.parametrize("error", _errors(), ids=lambda error: type(error).__name__)
def test_an_error_that_quotes_hostile_text_is_harmless(error: AirlockError) -> None:
    text = explain_error(error)
    assert all(is_visible(character) for character in text.replace("\n", ""))
    assert not any(line.startswith("  do:       type") for line in text.splitlines())


# ---- referral codes: a mistake is named with its place, and what two people compare cannot be the same for two codes


MISTAKES = [
    ("", "it is empty"),
    ("TREA SURY", "character 5 of 9 is U+0020 (a space)"),
    (" TREASURY", "character 1 of 9 is U+0020 (a space)"),
    ("TREASURY\n", "character 9 of 9 is U+000A (a line break)"),
    ("TREASURY\x1b[2J", "character 9 of 12 is U+001B (an invisible character)"),
    ("TRE\u0410SURY", "character 4 of 8 is U+0410 (CYRILLIC CAPITAL LETTER A), which looks like 'A'"),
    ("\uff34REASURY", "character 1 of 8 is U+FF34 (FULLWIDTH LATIN CAPITAL LETTER T), which looks like 'T'"),
    ("TREA\u200bSURY", "character 5 of 9 is U+200B (ZERO WIDTH SPACE)"),
    ("\x7fTREASURY", "character 1 of 9 is U+007F (an invisible character)"),
    ("TREASURY\0", "character 9 of 9 is U+0000 (an invisible character)"),
    ("T" * 32, "it has 32 characters, 1 too many"),
    ("0x5452", "0x and 4 hex digits instead of 64; a shorter code could mean text or bytes"),
    ("0x" + "5" * 65, "0x and 65 hex digits instead of 64; a shorter code could mean text or bytes"),
    ("0xTREASURY", "character 3 of 10 is 'T', not a hex digit; a code that begins with 0x is hex"),
    ("0x54 52", "character 5 of 7 is U+0020 (a space), not a hex digit; a code that begins with 0x is hex"),
    ("0X" + "5" * 64, "character 2 of 66 is 'X'; write 0x with a small x"),
]


@pytest.mark.parametrize(("code", "mistake"), MISTAKES, ids=[ascii(code)[:20] for code, _ in MISTAKES])
def test_a_mistake_is_named_with_its_place(code: str, mistake: str) -> None:
    error = error_of(Refusal, code_bytes, code)
    assert (error.check, error.what) == ("PLAN-CODE", f"not a referral code: {mistake}")
    assert error.what.isascii()


@pytest.mark.parametrize("code", ["TREA SURY", "TRE\u0410SURY", "0x5452"])
def test_a_plan_with_a_mistake_in_a_code_says_where_it_is(code: str) -> None:
    plan = replaced(PLAN_TEXT, [('code = "TREASURY"', f'code = "{code}"')]).encode()
    error = error_of(PlanError, parse_plan, plan)
    assert (error.check, dict(MISTAKES)[code] in error.what) == ("PLAN-CODE", True)
    assert ".fields.code" in error.where


@pytest.mark.parametrize(
    ("one", "other"),
    [("TREASURY", "Treasury"), ("TREASURY", "TREASURYY"), ("DESK0", "DESKO"), ("DESK1", "DESKl"), ("DESKI", "DESKl")],
)
def test_two_codes_never_look_the_same_to_those_who_compare_them(one: str, other: str) -> None:
    rows = [list(code_rows(code_bytes(code))) for code in (one, other)]
    assert rows[0][0] != rows[1][0]
    assert rows[0][2] != rows[1][2]
    assert rows[0][3:] != rows[1][3:]


def test_a_code_is_shown_as_bytes_code_points_and_kinds_of_characters() -> None:
    assert list(code_rows(code_bytes("Desk-01"))) == [
        "hex 4465 736b 2d30 3100 0000 0000 0000 0000",
        "and 0000 0000 0000 0000 0000 0000 0000 0000",
        "code points U+0044 U+0065 U+0073 U+006B U+002D U+0030 U+0031",
        "7 characters: 1 capital letter, 3 small letters, 2 digits, 1 other sign",
        "character 6 is 0, the digit zero",
        "character 7 is 1, the digit one",
    ]


def test_the_plan_as_it_is_shown_has_the_code_s_bytes_within_80_columns() -> None:
    for code in ("TREASURY", "W" * 31, "0x" + "d090".ljust(64, "0")):
        lines = list(plan_lines(parse_plan(replaced(PLAN_TEXT, [('code = "TREASURY"', f'code = "{code}"')]).encode())))
        digits = code_bytes(code).hex()
        assert any("hex " + " ".join(digits[at : at + 4] for at in range(0, 32, 4)) in line for line in lines)
        assert any("code points U+" in line for line in lines)
    assert any("WARNING: letters that look like others: U+0410" in line for line in lines)
    assert max(len(line) for line in lines if "code points" in line or "hex " in line or "WARNING" in line) <= 80


# ---- files that people write, saved in another form than UTF-8: nobody reads them, and how to save them is told -----


PLAN = 'format = "airlock/plan@1"\n'
FORMS = {
    "utf-8-sig": "UTF-8 with a byte order mark",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
    "utf-32": "UTF-32",
    "utf-32-be": "UTF-32",
    "utf-32-le": "UTF-32",
}


class NoSections(NamedTuple):
    """A configuration without sections."""


@pytest.mark.parametrize(("encoding", "form"), FORMS.items())
def test_a_text_in_another_form_is_refused_with_its_form_and_way_out(tmp_path: Path, encoding: str, form: str) -> None:
    told, toml = f"it is saved as {form}: save it as UTF-8 without a byte order mark (BOM)", PLAN.encode(encoding)
    with pytest.raises(ValueError, match=f"^{re.escape(told)}$"):
        parse_toml(toml)
    error = error_of(PlanError, parse_plan, toml)
    assert (error.check, told in error.what) == ("PLAN-FORM", True)
    (mistake,) = find_mistakes(toml)
    assert (mistake.line, mistake.text, mistake.example) == (1, "", "")
    assert told in mistake.error.what
    (tmp_path / "config.toml").write_bytes(toml)
    with pytest.raises(UsageError, match=f"is not TOML: {re.escape(told)}"):
        list(settings_of(tmp_path / "config.toml", NoSections(), {}))


@pytest.mark.parametrize(("encoding", "form"), FORMS.items())
def test_a_document_in_another_form_is_refused_with_the_form_and_the_way_out(encoding: str, form: str) -> None:
    data = '{"a": 1}'.encode(encoding)
    error = error_of(DocumentError, parse_json, data)
    readable = not data.startswith((b"\xff", b"\xfe", b"\0\0\xfe"))
    assert (error.check, error.what) == ("DOC-JSON" if readable else "DOC-UTF8", f"saved as {form}")
    assert (error.expected, error.do) == (ONLY, "save it in that form, or copy it again")


# ---- A question that only the whole word answers: a slip is asked again, anything else stops ------------------------


def answered(monkeypatch: pytest.MonkeyPatch, *answers: str) -> list[str]:
    """Ask with these answers in turn, and return the questions that were asked."""
    asked: list[str] = []

    def ask(question: str, *, piped: bool) -> str:
        asked.append(question)
        if len(asked) > len(answers):
            raise Declined("not answered: the input has ended")
        return answers[len(asked) - 1]

    monkeypatch.setattr(console, "ask", ask)
    console.ask_yes("Is it the same?", piped=True)
    return asked


@pytest.mark.parametrize("slip", ["", "yes", " Yes", '"Yes"', "Yes!", "Zes", "Нуы", "Ｙｅｓ"])
def test_a_slip_is_asked_again_and_then_counts_for_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], slip: str
) -> None:
    assert len(answered(monkeypatch, slip, "Yes")) == 2
    said = {"zes": "keys Y and Z", "нуы": "not Latin", "ｙｅｓ": "not Latin"}.get(slip.casefold(), "the whole word Yes")
    assert said in capsys.readouterr().err
    with pytest.raises(Declined):
        answered(monkeypatch, slip, "no")


@pytest.mark.parametrize("answers", [["no"], ["y"], ["ok"], ["yes please"], ["Ye"], ["yes"] * 5])
def test_anything_else_and_slips_without_end_stop(monkeypatch: pytest.MonkeyPatch, answers: list[str]) -> None:
    assert len(answered(monkeypatch, "Yes")) == 1
    with pytest.raises(Declined, match="the answer was not Yes"):
        answered(monkeypatch, *answers, "Yes")


# ---- A word about a wait: one row when it is long, none when it is short, and never after its end -------------------


def told_by(monkeypatch: pytest.MonkeyPatch, every_s: float, *, terminal: bool = True) -> list[str]:
    told: list[str] = []
    monkeypatch.setattr(module, "renew", lambda text="": told.append(text))
    monkeypatch.setattr(module, "EVERY_S", every_s)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    return told


def test_a_long_wait_is_told_again_and_again_in_a_row_of_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    told = told_by(monkeypatch, 0.0)
    with working("Drawing" * 20):
        assert any(len(told) > 2 or threading.Event().wait(0.01) for _ in range(6000))
    assert told[0].startswith("DrawingDrawing")
    assert told[0].endswith(" ... (0 s)")
    assert (len(told[0]) <= 78, told[-1]) == (True, "")


def test_a_short_one_is_not_and_a_failure_goes_through_and_ends_the_telling(monkeypatch: pytest.MonkeyPatch) -> None:
    told, before = told_by(monkeypatch, 3600.0), threading.active_count()
    with pytest.raises(ZeroDivisionError), working("Drawing"):
        _ = 1 // 0
    assert (threading.active_count(), told) == (before, [""])
    in_a_pipe = told_by(monkeypatch, 0.0, terminal=False)
    with working("Drawing"):
        assert threading.active_count() == before
    assert in_a_pipe == []


def test_what_is_said_next_takes_its_place(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    renew("Drawing\x1b[2J ... (1 s)")
    say("done")
    say("more")
    assert capsys.readouterr().err == "\r\x1b[KDrawing\\u{1b}[2J ... (1 s)\r\x1b[Kdone\nmore\n"


# ---- A program's command line: what Ctrl-C leaves behind is told as an interruption, and nothing else is ------------


def closed_twice(first: type[BaseException], code: int, *, wrapped: bool) -> None:
    """Close a file twice, as the standard library does where an error came between the closing and its end."""
    try:
        try:
            raise first
        finally:
            raise OSError(code, os.strerror(code))
    except OSError as error:
        if wrapped:
            raise UsageError("the journal cannot be used", do="check its folder") from error
        raise


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize(
    ("first", "code", "ends"),
    [(KeyboardInterrupt, errno.EBADF, 130), (KeyboardInterrupt, errno.ENOSPC, 2), (MemoryError, errno.EBADF, 2)],
)
def test_a_file_that_is_closed_twice_by_an_interruption_is_told_as_one(
    capsys: pytest.CaptureFixture[str], first: type[BaseException], code: int, ends: int, *, wrapped: bool
) -> None:
    command = click.command("fails")(lambda: closed_twice(first, code, wrapped=wrapped))
    assert run(command, []) == ends
    said = capsys.readouterr().err
    assert ("Interrupted." in said) is (ends == 130)
    assert ("Bad file" in said) is (ends == 2 and code == errno.EBADF and not wrapped)
