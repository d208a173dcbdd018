"""TX: an unsigned transaction is a known call to a pinned contract, for the right account, at a bounded price.

``description`` and ``meta`` decide nothing. What the online half filled in (nonce, gas, fees) is bounded here, because
nobody else does. Source: the builder's specification, "Unsigned transaction payload".
"""

from __future__ import annotations

import re

from airlock_shared.catalogue.calls import decode_call
from airlock_shared.catalogue.eip1559 import signing_hash
from airlock_shared.catalogue.intents import leaf
from airlock_shared.checks.agreement import registration_is_live
from airlock_shared.checks.case import Case, Check, Finding
from airlock_shared.errors import Refusal
from airlock_shared.ethereum.addresses import checksum_address, parse_address
from airlock_shared.plan.model import Exact
from airlock_shared.units import GWEI, to_human

ROUTE = "relay"
GAS_AT_LEAST, GAS_AT_MOST = 21_000, 15_000_000
NONCE_AT_MOST = 2**32
UNLIMITED_FROM_RAW = 10**15 * 10**6  # a thousand million million USDC: there will never be so many

_HEX = re.compile(r"0x(?:[0-9a-fA-F]{2}){4,100000}", re.ASCII)
_KEYS = frozenset({"to", "from", "data", "value", "chainId", "description", "meta"})

CALL_IDS = ("TX-HEX", "TX-SELECTOR", "TX-NESTED", "TX-DELEGABLE", "ENC-CANONICAL")


def read_call(case: Case) -> None:
    """Establish ``case.call``, its fields and its arguments. Raises ``Refusal`` with one of the ids above."""
    text = case.request.payload["data"]
    if not _HEX.fullmatch(text):
        raise Refusal(
            "TX-HEX", "calldata is not hex with a selector", got=repr(text[:80]), expected="0x and bytes in hex"
        )
    case.call = decode_call(bytes.fromhex(text[2:]))
    case.fields, case.message = case.call.call.fields, case.call.message


def keys_are_known(case: Case) -> Finding:
    """The payload has the members of an unsigned transaction and no others: no access list, blobs or authorisations."""
    unknown = sorted(set(case.request.payload) - _KEYS)
    return Finding(not unknown, unknown, "none beyond to, from, data, value, chainId, description, meta")


def chain_is_pinned(case: Case) -> Finding:
    """The chain id is the pinned one."""
    got, expected = case.request.payload["chainId"], case.situation.deployment.chain_id
    return Finding(got == expected, got, expected)


def contract_is_pinned(case: Case) -> Finding:
    """``to`` is the pinned contract of this function; a delegated call goes to the trading router."""
    name = "tradingRouter" if case.call.delegated_for is not None else case.call.call.contract
    expected = case.situation.deployment.contracts.get(name)
    return _same_address(case.request.payload["to"], expected, f"the pinned {name}")


def sender_is_signer(case: Case) -> Finding:
    """``from`` is the account that the plan names to sign."""
    return _same_address(case.request.payload["from"], case.step.signer.address, "the signer")


def _same_address(got: str, expected: bytes | None, what: str) -> Finding:
    try:
        same = expected is not None and parse_address(got) == expected
    except Refusal:
        same = False
    return Finding(same, got, checksum_address(expected) if expected else what)


def nothing_is_sent(case: Case) -> Finding:
    """``value`` is zero: no call of the table needs native currency."""
    got = case.request.payload["value"]
    return Finding(got in ("0x0", "0x", "0x00", "0"), got, "0x0")


def account_is_planned(case: Case) -> Finding:
    """The call is made for the plan's account: by itself, or by the delegate that the plan names for it."""
    values, signer = case.step.values, case.step.signer
    wanted = next((values[name] for name in ("trader", "caller") if name in values), None)
    account = wanted.raw if isinstance(wanted, Exact) else None
    got = case.call.delegated_for or signer.address
    ok = got == account and (case.call.delegated_for is None or signer.delegate_of == account)
    expected = checksum_address(account) if isinstance(account, bytes) else "an account in the plan"
    return Finding(ok, checksum_address(got), expected)


def delegation_is_live(case: Case) -> Finding | None:
    """A delegate's registration was read, is enabled, and has not run out."""
    return None if case.call.delegated_for is None else registration_is_live(case, "canDelegatedAction")


