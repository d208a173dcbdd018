"""A request examined again, for the report: what every piece of it is made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from airlock_shared.checks.judge import Examined
    from airlock_shared.documents.signatures import Signed
    from airlock_shared.documents.transcript import Entry
    from airlock_shared.report.evidence.redaction import Answer

BEGUN = "sign-begun"
"""The transcript's event with which a signing begins."""


class Judged(NamedTuple):
    """One request with its verdicts; ``at_ms`` is by which time, ``entry`` what the transcript says of its end."""

    examined: Examined
    answer: Answer | None
    at_ms: int
    entry: Entry | None

    @property
    def digest(self) -> str:
        """Return what is signed as 0x-hex; empty when the payload could not be hashed."""
        return "0x" + self.examined.digest.hex() if self.examined.digest else ""

    @property
    def signed(self) -> Signed | None:
        """Return the answer to it when it was signed."""
        return self.answer.signed if self.answer and self.answer.signed.result == "signed" else None
