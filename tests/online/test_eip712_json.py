"""An intent as other wallets sign it: eth-account and our own reader find the same digest in the JSON as in the payload."""

import json
from typing import Any

import pytest

from airlock_online.wallets.other_wallets import _plain, typed_json
from airlock_shared.checks.intent import definitions
from airlock_shared.ethereum.struct_types import DOMAIN_DEFINITION, members_of
from airlock_shared.ethereum.typed_document import read_typed_data
from airlock_shared.venue.structs import CATALOGUE
from shared.make_payloads import digest_of
from shared.world import STEPS, deployment, good


def document(step: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A step's payload, and its JSON for another wallet."""
    payload = good(step)["requests"][0]["payload"]
    intent = CATALOGUE[payload["primaryType"]]
    message = definitions(intent).read(intent.name, payload["message"])
    return payload, json.loads(typed_json(intent, deployment().domains[intent.domain], message))


@pytest.mark.parametrize("step", STEPS)
def test_the_digest_is_the_payloads_for_two_implementations(step: str) -> None:
    payload, written = document(step)
    assert "0x" + read_typed_data(written)[1].digest.hex() == payload["digest"].lower()
    assert written["types"]["EIP712Domain"] == DOMAIN_DEFINITION
    # eth-account takes integers as numbers, which JSON texts are not
    kinds = {m["name"]: m["type"] for m in written["types"][written["primaryType"]]}
    numbers = {n: int(v) if "int" in kinds[n] else v for n, v in written["message"].items()}
    for struct in [kind for kind in kinds.values() if kind in written["types"]]:
        inner = {m["name"]: m["type"] for m in written["types"][struct]}
        name = next(n for n, kind in kinds.items() if kind == struct)
        numbers[name] = {n: int(v) if "int" in inner[n] else v for n, v in written["message"][name].items()}
    assert "0x" + digest_of({**written, "message": numbers}).hex() == payload["digest"].lower()


@pytest.mark.parametrize("step", STEPS)
def test_no_integer_of_a_message_is_a_number_that_javascript_would_round(step: str) -> None:
    _, written = document(step)
    inner = [value for value in written["message"].values() if isinstance(value, dict)]
    values = [value for each in [written["message"], *inner] for value in each.values()]
    assert not [value for value in values if type(value) in (int, float)]
    assert type(written["domain"]["chainId"]) is int


def test_bytes_addresses_and_nested_structs_are_written_in_their_one_spelling() -> None:
    structs = {"A": members_of("bytes part,bytes none,address who,B more"), "B": members_of("bool yes")}
    value = {"part": b"\x01", "none": b"", "who": b"\x01" * 20, "more": {"yes": True}}
    written = {"part": "0x01", "none": "0x", "who": "0x" + "01" * 20, "more": {"yes": True}}
    assert _plain("A", value, structs) == written
