"""What the tests of the chain share: a chain with marks, a venue with something in it, and the good payloads made for it.

Payloads, digests and encodings are made by eth-account and eth-abi (``shared.make_payloads``), the plan is the one that has
a step for every struct, and the deployment is the good one under the rehearsal's chain id and contracts.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

from eth_account import Account
from eth_account.signers.local import LocalAccount

from airlock_rehearsal.chain import embedded
from airlock_rehearsal.chain.evm import CHAIN_ID, CONTRACTS, REFERRAL, ROUTER, STORAGE, USDC, EvmCall, EvmReceipt
from airlock_rehearsal.chain.sending import signed, transact
from airlock_rehearsal.chain.venue import ChainVenue, call_to
from airlock_shared.checks.model import Situation
from airlock_shared.documents.deployment import parse_deployment
from shared.make_payloads import DESK, KEYS, NOW_MS, OTHER, TREASURY, seal
from shared.world import DEPLOYMENT_TEXT, good, plan, to_bytes

ROOT = Path(__file__).resolve().parents[3]
NODE_MODULES = ROOT / ".tools/node/node_modules"
NOW_S = NOW_MS // 1000
EXPIRY_S = 1_806_451_200  # of the desk's delegation, as in the vectors
ONE, USDC_ONE = 10**10, 10**6
OPENED_S = {(0, 1): 1_789_000_000, (0, 2): 1_789_000_000, (1, 0): 1_789_000_000, (7, 0): 1_788_220_800}
STRANGER = Account.from_key("0x" + "07" * 32)
TREASURY_SENDER, DESK_SENDER = (Account.from_key(KEYS[who]) for who in (TREASURY, DESK))


class Clock:
    """The clock that a chain follows; a test turns it."""

    def __init__(self) -> None:
        self.now_s = NOW_S - 60  # while the venue is set up, whose blocks run ahead of it

    def __call__(self) -> int:
        return self.now_s


class _Mark(NamedTuple):
    header: Any
    blocks: int
    mined: dict[str, Any]


class EmbeddedEvm(embedded.EmbeddedEvm):
    """The rehearsal's chain with marks: a test begins where another began."""

    def snapshot(self) -> _Mark:
        return _Mark(self._chain.header, len(self._blocks), dict(self._mined))

    def go_back(self, mark: _Mark) -> None:
        self._chain.header, self._mined = mark.header, mark.mined
        del self._blocks[mark.blocks :]


class Ground(NamedTuple):
    """A venue on a chain, and the clock that both follow."""

    venue: ChainVenue
    clock: Clock

    @property
    def evm(self) -> EmbeddedEvm:
        return cast(EmbeddedEvm, self.venue.evm)

    def send(self, sender: LocalAccount, contract: str, function: str, *arguments: Any) -> EvmReceipt:
        """Send a transaction of a person's, once its simulation has gone through."""
        return transact(self.evm, sender, call_to(contract, function, *arguments))

    def raw(self, sender: LocalAccount, contract: str, data: bytes, gas: int = 1_500_000) -> bytes:
        return signed(self.evm, sender, EvmCall(CONTRACTS[contract], data, gas))


def set_up(evm: EmbeddedEvm, clock: Clock) -> Ground:
    """Deploy the venue with pairs, positions and money, and make the desk a delegate of the treasury."""
    venue = ChainVenue.deployed(evm, trading_name="ExchangeTrading", referral_name="ExchangeReferral")
    ground = Ground(venue, clock)
    for account in (TREASURY, DESK, OTHER, STRANGER.address):
        evm.fund(account, 10**18)
    venue.act_together([call_to(contract, function, *arguments) for contract, function, arguments in _start()])
    ground.send(TREASURY_SENDER, USDC, "approve", CONTRACTS[STORAGE], 50_000 * USDC_ONE)
    ground.send(TREASURY_SENDER, ROUTER, "setDelegate", DESK, EXPIRY_S)
    clock.now_s = NOW_S
    return ground


