"""``digest``: the hashes of any EIP-712 document, by the strict rules."""

from __future__ import annotations

from pathlib import Path

import click

from airlock_shared.cli.console import INPUT, json_option, show, show_json
from airlock_shared.ethereum.eip712 import read_typed_data
from airlock_shared.host.files import read_input
from airlock_shared.text.fingerprint_words import grouped
from airlock_shared.text.safe import safe
from airlock_shared.wire.codec import parse_json, refuse_floats

MAX_BYTES = 1 << 20


@click.command("digest")
@click.argument("file", type=INPUT)
@json_option
def digest(file: Path, as_json: bool) -> None:
    r"""Print domain separator, struct hash and digest of the EIP-712 JSON in FILE.

    The rules are strict: JSON that another program might read differently is refused, with a check id and exit code 3.

    \b
    Example:
      airlock-offline digest typed-data.json
    """
    document = parse_json(read_input(file, max_bytes=MAX_BYTES), max_bytes=MAX_BYTES)
    refuse_floats(document)
    typed_data, hashes = read_typed_data(document)
    values = {
        "domainSeparator": "0x" + hashes.domain_separator.hex(),
        "structHash": "0x" + hashes.struct_hash.hex(),
        "digest": "0x" + hashes.digest.hex(),
    }
    if as_json:
        show_json({**values, "primaryType": typed_data.primary_type})
        return
    show(f"primary type      {safe(typed_data.primary_type)}")
    for name, value in zip(("domain separator", "struct hash", "digest"), values.values(), strict=True):
        digits = value[2:]
        show(f"{name:<16}  {grouped(digits[:32])}\n{'':<16}  {grouped(digits[32:])}")
