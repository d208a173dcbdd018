"""What must hold for every input: hashes and encodings are those of other libraries, documents keep their fingerprint."""

from typing import Any

import pytest
from eth_abi.abi import decode as eth_decode
from eth_abi.abi import encode as eth_encode
from hypothesis import given
from hypothesis import strategies as st

from airlock_shared.ethereum.eip712 import decode_abi, encode_abi
from airlock_shared.ethereum.typed_document import read_typed_data
from airlock_shared.wire.strict_json import fingerprint, parse_json
from draws import costly, repeatable
from shared import make_payloads
from shared.strategies import abi_struct, abi_types, abi_values, by_place, json_values, typed_data
from shared.world import judge, to_bytes, whole


@costly
@given(typed_data())
def test_the_digest_of_any_document_is_that_of_eth_account(document: dict[str, Any]) -> None:
    _, hashes = read_typed_data(parse_json(to_bytes(document)))
    assert hashes.digest.hex() == make_payloads.digest_of(document).hex()


def _for_eth_abi(value: Any) -> Any:
    return tuple(_for_eth_abi(member) for member in value) if isinstance(value, list) else value


def _from_eth_abi(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_from_eth_abi(member) for member in value]
    is_address = isinstance(value, str) and len(value) == 42 and value.startswith("0x")
    return bytes.fromhex(value[2:]) if is_address else value


@repeatable
@given(st.lists(abi_types(), min_size=1, max_size=4).flatmap(
    lambda types: st.tuples(st.just(types), st.tuples(*(abi_values(kind) for kind in types)))
))  # fmt: skip
def test_encoding_and_decoding_are_those_of_eth_abi(case: tuple[list[str], tuple[Any, ...]]) -> None:
    types, values = case
    encoded = encode_abi(abi_struct(types), by_place(values))
    assert encoded.hex() == eth_encode(types, _for_eth_abi(list(values))).hex()
    assert decode_abi(abi_struct(types), encoded) == by_place(values)
    assert _from_eth_abi(eth_decode(types, encoded)) == _from_eth_abi(list(values))


@repeatable
@given(json_values())
def test_the_fingerprint_is_that_of_another_encoder(value: Any) -> None:
    assert fingerprint(value) == make_payloads.fingerprint(value)


@pytest.mark.parametrize("members", ["fields", "payload"])
def test_the_order_of_members_does_not_change_the_verdict(members: str) -> None:
    document = whole()
    for item in document["requests"]:
        item[members] = dict(reversed(item[members].items()))
    assert judge(document) == set()
