"""A signed transaction as it is sent: read and its sender recovered, by eth-account and eth-keys.

EIP-1559 transactions alone (type 2). ``airlock_shared.catalogue.eip1559`` is not used: the services are the second opinion.
"""

from __future__ import annotations

from typing import NamedTuple

from eth_account.typed_transactions.typed_transaction import TypedTransaction
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak
from eth_utils.exceptions import ValidationError
from hexbytes import HexBytes
from rlp.exceptions import RLPException

from airlock_rehearsal.services.venue.eip712_peer import Malformed, recover

TYPE_2 = 0x02
LARGEST = 128 * 1024  # what nodes take


class SignedTransaction(NamedTuple):
    """A transaction that its sender has signed. Amounts are in wei."""

    hash: str
    sender: str
    to: str
    data: bytes
    value: int
    chain_id: int
    nonce: int
    gas: int
    max_fee_per_gas: int
    max_priority_fee_per_gas: int


def hash_of(raw: bytes) -> str:
    """Return the hash by which raw bytes are known as a transaction."""
    return "0x" + bytes(keccak(raw)).hex()


def read_transaction(raw: bytes) -> SignedTransaction:
    """Read a raw transaction. Raises ``Malformed`` for another type, another encoding, or a signature of nobody."""
    if not raw or len(raw) > LARGEST:
        raise Malformed(f"a transaction has 1 to {LARGEST} bytes")
    if raw[0] != TYPE_2:
        raise Malformed("transaction type not supported: type 2 (EIP-1559) is")
    try:
        decoded = TypedTransaction.from_bytes(HexBytes(raw))
        same = decoded.encode() == raw
    except (RLPException, ValidationError, ValueError, TypeError, KeyError) as error:
        raise Malformed("the transaction cannot be decoded") from error
    if not same:
        raise Malformed("the transaction is not in its canonical encoding")
    fields = decoded.as_dict()
    if len(fields["to"]) != 20:
        raise Malformed("a transaction that creates a contract")
    parity, r, s = (int(fields[name]) for name in ("v", "r", "s"))
    if parity not in (0, 1):
        raise Malformed("the signature's parity is neither 0 nor 1")
    signature = r.to_bytes(32, "big") + s.to_bytes(32, "big") + bytes([27 + parity])
    return SignedTransaction(
        hash_of(raw), recover(decoded.hash(), signature), str(to_checksum_address(fields["to"])), bytes(fields["data"]),
        int(fields["value"]), int(fields["chainId"]), int(fields["nonce"]), int(fields["gas"]),
        int(fields["maxFeePerGas"]), int(fields["maxPriorityFeePerGas"]),
    )  # fmt: skip
