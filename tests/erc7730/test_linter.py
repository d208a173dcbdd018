"""The registry's own linter passes our descriptors, and refuses them when they are wrong."""

import subprocess
from pathlib import Path

import pytest

from erc7730.descriptor_world import LINTER, Files, Said, abis, linted, made

TRADING, ROUTER = "eip712-trading.json", "calldata-tradingRouter.json"


def test_the_linter_has_nothing_to_say_and_every_format_is_made_for_the_device(tmp_path: Path) -> None:
    (said,) = linted([made()], tmp_path, abis())
    assert [entry for entry in said if entry.level != "MADE"] == []
    assert {entry.file: int(entry.message) for entry in said} == {
        file: len(document["display"]["formats"]) for file, document in made().items()
    }


def test_the_linter_cannot_reach_the_network() -> None:
    if not LINTER.exists():
        pytest.skip("the linter's environment is not here: make .venvs/erc7730/.done, with Python 3.12")
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); import linting; sys.addaudithook(linting._refuse_network)\n"
        "from erc7730.common import client; client.get_contract_abis(1, '0x' + 40 * '1')"
    )
    run = subprocess.run([LINTER, "-c", script, Path(__file__).parent], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "the linter wanted the network: socket." in run.stderr


BAD: dict[str, tuple[str, str, str, dict[str, str], str]] = {
    "a leaf of a struct that is not shown": (TRADING, "OpenTradeReq", "_t.leverage", {}, "Missing Display field"),
    "an argument of a call that is not shown": (ROUTER, "openTrade", "t.leverage", {}, "Missing display field"),
    "a path that the struct does not have": (
        TRADING, "DelegateReq", "expiry", {"path": "expires"}, "Invalid Display field"),
    "a path that the call does not have": (ROUTER, "setDelegate", "expiry", {"path": "expires"}, "Invalid display field"),
    "a function that is left out": (ROUTER, "removeDelegate", "", {}, "Missing display format"),
    "a format that the standard does not have": (
        TRADING, "DelegateReq", "expiry", {"format": "milliseconds"}, "Invalid value at $.display"),
    "a label that a Ledger cuts short": (
        TRADING, "DelegateReq", "delegate", {"label": "The key that may trade"}, "Display label too long"),
}  # fmt: skip
"""A descriptor, one of its formats, a field, which of its members are changed, and what the linter says of that.

Without a field the format is left out; with nothing to change the field is."""


def wrong(file: str, begin: str, path: str, changed: dict[str, str]) -> Files:
    files = {file: made()[file]}
    shown = files[file]["display"]["formats"]
    key = next(key for key in shown if key.startswith(f"{begin}("))
    if not path:
        del shown[key]
        return files
    fields = shown[key]["fields"]
    field = next(field for field in fields if field["path"] == path)
    field.update(changed)
    if not changed:
        fields.remove(field)
    return files


@pytest.fixture(scope="module")
def said_of_bad(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Said]]:
    sets = [wrong(*case[:-1]) for case in BAD.values()]
    return dict(zip(BAD, linted(sets, tmp_path_factory.mktemp("bad"), abis()), strict=True))


@pytest.mark.parametrize("name", BAD)
def test_a_wrong_descriptor_is_noticed_by_the_linter(name: str, said_of_bad: dict[str, list[Said]]) -> None:
    title = BAD[name][-1]
    said = [entry for entry in said_of_bad[name] if entry.level in ("WARNING", "ERROR")]
    assert title in {entry.title[: len(title)] for entry in said}, said
