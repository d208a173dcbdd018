"""``digest`` hashes what EIP-712 allows, names what it leaves out, and blames nobody for a document of one's own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from e2e.conftest import BothMachines
from shared.world import VECTORS


def _document(name: str) -> tuple[dict[str, Any], str]:
    vector = json.loads((VECTORS / f"typed-data/good/{name}.json").read_text())
    return vector["document"], vector["expected"]["digest"]


def test_what_stands_beside_is_left_out_and_named(desk: BothMachines) -> None:
    document, digest = _document("mail")
    document["account"] = "0x\x1b[2Jdigest 00"
    document["types"]["Mail"][0]["internalType"] = "struct Person"
    file = desk.path("typed.json")
    file.write_text(json.dumps(document))
    told = json.loads(desk.offline("digest", "--json", file).out)
    assert (told["digest"], told["ignored"]) == (digest, ["account", "types.Mail[0].internalType"])
    ended = desk.offline("digest", file)
    assert "ignored           account, types.Mail[0].internalType: no signature covers it" in ended.out
    assert ended.code == 0


def test_a_name_that_is_left_out_begins_no_line(desk: BothMachines) -> None:
    document, _ = _document("mail")
    document["x\ndigest            0000 0000"] = 1
    file = desk.path("typed.json")
    file.write_text(json.dumps(document))
    out = desk.offline("digest", file).out
    assert [line.split()[0] for line in out.splitlines() if line[:1].strip()] == [
        "primary",
        "domain",
        "struct",
        "digest",
        "ignored",
    ]


def test_a_struct_whose_name_has_a_colon_is_hashed(desk: BothMachines) -> None:
    document, digest = _document("struct-name-colon")
    file = desk.path("typed.json")
    file.write_text(json.dumps(document))
    told = json.loads(desk.offline("digest", "--json", file).out)
    assert (told["digest"], told["ignored"]) == (digest, [])


@pytest.mark.parametrize("change", [{"types": 1}, {"primaryType": "No"}, {"message": []}, {"domain": {}}])
def test_a_refusal_speaks_of_a_document_and_of_no_attack(desk: BothMachines, change: dict[str, Any]) -> None:
    document, _ = _document("mail")
    file = desk.path("typed.json")
    file.write_text(json.dumps(document | change))
    ended = desk.offline("digest", file)
    assert (ended.code, ended.out) == (3, "")
    assert "altered" not in ended.err
    assert "nothing was hashed" in ended.err
