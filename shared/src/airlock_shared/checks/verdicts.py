"""The verdicts on an item or a document, in the checks' fixed order: kept as they were found, made when they are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from airlock_shared.checks.case import NOT_REACHED, Check, Found, Verdict, verdict_of
from airlock_shared.errors import ExitCode, Refusal


class Verdicts(NamedTuple):
    """One finding for each check that was to run."""

    checks: Sequence[Check]
    findings: Sequence[Found | None]

    def also(self, check: Check, finding: Found) -> Verdicts:
        """Return the verdicts with one more."""
        return Verdicts((*self.checks, check), (*self.findings, finding))

    def all(self) -> list[Verdict]:
        """Return every verdict."""
        return list(map(verdict_of, self.checks, self.findings))

    def tally(self) -> tuple[int, int]:
        """Return how many checks passed, and how many did neither that nor not apply."""
        found = [finding[0] for finding in self.findings if finding is not None]
        passed = found.count(True)
        return passed, len(found) - passed

    def passed(self) -> int:
        """Return how many checks passed."""
        return self.tally()[0]

    def unreached(self) -> int:
        """Return how many checks could not be reached."""
        return sum(1 for finding in self.findings if finding is NOT_REACHED)

    def hinder(self) -> bool:
        """Tell whether a check refused, or was not reached; what was not judged is told by :meth:`not_judged`."""
        for finding in self.findings:
            if finding is not None and not finding[0] and (finding[0] is False or finding is NOT_REACHED):
                return True
        return False

    def refused(self) -> list[Verdict]:
        """Return what was refused."""
        return [v for v in self._wrong() if v.result == "refused"]

    def stopping(self) -> list[Verdict]:
        """Return what stands in the way: what was refused, and what could not be reached."""
        return [v for v in self._wrong() if v.result != "not-judged"]

    def not_judged(self) -> list[Verdict]:
        """Return what this machine could not judge; nothing is signed while there is any."""
        return [v for v in self._wrong() if v.result == "not-judged"]

    def _wrong(self) -> Iterator[Verdict]:
        for number, finding in enumerate(self.findings):
            if finding is not None and not finding[0]:
                yield verdict_of(self.checks[number], finding)


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
