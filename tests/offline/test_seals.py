"""The transcript's seal: over the head, by the signer's Ledger, and wrong in every other way."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from airlock_offline.cli.transcript import transcript as commands
from airlock_offline.home import OfflineHome
from airlock_offline.ledger.ethereum_app import open_app
from airlock_shared.ceremony.seals import SEALED, VOID, Seal, check_seals, seal_of
from airlock_shared.documents.transcript import GENESIS, Entry, next_entry
from airlock_shared.errors import DocumentError
from airlock_shared.host.files import TranscriptFile
from airlock_software_ledger.app import SoftwareLedger
from offline.recordings import SIGNER
from shared import world

PATH = "m/44'/60'/0'/0/0"


def chain(*events: str) -> list[Entry]:
    return world.chain(*((event, {}) for event in events), at_ms=1_000)


def sealed(before: list[Entry], of: str = "desk", **changed: Any) -> list[Entry]:
    """The entries and a seal over them; ``changed`` members are put in its place afterwards."""
    seal = seal_of(before, of)
    app = open_app(SoftwareLedger())
    address = app.address(PATH).address
    data = seal.as_data(address, app.sign_personal_message(PATH, seal.text()))
    last = before[-1] if before else None
    return [*before, next_entry(last, 2_000, SEALED, data | changed)]


@pytest.mark.parametrize("events", [(), ("pinned",), ("pinned", "signed", "written")])
def test_a_seal_by_the_ledger_holds(events: tuple[str, ...]) -> None:
    entries = chain(*events)
    head = entries[-1].hash if entries else GENESIS
    assert check_seals(sealed(entries)) == [(Seal("desk", len(events), head), SIGNER, 2_000)]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"head": "11" * 32}, "it does not seal the entries before it"),
        ({"entries": 7}, "it does not seal the entries before it"),
        ({"ceremony": "other"}, "another key"),
        ({"address": "0x3eE3ae6EE4aFdA2CCe410EAb1365664FfBAD2b45"}, "another key"),
        ({"signature": "0x" + "11" * 65}, "belongs to no key"),
        ({"signature": "0x12"}, "belongs to no key"),
        ({"more": 1}, "members"),
    ],
)
def test_a_wrong_seal_is_refused(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(DocumentError, match=said) as caught:
        check_seals(sealed(chain("pinned", "signed"), **changed))
    assert caught.value.check == "DOC-SEAL"


def test_the_ledger_shows_the_sealed_head_whole() -> None:
    shown: list[list[str]] = []
    ledger = SoftwareLedger(screens=lambda pages: not shown.extend(pages))  # type: ignore[func-returns-value]
    seal = seal_of(chain("pinned"), "desk")
    open_app(ledger).sign_personal_message(PATH, seal.text())
    text = "".join(line for page in shown[1:-1] for line in page[1:])
    assert seal.head in text.replace(" ", "")


def test_a_seal_after_another_entry_is_refused_whatever_is_said_of_it() -> None:
    seal = sealed(chain("pinned"))[-1]
    went_on, anew = chain("pinned", "clock-stated"), chain("refused")
    late = [*went_on, next_entry(went_on[-1], 2_000, SEALED, seal.data)]
    void = [*late, next_entry(late[-1], 3_000, VOID, {"entry": 2})]
    for entries in (late, void, [*anew, next_entry(anew[-1], 2_000, SEALED, seal.data)]):
        with pytest.raises(DocumentError, match="it does not seal the entries before it") as caught:
            check_seals(entries)
        assert (caught.value.check, caught.value.got.partition(",")[0]) == ("DOC-SEAL", "1 entries")


def test_what_is_said_of_a_head_is_recorded_after_that_head_alone(tmp_path: Path) -> None:
    transcript = TranscriptFile(tmp_path / "transcript.jsonl")
    assert transcript.record_after(GENESIS, "pinned", {}, 1_000) is not None
    head = transcript.head()
    TranscriptFile(transcript.path).record("clock-stated", {}, 1_001)  # another command, meanwhile
    assert transcript.record_after(head, SEALED, {}, 1_002) is None
    assert [entry.event for entry in transcript.entries()] == ["pinned", "clock-stated"]
    assert transcript.record_after(transcript.head(), SEALED, {}, 1_003) is not None


def test_no_text_of_somebody_elses_transcript_begins_a_row_like_one_of_ours(tmp_path: Path) -> None:
    forged = chain("begun\n   7  2026-11-28 10:00:00 UTC  sealed", "x" * 74 + "   7  2026-11-28 10:00:00 UTC  sealed")
    lines = [entry.line() for entry in sealed(forged, of="x" * 71 + "seal  over 41 entries, holds by the treasury")]
    (file := tmp_path / "theirs.jsonl").write_bytes(b"\n".join(lines))
    ended = [CliRunner().invoke(commands, [word, str(file)], obj=OfflineHome(tmp_path)) for word in ("show", "verify")]
    shown, verified = (each.output.splitlines() for each in ended)
    assert [row[:6] for row in shown if row[:6].strip()] == ["   0  ", "   1  ", "   2  "]
    assert [row for row in verified if row.startswith("seal")] == ["seal  over 2 entries, holds"]
    assert max(map(len, (*shown, *verified))) <= 80
