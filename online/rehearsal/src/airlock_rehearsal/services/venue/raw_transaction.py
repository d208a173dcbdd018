"""A signed transaction as it is sent: read and its sender recovered, by eth-account and eth-keys.

EIP-1559 transactions alone (type 2). ``airlock_shared.catalogue.eip1559`` is not used: the services are the second opinion.
"""

from __future__ import annotations

from eth_account.typed_transactions.typed_transaction import TypedTransaction
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak
from eth_utils.exceptions import ValidationError
from hexbytes import HexBytes
from rlp.exceptions import RLPException

from airlock_rehearsal.chain.evm import EvmTransaction
from airlock_rehearsal.services.envelope import Refused
from airlock_rehearsal.services.venue.eip712_peer import recover

TYPE_2 = 0x02
_NUMBERS = ("nonce", "gas", "maxFeePerGas", "maxPriorityFeePerGas", "value", "chainId")
LARGEST = 128 * 1024  # what nodes take


def hash_of(raw: bytes) -> str:
    """Return the hash by which raw bytes are known as a transaction."""
    return "0x" + bytes(keccak(raw)).hex()


def read_transaction(raw: bytes) -> EvmTransaction:
    """Read a raw transaction. Raises ``Refused`` for another type, another encoding, or a signature of nobody."""
    if not raw or len(raw) > LARGEST:
        raise Refused(f"a transaction has 1 to {LARGEST} bytes")
    if raw[0] != TYPE_2:
        raise Refused("transaction type not supported: type 2 (EIP-1559) is")
    try:
        decoded = TypedTransaction.from_bytes(HexBytes(raw))
        same = decoded.encode() == raw
    except (RLPException, ValidationError, ValueError, TypeError, KeyError) as error:
        raise Refused("the transaction cannot be decoded") from error
    if not same:
        raise Refused("the transaction is not in its canonical encoding")
    fields = decoded.as_dict()
    if len(fields["to"]) != 20:
        raise Refused("a transaction that creates a contract")
    parity, r, s = (int(fields[name]) for name in ("v", "r", "s"))
    if parity not in (0, 1):
        raise Refused("the signature's parity is neither 0 nor 1")
    signature = r.to_bytes(32, "big") + s.to_bytes(32, "big") + bytes([27 + parity])
    nonce, gas, fee, priority, value, chain = (int(fields[name]) for name in _NUMBERS)
    sender, to = recover(decoded.hash(), signature), to_checksum_address(fields["to"])
    return EvmTransaction(hash_of(raw), sender, to, nonce, gas, fee, priority, value, bytes(fields["data"]), chain)
