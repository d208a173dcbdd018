"""``docs/when-it-goes-wrong.md``: every name that a message may carry, with what it means and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from airlock_offline.ledger.status import RAW_MESSAGES, STATUS_WORDS
from airlock_online.code_explanations import EXIT_CODES, Explanation, everything

_BEGINNING = """\
# When something goes wrong

Nothing that was agreed is lost by stopping. A step that was signed is kept and used again, a step that was not signed was
not signed, and nothing is ever sent twice. So: read the message aloud, find its name below, and do what is said there. If
the advice is to stop, stop: it stands where somebody may have altered something, and the files are the evidence.

1. A message has a name in capitals, such as `DOMAIN-CHAIN`, `SPREAD_BLOCKED` or `UNKNOWN`: it comes first, or after
   `REFUSED` or `outcome:`. `got` and `expected` say what was found and what should have been there, `do` what to do.
2. On the online machine, `airlock-online explain NAME` says what this page says. A `status` in brackets is the Ledger's: the
   second table.
3. If there is no name, the exit code tells the kind: the first table. `echo $?`, typed right after the command, shows it.
4. Whoever keeps the record writes down what happened:
   `airlock-offline ceremony exception --plan PLAN --station STATION --by ROLE --reason TEXT`.
5. If nobody can tell what a command has done, ask before you run it again: `airlock-online status` and
   `airlock-online resolve` for what was submitted, `airlock-offline transcript show` for what was signed.
   `airlock-online doctor` and `airlock-offline doctor` look at the machine itself.

There is no way to skip a check, and nobody has a good reason to ask for one. This page is written from the program's own
tables by `make docs`.

## By exit code

| exit code | means | what to do |
|---|---|---|
"""

_HEADINGS = {
    "builder code": "The builder refuses: codes before anything is signed",
    "relay code": "The relay refuses: codes of signed transactions and intents",
    "batched code": "The order fails: codes of the batched market",
    "contract code": "The order fails: codes of the contracts",
    "rpc code": "The node refuses: codes of JSON-RPC",
    "HTTP status": "HTTP statuses",
    "check": "Checks: nothing was signed or sent",
    "outcome": "Outcomes: what became of what was submitted",
    "anomaly": "Oddities in what a service tells of an order",
}


def when_it_goes_wrong() -> str:
    """Return ``docs/when-it-goes-wrong.md``."""
    rows = [f"| {int(code)} | {means} | {do} |" for code, (means, do) in EXIT_CODES.items()]
    lines = [_BEGINNING + "\n".join(rows), *_ledger()]
    named = [item for item in everything() if item.kind != "exit code"]
    for kind, items in groupby(named, key=lambda item: item.kind):
        lines += ["", f"## {_HEADINGS[kind]}"]
        for item in sorted(items, key=lambda item: item.name):
            lines += _entry(item)
    return "\n".join(lines) + "\n"


def _ledger() -> Iterator[str]:
    yield from ("", "## The Ledger answers with a status", "", "| status | means | what to do |", "|---|---|---|")
    for word, meaning in STATUS_WORDS.items():
        yield f"| `{word:04X}` | {meaning.what} | {meaning.do.format(setting=RAW_MESSAGES)} |"


def _entry(item: Explanation) -> Iterator[str]:
    yield from ("", f"### {item.name}", "", f"{item.meaning}", "", f"**Do:** {item.do}")
    facts = []
    if item.ends_order is not None:
        facts.append("The order is over." if item.ends_order else "The order goes on.")
    if item.kind != "anomaly":
        facts.append(f"Exit code {int(item.exit_code)}.")
    if facts:
        yield from ("", " ".join(facts))
