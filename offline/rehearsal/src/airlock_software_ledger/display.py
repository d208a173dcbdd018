"""What the software Ledger shows of the typed data that came in: from raw bytes, not from anybody's canonical values."""

from __future__ import annotations

from airlock_offline.ledger.drawing.line_breaks import lines_of
from airlock_offline.ledger.models import Touch, screen_of
from airlock_offline.ledger.typed_data_screens import Page, ScreenField, button_field_pages, shown_bytes, shown_string
from airlock_software_ledger.field_types import ADDRESS, BOOL, INT, STRING, UINT, FieldType
from airlock_software_ledger.typed_stream import DOMAIN, TypedStream


def typed_fields(typed: TypedStream, model: str, *, message_hash_only: bool = False) -> list[ScreenField]:
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
        from eth_utils.address import to_checksum_address

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
        return [first, [field.title, *lines_of(address, layout.values, layout.line_px), "Cancel", "2 of 2", "Confirm"]]
    return [[f"Verify {network}", "address"], *button_field_pages(field, layout), ["Confirm"]]
