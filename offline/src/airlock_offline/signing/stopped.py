"""When signing stops inside an item: what the error is, and what the signatures say of the items that it left behind."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

from airlock_offline.clock import now_ms
from airlock_offline.home import OfflineHome
from airlock_offline.signing.sign_item import ItemResult
from airlock_shared.documents.requests import Request
from airlock_shared.documents.signatures import Signed
from airlock_shared.errors import AirlockError, ExitCode, Refusal


class ItemFault(AirlockError):
    """Something that nobody foresaw failed inside an item: it is a fault of this program, and nothing of it is signed."""

    exit_code = ExitCode.REFUSED

    def __init__(self, error: Exception, step: str) -> None:
        place = traceback.extract_tb(error.__traceback__)[-1]
        super().__init__(
            f"step {step}: fault in Airlock: {type(error).__name__}, {Path(place.filename).name} line {place.lineno}",
            do="sign nothing more of this document, and report the fault with these words and the transcript",
        )


def error_of(error: Exception, step: str) -> AirlockError:
    """Return what stopped signing at a step as an error that can be explained."""
    return error if isinstance(error, AirlockError) else ItemFault(error, step)


def left_behind(items: Sequence[Request], stopped: AirlockError, state: OfflineHome) -> Iterator[ItemResult]:
    """Record and yield, as refused, the item that stopped signing and those after it: a document answers every item."""
    why = stopped.check if isinstance(stopped, Refusal) else type(stopped).__name__
    for item in items:
        state.transcript.record("refused", {"step": item.step, "checks": [], "why": why}, now_ms())
        yield ItemResult(Signed(item.step, "refused", why), stopped.exit_code)
        why = "not begun"
