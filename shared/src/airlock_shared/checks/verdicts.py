"""The verdicts on an item or a document, in the checks' fixed order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from airlock_shared.checks.case import Verdict
from airlock_shared.errors import ExitCode, Refusal


class Verdicts(NamedTuple):
    """One verdict for each check that was to run."""

    found: Sequence[Verdict]

    def also(self, *more: Verdict) -> Verdicts:
        """Return the verdicts with more of them."""
        return Verdicts((*self.found, *more))

    def all(self) -> list[Verdict]:
        """Return every verdict."""
        return list(self.found)

    def passed(self) -> int:
        """Return how many checks passed."""
        return len(self._of("pass"))

    def unreached(self) -> int:
        """Return how many checks could not be reached."""
        return len(self._of("not-reached"))

    def hinder(self) -> bool:
        """Tell whether a check refused, or was not reached; what was not judged is told by :meth:`not_judged`."""
        return bool(self.stopping())

    def refused(self) -> list[Verdict]:
        """Return what was refused."""
        return self._of("refused")

    def stopping(self) -> list[Verdict]:
        """Return what stands in the way: what was refused, and what could not be reached."""
        return self._of("refused", "not-reached")

    def not_judged(self) -> list[Verdict]:
        """Return what this machine could not judge; nothing is signed while there is any."""
        return self._of("not-judged")

    def _of(self, *results: str) -> list[Verdict]:
        return [verdict for verdict in self.found if verdict.result in results]


class NotJudged:
    """What a machine could not judge of a document: the reason of each check, and of how many items; 0 for the whole."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[str, int]] = {}

    def of_document(self, verdicts: Verdicts) -> None:
        """Note what was not judged of the document as a whole."""
        self._found |= {verdict.check: (verdict.what, 0) for verdict in verdicts.not_judged()}

    def of_item(self, verdicts: Verdicts) -> None:
        """Note what was not judged of one more item."""
        for verdict in verdicts.not_judged():
            self._found[verdict.check] = verdict.what, self._found.get(verdict.check, ("", 0))[1] + 1

    def lines(self) -> Iterator[str]:
        """Yield a line for each check."""
        for check, (why, items) in self._found.items():
            yield f"not judged  {check}{f', {items} items' if items else ''}: {why}"

    def as_json(self) -> list[dict[str, object]]:
        """Return the member ``not_judged`` of a command's result."""
        return [{"check": check, "why": why, "items": items} for check, (why, items) in self._found.items()]


def refusal_of(verdict: Verdict, limit: int | None = None) -> Refusal:
    """Return a verdict as the error that ends a command; where only time stops it, it is too late (exit code 7)."""
    refusal = Refusal(verdict.check, verdict.what, got=str(verdict.got)[:limit], expected=str(verdict.expected)[:limit])
    refusal.where = verdict.where
    return refusal


def only_time(verdicts: Sequence[Verdict]) -> bool:
    """Tell whether nothing but time stands in the way."""
    return all(verdict.check.startswith("TIME-") for verdict in verdicts)


def exit_code_of(verdicts: Sequence[Verdict]) -> ExitCode:
    """Return the exit code of what stands in the way."""
    return ExitCode.EXPIRED if only_time(verdicts) else ExitCode.REFUSED
