"""Scanning: progress, hints, interruptions, other transfers, and pictures that end too soon."""

import random
import stat
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path

import pytest
from PIL import Image

from airlock_shared.errors import DocumentError, UsageError
from airlock_shared.host import picture_sources
from airlock_shared.host.picture_sources import KeptFrames
from airlock_shared.qr.documents import Transfer, cycle_texts, endless_texts, ideal_count
from airlock_shared.qr.render import picture
from airlock_shared.qr.scan import HINT_AFTER, HINTS, MOST, OTHER_TRANSFER, Candidates, ScanReport, scan_pictures
from airlock_shared.qr.symbol import matrix
from airlock_shared.ur.decode import Decoder
from airlock_shared.ur.fountain import frame_text, parse_frame
from refusals import error_of
from shared.qr.transfers import batch, one_intent, whole_plan

BLANK = Image.new("L", (200, 200), 128)


@cache
def image_of(text: str) -> Image.Image:
    return picture(matrix(text, version_at_most=27), module_pixels=3)


def images_of(transfer: Transfer, version: int = 15) -> list[Image.Image]:
    return [image_of(text) for text in cycle_texts(transfer, version)]


def nothing(_report: ScanReport) -> None:
    """Tell nobody."""


def interrupted(folder: Path, count: int) -> KeptFrames:
    """Return what is kept of the whole plan's transfer when it is interrupted after so many pictures."""

    def shown() -> Iterator[Image.Image]:
        yield from images_of(whole_plan())[:count]
        raise KeyboardInterrupt

    kept = KeptFrames(folder / "scan.part")
    with pytest.raises(KeyboardInterrupt):
        scan_pictures(shown(), Decoder(), nothing, kept=kept)
    return kept


def test_no_more_than_four_transfers_are_kept_at_a_time() -> None:
    seen = Candidates(Decoder())
    first = cycle_texts(whole_plan(), 15)
    seen.leader.take(first[0])
    for count in range(2, 12):
        seen.overtaken_by(cycle_texts(batch(count)[0], 15)[0], early=False)
        assert len(seen._rivals) < MOST
    assert seen.leader.texts == first[:1]


@pytest.mark.parametrize(
    ("images", "got"),
    [
        ([BLANK] * 3, "no QR code at all"),
        ([image_of("HTTP://EXAMPLE.ORG")], "1 other or damaged QR codes, the last: a QR code that is not"),
        ([image_of("UR:BYTES/AEADAOLAZMJENDEO")], "1 other or damaged QR codes, the last: QR-CRC"),
        (images_of(whole_plan())[:4], "4 parts"),
    ],
)
def test_pictures_without_the_whole_message_are_refused(images: list[Image.Image], got: str) -> None:
    error = error_of(DocumentError, scan_pictures, images, Decoder(), nothing)
    assert (error.check, error.got[: len(got)]) == ("QR-INCOMPLETE", got)


def test_an_interrupted_scan_goes_on_from_what_it_read(tmp_path: Path) -> None:
    images, kept = images_of(whole_plan()), interrupted(tmp_path, 9)
    assert stat.S_IMODE((tmp_path / "scan.part").stat().st_mode) == 0o600
    reports: list[ScanReport] = []
    message = scan_pictures(images[9:], Decoder(), reports.append, kept=kept)
    assert message.cbor == whole_plan().cbor
    assert reports[0].progress.useful == 10
    assert scan_pictures([], Decoder(), nothing, kept=kept) == message  # what is whole needs no picture
    kept.forget()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("added", [b"UR:BYTES/1-13/LPAD", b"\x00\xff\xfe garbage\n", b""])
@pytest.mark.parametrize("end", [b"\n", b"\r\n\n"])
def test_a_damaged_file_of_kept_frames_costs_the_damaged_frames_alone(tmp_path: Path, end: bytes, added: bytes) -> None:
    kept, path = interrupted(tmp_path, 9), tmp_path / "scan.part"
    path.write_bytes(path.read_bytes().replace(b"\n", end) + added)
    reports: list[ScanReport] = []
    message = scan_pictures(images_of(whole_plan())[9:], Decoder(), reports.append, kept=kept)
    assert message.cbor == whole_plan().cbor
    assert reports[0].progress.useful >= 9


def test_what_is_kept_beyond_the_cap_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture_sources, "MAX_KEPT_BYTES", 10)
    (tmp_path / "scan.part").write_bytes(b"U" * 11)
    with pytest.raises(DocumentError, match="DOC-SIZE"):
        KeptFrames(tmp_path / "scan.part").texts()


@pytest.mark.parametrize(("lost", "size"), [(0.1, 100_000), (0.3, 40_000), (0.5, 12_000)])
def test_a_transfer_takes_little_more_than_the_ideal_however_much_is_lost(lost: float, size: int) -> None:
    transfer = one_intent()._replace(cbor=random.Random(size).randbytes(size))
    texts = list(islice(endless_texts(transfer, 20), 4 * ideal_count(transfer, 20) + 60))
    ratios = []
    for seed in range(20):
        rng, decoder, read = random.Random(seed), Decoder(), 0
        for text in texts:
            if rng.random() >= lost and decoder.result is None:
                decoder.receive(text)
                read += 1
        assert decoder.result is not None
        ratios.append(read / ideal_count(transfer, 20))
    assert sorted(ratios)[10] <= 1.2
    assert sorted(ratios)[18] <= 1.4


def test_another_wallets_message_gets_every_part_of_the_standard() -> None:
    transfer = one_intent()._replace(ur_type="eth-sign-request", cbor=random.Random(1).randbytes(3_000))
    numbers = [parse_frame(text)[1].seq_num for text in islice(endless_texts(transfer, 20), 60)]
    assert numbers == list(range(1, 61))
    assert len(set(islice(endless_texts(batch(1)[1], 20), 5))) == 1  # a still code is the same for ever


