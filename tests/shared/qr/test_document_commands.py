"""``show`` and ``scan`` of documents: what goes out comes back, and what is wrong is refused and forgotten."""

from __future__ import annotations

import io
import json
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from airlock_shared.cli.qr import transfer as animation
from airlock_shared.cli.qr.documents import scan_to_file, show_file
from airlock_shared.cli.qr.file_or_qr import incoming, keep_file, require_output
from airlock_shared.cli.qr.scanning import scan_message
from airlock_shared.cli.qr.transfer import Showing
from airlock_shared.documents.deployment import Deployment, parse_deployment
from airlock_shared.documents.requests import REQUESTS_FORMAT as REQUESTS
from airlock_shared.documents.signatures import SIGNATURES_FORMAT as SIGNATURES
from airlock_shared.errors import AirlockError, Declined, DocumentError, PlanError, UsageError
from airlock_shared.host import picture_sources
from airlock_shared.host.picture_sources import KeptFrames
from airlock_shared.plan.reader import parse_plan
from airlock_shared.qr.documents import PLAN_TEXT, Transfer, received, transfer_of
from airlock_shared.qr.pictures import picture, write_sequence
from airlock_shared.qr.symbol import matrix
from airlock_shared.ur.decode import Message
from airlock_shared.ur.envelope import UR_TYPE, wrap
from airlock_shared.wire.strict_json import fingerprint, to_json
from bench.make_batch import make_batch
from shared.filtered_venues import PERMIT, filtered_document
from shared.world import DEPLOYMENT_TEXT, good, whole
from shared.world import PLAN_TEXT as TOML

REHEARSAL_TEXT = DEPLOYMENT_TEXT.replace('"rehearsal": false', '"rehearsal": true')


def rehearsals() -> list[Deployment]:
    return [parse_deployment(REHEARSAL_TEXT.encode())]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    def typed(text: str) -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO(text))

    typed("Yes\n")
    return typed


def signatures(folder: Path) -> bytes:
    folder.mkdir()
    make_batch(folder, 2)
    return (folder / "signatures-2").read_bytes()


def document(kind: str, folder: Path) -> bytes:
    if kind == "signatures":
        return signatures(folder / "made")
    if kind == "deployment, filtered":
        return to_json(filtered_document(PERMIT))
    return {"plan": TOML.encode(), "deployment": REHEARSAL_TEXT.encode(), "requests": to_json(whole())}[kind]


def frames(data: bytes, folder: Path, version: int = 20) -> list[Path]:
    return write_sequence(transfer_of(data), folder, version)


def message_of(value: dict[str, Any], ceremony: str) -> Message:
    return Message(UR_TYPE, wrap(to_json(value), ceremony=ceremony))


