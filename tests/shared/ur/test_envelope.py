"""Airlock's documents as codes: what is unwrapped is what was wrapped, or it is refused."""

import hashlib
import json
import operator
import zlib
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airlock_shared.errors import DocumentError
from airlock_shared.ur.envelope import ENVELOPE_VERSION, MAX_INFLATED, dictionary, unwrap, wrap
from airlock_shared.ur.fountain import frame_count
from airlock_shared.wire.cbor import Tagged, read, write
from airlock_shared.wire.strict_json import fingerprint, parse_json, to_cbor
from draws import repeatable
from refusals import check_of, error_of
from shared.qr.transfers import batch
from shared.strategies import json_values

CEREMONY = "2026-12-delegates"
DOCUMENT = {"format": "airlock/requests@1", "header": {"ceremony": CEREMONY, "count": 0}, "requests": []}


def deflated(content: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15, zdict=dictionary())
    return packer.compress(content) + packer.flush()


def payload(version: Any = 1, claimed: Any = None, content: bytes | None = None, stream: Any = None) -> bytes:
    """An envelope made by hand; what is left out is as it should be."""
    content = to_cbor([CEREMONY, DOCUMENT]) if content is None else content
    claimed = bytes.fromhex(fingerprint(DOCUMENT)) if claimed is None else claimed
    return write(write([version, claimed, deflated(content) if stream is None else stream]))


BAD_ENVELOPES = {
    "not bytes": (write("text"), "QR-ENVELOPE"),
    "a list": (write([1, bytes(32), b""]), "QR-CBOR"),
    "not CBOR within": (write(b"\xff"), "QR-CBOR"),
    "a map within": (write(write({1: 2})), "QR-ENVELOPE"),
    "two members": (write(write([1, bytes(32)])), "QR-ENVELOPE"),
    "four members": (write(write([1, bytes(32), b"", 0])), "QR-CBOR"),
    "true as version": (payload(version=True), "QR-ENVELOPE"),
    "version 2": (payload(version=2), "QR-ENVELOPE"),
    "a text as fingerprint": (payload(claimed=fingerprint(DOCUMENT)), "QR-ENVELOPE"),
    "another fingerprint": (payload(claimed=bytes(32)), "QR-FINGERPRINT"),
    "another document": (payload(content=to_cbor([CEREMONY, DOCUMENT | {"requests": [1]}])), "QR-FINGERPRINT"),
    "nothing to inflate": (payload(stream=b""), "QR-INFLATE"),
    "a stream cut short": (payload(stream=deflated(to_cbor([CEREMONY, DOCUMENT]))[:-3]), "QR-INFLATE"),
    "a stream with more behind it": (payload(stream=deflated(to_cbor([CEREMONY, DOCUMENT])) + b"x"), "QR-INFLATE"),
    "beyond the cap by a byte": (payload(content=bytes(MAX_INFLATED + 1)), "QR-INFLATE"),
    "content that is no CBOR": (payload(content=b"\xff"), "QR-CBOR"),
    "content that goes on": (payload(content=to_cbor([CEREMONY, DOCUMENT]) + b"\0"), "QR-CBOR"),
    "a document alone": (payload(content=to_cbor(DOCUMENT)), "QR-ENVELOPE"),
    "names out of order": (payload(content=write([CEREMONY, dict(reversed(DOCUMENT.items()))])), "DOC-CBOR"),
    "a tag in the document": (
        payload(content=write([CEREMONY, DOCUMENT | {"requests": Tagged(35, "(a")}])),
        "DOC-CBOR",
    ),
}


@pytest.mark.parametrize(("cbor", "refusal"), BAD_ENVELOPES.values(), ids=BAD_ENVELOPES.keys())
def test_an_envelope_that_is_not_right_is_refused(cbor: bytes, refusal: str) -> None:
    assert check_of(unwrap, cbor) == refusal


BAD_CONTENTS: dict[str, tuple[Any, Any]] = {
    "a document that is a list": (CEREMONY, []),
    "a document without a format": (CEREMONY, {"header": {}}),
    "a format of another program": (CEREMONY, {"format": "other/thing@1"}),
    "a ceremony that is a number": (7, DOCUMENT),
    "a ceremony that is no name": ("../evil", DOCUMENT),
    "a ceremony with a line break": (CEREMONY + "\n", DOCUMENT),
    "another ceremony than the document's": ("2027-01-other", DOCUMENT),
}


