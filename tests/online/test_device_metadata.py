"""``deployment fetch --device-metadata``: the record of the pinned token, out of a file as Ledger publishes them."""

import base64
import json

import pytest

from airlock_online.preparing.device_metadata import add_device_metadata
from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.errors import UsageError
from commands import FinishedCommand
from online.online_command import OnlineCommand
from shared.filtered_venues import SETS
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
