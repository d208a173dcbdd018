"""EIP-7702 authorizations as the software Ledger reads them: a list of tags, and the contracts that the app knows."""

from __future__ import annotations

from typing import NamedTuple

from airlock_offline.ledger.transaction_screens import authorization_review
from airlock_offline.ledger.typed_data_screens import Review, ScreenField
from airlock_shared.ethereum.keccak import keccak256
from airlock_software_ledger.status_words import BAD_DATA, ORDER, Failed

MAGIC = b"\x05"  # EIP-7702
KNOWN_CONTRACTS = {bytes.fromhex("4cd241e8d1510e30b2076397afc7508ae59c66c9"): "Simple7702Account"}  # as recorded
_TAGS = (0, 1, 2, 3)  # structure version, contract, chain id, nonce
_NOBODY = bytes(20)


class Authorization(NamedTuple):
    """Who may act as this account: the contract (20 bytes), the chain id, and the account's nonce."""

    contract: bytes
    chain_id: int
    nonce: int

    def digest(self) -> bytes:
        """Return the hash that is signed: ``keccak256(0x05 || rlp([chain id, contract, nonce]))``."""
        from rlp import encode

        return keccak256(MAGIC + bytes(encode([self.chain_id, self.contract, self.nonce])))


def read_authorization(data: bytes) -> Authorization:
    """Read the length and the tags. Raises ``Failed``, also for a contract that the app does not know."""
    tlv = data[2:]
    if len(data) < 2 or int.from_bytes(data[:2], "big") != len(tlv):
        raise Failed(BAD_DATA)
    values: dict[int, bytes] = {}
    while tlv:
        length = tlv[1] if len(tlv) > 1 else len(tlv)
        if len(tlv) < 2 + length or tlv[0] in values:
            raise Failed(BAD_DATA)
        values[tlv[0]], tlv = tlv[2 : 2 + length], tlv[2 + length :]
    if tuple(sorted(values)) != _TAGS or values[0] != b"\x01" or len(values[1]) != 20:
        raise Failed(BAD_DATA)
    if max(len(values[2]), len(values[3])) > 8:
        raise Failed(BAD_DATA)
    if values[1] != _NOBODY and values[1] not in KNOWN_CONTRACTS:
        raise Failed(ORDER)
    return Authorization(values[1], int.from_bytes(values[2], "big"), int.from_bytes(values[3], "big"))


def review_of(authorization: Authorization, account: str, model: str) -> tuple[Review, list[ScreenField]]:
    """Return the frame and the fields with which an authorization is shown."""
    name = KNOWN_CONTRACTS.get(authorization.contract, "")
    return authorization_review(account, name, authorization.chain_id, model)
