"""What a person can give to ``resolve``: an id, a transaction, a search, a note. Each is verified, or changes nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from airlock_online.delivery.chain_evidence import confirmed_block, require_chain
from airlock_online.delivery.chain_search import search as search_blocks
from airlock_online.delivery.chain_search import settle_by_transaction
from airlock_online.delivery.routes.context import DeliveryContext
from airlock_online.delivery.routes.registration import transaction_of
from airlock_online.journal.order_states import OPEN
from airlock_online.journal.schema import Submission
from airlock_shared.catalogue.services import OF_TRANSACTIONS
from airlock_shared.cli.console import rows, say
from airlock_shared.errors import UsageError
from airlock_shared.text.safe import safe

if TYPE_CHECKING:
    from airlock_online.cli.delivery_context import Desk
    from airlock_online.clients.rpc import RpcClient

_HASH = re.compile(r"0x[0-9a-fA-F]{64}", re.ASCII)
_NOTE_AT_MOST, _NAME_AT_MOST = 500, 80


class Ways:
    """The ways out for one submission that has not ended. Raises ``UsageError`` for one that has."""

    def __init__(self, desk: Desk, known: Submission, context: DeliveryContext) -> None:
        if known.state not in OPEN:
            raise UsageError(
                f"{known.record.digest} is {known.state.value}", do="only open submissions are resolved so"
            )
        self._desk, self._known, self._context = desk, known, context

    def take(
        self, *, tracking_id: str | None, transaction: str | None, search: bool, note: str | None, by: str | None
    ) -> None:
        """Take what was given. Raises ``UsageError`` for a wrong form, ``ServiceError`` for what fails to verify."""
        record = self._known.record
        if record.route in OF_TRANSACTIONS and (tracking_id or transaction or search):
            raise UsageError("a transaction is known by its own hash", do="follow it: airlock-online follow")
        if tracking_id is not None:
            self._track(tracking_id)
        if transaction is not None:
            self._verify(transaction)
        if search:
            context = self._checked()
            found = search_blocks(record, self._known.created_ms, confirmed_block(self._node(), context), context)
            self._tell(found)
        if note is not None and by is not None:
            self._note(note, by)

    def _track(self, tracking_id: str) -> None:
        """Take the id that a service is said to have given: the transaction that it tells of must carry this intent."""
        known = self._known.tracking_id
        if known:
            raise UsageError(f"it has the tracking id {safe(known)} already", do="follow it: airlock-online follow")
        context = self._checked()
        tx_hash = transaction_of(self._known.record, tracking_id, context)
        self._tell(settle_by_transaction(self._known.record, tx_hash, confirmed_block(self._node(), context), context))
        self._desk.journal.name(self._known.record.digest, tracking_id)

    def _verify(self, transaction: str) -> None:
        if not _HASH.fullmatch(transaction):
            raise UsageError("that is no transaction hash", do="give 0x and 64 hex digits")
        context = self._checked()
        block = confirmed_block(self._node(), context)
        self._tell(settle_by_transaction(self._known.record, transaction.lower(), block, context))

    def _note(self, text: str, by: str) -> None:
        for name, value, most in (("note", text, _NOTE_AT_MOST), ("name", by, _NAME_AT_MOST)):
            if not value.strip() or len(value) > most or not value.isprintable():
                raise UsageError(f"the {name} is empty, not printable or longer than {most} letters", do="correct it")
        self._desk.journal.note(self._known.record.digest, text, by)
        self._tell("noted; its state stays as it is, and `follow` without DIGEST waits for it no more")

    def _checked(self) -> DeliveryContext:
        require_chain(self._node(), self._known.record)
        return self._context

    def _node(self) -> RpcClient:
        if self._desk.node is None:
            raise UsageError(
                "that is verified by a node of your own, and none is configured",
                do="give one as [rpc] url in config.toml or in AIRLOCK_RPC",
            )
        return self._desk.node

    def _tell(self, text: str) -> None:
        for line in rows(f"  {safe(self._known.record.step)}: ", text):
            say(line)
