"""The rehearsal's venue on a chain: its contracts, its operator, and what services ask of the two.

The operator submits signed intents, brings the prices at which stored orders fill, and sets up what a rehearsal starts
with. Raw units throughout: USDC 1e6; prices, leverage, coins and percent 1e10; deadlines ms, expiries s.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from airlock_rehearsal.chain.evm import CONTRACTS, REFERRAL, ROUTER, STORAGE, USDC, EvmCall, EvmReceipt
from airlock_rehearsal.chain.interface import EmittedEvent, creation_code, decode_logs, decode_result, encode_call
from airlock_rehearsal.chain.sending import OPERATOR, required, transact, transact_together

if TYPE_CHECKING:
    from airlock_rehearsal.chain.embedded import EmbeddedEvm

OPERATOR_WEI = 100 * 10**18
_CREATION_GAS, _CALL_GAS = 5_000_000, 1_000_000

ENTRY_POINTS = {
    "OpenTradeReq": (ROUTER, "openTradeWithSig"),
    "OpenTradeCoinExposureReq": (ROUTER, "openTradeCoinExposureWithSig"),
    "CloseTradeReq": (ROUTER, "closeTradeWithSig"),
    "CloseTradeCoinExposureReq": (ROUTER, "closeTradeCoinExposureWithSig"),
    "IncreasePositionSizeReq": (ROUTER, "increasePositionSizeWithSig"),
    "IncreasePositionSizeWithCoinExposureReq": (ROUTER, "increasePositionSizeWithCoinExposureWithSig"),
    "TpSlReq": (ROUTER, "storeTpSlWithSig"),
    "TwapCancelReq": (ROUTER, "cancelTwapWithSig"),
    "DelegateReq": (ROUTER, "setDelegateWithSig"),
    "SetTraderReferralCodeByUserReq": (REFERRAL, "setTraderReferralCodeByUserWithSig"),
    "RegisterCodeReq": (REFERRAL, "registerCodeWithSig"),
}
"""The contract and the function that take each struct, as ``(bytes signature, bytes intent)``."""


def call_to(contract: str, function: str, *arguments: Any) -> EvmCall:
    """Return the call of a function of one of the contracts."""
    return EvmCall(CONTRACTS[contract], encode_call(contract, function, *arguments), _CALL_GAS)


def entry(struct: str, intent: bytes, signature: bytes) -> EvmCall:
    """Return the call that submits a signed intent."""
    return call_to(*ENTRY_POINTS[struct], signature, intent)


class CallOutcome(NamedTuple):
    """A transaction that went through: its receipt and what it emitted."""

    receipt: EvmReceipt
    events: list[EmittedEvent]


class ChainVenue:
    """The venue's contracts on a chain, and the operator who runs it."""

    def __init__(self, evm: EmbeddedEvm) -> None:
        self.evm = evm

    @classmethod
    def deployed(cls, evm: EmbeddedEvm, *, trading_name: str, referral_name: str) -> ChainVenue:
        """Put the venue on a new chain: four creations in one block, at addresses that never change.

        The names are those of its two signing domains; the operator gets funds for gas.
        """
        operator, router = OPERATOR.address, CONTRACTS[ROUTER]
        evm.fund(operator, OPERATOR_WEI)
        codes = (
            creation_code(USDC, operator),
            creation_code(STORAGE, operator, router, CONTRACTS[USDC]),
            creation_code(REFERRAL, referral_name, operator, router),
            creation_code(ROUTER, trading_name, operator, CONTRACTS[STORAGE], CONTRACTS[REFERRAL]),
        )
        venue = cls(evm)
        venue.act_together([EvmCall("", code, _CREATION_GAS) for code in codes])
        return venue

    def _simulated(self, call: EvmCall) -> bytes:
        return self.evm.call(OPERATOR.address, call.to, call.data)

    def read(self, contract: str, function: str, *arguments: Any) -> Any:
        """Return what a view returns: a value, or a list of them."""
        return decode_result(contract, function, self._simulated(call_to(contract, function, *arguments)))

    def act(self, contract: str, function: str, *arguments: Any) -> CallOutcome:
        """Call a function as the operator. Raises ``Reverted`` before anything is sent."""
        return self.outcome(transact(self.evm, OPERATOR, call_to(contract, function, *arguments)))

    def act_together(self, calls: Sequence[EvmCall]) -> None:
        """Make calls as the operator, all in one block. Raises ``Reverted`` for the first that reverts."""
        required(transact_together(self.evm, OPERATOR, calls))

    @staticmethod
    def outcome(receipt: EvmReceipt) -> CallOutcome:
        """Return a receipt with its logs decoded. Raises ``Reverted`` when the transaction reverted."""
        required([receipt])
        return CallOutcome(receipt, decode_logs(receipt.logs))

    def check(self, struct: str, intent: bytes, signature: bytes) -> None:
        """Simulate the submission of a signed intent. Raises ``Reverted``."""
        self._simulated(entry(struct, intent, signature))

    def submit(self, struct: str, intent: bytes, signature: bytes) -> CallOutcome:
        """Submit a signed intent. Raises ``Reverted`` before anything is sent."""
        return self.act(*ENTRY_POINTS[struct], signature, intent)

    def send(self, struct: str, intent: bytes, signature: bytes) -> EvmReceipt:
        """Send a signed intent whatever a simulation would say; the receipt tells whether it reverted."""
        return transact_together(self.evm, OPERATOR, [entry(struct, intent, signature)])[0]

    def nonce_used(self, contract: str, owner: str, nonce: int) -> bool:
        """Tell whether a nonce is spent in the space of ``TradingRouter`` or ``Referral``."""
        return bool(self.read(contract, "nonceBitmap", owner, nonce >> 8) >> (nonce & 255) & 1)

    def delegation_expiry(self, trader: str, delegate: str) -> int:
        """Return until when a delegate may act, in unix seconds; 0 when it is none."""
        return int(self.read(ROUTER, "multipleDelegations", trader, delegate))

    def trades_of(self, trader: str) -> list[dict[str, Any]]:
        """Return a trader's open positions as Trade tuples, by pair and slot."""
        return list(self.read(STORAGE, "tradesOf", trader))