def test_progress_is_told_after_every_picture_and_ends_at_100() -> None:
    images, count = images_of(whole_plan()), ideal_count(whole_plan(), 15)
    reports: list[ScanReport] = []
    left = iter(shown := [images[0], images[0], BLANK, image_of("FOREIGN"), *images[1:], BLANK])
    scan_pictures(left, Decoder(), reports.append)
    assert len(reports) + len(list(left)) == len(shown), "no more pictures are looked at than it needs"
    assert reports[3].hint == "a QR code that is not of a transfer (no ur:… text)"
    assert [report.pictures for report in reports] == list(range(1, len(reports) + 1))
    assert reports[3].line() == f"{100 // count:3} %  1 of {count} parts, 1 seen again, 1 other codes"
    assert [report.progress.percent == 100 for report in reports] == [False] * (len(reports) - 1) + [True]


def test_when_nothing_is_read_for_a_while_the_hints_come_in_turn() -> None:
    reports: list[ScanReport] = []
    with pytest.raises(DocumentError, match="QR-INCOMPLETE"):
        scan_pictures([BLANK] * (4 * HINT_AFTER), Decoder(), reports.append, read=lambda _image: [])
    assert [report.hint for report in reports[: HINT_AFTER - 1]] == [""] * (HINT_AFTER - 1)
    assert [reports[n * HINT_AFTER - 1].hint for n in (1, 2, 3, 4)] == [*HINTS, HINTS[0]]
    texts: Iterator[list[str]] = iter([[]] * HINT_AFTER + [[cycle_texts(whole_plan(), 15)[0]], []])
    with pytest.raises(DocumentError):
        scan_pictures([BLANK] * (HINT_AFTER + 2), Decoder(), reports.append, read=lambda _image: next(texts))
    assert [report.hint for report in reports[-3:]] == [HINTS[0], "", ""]  # a code that is read ends them


def test_a_stray_frame_before_every_picture_blocks_nothing() -> None:
    stray = images_of(batch(2)[0])[0]
    shown = [image for each in images_of(whole_plan()) for image in (stray, each)]
    reports: list[ScanReport] = []
    assert scan_pictures(shown, Decoder(), reports.append).cbor == whole_plan().cbor
    assert OTHER_TRANSFER in {report.hint for report in reports[:6]}


def test_an_overtaken_transfer_can_still_be_finished_and_is_kept_again(tmp_path: Path) -> None:
    kept = KeptFrames(tmp_path / "scan.part")
    first, other = images_of(whole_plan()), images_of(batch(3)[0])
    shown = [*first[:2], *other[:3], *first[2:]]
    assert scan_pictures(shown, Decoder(), nothing, kept=kept).cbor == whole_plan().cbor
    assert scan_pictures([], Decoder(), nothing, kept=kept).cbor == whole_plan().cbor


def test_only_useful_frames_are_kept_and_each_once_before_anybody_is_told(tmp_path: Path) -> None:
    images, kept = images_of(whole_plan()), KeptFrames(tmp_path / "scan.part")

    def interrupt(_report: ScanReport) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scan_pictures(images, Decoder(), interrupt, kept=kept)
    assert kept.texts() == cycle_texts(whole_plan(), 15)[:1]
    shown = [images[0], images[0], image_of("FOREIGN"), BLANK, images_of(one_intent())[0], images[1]]
    with pytest.raises(DocumentError):
        scan_pictures(shown, Decoder(), nothing, kept=kept)
    assert kept.texts() == cycle_texts(whole_plan(), 15)[:2]


def test_a_new_transfer_takes_the_place_of_kept_frames(tmp_path: Path) -> None:
    kept = interrupted(tmp_path, 5)
    reports: list[ScanReport] = []
    message = scan_pictures(images_of(one_intent()), Decoder(), reports.append, kept=kept)
    assert message.cbor == one_intent().cbor
    assert reports[0].hint == OTHER_TRANSFER
    assert set(kept.texts()) <= set(cycle_texts(one_intent(), 15))


def test_once_a_frame_of_the_kept_transfer_is_seen_no_other_takes_its_place(tmp_path: Path) -> None:
    images, kept = images_of(whole_plan()), interrupted(tmp_path, 5)
    shown = [images[0], images_of(one_intent())[0], *images[5:]]
    assert scan_pictures(shown, Decoder(), nothing, kept=kept).cbor == whole_plan().cbor


def test_frames_that_are_wrong_together_are_forgotten(tmp_path: Path) -> None:
    kept, texts = KeptFrames(tmp_path / "scan.part"), cycle_texts(one_intent(), 15)[: ideal_count(one_intent(), 15)]
    ur_type, part = parse_frame(texts[-1])
    changed = part._replace(data=bytes(byte ^ 1 for byte in part.data))  # under the same message checksum
    forged = iter([*texts[:-1], frame_text(ur_type, changed).upper()])
    with pytest.raises(DocumentError, match="QR-INCOMPLETE"):
        scan_pictures([BLANK] * len(texts), Decoder(), nothing, kept=kept, read=lambda _image: [next(forged)])
    assert kept.texts() == []
    assert scan_pictures(images_of(one_intent()), Decoder(), nothing, kept=kept).cbor == one_intent().cbor


def test_a_place_that_cannot_be_written_is_named_at_the_first_frame(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written"):
        scan_pictures(images_of(one_intent()), Decoder(), nothing, kept=KeptFrames(tmp_path / "no/such/folder"))
