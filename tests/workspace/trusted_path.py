"""What of our own runs while the installed `airlock-offline sign` makes a signature: measured, and the table of it.

A request of the vectors is signed in a process of its own, with the software Ledger in another one; at its end that process
writes down which of our modules it has loaded. ``docs/auditors.md`` shows the result in reading order.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from airlock_offline.emulator.keys import TEST_SEED, derive
from airlock_offline.ledger.apdu import parse_path
from shared.make_payloads import TREASURY, fingerprint, plan_fingerprint, seal
from shared.world import DEPLOYMENT_TEXT, PLAN_TEXTS, good, patched, to_bytes

ROOT = Path(__file__).parents[2]
PROGRAM = Path(os.environ.get("AIRLOCK_OFFLINE_COMMAND", str(ROOT / ".venvs/offline/bin/airlock-offline")))
SOURCES = {"airlock_shared": ROOT / "shared/src", "airlock_offline": ROOT / "offline/src"}
SIGNER_PATH = "m/44'/60'/0'/0/0"
SIGNER = derive(TEST_SEED, parse_path(SIGNER_PATH)).address
MINUTES_MS = 60_000
TRACER = """\
import atexit, os, sys


def write():
    names = sorted(name for name in sys.modules if name.startswith("airlock_"))
    with open(os.environ["AIRLOCK_TRACED"], "w") as file:
        file.write("\\n".join(names))


if "AIRLOCK_TRACED" in os.environ:
    atexit.register(write)
"""

READING_ORDER = {
    "the network guard, the kernel's filter, and the command": (
        "airlock_offline.start",
        "airlock_shared.start",
        "airlock_offline.cli",
        "airlock_offline.airgap",
        "airlock_offline.confinement",
        "airlock_offline.child_process",
        "airlock_offline.home",
    ),
    "the order of things: examine, show, ask, sign, recover, keep": ("airlock_offline.signing",),
    "the room: interfaces, radios, the time": ("airlock_offline.preflight", "airlock_offline.clock"),
    "the checks": ("airlock_shared.checks", "airlock_shared.ceremony"),
    "the plan": ("airlock_shared.plan",),
    "what is known to be signable": ("airlock_shared.catalogue", "airlock_shared.units"),
    "what is hashed": ("airlock_shared.ethereum",),
    "the documents, read strictly": ("airlock_shared.documents", "airlock_shared.wire"),
    "the Ledger": ("airlock_offline.ledger", "airlock_offline.device_connection"),
    "what people see, made safe": ("airlock_shared.text", "airlock_shared.cli", "airlock_shared.errors"),
    "the disk": ("airlock_shared.host", "airlock_offline.config", "airlock_offline.wallets"),
}
"""Where an auditor reads what: headings, and the packages or modules below each."""


class Signing(NamedTuple):
    """A request of the vectors that is signed: its folder and step, and what it is."""

    folder: str
    step: str
    what: str


ORDINARY = Signing("requests", "close", "an intent")
OTHERS = (
    Signing("requests", "own-code", "an intent with a referral code"),
    Signing("requests", "desk-key", "the registration of a delegate"),
    Signing("transactions", "approve", "a transaction"),
    Signing("authorizations", "give-for-desk", "an EIP-7702 authorization"),
)


USB = ("airlock_offline.ledger.usb", "airlock_offline.ledger.usb_lock")
"""What a real Ledger needs beside the rest: there is none to measure it with."""


class Module(NamedTuple):
    """A module that was loaded: its name, its file relative to the repository, its lines."""

    name: str
    file: Path
    lines: int

    @property
    def is_package(self) -> bool:
        """Whether it is a package's own file, which here says in a line what the package holds."""
        return self.file.name == "__init__.py"


@cache
def loaded_by(signing: Signing) -> tuple[Module, ...]:
    """Sign the request with the installed command, and return what of ours that command has loaded."""
    with TemporaryDirectory() as folder, software_ledger() as port:
        return tuple(_module(name) for name in _sign(Path(folder), port, signing))


def trusted_path() -> tuple[Module, ...]:
    """Return what is loaded when an ordinary intent is signed."""
    return loaded_by(ORDINARY)


def _module(name: str) -> Module:
    path = SOURCES[name.partition(".")[0]] / name.replace(".", "/")
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return Module(name, file.relative_to(ROOT), len(file.read_text().splitlines()))


