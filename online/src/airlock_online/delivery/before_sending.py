"""What is looked at before a first sending, beside the journal: a journal can be deleted, emptied, copied or restored.

The transcript has a mark of every sending that was begun, and the chain knows used nonces. Whoever contradicts the journal
makes the submission UNKNOWN: it is then read about, and not sent.
"""

from __future__ import annotations

from typing import Protocol

from airlock_online.clients.http_messages import NotSent
from airlock_online.delivery.chain_evidence import nonce_now, require_chain
from airlock_online.delivery.routes.context import DeliveryContext
from airlock_online.journal.schema import Record, Submission
from airlock_shared.catalogue.services import OF_TRANSACTIONS
from airlock_shared.errors import ServiceError

RESTORED = (
    "this machine's transcript has a sending of it that the journal does not know: the journal was deleted, emptied or "
    "restored"
)
USED = "its nonce is used already, so another sender may have been first; nothing was sent"


class SendingMarks(Protocol):
    """The marks of sendings in the transcript."""

    def begun(self, digest: str) -> int:
        """Return how many sendings of a digest the transcript knows; 0 when the last one was refused or never left."""

    def begin(self, record: Record, claims: int) -> None:
        """Write down, durably, that the sending with this number begins."""


def why_perhaps_sent(known: Submission, context: DeliveryContext) -> str:
    """Return why a submission that the journal calls unsent may have been sent all the same; empty when nothing says so.

    Raises ``DocumentError`` for a transcript that is not whole.
    """
    if context.marks is not None and context.marks.begun(known.record.digest) > known.claims:
        return RESTORED
    return USED if _nonce_is_used(known.record, context) else ""


def _nonce_is_used(record: Record, context: DeliveryContext) -> bool:
    """Tell whether a read of the chain that it was signed for says that the nonce is used; no answer says nothing."""
    if record.route not in OF_TRANSACTIONS:
        return nonce_now(record, context) is True
    if context.node is None:
        return False
    try:
        require_chain(context.node, record)
        return context.node.transaction_count(record.signer, block="latest") > int(record.nonce)
    except ServiceError as error:
        what = "no connection" if isinstance(error, NotSent) else error.what
        context.on_notice(f"whether the nonce is used already cannot be read before the sending: {what}")
        return False
