"""``config show``: every setting, its value, and where that comes from; the same on both machines."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from airlock_shared.cli.console import show, show_json
from airlock_shared.host.settings import DEFAULT, ENVIRONMENT, Setting
from airlock_shared.text.safe import safe


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
