"""A services file (``airlock/venue-services@1``): read as a whole, refused as a whole, every mistake told with its line.

The file holds differences; what is in force is the whole, and the whole has the fingerprint. It never leaves this machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from airlock_online.speech.forms import IN_TABLE, base_of, in_reply, meant
from airlock_online.speech.meanings import mistakes_in
from airlock_online.speech.sections import FORMAT, REPLIES, SHIPPED, Speech
from airlock_shared.errors import UsageError
from airlock_shared.host.files import read_input
from airlock_shared.plan.toml_positions import TomlPosition, nearest, places
from airlock_shared.text.safe import safe
from airlock_shared.wire.toml import parse_toml

MAX_BYTES = 64 << 10
_MISTAKES_SHOWN = 40


def read_services(file: Path) -> Speech:
    """Return how services speak with a file. Raises ``UsageError`` that names every mistake at once."""
    try:
        data = read_input(file, max_bytes=MAX_BYTES)
        table = parse_toml(data)
    except ValueError as error:
        raise UsageError(f"{safe(str(file))} is not TOML: {error}", do="correct the file") from error
    return resolve_services(table, safe(str(file)), data.decode())


def resolve_services(table: Mapping[str, Any], file: str = "services", text: str = "") -> Speech:
    """Return how services speak with a file's table; ``text`` is the file's. Raises ``UsageError``."""
    if mistakes := [*_mistakes(table)]:
        found = places(text)
        wrong = [f"{_where(found, *place)}{told}" for place, told in mistakes]
        raise UsageError(
            told_at_once(file, wrong),
            do="correct the file; docs/reference/venue-services.md has its members and meanings",
        )
    whole = {
        section: {**getattr(SHIPPED, section), **values} for section, values in table.items() if section != "format"
    }
    if "replies" in table:
        whole["replies"] |= {name: {**REPLIES[base_of(name)], **said} for name, said in table["replies"].items()}
    return SHIPPED._replace(**whole)


def _mistakes(table: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the place, section and name, and the sentence of each mistake."""
    if table.get("format") != FORMAT:
        yield ("", "format"), f"is {table.get('format')!r}, and this program reads {FORMAT!r}"
    for section, values in table.items():
        if section == "format":
            continue
        if section not in SHIPPED._fields:
            yield (section, ""), f"is no section; {meant(section, SHIPPED._fields)}"
        elif type(values) is not dict:
            yield ("", section), "is not a section"
        elif section == "words":
            yield from ((("words", word), told) for word, told in mistakes_in(values))
        elif section == "replies":
            for name, said in values.items():
                yield from (((f"replies.{name}", member), told) for member, told in in_reply(name, said))
        else:
            tables = {other: said for other, said in table.items() if type(said) is dict}
            for name, value in values.items():
                yield from (((section, name), told) for told in IN_TABLE[section](name, value, tables))


def _where(found: dict[str, TomlPosition], section: str, name: str) -> str:
    """Return where a member stands: the line of it, or of the table that it is missing in, and its name."""
    line = f"line {nearest(found, f'{section}.{name}'.strip('.'))[1].name.line}: " if found else ""
    return line + (f"[{section}] {name}: " if section and name else f"[{section}] " if section else f"{name} ")


def told_at_once(file: str, wrong: list[str]) -> str:
    """Return every mistake of a file as one text, escaped; the first 40 of more."""
    count = "one mistake" if len(wrong) == 1 else f"{len(wrong)} mistakes"
    more = [f"and {len(wrong) - _MISTAKES_SHOWN} more"] if len(wrong) > _MISTAKES_SHOWN else []
    told = ". ".join(safe(each, limit=400) for each in [*wrong[:_MISTAKES_SHOWN], *more])
    return f"{file} has {count}, and nothing of it is used. {told}"
