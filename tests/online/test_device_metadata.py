"""``deployment fetch --device-metadata``: the record of the pinned token, out of a file as Ledger publishes them."""

import base64
import json
from typing import Any

import pytest

from airlock_online.preparing.device_metadata import add_device_metadata
from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.errors import UsageError
from commands import FinishedCommand
from online.online_command import OnlineCommand
from shared.filtered_venues import (
    PERMIT,
    RFQ,
    SETS,
    VENUES,
    FilteredVenue,
    changed_set,
    filtered_document,
    unfiltered_document,
)
from shared.token_records import PUBLISHED, published, unsigned


def record_of(machine: OnlineCommand) -> bytes:
    """Return a record of the rehearsal's USDC, which Ledger has not signed."""
    pinned = parse_deployment((machine.folder / "deployment.json").read_bytes())
    return unsigned(pinned.contracts["usdc"], pinned.chain_id)


def list_of(*records: bytes) -> bytes:
    blob = b"".join(len(record).to_bytes(4, "big") + record for record in records)
    return json.dumps(base64.b64encode(blob).decode()).encode()


def fetch(machine: OnlineCommand, content: bytes) -> FinishedCommand:
    (machine.folder / "records.json").write_bytes(content)
    words = ("deployment", "fetch", "--name", "rehearsal", "--builder", machine.services.builder_url)
    return machine(*words, "--device-metadata", machine.folder / "records.json", "-o", machine.folder / "told.json")


def test_the_record_of_the_pinned_token_is_found_among_others_and_pinned(machine: OnlineCommand) -> None:
    record = record_of(machine)
    ended = fetch(machine, list_of(*published(), record, published()[0]))
    assert ended.code == 0, ended.err
    told = parse_deployment((machine.folder / "told.json").read_bytes())
    assert told.token is not None
    assert told.token.record == record
    assert "a record that Ledger has signed" in ended.err + ended.out
    (machine.folder / "told.json").unlink()
    ended = fetch(machine, json.dumps("0x" + record.hex()).encode())
    assert ended.code == 0, ended.err


@pytest.mark.parametrize("ticker", [b"USDT", b"usdc"])
def test_a_record_that_calls_the_pinned_token_otherwise_is_refused(machine: OnlineCommand, ticker: bytes) -> None:
    record = record_of(machine)
    ended = fetch(machine, list_of(bytes((4,)) + ticker + record[5:]))
    assert (ended.code, "DOC-DEPLOYMENT" in ended.err, (machine.folder / "told.json").exists()) == (4, True, False)


@pytest.mark.parametrize(
    "content", [b"", b"5", b'"0x00"', b"[" * 100_000, list_of(b"\x04USDC"), list_of(published()[0])[:-6] + b'"']
)
def test_what_is_no_file_of_records_is_refused_with_where_to_get_one(machine: OnlineCommand, content: bytes) -> None:
    ended = fetch(machine, content)
    assert ended.code == 2
    assert "erc20-signatures.json" in ended.err
    assert not (machine.folder / "told.json").exists()


def test_a_deployment_without_the_token_needs_no_record() -> None:
    with pytest.raises(UsageError, match="pins no USDC contract"):
        add_device_metadata({"contracts": {}, "chain_id": 1}, PUBLISHED)


def test_a_file_without_the_pinned_contract_is_said_to_have_none_and_nothing_is_written(machine: OnlineCommand) -> None:
    none = "has no message filters for any struct of this deployment"
    for content, told in ((SETS, none), (b"{}", none), (PUBLISHED, "no record of 0x")):
        ended = fetch(machine, content)
        assert (ended.code, (machine.folder / "told.json").exists()) == (2, False)
        assert told in " ".join(ended.err.split())


def fetched(venue: FilteredVenue, sets: dict[str, Any]) -> dict[str, Any]:
    return add_device_metadata(unfiltered_document(venue), json.dumps(sets).encode(), PUBLISHED)


@pytest.mark.parametrize("venue", VENUES.values(), ids=VENUES)
def test_the_published_set_of_a_venues_struct_is_found_among_others_and_pinned_whole(venue: FilteredVenue) -> None:
    assert fetched(venue, json.loads(SETS)) == filtered_document(venue)


def test_a_set_of_the_deployment_s_own_key_alone_is_found_in_whatever_order() -> None:
    document = unfiltered_document(PERMIT)
    assert add_device_metadata(document, PUBLISHED, SETS) == add_device_metadata(document, SETS, PUBLISHED)
    others = {key: entry for key, entry in json.loads(SETS).items() if key != PERMIT.key}
    with pytest.raises(UsageError, match="no message filters for any struct of this deployment"):
        fetched(PERMIT, others)
    chain, contract, schema = PERMIT.key.split(":")
    for key in (
        f"10:{contract}:{schema}",
        f"{chain}:{RFQ.contract.lower()}:{schema}",
        f"{chain}:{contract}:{schema[:-1]}0",
    ):
        with pytest.raises(UsageError, match="no message filters"):
            fetched(PERMIT, {key: PERMIT.published})


@pytest.mark.parametrize(
    ("place", "new"),
    [
        (("fields",), {}), (("fields",), [1]), (("fields", 0, "format"), 1), (("fields", 0, "coin_ref"), "0"),
        (("fields", 0, "more"), 1), (("contractName",), "Permit"), (("contractName", "label"), 1), (("more",), 1),
    ],
)  # fmt: skip
def test_what_is_no_set_of_ledger_s_is_refused_with_where_to_get_one(place: tuple[Any, ...], new: Any) -> None:
    earlier = [{name: field[name] for name in ("label", "path", "signature")} for field in PERMIT.published["fields"]]
    for change in ((place, new), (("fields",), earlier)):
        with pytest.raises(UsageError) as caught:
            fetched(PERMIT, {PERMIT.key: changed_set(PERMIT, change)})
        assert "eip712_v2.json" in str(caught.value.do)
