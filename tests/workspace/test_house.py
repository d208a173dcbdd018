"""The house stays as small as it was built: short chains of imports, no circles, small folders, one name for one thing."""

import re

import pytest

from workspace import house
from workspace.house import ROOT

MODULES_IN_A_FOLDER_AT_MOST = 16
TEST_LINES_AT_MOST = 51_660  # it may only sink, to 48,000; raised for the faults that readers found
CHAIN_AT_MOST = {"airlock_shared": 10, "airlock_online": 10, "airlock_offline": 10, "airlock_rehearsal": 9}


def test_no_package_folder_holds_more_modules_than_a_reader_keeps_in_mind() -> None:
    counted = {folder: count for folder, count in house.modules_in_folders().items() if folder.name != "cli"}
    assert len(counted) > 20
    assert {str(folder) for folder, count in counted.items() if count > MODULES_IN_A_FOLDER_AT_MOST} == set()


def test_the_tests_do_not_grow() -> None:
    assert sum(path.read_text().count("\n") for path in (ROOT / "tests").rglob("*.py")) <= TEST_LINES_AT_MOST


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert sum(map(len, house.imports().values())) > 1000
    assert house.in_circles() == []


@pytest.mark.parametrize("distribution", CHAIN_AT_MOST)
def test_no_chain_of_imports_is_longer_than_its_ceiling(distribution: str) -> None:
    chain = house.longest_chain(house.inside(house.imports(), distribution))
    assert len(chain) <= CHAIN_AT_MOST[distribution], " -> ".join(chain)


COMMANDS = frozenset(
    "ceremony check config delegate doctor explain follow forget main make_command plan program report scan send show"
    " show_config".split()
)
ONE_FORM = frozenset("CHECKS MODULES ROUTE parcel".split())
TWIN_HALVES = frozenset("HOME_VARIABLE default_home now_ms read_config".split())
"""What may stand in several files: a command in each half, what modules of one form are asked for, a half's own home."""
SHARED_WITH_THE_REHEARSAL_AT_MOST = 41
"""The venue's peer and the software Ledger say the same things in their own code: endpoints, standards, constants."""


def test_one_public_name_is_defined_in_one_file() -> None:
    product = {name: places for name, places in house.public_names(rehearsal=False).items() if len(places) > 1}
    assert set(product) == COMMANDS | ONE_FORM | TWIN_HALVES, product
    everywhere = {name for name, places in house.public_names(rehearsal=True).items() if len(places) > 1}
    assert len(everywhere - set(product)) <= SHARED_WITH_THE_REHEARSAL_AT_MOST


GLOSSARY = (ROOT / "docs/reference/glossary.md").read_text()
TERMS = re.findall(r"^\| ([^|]+) \| [^|]+ \| (?:`(\w+)`)? \|$", GLOSSARY, re.MULTILINE)[1:]
FORBIDDEN = re.findall(r"`(\w[^`]+)`", GLOSSARY.partition("Not used in code")[2])
"""Words that no name, member or docstring has; with ``()`` behind it, a word is plain English and only no name."""


def test_the_glossary_is_short_and_in_order() -> None:
    assert 30 < len(TERMS) <= 60
    assert [term for term, _ in TERMS] == sorted((term for term, _ in TERMS), key=str.casefold)
    assert len(set(TERMS)) == len(TERMS)


def test_each_name_of_the_glossary_exists_in_the_code() -> None:
    found = {name.split(".")[0] for name in house.modules()}.union(*map(house.defined, house.modules().values()))
    assert {name for _, name in TERMS if name} - found == set()


def test_no_word_that_the_glossary_forbids_is_in_the_code() -> None:
    assert len(FORBIDDEN) > 8
    product = [module for name, module in house.modules().items() if not house.is_rehearsal(name)]
    used = {name.lstrip("_") for name in set().union(*map(house.defined, product), *map(house.members, product))}
    said = " ".join(docstring for module in product for docstring in house.docstrings(module))
    words = [word for word in FORBIDDEN if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", said)]
    assert words + [word for word in FORBIDDEN if word.removesuffix("()") in used] == []
