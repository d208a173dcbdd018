"""The page of benchmarks: sections between markers, each written by the script that measures it."""

from __future__ import annotations

import os
import platform
import re
from importlib.metadata import version
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks.md"
_TITLE = "# Benchmarks\n\nWritten by `make bench` (`tests/bench`); run it again for your own machine.\n"
_SECTION = re.compile(r"<!-- begin ([a-z]+) -->\n(.*?)\n<!-- end \1 -->", re.DOTALL)


def write_section(name: str, text: str) -> None:
    """Replace one section of the page, or put it at the end; the others stay as they are."""
    page = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    sections = {found[1]: found[2].strip() for found in _SECTION.finditer(page)} | {name: text.strip()}
    parts = [f"<!-- begin {section} -->\n\n{body}\n\n<!-- end {section} -->\n" for section, body in sections.items()]
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text("\n".join([_TITLE, *parts]), encoding="utf-8")


def machine(used: str, *libraries: str) -> list[str]:
    """Return what the numbers depend on. ``used`` says how many of the cores."""
    model = next(
        (line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line),
        platform.machine(),
    )
    return [
        f"- Machine: {model}, {os.cpu_count()} cores, {used}; {platform.system()}.",
        f"- Python {platform.python_version()}; {', '.join(f'{name} {version(name)}' for name in libraries)}.",
    ]
