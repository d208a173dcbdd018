"""The floors of each distribution, written from the import contracts and the packages' own docstrings."""

from __future__ import annotations

import ast
import re
import tomllib

from workspace.house import DISTRIBUTIONS, ROOT, modules

_WIDTH = 120


def floors() -> str:
    """Return the page ``floors.md``: the diagram of all distributions."""
    diagrams = "\n\n".join(map(_diagram, DISTRIBUTIONS))
    return f"""\
# Floors

A room imports only from the floors below its own. The number is the floor; the text is the room's own first sentence. This
page is written by `make docs` from the contracts in `pyproject.toml`, which `make lint` holds.

```text
{diagrams}
```
"""


def _diagram(package: str) -> str:
    floors = _floors_of(package)
    width = max(len(room) for floor in floors for room in floor)
    lines = [package]
    for number, floor in zip(range(len(floors), 0, -1), floors, strict=True):
        for at, room in enumerate(floor):
            head = f"{number if at == 0 else '':>2}  {room:<{width}}  "
            lines += [head + _fitting(_said_of(package, room), _WIDTH - len(head))]
    return "\n".join(lines)


def _fitting(sentence: str, width: int) -> str:
    """Return a sentence without its full stop; a long one up to the last comma or colon that fits on the line."""
    return sentence.rstrip(".") if len(sentence) <= width else re.split(r"[,:;][^,:;]*$", sentence[: width + 1])[0]


def _floors_of(package: str) -> list[list[str]]:
    """Return the rooms of each floor, the highest first, as the contract has them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (floors,) = (c["layers"] for c in contracts if c["type"] == "layers" and c["containers"] == [package])
    return [re.split(r" [|:] ", floor) for floor in floors]


def _said_of(package: str, room: str) -> str:
    """Return the first sentence of a package's or module's docstring."""
    text = ast.get_docstring(modules()[f"{package}.{room}"].tree) or ""
    return text.partition("\n\n")[0].replace("\n", " ").replace("``", "`")
