"""Random transactions to compare pages with: seeds to look at while building, and seeds that are kept back.

Most of them carry calldata: calls of the catalogue with random arguments, approvals of a token that the device was told of
or not, and bytes of nobody.
"""

import random
from typing import NamedTuple

from rlp import encode

from airlock_offline.ledger.ethereum_app import EthereumApp
from airlock_offline.ledger.screens import Page, ShownTransaction, transaction_pages
from airlock_offline.ledger.transport import Transport
from airlock_shared.documents.ledger_metadata import read_token_metadata
from airlock_shared.ethereum.signatures import keccak256
from offline.recordings import SIGNER
from shared.token_records import MAINNET_USDC, USDC_RECORD
from shared.world import selectors
from speculos.asking import PATH

USDC = read_token_metadata(USDC_RECORD)
BUILT_WITH, KEPT_BACK = range(100), range(100, 200)
_CHAINS = (1, 1, 1, 10, 56, 137, 8453, 8453, 42161, 84532, 11155111, 31337, 999_999, 2**40 + 1)
_APPROVE = bytes.fromhex("095ea7b3")


class RandomTransaction(NamedTuple):
    """What is sent, and whether the device is told of the token first."""

    chain_id: int
    to: bytes
    value_wei: int
    gas: int
    fee_per_gas: int
    data: bytes
    told: bool
    unsigned: bytes

    @property
    def digest(self) -> bytes:
        return keccak256(self.unsigned)

    @property
    def is_blind(self) -> bool:
        return bool(self.data) and not self.told

    def ask(self, ledger: Transport) -> bytes:
        """Have it signed, after the token was told of."""
        client = EthereumApp(ledger)
        if self.told:
            client.provide_token(USDC)
        return client.sign_transaction(PATH, self.unsigned)

    def pages(self, built: str) -> list[Page]:
        """Return what the review would have listed beforehand."""
        fee_wei, token = self.gas * self.fee_per_gas, USDC if self.told else None
        shown = ShownTransaction(SIGNER, self.chain_id, self.to, self.value_wei, fee_wei, self.data, self.digest, token)
        return transaction_pages(shown, built)


def transaction(seed: int) -> RandomTransaction:
    """Return the transaction of a seed, of type 2."""
    draw = random.Random(f"airlock transaction {seed}")
    kind = draw.choice(("plain", "plain", "call", "call", "approve", "told", "bytes"))
    chain_id = 1 if kind == "told" else draw.choice(_CHAINS)
    to = MAINNET_USDC if kind == "told" else draw.randbytes(20)
    value = 0 if kind in ("approve", "told") else draw.choice((0, draw.getrandbits(draw.randrange(1, 90))))
    gas, fee = draw.randrange(21_000, 5_000_000), draw.getrandbits(draw.randrange(1, 45))
    data = _data(draw, kind)
    fields = [chain_id, draw.getrandbits(draw.randrange(1, 20)), fee // 2, fee, gas, to, value, data, []]
    return RandomTransaction(chain_id, to, value, gas, fee, data, kind == "told", b"\x02" + bytes(encode(fields)))


def call_of(selector: bytes) -> RandomTransaction:
    """Return a transaction with a call of this selector; its arguments are random, and always the same.

    The app reads an approval itself, so that it has its two arguments; of another call it shows nothing but the hash.
    """
    draw = random.Random(f"airlock call {selector.hex()}")
    gas, fee, to = draw.randrange(21_000, 5_000_000), draw.getrandbits(36), draw.randbytes(20)
    data = _data(draw, "approve") if selector == _APPROVE else selector + draw.randbytes(32 * draw.randrange(1, 12))
    fields = [8453, 7, fee // 2, fee, gas, to, 0, data, []]
    return RandomTransaction(8453, to, 0, gas, fee, data, False, b"\x02" + bytes(encode(fields)))


def _data(draw: random.Random, kind: str) -> bytes:
    if kind in ("approve", "told"):
        amount = draw.choice((0, 1, 2**256 - 1, draw.getrandbits(40), draw.getrandbits(100), draw.getrandbits(256)))
        return _APPROVE + bytes(12) + draw.randbytes(20) + amount.to_bytes(32, "big")
    if kind == "call":
        selector = draw.choice([known for known, name in sorted(selectors().items()) if name != "approve"])
        return selector + draw.randbytes(32 * draw.randrange(0, 14))
    return draw.randbytes(draw.randrange(4, 300)) if kind == "bytes" else b""
