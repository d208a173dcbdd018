"""TX: an unsigned transaction is a known call to a pinned contract, for the right account, at a bounded price.

And AUTH: an authorization, which is judged as a transaction is. What is said of both is in
:mod:`airlock_shared.checks.agreement`.

``description`` and ``meta`` decide nothing. What the online half filled in (nonce, gas, fees) is bounded here, because
nobody else does. Source: the builder's specification, "Unsigned transaction payload".
"""

from __future__ import annotations

import re

from airlock_shared.checks.model import (
    CASE,
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
    leaf_of,
    same,
    sent_to,
)
from airlock_shared.checks.times import registration_is_live
from airlock_shared.errors import Refusal
from airlock_shared.ethereum.signatures import (
    NONCE_BELOW,
    checksum_address,
    is_address,
    parse_address,
    signing_hash,
    value_wei,
)
from airlock_shared.plan.decisions import choices_of
from airlock_shared.units import GWEI, NATIVE, USDC, to_human, to_raw
from airlock_shared.venue.calls import AUTHORIZATION_CALL, LEDGER_CONTRACTS, Decoded, decode_call, payload_hash
from airlock_shared.venue.structs import ALLOWANCE, AUTHORIZATION, BATCHED_MARKET, OPEN_TYPE, PAIR, RELAY, SPENDER

GAS_AT_LEAST, GAS_AT_MOST = 21_000, 15_000_000
NONCE_AT_MOST = 2**32
UNLIMITED_FROM_RAW = to_raw("1000000000000000", USDC)  # there will never be so many USDC

_HEX = re.compile(r"0x(?:[0-9a-fA-F]{2}){4,100000}", re.ASCII)
_KEYS = frozenset({"to", "from", "data", "value", "chainId", "description", "meta"})

_CALL = {
    "TX-HEX": Info("calldata that is not hex", "Bytes that two programs read differently.", STOP),
    "TX-SELECTOR": Info("a function that Airlock does not know", "A call whose meaning Airlock cannot show.", STOP),
    "TX-NESTED": Info("a delegated call within a delegated call", "A call hidden one level deeper than is shown.", STOP),
    "TX-DELEGABLE": Info("a call that a delegate may not make", "A delegate that approves or names delegates.", STOP),
    "ENC-CANONICAL": Info("an encoding that is not canonical", "Bytes that a contract may read differently.", STOP),
}  # fmt: skip
CALL_CHECKS = checks_of_reading(READ, _CALL)
"""One reading of the calldata answers for all of them."""


def read_call(case: Received) -> Decoded:
    """Return the call that calldata make, or what an authorization gives. Raises ``Refusal`` with one of the ids here."""
    if case.request.action == AUTHORIZATION:
        return _read_authorization(case)
    text = case.request.payload["data"]
    if not _HEX.fullmatch(text):
        raise Refusal("TX-HEX", "calldata is not hex with a selector", repr(text[:80]), "0x and bytes in hex")
    return decode_call(bytes.fromhex(text[2:]), case.situation.deployment.calls)


@check(
    "TX-KEYS",
    RECEIVED,
    "members that an unsigned transaction does not have",
    "Access lists, blobs or authorisations.",
    STOP,
)
def keys_are_known(case: Received) -> Finding:
    """The payload has the members of an unsigned transaction and no others: no access list, blobs or authorisations."""
    unknown = sorted(set(case.request.payload) - _KEYS)
    return Finding(not unknown, unknown, "none beyond to, from, data, value, chainId, description, meta")


@check(
    "TX-CHAIN",
    RECEIVED,
    "the chain id is not the pinned one",
    "A transaction for another chain.",
    "Check which network the builder serves, and fetch the deployment again if you meant to change it.",
)
def transaction_chain_is_pinned(case: Received) -> Finding:
    """The chain id is the pinned one."""
    return same(case.request.payload["chainId"], case.situation.deployment.chain_id)


def pinned_name(case: ReadCall | CallCase) -> str:
    """Return the name under which the contract is pinned that a call goes to: a delegated one to the trading router."""
    return "tradingRouter" if case.delegated_for is not None else case.call.contract


@check("TX-TO", READ, "not the pinned contract of this function", "A call to somebody else's contract.", STOP)
def contract_is_pinned(case: ReadCall) -> Finding:
    """``to`` is the pinned contract of this function; a delegated call goes to the trading router."""
    name = pinned_name(case)
    expected = case.situation.deployment.contracts.get(name)
    return _address(case.request.payload["to"], expected, f"the pinned {name}")


