"""Two independent implementations, @ngraveio/bc-ur and @keystonehq/bc-ur-registry-eth: each reads what the other writes."""

import json
import random
import shutil
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from airlock_shared.ur.decode import Decoder, Message
from airlock_shared.ur.fountain import frames
from commands import run_command
from shared.ur.messages import bytes_payload

PEER = Path(__file__).parent / "peer.cjs"
MODULES = Path(__file__).resolve().parents[3] / ".tools" / "node" / "node_modules"


def peers(*questions: tuple[str, dict[str, Any]]) -> list[Any]:
    """What the other implementations answer."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not here: there is nothing to compare with")
    if not (MODULES / "@ngraveio" / "bc-ur").is_dir() or not (MODULES / "@keystonehq" / "bc-ur-registry-eth").is_dir():
        pytest.skip("the modules to compare with are not installed (make test installs them)")
    environment = {"NODE_PATH": str(MODULES), "NODE_NO_WARNINGS": "1"}
    done = run_command(node, PEER, typed=json.dumps(questions), env=environment)
    assert done.code == 0, done.err[-2000:]
    answers: list[Any] = done.json()
    return answers


def lossy(texts: list[str], seed: int) -> list[str]:
    """Seven frames of ten, in another order than they were shown."""
    chance = random.Random(seed)
    kept = [text for text in texts if chance.random() >= 0.3]
    chance.shuffle(kept)
    return kept


SIZES = ((50, 100), (256, 30), (1100, 589), (4000, 166), (21_000, 589), (32_767, 1000))


def test_both_sides_write_the_same_frames_and_we_receive_theirs_with_three_of_ten_lost() -> None:
    messages = [bytes_payload(size) for size, _ in SIZES]
    questions = [
        ("frames", {"type": "bytes", "cbor": whole.hex(), "fragment_bytes": most, "first": 1, "count": 300})
        for whole, (_, most) in zip(messages, SIZES, strict=True)
    ]
    for seed, (whole, (_, most), theirs) in enumerate(zip(messages, SIZES, peers(*questions), strict=True)):
        ours = list(islice(frames("bytes", whole, fragment_bytes=most), 120))
        assert [text.lower() for text in theirs[: len(ours)]] == ours
        decoder = Decoder()
        for text in lossy(theirs, seed):
            decoder.receive(text)
        assert decoder.result == Message("bytes", whole)
        assert decoder.progress.mixed == decoder.progress.bad == decoder.progress.foreign == 0


def test_they_receive_what_we_show_with_three_frames_of_ten_lost() -> None:
    shown = []
    for seed, (size, most) in enumerate(SIZES):
        texts = list(islice(frames("bytes", bytes_payload(size), fragment_bytes=most), 400))
        shown.append(lossy(texts, seed) if len(texts) > 1 else texts)
    answers = peers(*(("receive", {"texts": texts}) for texts in shown))
    for (size, _), answer in zip(SIZES, answers, strict=True):
        assert (answer["type"], answer["cbor"]) == ("bytes", bytes_payload(size).hex())
