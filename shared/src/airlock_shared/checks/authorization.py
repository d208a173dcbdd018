"""AUTH: an EIP-7702 authorization gives one account to one contract of the Ledger's list, on one chain, for one order.

It is judged as a transaction is, by the same four names; what is said of both is in :mod:`airlock_shared.checks.agreement`.
"""

from __future__ import annotations

from airlock_shared.checks.model import (
    PLAN,
    PLANNED,
    READ,
    REBUILD,
    RECEIVED,
    STOP,
    CallCase,
    Finding,
    Info,
    Planned,
    ReadCall,
    Received,
    check,
    checks_of_reading,
    sent_to,
)
from airlock_shared.errors import Refusal
from airlock_shared.ethereum.signatures import NONCE_BELOW, checksum_address
from airlock_shared.venue.calls import LEDGER_CONTRACTS, Decoded, payload_hash, read_authorization
from airlock_shared.venue.structs import BATCHED_MARKET

CALL_CHECKS = checks_of_reading(
    READ, {"AUTH-FORM": Info("not an authorization", "Values that no account can sign.", REBUILD)}
)


def read_call(case: Received) -> Decoded:
    """Return what is given to whom. Raises ``Refusal("AUTH-FORM")``."""
    payload, nonce = case.request.payload, case.request.payload["nonce"]
    if not 0 <= nonce < NONCE_BELOW or case.request.transaction is not None:
        raise Refusal("AUTH-FORM", "not an account's nonce", got=str(nonce)[:80], expected="a count of transactions")
    try:
        return read_authorization(payload)
    except Refusal as refusal:
        raise Refusal("AUTH-FORM", refusal.what, got=refusal.got, expected=refusal.expected) from refusal


@check(
    "AUTH-CHAIN",
    RECEIVED,
    "not for the pinned chain alone",
    "An account that is given away on every chain.",
    STOP,
)
def authorization_chain_is_pinned(case: Received) -> Finding:
    """The chain id is the pinned one; 0, which is good on every chain, is refused."""
    got, expected = case.request.payload["chainId"], case.situation.deployment.chain_id
    return Finding(got == expected != 0, got, expected)


@check(
    "AUTH-CONTRACT",
    READ,
    "the Ledger signs no authorization for this contract",
    "A ceremony that ends at the Ledger, or an account given to a contract that nobody has looked at.",
    "Nothing of the plan can change that: a release of the Ethereum app that knows the contract is missing. Another wallet "
    "may sign the authorization; submit --eip7702 reads it, and asks before it is sent.",
)
def contract_is_known(case: ReadCall) -> Finding:
    """The contract is on the list of the Ledger's app, which shows its name in the address's place."""
    contract = case.message["contract"]
    known = ", ".join(f"{checksum_address(each)} ({name})" for each, name in LEDGER_CONTRACTS.items())
    return Finding(contract in LEDGER_CONTRACTS, checksum_address(contract), f"one of the app's own list: {known}")


@check(
    "AUTH-ORDER",
    PLANNED,
    "not for a market order of this account",
    "An account that is given away for nothing that the plan asks for.",
    PLAN,
)
def order_is_of_the_account(case: Planned) -> Finding:
    """The plan's step ``order`` is a market order that this account signs, or that is signed for it."""
    wanted, giver = case.step.values.get("order"), case.step.signer.address
    name = wanted.text if wanted is not None else ""
    order = case.situation.plan.steps.get(name)
    expected = "a market order of the plan, signed by or for " + checksum_address(giver)
    if order is None:
        return Finding(False, f"{name or 'no order'}, which is no step of the plan", expected)
    intent, accounts = (
        case.situation.deployment.structs.get(order.action.primary_type),
        (order.signer.address, order.raw("trader")),
    )
    ok = intent is not None and intent.order_types is not None and giver in accounts
    return Finding(ok, f"{name} ({order.action.name}, signed by {order.signer.account})", expected)


def complete(case: CallCase) -> CallCase:
    """Return an authorization that no check refused with its digest, 32 bytes (EIP-7702)."""
    return case._replace(digest=payload_hash(case.request.payload))


CHECKS = (
    authorization_chain_is_pinned,
    contract_is_known,
    order_is_of_the_account,
    sent_to(BATCHED_MARKET),
)
