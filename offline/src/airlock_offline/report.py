"""The Ledger's pages for a report: computed from the requests as they were when they were signed."""

from __future__ import annotations

from airlock_offline.ceremony import typed_data_of
from airlock_offline.ledger.screens import Page, coming_screens
from airlock_offline.ledger.transaction_screens import Shown as Call
from airlock_offline.ledger.transaction_screens import transaction_pages
from airlock_shared.addresses import checksum_address
from airlock_shared.checks.case import Case
from airlock_shared.report.evidence import Evidence
from airlock_shared.report.judged import judge
from airlock_shared.report.match import ELSEWHERE
from airlock_shared.report.screens import Screens, Shown


def screens_of(evidence: Evidence, model: str) -> Screens:
    """Return the pages of every step that a Ledger has signed. Raises as ``judge``."""
    shown = []
    for each in judge(evidence):
        signed = each.answer.signed if each.answer else None
        if signed is not None and signed.result == "signed" and signed.shown != ELSEWHERE:
            pages = [list(page) for page in pages_of(each.case, model, by_hashes=signed.shown == "hashes")]
            shown.append(Shown(each.case.request.step, each.digest, pages))
    return Screens(model, evidence.requests.fingerprint if evidence.requests else "", tuple(shown))


def pages_of(case: Case, model: str, *, by_hashes: bool) -> list[Page]:
    """Return the pages on which a model shows an examined item, up to the one that signs."""
    payload, filled = case.request.payload, case.request.transaction
    if filled is None:
        return coming_screens(typed_data_of(case), case.hashes, model, by_hashes=by_hashes)
    to, data = bytes.fromhex(payload["to"][2:]), bytes.fromhex(payload["data"][2:])
    sender, fee_wei = checksum_address(case.step.signer.address), filled.gas * filled.maxFeePerGas
    return transaction_pages(Call(sender, payload["chainId"], to, 0, fee_wei, data, case.digest), model)
