"""What a machine could not judge of a document, for the commands that tell it: only the signing machine judges all."""

from __future__ import annotations

from collections.abc import Iterator

from airlock_shared.checks.judge import Verdicts


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
