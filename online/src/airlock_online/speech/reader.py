"""A services file (``airlock/venue-services@1``): read as a whole, refused as a whole, every mistake told with its line.

The file holds differences; what is in force is the whole, and the whole has the fingerprint. It never leaves this machine.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from airlock_online.speech.meanings import mistakes_in
from airlock_online.speech.sections import FORMAT, MEMBERS, SECTIONS
from airlock_shared.errors import UsageError
from airlock_shared.host.files import read_input
from airlock_shared.text.safe import safe
from airlock_shared.wire.toml import parse_toml

MAX_BYTES = 64 << 10
_MISTAKES_SHOWN = 40
Sections = dict[str, Any]


def read_services(file: Path) -> Sections:
    """Return every section, as it is in force with a file. Raises ``UsageError`` that names every mistake at once."""
    try:
        data = read_input(file, max_bytes=MAX_BYTES)
        table = parse_toml(data)
    except ValueError as error:
        raise UsageError(f"{safe(str(file))} is not TOML: {error}", do="correct the file") from error
    return resolve_services(table, safe(str(file)), data.decode())


def resolve_services(table: Mapping[str, Any], file: str = "services", text: str = "") -> Sections:
    """Return every section, as it is in force with a file's table; ``text`` is the file's. Raises ``UsageError``."""
    wrong: list[str] = []
    if table.get("format") != FORMAT:
        wrong.append(f"{_line(text, '', 'format')}format is {table.get('format')!r}, and this program reads {FORMAT!r}")
    sections: Sections = dict(SECTIONS)
    for section, values in table.items():
        if section == "format":
            continue
        if section not in SECTIONS:
            wrong.append(f"{_line(text, section, '')}[{section}] is no section; {_meant(section, SECTIONS)}")
        elif type(values) is not dict:
            wrong.append(f"{_line(text, '', section)}{section} is not a section")
        else:
            sections[section] = _section(section, values, text, wrong)
    if wrong:
        raise _refused(file, wrong)
    return sections


def _section(section: str, values: Mapping[str, Any], text: str, wrong: list[str]) -> Any:
    good: dict[str, Any] = {}
    for name, value in values.items():
        where = f"{_line(text, section, name)}[{section}] {name}"
        if name not in MEMBERS[section]:
            wrong.append(f"{where} is unknown; {_meant(name, MEMBERS[section])}")
        elif found := MEMBERS[section][name].form(value) or (mistakes_in(value) if section == "words" else []):
            wrong += [f"{where}: {each}" for each in found]
        else:
            good[name] = tuple(value) if type(value) is list else value
    whole = SECTIONS[section]._replace(**good)  # type: ignore[attr-defined]
    if section.endswith("_reply"):
        wrong += _shared_places(section, whole, text)
    return whole


def _shared_places(section: str, whole: Any, text: str) -> list[str]:
    """Return what is wrong where two members of a reply are the same place."""
    places: dict[str, str] = {}
    wrong = []
    for name, value in whole._asdict().items():
        if type(value) is not str or not value or (section, name) in _MAY_SHARE:
            continue
        other = places.setdefault(value, name)
        if other != name:
            wrong.append(f"{_line(text, section, name)}[{section}] {name}: {value!r} is the place of {other} already")
    return wrong


_MAY_SHARE = {("core_reply", "new_entity"), ("delegation_reply", "time")}
"""A replaced trigger's new id may stand where a stored one's does; a form of time is no place."""


def _meant(name: str, known: Mapping[str, Any]) -> str:
    meant = get_close_matches(name, known, 1)
    return f"did you mean {meant[0]}?" if meant else f"there are {', '.join(known)}"


def _refused(file: str, wrong: list[str]) -> UsageError:
    count = "one mistake" if len(wrong) == 1 else f"{len(wrong)} mistakes"
    more = [f"and {len(wrong) - _MISTAKES_SHOWN} more"] if len(wrong) > _MISTAKES_SHOWN else []
    told = ". ".join(safe(each, limit=400) for each in [*wrong[:_MISTAKES_SHOWN], *more])
    return UsageError(
        f"{file} has {count}, and nothing of it is used. {told}",
        do="correct the file; docs/reference/venue-services.md has its members and meanings",
    )


def _line(text: str, section: str, name: str) -> str:
    """Return the line on which a member stands, as ``line N: ``; empty where that cannot be told."""
    inside = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.fullmatch(r"\s*\[+\s*([^\]]+?)\s*\]+\s*(?:#.*)?", line):
            inside = header[1].replace('"', "").replace("'", "")
            if inside in (section, f"{section}.{name}") and (not name or inside != section):
                return f"line {number}: "
        elif name and inside == section and re.match(rf"\s*[\"']?{re.escape(name)}[\"']?\s*[.=]", line):
            return f"line {number}: "
    return ""
