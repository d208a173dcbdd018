"""The Ledger's pages for a report: computed from the requests as they were when they were signed."""

from __future__ import annotations

from airlock_offline.ledger.models import DEFAULT_MODEL, shown_models, words_of
from airlock_offline.signing.device_pages import pages_of
from airlock_shared.report.consistency import ELSEWHERE, models_told
from airlock_shared.report.evidence.artefacts import Evidence
from airlock_shared.report.evidence.screens import Screens, ShownPages
from airlock_shared.report.reexamined import judge


def model_of(evidence: Evidence, otherwise: str) -> str:
    """Return the Ledger's model at the last signing of these requests; ``otherwise`` when the transcript does not tell.

    Where nobody named another one either, it is the first of those that we know.
    """
    return next(
        (model for model in reversed(models_told(evidence)) if model in shown_models()), otherwise or DEFAULT_MODEL
    )


def screens_of(evidence: Evidence, model: str) -> Screens:
    """Return the pages of every step that a Ledger has signed. Raises as ``judge``."""
    shown = []
    for each in judge(evidence):
        signed, case = each.signed, each.examined.case
        if signed is not None and case is not None and signed.shown != ELSEWHERE:
            words = words_of(model, signed.app)
            pages = [list(page) for page in pages_of(case, words, by_hashes=signed.shown == "hashes")]
            shown.append(ShownPages(case.request.step, each.digest, pages))
    return Screens(model, evidence.requests.fingerprint if evidence.requests else "", tuple(shown))
