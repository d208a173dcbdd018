"""What is handed over by QR codes: a bad hand-over is refused, and only what is waited for is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from airlock_shared.cli.ceremony import handover
from airlock_shared.cli.ceremony.handover import codes, scan_hand_over
from airlock_shared.documents.hand_over import FILES_AT_MOST, HAND_OVER_FORMAT, parse_hand_over, write_hand_over
from airlock_shared.errors import DocumentError
from airlock_shared.qr.documents import ReceivedDocument, transfer_of
from shared.test_roles_commands import PLAN_TEXT

GOOD = {"format": HAND_OVER_FORMAT, "ceremony": "demo", "files": {"requests.json": "{}"}}


@pytest.mark.parametrize(
    "changes",
    [
        {"ceremony": "../demo"},
        {"files": {}},
        {"files": {"requests.json": 1}},
        {"files": {"requests.json": "\ud800"}},
        {"files": {"a/requests.json": "{}"}},
        {"files": {"config.toml": "{}"}},
        {"files": {"requests.json\n": "{}"}},
        {"files": {f"requests-{number}.json": "" for number in range(FILES_AT_MOST + 1)}},
        {"more": 1},
    ],
)
def test_a_bad_hand_over_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(DocumentError):
        parse_hand_over(json.dumps({**GOOD, **changes}).encode())


@pytest.mark.parametrize("files", [{"requests.json": b"\xff"}, {"../x.json": b"{}"}, {}])
def test_what_cannot_be_handed_over_is_not_shown(files: dict[str, bytes]) -> None:
    with pytest.raises(DocumentError):
        write_hand_over("demo", files)


class Desk:
    """A machine in front of which a page of codes is held."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.plan, self.folder, self._patch = folder / "plan.toml", folder / "there", monkeypatch
        self.plan.write_text(PLAN_TEXT)

    def scan(self, *pages: bytes, names: tuple[str, ...] = ("requests.json",), source: str = "pictures") -> Result:
        held = iter(pages)

        def scan_document(*_sources: object, **_how: object) -> ReceivedDocument:
            data = next(held)
            return ReceivedDocument(HAND_OVER_FORMAT, "demo", transfer_of(data).fingerprint, data, "")

        self._patch.setattr(handover, "scan_document", scan_document)
        words = [word for name in names for word in ("--file", name)]
        return CliRunner().invoke(scan_hand_over, [source, "--plan", str(self.plan), *words, "-o", str(self.folder)])

    def files(self) -> list[str]:
        return sorted(path.name for path in self.folder.glob("*.json*"))


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("names", "came"),
    [
        (("requests.json",), ("requests-2.json",)),
        (("signatures-2.json",), ("signatures-3.json",)),
        (("deployment.json", "people.json"), ("deployment.json", "people.json", "proofs.json")),
    ],
)
def test_what_is_waited_for_is_written(desk: Desk, names: tuple[str, ...], came: tuple[str, ...]) -> None:
    ended = desk.scan(write_hand_over("demo", dict.fromkeys(came, b"{}")), names=names)
    assert ended.exit_code == 0, ended.exception
    assert desk.files() == sorted(came)


@pytest.mark.parametrize(
    "came",
    [
        ("signatures.json",),
        ("requests.json", "signatures.json"),
        ("requests.json", "proofs.json"),
        ("requests-200.json",),
        ("offline-transcript.jsonl",),
    ],
)
def test_what_nobody_waits_for_is_not_written(desk: Desk, came: tuple[str, ...]) -> None:
    ended = desk.scan(write_hand_over("demo", dict.fromkeys(came, b"{}")))
    assert isinstance(ended.exception, DocumentError)
    assert desk.files() == []


def test_a_hand_over_of_another_ceremony_is_not_written(desk: Desk) -> None:
    ended = desk.scan(write_hand_over("other", {"requests.json": b"{}"}))
    assert isinstance(ended.exception, DocumentError)
    assert desk.files() == []


def test_codes_are_one_page_whose_documents_come_out_again(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "requests.json").write_bytes(b"{}")
    words = [str(tmp_path / "requests.json"), "--plan", str(desk.plan), "-o", str(tmp_path / "codes"), "--json"]
    for _ in range(2):
        ended = CliRunner().invoke(codes, words)
        assert ended.exit_code == 0, ended.exception
    told = json.loads(ended.stdout)
    assert Path(told["codes"]).stat().st_mode & 0o777 == 0o600  # it may hold signatures
    page = Path(told["codes"]).read_text()
    assert '"fingerprint":"","words":""' in page  # nobody is asked for words of the page
    assert '"kind":"requests.json"' in page
    (tmp_path / "signatures-2.json").write_bytes(b"{}")
    ended = CliRunner().invoke(codes, [str(tmp_path / "signatures-2.json"), *words[1:]])
    page = Path(json.loads(ended.stdout)["codes"]).read_text()
    assert '"kind":"signatures-2.json, SECRET until it is submitted"' in page
    assert parse_hand_over(Path(told["file"]).read_bytes()) == ("demo", {"requests.json": b"{}"})