@check(
    "TX-FROM",
    PLANNED,
    "from is not the signer",
    "A transaction that another account would have to send.",
    REBUILD,
)
def sender_is_signer(case: Planned) -> Finding:
    """``from`` is the account that the plan names to sign."""
    return _address(case.request.payload["from"], case.step.signer.address, "the signer")


def _address(got: str, expected: bytes | None, what: str) -> Finding:
    return Finding(is_address(got, expected), got, checksum_address(expected) if expected else what)


@check(
    "TX-VALUE",
    READ,
    "it sends native currency that the plan does not allow",
    "Money sent with a call that needs none, or more than its fee.",
    "Stop, if the plan means that nothing is sent. Where the venue takes a fee with this call, its pinned profile says so, "
    "and the plan has native_fee_at_most.",
)
def no_more_than_the_fee_is_sent(case: ReadCall) -> Finding:
    """``value`` is zero, but for a call whose pinned profile has a fee: there it keeps the plan's limit."""
    got, wei = case.request.payload["value"], value_wei(case.request.payload)
    most = case.situation.plan.limits.native_fee_at_most_wei or 0 if case.call.fee else 0
    expected = f"at most {to_human(most, NATIVE)} {NATIVE.name} in wei" if most else "0x0"
    return Finding(wei is not None and wei <= most, got, expected)


@check(
    "TX-TRADER",
    CASE,
    "not made for the plan's account",
    "A delegated call for somebody else's account.",
    STOP,
)
def account_is_planned(case: CallCase) -> Finding:
    """The call is made for the plan's account: by itself, or by the delegate that the plan names for it."""
    signer = case.step.signer
    account = signer.address if case.call.is_own else case.step.raw("trader", "caller")
    got = case.delegated_for or signer.address
    ok = got == account and (case.delegated_for is None or signer.delegate_of == account)
    expected = checksum_address(account) if isinstance(account, bytes) else "an account in the plan"
    return Finding(ok, checksum_address(got), expected)


@check(
    "TX-DELEGATE",
    READ,
    "the delegate's registration is not active",
    "A call that the contract would reject.",
    "Register the delegate, or renew it, and prepare again.",
)
def call_delegation_is_live(case: ReadCall) -> Finding | None:
    """A delegate's registration was read, is enabled, and has not run out."""
    return None if case.delegated_for is None else registration_is_live(case, "canDelegatedAction")


@check(
    "TX-PAIR",
    READ,
    "a pair that is not pinned, or not of this call's kind",
    "An order on a market that is not the one shown.",
    PLAN,
)
def pair_is_pinned(case: ReadCall) -> Finding | None:
    """The call's pair is one of the pinned deployment, and of the kind that the call is for.

    A PnL pair has no increase; on it a market open is ``market_pnl``, elsewhere ``market``. Limit orders are for both, and
    a pair that does not tell its kind is for each of them.
    """
    number = leaf_of(case, PAIR)
    if number is None:
        return None
    pair = case.situation.deployment.pair_at(number)
    if pair is None:
        return Finding(False, f"pair {number}", "a pair of the pinned deployment")
    name = case.call.name
    if name.startswith("increasePosition"):
        return Finding(not pair.pnl, pair.name, "an ordinary pair: a PnL pair has no increase")
    if name != "openTrade":
        return Finding(True, pair.name, pair.name)
    enum = choices_of(OPEN_TYPE, case.situation.deployment)
    wrong = None if pair.pnl is None else enum.get("market" if pair.pnl else "market_pnl")
    got = leaf_of(case, OPEN_TYPE)
    return Finding(
        got != wrong, f"order type {got} on {pair.name}", "market on an ordinary pair, market_pnl on a PnL pair"
    )


@check(
    "TX-SPENDER",
    READ,
    "the approval is not for the pinned trading storage",
    "A contract that takes the USDC.",
    STOP,
)
def spender_is_pinned(case: ReadCall) -> Finding | None:
    """An approval is for the pinned trading storage and nobody else."""
    if case.call.name != "approve":
        return None
    expected = case.situation.deployment.contracts.get("tradingStorage")
    got = leaf_of(case, SPENDER)
    shown = checksum_address(got) if got else ""
    return Finding(got == expected, shown, checksum_address(expected) if expected else "a pinned one")


@check(
    "TX-UNLIMITED",
    CASE,
    "an unlimited approval that the plan does not ask for",
    "A contract that may take everything.",
    "Write the amount into the plan, or the word unlimited if you really mean that.",
)
def approval_is_bounded(case: CallCase) -> Finding | None:
    """An approval of more than there can ever be is unlimited, and only the word ``unlimited`` in the plan asks for it."""
    if case.call.name != "approve":
        return None
    amount = leaf_of(case, ALLOWANCE)
    ok = (type(amount) is int and amount < UNLIMITED_FROM_RAW) or case.step.text("amountUsdc") == "unlimited"
    return Finding(ok, amount, "an amount, or the word unlimited in the plan")


