"""EIP-4527 against the values of its reference implementation, and against what it must not let through."""

import uuid
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airlock_shared.errors import DocumentError
from airlock_shared.ur import eth
from airlock_shared.ur.fountain import frames, parse_frame
from airlock_shared.wire.cbor import Tagged, read, write
from draws import repeatable
from refusals import check_of
from shared.ur.messages import vectors

PUBLISHED = vectors("eip4527")
REQUEST_ID = uuid.UUID(PUBLISHED["signatures"][0]["request_id"])
PATH = eth.Keypath.of("m/44'/60'/0'/0/0", 0x12345678)


def number(hex_digits: str | None) -> int | None:
    return None if hex_digits is None else int(hex_digits, 16)


def ur(ur_type: str, cbor: bytes) -> str:
    return next(frames(ur_type, cbor, fragment_bytes=1000))


@pytest.mark.parametrize("case", PUBLISHED["sign_requests"], ids=["with an origin", "without"])
def test_a_request_to_sign_is_the_published_one(case: dict[str, Any]) -> None:
    request = eth.SignRequest(
        bytes.fromhex(case["sign_data"]),
        eth.DataType(case["data_type"]),
        eth.Keypath.of(case["path"], number(case["source_fingerprint"])),
        case["chain_id"],
        uuid.UUID(case["request_id"]),
        origin=case["origin"],
    )
    assert ur(eth.SIGN_REQUEST_TYPE, request.to_cbor()) == case["ur"]
    assert eth.SignRequest.from_cbor(parse_frame(case["ur"])[1].data) == request
    tagged = Tagged(401, read(request.to_cbor(), max_items=256))  # as some wallets write it
    assert eth.SignRequest.from_cbor(write(tagged)) == request


def test_a_signature_is_the_published_one_and_is_not_printed() -> None:
    (case,) = PUBLISHED["signatures"]
    signature = eth.Signature(bytes.fromhex(case["signature"]), REQUEST_ID)
    assert ur(eth.SIGNATURE_TYPE, signature.to_cbor()) == case["ur"]
    assert eth.Signature.from_cbor(parse_frame(case["ur"])[1].data) == signature
    assert repr(signature) == f"Signature(request_id={REQUEST_ID!r})" == str(signature)


@pytest.mark.parametrize("case", PUBLISHED["hdkeys"][:2], ids=lambda case: case["origin"])
def test_the_path_of_an_account_is_the_published_one(case: dict[str, Any]) -> None:
    path = eth.Keypath.of(case["origin"], number(case["source_fingerprint"]))
    published = read(parse_frame(case["ur"])[1].data, max_items=256)[6]
    assert Tagged(304, path.to_map()) == published._replace(value={n: m for n, m in published.value.items() if n != 3})
    assert str(path) == case["origin"]


@repeatable
@given(st.lists(st.tuples(st.integers(0, 2_099_999_999), st.booleans()), min_size=1, max_size=10))
def test_any_path_is_the_same_as_text_and_as_code(steps: list[tuple[int, bool]]) -> None:
    path = eth.Keypath(tuple(eth.PathStep(*step) for step in steps))
    assert eth.Keypath.of(str(path)) == path
    assert eth.Keypath.from_map(path.to_map()) == path


@pytest.mark.parametrize("text", ["", "m", "44'/60'", "m/", "m/44h", "m/-1", "m/2147483648", "m/1/*", "m/" + "1/" * 11])
def test_a_text_that_is_no_path_is_refused(text: str) -> None:
    assert check_of(eth.Keypath.of, text) == "QR-FIELD"


BAD_PATHS: dict[str, Any] = {
    "a list": [44, True],
    "no steps": {2: 1},
    "neither steps nor fingerprint": {1: []},
    "an odd number": {1: [44]},
    "eleven steps": {1: [1, False] * 11},
    "hardened by a number": {1: [44, 1]},
    "a step of 2^31": {1: [1 << 31, False]},
    "a range": {1: [[0, 9], False]},
    "all steps": {1: [[], False]},
    "a fingerprint of 33 bits": {1: [44, True], 2: 1 << 32},
    "a fingerprint of bytes": {1: [44, True], 2: bytes(4)},
    "a depth of 256": {1: [44, True], 3: 256},
    "an unknown member": {1: [44, True], 4: 0},
    "another tag": Tagged(305, {1: [44, True]}),
}


@pytest.mark.parametrize("value", BAD_PATHS.values(), ids=BAD_PATHS.keys())
def test_a_path_that_is_not_right_is_refused_wherever_it_stands(value: Any) -> None:
    assert check_of(eth.Keypath.from_map, value) == "QR-FIELD"
    assert check_of(eth.SignRequest.from_cbor, write(REQUEST | {5: Tagged(304, value)})) == "QR-FIELD"


REQUEST: dict[Any, Any] = {2: b"{}", 3: 2, 5: Tagged(304, PATH.to_map())}
BAD_REQUESTS: dict[str, dict[Any, Any]] = {
    "no data": {2: b""},
    "type 5": {3: 5},
    "a type that is true": {3: True},
    "a path under another tag": {5: Tagged(303, PATH.to_map())},
    "a chain id that is negative": {4: -1},
    "a chain id of 2^53": {4: 1 << 53},
    "an address of 19 bytes": {6: bytes(19)},
    "an address as text": {6: "0x" + "00" * 20},
    "an origin as bytes": {7: b"x"},
    "an id under another tag": {1: Tagged(38, bytes(16))},
    "an id as text": {1: Tagged(37, "x" * 16)},
    "an id of 15 bytes": {1: Tagged(37, bytes(15))},
    "an unknown member": {8: 0},
}


@pytest.mark.parametrize("change", BAD_REQUESTS.values(), ids=BAD_REQUESTS.keys())
def test_a_request_to_sign_that_is_not_right_is_refused(change: dict[Any, Any]) -> None:
    eth.SignRequest.from_cbor(write(REQUEST))
    assert check_of(eth.SignRequest.from_cbor, write(REQUEST | change)) == "QR-FIELD"


@pytest.mark.parametrize("missing", REQUEST)
def test_a_request_to_sign_that_lacks_something_is_refused(missing: int) -> None:
    with pytest.raises(DocumentError, match="QR-FIELD: a request to sign lacks members"):
        eth.SignRequest.from_cbor(write({name: member for name, member in REQUEST.items() if name != missing}))


BAD_SIGNATURES: dict[str, Any] = {
    "bytes alone": bytes(65),
    "64 bytes": {2: bytes(64)},
    "a text": {2: "x" * 65},
    "no signature": {1: Tagged(37, bytes(16))},
    "an id that is none": {1: Tagged(37, bytes(17)), 2: bytes(65)},
    "an unknown member": {2: bytes(65), 4: 1},
}


@pytest.mark.parametrize("value", BAD_SIGNATURES.values(), ids=BAD_SIGNATURES.keys())
def test_a_signature_that_is_not_right_is_refused(value: Any) -> None:
    assert check_of(eth.Signature.from_cbor, write(value)) == "QR-FIELD"
