"""What the tests of the descriptors share: the descriptors of a deployment, the ABI of its contracts, and the linter."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from airlock_online.wallets.erc7730 import make_descriptors
from airlock_rehearsal.chain.evm import REFERRAL, ROUTER, USDC
from airlock_rehearsal.chain.interface import artifacts
from airlock_rehearsal.services.builder.unsigned import CALLS
from shared.world import deployment

ROOT = Path(__file__).parents[2]
LINTER = ROOT / ".venvs/erc7730/bin/python"
NAMES = {ROUTER: "tradingRouter", REFERRAL: "referral", USDC: "usdc"}

Files = dict[str, dict[str, Any]]


class Said(NamedTuple):
    """One message of the linter or of a converter."""

    file: str
    by: str
    level: str
    title: str
    message: str


def made() -> Files:
    """Return the descriptors of the vectors' deployment, which the caller may change."""
    files: Files = json.loads(json.dumps(make_descriptors(deployment(), "Venue", "https://venue.example")))
    return files


def abis() -> dict[str, list[dict[str, Any]]]:
    """Return the ABI of each contract by its address, as the rehearsal's are compiled, not from the gate's table."""
    result: dict[str, list[dict[str, Any]]] = {}
    for name, contract in CALLS.items():
        address = "0x" + deployment().contracts[NAMES[contract]].hex()
        (compiled,) = (entry for entry in artifacts()[contract]["abi"] if entry.get("name") == name)
        function = {"type": "function", "name": name, "inputs": [_input(part) for part in compiled["inputs"]]}
        result.setdefault(address, []).append(function | {"outputs": [], "stateMutability": "nonpayable"})
    return result


def _input(part: dict[str, Any]) -> dict[str, Any]:
    inner = {"components": [_input(each) for each in part["components"]]} if "components" in part else {}
    return {"name": part["name"], "type": part["type"]} | inner


def linted(sets: list[Files], folder: Path, contracts: dict[str, list[dict[str, Any]]]) -> list[list[Said]]:
    """Return what the registry's linter and converters say of each set of descriptors, with no network to ask."""
    if not LINTER.exists():
        pytest.skip("the linter's environment is not here: make .venvs/erc7730/.done, with Python 3.12")
    (folder / "abis.json").write_text(json.dumps(contracts))
    command = [LINTER, Path(__file__).with_name("linting.py"), folder / "abis.json"]
    for number, files in enumerate(sets):
        (folder / str(number)).mkdir()
        for name, document in files.items():
            (folder / str(number) / name).write_text(json.dumps(document))
        command.append(folder / str(number))
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8"}
    run = subprocess.run(
        ["sh", ROOT / "tests/unshared.sh", *command], env=environment, capture_output=True, text=True, check=True
    )
    return [[Said(**entry) for entry in said] for said in json.loads(run.stdout)]


def formats(files: Files) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the key and the content of every format."""
    for document in files.values():
        yield from document["display"]["formats"].items()