@check(
    "TX-FEES",
    RECEIVED,
    "fees above the plan's limit, or contradictory fees",
    "A treasury spent on fees.",
    REBUILD,
)
def fees_are_limited(case: Received) -> Finding:
    """The fee per gas keeps the plan's limit, and the priority fee keeps the fee."""
    filled, most = case.request.filled, case.situation.plan.limits.max_fee_at_most_wei
    if most is None:
        return Finding(False, filled, "the limit max_fee_gwei_at_most in the plan")
    ok = 0 <= filled.maxPriorityFeePerGas <= filled.maxFeePerGas <= most and filled.maxFeePerGas > 0
    got = f"{to_human(filled.maxFeePerGas, GWEI)} gwei, priority {to_human(filled.maxPriorityFeePerGas, GWEI)} gwei"
    return Finding(ok, got, f"at most {to_human(most, GWEI)} gwei")


@check(
    "TX-GAS",
    RECEIVED,
    "an unreasonable gas limit",
    "A transaction that cannot succeed, or pays for nothing.",
    REBUILD,
)
def gas_is_reasonable(case: Received) -> Finding:
    """The gas limit is between a bare transfer and what no call of the table needs."""
    gas = case.request.filled.gas
    return Finding(GAS_AT_LEAST <= gas <= GAS_AT_MOST, gas, f"{GAS_AT_LEAST} to {GAS_AT_MOST}")


@check("TX-NONCE", RECEIVED, "an impossible account nonce", "A transaction that never executes.", REBUILD)
def nonce_is_reasonable(case: Received) -> Finding:
    """The account nonce is one that an account can have."""
    nonce = case.request.filled.nonce
    return Finding(0 <= nonce < NONCE_AT_MOST, nonce, "a count of transactions")


# ---- authorizations -------------------------------------------------------------------------------------------------
# AUTH: an EIP-7702 authorization gives one account to one contract of the Ledger's list, on one chain, for one order.


FORM_CHECKS = checks_of_reading(
    READ, {"AUTH-FORM": Info("not an authorization", "Values that no account can sign.", REBUILD)}
)


def _read_authorization(case: Received) -> Decoded:
    """Return what is given to whom. Raises ``Refusal("AUTH-FORM")``."""
    payload, nonce = case.request.payload, case.request.payload["nonce"]
    if not 0 <= nonce < NONCE_BELOW or case.request.transaction is not None:
        raise Refusal("AUTH-FORM", "not an account's nonce", str(nonce)[:80], "a count of transactions")
    try:
        contract = parse_address(payload["address"])
    except Refusal as refusal:
        raise Refusal("AUTH-FORM", refusal.what, refusal.got, refusal.expected) from refusal
    return Decoded(AUTHORIZATION_CALL, {"contract": contract, "nonce": nonce}, None)


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
    name, giver = case.step.text("order"), case.step.signer.address
    order = case.situation.plan.steps.get(name)
    expected = "a market order of the plan, signed by or for " + checksum_address(giver)
    if order is None:
        return Finding(False, f"{name or 'no order'}, which is no step of the plan", expected)
    intent = case.situation.deployment.structs.get(order.action.primary_type)
    accounts = order.signer.address, order.raw("trader")
    ok = intent is not None and intent.order_types is not None and giver in accounts
    return Finding(ok, f"{name} ({order.action.name}, signed by {order.signer.account})", expected)


def complete(case: CallCase) -> CallCase:
    """Return what no check refused with its digest, 32 bytes (EIP-1559, EIP-7702)."""
    payload = case.request.payload
    digest = payload_hash(payload) if case.is_authorization else signing_hash(payload, case.request.filled)
    return case._replace(digest=digest)


CHECKS = (
    keys_are_known,
    transaction_chain_is_pinned,
    contract_is_pinned,
    sender_is_signer,
    no_more_than_the_fee_is_sent,
    account_is_planned,
    call_delegation_is_live,
    pair_is_pinned,
    spender_is_pinned,
    approval_is_bounded,
    fees_are_limited,
    gas_is_reasonable,
    nonce_is_reasonable,
    sent_to(RELAY),
)

AUTHORIZATION_CHECKS = (
    authorization_chain_is_pinned,
    contract_is_known,
    order_is_of_the_account,
    sent_to(BATCHED_MARKET),
)
