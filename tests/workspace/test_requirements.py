"""The pinned closures: what is installed on each machine is written down, by hash, and nothing else is."""

import hashlib
import os
import re
import tomllib
from pathlib import Path

import pytest

from commands import run_command

ROOT = Path(__file__).parents[2]
FILES = ("requirements.txt", "offline/requirements.txt", "online/requirements.txt", "tests/requirements.txt",
         "offline/requirements-camera.txt", "online/rehearsal/requirements.txt",
         "tests/speculos/requirements.txt", "tests/erc7730/requirements.txt",
         "shared/packing/requirements.txt")  # fmt: skip

OFFLINE_CLOSURE = {
    "annotated-types", "bitarray", "ckzg", "click", "coincurve", "cytoolz", "eth-abi", "eth-account", "eth-hash",
    "eth-keyfile", "eth-keys", "eth-rlp", "eth-typing", "eth-utils", "flit-core", "hexbytes", "hidapi", "ledgerblue",
    "parsimonious", "pillow", "py-ecc", "pycryptodome", "pydantic", "pydantic-core", "pyzbar", "qrcode", "regex", "rlp",
    "safe-pysha3", "toolz", "typing-extensions", "typing-inspection", "zxing-cpp",
}  # fmt: skip
"""Everything that is installed on the signing machine. A new name here is a decision, not a detail."""

APACHE_2_SHA256 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"  # its text as Debian has it
NETWORK_CLIENTS = ("httpx", "requests", "urllib3", "websocket", "bleak", "nfc", "airlock_online")


def _entries(name: str) -> dict[str, str]:
    """Return each pinned package of a requirements file with the text of its entry."""
    entries = re.split(r"\n(?=[a-z0-9])", (ROOT / name).read_text())
    assert [entry[:80] for entry in entries if not re.match(r"[a-z0-9-]+==[^ \\;]", entry)] == []
    return {entry.partition("==")[0]: entry for entry in entries}


def pinned_packages(name: str) -> set[str]:
    """Return the names of the packages that a requirements file pins."""
    return set(_entries(name))


@pytest.mark.parametrize("name", FILES)
def test_every_requirement_is_pinned_with_hashes(name: str) -> None:
    text = (ROOT / name).read_text()
    assert "://" not in text
    assert not re.search(r"^\s*--?(index|extra-index|find-links|trusted-host|i |f )", text, re.MULTILINE)
    entries = _entries(name)
    assert len(entries) >= 5
    assert [package for package, entry in entries.items() if "--hash=sha256:" not in entry] == []


def test_the_offline_closure_is_the_allow_list() -> None:
    assert set(_entries("offline/requirements.txt")) == OFFLINE_CLOSURE


def test_both_halves_pin_the_same_versions_of_what_they_share() -> None:
    def versions(name: str) -> dict[str, str]:
        return {package: entry.split()[0] for package, entry in _entries(name).items()}

    development = versions(FILES[0])
    for name in ("offline/requirements.txt", "online/requirements.txt", "online/rehearsal/requirements.txt"):
        assert {p: v for p, v in versions(name).items() if development.get(p) != v} == {}


def test_the_online_machine_has_nothing_of_the_rehearsal() -> None:
    online, rehearsal = _entries("online/requirements.txt"), _entries("online/rehearsal/requirements.txt")
    assert set(rehearsal) - set(online) == {
        "cached-property", "eth-bloom", "lru-dict", "py-evm", "sortedcontainers", "starlette", "trie", "uvicorn",
    }  # fmt: skip
    assert set(online) <= set(rehearsal)


def _offline_python() -> Path:
    command = os.environ.get("AIRLOCK_OFFLINE_COMMAND", str(ROOT / ".venvs/offline/bin/airlock-offline"))
    return Path(command).parent / "python"


def test_the_offline_environment_imports_the_offline_half_and_no_network_client() -> None:
    script = (
        "import airlock_offline.cli.main, airlock_shared, ledgerblue.ledgerWrapper, hidraw, importlib.util, sys\n"
        "print(*filter(importlib.util.find_spec, sys.argv[1:]))"
    )
    ended = run_command(_offline_python(), "-I", "-c", script, *NETWORK_CLIENTS)
    assert (ended.code, ended.out) == (0, "\n"), ended.err


# ---- one licence for the repository and for each distribution, whose wheel carries its text -----------------------------


def test_the_licence_is_the_text_of_apache_2() -> None:
    assert hashlib.sha256((ROOT / "LICENSE").read_bytes()).hexdigest() == APACHE_2_SHA256


@pytest.mark.parametrize("folder", ["shared", "online", "online/rehearsal", "offline"])
def test_each_distribution_states_it_and_carries_its_text(folder: str) -> None:
    """A wheel takes the text from its own folder alone: a link that leads out of it is refused when it is built."""
    assert tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]["license"] == "Apache-2.0"
    assert (ROOT / folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert not (ROOT / folder / "LICENSE").is_symlink()
