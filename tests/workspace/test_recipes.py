"""The recipes of ``docs/contributing.md`` are true: an example of each change is in the files listed, and in no others."""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/contributing.md"
PRODUCT = ("shared/src", "online/src", "offline/src")  # the rehearsal's simulators are proof, and not counted


class Recipe(NamedTuple):
    """A recipe of the page: its heading, the files that it lists, and how many there may be at most."""

    heading: str
    files: list[str]
    at_most: int


def _recipes() -> Iterator[Recipe]:
    for part in PAGE.read_text().split("\n## ")[1:]:
        heading, _, text = part.partition("\n")
        counted = re.search(r"\*\*(?:At most )?(\d+) files?\.?\*\*", text)
        if counted:
            yield Recipe(heading, re.findall(r"^- `([^`]+\.(?:py|json|toml))`$", text, re.MULTILINE), int(counted[1]))


RECIPES = {recipe.heading: recipe for recipe in _recipes()}


def _product() -> Iterator[Path]:
    return (path for source in PRODUCT for path in sorted((ROOT / source).rglob("*.py")))


def _words(path: Path) -> Iterator[str]:
    """Yield the names and texts of a module; comments and docstrings are no code."""
    tree = ast.parse(path.read_text())
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in said:
                yield text
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name) | ast.arg(arg=name):
                yield name


_words_of = cache(lambda path: tuple(_words(path)))


def _that_say(pattern: str) -> Callable[[], set[str]]:
    word = re.compile(pattern)
    return lambda: {_relative(path) for path in _product() if any(map(word.search, _words_of(path)))}


def _relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _that_hold_a_scale() -> set[str]:
    """Return the modules with a power of ten that is a scale, but for limits of texts, and the table of units."""
    found = {"shared/src/airlock_shared/units.py"}
    for path in _product():
        tree = ast.parse(path.read_text())
        limits = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg == "limit"}
        for node in ast.walk(tree):
            match node:
                case ast.BinOp(op=ast.Pow(), left=ast.Constant(value=10), right=ast.Constant(value=6 | 10)):
                    if id(node) not in limits:
                        found.add(_relative(path))
                case ast.Constant(value=10_000_000_000):
                    found.add(_relative(path))
    return found


def _of_a_command() -> set[str]:
    """Return the files of ``airlock-online nonce``: its module, and the tables that have a line for it."""
    tables = (path for path in _product() if path.parent.name == "cli" and '\n        "nonce": "' in path.read_text())
    return {"online/src/airlock_online/cli/reads.py", *map(_relative, tables)}


OWN_OF_A_VENUE = "A venue's own struct, with its endpoint"


def _of_a_venue() -> set[str]:
    """Return the files that say anything of the example's struct and call: the program's modules, and the examples."""
    word = re.compile(r"\bdepositLp\b|\bcancel-order\b|\bCancelReq\(address trader,uint64\b|\"CancelReq\"")
    examples = (path for path in (ROOT / "docs/reference/examples").iterdir() if word.search(path.read_text()))
    return _that_say(word.pattern)() | set(map(_relative, examples))


EXAMPLES: dict[str, Callable[[], set[str]]] = {
    "A check": _that_say(r"\bTIME-HORIZON\b"),
    "A Ledger model": _that_say(r"(?i)\bflex\b|FLEX|_flex"),
    "A route": lambda: _that_say(r"\bcore[-_]api\b")() | {"online/src/airlock_online/delivery/routes/registry.py"},
    "A unit's scale": _that_hold_a_scale,
    "A command": _of_a_command,
    "A struct that ships": _that_say(r"\bRegisterCodeReq\b"),
    OWN_OF_A_VENUE: _of_a_venue,
}


def test_the_page_has_a_recipe_for_each_example_and_no_other() -> None:
    assert set(RECIPES) == set(EXAMPLES)


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=lambda recipe: recipe.heading)
def test_a_recipe_lists_no_more_files_than_it_promises_and_they_are_there(recipe: Recipe) -> None:
    assert 0 < len(recipe.files) <= recipe.at_most
    assert [file for file in recipe.files if not (ROOT / file).is_file()] == []


@pytest.mark.parametrize("heading", EXAMPLES)
def test_an_example_is_in_the_files_of_its_recipe_and_in_no_others(heading: str) -> None:
    assert EXAMPLES[heading]() == set(RECIPES[heading].files), "a change of this kind touches other files now"


def test_what_proves_a_struct_is_where_its_recipe_says() -> None:
    text = PAGE.read_text().partition("## A struct that ships")[2].partition("\n## ")[0]
    rehearsal = "online/rehearsal/src/airlock_rehearsal"
    places = {"": "tests/shared/make_payloads.py", rehearsal: "services/venue/structs.py"}
    for folder, place in [*places.items(), (rehearsal, "chain/venue.py")]:
        assert f"`{place}`" in text
        assert "RegisterCodeReq" in (ROOT / folder / place).read_text()
    assert "make_$$name.py" in (ROOT / "Makefile").read_text().partition("\nvectors:")[2].partition("\n\n")[0]


def test_the_recipe_of_a_command_gives_a_command(tmp_path: Path) -> None:
    """Its two files in a copy of the program, and nothing else: it runs, is listed and is completed."""
    source = tmp_path / "src"
    shutil.copytree(ROOT / "online/src", source, ignore=shutil.ignore_patterns("__pycache__"))
    module, main = (source / Path(file).relative_to("online/src") for file in RECIPES["A command"].files)
    module.with_name("ring_bell.py").write_text(
        'import click\n\n@click.command()\ndef ring_bell() -> None:\n    """Ring."""\n    click.echo("rung")\n'
    )
    text = main.read_text()
    assert text.count('\n        "nonce": ') == 1
    main.write_text(text.replace('\n        "nonce": ', '\n        "ring-bell": "Ring the bell.",\n        "nonce": '))

    def run(*words: str, **variables: str) -> str:
        script = "import sys; sys.argv[0] = 'airlock-online'; from airlock_online.cli.main import main; main()"
        environment = {**os.environ, "PYTHONPATH": str(source), **variables}
        typed = [sys.executable, "-c", script, "--home", str(tmp_path / "home"), *words]
        return subprocess.run(typed, env=environment, capture_output=True, text=True, check=True).stdout

    assert run("ring-bell") == "rung\n"
    assert "ring-bell    Ring the bell." in run("--help")
