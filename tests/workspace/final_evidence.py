"""What proves each final state, who could lie about it, and what then happens: a part of the page ``journal.md``.

A state is final by a row of this table or not at all. The proofs are made where they are used: ``routes`` for a service's
word, ``chain_evidence``, ``chain_search`` and ``resolution`` for the operator's own node.
"""

from __future__ import annotations

from typing import NamedTuple

from airlock_online.journal.order_states import OrderState
from airlock_shared.venue.structs import BATCHED_MARKET, CORE_API, RELAY, RELAYER, RPC, TWAP


class FinalEvidence(NamedTuple):
    """One way to a final state, on these routes: its proof, who could lie about it, and what a lie leads to."""

    state: OrderState
    routes: tuple[str, ...]
    proof: str
    liar: str
    then: str


_MARKET = "the market"
_NODE = "the operator's node, or whoever answers at its address"
_READ_BACK = "What was promised is read back; where it is not found, the command ends with 11 and says so."
_ANOTHER_NODE = "A block explorer or another node shows it: the transaction and the block are in the journal."
_INTENTS = (BATCHED_MARKET, RELAYER, TWAP)
_FOUND = (
    "A transaction in a confirmed block carries the intent's encoding, succeeded, has a log of the pinned contracts or is "
    "the executing call itself, and stands in the block in which the contract marked the nonce, as far as the node still "
    "has that block's state, without another signature of that nonce"
)
_HISTORY = "in the persisted history that names the order; where that cannot be asked, in the stream with an id"
_RECEIPT = "The receipt of the hash that was computed here, in a confirmed block of the row's chain"
_UNDENIED = "without a sign of failure, and never against the operator's node"

FINAL_EVIDENCE = (
    FinalEvidence(OrderState.FILLED, (BATCHED_MARKET,), f"`MarketOrderExecuted` or `PositionSizeIncreased` {_HISTORY}.",
             _MARKET, _READ_BACK),
    FinalEvidence(OrderState.FILLED, (BATCHED_MARKET,),
             f"{_FOUND}; and an event of the pinned contracts ends, as filled, the trader's only order in it.",
             _NODE, f"{_READ_BACK} {_ANOTHER_NODE}"),
    FinalEvidence(OrderState.MARKET_DECLINED, (BATCHED_MARKET,), f"`MarketOrderCanceled` {_HISTORY}.", _MARKET,
             "Another order would fill twice: read the positions before anything else is signed."),
    FinalEvidence(OrderState.MARKET_DECLINED, (BATCHED_MARKET,),
             f"{_FOUND}; and an event of the pinned contracts declines the trader's only order in it.",
             _NODE, _ANOTHER_NODE),
    FinalEvidence(OrderState.FAILED, (BATCHED_MARKET,),
             f"`Error` {_HISTORY}; before an initiation never against your node. `ENQUEUE_FAILED` alone needs no history.",
             _MARKET,
             "The intent may still be executed until its deadline: wait for that where two fills harm."),
    FinalEvidence(OrderState.FAILED, (RELAYER,),
             "The relayer's `reverted` for the id asked, with a transaction, and never against the operator's node.",
             "the relayer", "The intent may still be executed until its deadline; its nonce shows it."),
    FinalEvidence(OrderState.FAILED, (RELAY,),
             "The relay's `reverted` for the hash that was computed here, and never against the operator's node.",
             "the builder",
             "The account's count shows whether its nonce was taken: ask a node of your own."),
    FinalEvidence(OrderState.FAILED, (RELAY, RPC), f"{_RECEIPT}, says that it reverted.", _NODE, _ANOTHER_NODE),
    FinalEvidence(OrderState.CONFIRMED, (RELAYER,), "The relayer's `confirmed` for the id asked, with a transaction; "
             "by a word of the services file, with its block as well; "
             f"{_UNDENIED}.",
             "the relayer", _READ_BACK),
    FinalEvidence(OrderState.CONFIRMED, (TWAP,),
             f"The service's answer: the signed `twapId`, a transaction and a block, {_UNDENIED}.",
             "the TWAP service", "The TWAP goes on: look its transaction up before the refund is counted on."),
    FinalEvidence(OrderState.CONFIRMED, (TWAP,),
             "Of a cancellation that was only taken: the service's read of the signed `twapId` names a transaction and a "
             "block, without a sign of failure; the nonce is used, by the builder's word or the operator's node; and never "
             "against that node's receipt.",
             "the TWAP service and the builder together",
             "The TWAP goes on: look its transaction up before the refund is counted on."),
    FinalEvidence(OrderState.CONFIRMED, (CORE_API,),
             "The answer: the stored trigger's id; of a replacement, both ids; without a sign of failure.",
             "the core API", "Nothing closes the position: look for the trigger at the venue. No read of it is documented."),
    FinalEvidence(OrderState.CONFIRMED, (RELAYER, TWAP, CORE_API), f"{_FOUND}.", _NODE, f"{_READ_BACK} {_ANOTHER_NODE}"),
    FinalEvidence(OrderState.CONFIRMED, (RELAY,), "The relay's `confirmed`, or the services file's word "
             f"for it, for the hash computed here, with a block, {_UNDENIED}.",
             "the builder", f"{_READ_BACK} A node of your own shows the receipt."),
    FinalEvidence(OrderState.CONFIRMED, (RELAY, RPC), f"{_RECEIPT}, says that it succeeded.", _NODE, _ANOTHER_NODE),
    FinalEvidence(OrderState.EXPIRED_UNUSED, _INTENTS,
             "In a confirmed block that is later than the deadline, by the chain's own time, the contract's bitmap has the "
             "nonce unused, of the signer and of the trader.", _NODE,
             "It may have been executed: the positions show it."),
    FinalEvidence(OrderState.VOIDED, (*_INTENTS, CORE_API),
             "`NONCE_SPENT`: in a confirmed block the nonce is used, and another signature of the journal, with the same "
             "nonce, signer, trader, contract and chain, was executed.",
             "the service that told the other's end, or the node",
             "The other one's row says by what it ended; the nonce allows one of the two at most."),
    FinalEvidence(OrderState.VOIDED, (RELAY, RPC),
             "`REPLACED`: up to a confirmed block, another transaction of the account has this nonce; it is named.",
             _NODE, _ANOTHER_NODE),
)  # fmt: skip
"""Every way to every final state."""
