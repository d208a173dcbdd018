"""The pages of codes in a ceremony's folder: ``forget`` names each, and removes none that may still execute."""

from __future__ import annotations

from pathlib import Path

import pytest

from airlock_shared.checks.nonces import Use
from airlock_shared.cli.kept_signatures import copies_in_codes, remove_copies
from airlock_shared.documents.hand_over import write_hand_over
from airlock_shared.documents.signatures import parse_signatures
from airlock_shared.errors import Declined
from airlock_shared.host.files import TranscriptFile
from airlock_shared.report.facts import Liveness
from shared.world import VECTORS

SIGNED = (VECTORS / "signatures/good/every-struct.json").read_bytes()
DIGESTS = {each.digest for each in parse_signatures(SIGNED)[1] if each.result == "signed"}


def standing(digest: str, over: str) -> Liveness:
    use = Use(digest, 1, b"", b"\1" * 20, b"\1" * 20, 7, "desk", "step", None, "")
    return Liveness(use, over, "it was sent")


@pytest.fixture
def ceremony(tmp_path: Path) -> Path:
    """Return a ceremony's folder with three hand-overs by QR codes: signatures, none, and one that cannot be read."""
    codes = tmp_path / "plan.ceremony" / "codes"
    codes.mkdir(parents=True)
    for name, data in (
        ("hand-over-aa", write_hand_over("desk", {"signatures-2.json": SIGNED})),
        ("hand-over-bb", write_hand_over("desk", {"ready.json": b"{}"})),
        ("hand-over-cc", b"{"),
    ):
        (codes / f"{name}.json").write_bytes(data)
        (codes / f"{name}.html").write_text("codes")
    (codes / "hand-over-dd.html").write_text("a page whose document is gone")
    return codes.parent


def forget(ceremony: Path, over: dict[str, str], typed: str, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Have what may go removed; return the names of what is left."""
    home = ceremony.parent / "home"
    home.mkdir(exist_ok=True)
    monkeypatch.setattr("airlock_shared.cli.terminal.ask", lambda _question, **_how: typed)
    found = {digest: standing(digest, over.get(digest, "")) for digest in DIGESTS}
    transcript = TranscriptFile(home / "transcript.jsonl")
    remove_copies(home, [*copies_in_codes(ceremony)], found, transcript, 1, piped=True, as_json=False)
    return {path.name for path in (ceremony / "codes").iterdir()}


UNREAD = {"hand-over-cc.json", "hand-over-cc.html", "hand-over-dd.html"}
SECRET = {"hand-over-aa.json", "hand-over-aa.html"}


def test_pages_of_what_is_over_are_removed_and_what_cannot_be_read_stays(
    ceremony: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(DIGESTS) > 1
    assert forget(ceremony, dict.fromkeys(DIGESTS, "its nonce is spent"), "Yes", monkeypatch) == UNREAD


def test_while_one_signature_may_execute_its_page_stays(ceremony: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    over = dict.fromkeys(sorted(DIGESTS)[1:], "its nonce is spent")
    assert forget(ceremony, over, "Yes", monkeypatch) == UNREAD | SECRET


def test_without_a_yes_nothing_is_removed(ceremony: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {path.name for path in (ceremony / "codes").iterdir()}
    with pytest.raises(Declined):
        forget(ceremony, dict.fromkeys(DIGESTS, "its nonce is spent"), "no", monkeypatch)
    assert {path.name for path in (ceremony / "codes").iterdir()} == before


def test_a_folder_without_codes_has_none(tmp_path: Path) -> None:
    assert list(copies_in_codes(tmp_path)) == []
