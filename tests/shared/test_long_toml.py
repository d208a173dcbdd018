"""A long plan is read in pieces, and gives what Python's TOML reader gives for the whole, or that reader's own refusal."""

from __future__ import annotations

import random
import tomllib
from typing import Any

import pytest

from airlock_shared.wire import toml
from airlock_shared.wire.long_toml import read_tables

HEAD = 'format = "airlock/plan@1"\n[ceremony]\nid = "many"\nroles = ["signer"]\n[signers.treasury]\npath = "m/44\'"\n'
PLAIN = (
    'id = "close-{n}"\naction = "close"\n'
    'fields = {{ pairIndex = {n}, collateral = "15.5", price = {{ at_least = "1", at_most = "9" }} }}\n'
)
DATED = 'id = "delegate-{n}"\nfields = {{ delegate = "0xAb", expiry = 2099-03-31T00:00:00Z }}\n'
SPREAD = 'id = "odd-{n}" # a note\n"signer"   = \'treasury\'\nfields.price.at_most = 0x{n:x}\n'


def plan(pieces: list[str], head: str = HEAD) -> str:
    return head + "".join(f"[[steps]]\n{piece}" for piece in pieces)


def steps(count: int) -> list[str]:
    return [(DATED if n % 7 == 3 else SPREAD if n % 11 == 5 else PLAIN).format(n=n) for n in range(count)]