def last_json(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


# ---- there and back ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["deployment", "deployment, filtered", "plan", "requests", "signatures"])
def test_each_kind_of_document_comes_back_as_it_was(
    kind: str, home: Path, tmp_path: Path, answer: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    data, output = document(kind, tmp_path), tmp_path / "back"
    (tmp_path / "file").write_bytes(data)
    show_file(home, tmp_path / "file", Showing("png", tmp_path / "frames", None, True))
    shown = last_json(capsys)
    scan_to_file(home, (str(tmp_path / "frames"),), output, known=rehearsals, restart=False, as_json=True)
    read = last_json(capsys)
    assert {name: shown[name] for name in ("kind", "ceremony", "fingerprint", "words")} == {
        name: read[name] for name in ("kind", "ceremony", "fingerprint", "words")
    }
    assert shown["kind"].startswith(f"airlock/{kind.partition(',')[0]}")
    if kind == "plan":
        assert output.read_bytes() == data
        assert read["plan"] == parse_plan(data).fingerprint
    else:
        assert fingerprint(json.loads(output.read_bytes())) == fingerprint(json.loads(data)) == read["fingerprint"]
    assert stat.S_IMODE(output.stat().st_mode) == 0o600
    assert list((home / "scans").iterdir()) == []


@pytest.mark.parametrize(("how", "name"), [("page", "p.html"), ("gif", "p.gif"), ("sheet", "p.pdf")])
def test_a_document_is_shown_in_a_file_of_its_own(
    how: Any, name: str, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_bytes(document("requests", tmp_path))
    for output in (tmp_path / name, None, None):  # what is there already under its fingerprint is not written again
        show_file(home, tmp_path / "file", Showing(how, output, None, True))
        codes = Path(last_json(capsys)["codes"])
        assert codes.stat().st_size > 1000
        assert stat.S_IMODE(codes.stat().st_mode) == 0o600
    assert len(list((home / "qr").iterdir())) == 1


def test_without_a_terminal_a_document_is_shown_as_a_page(home: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(document("requests", tmp_path))
    show_file(home, tmp_path / "file", Showing(None, None, None, False))
    (page,) = (home / "qr").iterdir()
    assert page.name == f"requests-{fingerprint(whole())[:16]}.html"


def test_both_screens_say_the_plans_own_fingerprint(
    home: Path, tmp_path: Path, answer: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "plan.toml").write_text(TOML)
    show_file(home, tmp_path / "plan.toml", Showing("png", tmp_path / "frames", None, False))
    scan_to_file(
        home, (str(tmp_path / "frames"),), tmp_path / "back.toml", known=rehearsals, restart=False, as_json=False
    )
    words = capsys.readouterr().err
    assert words.count("plan fingerprint\n") == 2


def test_what_came_by_qr_is_kept_as_a_file(home: Path, tmp_path: Path, answer: Callable[[str], None]) -> None:
    frames(to_json(good("desk-key")), tmp_path / "frames")
    data = incoming(home, tmp_path / "frames", REQUESTS, "sign", known=rehearsals, qr=True, restart=False)
    (kept,) = (home / "qr").iterdir()
    assert kept.read_bytes() == data
    assert keep_file(home, REQUESTS, fingerprint(good("desk-key")), data) == kept


def test_without_qr_a_document_is_a_file(home: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"anything")
    assert incoming(home, tmp_path / "file", REQUESTS, "sign", known=rehearsals, qr=False, restart=False) == b"anything"
    assert not home.exists()


# ---- what is not shown ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "error", "check"),
    [
        (b'{"format": "airlock/export@1"}', DocumentError, "QR-ENVELOPE"),
        (b'{"format": ["airlock/requests@1"]}', DocumentError, "QR-ENVELOPE"),
        (b"{}", DocumentError, "QR-ENVELOPE"),
        (b'{"format": "airlock/requests@1"', DocumentError, "DOC-JSON"),
        (b'{"format": "airlock/requests@1"}', DocumentError, "DOC-JSON"),
        (b'{"format": "airlock/plan-text@1", "text": "", "more": ""}', DocumentError, "QR-ENVELOPE"),
        (b'{"format": "airlock/plan-text@1", "text": 1}', DocumentError, "QR-ENVELOPE"),
        (b'format = "airlock/plan@2"', PlanError, "PLAN-FORM"),
        (b"", PlanError, "PLAN-FORM"),
    ],
)
def test_what_is_no_document_of_ours_is_not_shown(data: bytes, error: type[AirlockError], check: str) -> None:
    with pytest.raises(error) as caught:
        transfer_of(data)
    assert getattr(caught.value, "check", "") == check


@pytest.mark.parametrize("how", ["page", "png", "gif", "sheet"])
def test_a_file_that_exists_is_not_overwritten_by_codes(how: Any, home: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(to_json(good("desk-key")))
    (tmp_path / "there.pdf").write_bytes(b"mine")
    with pytest.raises(UsageError, match="exists already"):
        show_file(home, tmp_path / "file", Showing(how, tmp_path / "there.pdf", None, False))
    assert (tmp_path / "there.pdf").read_bytes() == b"mine"


@pytest.mark.parametrize(("output", "as_json"), [(None, False), (None, True), (Path("x"), False)])
def test_the_terminal_is_refused_where_there_is_none(
    output: Path | None, as_json: bool, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(to_json(good("desk-key")))
    with pytest.raises(UsageError, match="cannot be shown in the terminal") as caught:
        show_file(home, tmp_path / "file", Showing("terminal", output, None, as_json))
    assert caught.value.do == ("leave out --json and -o" if output or as_json else animation.NO_TERMINAL)


def test_pictures_need_a_folder(home: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(to_json(good("desk-key")))
    with pytest.raises(UsageError, match="needs a folder"):
        show_file(home, tmp_path / "file", Showing("png", None, None, False))


def test_a_command_needs_a_place_for_its_result(tmp_path: Path) -> None:
    require_output(None, qr=True)
    with pytest.raises(UsageError, match="the result has no file name"):
        require_output(None, qr=False)
    (tmp_path / "there").touch()
    for qr in (True, False):
        with pytest.raises(UsageError, match="exists already"):
            require_output(tmp_path / "there", qr=qr)


# ---- what is not taken ------------------------------------------------------------------------------------------------


def test_an_existing_file_is_not_overwritten_and_nothing_is_scanned(home: Path, tmp_path: Path) -> None:
    (tmp_path / "there").write_bytes(b"mine")
    with pytest.raises(UsageError, match="exists already"):
        scan_to_file(home, ("camera",), tmp_path / "there", known=rehearsals, restart=False, as_json=False)
    assert (tmp_path / "there").read_bytes() == b"mine"


@pytest.mark.parametrize("typed", ["", "yes\n", "no\n", "Yes \n", "YES\n"])
def test_a_document_that_nobody_confirms_is_not_written_and_is_forgotten(
    typed: str, home: Path, tmp_path: Path, answer: Callable[[str], None]
) -> None:
    answer(typed)
    frames(to_json(good("desk-key")), tmp_path / "frames")
    with pytest.raises(Declined):
        scan_to_file(
            home, (str(tmp_path / "frames"),), tmp_path / "back", known=rehearsals, restart=False, as_json=False
        )
    assert not (tmp_path / "back").exists()
    assert list((home / "scans").iterdir()) == []


def test_a_document_of_another_kind_is_refused_and_forgotten(home: Path, tmp_path: Path) -> None:
    frames(to_json(good("desk-key")), tmp_path / "frames")
    with pytest.raises(DocumentError) as caught:
        incoming(home, tmp_path / "frames", SIGNATURES, "submit", known=rehearsals, qr=True, restart=False)
    assert (caught.value.check, caught.value.got) == ("QR-ENVELOPE", f"'{REQUESTS}'")
    assert list((home / "scans").iterdir()) == []
    assert not (home / "qr").exists()


def test_a_wallets_code_is_no_document() -> None:
    with pytest.raises(DocumentError) as caught:
        received(Message("eth-signature", b"\xa0"))
    assert caught.value.check == "QR-TYPE"


@pytest.mark.parametrize(
    ("value", "ceremony"),
    [
        ({"format": PLAN_TEXT, "text": TOML}, "another"),
        (json.loads(DEPLOYMENT_TEXT), "another"),
    ],
)
def test_a_document_under_another_ceremonys_id_is_refused(value: dict[str, Any], ceremony: str) -> None:
    with pytest.raises(DocumentError) as caught:
        received(message_of(value, ceremony))
    assert (caught.value.check, caught.value.expected) == ("QR-ENVELOPE", ceremony)


@pytest.mark.parametrize(
    ("value", "check"),
    [
        ({"format": "airlock/export@1", "header": {}}, "QR-ENVELOPE"),
        ({"format": PLAN_TEXT, "text": "", "more": ""}, "QR-ENVELOPE"),
        ({"format": PLAN_TEXT, "text": None}, "QR-ENVELOPE"),
        ({"format": PLAN_TEXT, "text": "= not TOML"}, "PLAN-FORM"),
        (whole() | {"requests": []}, "DOC-COUNT"),
        (whole() | {"more": 1}, "DOC-FORMAT"),
    ],
)
def test_a_document_that_is_not_whole_is_refused(value: dict[str, Any], check: str) -> None:
    with pytest.raises((DocumentError, PlanError)) as caught:
        received(message_of(value, value.get("header", {}).get("ceremony", "any")))
    assert caught.value.check == check


def test_foreign_codes_alone_are_no_document(home: Path, tmp_path: Path) -> None:
    (tmp_path / "frames").mkdir()
    code = picture(matrix("HTTP://EXAMPLE.ORG", version_at_most=5), module_pixels=4)
    code.save(tmp_path / "frames/a.png")
    with pytest.raises(DocumentError) as caught:
        scan_to_file(
            home, (str(tmp_path / "frames"),), tmp_path / "back", known=rehearsals, restart=False, as_json=False
        )
    assert caught.value.check == "QR-INCOMPLETE"


def test_foreign_and_broken_pictures_between_do_not_matter(
    home: Path, tmp_path: Path, answer: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    frames(to_json(whole()), tmp_path / "frames")
    picture(matrix("HTTP://EXAMPLE.ORG", version_at_most=5), module_pixels=4).save(tmp_path / "frames/a.png")
    (tmp_path / "frames/b.png").write_bytes(b"no picture")
    scan_to_file(home, (str(tmp_path / "frames"),), tmp_path / "back", known=rehearsals, restart=False, as_json=False)
    assert json.loads((tmp_path / "back").read_bytes()) == whole()
    assert "left out: QR-IMAGE" in capsys.readouterr().err


def test_a_source_that_is_not_there_is_a_mistake(home: Path, tmp_path: Path) -> None:
    for name in ("nowhere.png", "nowhere", "cameras"):
        with pytest.raises(UsageError):
            scan_to_file(
                home, (str(tmp_path / name),), tmp_path / "back", known=rehearsals, restart=False, as_json=False
            )


# ---- interrupted, incomplete, mixed -----------------------------------------------------------------------------------


def halves(data: bytes, tmp_path: Path) -> tuple[Path, Path]:
    """Make the frames of a document in two folders: the first two, and the others."""
    paths = frames(data, tmp_path / "frames")
    first = tmp_path / "first"
    first.mkdir()
    for path in paths[:2]:
        shutil.move(path, first / path.name)
    return first, tmp_path / "frames"


def test_an_incomplete_document_is_refused_and_the_same_command_goes_on(
    home: Path, tmp_path: Path, answer: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    first, others = halves(to_json(whole()), tmp_path)
    with pytest.raises(DocumentError) as caught:
        scan_to_file(home, (str(first),), tmp_path / "back", known=rehearsals, restart=False, as_json=False)
    assert (caught.value.check, caught.value.got) == ("QR-INCOMPLETE", "2 parts")
    scan_to_file(home, (str(others),), tmp_path / "back", known=rehearsals, restart=False, as_json=False)
    assert json.loads((tmp_path / "back").read_bytes()) == whole()
    assert "Continuing an interrupted scan" in capsys.readouterr().err


def test_after_ctrl_c_the_same_command_goes_on(
    home: Path, tmp_path: Path, answer: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = frames(to_json(whole()), tmp_path / "frames")

    def interrupted(_number: int) -> Iterator[Image.Image]:
        for path in paths[:2]:
            with Image.open(path) as image:
                yield image.convert("L")
        raise KeyboardInterrupt

    monkeypatch.setattr(picture_sources, "camera_frames", interrupted)
    with pytest.raises(KeyboardInterrupt):
        scan_to_file(home, ("camera:3",), tmp_path / "back", known=rehearsals, restart=False, as_json=False)
    assert len((home / "scans/scan.frames").read_text().splitlines()) == 2
    rest = tuple(str(path) for path in paths[2:])
    scan_to_file(home, rest, tmp_path / "back", known=rehearsals, restart=False, as_json=False)
    assert json.loads((tmp_path / "back").read_bytes()) == whole()


def test_a_restart_forgets_what_was_read(home: Path, tmp_path: Path) -> None:
    first, _ = halves(to_json(whole()), tmp_path)
    for restart in (False, True):
        with pytest.raises(DocumentError) as caught:
            scan_to_file(home, (str(first),), tmp_path / "back", known=rehearsals, restart=restart, as_json=False)
        assert caught.value.got == "2 parts"
    empty = tmp_path / "empty"
    empty.mkdir()
    Image.new("L", (100, 100), 255).save(empty / "blank.png")
    with pytest.raises(DocumentError) as caught:
        scan_to_file(home, (str(empty),), tmp_path / "back", known=rehearsals, restart=True, as_json=False)
    assert caught.value.got == "no QR code at all"


def test_two_documents_at_once_are_never_mixed(
    home: Path, tmp_path: Path, answer: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    other = whole()
    other["header"]["created_ms"] += 1
    ours, theirs = frames(to_json(whole()), tmp_path / "ours"), frames(to_json(other), tmp_path / "theirs")
    both = [str(path) for pair in zip(ours, theirs, strict=True) for path in pair]
    scan_to_file(home, both, tmp_path / "back", known=rehearsals, restart=False, as_json=False)
    assert json.loads((tmp_path / "back").read_bytes()) == whole()
    assert "codes of another transfer are shown too" in capsys.readouterr().err


def test_another_document_after_an_interrupted_one_takes_its_place(
    home: Path, tmp_path: Path, answer: Callable[[str], None]
) -> None:
    first, _ = halves(to_json(whole()), tmp_path)
    with pytest.raises(DocumentError):
        scan_to_file(home, (str(first),), tmp_path / "back", known=rehearsals, restart=False, as_json=False)
    frames(to_json(good("desk-key")), tmp_path / "theirs")
    scan_to_file(home, (str(tmp_path / "theirs"),), tmp_path / "back", known=rehearsals, restart=False, as_json=False)
    assert json.loads((tmp_path / "back").read_bytes()) == good("desk-key")


def test_nothing_of_the_progress_reaches_a_pipe_but_each_hint_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blanks = tmp_path / "blanks"
    blanks.mkdir()
    for number in range(100):
        Image.new("L", (40, 40), 255).save(blanks / f"{number:03}.png")
    frames(to_json(good("desk-key")), tmp_path / "frames")
    scan_message((str(blanks), str(tmp_path / "frames")), kept=KeptFrames())
    lines = capsys.readouterr().err.splitlines()
    assert [line for line in lines if " parts, " in line] == []
    assert sum("no code is read" in line for line in lines) == 2  # another advice after as many again


def test_progress_on_a_terminal_is_one_line_that_renews_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    paths = frames(to_json(whole()), tmp_path / "frames")
    scan_message(tuple(map(str, paths)), kept=KeptFrames())
    said = capsys.readouterr().err
    assert said.count("\r\x1b[K") == said.count(" parts, ") > 2
    assert said.count("\n") == 1
    assert said.endswith("foreign\n")


def test_a_code_without_a_fingerprint_of_ours_is_named_by_its_own(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from airlock_shared.cli.qr.transfer import show_transfer

    transfer = Transfer("eth-signature", b"\xa1\x02\x41\x00", "eth-signature", "", "")
    shown = show_transfer(transfer, home, Showing("page"))
    assert shown.path is not None
    assert shown.path.name.startswith("eth-signature-")
    assert "fingerprint" not in capsys.readouterr().err
