"""The page of review screens, captured from the vectors at their fixed time. ``make docs`` writes the page."""

from collections.abc import Iterator
from contextlib import redirect_stderr
from io import StringIO
from typing import NamedTuple

from airlock_offline.cli import sign
from airlock_offline.signing.review import section_lines
from airlock_shared.checks.judge import Known
from airlock_shared.checks.nonces import UsedNonces
from airlock_shared.cli.terminal import say
from shared.world import examined, good, good_challenges, plan, request_of, situation

MODEL = "flex"
ALSO = ("trade-close-desk", "approve-unlimited")
"""Transactions beside the first of each action: one made for the trader by a delegate, and the one to read twice."""


_PAGE = f"""\
# The review screens

What people see on the air-gapped machine before they type `Yes`: who signs, what the plan decided and what the
payload says, what the builder chose within which limit, what is only claimed, the hashes in groups, the
pages that the Ledger will show (here a {MODEL}), and the checks. One screen for each struct and transaction,
captured from the test vectors at a fixed time; `make docs` writes this page, and a test compares it.

## Intents"""


class Screen(NamedTuple):
    """A captured screen: the heading over it, the vectors' folder and step, and its lines."""

    title: str
    folder: str
    step: str
    lines: list[str]


def screen_of(folder: str, step: str) -> list[str]:
    """Return what is shown before a step is confirmed, line by line."""
    where = situation(folder)
    known = Known(used=UsedNonces(), proofs={each.sha256() for each in good_challenges(folder)})
    item = examined(request_of(good(step, folder)), where, known=known)
    case = None if item.verdicts.blocking() else item.case
    pages, notes = sign._pages(case, MODEL), sign._notes(case, MODEL)
    return said(list(section_lines(sign.sections_of(item, UsedNonces(), pages, notes, MODEL))))


def said(lines: list[str]) -> list[str]:
    """Return lines as the program writes them to a screen."""
    with redirect_stderr(StringIO()) as screen:
        for line in lines:
            say(line)
    return screen.getvalue().splitlines()


def screens() -> Iterator[Screen]:
    """Yield a screen for each struct of the catalogue and each action that is a transaction."""
    seen = set()
    for folder in ("requests", "transactions", "authorizations"):
        for step in plan(folder).steps.values():
            if folder == "authorizations" and step.action.name != folder[:-1]:  # its orders
                continue
            made = step.action.name if folder == "transactions" else step.action.result
            if made not in seen or step.id in ALSO:
                title = f"{made}: {step.action.result}" if folder == "transactions" else made
                yield Screen(title + (", another" if made in seen else ""), folder, step.id, screen_of(folder, step.id))
                seen.add(made)


def review() -> str:
    lines, folder = [_PAGE], "requests"
    for screen in screens():
        if screen.folder != folder:
            folder = screen.folder
            lines += ["", "## Transactions"]
        lines += ["", f"### {screen.title}", "", "```text", *screen.lines, "```"]
    return "\n".join(lines) + "\n"
