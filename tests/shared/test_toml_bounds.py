"""The bounds that are looked at before Python's TOML reader sees a text: each holds wherever in the text it is broken."""

from __future__ import annotations

import random

import pytest

from airlock_shared.wire.toml import MAX_BRACKETS, MAX_KEY_PARTS, parse_toml

PLAIN = (
    'id = "close-0"\n'
    'fields = { trader = "0x52908400098527886E0F7030069857D2E4169EE7", at = { at_least = "1.5" }, n = 0 }\n'
)
LONG = "".join(f"[[steps]]\n{PLAIN}" for _ in range(200))
KEY = ".".join("k" * MAX_KEY_PARTS)
LONGER_KEY = f"{KEY}.k"
DEEP = "[" * MAX_BRACKETS + "]" * MAX_BRACKETS


@pytest.mark.parametrize("before", ["", PLAIN, LONG])
@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (f"{LONGER_KEY} = 1\n", "key of more than"),
        (f"[{LONGER_KEY}]\n", "key of more than"),
        (f"x = {{ {LONGER_KEY} = 1 }}\n", "key of more than"),
        (f"x = {{ a = {{ {LONGER_KEY} = 1 }} }}\n", "key of more than"),
        (f"x = [{DEEP}]\n", "nested deeper"),
        (f"x = {{ a = [{DEEP}] }}\n", "nested deeper"),
        ("x = " + "[\n" * (MAX_BRACKETS - 1) + "[[x]]\n" + "]" * (MAX_BRACKETS - 1) + "\n", "nested deeper"),
        ('x = """\n' + LONG + f'"""\n{LONGER_KEY} = 1\n', "key of more than"),
        ("x = '''\n" + LONG + f"'''\ny = [{DEEP}]\n", "nested deeper"),
        (f'x = {{ a = """ " # """, {LONGER_KEY} = 1 }}\n', "key of more than"),  # no comment begins in a text
        (f"x = {{ a = ''' ' # ''', b = [{DEEP}] }}\n", "nested deeper"),
    ],
)
def test_what_breaks_a_bound_is_refused_wherever_it_stands(before: str, bad: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_toml((before + bad).encode())


def test_a_bound_is_found_among_any_lines() -> None:
    """One line that breaks a bound, among lines of every kind in any order, none of which may hide it."""
    draw = random.Random(7)
    lines = [
        PLAIN,
        "\n",
        "# [[[ no bracket\n",
        'y = "[[[ none either"\n',
        "z = [\n 1,\n 2,\n]\n",
        "w = '''\n[[\n'''\n",
        "v = 1.5\n",
    ]
    for number in range(300):
        among = [draw.choice(lines).replace(" =", f"{number}-{place} =", 1) for place in range(draw.randrange(1, 40))]
        bad = draw.choice((f"{LONGER_KEY} = 1\n", f"q = [{DEEP}]\n"))
        among.insert(draw.randrange(len(among) + 1), bad)
        with pytest.raises(ValueError, match=r"more than|deeper"):
            parse_toml("".join(among).encode())
