"""The registry's own linter passes our descriptors, and refuses them when they are wrong."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
        pytest.skip("Python 3.12 is not here, on which the registry's linter runs")
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); import linting; sys.addaudithook(linting._refuse_network)\n"
        "from erc7730.common import client; client.get_contract_abis(1, '0x' + 40 * '1')"
    )
    run = subprocess.run([LINTER, "-c", script, Path(__file__).parent], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "the linter wanted the network: socket." in run.stderr


def _format(files: Files, file: str, begin: str) -> tuple[dict[str, Any], str]:
    shown = files[file]["display"]["formats"]
    return shown, next(key for key in shown if key.startswith(f"{begin}("))


def _field(begin: str, file: str, path: str, /, **changed: Any) -> Callable[[Files], None]:
    """Change members of a field; with none to change, take the field away."""

    def change(files: Files) -> None:
        shown, key = _format(files, file, begin)
        fields = shown[key]["fields"]
        field = next(f for f in fields if f["path"] == path)
        field.update(changed)
        if not changed:
            fields.remove(field)

    return change


def _without(begin: str, file: str) -> Callable[[Files], None]:
    def change(files: Files) -> None:
        shown, key = _format(files, file, begin)
        del shown[key]

    return change


BAD: dict[str, tuple[str, Callable[[Files], None], str]] = {
    "a leaf of a struct that is not shown": (
        TRADING, _field("OpenTradeReq", TRADING, "_t.leverage"), "Missing Display field"),
    "an argument of a call that is not shown": (
        ROUTER, _field("openTrade", ROUTER, "t.leverage"), "Missing display field"),
    "a path that the struct does not have": (
        TRADING, _field("DelegateReq", TRADING, "expiry", path="expires"), "Invalid Display field"),
    "a path that the call does not have": (
        ROUTER, _field("setDelegate", ROUTER, "expiry", path="expires"), "Invalid display field"),
    "a function that is left out": (
        ROUTER, _without("removeDelegate", ROUTER), "Missing display format"),
    "a format that the standard does not have": (
        TRADING, _field("DelegateReq", TRADING, "expiry", format="milliseconds"), "Invalid value at $.display"),
    "a label that a Ledger cuts short": (
        TRADING, _field("DelegateReq", TRADING, "delegate", label="The key that may trade"), "Display label too long"),
}  # fmt: skip


@pytest.fixture(scope="module")
def said_of_bad(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Said]]:
    sets = []
    for file, change, _ in BAD.values():
        files = {file: made()[file]}
        change(files)
        sets.append(files)
    return dict(zip(BAD, linted(sets, tmp_path_factory.mktemp("bad"), abis()), strict=True))


@pytest.mark.parametrize("name", BAD)
def test_a_wrong_descriptor_is_noticed_by_the_linter(name: str, said_of_bad: dict[str, list[Said]]) -> None:
    title = BAD[name][2]
    said = [entry for entry in said_of_bad[name] if entry.level in ("WARNING", "ERROR")]
    assert title in {entry.title[: len(title)] for entry in said}, said
