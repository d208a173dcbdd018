"""A transaction, or an EIP-7702 authorization, on the review screen: where it goes, what it costs or gives, what to know."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from airlock_offline.signing.row_layout import CHOSEN, KEPT, NOT_KEPT, marked, row
from airlock_shared.catalogue.authorizations import LEDGER_CONTRACTS
from airlock_shared.catalogue.eip1559 import value_wei
from airlock_shared.checks.case import CallCase
from airlock_shared.checks.transaction import pinned_name
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.text.safe import safe
from airlock_shared.units import GWEI, NATIVE, to_human


def transaction_rows(case: CallCase, failed: Collection[str]) -> Iterator[str]:
    """Yield where a transaction goes, for whom, and what it can cost at most; of an authorization, what it gives to whom.

    ``failed`` are the checks that refused it or were not reached: what they would have established is not said.
    """
    for check, mark, label, text in _authorization(case) if case.request.transaction is None else _call(case, failed):
        shown = NOT_KEPT if check in failed else " " if failed and mark == KEPT else mark
        yield from marked(shown, row(label, text))


def _call(case: CallCase, failed: Collection[str]) -> Iterator[tuple[str, str, str, str]]:
    """Yield rows of a transaction: the check that establishes each, its mark then, its label, and its text."""
    payload, filled = case.request.payload, case.request.transaction
    if filled is None:
        return
    wei, pinned = value_wei(payload), pinned_name(case.call)
    chain = "" if "TX-CHAIN" not in failed else ", not the pinned one"
    yield "TX-CHAIN", KEPT, "calls", f"{case.call.call.name} on chain {payload['chainId']}{chain}"
    at = f"pinned as {pinned}" if "TX-TO" not in failed else f"NOT the pinned {pinned}"
    yield "TX-TO", KEPT, "", f"contract {safe(payload['to'], limit=100)}, {at}"
    if case.call.delegated_for is not None:
        yield "TX-TO", KEPT, "", f"by delegatedAction, for {checksum_address(case.call.delegated_for)}"
    yield "TX-VALUE", CHOSEN if wei else KEPT, "value", _sent(case, wei, failed)
    fee = f"{to_human(filled.maxFeePerGas, GWEI)} gwei, priority {to_human(filled.maxPriorityFeePerGas, GWEI)} gwei"
    yield "TX-FEES", CHOSEN, "fee per gas", f"at most {fee}"
    most = to_human(filled.gas * filled.maxFeePerGas, NATIVE)
    yield "TX-GAS", CHOSEN, "gas limit", f"{filled.gas}: at most {most} of the native currency in all"
    yield "TX-NONCE", CHOSEN, "account nonce", str(filled.nonce)


def _sent(case: CallCase, wei: int | None, failed: Collection[str]) -> str:
    if "TX-VALUE" in failed:
        return f"{safe(case.request.payload['value'], limit=100)}, NOT what the plan allows"
    if not wei:
        return "0 (no native currency is sent)"
    most = to_human(case.situation.plan.limits.native_fee_at_most_wei or 0, NATIVE)
    return f"{to_human(wei, NATIVE)} {NATIVE.name} is sent with it as a fee, at most {most}"


def _authorization(case: CallCase) -> Iterator[tuple[str, str, str, str]]:
    """Yield on which chain the account is given, to what, and with which order."""
    chain, contract = case.request.payload["chainId"], case.message["contract"]
    name = LEDGER_CONTRACTS.get(contract, "no contract that the Ledger knows")
    yield "AUTH-CHAIN", KEPT, "on chain", f"{chain}{'' if chain else ', which is EVERY chain'}"
    yield "AUTH-CONTRACT", KEPT, "gives it to", f"{checksum_address(contract)} ({name})"
    yield "AUTH-ORDER", KEPT, "with the order", safe(case.request.fields.get("order", "none"), limit=80)


def transaction_warnings(case: CallCase) -> Iterator[str]:
    """Yield what stands out about a transaction, or an authorization."""
    if case.request.transaction is None:
        yield from _OF_AN_AUTHORIZATION
        return
    if case.call.call.is_own:
        yield "A CALL OF THIS VENUE ALONE, pinned with it: its values are shown raw. Airlock does not know their meaning."
    told = case.told_token
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


_OF_AN_AUTHORIZATION = (
    (
        "THE WHOLE ACCOUNT IS GIVEN TO A CONTRACT, until another authorization takes that back. Whoever has this signature "
        "can use it, with or without the order, until the account nonce is used."
    ),
    "The Ledger shows the contract's name, not its address, and not the account nonce: read both here.",
    (
        "The app's setting Smart account upgrade must be on; it cannot be read. Off, the Ledger refuses to sign. Switch it "
        "off again afterwards."
    ),
)
"""What stands out about every authorization."""
