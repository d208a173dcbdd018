"""``digest``: the hashes of any EIP-712 document, by the strict rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from airlock_shared.cli.terminal import INPUT, json_option, rows, show, show_all, show_json
from airlock_shared.errors import Refusal
from airlock_shared.ethereum.struct_types import Member
from airlock_shared.ethereum.typed_document import DOCUMENT_MEMBERS, read_typed_data
from airlock_shared.host.files import read_input
from airlock_shared.text.safe import grouped, safe
from airlock_shared.wire.strict_json import parse_json, refuse_floats

_MAX_BYTES = 1 << 20
_DO = "correct the document, or ask whoever made it; nothing was hashed"


@click.command("digest")
@click.argument("file", type=INPUT)
@json_option
def digest(file: Path, as_json: bool) -> None:
    r"""Print domain separator, struct hash and digest of the EIP-712 JSON in FILE.

    The rules are strict: JSON that another program might read differently is refused, with a check id and exit code 3.
    What stands beside the four members of EIP-712, or beside a member's name and type, is covered by no signature: it is
    named and left out.

    \b
    Example:
      airlock-offline digest typed-data.json
    """
    document = parse_json(read_input(file, max_bytes=_MAX_BYTES), max_bytes=_MAX_BYTES)
    refuse_floats(document)
    hashed, ignored = _parted(document)
    try:
        typed_data, hashes = read_typed_data(hashed)
    except Refusal as refusal:
        refusal.do = refusal.do or _DO  # a check's own advice is for the payload of a ceremony
        raise
    values = {
        "domainSeparator": "0x" + hashes.domain_separator.hex(),
        "structHash": "0x" + hashes.struct_hash.hex(),
        "digest": "0x" + hashes.digest.hex(),
    }
    if as_json:
        show_json({**values, "primaryType": typed_data.primary_type, "ignored": ignored})
        return
    show(f"primary type      {safe(typed_data.primary_type)}")
    for name, value in zip(("domain separator", "struct hash", "digest"), values.values(), strict=True):
        digits = value[2:]
        show(f"{name:<16}  {grouped(digits[:32])}\n{'':<16}  {grouped(digits[32:])}")
    if ignored:
        show("")
        show_all(rows("ignored           ", f"{', '.join(ignored)}: no signature covers it"))


def _parted(document: Any) -> tuple[Any, list[str]]:
    """Return what EIP-712 hashes of a document, and the places of what it leaves out."""
    if type(document) is not dict:
        return document, []
    hashed = {name: value for name, value in document.items() if name in DOCUMENT_MEMBERS}
    ignored = [name for name in document if name not in DOCUMENT_MEMBERS]
    types = document.get("types")
    if type(types) is dict and all(type(members) is list for members in types.values()):
        hashed["types"] = {
            struct: [_signed(member, f"types.{struct}[{place}]", ignored) for place, member in enumerate(members)]
            for struct, members in types.items()
        }
    return hashed, ignored


def _signed(member: Any, where: str, ignored: list[str]) -> Any:
    if type(member) is not dict:
        return member
    ignored += [f"{where}.{name}" for name in member if name not in Member._fields]
    return {name: value for name, value in member.items() if name in Member._fields}
