"""What a Ledger is told in a deployment: message filters and a token's signed record, read strictly, of this very struct."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from airlock_shared.cli.comparison_lines import deployment_lines
from airlock_shared.documents.deployment import Deployment, read_deployment
from airlock_shared.documents.ledger_metadata import read_token_metadata
from airlock_shared.errors import DocumentError
from refusals import check_of, error_of
from shared.filtered_venues import LIMIT, PERMIT, RFQ, FilteredVenue, deployed, filtered_document
from shared.token_records import DER, MAINNET_USDC, published, unsigned
from shared.world import DEPLOYMENT_TEXT, deployment


def said(venue: FilteredVenue) -> str:
    return " ".join(" ".join(deployment_lines(deployed(filtered_document(venue)))).split())


def test_people_read_which_member_is_shown_under_which_label_and_how_and_what_is_not_shown() -> None:
    lines = said(PERMIT)
    for words in (
        "Ledger: Permit: shown by message filters that Ledger has signed; the device judges the signatures",
        f'Ledger: Permit: the contract {PERMIT.contract} is called "Permit USDC transfers"',
        'Ledger: Permit: member owner is shown as "From", raw',
        'Ledger: Permit: member value is shown as "Amount allowance", an amount of the token that is the contract',
        "Ledger: Permit: member nonce is NOT SHOWN by the Ledger",
        'Ledger: Permit: member deadline is shown as "Approval expire", a date and time in UTC',
        "Ledger: Permit: the domain is NOT SHOWN by the Ledger, but for the network's name; Raw messages must be off for it",
    ):
        assert words in lines
    lines = said(LIMIT)
    assert 'member makingAmount is shown as "Send", an amount of the token makerAsset' in lines
    assert "member makerAsset is NOT SHOWN by the Ledger itself: its ticker stands beside the amount" in lines


@pytest.mark.parametrize("metadata", [{}, {"usdc": "0x"}, {"messages": {}}, {"messages": []}])
def test_what_a_ledger_is_told_is_something(metadata: Any) -> None:
    assert check_of(read_deployment, filtered_document(PERMIT) | {"device_metadata": metadata}) == "DOC-FIELD"


Change = Callable[[dict[str, Any]], object]
FORMS: dict[str, Change] = {
    "another member": lambda s: s.update(more=1),
    "no fields": lambda s: s.update(fields=[]),
    "too many": lambda s: s.update(fields=[{**s["fields"][0], "path": f"m{n}"} for n in range(51)]),
    "a chain in words": lambda s: s.update(chain_id="1"),
    "a contract in capitals": lambda s: s.update(contract=s["contract"].upper().replace("0X", "0x")),
    "a label with a line": lambda s: s.update(label="Permit\nnothing"),
    "a label with a quotation mark": lambda s: s.update(label='a" is b'),
    "a label of 61": lambda s: s["fields"][0].update(label="x" * 61),
    "a label that ends in a space": lambda s: s["fields"][0].update(label="From "),
    "a signature that is none": lambda s: s.update(signature="00" * 8),
    "a signature too long": lambda s: s.update(signature="30" + "47" + "00" * 71),
    "an unknown format": lambda s: s["fields"][0].update(format="calldata"),
    "a raw one with a place": lambda s: s["fields"][0].update(token=0),
    "an amount without a place": lambda s: s["fields"][2].pop("token"),
    "a place that there is not": lambda s: s["fields"][2].update(token=5),
    "a token at the contract": lambda s: s["fields"][0].update(format="token", token=255),
    "an amount without its token": lambda s: s["fields"][2].update(token=0),
    "a token without its amount": lambda s: s["fields"][0].update(format="token", token=0),
    "a member twice": lambda s: s["fields"].append(s["fields"][0]),
    "a path of a list": lambda s: s["fields"][0].update(path="owner.[]"),
}  # fmt: skip


@pytest.mark.parametrize("change", FORMS.values(), ids=FORMS)
def test_another_form_is_refused(change: Change) -> None:
    document = filtered_document(PERMIT)
    change(document["device_metadata"]["messages"]["Permit"])
    error = error_of(DocumentError, read_deployment, document)
    assert (error.check, error.where[:31]) == ("DOC-FIELD", "device_metadata.messages.Permit")


def _first(venue: FilteredVenue, **members: Any) -> Change:
    return lambda d: d["device_metadata"]["messages"][venue.struct]["fields"][0].update(members)


OTHERS: dict[str, tuple[FilteredVenue, Change, str]] = {
    "another chain": (PERMIT, lambda d: _set(d).update(chain_id=10), "filters for another chain"),
    "another contract": (PERMIT, lambda d: _set(d).update(contract=RFQ.contract.lower()), "filters for another contract"),
    "another schema": (PERMIT, lambda d: _set(d).update(schema_hash=RFQ.key.split(":")[2]), "filters for other types"),
    "a struct that is not signed": (
        PERMIT, lambda d: d["device_metadata"].update(messages={"Permit3": _set(d)}), "a struct that is not signed here",
    ),
    "a member that is not there": (PERMIT, _first(PERMIT, path="holder"), "a filter for a member that is not there"),
    "an address as a date": (PERMIT, _first(PERMIT, format="datetime"), "not shown as datetime"),
    "a number as a token": (LIMIT, lambda d: _number_as_token(_set(d, "Order")), "not shown as token"),
    "no record of the token": (PERMIT, lambda d: d["device_metadata"].pop("usdc"), "of which the Ledger is not told"),
    "places in another order": (LIMIT, lambda d: _turned(_set(d, "Order")), "tokens in another order than their places"),
    "another domain": (PERMIT, lambda d: d["signed"]["structs"]["Permit"].update(domain="referral"), "another contract"),
}  # fmt: skip


def _set(document: dict[str, Any], struct: str = "Permit") -> dict[str, Any]:
    found: dict[str, Any] = document["device_metadata"]["messages"][struct]
    return found


def _number_as_token(entry: dict[str, Any]) -> None:
    next(each for each in entry["fields"] if each["path"] == "makerAsset")["path"] = "salt"


def _turned(entry: dict[str, Any]) -> None:
    for each in entry["fields"]:
        if "token" in each:
            each["token"] = 1 - each["token"]


@pytest.mark.parametrize(("venue", "change", "what"), OTHERS.values(), ids=OTHERS)
def test_filters_of_something_else_are_refused_by_both_halves(venue: FilteredVenue, change: Change, what: str) -> None:
    document = filtered_document(venue)
    change(document)
    error = error_of(DocumentError, deployed, document)
    assert (error.check, what in str(error)) == ("DOC-DEPLOYMENT", True)


# ---- A token's signed record: its form, and that it is of the token which the deployment pins -----------------------


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
    ],
    ids=["address", "chain", "decimals", "ticker"],
)
def test_a_record_of_another_token_is_refused(record: bytes) -> None:
    error = error_of(DocumentError, pinned, record)
    assert (error.check, error.where) == ("DOC-DEPLOYMENT", "device_metadata.usdc")


@pytest.mark.parametrize(
    "record",
    [
        b"",
        RIGHT[:-1],
        RIGHT[: -len(DER)],
        unsigned(VENUE_USDC, VENUE_CHAIN, ticker=b""),
        unsigned(VENUE_USDC, VENUE_CHAIN, ticker="USDС".encode()),
        unsigned(VENUE_USDC, VENUE_CHAIN, ticker=b"U" * 51),
        unsigned(VENUE_USDC, VENUE_CHAIN, signature=b"\x31" + DER[1:]),
        unsigned(VENUE_USDC, VENUE_CHAIN, signature=bytes.fromhex("3006020001020101")),
        unsigned(VENUE_USDC, VENUE_CHAIN, signature=bytes((0x30, 250)) + bytes(250)),
    ],
)
def test_what_is_no_record_is_refused(record: bytes) -> None:
    assert check_of(read_token_metadata, record) == "DOC-FIELD"
