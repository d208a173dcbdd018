"""The contract calls that the rehearsal's builder writes, as a table of its own.

It repeats what ``airlock_shared.catalogue.calls`` says, on purpose: the services must not inherit a mistake of the gate.
Selectors come from eth-utils' keccak and arguments from eth-abi. Source: the specification, "Builder: unsigned
transactions"; the signatures are those of comparable venues.
"""

from __future__ import annotations

from typing import NamedTuple

from eth_abi import abi
from eth_utils.crypto import keccak

from airlock_rehearsal.services.settings import REFERRAL, TRADING_ROUTER, USDC
from airlock_rehearsal.services.venue.eip712_peer import Message, tuple_type, values_of


class ContractCall(NamedTuple):
    """A function of a contract: its arguments as ``"type name"``; ``delegable``: a delegate may call it for a trader."""

    name: str
    contract: str
    arguments: tuple[str, ...]
    delegable: bool = False


def _call(name: str, contract: str, arguments: str = "", *, delegable: bool = False) -> ContractCall:
    return ContractCall(name, contract, tuple(arguments.split(",")) if arguments else (), delegable)


_ALL = (
    _call("approve", USDC, "address spender,uint256 amount"),
    _call("setDelegate", TRADING_ROUTER, "address delegate,uint256 expiry"),
    _call("removeDelegate", TRADING_ROUTER, "address delegate"),
    _call("delegatedAction", TRADING_ROUTER, "address trader,bytes call"),
    _call("claimTokens", TRADING_ROUTER),
    _call("openTrade", TRADING_ROUTER, "Trade t,uint8 orderType,uint256 slippage", delegable=True),
    _call(
        "closeTradeMarket",
        TRADING_ROUTER,
        "uint256 pairIndex,uint256 index,uint256 amount,uint256 wantedPrice",
        delegable=True,
    ),
    _call("increasePositionSize", TRADING_ROUTER, "UpdatePositionSize info,uint256 slippage", delegable=True),
    _call(
        "increasePositionSizeWithCoinExposure",
        TRADING_ROUTER,
        "UpdatePositionSize info,uint256 coinExposure,uint256 minLeverage,uint256 maxLeverage,uint256 slippage",
        delegable=True,
    ),
    _call(
        "updateOpenLimitOrder",
        TRADING_ROUTER,
        "uint256 pairIndex,uint256 index,uint256 price,uint256 slippage,uint256 tp,uint256 sl",
        delegable=True,
    ),
    _call("setTraderReferralCodeByUser", REFERRAL, "bytes32 code", delegable=True),
    _call("setPendingCodeOwnershipTransfer", REFERRAL, "bytes32 code,address newOwner"),
    _call("acceptCodeOwnership", REFERRAL, "bytes32 code"),
    _call("cancelRequest", REFERRAL),
)

CALLS = {call.name: call for call in _ALL}
"""Every function that changes something, by name."""


def encode_call(name: str, message: Message) -> bytes:
    """Return the calldata of a function from its arguments by name."""
    arguments = CALLS[name].arguments
    types = [tuple_type([member])[1:-1] for member in arguments]
    selector = bytes(keccak((name + tuple_type(arguments)).encode())[:4])
    return selector + bytes(abi.encode(types, values_of(arguments, message)))
