"""The campaign's section of docs/reference/benchmarks.md: ``python -m campaign.section FIGURES...`` adds up several runs."""

from __future__ import annotations

import json
import sys
import textwrap
from collections import Counter
from pathlib import Path
from typing import Any

from bench.page import machine, write_section
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
The venue (`tests/campaign/venue.py`) is a process of its own, written from the specification; it counts a POST from
the first line of its head on. A signal goes to the process id: at the mark in the transcript between claim and
request, at the request's first line, at its last byte, within the answer, after it, or at a random moment. Most cases
are killed once more, in `submit` or `follow`. Then `submit` is run again, and `resolve`. The answers are cut, slow
(one byte a second), endless, compressed to 128 MiB, of wrong lengths or chunks, redirects to `//xn--/` and the like,
refusals, silence; 7 of 10 orders were taken all the same. The disk is a limit on the length of a file (RLIMIT_FSIZE),
which takes no privilege: SQLite and the transcript meet it, the disk of a PostgreSQL server does not. A COMMIT
reaches the server through a proxy, and the connection is cut before its answer."""


def write(runs: list[dict[str, Any]]) -> None:
    """Write the section from the figures of these runs."""
    write_section("campaign", _text(runs))


def _text(runs: list[dict[str, Any]]) -> str:
    commands = sum((Counter(run["commands"]) for run in runs), Counter[str]())
    broken = [each for run in runs for each in run["broken"]]
    seeds = ", ".join(str(run["seed"]) for run in runs)
    told = "; ".join(f"{number:,} {kind}" for kind, number in commands.items())
    figures = [_row(name, [run["rows"][name] for run in runs]) for name in _TITLES]
    lines = [
        "## The campaign: sent once, told true",
        "",
        f"Written by `make campaign` (`tests/campaign`), seeds {seeds}, {sum(run['seconds'] for run in runs)} s in all.",
        "",
        *machine("with other work on them", "sqlalchemy", "psycopg", "httpcore"),
        f"- Commands: {told}. A forked one is a process of its own, whose modules its parent has imported.",
        "",
        "| what happens | times, of the full size | cases | SQLite, PostgreSQL | POSTs | final | open at the end |",
        "|---|---|---|---|---|---|---|",
        *figures,
        "",
        f"Broken: **{len(broken)}**. {_CLAIM}",
        "",
        textwrap.fill(f"A case is one order on one of seven sending routes ({_ways(runs)}). {_METHOD}", 118),
    ]
    return "\n".join(lines)


def _row(name: str, rows: list[dict[str, Any]]) -> str:
    states, databases = (sum((Counter(row[part]) for row in rows), Counter[str]()) for part in ("states", "databases"))
    final = sum(row["final"] for row in rows)
    opened = ", ".join(f"{state} {number}" for state, number in states.most_common() if state in _OPEN)
    hits, cases, posts = (sum(row[part] for row in rows) for part in ("hits", "cases", "posts"))
    both = f"{databases['SQLite']}, {databases['PostgreSQL']}"
    return f"| {_TITLES[name]} | {hits} of {FULL[name]} | {cases} | {both} | {posts} | {final} | {opened} |"


_OPEN = ("PREPARED", "SENDING", "REJECTED", "ACCEPTED", "UNKNOWN", "PRESUMED_UNKNOWN")


def _ways(runs: list[dict[str, Any]]) -> str:
    ways = sum((Counter(row["ways"]) for run in runs for row in run["rows"].values()), Counter[str]())
    return ", ".join(f"{way} {number}" for way, number in ways.items())


if __name__ == "__main__":
    write([json.loads(Path(name).read_text()) for name in sys.argv[1:]])
