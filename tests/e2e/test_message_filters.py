"""A venue with Ledger's message filters, by the installed commands: fetched, pinned in words, reviewed, signed."""

from __future__ import annotations

import json
from pathlib import Path

from airlock_shared.ethereum.typed_document import read_typed_data
from e2e.conftest import Ledger, ledger_fixture
from e2e.filtered_signing import SIGNER, FilteredDesk
from shared.filtered_venues import PERMIT
from shared.make_payloads import fingerprint
from shared.world import to_bytes

ledger = ledger_fixture("--no-raw-messages")  # as filters need it


def one_line(text: str) -> str:
    return " ".join(text.split())


def test_people_read_the_labels_before_they_pin_and_before_they_sign_and_the_signature_says_how_it_was_shown(
    tmp_path: Path, ledger: Ledger
) -> None:
    desk = FilteredDesk(tmp_path, PERMIT)
    pinned = one_line(desk.pin(ledger.port).err)
    assert 'Ledger: Permit: member spender is shown as "Approve to spender", raw' in pinned
    assert "Ledger: Permit: member nonce is NOT SHOWN by the Ledger" in pinned
    ended = desk.sign(ledger.port).done()
    review = one_line(ended.err)
    for words in (
        "Raw messages must be off",
        "Contract | Permit USDC | transfers",
        "Amount allowance | 2500 USDC",
        "Approval expire | 2026-09-21 | 02:13:20 PM UTC",
        '"Amount allowance" on the Ledger is value.',
        "NOTE: The Ledger does NOT SHOW nonce: read it here.",
        "The Ledger does NOT SHOW the domain",
    ):
        assert words in review, words
    assert "Raw messages must be on" not in review
    assert "Blind signing ahead" not in review
    signed = desk.signed()
    _, hashes = read_typed_data(desk.document)
    assert (signed["shown"], signed["signer"], signed["digest"]) == ("filters", SIGNER, "0x" + hashes.digest.hex())


def test_a_device_that_refuses_a_filter_ends_it_and_nothing_falls_back(tmp_path: Path, ledger: Ledger) -> None:
    desk = FilteredDesk(tmp_path, PERMIT)
    document = json.loads((tmp_path / "deployment.json").read_text())
    document["device_metadata"]["messages"]["Permit"]["fields"][0]["label"] = "Owner"
    (tmp_path / "deployment.json").write_bytes(to_bytes(document))
    requests = json.loads((tmp_path / "requests.json").read_text())
    requests["header"]["deployment"] = fingerprint(document)
    (tmp_path / "requests.json").write_bytes(to_bytes(requests))
    desk.pin(ledger.port)
    ended = desk.sign(ledger.port)
    assert (ended.code, (tmp_path / "signatures.json").exists()) == (5, False)
    assert "does not accept a message filter for Permit" in one_line(ended.err)
    entries = [json.loads(line) for line in (tmp_path / "home/transcript.jsonl").read_text().splitlines()]
    assert [entry["event"] for entry in entries if entry["event"] in ("signed", "not-signed")] == ["not-signed"]
