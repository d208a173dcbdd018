"""The campaign's section of docs/reference/benchmarks.md."""

import textwrap
from collections import Counter
from typing import Any

from bench.page import machine
from campaign.run import FULL

_TITLES = {
    "kills": "SIGKILL",
    "interrupts": "Ctrl-C",
    "wire": "a broken answer to the one POST",
    "commits": "a COMMIT whose answer is lost",
    "disks": "a file that can grow no more",
}


_CLAIM = """\
Broken would be: more than one POST of a digest, those that were answered with a 4xx aside; a final state without the
venue's word for it; a state that `resolve` does not explain; a sent order that the journal calls unsent; a transcript
that is not whole; a piece of the signature on a screen or in a file at the top
of the machine's folder; folders below it and a PostgreSQL journal are not looked through."""
_METHOD = """\
The venue (`tests/campaign/venue.py`) is written from the specification; each case has its own, which counts a POST from
the first line of its head on. A signal goes to the process id: at the mark in the transcript between claim and
request, at the request's first line, at its last byte, within the answer, after it, or at a random moment. Most cases
are killed once more, in `submit` or `follow`. Then `submit` is run again, and `resolve`. The answers are cut, slow
(one byte a second), endless, compressed to 128 MiB, of wrong lengths or chunks, redirects to `//xn--/` and the like,
refusals, silence; 7 of 10 orders were taken all the same. The disk is a limit on the length of a file (RLIMIT_FSIZE),
which takes no privilege: SQLite and the transcript meet it, the disk of a PostgreSQL server does not. A COMMIT
reaches the server through a proxy, and the connection is cut before its answer."""
_OPEN = ("PREPARED", "SENDING", "REJECTED", "ACCEPTED", "UNKNOWN", "PRESUMED_UNKNOWN")


def section(told: dict[str, Any]) -> str:
    commands = "; ".join(f"{number:,} {kind}" for kind, number in told["commands"].items())
    ways = sum((Counter(row["ways"]) for row in told["rows"].values()), Counter[str]())
    of_ways = ", ".join(f"{way} {number}" for way, number in ways.items())
    lines = [
        "## The campaign: sent once, told true",
        "",
        f"Written by `make campaign` (`tests/campaign`), seed {told['seed']}, {told['seconds']} s in all.",
        "",
        *machine("with other work on them", "sqlalchemy", "psycopg", "httpcore"),
        f"- Commands: {commands}. A forked one is a process of its own, whose modules its parent has imported.",
        "",
        "| what happens | times, of the full size | cases | SQLite, PostgreSQL | POSTs | final | open at the end |",
        "|---|---|---|---|---|---|---|",
        *(_row(name, told["rows"][name]) for name in _TITLES),
        "",
        f"Broken: **{len(told['broken'])}**. {_CLAIM}",
        "",
        textwrap.fill(f"A case is one order on one of seven sending routes ({of_ways}). {_METHOD}", 118),
    ]
    return "\n".join(lines)


def _row(name: str, row: dict[str, Any]) -> str:
    opened = ", ".join(f"{state} {number}" for state, number in Counter(row["states"]).most_common() if state in _OPEN)
    both = f"{row['databases'].get('SQLite', 0)}, {row['databases'].get('PostgreSQL', 0)}"
    figures = f"{row['hits']} of {FULL[name]} | {row['cases']} | {both} | {row['posts']} | {row['final']}"
    return f"| {_TITLES[name]} | {figures} | {opened} |"
