"""A venue with Ledger's message filters, by the installed commands: fetched, pinned in words, reviewed, signed."""

from __future__ import annotations

from pathlib import Path

from airlock_shared.ethereum.typed_document import read_typed_data
from e2e.conftest import Ledger, ledger_fixture
from e2e.filtered_signing import SIGNER, FilteredDesk
from shared.filtered_venues import PERMIT

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
