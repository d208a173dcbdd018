"""``docs/reference/configuration.md``, whose settings ``tables.py`` writes, is what both programs read."""

import re
from pathlib import Path

from airlock_offline import home as offline
from airlock_online import config as online
from airlock_online import home as online_home
from airlock_shared.cli.terminal import LED, LEDGER_HERE

PAGE = (Path(__file__).parents[2] / "docs/reference/configuration.md").read_text()
ROW = re.compile(r"^\| `\[(\w+)\]` \| `(\w+)` \| `(.*?)` \|$", re.MULTILINE)


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
    names = {value for half in (online_home, offline) for key, value in vars(half).items() if key.endswith("_VARIABLE")}
    names |= {LED, LEDGER_HERE}
    part = PAGE.split("## The environment\n")[1].split("\n## ")[0]
    assert set(re.findall(r"`(AIRLOCK_\w+)`", part)) == names
