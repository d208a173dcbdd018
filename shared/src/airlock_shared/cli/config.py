"""``config show``: every setting, its value, and where that comes from; the same on both machines."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from airlock_shared.cli.console import show, show_json
from airlock_shared.host.settings import C, read_table
from airlock_shared.text.safe import safe

DEFAULT, IN_FILE, ENVIRONMENT = "default", "file", "environment"


class Setting(NamedTuple):
    """A setting as it stands: its section and name, its value, and where that comes from (``default``, ``file`` …)."""

    section: str
    name: str
    value: Any
    origin: str


def settings_of(path: Path, settings: C, environment: Mapping[tuple[str, str], str]) -> Iterator[Setting]:
    """Yield every setting, with where its value comes from.

    ``environment`` names the variables that stand in for a setting, by section and name, as far as they are set.
    """
    table = read_table(path)
    for section, values in settings._asdict().items():  # type: ignore[attr-defined]
        for name, value in values._asdict().items():
            variable = environment.get((section, name))
            origin = IN_FILE if name in table.get(section, {}) else DEFAULT
            yield Setting(section, name, value, f"{ENVIRONMENT} {variable}" if variable else origin)


def show_settings(file: Path, home: Setting, settings: Iterable[Setting], *, as_json: bool) -> None:
    """Show the settings; secrets were taken out of their values before."""
    told = [home, *settings]
    if as_json:
        rows = [{"section": s.section, "name": s.name, "value": s.value, "from": s.origin} for s in told]
        show_json({"ok": True, "file": str(file), "exists": file.exists(), "settings": rows})
        return
    show(f"{safe(str(file))}" + ("" if file.exists() else "  (no such file: every value is a default)"))
    section = ""
    for setting in told:
        if setting.section != section:
            section = setting.section
            show(f"[{section}]")
        values = setting.value.items() if isinstance(setting.value, dict) else [("", setting.value)]
        for member, value in values:
            name = f"{setting.name}.{member}".rstrip(".")
            show(f"  {name} = {_written(value)}")
            show(f"    from: {setting.origin}")


def _written(value: object) -> str:
    return f'"{safe(value, limit=200)}"' if isinstance(value, str) else str(value)


def home_setting(folder: Path, default: Path, variable: str) -> Setting:
    """Return a half's folder as a setting; ``default`` is what the environment's ``variable`` gives, or nothing does."""
    named = f"{ENVIRONMENT} {variable}" if os.environ.get(variable) else DEFAULT
    return Setting("machine", "home", str(folder), named if folder == default else "--home")