def pair_is_pinned(case: Case) -> Finding | None:
    """The call's pair is one of the pinned deployment, and of the kind that the call is for.

    A PnL pair has no increase; on it a market open is ``market_pnl``, elsewhere ``market``. Limit orders are for both.
    """
    number = next((leaf(case.message, f.path) for f in case.fields if f.path.endswith("pairIndex")), None)
    if number is None:
        return None
    pair = case.situation.deployment.pairs.get(number) if isinstance(number, int) else None
    if pair is None:
        return Finding(False, f"pair {number}", "a pair of the pinned deployment")
    name = case.call.call.name
    if name.startswith("increase"):
        return Finding(not pair.pnl, pair.name, "an ordinary pair: a PnL pair has no increase")
    if name != "openTrade":
        return Finding(True, pair.name, pair.name)
    enum = case.situation.deployment.enums.get("openOrderType", {})
    wrong = enum.get("market" if pair.pnl else "market_pnl")
    got = case.message["orderType"]
    return Finding(
        got != wrong, f"order type {got} on {pair.name}", "market on an ordinary pair, market_pnl on a PnL pair"
    )


def spender_is_pinned(case: Case) -> Finding | None:
    """An approval is for the pinned trading storage and nobody else."""
    if case.call.call.name != "approve":
        return None
    expected = case.situation.deployment.contracts.get("tradingStorage")
    got = case.message["spender"]
    return Finding(got == expected, checksum_address(got), checksum_address(expected) if expected else "a pinned one")


def approval_is_bounded(case: Case) -> Finding | None:
    """An approval of more than there can ever be is unlimited, and only the word ``unlimited`` in the plan asks for it."""
    if case.call.call.name != "approve":
        return None
    amount, wanted = case.message["amount"], case.step.values.get("amountUsdc")
    ok = amount < UNLIMITED_FROM_RAW or (wanted is not None and wanted.text == "unlimited")
    return Finding(ok, amount, "an amount, or the word unlimited in the plan")


def fees_are_limited(case: Case) -> Finding:
    """The fee per gas keeps the plan's limit, and the priority fee keeps the fee."""
    filled, most = case.request.transaction, case.situation.plan.limits.max_fee_at_most_wei
    if filled is None or most is None:
        return Finding(False, filled, "the limit max_fee_gwei_at_most in the plan")
    ok = 0 <= filled.maxPriorityFeePerGas <= filled.maxFeePerGas <= most and filled.maxFeePerGas > 0
    got = f"{to_human(filled.maxFeePerGas, GWEI)} gwei, priority {to_human(filled.maxPriorityFeePerGas, GWEI)} gwei"
    return Finding(ok, got, f"at most {to_human(most, GWEI)} gwei")


def gas_is_reasonable(case: Case) -> Finding:
    """The gas limit is between a bare transfer and what no call of the table needs."""
    gas = case.request.transaction.gas if case.request.transaction else 0
    return Finding(GAS_AT_LEAST <= gas <= GAS_AT_MOST, gas, f"{GAS_AT_LEAST} to {GAS_AT_MOST}")


def nonce_is_reasonable(case: Case) -> Finding:
    """The account nonce is one that an account can have."""
    nonce = case.request.transaction.nonce if case.request.transaction else -1
    return Finding(0 <= nonce < NONCE_AT_MOST, nonce, "a count of transactions")


def route_is_relay(case: Case) -> Finding:
    """A transaction goes to the relay, or to the operator's own node."""
    return Finding(case.request.route == ROUTE and case.request.order_type is None, case.request.route, ROUTE)


def complete(case: Case) -> None:
    """Establish ``case.digest`` of a transaction that no check refused."""
    if case.request.transaction is not None:
        case.digest = signing_hash(case.request.payload, case.request.transaction)


CHECKS = (
    Check("TX-KEYS", keys_are_known),
    Check("TX-CHAIN", chain_is_pinned),
    Check("TX-TO", contract_is_pinned, ("call",)),
    Check("TX-FROM", sender_is_signer, ("step",)),
    Check("TX-VALUE", nothing_is_sent),
    Check("TX-TRADER", account_is_planned, ("call", "step")),
    Check("TX-DELEGATE", delegation_is_live, ("call",)),
    Check("TX-PAIR", pair_is_pinned, ("call", "fields", "message")),
    Check("TX-SPENDER", spender_is_pinned, ("call", "message")),
    Check("TX-UNLIMITED", approval_is_bounded, ("call", "message", "step")),
    Check("TX-FEES", fees_are_limited),
    Check("TX-GAS", gas_is_reasonable),
    Check("TX-NONCE", nonce_is_reasonable),
    Check("ORDER-ROUTE", route_is_relay),
)
