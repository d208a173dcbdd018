"""The page of benchmarks: sections between markers, each written by the script that measures it."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/benchmarks.md"


def write_section(name: str, text: str) -> None:
    """Replace one section of the page, or put it at the end; whatever else is on the page stays as it is."""
    begin, end = f"<!-- bench-{name} -->", f"<!-- /bench-{name} -->"
    section = f"{begin}\n{text.strip()}\n{end}"
    page = PAGE.read_text(encoding="utf-8")
    before, found, rest = page.partition(begin)
    page = f"{before}{section}{rest.partition(end)[2]}" if found else f"{page.rstrip()}\n\n{section}\n"
    PAGE.write_text(page, encoding="utf-8")


def measured() -> str:
    """Return when and of which commit the figures are; ``-dirty`` when files were changed since."""
    root = PAGE.parents[2]
    said = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=root, capture_output=True, text=True, check=False
    ).stdout.strip()
    return f"Measured {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, of commit {said or 'unknown'}."


def machine(used: str, *libraries: str) -> list[str]:
    """Return what the numbers depend on. ``used`` says how many of the cores."""
    model = next(
        (line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line),
        platform.machine(),
    )
    return [
        f"- {measured()}",
        f"- Machine: {model}, {os.cpu_count()} cores, {used}; {platform.system()}.",
        f"- Python {platform.python_version()}; {', '.join(f'{name} {version(name)}' for name in libraries)}.",
    ]
