"""``docs/reference/configuration.md`` names every setting of both programs with its default, and no other."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from airlock_offline import home as offline
from airlock_offline import home as offline_home
from airlock_online import config as online
from airlock_online import home as online_home
from airlock_shared.cli.terminal import LED, LEDGER_HERE

PAGE = (Path(__file__).parents[2] / "docs/reference/configuration.md").read_text()
ROW = re.compile(r"^\| `\[(\w+)\]` \| `(\w+)` \| `(.*?)` \|$", re.MULTILINE)


def _documented(heading: str) -> dict[tuple[str, str], Any]:
    part = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    return {(section, name): tomllib.loads(f"x = {value}")["x"] for section, name, value in ROW.findall(part)}


@pytest.mark.parametrize(
    ("heading", "settings"),
    [("airlock-online: config.toml", online.OnlineConfig()), ("airlock-offline: config.toml", offline.OfflineConfig())],
)
def test_every_setting_is_documented_with_its_default(heading: str, settings: Any) -> None:
    sections = {name: values for name, values in settings._asdict().items() if name != "speech"}
    known = {(s, name): value for s, values in sections.items() for name, value in values._asdict().items()}
    assert _documented(heading) == known


def test_what_is_documented_is_what_the_programs_read(tmp_path: Path) -> None:
    for heading, read in (
        ("airlock-online: config.toml", online.read_config),
        ("airlock-offline: config.toml", offline.read_config),
    ):
        rows = ROW.findall(PAGE.split(f"## {heading}\n")[1].split("\n## ")[0])
        sections = dict.fromkeys(section for section, *_ in rows)
        lines = [
            line
            for section in sections
            for line in (f"[{section}]", *(f"{name} = {value}" for where, name, value in rows if where == section))
        ]
        (tmp_path / "config.toml").write_text("\n".join(lines))
        assert read(tmp_path / "config.toml") == read(tmp_path / "nothing.toml")


def test_every_variable_is_documented() -> None:
    names = {
        value
        for module in (online_home, offline_home)
        for key, value in vars(module).items()
        if key.endswith("_VARIABLE")
    }
    names |= {LED, LEDGER_HERE}
    part = PAGE.split("## The environment\n")[1].split("\n## ")[0]
    assert set(re.findall(r"`(AIRLOCK_\w+)`", part)) == names