def whole(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except ValueError:
        return None


def ours(text: str) -> dict[str, Any] | None:
    try:
        return toml.parse_toml(text.encode())
    except ValueError:
        return None


def spelled(value: object) -> str:
    """The value with its types and its order: 1 is not True."""
    return repr(value)


def test_a_long_plan_is_read_in_pieces_as_python_reads_the_whole() -> None:
    text = plan(steps(200))
    table = read_tables(text, tomllib.loads)
    assert table is not None
    assert spelled(table) == spelled(tomllib.loads(text)) == spelled(toml.parse_toml(text.encode()))


def test_plain_pieces_do_not_come_to_pythons_reader() -> None:
    seen: list[str] = []

    def read(text: str) -> dict[str, Any]:
        seen.append(text)
        return tomllib.loads(text)

    assert read_tables(plan([(DATED if n % 9 == 4 else PLAIN).format(n=n) for n in range(100)]), read) is not None
    assert seen == [HEAD.removesuffix("\n")]


def test_a_short_plan_is_read_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("airlock_shared.wire.long_toml.read_tables", lambda *_: pytest.fail("a short plan"))
    text = plan(steps(63))
    assert toml.parse_toml(text.encode()) == tomllib.loads(text)


LAST = 'id = "last"\n'
ODD = {
    "a table after the steps": LAST + "[limits]\na = 1\n",
    "an indented table after the steps": LAST + " \t[limits]\na = 1\n",
    "a table within the last step": LAST + '[steps.fields]\na = "1"\n',
    "an indented list of tables": LAST + '  [[steps]]\nid = "x"\n',
    "another list of tables": LAST + '[[others]]\nid = "x"\n[[steps]]\nid = "y"\n',
    "the list with blanks in its name": LAST + '[[ steps ]]\nid = "x"\n',
    "the list with its name in quotes": LAST + '[["steps"]]\nid = "x"\n',
    "a carriage return": LAST + '[[steps]]\r\nid = "x"\n',
    "a text of several lines that looks like a step": 'id = """\n[[steps]]\nid = "x"\n"""\n',
    "a literal of several lines that looks like a step": "id = '''\n[[steps]]\nid = 1\n'''\n",
    "lists within a list that look like a step": "id = [\n[[1]]\n,\n[[1]]\n]\n",
    "a name twice": 'id = "a"\nid = "b"\n',
    "a name twice within": 'fields = { a = "1", a = "2" }\n',
    "a name twice within bounds": 'fields = { a = { at_least = "1", at_least = "2" } }\n',
    "a name twice, once in quotes": 'id = "a"\n"id" = "b"\n',
    "a text with marks": 'id = "a, b = { c }"\nfields = { a = "x, y = 1", b = "}" }\n',
    "a text with an escape": 'id = "a\\u0022, \\"b\\" = 1"\n',
    "a text with a tab": 'id = "a\tb"\n',
    "a text with a control character": 'id = "a\x01b"\n',
    "a text with a delete character": 'id = "a\x7fb"\n',
    "other letters": 'id = "é\u202e𝟘"\n',
    "numbers": "a = 0\nb = -1\nc = 999999999999999999\nd = 1_000\ne = +3\nf = 0x10\n",
    "a number with a leading zero": "a = 01\n",
    "minus zero": "a = -0\n",
    "numbers of many digits": "a = 99999999999999999999\nb = 1e3\nc = 1.5\nd = inf\n",
    "a number of thousands of digits": f"a = {'9' * 5000}\n",
    "flags": "a = true\nb = false\n",
    "what is no value": "a = True\n",
    "null": "a = null\n",
    "nothing": "",
    "blank lines": '\n\nid = "x"\n\n\n',
    "a comma at the end": 'fields = { a = "1", }\n',
    "an inline table of two lines": 'fields = { a = "1",\nb = "2" }\n',
    "an empty inline table": "fields = {}\n",
    "a name without a value": "id =\n",
    "two values": 'id = "a" "b"\n',
    "no end of the line": 'id = "a"',
    "dates": "a = 2099-03-31\nb = 07:32:00\nc = 2099-03-31T00:00:00\n",
    "times": "a = 2099-03-31T23:59:59Z\nfields = { b = 2096-02-29T00:00:00Z, c = { d = 0001-01-01T00:00:00Z } }\n",
    "a time in a text": 'id = "2099-03-31T00:00:00Z"\nfields = { a = "2099-03-31T00:00:00Z" }\n',
    "a time with a zone": "a = 2099-03-31T00:00:00+01:00\n",
    "a time with a fraction": "a = 2099-03-31T00:00:00.5Z\n",
    "a time in small letters": "a = 2099-03-31t00:00:00z\n",
    "a time with a blank": "a = 2099-03-31 00:00:00Z\n",
    "no such day": "a = 2099-02-29T00:00:00Z\n",
    "no such month": "fields = { a = 2099-13-01T00:00:00Z }\n",
    "no such year": "a = 0000-01-01T00:00:00Z\n",
    "the hour 24": "a = 2099-03-31T24:00:00Z\n",
    "the second 60": "a = 2099-03-31T23:59:60Z\n",
    "a time and more": "a = 2099-03-31T00:00:00Z1\n",
    "a time as a name": "2099-03-31T00:00:00Z = 1\n",
    "a name of digits": '1 = "a"\n-1 = "b"\n',
    "four deep": "fields = { a = { b = { c = { d = 1 } } } }\n",
}


@pytest.mark.parametrize("piece", ODD.values(), ids=ODD)
@pytest.mark.parametrize("place", [0, 50, 100])
def test_an_odd_piece_is_what_it_is_in_the_whole(piece: str, place: int) -> None:
    pieces = [PLAIN.format(n=n) for n in range(100)]
    pieces.insert(place, piece)
    text = plan(pieces)
    assert spelled(ours(text)) == spelled(whole(text))


@pytest.mark.parametrize(
    "head",
    [
        "steps = 1\n" + HEAD,
        "steps = []\n" + HEAD,
        HEAD + "[steps]\n",
        HEAD + "[steps.a]\n",
        HEAD + "[[steps.a]]\n",
        "x = [\n",
        'x = """\n',
        "# '''\n" + HEAD,
        "",
        "not toml\n",
    ],
)
def test_what_stands_before_the_steps_is_read_as_in_the_whole(head: str) -> None:
    text = plan([PLAIN.format(n=n) for n in range(100)], head)
    assert spelled(ours(text)) == spelled(whole(text))


def test_a_refusal_names_the_line_of_the_whole() -> None:
    text = plan([*(PLAIN.format(n=n) for n in range(100)), "id = \n"])
    with pytest.raises(ValueError, match=f"line {text.count(chr(10))}, "):
        toml.parse_toml(text.encode())


MARKS = ['"', "'", '"""', "'''", "\\", "=", " = ", ",", ", ", "{", "{ ", "}", " }", "[", "[[", "]]", "\n", "\r\n", "#", ".",
         "\n[[steps]]\n", "\n [x]\n", "\t", "0", "-",
         "true", "2099-03-31T00:00:00Z", "id", 'id = "a"', "\0", "\x7f", "é"]  # fmt: skip


def test_alterations_are_read_as_in_the_whole() -> None:
    draw, good = random.Random(7), 0
    for _ in range(1_500):
        pieces = steps(66)
        for _ in range(draw.choice((1, 1, 1, 2, 3))):
            at = draw.randrange(len(pieces))
            where = draw.randrange(len(pieces[at]) + 1)
            pieces[at] = pieces[at][:where] + draw.choice(MARKS) + pieces[at][where + draw.choice((0, 0, 1, 2)) :]
        text = plan(pieces)
        expected = whole(text)
        assert spelled(ours(text)) == spelled(expected), text
        good += expected is not None
    assert 100 < good < 1_400  # both kinds came