@contextmanager
def software_ledger() -> Iterator[int]:
    """Run the software Ledger, and give its port."""
    words = [str(PROGRAM), "emulator", "--blind-signing", "--smart-accounts"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(json.loads(process.stdout.readline())["port"])
        finally:
            process.terminate()


def _sign(folder: Path, port: int, signing: Signing) -> list[str]:
    _write_documents(folder, signing)
    _run(folder, "trust", "deployment.json", typed="Yes\n")
    watch = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    _run(folder, "preflight", "--time", watch, "--uncertainty", "60", "--emulator", str(port))
    (folder / "sitecustomize.py").write_text(TRACER)
    tracing = {"PYTHONPATH": str(folder), "AIRLOCK_TRACED": str(folder / "modules"), "PYTHONDONTWRITEBYTECODE": "1"}
    words = ("sign", "requests.json", "--plan", "plan.toml", "-o", "signatures.json", "--emulator", str(port))
    _run(folder, *words, typed="Yes\nYes\n", environment=tracing)
    document = json.loads((folder / "signatures.json").read_text())
    assert [item["result"] for item in document["signatures"]] == ["signed"]
    return (folder / "modules").read_text().splitlines()


def _run(folder: Path, *words: str, typed: str = "", environment: dict[str, str] | None = None) -> None:
    ended = subprocess.run(
        [str(PROGRAM), "--home", "home", *words],
        input=typed, capture_output=True, text=True, check=False, timeout=120, cwd=folder,
        env={**os.environ, "TMPDIR": str(folder), **(environment or {})},  # nobody else signs with the account there
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr


def _write_documents(folder: Path, signing: Signing) -> None:
    """Write deployment, plan and requests: the vector's own, signed now by the software Ledger's account."""
    now_ms = time.time_ns() // 1_000_000
    deployment = patched(json.loads(DEPLOYMENT_TEXT), [{"at": "rehearsal", "set": True}])
    plan = _own(_plan_of(signing))
    document: dict[str, Any] = json.loads(_own(json.dumps(good(signing.step, signing.folder))))
    item = document["requests"][0]
    if "message" in item["payload"]:
        message = item["payload"]["message"]
        message |= {name: str(now_ms + 10 * MINUTES_MS) for name in message if name.strip("_") == "deadline"}
        seal(item["payload"])
    if signing.folder == "authorizations":  # the order is signed by another, in another part of the plan
        document["header"]["signer"] = "treasury"
    document["header"] |= {
        "plan": plan_fingerprint(plan), "deployment": fingerprint(deployment), "rehearsal": True, "created_ms": now_ms,
    }  # fmt: skip
    for name, data in (("deployment.json", to_bytes(deployment)), ("requests.json", to_bytes(document)),
                       ("plan.toml", plan.encode())):  # fmt: skip
        (folder / name).write_bytes(data)


def _plan_of(signing: Signing) -> str:
    """Return the vectors' plan with the one step, or with an authorization and its order.

    Nobody has to prove a delegate's key, which nobody here holds.
    """
    head, *steps = PLAN_TEXTS[signing.folder].split("[[steps]]\n")
    if signing.folder == "authorizations":
        return "[[steps]]\n".join([head, *(text for text in steps if "-desk" in text)])
    [step] = [text for text in steps if f'id = "{signing.step}"' in text]
    waived = 'possession = "waived"\n' if 'action = "delegate"' in step else ""
    return f"{head}[[steps]]\n{step.rstrip()}\n{waived}"


def _own(text: str) -> str:
    """Return a text in which the vectors' signer is the software Ledger's account, in either spelling."""
    return text.replace(TREASURY, SIGNER).replace(TREASURY[2:].lower(), SIGNER[2:].lower())


# ---- the table in docs/auditors.md ------------------------------------------------------------------------------------


def part_of(name: str) -> str:
    """Return the heading under which a module is read. Raises ``KeyError`` for one that no heading holds."""
    for heading, places in READING_ORDER.items():
        if any(name == place or name.startswith(f"{place}.") for place in places):
            return heading
    raise KeyError(name)


def table() -> str:
    """Return the table of the trusted path: every file, in reading order, with its lines."""
    path = trusted_path()
    parts: dict[str, list[Module]] = {heading: [] for heading in READING_ORDER}
    for module in path:
        if not module.is_package:
            parts[part_of(module.name)].append(module)
    lines = ["| read | lines | files |", "|---|---|---|"]
    for number, (heading, modules) in enumerate(parts.items(), start=1):
        files = ", ".join(f"[`{_short(module)}`](../{module.file}) {module.lines}" for module in modules)
        lines.append(f"| {number}. {heading} | {sum(module.lines for module in modules)} | {files} |")
    lines.append(f"| in all | {sum(module.lines for module in path)} | {len(path)} modules |")
    known = {module.name for module in path}
    lines += ["", "| to sign | also loads |", "|---|---|"]
    for signing in OTHERS:
        also = [module for module in loaded_by(signing) if module.name not in known]
        lines.append(_also(signing.what, also))
    lines.append(_also("on a Ledger on USB, and not the software Ledger", [_module(name) for name in USB]))
    return "\n".join(lines) + "\n"


def _also(what: str, modules: list[Module]) -> str:
    names = ", ".join(f"[`{_short(module)}`](../{module.file}) {module.lines}" for module in modules)
    return f"| {what} | {sum(module.lines for module in modules)} lines: {names} |"


def _short(module: Module) -> str:
    return "/".join(module.file.parts[-2:])
