"""What the chain says of a submission whose end is not known: reads alone, and only what proves something settles it.

An intent whose nonce is unused in a confirmed block after its deadline never was executed and never will be. One whose
nonce is used can never be executed again; whether it was is not said by that, since somebody may have spent the nonce in
another way. A transaction is settled by its receipt, or by the other transaction that has taken its nonce. What a service
says of the chain is its word, and ends nothing.
"""

from __future__ import annotations

from typing import NamedTuple

from airlock_online.clients.rpc import ChainBlock, RpcClient
from airlock_online.delivery.admission import shares_nonce
from airlock_online.delivery.chain_evidence import IN_WORDS, confirmed_block, nonce_by_word, nonce_used_in, who_took
from airlock_online.delivery.chain_search import settle_spent
from airlock_online.delivery.routes import rpc
from airlock_online.delivery.routes.context import DeliveryContext
from airlock_online.delivery.routes.tracker import Tracker
from airlock_online.journal.journal import Journal
from airlock_online.journal.order_states import FINAL, OrderState
from airlock_online.journal.schema import WITH_EIP7702, Record, Submission
from airlock_online.speech.sections import OF_TRANSACTIONS
from airlock_shared.errors import ServiceError
from airlock_shared.report.facts import PROVED_STATES, proves
from airlock_shared.text.safe import safe
from airlock_shared.units import utc_text
from airlock_shared.venue.structs import CORE_API

EXPIRY_MARGIN_MS = 120_000
"""After a deadline, how long to wait before asking: a confirmed block is older than the newest one."""

REPLACED, SPENT = "REPLACED", "NONCE_SPENT"
"""The codes of what is VOIDED: another transaction took its nonce; another signature spent it."""

_NEVER_AGAIN = "so it can never be executed again; whether it was is not said by that"
_NO_PROOF = "which proves nothing: it may still be executed, until a node of your own ([rpc] url) says otherwise"


def resolve_submission(known: Submission, context: DeliveryContext) -> str:
    """Read what the chain says of an open submission, settle what that settles, and return it for a person."""
    if known.record.route in OF_TRANSACTIONS:
        return _transaction(known, context)
    return _intent(known, context)


def is_waiting(known: Submission, journal: Journal) -> bool:
    """Tell whether a trigger is stored and nothing is known of its execution, which may come at any time."""
    stored = known.record.route == CORE_API and known.state is OrderState.CONFIRMED
    return stored and not is_proved(known.record.digest, journal)


def is_by_word(known: Submission, journal: Journal) -> bool:
    """Tell whether a submission has an end that no node of ours has proved."""
    return known.state in FINAL and known.state not in PROVED_STATES and not is_proved(known.record.digest, journal)


def is_proved(digest: str, journal: Journal) -> bool:
    """Tell whether the operator's node has found on the chain what spent a nonce: an intent's execution, a receipt."""
    return any(proves(event.type, event.payload) for event in journal.events(digest))


# ---- intents -------------------------------------------------------------------------------------------------------


def _intent(known: Submission, context: DeliveryContext) -> str:
    """Settle what a confirmed block settles; where none can be read, say what the service says."""
    record, node = known.record, context.node
    if node is None:
        return _by_word(known, context)
    try:
        at = confirmed_block(node, record, context)
        used = nonce_used_in(node, record, at.number)
    except ServiceError as error:
        context.on_notice(f"the chain cannot be read: {error.what}")
        return _by_word(known, context)
    block = f"block {at.number} of {utc_text(at.time_ms)}"
    context.on_asked(f"{node.name}: nonce {record.nonce} in {block}", IN_WORDS[used])
    if used is None:
        return _by_word(known, context)
    if used:
        return _spent(record, f"the chain has its nonce as used in {block}", context, at=at)
    if record.deadline_ms is None or at.time_ms <= record.deadline_ms:
        return _unused(known, f"its nonce is unused in {block}")
    found = f"its deadline was {utc_text(record.deadline_ms)}; its nonce is unused in {block}, which is confirmed"
    found += _went_along(record)
    context.journal.move(record.digest, OrderState.EXPIRED_UNUSED, note=found)
    return found