def _start() -> Iterator[tuple[str, str, tuple[Any, ...]]]:
    yield USDC, "mint", (CONTRACTS[STORAGE], 10**6 * USDC_ONE)
    yield USDC, "mint", (TREASURY, 10**5 * USDC_ONE)
    for number, low, high, pnl in ((0, 1, 100, False), (1, 1, 100, False), (7, 75, 500, True)):
        pair = {"listed": True, "pnl": pnl, "closeOnly": False, "minLeverage": low * ONE, "maxLeverage": high * ONE}
        yield STORAGE, "setPair", (number, pair)
    closing = {"listed": True, "pnl": False, "closeOnly": True, "minLeverage": ONE, "maxLeverage": 10 * ONE}
    yield STORAGE, "setPair", (2, closing)
    for place, collateral, leverage, price, buy in (
        ((0, 1), 100, 10, 62_000, True), ((0, 2), 1_000, 10, 62_000, True),
        ((1, 0), 500, 8, 3_300, False), ((7, 0), 250, 75, 62_000, True),
    ):  # fmt: skip
        yield STORAGE, "seedTrade", (trade(place, collateral, leverage, price, buy, OPENED_S[place]),)
    waiting = trade((0, 0), 0, 5, 60_000, True, 0, size=100 * USDC_ONE)
    yield STORAGE, "seedLimit", (waiting, 2, ONE)
    for twap_id in (41, 42):
        yield STORAGE, "seedTwap", (twap_id, {"trader": TREASURY, "escrow": 75 * USDC_ONE})
    yield STORAGE, "creditKeeper", (TREASURY, 25 * USDC_ONE)
    yield "Referral", "seedCode", (code("HOUSE"), TREASURY, "0x" + "00" * 20)
    yield "Referral", "seedCode", (code("OFFERED"), OTHER, TREASURY)
    yield "Referral", "seedRequest", (TREASURY, code("OFFERED"))


def trade(
    place: tuple[int, int],
    collateral: int,
    leverage: int,
    price: int,
    buy: bool,
    opened_s: int,
    size: int | None = None,
) -> dict[str, Any]:
    """Return a Trade tuple of the treasury's; USDC, leverage and price in whole units."""
    return {
        "trader": TREASURY, "pairIndex": place[0], "index": place[1], "initialPosToken": collateral * USDC_ONE,
        "positionSizeUSDC": collateral * leverage * USDC_ONE if size is None else size, "openPrice": price * ONE,
        "buy": buy, "leverage": leverage * ONE, "tp": 0, "sl": 0, "timestamp": opened_s,
    }  # fmt: skip


def code(text: str) -> bytes:
    return text.encode().ljust(32, b"\0")


def pinned() -> dict[str, Any]:
    """Return the good deployment with this chain's id and contracts, as JSON."""
    document: dict[str, Any] = json.loads(DEPLOYMENT_TEXT)
    document["chain_id"] = CHAIN_ID
    document["contracts"] = {
        "tradingRouter": CONTRACTS[ROUTER], "tradingStorage": CONTRACTS[STORAGE],
        "usdc": CONTRACTS[USDC], "referral": CONTRACTS[REFERRAL],
    }  # fmt: skip
    for name, contract in (("trading", ROUTER), ("referral", REFERRAL)):
        document["domains"][name] |= {"chainId": CHAIN_ID, "verifyingContract": CONTRACTS[contract]}
    return document


def situation() -> Situation:
    return Situation(plan(), parse_deployment(to_bytes(pinned())), NOW_MS)


def document(step: str) -> dict[str, Any]:
    """Return the good requests document of a step, its domain and its seal this chain's."""
    made = good(step)
    payload = made["requests"][0]["payload"]
    domains = pinned()["domains"]
    names = {domain["name"]: domain for domain in domains.values()}
    payload["domain"] = dict(names[payload["domain"]["name"]])
    seal(payload)
    return made


def signer_of(step: str) -> LocalAccount:
    """Return who the plan names to sign a step."""
    address = "0x" + plan().steps[step].signer.address.hex()
    return cast(LocalAccount, {each.address.lower(): each for each in (TREASURY_SENDER, DESK_SENDER)}[address])
