"""A program's configuration file: sections of settings in TOML, each with a default; what is not known is refused.

The settings of a program are a ``NamedTuple`` of sections, each a ``NamedTuple`` of values with defaults. Nothing that a
check decides is a setting.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from airlock_shared.errors import UsageError
from airlock_shared.host.files import read_input
from airlock_shared.wire.toml import parse_toml

CONFIG_FILE = "config.toml"
_MAX_BYTES = 64 << 10

C = TypeVar("C", bound=tuple[Any, ...])


def read_settings(path: Path, defaults: C, elsewhere: str = "") -> C:
    """Return the settings in a file, or the defaults when there is none; ``elsewhere`` is a section that is in no such file.

    Raises ``UsageError`` for what is not TOML, a section, name or type that is not known, with the nearest one that is.
    """
    sections: dict[str, Any] = defaults._asdict()  # type: ignore[attr-defined]
    sections.pop(elsewhere, None)
    for name, values in read_table(path).items():
        if name not in sections:
            raise UsageError(f"{path} has an unknown section [{name}]", do=_instead(name, sections))
        section = sections[name]
        where = f"{path} [{name}]"
        if type(values) is not dict:
            raise UsageError(f"{where} is not a table", do="correct the file")
        for each, value in values.items():
            if each not in section._fields:
                raise UsageError(f"{where} has an unknown name {each!r}", do=_instead(each, section._fields))
            wanted = type(getattr(section, each))
            if type(value) is not wanted:
                raise UsageError(
                    f"{where} {each!r} is mistyped: {type(value).__name__}",
                    do=f"give a value of the type {wanted.__name__}",
                )
        sections[name] = section._replace(**values)
    return defaults._replace(**sections)  # type: ignore[attr-defined,no-any-return]


def read_table(path: Path) -> dict[str, Any]:
    """Return the sections of a file, none when it is not there. Raises ``UsageError`` for what is not TOML."""
    if not path.exists():
        return {}
    try:
        return parse_toml(read_input(path, max_bytes=_MAX_BYTES))
    except ValueError as error:
        raise UsageError(f"{path} is not TOML: {error}", do="correct the file") from error


def _instead(name: str, known: Iterable[str]) -> str:
    meant = get_close_matches(name, known, 1)
    return f"did you mean {meant[0]}?" if meant else f"use one of {list(known)}"
