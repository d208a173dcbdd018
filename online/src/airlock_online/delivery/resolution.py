"""What the chain says of a submission whose end is not known: reads alone, and only what proves something settles it.

An intent's nonce that is used proves that the intent was executed or, of a market order, registered; one that is unused
after the deadline proves that it never will be. A transaction is settled by its receipt, or by another one that has taken
its nonce. Everything else is told and decides nothing (rule C10).
"""

from __future__ import annotations

from airlock_online.clients.rpc import RpcClient
from airlock_online.delivery.routes import rpc
from airlock_online.delivery.routes.context import DeliveryContext, Found
from airlock_online.delivery.routes.polling import POLL_S
from airlock_online.delivery.routes.tracker import Tracker
from airlock_online.journal.order_states import OrderState
from airlock_online.journal.schema import Record, Submission
from airlock_shared.documents.services import OF_TRANSACTIONS, ROUTES
from airlock_shared.errors import ServiceError
from airlock_shared.text.safe import safe
from airlock_shared.units import utc_text

EXPIRY_MARGIN_MS = 120_000
"""After a deadline, for how long the chain's clock may still be before ours: only then is an unused nonce proof."""

REPLACED = "REPLACED"
USED = "used"
"""The answer of the chain that an intent's nonce is used."""


def resolve(known: Submission, context: DeliveryContext) -> str:
    """Read what the chain says of an open submission, settle what that settles, and return it for a person."""
    if known.record.route in OF_TRANSACTIONS:
        return _transaction(known, context)
    return _intent(known, context)


# ---- intents -------------------------------------------------------------------------------------------------------


def _intent(known: Submission, context: DeliveryContext) -> str:
    record, digest = known.record, known.record.digest
    now_ms = context.clock_ms()  # the clock first: an unused nonce proves something only when read after the deadline
    used = _nonce_used(record, context)
    if used is None:
        return ""
    if used and ROUTES[record.route].nonce_proves:
        found = "its nonce is used on the chain"
        context.journal.move(digest, OrderState.CONFIRMED, note=found)
        return found
    if used:
        return _used_by_an_order(digest, context)
    if record.deadline_ms is None:
        return "its nonce is unused, and it has no deadline: it can be executed until the nonce is spent"
    if now_ms <= record.deadline_ms + EXPIRY_MARGIN_MS:
        return f"its nonce is unused; it can be executed until {utc_text(record.deadline_ms)}"
    found = f"its deadline was {utc_text(record.deadline_ms)}"
    context.journal.move(digest, OrderState.EXPIRED_UNUSED, note=found)
    return found


def _nonce_used(record: Record, context: DeliveryContext) -> bool | None:
    """Tell whether the nonce is used, by the signer or by the trader: contracts differ in whose bitmap it is."""
    if context.nonce_used is None:
        return None
    accounts = {account.lower(): account for account in (record.signer, record.trader)}.values()
    answers: list[bool | None] = []
    for account in accounts:
        question = f"the chain: nonce {record.nonce} of {account}"
        try:
            answers.append(context.nonce_used(record.chain_id, record.contract, account, int(record.nonce)))
        except ServiceError as error:
            context.on_asked(question, error.what)
            context.on_notice(f"the nonce cannot be read: {error.what}")
            return None
        context.on_asked(question, {True: USED, False: "unused", None: "not known"}[answers[-1]])
    return True if True in answers else None if None in answers else False


def _used_by_an_order(digest: str, context: DeliveryContext) -> str:
    """Say what a used nonce and the positions tell of a market order: it was registered, and perhaps declined."""
    used = "its nonce is used on the chain, so the order was executed or declined"
    seen = _look(digest, context)
    if seen and all(found.kept is True for found in seen):
        note = f"{used}; {_in_words(seen)}: reads suggest that it was filled"
        context.journal.move(digest, OrderState.FILLED, note=note)
        return note
    told = f"; the builder now says of {_in_words(seen)}" if seen else ""
    return f"{used}: read the positions{told}"


def _look(digest: str, context: DeliveryContext) -> list[Found]:
    seen = list(context.look(digest)) if context.look else []
    for found in seen:
        context.on_asked(f"the builder: {found.what}", found.found)
    return seen


def _in_words(seen: list[Found]) -> str:
    return "; ".join(f"{found.what}: {found.found}" for found in seen)


# ---- transactions --------------------------------------------------------------------------------------------------


def _transaction(known: Submission, context: DeliveryContext) -> str:
    if context.node is None:
        return "without a node of your own ([rpc] url), its receipt and the account's nonce cannot be read"
    try:
        return _by_node(known, context.node, context)
    except ServiceError as error:
        context.on_notice(f"the chain cannot be read: {error.what}")
        return ""


def _by_node(known: Submission, node: RpcClient, context: DeliveryContext) -> str:
    record = known.record
    for turn in range(2):  # twice, because a node may answer the two reads from different blocks
        if turn:
            context.sleep(POLL_S)
        count = node.transaction_count(record.signer, block="latest")  # before the receipt: what came between is in it
        receipt = node.receipt(record.transaction_hash)
        context.on_asked(f"{node.name}: transactions of {record.signer}", f"{count}; this one is number {record.nonce}")
        if receipt is not None:
            depth = max(0, node.block_number() - receipt.block_number + 1)
            told = f"it is in block {receipt.block_number}, with {depth} of {context.confirmations} confirmations"
            context.on_asked(f"{node.name}: the receipt of {record.transaction_hash}", told)
            if depth >= context.confirmations:
                rpc.take(receipt, depth, record.primary_type, Tracker(record.digest, context))
            return told
        if count <= int(record.nonce):
            return f"no block has it, and the account's nonce {record.nonce} is unused: it can still be executed"
    found = f"another transaction of {safe(record.signer)} has taken its nonce {record.nonce}"
    context.journal.move(record.digest, OrderState.FAILED, note=found, code=REPLACED)
    return found
