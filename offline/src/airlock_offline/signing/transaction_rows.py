"""A transaction on the review screen: where it goes, what it can cost, and what the Ledger does not show of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from airlock_offline.signing.row_layout import row
from airlock_shared.checks.case import CallCase
from airlock_shared.checks.transaction import pinned_name
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.text.safe import safe
from airlock_shared.units import GWEI, NATIVE, to_human


def transaction_rows(case: CallCase, failed: Collection[str] = ()) -> Iterator[str]:
    """Yield where a transaction goes, for whom, and what it can cost at most.

    ``failed`` are the checks that refused it or were not reached: what they would have established is not said.
    """
    payload, filled = case.request.payload, case.request.transaction
    if filled is None:
        return
    chain = "" if "TX-CHAIN" not in failed else ", not the pinned one"
    yield from row("calls", f"{case.call.call.name} on chain {payload['chainId']}{chain}")
    pinned = pinned_name(case.call)
    at = f"pinned as {pinned}" if "TX-TO" not in failed else f"NOT the pinned {pinned}"
    yield from row("", f"contract {safe(payload['to'], limit=100)}, {at}")
    if case.call.delegated_for is not None:
        yield from row("", f"by delegatedAction, for {checksum_address(case.call.delegated_for)}")
    sent = "0 (no native currency is sent)"
    yield from row("value", sent if "TX-VALUE" not in failed else f"{safe(payload['value'], limit=100)}, NOT zero")
    fee = f"{to_human(filled.maxFeePerGas, GWEI)} gwei, priority {to_human(filled.maxPriorityFeePerGas, GWEI)} gwei"
    yield from row("fee per gas", f"at most {fee}")
    most = to_human(filled.gas * filled.maxFeePerGas, NATIVE)
    yield from row("gas limit", f"{filled.gas}: at most {most} of the native currency in all")
    yield from row("account nonce", str(filled.nonce))


def transaction_warnings(case: CallCase) -> Iterator[str]:
    """Yield what stands out about a transaction."""
    told = case.told_token is not None
    if not told:
        yield "The Ledger needs Blind signing on for a transaction with calldata: switch it off again afterwards."
    if case.call.call.name == "approve":
        if told:
            yield "The Ledger is told of the token and shows spender and amount: leave Blind signing off."
        else:
            yield "The Ledger shows neither spender nor amount of an approval of an unknown token: read them here."
        if case.step.values["amountUsdc"].text == "unlimited":
            yield "UNLIMITED approval: the spender may take everything, forever. The plan asks for it."
    if case.call.call.pending:
        yield "This stores an order: a confirmed transaction is not a filled trade."
