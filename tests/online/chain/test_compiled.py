"""The committed contracts are what the sources compile to, and they fit on a chain."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess

import pytest

from airlock_rehearsal.chain.interface import ARTIFACTS, artifacts
from airlock_shared.venue.structs import CATALOGUE
from online.chain.ground import NODE_MODULES, ROOT

SOURCES = ROOT / "online/rehearsal/src/airlock_rehearsal/contracts"
SIZE_AT_MOST = 24_576  # EIP-170
DEPLOYED = ("Usdc", "TradingStorage", "Referral", "TradingRouter")


def test_the_sources_compile_to_the_committed_contracts() -> None:
    node = shutil.which("node")
    if node is None or not (NODE_MODULES / "solc").exists():
        pytest.skip("Node or solc is not here")
    compiled = subprocess.run(
        [node, str(ROOT / "tests/node/compile.mjs"), str(SOURCES)],
        env={"PATH": os.environ["PATH"], "NODE_PATH": str(NODE_MODULES)},
        capture_output=True,
        check=True,
    )
    assert compiled.stderr == b""
    assert compiled.stdout.decode() == ARTIFACTS.read_text()


def test_every_contract_fits_on_a_chain() -> None:
    assert set(artifacts()) == set(DEPLOYED)
    assert all(0 < artifact["size"] <= SIZE_AT_MOST for artifact in artifacts().values())


def test_the_compiler_and_its_settings_are_pinned() -> None:
    committed = json.loads(ARTIFACTS.read_text())
    assert committed["compiler"].startswith("0.8.37+commit.")
    assert committed["settings"]["metadata"] == {"appendCBOR": False, "bytecodeHash": "none"}
    pragmas = {re.search(r"pragma solidity (\S+);", path.read_text())[1] for path in SOURCES.glob("*.sol")}  # type: ignore[index]
    assert pragmas == {"0.8.37"}


def test_the_types_that_the_contracts_hash_are_those_of_the_catalogue() -> None:
    text = "".join(path.read_text() for path in sorted(SOURCES.glob("*.sol")))
    types = set(re.findall(r'"(\w+\([^"]*\))"', text))
    for intent in CATALOGUE.values():
        assert {f"{part})" for part in intent.encode_type.split(")") if part} <= types, intent.name
