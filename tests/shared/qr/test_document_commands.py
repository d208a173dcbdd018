"""``show`` and ``scan`` of documents: what goes out comes back, and what is wrong is refused and forgotten."""

import io
import json
import shutil
import stat
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from PIL import Image

from airlock_shared.cli.qr.documents import scan_to_file, show_file
from airlock_shared.cli.qr.file_or_qr import incoming
from airlock_shared.cli.qr.transfer import Showing
from airlock_shared.documents.deployment import Deployment, parse_deployment
from airlock_shared.documents.requests import REQUESTS_FORMAT as REQUESTS
from airlock_shared.documents.requests import SIGNATURES_FORMAT as SIGNATURES
from airlock_shared.errors import Declined, DocumentError, PlanError, Refusal, UsageError
from airlock_shared.plan.reader import parse_plan
from airlock_shared.qr import render
from airlock_shared.qr.documents import PLAN_TEXT, received, transfer_of
from airlock_shared.qr.render import write_sequence
from airlock_shared.ur.decode import Message
from airlock_shared.ur.envelope import UR_TYPE, wrap
from airlock_shared.wire.strict_json import fingerprint, to_json
from bench.make_batch import make_batch
from refusals import error_of
from shared.filtered_venues import PERMIT, filtered_document
from shared.world import DEPLOYMENT_TEXT, good, whole
from shared.world import PLAN_TEXT as TOML

REHEARSAL_TEXT = DEPLOYMENT_TEXT.replace('"rehearsal": false', '"rehearsal": true')


def rehearsals() -> list[Deployment]:
    return [parse_deployment(REHEARSAL_TEXT.encode())]


@pytest.fixture(autouse=True)
def answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("Yes\n"))


def scan(folder: Path, *sources: Path | str, as_json: bool = False) -> Path:
    """Scan into a file of a folder, beside the home that is in it."""
    words, back = tuple(map(str, sources)), folder / "back"
    scan_to_file(folder / "home", words, back, known=rehearsals, restart=False, as_json=as_json)
    return back


def document(kind: str, folder: Path) -> bytes:
    if kind == "signatures":
        make_batch(folder, 2)
        return (folder / "signatures-2").read_bytes()
    if kind == "deployment, filtered":
        return to_json(filtered_document(PERMIT))
    return {"plan": TOML.encode(), "deployment": REHEARSAL_TEXT.encode(), "requests": to_json(whole())}[kind]


def frames(data: bytes, folder: Path, version: int = 20) -> list[Path]:
    write_sequence(transfer_of(data), folder, version)
    return sorted(folder.iterdir())


def message_of(value: dict[str, Any], ceremony: str) -> Message:
    return Message(UR_TYPE, wrap(to_json(value), ceremony=ceremony))


@pytest.mark.parametrize("kind", ["deployment", "deployment, filtered", "plan", "requests", "signatures"])
def test_each_kind_of_document_comes_back_whole(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = document(kind, tmp_path)
    (tmp_path / "file").write_bytes(data)
    show_file(tmp_path / "home", tmp_path / "file", Showing("png", tmp_path / "frames", None, True))
    shown = json.loads(capsys.readouterr().out)
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "frames").iterdir()} == {0o600}
    output = scan(tmp_path, tmp_path / "frames", as_json=True)
    ended = capsys.readouterr()
    read = json.loads(ended.out)
    assert all(shown[name] == read[name] for name in ("kind", "ceremony", "fingerprint", "words"))
    assert shown["kind"].startswith(f"airlock/{kind.partition(',')[0]}")
    if kind == "plan":
        assert output.read_bytes() == data
        assert read["plan"] == parse_plan(data).fingerprint
        assert "plan fingerprint\n" in ended.err  # which is the one that people compare
    else:
        assert fingerprint(json.loads(output.read_bytes())) == fingerprint(json.loads(data)) == read["fingerprint"]
    assert stat.S_IMODE(output.stat().st_mode) == 0o600
    assert list((tmp_path / "home/scans").iterdir()) == []


@pytest.mark.parametrize(
    ("data", "error", "check"),
    [
        (b'{"format": "airlock/export@1"}', DocumentError, "QR-ENVELOPE"),
        (b'{"format": ["airlock/requests@1"]}', DocumentError, "QR-ENVELOPE"),
        (b'{"format": "airlock/requests@1"', DocumentError, "DOC-JSON"),
        (b'{"format": "airlock/plan-text@1", "text": "", "more": ""}', DocumentError, "QR-ENVELOPE"),
        (b'{"format": "airlock/plan-text@1", "text": 1}', DocumentError, "QR-ENVELOPE"),
        (b'format = "airlock/plan@2"', PlanError, "PLAN-FORM"),
    ],
)
def test_what_is_no_document_of_ours_is_not_shown(data: bytes, error: type[Refusal], check: str) -> None:
    assert error_of(error, transfer_of, data).check == check


