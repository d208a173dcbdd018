"""The pages on which a Ledger shows a transaction, derived from its fields; for the review, and for the software Ledger.

Wording as recorded from the app (``tests/vectors/ledger``).
"""

from __future__ import annotations

from airlock_offline.ledger.models import screen_of
from airlock_offline.ledger.typed_data_screens import Frame, Page, Review, ScreenField, review_pages
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.records import NamedTuple
from airlock_shared.units import NATIVE, to_human

NETWORKS = {1: "Ethereum", 8453: "Base", 84532: "Base Sepolia"}
APPROVE = bytes.fromhex("095ea7b3")  # ERC-20 approve(address,uint256)

PLAIN = Review(
    Frame(("Review transaction",), ("Sign transaction",)),
    Frame(("Review transaction",), ("Sign transaction?",)),
    blind=False,
)
BLIND = Review(
    Frame(("Review transaction",), ("Accept risk and ", "sign transaction")),
    Frame(("Review transaction",), ("Accept risk and sign ", "transaction?")),
)
APPROVAL = Review(
    Frame(("Review transaction to ", "approve ERC20 token"), ("Accept risk and ", "sign transaction")),
    Frame(
        ("Review transaction to ", "approve ERC20 token"),
        ("Accept risk and sign ", "transaction to approve ", "ERC20 token?"),
    ),
)


class ShownTransaction(NamedTuple):
    """What decides the pages: who sends what where, fees in wei, and the 32-byte hash that is signed."""

    sender: str
    chain_id: int
    to: bytes
    value_wei: int
    fee_wei: int
    data: bytes
    digest: bytes


def amount(wei: int, chain_id: int) -> str:
    """Return an amount as the device shows it; the unit of an unknown network is ``???``."""
    return f"{to_human(wei, NATIVE)} {'ETH' if chain_id in NETWORKS else '???'}"


def network(chain_id: int) -> str:
    """Return a network's name as the device shows it: its number when it is unknown."""
    return NETWORKS.get(chain_id, str(chain_id))


def transaction_review(shown: ShownTransaction, model: str) -> tuple[Review, list[ScreenField]]:
    """Return the frame and the fields with which a transaction is shown."""
    networks = [ScreenField("Network", network(shown.chain_id))] if shown.chain_id != 1 else []
    fees = ScreenField("Max fees", amount(shown.fee_wei, shown.chain_id))
    if shown.data.startswith(APPROVE):
        return APPROVAL, [ScreenField("From", shown.sender), *networks, fees]
    amounts = [ScreenField("Amount", amount(shown.value_wei, shown.chain_id))]
    fields = [
        ScreenField("From", shown.sender),
        *(amounts if shown.value_wei or not shown.data else []),
        ScreenField("To", checksum_address(shown.to)),
        fees,
        *networks,
    ]
    if not shown.data:
        return PLAIN, fields
    title = screen_of(model).wording.transaction_hash
    return BLIND, [*fields, ScreenField(title, "0x" + shown.digest.hex())]


def transaction_pages(shown: ShownTransaction, model: str) -> list[Page]:
    """Return the pages for a transaction, up to the one that signs."""
    return review_pages(*transaction_review(shown, model), model)
