"""What is handed over by QR codes: a bad hand-over is refused, and only what is waited for is written."""

import json
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from click.testing import CliRunner

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


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    (tmp_path / "plan.toml").write_text(PLAN_TEXT)
    return tmp_path / "plan.toml"


def scanned(plan: Path, page: bytes, *names: str) -> tuple[BaseException | None, list[str]]:
    """Hold a page of codes before a machine that waits for these files: how it ends, and which it has then."""
    received = ReceivedDocument(HAND_OVER_FORMAT, "demo", transfer_of(page).fingerprint, page, "")
    words = ["pictures", "--plan", str(plan), "-o", str(plan.parent / "there")]
    words += [word for name in names for word in ("--file", name)]
    with mock.patch.object(handover, "scan_document", return_value=received):
        ended = CliRunner().invoke(scan_hand_over, words)
    return ended.exception, sorted(path.name for path in (plan.parent / "there").glob("*.json*"))


@pytest.mark.parametrize(
    ("names", "came"),
    [
        (("requests.json",), ("requests-2.json",)),
        (("signatures-2.json",), ("signatures-3.json",)),
        (("deployment.json", "people.json"), ("deployment.json", "people.json", "proofs.json")),
    ],
)
def test_what_is_waited_for_is_written(plan: Path, names: tuple[str, ...], came: tuple[str, ...]) -> None:
    assert scanned(plan, write_hand_over("demo", dict.fromkeys(came, b"{}")), *names) == (None, sorted(came))


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
def test_what_nobody_waits_for_is_not_written(plan: Path, came: tuple[str, ...]) -> None:
    error, files = scanned(plan, write_hand_over("demo", dict.fromkeys(came, b"{}")), "requests.json")
    assert (type(error), files) == (DocumentError, [])


def test_a_hand_over_of_another_ceremony_is_not_written(plan: Path) -> None:
    error, files = scanned(plan, write_hand_over("other", {"requests.json": b"{}"}), "requests.json")
    assert (type(error), files, "remove these pictures" in str(error)) == (DocumentError, [], True)


def test_codes_are_one_page_whose_documents_come_out_again(plan: Path, tmp_path: Path) -> None:
    (tmp_path / "requests.json").write_bytes(b"{}")
    words = [str(tmp_path / "requests.json"), "--plan", str(plan), "-o", str(tmp_path / "codes"), "--json"]
    for _ in range(2):
        ended = CliRunner().invoke(codes, words)
        assert ended.exit_code == 0, ended.exception
    told = json.loads(ended.stdout)
    assert Path(told["codes"]).stat().st_mode & 0o777 == 0o600  # it may hold signatures
    page = Path(told["codes"]).read_text()
    assert '"fingerprint":"","words":""' in page  # nobody is asked for words of the page
    assert '"kind":"requests.json"' in page
    assert "two files have one name" in str(CliRunner().invoke(codes, [words[0], *words]).exception)
    (tmp_path / "signatures-2.json").write_bytes(b"{}")
    ended = CliRunner().invoke(codes, [str(tmp_path / "signatures-2.json"), *words[1:]])
    page = Path(json.loads(ended.stdout)["codes"]).read_text()
    assert '"kind":"signatures-2.json, SECRET until it is submitted"' in page
    assert parse_hand_over(Path(told["file"]).read_bytes()) == ("demo", {"requests.json": b"{}"})
