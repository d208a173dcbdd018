"""The comparison of signatures, where a test is about what comes after it: on record, as typed words leave it."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

from airlock_online.cli.comparing import prove_compared
from airlock_online.home import OnlineHome
from airlock_shared.ceremony.sections import PlanMark
from airlock_shared.cli.ceremony import typed_words
from airlock_shared.documents.requests import parse_requests
from airlock_shared.documents.signatures import parse_signatures
from airlock_shared.host.files import read_input
from airlock_shared.text.fingerprint_words import spoken
from commands import asked_words


def note_compared(folder: Path, signatures: Path) -> None:
    """Have the words of a signatures document typed on the machine with this folder, which knows their requests."""
    home = OnlineHome(folder)
    answer, _, fingerprint = parse_signatures(read_input(signatures))
    header = parse_requests(read_input(folder / "requests" / f"{answer.requests}.json"))[0]

    def ask(question: str, *, piped: bool) -> str:
        assert piped
        return asked_words(question, spoken(fingerprint))

    with patch.object(typed_words, "ask", ask):
        prove_compared(home, PlanMark(header.ceremony, header.plan), fingerprint)
