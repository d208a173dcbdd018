"""What the operator's own node proves of a submission, all of it read at one confirmed block.

A confirmed block is the node's ``finalized``, or one that is deep enough. What is read there (the account's count, the
contract's bitmap, the chain's time) is of one moment and cannot be undone; what a pool of nodes tells from several
moments proves nothing. Sources: the Ethereum execution API; the contract's ``nonceBitmap(address,uint256)``, word
``nonce >> 8``, bit ``nonce & 255`` (as in Permit2).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from airlock_online.clients.rpc import ChainBlock, ChainTransaction, RpcClient, RpcError
from airlock_online.config import CONFIRMED_BY
from airlock_online.journal.schema import Record
from airlock_online.speech.sections import OF_TRANSACTIONS
from airlock_shared.documents.deployment import Deployment
from airlock_shared.errors import ServiceError
from airlock_shared.ethereum.signatures import checksum_address, parse_address
from airlock_shared.venue.structs import RPC

if TYPE_CHECKING:
    from airlock_online.delivery.routes.context import DeliveryContext

FINALIZED, _ = CONFIRMED_BY

NONCE_BITMAP = "nonceBitmap(address,uint256)"
USED = "used"
"""The answer of the chain that an intent's nonce is used."""
IN_WORDS = {True: USED, False: "unused", None: "cannot be told"}

_UNKNOWN_WORD = (-32601, -32602)
"""The codes of a node that does not know the word ``finalized``: no such method, wrong parameters (JSON-RPC 2.0)."""


def require_recorded_chain(node: RpcClient, record: Record) -> None:
    """Raise ``ServiceError`` when the node serves another chain than a submission's."""
    served = node.chain_id()
    if served != record.chain_id:
        raise ServiceError(
            f"the node {node.name} serves chain {served}, and this was signed for chain {record.chain_id}",
            do="give a node of that chain as [rpc] url in config.toml or in AIRLOCK_RPC",
        )


def confirmed_block(node: RpcClient, record: Record, context: DeliveryContext) -> ChainBlock:
    """Return the newest block that cannot be undone: ``finalized``, or where the node knows none, one that is deep enough.

    Raises ``ServiceError`` when there is none, and when the node serves another chain than the submission's.
    """
    require_recorded_chain(node, record)
    if context.confirmed_by == FINALIZED:
        try:
            if block := node.block(FINALIZED):
                return block
        except RpcError as error:
            if error.number not in _UNKNOWN_WORD:
                raise
    number = node.block_number() - context.confirmations + 1
    confirmed = node.block(number) if number >= 0 else None
    if confirmed is None:
        raise ServiceError(f"{node.name} has no block that is {context.confirmations} deep", do="ask again later")
    return confirmed


def nonce_used_in(node: RpcClient, record: Record, block: int | str) -> bool | None:
    """Tell whether the contract's own bitmap has a nonce as used in a block, None when that cannot be told.

    Contracts differ in whose bitmap it is, the signer's or the trader's: used by either counts. Before block 0 none is.
    """
    if isinstance(block, int) and block < 0:
        return False
    told = [_bit(node, record, account, block) for account in accounts_of(record)]
    return _by_any(told)


def _by_any(told: list[bool | None]) -> bool | None:
    """Return whether any of several says that a nonce is used; None where that is not so and one cannot tell."""
    return True if True in told else None if None in told else False


def accounts_of(record: Record) -> list[str]:
    """Return whose bitmap may hold an intent's nonce, each account once."""
    return list({account.lower(): account for account in (record.signer, record.trader)}.values())


def nonce_by_word(record: Record, context: DeliveryContext) -> bool | None:
    """Tell what the service says of the nonce, of the signer or of the trader: contracts differ in whose it is."""
    if context.nonce_used is None:
        return None
    answers: list[bool | None] = []
    for account in accounts_of(record):
        question = f"the service: nonce {record.nonce} of {account}"
        try:
            answers.append(context.nonce_used(record, account))
        except ServiceError as error:
            context.on_asked(question, error.what)
            context.on_notice(f"the nonce cannot be read: {error.what}")
            return None
        context.on_asked(question, IN_WORDS[answers[-1]])
    return _by_any(answers)


def nonce_now(record: Record, context: DeliveryContext) -> bool | None:
    """Tell whether anybody says that an intent's nonce is used already, in whatever block; None when nobody can tell."""
    used = None
    if context.node is not None:
        try:
            require_recorded_chain(context.node, record)
            used = nonce_used_in(context.node, record, "latest")
        except ServiceError as error:
            context.on_notice(f"the chain cannot be read: {error.what}")
    return nonce_by_word(record, context) if used is None else used


def used_at_the_node(record: Record, context: DeliveryContext) -> bool:
    """Tell whether the operator's node has an intent's nonce as used: no service's word of a failure counts beside it."""
    return record.route not in OF_TRANSACTIONS and nonce_now(record, context._replace(nonce_used=None)) is True


def may_be_known(record: Record, context: DeliveryContext) -> str:
    """Return why a refusal does not prove that it was not taken, empty when nothing says so."""
    if record.route not in OF_TRANSACTIONS:
        return "its nonce is used: somebody may have sent it before" if nonce_now(record, context) else ""
    if (node := context.node) is None:
        return ""
    try:
        require_recorded_chain(node, record)
        seen = node.transaction_count(record.signer) > int(record.nonce) or node.knows(record.transaction_hash)
    except ServiceError:
        seen = record.route == RPC  # it is that node's own refusal: then nobody may say that it was not taken
    return f"the node may have it already, or another one with the account's nonce {record.nonce}" if seen else ""


def _bit(node: RpcClient, record: Record, account: str, block: int | str) -> bool | None:
    nonce = int(record.nonce)
    place = (nonce >> 8).to_bytes(32, "big")
    word = node.view(record.contract, NONCE_BITMAP, parse_address(account), place, block=block)
    return None if word is None else bool(int.from_bytes(word, "big") >> (nonce & 255) & 1)


def who_took(node: RpcClient, account: str, nonce: int, block: int) -> tuple[ChainTransaction, int] | None:
    """Return the transaction that took an account's nonce, and its block, which is ``block`` or one before it.

    None when the node does not have the past that this needs. Raises ``ServiceError``.
    """
    try:
        high = first_block(block, lambda number: node.transaction_count(account, block=number) > nonce)
        found = None if high is None else node.block(high, whole=True)
    except RpcError:
        return None
    if found is None:
        return None
    taken = [each for each in found.transactions if (each.sender, each.nonce) == (account.lower(), nonce)]
    return (taken[0], found.number) if taken else None


def first_block(high: int, holds: Callable[[int], bool | None]) -> int | None:
    """Return the first block in which something holds, as it does in ``high``; None where ``holds`` cannot tell.

    It looks back in steps that double, since what is looked for is mostly near, and then halves what is left.
    """
    step, low = 1, -1
    while high - low > 1:
        middle = max(high - step, 0) if step else (low + high) // 2
        told = holds(middle)
        if told is None:
            return None
        low, high, step = (low, middle, 2 * step) if told else (middle, high, 0)
    return high


def deployed_contracts(deployment: Deployment) -> frozenset[str]:
    """Return the venue's contracts, in lower case: not the token, which has a log of whatever anybody does."""
    own = {domain.contract for domain in deployment.domains.values()} | {*deployment.contracts.values()}
    return frozenset(checksum_address(contract).lower() for contract in own - {deployment.contracts.get("usdc")})