@pytest.mark.parametrize(("ceremony", "document"), BAD_CONTENTS.values(), ids=BAD_CONTENTS.keys())
def test_contents_that_are_not_right_are_refused_on_both_sides(ceremony: Any, document: Any) -> None:
    claimed = bytes.fromhex(fingerprint(document))
    assert check_of(unwrap, payload(claimed=claimed, content=to_cbor([ceremony, document]))) == "QR-ENVELOPE"
    assert check_of(wrap, json.dumps(document).encode(), ceremony=ceremony) == "QR-ENVELOPE"


@pytest.mark.parametrize(
    ("text", "refusal"),
    [("", "DOC-JSON"), ("{", "DOC-JSON"), ('{"format": 1, "format": 2}', "DOC-DUPLICATE")],
)
def test_a_text_that_is_no_document_is_not_wrapped(text: str, refusal: str) -> None:
    with pytest.raises(DocumentError, match=refusal):
        wrap(text.encode(), ceremony=CEREMONY)


def test_a_document_too_long_for_codes_is_not_wrapped() -> None:
    document = DOCUMENT | {"requests": ["x" * MAX_INFLATED]}
    error = error_of(DocumentError, wrap, json.dumps(document).encode(), ceremony=CEREMONY)
    assert (error.check, error.what) == ("QR-LIMIT", "the document is too long for codes")
    assert error.do == "take it by file"


@repeatable
@given(json_values())
def test_any_document_comes_back(value: Any) -> None:
    document = {"format": "airlock/anything@1", "value": value}
    envelope = unwrap(wrap(json.dumps(document).encode(), ceremony="any"))
    assert repr(parse_json(envelope.document_json)["value"]) == repr(_sorted(value))
    assert envelope[:3] == ("airlock/anything@1", "any", fingerprint(document))


def _sorted(value: Any) -> Any:
    """Members in the order of the deterministic form: the one thing that a transfer does not keep."""
    if type(value) is dict:
        return read(to_cbor({name: _sorted(member) for name, member in value.items()}), max_items=1000)
    return [_sorted(member) for member in value] if type(value) is list else value


@repeatable
@given(st.integers(0, 10**6), st.integers(1, 255))
def test_any_changed_byte_is_noticed_or_changes_nothing(place: int, change: int) -> None:
    changed = bytearray(payload())
    changed[place % len(changed)] ^= change
    with suppress(DocumentError):  # the bits after a deflate stream's end mean nothing
        assert unwrap(bytes(changed)) == unwrap(payload())


def test_the_dictionary_changes_with_the_version_alone() -> None:
    assert (ENVELOPE_VERSION, hashlib.sha256(dictionary()).hexdigest()) == (
        1,
        "145c1fcbef71e20379b7f3a7806e70b34c789b4289462d67b8a32ad251ac4de0",
    )


def test_a_stream_made_without_the_dictionary_is_read_too() -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    stream = packer.compress(to_cbor([CEREMONY, DOCUMENT])) + packer.flush()
    assert unwrap(payload(stream=stream)) == unwrap(payload())
    assert unwrap(payload())[:3] == ("airlock/requests@1", CEREMONY, fingerprint(DOCUMENT))


VERSION_20 = 589  # bytes of payload that a frame of version 20-L carries


@pytest.mark.parametrize(("count", "most"), [(1, [2, 1]), (50, [22, 12])], ids=["one", "fifty"])
def test_intents_and_their_signatures_take_few_frames(count: int, most: list[int]) -> None:
    taken = [frame_count(transfer.cbor, VERSION_20) for transfer in batch(count)]
    assert all(map(operator.le, taken, most)), taken


def test_a_document_of_too_many_items_is_not_wrapped() -> None:
    document = DOCUMENT | {"requests": [0] * (1 << 18)}
    with pytest.raises(DocumentError, match=r"QR-CBOR: .*too many items"):
        wrap(json.dumps(document).encode(), ceremony=CEREMONY)
