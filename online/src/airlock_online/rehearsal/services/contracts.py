"""The rehearsal's contracts: what a call would do, whether it reverts, and what it changes when it is executed.

``prepare`` looks and ``Effect.apply`` changes the world, so a simulation is the first without the second. The trading
router reverts with custom errors, whose names are those of the specification where it has them; the token and the referral
contract revert with texts. Orders are stored here and executed later, by the operator (``keeper``).
"""

from __future__ import annotations

from typing import NamedTuple

from airlock_online.rehearsal.services.calls import ContractCall, decode_call
from airlock_online.rehearsal.services.reverts import Reverted, custom, reason
from airlock_online.rehearsal.services.settings import REFERRAL, TRADING_ROUTER, TRADING_STORAGE, USDC
from airlock_online.rehearsal.services.stored_orders import ORDERS, Apply, Handler
from airlock_online.rehearsal.services.typed import Malformed, Message
from airlock_online.rehearsal.services.views import view
from airlock_online.rehearsal.services.world import World

CONTRACTS = frozenset({TRADING_ROUTER, TRADING_STORAGE, USDC, REFERRAL})
"""The pinned contracts: what the relay sends transactions to."""


class Effect(NamedTuple):
    """What a call returns, and what it changes once it is applied."""

    returned: bytes
    apply: Apply


def _nothing() -> None:
    return None


def prepare(world: World, sender: str, to: str, data: bytes, value: int = 0) -> Effect:
    """Return what a call would do now. Raises ``Reverted``."""
    if to not in CONTRACTS:
        return Effect(b"", _nothing)
    if value:
        raise Reverted(to, "the contract takes no native currency", b"")
    if (read := view(world, to, data)) is not None:
        return Effect(read, _nothing)
    try:
        call, arguments = decode_call(data)
    except Malformed as error:
        raise Reverted(to, str(error), b"") from error
    if call.contract != to:
        raise Reverted(to, f"{call.name} is not a function of this contract", b"")
    if call.name != "delegatedAction":
        return Effect(b"", _HANDLERS[call.name](world, sender, arguments))
    trader, inner = str(arguments["trader"]), _inner(arguments)
    if not world.is_live_delegate(trader, sender):
        raise custom("NotDelegate", TRADING_ROUTER)
    inner_call, inner_arguments = inner
    if not inner_call.delegable:
        raise custom("NotAllowedForDelegate", TRADING_ROUTER)
    return Effect(b"", _HANDLERS[inner_call.name](world, trader, inner_arguments))


def _inner(arguments: Message) -> tuple[ContractCall, Message]:
    try:
        return decode_call(bytes.fromhex(str(arguments["call"])[2:]))
    except Malformed as error:
        raise custom("UnknownAction", TRADING_ROUTER) from error


def _approve(world: World, sender: str, call: Message) -> Apply:
    return lambda: world.allowances.__setitem__((sender, str(call["spender"])), int(str(call["amount"])))


def _set_delegate(world: World, sender: str, call: Message) -> Apply:
    delegate, expiry_s = str(call["delegate"]), int(str(call["expiry"]))
    if delegate == sender:
        raise custom("InvalidDelegate", TRADING_ROUTER)
    if expiry_s <= world.now_s:
        raise custom("InvalidExpiry", TRADING_ROUTER)
    return lambda: world.delegations.__setitem__((sender, delegate), expiry_s)


def _remove_delegate(world: World, sender: str, call: Message) -> Apply:
    key = (sender, str(call["delegate"]))
    if key not in world.delegations:
        raise custom("NotDelegate", TRADING_ROUTER)
    return lambda: world.delegations.__delitem__(key)


def _claim(world: World, sender: str, _call: Message) -> Apply:
    amount = world.rewards.get(sender, 0)
    if amount == 0:
        raise custom("NothingToClaim", TRADING_ROUTER)

    def apply() -> None:
        world.rewards[sender] = 0
        world.usdc[sender] = world.usdc.get(sender, 0) + amount

    return apply


def _update_limit(world: World, sender: str, call: Message) -> Apply:
    number = {name: str(value) for name, value in call.items()}
    orders = [order for entry in world.limit_orders.get(sender, []) if isinstance(order := entry["order"], dict)]
    slot = (number["pairIndex"], number["index"])
    order = next((order for order in orders if (order["pairIndex"], order["index"]) == slot), None)
    if order is None:
        raise custom("NoLimitOrder", TRADING_ROUTER)
    price, stop = int(number["price"]), int(number["sl"])
    if price == 0:
        raise custom("WrongPrice", TRADING_ROUTER)
    if stop and (stop >= price) == bool(order["buy"]):
        raise custom("WrongSl", TRADING_ROUTER)
    changed = {"price": number["price"], "slippageP": number["slippage"], "tp": number["tp"], "sl": number["sl"]}
    return lambda: order.update(changed)


def _code(call: Message) -> bytes:
    return bytes.fromhex(str(call["code"])[2:])


def _set_code(world: World, sender: str, call: Message) -> Apply:
    if not any(_code(call)):
        raise reason("Referral: the code is empty", REFERRAL)
    return lambda: world.referral_codes.__setitem__(sender, _code(call))


def _nominate(world: World, sender: str, call: Message) -> Apply:
    if world.code_owners.get(_code(call)) != sender:
        raise reason("Referral: caller does not own the code", REFERRAL)
    return lambda: world.pending_owners.__setitem__(_code(call), str(call["newOwner"]))


def _accept(world: World, sender: str, call: Message) -> Apply:
    code = _code(call)
    if world.pending_owners.get(code) != sender:
        raise reason("Referral: the code was not offered to the caller", REFERRAL)

    def apply() -> None:
        del world.pending_owners[code]
        world.code_owners[code] = sender

    return apply


def _cancel_request(world: World, sender: str, _call: Message) -> Apply:
    if sender not in world.code_requests:
        raise reason("Referral: caller has no request", REFERRAL)
    return lambda: world.code_requests.__delitem__(sender)


_HANDLERS: dict[str, Handler] = {
    "approve": _approve,
    "setDelegate": _set_delegate,
    "removeDelegate": _remove_delegate,
    "claimTokens": _claim,
    "updateOpenLimitOrder": _update_limit,
    "setTraderReferralCodeByUser": _set_code,
    "setPendingCodeOwnershipTransfer": _nominate,
    "acceptCodeOwnership": _accept,
    "cancelRequest": _cancel_request,
    **ORDERS,
}
