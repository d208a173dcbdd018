"""What a person can give to ``resolve``: an id, a transaction, a search, a note. Each is verified, or changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from airlock_online.clients.http_messages import is_hash
from airlock_online.delivery.chain_evidence import confirmed_block, require_chain
from airlock_online.delivery.chain_search import search as search_blocks
from airlock_online.delivery.chain_search import settle_by_transaction
from airlock_online.delivery.routes.context import DeliveryContext
from airlock_online.delivery.routes.registration import transaction_of
from airlock_online.journal.order_states import OPEN
from airlock_online.journal.schema import Record, Submission
from airlock_shared.catalogue.services import OF_TRANSACTIONS
from airlock_shared.cli.console import rows, say
from airlock_shared.errors import UsageError
from airlock_shared.text.safe import safe

if TYPE_CHECKING:
    from airlock_online.cli.delivery_context import Desk
    from airlock_online.clients.rpc import ChainBlock

_NOTE_AT_MOST, _NAME_AT_MOST = 500, 80


def take(ways: Mapping[str, Any], by: str, known: Submission, desk: Desk, context: DeliveryContext) -> None:
    """Take what was given for one submission: ``tracking_id``, ``transaction``, ``search``, and a ``note`` with its author.

    Raises ``UsageError`` for one that has ended and for a wrong form, ``ServiceError`` for what fails to verify.
    """
    record = known.record
    if known.state not in OPEN:
        raise UsageError(f"{record.digest} is {known.state.value}", do="only open submissions are resolved so")
    if record.route in OF_TRANSACTIONS and ways.keys() - {"note"}:
        raise UsageError("a transaction is known by its own hash", do="follow it: airlock-online follow")

    def tell(text: str) -> None:
        for line in rows(f"  {safe(record.step)}: ", text):
            say(line)

    if "tracking_id" in ways:
        if known.tracking_id:
            raise UsageError(
                f"it has the tracking id {safe(known.tracking_id)} already", do="follow it: airlock-online follow"
            )
        block = _block(record, desk, context)
        told = transaction_of(record, ways["tracking_id"], context)
        tell(settle_by_transaction(record, told, block, context))
        desk.journal.name(record.digest, ways["tracking_id"])
    if "transaction" in ways:
        if not is_hash(ways["transaction"]):
            raise UsageError("that is no transaction hash", do="give 0x and 64 hex digits")
        block = _block(record, desk, context)
        tell(settle_by_transaction(record, ways["transaction"].lower(), block, context))
    if "search" in ways:
        tell(search_blocks(record, known.created_ms, _block(record, desk, context), context))
    if "note" in ways:
        for name, value, most in (("note", ways["note"], _NOTE_AT_MOST), ("name", by, _NAME_AT_MOST)):
            if not value.strip() or len(value) > most or not value.isprintable():
                raise UsageError(f"the {name} is empty, not printable or longer than {most} letters", do="correct it")
        desk.journal.note(record.digest, ways["note"], by)
        tell("noted; its state stays as it is, and `follow` without DIGEST waits for it no more")


def _block(record: Record, desk: Desk, context: DeliveryContext) -> ChainBlock:
    """Return the confirmed block at which a node of one's own verifies it. Raises ``UsageError`` without a node."""
    if desk.node is None:
        raise UsageError(
            "that is verified by a node of your own, and none is configured",
            do="give one as [rpc] url in config.toml or in AIRLOCK_RPC",
        )
    require_chain(desk.node, record)
    return confirmed_block(desk.node, context)