def _unused(known: Submission, found: str) -> str:
    """Say until when an unused nonce lets it be executed; not of what a service says was: the block may be of before."""
    record = known.record
    if known.state in _EXECUTED and record.route != CORE_API:
        return ""
    if record.deadline_ms is None:
        return f"{found}, and it has no deadline: it can be executed until the nonce is spent"
    return f"{found}; it can be executed until {utc_text(record.deadline_ms)}"


def _by_word(known: Submission, context: DeliveryContext) -> str:
    """Say what the service says of the nonce: that ends nothing."""
    record, now_ms = known.record, context.clock_ms()
    used = nonce_by_word(record, context)
    if used is None:
        return ""
    if used:
        return _spent(record, "by the service's word its nonce is used", context, at=None)
    if record.deadline_ms is None or now_ms <= record.deadline_ms + EXPIRY_MARGIN_MS:
        return _unused(known, "by the service's word its nonce is unused")
    return (
        f"by the service's word its nonce is unused, and its deadline, {utc_text(record.deadline_ms)}, is over by this "
        "machine's clock. That is not final: a node of your own ([rpc] url) proves it by a confirmed block"
    )


def _spent(record: Record, found: str, context: DeliveryContext, *, at: ChainBlock | None) -> str:
    """Say what a used nonce leaves open; where another signature of the journal has spent it, this one is VOIDED."""
    told = f"{found}, {_NO_PROOF if at is None else _NEVER_AGAIN}"
    if at is not None:  # what the chain shows of this one counts before what a service said of another one
        try:
            told = f"{found}; {executed}" if (executed := settle_spent(record, at, context)) else told
        except ServiceError as error:
            context.on_notice(error.what)
        if context.journal.get(record.digest).state in FINAL:
            return told
    spender = None if is_proved(record.digest, context.journal) else _spender(record, context)
    if spender is not None:
        word = "" if is_proved(spender.digest, context.journal) else ", by the service's word"
        other = f"{spender.digest}, step {spender.step} of ceremony {spender.ceremony}, has spent it{word}"
        other += _went_along(record)
        if at is not None:
            context.journal.move(record.digest, OrderState.VOIDED, note=f"{found}: {other}", code=SPENT)
        return f"{found}: {other}"
    seen = _read_back(record.digest, context)
    return f"{told}; the builder now says of {seen}" if seen else told


def _went_along(record: Record) -> str:
    """Return what the end of an intent does not end: Airlock does not read what such a transaction does."""
    alone = not record.method.endswith(WITH_EIP7702)
    return "" if alone else "; the EIP-7702 transaction that went with it has no such end: it may still be relayed"


_EXECUTED = frozenset({OrderState.FILLED, OrderState.MARKET_DECLINED, OrderState.CONFIRMED})


def _spender(record: Record, context: DeliveryContext) -> Record | None:
    """Return the journal's other signature with this nonce that was executed; a trigger that is stored was not yet."""
    for other in context.journal.rivals(record):
        executed = other.state in _EXECUTED and other.record.route != CORE_API
        if executed and shares_nonce(record, other.record):
            return other.record
    return None


def _read_back(digest: str, context: DeliveryContext) -> str:
    seen = context.read_back(digest)
    for what, found in seen:
        context.on_asked(f"the builder: {what}", found)
    return "; ".join(f"{what}: {found}" for what, found in seen)


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
    block = confirmed_block(node, record, context)
    count = node.transaction_count(record.signer, block=block.number)
    question = f"{node.name}: transactions of {record.signer} in block {block.number}"
    context.on_asked(question, f"{count}; this one is number {record.nonce}")
    receipt = node.receipt(record.transaction_hash)
    if receipt is not None:
        told = f"it is in block {receipt.block_number}; block {block.number} is confirmed"
        context.on_asked(f"{node.name}: the receipt of {record.transaction_hash}", told)
        if receipt.block_number <= block.number:
            seq = 2 if known.state in FINAL else 1  # behind the service's word
            rpc.take_receipt(receipt, block.number, Tracker(known, context), seq)
        return told
    if count <= int(record.nonce):
        unused = f"no block has it, and the account's nonce {record.nonce} is unused in block {block.number}"
        return f"{unused}: it can still be executed"
    taker = who_took(node, record.signer, int(record.nonce), block.number)
    if taker is None or taker[0].transaction_hash == record.transaction_hash:
        return (
            f"the account's nonce {record.nonce} is used in block {block.number}; whether by this transaction or by another "
            "one cannot be read at this node"
        )
    other, number = taker
    found = (
        f"transaction {safe(other.transaction_hash)} in block {number} of {safe(record.signer)} has taken its nonce "
    )
    found += record.nonce
    context.journal.move(record.digest, OrderState.VOIDED, note=found, code=REPLACED, proved=True)
    return found


