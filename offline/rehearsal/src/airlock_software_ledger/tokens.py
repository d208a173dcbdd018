"""What the software Ledger was told of tokens (INS 0A): records that carry Ledger's own signature, and no others."""

from __future__ import annotations

from airlock_offline.ledger.drawing.network_names import NETWORKS
from airlock_shared.documents.token_metadata import TokenMetadata
from airlock_software_ledger.status_words import BAD_DATA, Failed

SIGNER = bytes.fromhex(  # the key that app 1.22.0 checks records with: data of LedgerHQ/app-ethereum, src/public_keys.h
    "045e6c1020c14dc46442fe89f97c0b68cdb15976dc24f24c316e7b30fe4e8cc7"
    "6b1489150c21514ebf440ff5dea5393d83de5358cd098fce8fd0f81daa94979183"
)
_KEPT = 5
_MAX_TICKER = 50
_FIXED = 20 + 4 + 4


class Tokens:
    """The tokens of which the app knows, at most five: a sixth takes the place of the first."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Forget all of them, as the app does after every request of a person."""
        self._kept: list[TokenMetadata | None] = [None] * _KEPT
        self._next = 0

    def provide(self, _p1: int, _p2: int, data: bytes) -> bytes:
        """Take a record and answer its place. Raises ``Failed`` for what the app refuses."""
        length = data[0] if data else 0
        signed, signature = data[1 : 1 + length + _FIXED], data[1 + length + _FIXED :]
        if not data or length > _MAX_TICKER or len(signed) < length + _FIXED:
            raise Failed(BAD_DATA)
        rest = signed[length:]
        decimals, chain_id = int.from_bytes(rest[20:24], "big"), int.from_bytes(rest[24:28], "big")
        if chain_id not in NETWORKS or not is_ledgers(signed, signature):
            raise Failed(BAD_DATA)
        place = self._next
        self._kept[place] = TokenMetadata(signed[:length].decode("latin-1"), rest[:20], decimals, chain_id, data)
        self._next = (place + 1) % _KEPT
        return bytes((place,))

    def get(self, place: int) -> TokenMetadata | None:
        """Return the token at a place."""
        return self._kept[place]

    def place_of(self, contract: bytes) -> int | None:
        """Return the place of a contract's token."""
        return next((at for at, token in enumerate(self._kept) if token and token.address == contract), None)

    def pass_over(self, place: int) -> None:
        """Leave a place empty: the next record takes the one after it."""
        if self._next == place:
            self._next = (place + 1) % _KEPT


def is_ledgers(signed: bytes, signature: bytes) -> bool:
    """Tell whether this is Ledger's signature, in DER; its s may be in either half, as the app takes it."""
    from coincurve import PublicKey
    from coincurve.ecdsa import cdata_to_der, der_to_cdata, signature_normalize

    try:
        _, normalized = signature_normalize(der_to_cdata(signature))
    except ValueError:
        return False
    return bool(PublicKey(SIGNER).verify(cdata_to_der(normalized), signed))
