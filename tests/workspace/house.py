"""The structure of the sources, measured: modules, who imports whom, and which classes they define."""

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import grimp

ROOT = Path(__file__).parents[2]
DISTRIBUTIONS = {
    "airlock_shared": "shared/src",
    "airlock_online": "online/src",
    "airlock_rehearsal": "online/rehearsal/src",
    "airlock_offline": "offline/src",
    "airlock_software_ledger": "offline/rehearsal/src",
}
Graph = Mapping[str, frozenset[str]]


class Module(NamedTuple):
    """A source file by its dotted name."""

    name: str
    path: Path
    tree: ast.Module


@cache
def modules() -> dict[str, Module]:
    """Return every module of the distributions by its dotted name; a package is its ``__init__``."""
    return {module.name: module for source in DISTRIBUTIONS.values() for module in _read(ROOT / source)}


def _read(source: Path) -> Iterator[Module]:
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        name = ".".join(parts).removesuffix(".__init__")
        yield Module(name, path, ast.parse(path.read_text()))


@cache
def graph(*, types: bool = False) -> grimp.ImportGraph:
    """Return what import-linter reads: imports at the top of a module or inside a function, perhaps for types alone, too."""
    return grimp.build_graph(*DISTRIBUTIONS, exclude_type_checking_imports=not types)


@cache
def imports() -> Graph:
    return {name: frozenset(graph().find_modules_directly_imported_by(name)) for name in modules()}


def in_circles() -> list[str]:
    """Return the modules that import themselves round about."""
    found = imports().items()
    return [name for name, others in found if any(graph().chain_exists(importer=o, imported=name) for o in others)]


def longest_chain(graph: Graph) -> list[str]:
    """Return the longest chain of imports in a graph without circles, from the module that imports to the last imported."""

    @cache
    def chain(name: str) -> tuple[str, ...]:
        below: list[tuple[str, ...]] = [chain(other) for other in sorted(graph[name])]
        return (name, *max(below, key=len, default=()))

    chains: list[tuple[str, ...]] = [chain(name) for name in sorted(graph)]
    return [*max(chains, key=len)]


def inside(graph: Graph, distribution: str) -> Graph:
    """Return the part of a graph that lies in one distribution."""
    mine = {name for name in graph if name.split(".")[0] == distribution}
    return {name: graph[name] & mine for name in mine}


def modules_in_folders() -> Counter[Path]:
    """Return how many modules stand in each package folder, its ``__init__`` not counted."""
    paths = [module.path for module in modules().values()]
    return Counter(path.parent.relative_to(ROOT) for path in paths if path.name != "__init__.py")


def is_rehearsal(name: str) -> bool:
    """Tell whether a module belongs to a rehearsal, which speaks for the venue or for the Ledger."""
    return name.split(".")[0] in ("airlock_rehearsal", "airlock_software_ledger")


def public_names(*, rehearsal: bool) -> dict[str, set[str]]:
    """Return every public name that a module defines at its top, with the modules; those of the rehearsals if asked for."""
    found: dict[str, set[str]] = {}
    for module in modules().values():
        if rehearsal or not is_rehearsal(module.name):
            for name in _at_the_top(module):
                if not name.startswith("_"):
                    found.setdefault(name, set()).add(module.name)
    return found


def _at_the_top(module: Module) -> Iterator[str]:
    for node in module.tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                names = (each for each in ast.walk(target) if isinstance(each, ast.Name))
                yield from (name.id for name in names if isinstance(name.ctx, ast.Store))


def defined(module: Module) -> set[str]:
    """Return every name that a module defines: functions, classes, variables, fields and parameters."""
    nodes = list(ast.walk(module.tree))
    names = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    names |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    names |= {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
    return names | {node.arg for node in nodes if isinstance(node, ast.arg)}


def members(module: Module) -> set[str]:
    """Return every name by which a module writes or reads a member of a document, and every command word."""
    keys = [key for node in ast.walk(module.tree) if isinstance(node, ast.Dict) for key in node.keys]
    keys += [node.slice for node in ast.walk(module.tree) if isinstance(node, ast.Subscript)]
    keys += [node.args[0] for node in ast.walk(module.tree) if isinstance(node, ast.Call) and node.args]
    return {key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)}


def docstrings(module: Module) -> Iterator[str]:
    """Yield the docstrings of a module, its classes and its functions, and of its values."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value


# ---- the floors of each distribution, from the import contracts and the docstrings of the rooms ---------------------------

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