# ---- open outcomes --------------------------------------------------------------------------------------------------
# What a submission that has not ended waits for, until when, and what a person does: said from the journal alone.


class OpenOutcome(NamedTuple):
    """``until_ms`` is the moment, unix ms, after which reading alone settles it; None when nothing does."""

    what: str
    until_ms: int | None
    do: str


_FOLLOW = "Run `airlock-online follow`."
ONLY_WHEN_ENDED = "Sign a new one only after this one has ended: until then it can still be executed."


_SPENT = OpenOutcome(
    "what has spent its nonce: its own execution, or something else; it can never be executed again",
    None,
    "Look for its transaction: `airlock-online resolve DIGEST --search`, or give what the venue or a block explorer tells: "
    "`--transaction HASH`, `--tracking-id ID`. Sign nothing in its place before you know: it may have been done.",
)


def open_outcome(known: Submission, *, nonce_used: bool) -> OpenOutcome:
    """Return what a submission waits for; ``nonce_used`` is what the chain has just said of an intent's nonce."""
    record = known.record
    if known.state is OrderState.PREPARED:
        return OpenOutcome("nothing: not a byte of it was sent", None, "Submit it, or leave it.")
    if known.state is OrderState.REJECTED:
        return OpenOutcome(
            "nothing: it was refused before it was accepted",
            None,
            f"Remove the cause and submit it again, or sign a new one. Whoever has seen this one {_until(record)}.",
        )
    if known.state in FINAL:
        return OpenOutcome("nothing: it has ended", None, "Nothing." if known.told == known.state else _FOLLOW)
    if record.route in OF_TRANSACTIONS:
        return _open_transaction(record)
    if nonce_used:
        return _SPENT
    return _timeless(record) if record.deadline_ms is None else _open_intent(known.state, record.deadline_ms)


def _until(record: Record) -> str:
    """Return until when a signature that was refused can be executed all the same: by the service that refused it, too."""
    if record.deadline_ms is not None:
        return f"can execute it until {utc_text(record.deadline_ms)}"
    return f"can execute it until the nonce {record.nonce} is used: it has no deadline"


def _open_transaction(record: Record) -> OpenOutcome:
    return OpenOutcome(
        f"a block with the transaction, or with another one that uses the account's nonce {record.nonce}",
        None,
        f"{_FOLLOW} To end it yourself, send another transaction with nonce {record.nonce} and a higher fee.",
    )


def _open_intent(state: OrderState, deadline_ms: int) -> OpenOutcome:
    until_ms = deadline_ms + EXPIRY_MARGIN_MS
    ends = (
        f"{ONLY_WHEN_ENDED} After {utc_text(until_ms)} a node of your own ([rpc] url) settles it; without one it stays "
        "open, and what the positions show undone needs a plan with another step id."
    )
    if state is OrderState.ACCEPTED:
        return OpenOutcome(
            f"the service's final answer, or a confirmed block after {utc_text(deadline_ms)} with its nonce unused",
            until_ms,
            f"{_FOLLOW} {ends}",
        )
    return OpenOutcome(
        f"a confirmed block with its nonce used, or one after {utc_text(deadline_ms)} with its nonce unused",
        until_ms,
        f"Read the positions; then run `airlock-online follow`. {ends}",
    )


def _timeless(record: Record) -> OpenOutcome:
    old = record.old_entity_id
    replaced = f" It is also not known whether {old} is still stored." if old else ""
    return OpenOutcome(
        "its nonce to be used: it has no deadline",
        None,
        f"Look for the stored trigger at the venue.{replaced} To be certain that it is worthless, use its nonce for "
        f"something else.",
    )
