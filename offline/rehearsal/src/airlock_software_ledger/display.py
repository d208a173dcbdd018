"""What the software Ledger shows of the typed data that came in: from raw bytes, not from anybody's canonical values."""

from __future__ import annotations

from airlock_offline.ledger.models import Touch, screen_of, text_lines
from airlock_offline.ledger.screens import NETWORKS, Page, ScreenField, button_field_pages, shown_bytes, shown_string
from airlock_shared.documents.ledger_metadata import TokenMetadata
from airlock_software_ledger.answers import fail_if
from airlock_software_ledger.typed_stream import ADDRESS, BOOL, DOMAIN, INT, STRING, UINT, FieldType, TypedStream


def typed_fields(typed: TypedStream, model: str, *, message_hash_only: bool) -> list[ScreenField]:
    """Return the fields of a finished flow: each struct's heading and its values.

    ``message_hash_only``: as a Nano does with Raw messages off, the domain's values and then the message's hash.
    """
    result: list[ScreenField] = []
    for root in [DOMAIN] if message_hash_only else typed.hashes:
        result += [ScreenField("Review struct", root)] * (not message_hash_only)
        result += [
            ScreenField(seen.field.name, shown(seen.field, seen.raw, model)) for seen in typed.seen if seen.root == root
        ]
    if message_hash_only:
        result.append(ScreenField("Message hash", shown_bytes(typed.domain_and_message()[1])))
    return result


def shown(field: FieldType, raw: bytes, model: str) -> str:
    """Return a value's raw bytes as the device writes them on its screen."""
    if field.code in (INT, UINT):
        signed = field.code == INT and len(raw) == field.size
        return str(int.from_bytes(raw, "big", signed=signed))
    if field.code == ADDRESS:
        from eth_utils.address import to_checksum_address  # noqa: PLC0415 - heavy: loaded where it is needed

        return str(to_checksum_address(raw))
    if field.code == BOOL:
        return "true" if any(raw) else "false"
    return shown_string(raw, model) if field.code == STRING else shown_bytes(raw)


def address_pages(network: str, address: str, model: str) -> list[Page]:
    """Return the pages on which a person compares an address (EIP-55) with the plan's."""
    layout = screen_of(model).layout
    field = ScreenField("Address", address)
    if isinstance(layout, Touch):
        first = [f"Verify {network}", "address", "Swipe to continue", "Cancel", "1 of 2"]
        return [
            first,
            [field.title, *text_lines(address, layout.values), "Cancel", "2 of 2", "Confirm"],
        ]
    return [[f"Verify {network}", "address"], *button_field_pages(field, layout), ["Confirm"]]


# ---- tokens ---------------------------------------------------------------------------------------------------------
# What the software Ledger was told of tokens (INS 0A): records that carry Ledger's own signature, and no others.


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
        fail_if(not data or length > _MAX_TICKER or len(signed) < length + _FIXED)
        rest = signed[length:]
        decimals, chain_id = int.from_bytes(rest[20:24], "big"), int.from_bytes(rest[24:28], "big")
        fail_if(chain_id not in NETWORKS or not is_ledgers(signed, signature))
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
    from coincurve import PublicKey  # noqa: PLC0415 - heavy: loaded where it is needed
    from coincurve.ecdsa import cdata_to_der, der_to_cdata, signature_normalize  # noqa: PLC0415 - as above

    try:
        _, normalized = signature_normalize(der_to_cdata(signature))
    except ValueError:
        return False
    return bool(PublicKey(SIGNER).verify(cdata_to_der(normalized), signed))
