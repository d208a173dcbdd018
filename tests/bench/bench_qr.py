"""``make bench-qr``: measure transfers by QR code on degraded pictures, for docs/reference/benchmarks.md.

Real documents are drawn, degraded and read as pictures. A plain script, never a timed test: nothing fails here when the
machine is slow. What the numbers promise is asserted by tests/shared/qr.
"""

import itertools
import time
from collections.abc import Callable, Iterator
from functools import cache
from random import Random
from statistics import median
from typing import NamedTuple

from PIL import Image

from airlock_shared.qr.documents import Transfer, endless_texts, ideal_count
from airlock_shared.qr.render import picture
from airlock_shared.qr.scan import texts_in
from airlock_shared.qr.symbol import DENSITIES, matrix
from airlock_shared.ur.decode import Decoder
from bench.page import machine, write_section
from bench.picture_faults import DEGRADATIONS, HIGH, LOW, captured, straddled
from shared.qr.transfers import batch, one_transaction

FRAMES_A_SECOND = 5
VERSION = 20
PICTURES_EACH = 2  # of a degradation at one level, density and resolution
RUNS = 9  # transfers of one document
LOSSES = (0.0, 0.1, 0.3, 0.5)
MOST_FRAMES = 3_000
STRADDLED = 0.3  # of the pictures, taken while the screen went on to its next frame

Read = Callable[[Image.Image], list[str]]


class Way(NamedTuple):
    """A way to transfer: how frames follow each other, and what reads them."""

    name: str
    fountain: bool
    read: Read


class Run(NamedTuple):
    """One transfer: frames shown, and frames that were read."""

    shown: int
    read: int


def main() -> None:
    """Measure, print the tables, and put them into their section of the page."""
    documents = the_documents()
    by_degradation, of_density, costs = decoding(documents["50 intents"])
    section = SECTION.format(
        frames=frames_table(documents),
        degradations=by_degradation,
        densities=of_density,
        losses=losses_table(documents["50 intents"]),
        transfers=transfers_table(documents),
        machine="\n".join(machine("of which one is used", "qrcode", "zxing-cpp", "pyzbar", "pillow")),
        costs=costs,
        frames_a_second=FRAMES_A_SECOND,
        runs=RUNS,
    )
    print(section)
    write_section("qr", section)


def the_documents() -> dict[str, Transfer]:
    (intent, signature), (intents, signatures) = batch(1), batch(50)
    return {
        "one intent": intent,
        "a transaction": one_transaction(),
        "50 intents": intents,
        "one signature": signature,
        "50 signatures": signatures,
    }


def only_zbar(image: Image.Image) -> list[str]:
    from pyzbar import pyzbar  # type: ignore[import-untyped]

    return [code.data.decode() for code in pyzbar.decode(image, symbols=[pyzbar.ZBarSymbol.QRCODE])]


OURS = Way("Airlock", True, texts_in)
CYCLING = Way("plain cycling", False, texts_in)
ZBAR = Way("pyzbar alone", True, only_zbar)


@cache
def drawn(text: str) -> Image.Image:
    return picture(matrix(text, version_at_most=max(DENSITIES)), module_pixels=6)


def decoding(transfer: Transfer) -> tuple[str, str, str]:
    """Return tables of the pictures that are read: by degradation, by density and resolution, and the time for each."""
    tries: dict[tuple[str, str, str], list[bool]] = {}
    spent: dict[str, list[float]] = {}
    for density, size in itertools.product(DENSITIES, (LOW, HIGH)):
        texts = list(itertools.islice(endless_texts(transfer, density), PICTURES_EACH))
        for (name, degradation), level, seed in itertools.product(DEGRADATIONS.items(), range(3), range(PICTURES_EACH)):
            image = degradation.apply(captured(drawn(texts[seed]), size), Random(seed), level=level)
            for way in (OURS, ZBAR):
                begun = time.perf_counter()
                success = way.read(image) == [texts[seed]]
                spent.setdefault(way.name, []).append(1000 * (time.perf_counter() - begun))
                for row in (f"at {name}", f"of {density} {size}", "all"):
                    tries.setdefault((way.name, row, str(level)), []).append(success)
    rows = [f"| {name} | {share(tries, f'at {name}')} |" for name in DEGRADATIONS]
    rows.append(f"| all | {share(tries, 'all')} |")
    dense = [
        f"| version {density}, {size[0]} x {size[1]} | {share(tries, f'of {density} {size}')} |"
        for density, size in itertools.product(DENSITIES, (LOW, HIGH))
    ]
    costs = "; ".join(f"{name} {median(values):.1f} ms" for name, values in spent.items())
    count = sum(len(each) for (_, row, _), each in tries.items() if row == "all") // 2
    return "\n".join(rows), "\n".join(dense), f"{count} pictures; the median of one picture: {costs}"


def share(tries: dict[tuple[str, str, str], list[bool]], row: str) -> str:
    """Return the cells of a row: of each way, the share that was read at each level."""
    cells = []
    for way in (OURS, ZBAR):
        for level in ("0", "1", "2"):
            outcomes = tries[way.name, row, level]
            cells.append(f"{100 * sum(outcomes) / len(outcomes):.0f} %")
    return " | ".join(cells)


