"""The pages on which a Ledger shows an examined item, before it is asked: for the review, and for the report."""

from __future__ import annotations

from airlock_offline.ledger.typed_data_screens import Page, coming_screens
from airlock_offline.signing.sign_item import typed_data_of
from airlock_shared.checks.case import Case, IntentCase
from airlock_shared.ethereum.addresses import checksum_address


def pages_of(case: Case, model: str, *, by_hashes: bool) -> list[Page]:
    """Return the pages of a model, up to the one that signs."""
    payload, filled = case.request.payload, case.request.transaction
    if isinstance(case, IntentCase):
        return coming_screens(typed_data_of(case), case.hashes, model, by_hashes=by_hashes)
    from airlock_offline.ledger.transaction_screens import ShownTransaction, transaction_pages

    to, data = bytes.fromhex(payload["to"][2:]), bytes.fromhex(payload["data"][2:])
    sender, fee_wei = checksum_address(case.step.signer.address), filled.gas * filled.maxFeePerGas if filled else 0
    shown = ShownTransaction(sender, payload["chainId"], to, 0, fee_wei, data, case.digest, case.told_token)
    return transaction_pages(shown, model)