def test_an_existing_file_is_not_overwritten_and_nothing_is_scanned(tmp_path: Path) -> None:
    (tmp_path / "back").write_bytes(b"mine")
    with pytest.raises(UsageError, match="exists already"):
        scan(tmp_path, "camera")
    with pytest.raises(UsageError, match="could not be written"):
        scan(tmp_path / "absent", "camera")
    assert (tmp_path / "back").read_bytes() == b"mine"


def test_of_pictures_that_were_interrupted_nothing_stays(tmp_path: Path) -> None:
    with mock.patch.object(render, "write_new", side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        frames(to_json(whole()), tmp_path / "frames")
    assert not (tmp_path / "frames").exists()


@pytest.mark.parametrize("typed", ["", "yes\n", "Yes \n"])
def test_what_nobody_confirms_is_not_written_and_forgotten(
    typed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    frames(to_json(good("desk-key")), tmp_path / "frames")
    with pytest.raises(Declined):
        scan(tmp_path, tmp_path / "frames")
    assert not (tmp_path / "back").exists()
    assert list((tmp_path / "home/scans").iterdir()) == []


@pytest.mark.parametrize("value", [{"format": PLAN_TEXT, "text": TOML}, json.loads(DEPLOYMENT_TEXT)])
def test_a_document_under_another_ceremonys_id_is_refused(value: dict[str, Any]) -> None:
    error = error_of(DocumentError, received, message_of(value, "another"))
    assert (error.check, error.expected) == ("QR-ENVELOPE", "another")


@pytest.mark.parametrize(
    ("value", "check"),
    [
        ({"format": "airlock/export@1", "header": {}}, "QR-ENVELOPE"),
        ({"format": PLAN_TEXT, "text": "", "more": ""}, "QR-ENVELOPE"),
        ({"format": PLAN_TEXT, "text": "= not TOML"}, "PLAN-FORM"),
        (whole() | {"requests": []}, "DOC-COUNT"),
        (whole() | {"more": 1}, "DOC-FORMAT"),
    ],
)
def test_a_document_that_is_not_whole_is_refused(value: dict[str, Any], check: str) -> None:
    with pytest.raises((DocumentError, PlanError), match=f"^{check}[: ]"):
        received(message_of(value, value.get("header", {}).get("ceremony", "any")))
    with pytest.raises(DocumentError, match=r"^QR-TYPE[: ]"):  # a wallet's code
        received(Message("eth-signature", b"\xa0"))


def test_an_incomplete_document_is_refused_and_goes_on_later(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths, first, others = frames(to_json(whole()), tmp_path / "frames"), tmp_path / "first", tmp_path / "frames"
    first.mkdir()
    for path in paths[:2]:
        shutil.move(path, first / path.name)
    Image.new("L", (99, 99), 200).save(first / "blurred.png")
    error = error_of(DocumentError, scan, tmp_path, first)
    assert (error.check, error.got) == ("QR-INCOMPLETE", "2 parts")
    scan(tmp_path, others)
    assert json.loads((tmp_path / "back").read_bytes()) == whole()
    told = capsys.readouterr().err
    assert "Continuing an interrupted scan" in told
    assert "no code is read in 1 of 3 pictures: blurred.png" in told


def test_two_documents_at_once_are_never_mixed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = whole()
    other["header"]["created_ms"] += 1
    ours, theirs = frames(to_json(whole()), tmp_path / "ours"), frames(to_json(other), tmp_path / "theirs")
    scan(tmp_path, *(path for pair in zip(ours, theirs, strict=True) for path in pair))
    assert json.loads((tmp_path / "back").read_bytes()) == whole()
    assert "codes of another transfer are shown too" in capsys.readouterr().err


def test_a_document_of_another_kind_is_refused_and_forgotten(tmp_path: Path) -> None:
    frames(to_json(good("desk-key")), tmp_path / "frames")
    words = (tmp_path / "home", tmp_path / "frames", SIGNATURES, "submit")
    error = error_of(DocumentError, incoming, *words, known=rehearsals, qr=True, restart=False)
    assert (error.check, error.got) == ("QR-ENVELOPE", f"'{REQUESTS}'")
    assert list((tmp_path / "home/scans").iterdir()) == []
    assert not (tmp_path / "home/qr").exists()
