"""A token's signed record: its form, and that it is of the token which the deployment pins."""

from __future__ import annotations

import json

import pytest

from airlock_shared.cli.comparison_lines import deployment_lines
from airlock_shared.documents.deployment import Deployment, read_deployment
from airlock_shared.documents.ledger_metadata import read_token_metadata
from airlock_shared.errors import DocumentError
from shared.token_records import DER, MAINNET_USDC, USDC_RECORD, published, unsigned
from shared.world import DEPLOYMENT_TEXT, deployment

VENUE_USDC = bytes.fromhex("eC9DD777355d2Cf97b2f1dCb5400c3Da01B15F5d")
VENUE_CHAIN = 84532
RIGHT = unsigned(VENUE_USDC, VENUE_CHAIN)


def pinned(record: bytes) -> Deployment:
    return read_deployment(json.loads(DEPLOYMENT_TEXT) | {"device_metadata": {"usdc": "0x" + record.hex()}})


def test_the_published_records_are_read_as_they_say() -> None:
    assert [read_token_metadata(record)[:4] for record in published()][1] == ("USDC", MAINNET_USDC, 6, 1)
    assert [read_token_metadata(record).ticker for record in published()] == ["UNI", "USDC", "USDT"]


def test_a_record_of_the_pinned_token_is_pinned_shown_and_in_the_fingerprint() -> None:
    found = pinned(RIGHT)
    assert found.token is not None
    assert found.token[:4] == ("USDC", VENUE_USDC, 6, VENUE_CHAIN)
    assert found.fingerprint != deployment().fingerprint
    assert any("record that Ledger has signed" in line for line in deployment_lines(found))


@pytest.mark.parametrize(
    "record",
    [
        unsigned(MAINNET_USDC, VENUE_CHAIN),
        unsigned(VENUE_USDC, 1),
        unsigned(VENUE_USDC, VENUE_CHAIN, decimals=18),
        unsigned(VENUE_USDC, VENUE_CHAIN, ticker=b"USDT"),
        unsigned(VENUE_USDC, VENUE_CHAIN, ticker=b"usdc"),
        USDC_RECORD,
    ],
    ids=["address", "chain", "decimals", "ticker", "case", "another-chain's"],
)
def test_a_record_of_another_token_is_refused(record: bytes) -> None:
    with pytest.raises(DocumentError) as caught:
        pinned(record)
    assert (caught.value.check, caught.value.where) == ("DOC-DEPLOYMENT", "device_metadata.usdc")


@pytest.mark.parametrize(
    "record",
    [
        b"",
        RIGHT[:-1],
        RIGHT + b"\0",
        RIGHT[: -len(DER)],
        RIGHT[:20],
        unsigned(VENUE_USDC, VENUE_CHAIN, ticker=b""),
        unsigned(VENUE_USDC, VENUE_CHAIN, ticker=b"US C"),
        unsigned(VENUE_USDC, VENUE_CHAIN, ticker="USDС".encode()),
        unsigned(VENUE_USDC, VENUE_CHAIN, ticker=b"U" * 51),
        unsigned(VENUE_USDC, VENUE_CHAIN, signature=b"\x31" + DER[1:]),
        unsigned(VENUE_USDC, VENUE_CHAIN, signature=bytes.fromhex("3006020001020101")),
        unsigned(VENUE_USDC, VENUE_CHAIN, signature=bytes.fromhex("3003020101")),
        unsigned(VENUE_USDC, VENUE_CHAIN, signature=bytes((0x30, 250)) + bytes(250)),
    ],
)
def test_what_is_no_record_is_refused(record: bytes) -> None:
    with pytest.raises(DocumentError) as caught:
        read_token_metadata(record)
    assert caught.value.check == "DOC-FIELD"
