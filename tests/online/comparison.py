"""The comparison of signatures, where a test is about what comes after it: on record, as typed words leave it."""

from pathlib import Path

from airlock_online.cli.comparing import COMPARED
from airlock_online.home import OnlineHome
from airlock_shared.ceremony.sections import BY_WORDS
from airlock_shared.documents.requests import parse_signatures
from airlock_shared.host.files import read_input


def note_compared(folder: Path, signatures: Path) -> None:
    """Record on the machine with this folder that somebody typed the words of a signatures document."""
    answer, _, fingerprint = parse_signatures(read_input(signatures))
    facts = {"ceremony": answer.ceremony, "signatures": fingerprint, "how": BY_WORDS, "positions": [1, 2]}
    OnlineHome(folder).transcript.record(COMPARED, facts, 1)
