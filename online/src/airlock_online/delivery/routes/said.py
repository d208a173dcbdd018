"""What a status does whose word a services file explains: less than one that Airlock knows by itself.

The file says what the venue means; it proves nothing. ``confirmed`` counts with a transaction and a block in the same reply,
without a sign of failure beside it, and never against the operator's own node. ``reverted`` and ``failed`` end nothing: only
the chain shows that the signature cannot be executed any more (rule C10), and until then nobody is told to sign another.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airlock_online.clients.http_messages import value_at
from airlock_online.clients.reply_values import StatusWord
from airlock_online.delivery.routes.context import DeliveryContext
from airlock_online.delivery.routes.polling import PollAnswer
from airlock_online.speech.meanings import CONFIRMED, FAILED, REVERTED, may_mean, plain
from airlock_shared.errors import ServiceError

_SAY_WHY = ("error", "errors", "errorMessage", "decodedError", "revertReason", "revertData", "failureReason")
_SAY_NO = (("success", False), ("ok", False), ("reverted", True), ("failed", True))


def by_word_alone(status: StatusWord, *, names: bool) -> PollAnswer | None:
    """Return the answer of a word that ends nothing: of a reply that ``names`` nothing, or that explains a failure.

    What was asked for stood in the address, and the reply came from there: that is the service's word, and no proof. None
    for every other.
    """
    if not names:
        return PollAnswer(f"by the service's word, which names nothing: {status.told}", False, odd=True)
    if not status.word or status.meaning not in (REVERTED, FAILED):
        return None
    return PollAnswer(
        f"{status.told}. That is the service's word; the chain or the deadline ends it", False, enough=True
    )


def unproven(
    status: StatusWord, data: Mapping[str, Any], block: int | None, tx_hash: str, context: DeliveryContext, place: str
) -> str:
    """Return why an explained word for ``confirmed`` does not count; empty when it does, or is no explained word.

    ``place`` is where the reply has the transaction: the table in which it stands may be its receipt.
    """
    if not status.word or status.meaning != CONFIRMED:
        return ""
    if block is None:
        return f"{status.told}; without a block beside it, that is no proof"
    against = signs_of_failure(data, place)
    if against:
        return f"{status.told}; but its member {against[0]} speaks of a failure"
    return _against_the_node(status, tx_hash, context)


def signs_of_failure(data: Mapping[str, Any], place: str) -> list[str]:
    """Return the members of a reply, and of the receipt within it, that speak of a failure."""
    receipt = value_at(data, place.rpartition(".")[0]) if "." in place else None
    tables = [data, receipt] if type(receipt) is dict else [data]
    against = [name for table in tables for name in _SAY_WHY if value_at(table, name)]
    against += [name for table in tables for name, no in _SAY_NO if table.get(name) is no]
    if type(receipt) is dict and _is_no(receipt.get("status")):
        against.append("status")
    return against


def _is_no(status: object) -> bool:
    """Tell whether a receipt's status says that it was reverted, as a number, a flag or a word."""
    if type(status) is str and plain(status) not in ("0", "0x0", "00"):
        return may_mean(status) <= {REVERTED, FAILED}
    return status in (0, "0", "0x0", "0x00")


def _against_the_node(status: StatusWord, tx_hash: str, context: DeliveryContext) -> str:
    if context.node is None:
        return ""
    try:
        receipt = context.node.receipt(tx_hash)
    except ServiceError as error:
        return f"{status.told}; the operator's node cannot be asked: {error.what}"
    if receipt is None:
        return f"{status.told}; the operator's node has its transaction in no block"
    return "" if receipt.ok else f"{status.told}; at the operator's node its transaction was reverted"


def as_said(status: StatusWord) -> dict[str, str]:
    """Return the venue's own word for an event of the journal; nothing for a word that Airlock knows."""
    return {"said": status.word} if status.word else {}