def frames_shown(transfer: Transfer, way: Way, density: int = VERSION) -> Iterator[str]:
    """Yield the texts that a way shows, without end."""
    texts = endless_texts(transfer, density)
    count = ideal_count(transfer, density)
    if way.fountain and count > 1:
        return texts
    return itertools.cycle(itertools.islice(texts, count))


def with_losses(transfer: Transfer, way: Way, lost: float, seed: Random) -> Run:
    """Transfer texts of which a part is lost at random; no pictures."""
    decoder, read = Decoder(), 0
    for shown, text in enumerate(frames_shown(transfer, way), start=1):
        if seed.random() >= lost:
            decoder.receive(text)
            read += 1
        if decoder.result is not None:
            return Run(shown, read)
    raise AssertionError


def on_pictures(transfer: Transfer, way: Way, seed: Random) -> Run | None:
    """Transfer by pictures, each with a drawn degradation, some of them of two frames at once; None when it does not end."""
    decoder, read, before = Decoder(), 0, Image.new("L", HIGH)
    for shown, text in enumerate(frames_shown(transfer, way), start=1):
        scene = captured(drawn(text), HIGH)
        image = straddled(before, scene, seed.random()) if seed.random() < STRADDLED else scene
        before = scene
        degradation = seed.choice(list(DEGRADATIONS.values()))
        found = way.read(degradation.apply(image, seed, level=seed.choice((1, 2))))
        read += bool(found)
        for each in found:
            decoder.receive(each)
        if decoder.result is not None:
            return Run(shown, read)
        if shown == MOST_FRAMES:
            return None
    raise AssertionError


def losses_table(transfer: Transfer) -> str:
    """Return frames shown, over what would be shown at this loss if each frame that is read were of use."""
    ideal = ideal_count(transfer, VERSION)
    rows = []
    for lost in LOSSES:
        cells = []
        for way in (OURS, CYCLING):
            runs = [with_losses(transfer, way, lost, Random(seed)) for seed in range(40)]
            ratios = sorted(run.read / ideal for run in runs)
            cells.append(f"{median(ratios):.2f} | {ratios[-1]:.2f}")
        rows.append(f"| {100 * lost:.0f} % | {' | '.join(cells)} |")
    return "\n".join(rows)


def transfers_table(documents: dict[str, Transfer]) -> str:
    """Return seconds and bytes a second of whole transfers on degraded pictures, for each way."""
    rows = []
    for name, transfer in documents.items():
        for way in (OURS, CYCLING, ZBAR):
            runs = [on_pictures(transfer, way, Random(seed)) for seed in range(RUNS)]
            shown = [run.shown for run in runs if run is not None]
            seconds = median(shown) / FRAMES_A_SECOND
            rows.append(
                f"| {name} | {way.name} | {median(shown):.0f} | {seconds:.1f} s | {max(shown) / FRAMES_A_SECOND:.1f} s "
                f"| {len(transfer.cbor) / seconds:,.0f} |"
            )
    return "\n".join(rows)


def frames_table(documents: dict[str, Transfer]) -> str:
    """Return the frames of each document at each density, when none is lost."""
    return "\n".join(
        f"| {name} | {len(transfer.cbor):,} | {' | '.join(str(ideal_count(transfer, each)) for each in DENSITIES)} |"
        for name, transfer in documents.items()
    )


SECTION = """## Transfers by QR code

Written by `make bench-qr` (`tests/bench/bench_qr.py`).

### Frames of a document, none lost

| document | bytes on QR | version 10 | 15 | 20 (default) | 27 |
|---|---|---|---|---|---|
{frames}

The aims: one intent in at most 2 frames, a signature in one, 50 intents in at most 40, all at the default density.

### Frames that must be read, over the ideal

50 intents at the default density, part of the frames lost at random; 40 transfers each. The aim is 1.4 at 30 % loss.

| lost | fountain, median | worst | plain cycling, median | worst |
|---|---|---|---|---|
{losses}

### Whole transfers on degraded pictures

{frames_a_second} frames a second, one picture a frame, 1280 x 720, each picture with a drawn degradation, ordinary or harsh,
and three in ten taken while the screen went on to its next frame, which nothing reads. Medians of {runs} transfers.
Bytes a second are bytes of the message as it is on QR.

| document | | frames shown | time | worst | bytes a second |
|---|---|---|---|---|---|
{transfers}

### Pictures that are read

By degradation, over all densities and both resolutions (640 x 480 and 1280 x 720), the code 70 % of the picture's height.

| degradation | Airlock, mild | ordinary | harsh | pyzbar alone, mild | ordinary | harsh |
|---|---|---|---|---|---|---|
{degradations}

| density and resolution | Airlock, mild | ordinary | harsh | pyzbar alone, mild | ordinary | harsh |
|---|---|---|---|---|---|---|
{densities}

{costs}. A picture on which nothing is found costs more: every decoder has tried it.

Airlock reads with zxing-cpp, then pyzbar, then zxing-cpp on the picture with its whole contrast at twice the size. The
degradations and their three strengths are `tests/bench/picture_faults.py`; they are
simulated, seeded, and one at a time, so a real camera in a real room is to be tried before a ceremony.

{machine}
"""


if __name__ == "__main__":
    main()
