"""What a Ledger is given and needed for, and the pages on which it shows that: for the review, and for the report."""

from __future__ import annotations

from airlock_offline.ledger.ethereum_app import Need
from airlock_offline.ledger.transaction_screens import (
    ShownTransaction,
    authorization_pages,
    shown_transaction,
    transaction_pages,
)
from airlock_offline.ledger.typed_data_screens import Page, typed_data_pages
from airlock_offline.ledger.uploads import FilteredMessage
from airlock_shared.checks.intent import typed_data_of
from airlock_shared.checks.model import CallCase, Case, IntentCase


def filtered_message(case: IntentCase) -> FilteredMessage | None:
    """Return what a Ledger is told of a message that it shows by fields; None where the deployment has no filters for it."""
    deployment = case.situation.deployment
    if case.intent.name not in deployment.filters or case.step.signer.show == "hashes":
        return None
    return FilteredMessage(deployment.filters[case.intent.name], deployment.token)


def need_of(case: Case) -> Need:
    """Return what a Ledger must be and allow to sign this, and nothing beyond."""
    signer = case.step.signer
    if isinstance(case, IntentCase):
        by_hashes, filtered = signer.show == "hashes", filtered_message(case) is not None
        raw_messages = not (by_hashes or filtered)
        return Need(signer.path, signer.address, by_hashes, raw_messages, filtered)
    return Need(signer.path, signer.address, blind_signing=not case.is_authorization and _shown(case).blind)


def device_pages(case: Case, model: str, *, by_hashes: bool) -> list[Page]:
    """Return the pages of a model, up to the one that signs."""
    if isinstance(case, IntentCase):
        if filtered := filtered_message(case):
            return filtered.pages(typed_data_of(case), model)
        return typed_data_pages(typed_data_of(case), case.hashes, model, by_hashes=by_hashes)
    if case.is_authorization:
        return authorization_pages(case.request.payload, case.step.signer.address, model)
    return transaction_pages(_shown(case), model)


def _shown(case: CallCase) -> ShownTransaction:
    return shown_transaction(case.request, case.step.signer.address, case.digest, case.token_for_device)
