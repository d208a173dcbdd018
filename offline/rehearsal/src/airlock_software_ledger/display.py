"""What the software Ledger shows of the typed data that came in: from raw bytes, not from anybody's canonical values."""

from __future__ import annotations

from airlock_offline.ledger.typed_data_screens import ScreenField, shown_bytes, shown_string
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
