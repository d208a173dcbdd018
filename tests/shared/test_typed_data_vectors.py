"""EIP-712 typed data: the published example, documents hashed by eth-account, and documents that must be refused."""

import json
from typing import Any

import pytest

from airlock_shared.ethereum.typed_document import read_typed_data
from airlock_shared.wire.strict_json import parse_json
from refusals import check_of
from shared.make_payloads import digest_of
from shared.world import VECTORS, Vector, names, vectors

GOOD = sorted((VECTORS / "typed-data/good").glob("*.json"))
BAD = list(vectors("typed-data/bad"))


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_a_good_document_has_the_hashes_that_it_names(path: Any) -> None:
    vector = json.loads(path.read_text())
    hashes = read_typed_data(vector["document"])[1]._asdict()
    assert {name: "0x" + value.hex() for name, value in hashes.items()} == vector["expected"]


@pytest.mark.parametrize("vector", BAD, ids=names(BAD))
def test_a_bad_document_gets_its_refusal(vector: Vector) -> None:
    text = vector.content.get("text")
    data = text.encode() if text is not None else json.dumps(vector.content["document"]).encode()
    assert check_of(lambda: read_typed_data(parse_json(data))) == vector.refusal


def test_a_document_that_changed_since_it_was_read_is_hashed_anew() -> None:
    document = {
        "types": {"OnlyHere": [{"name": "x", "type": "uint256"}]},
        "primaryType": "OnlyHere",
        "domain": {"name": "d"},
        "message": {"x": "1"},
    }
    read_typed_data(document)
    document["types"]["OnlyHere"][0]["type"] = "uint8"  # type: ignore[index]
    assert read_typed_data(document)[1].digest == digest_of({**document, "message": {"x": 1}})
