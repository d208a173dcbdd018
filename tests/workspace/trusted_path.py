"""What of our own can run while `airlock-offline sign` makes a signature, and what ran in one: the table of it, and both.

What can run is the closure of the command's imports, those inside functions included: with what a terminal, a Ledger on USB,
a venue's profile and each kind of signing load. ``docs/auditors.md`` shows it in reading order. What ran is measured: an
intent of the vectors is signed in a process of its own, with the software Ledger in another one, and that process writes
down which of our modules it has loaded. Another kind of signing loads no other ones: they are imported at the top.
"""

import ast
import io
import json
import os
import re
import time
import tokenize
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import NamedTuple

from airlock_offline.home import OfflineHome
from airlock_offline.ledger.transport import parse_path
from airlock_shared.documents.deployment import parse_deployment
from airlock_software_ledger.keys import TEST_SEED, derive
from commands import run_command
from e2e.conftest import OFFLINE, start_ledger, stop_ledger
from shared.make_payloads import TREASURY, seal
from shared.world import good, plan_text_of, rehearsal_deployment, rehearsed, to_bytes
from workspace.house import ROOT, graph, imports, modules

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

_IN_ORDER = {
    "the network guard, the kernel's filter, and the command": {
        "shared": "start",
        "offline": "start cli.main airgap confinement.command confinement.filter home cli.sign cli.review_pages",
    },
    "the order of things: examine, show, ask, sign, recover, keep": {
        "offline.signing": "sign_item second_opinion opinion_child rows review",
    },
    "the room: interfaces, radios": {"offline": "preflight.isolation"},
    "the checks": {
        "shared.checks": "model judge document agreement intent transaction authorization times nonces",
        "shared": "ceremony.sections",
    },
    "the plan": {"shared.plan": "model values reader decisions delegate_proofs"},
    "what is known to be signable": {"shared": "units", "shared.venue": "structs actions calls profile referral_code"},
    "what is hashed": {"shared.ethereum": "signatures struct_types eip712 library_opinion"},
    "the documents, read strictly": {
        "shared.wire": "strict_json", "shared.documents": "requests deployment ledger_metadata transcript",
    },
    "the Ledger": {
        "offline": "device_connection",
        "offline.ledger": "models transport usb ethereum_app typed_data device_errors screens",
    },
    "what people see, made safe": {"shared": "text.safe errors cli.terminal cli.program cli.qr.file_or_qr"},
    "the disk": {"shared.host": "files"},
}  # fmt: skip
READING_ORDER = {
    heading: [f"airlock_{package}.{name}" for package, names in packages.items() for name in names.split()]
    for heading, packages in _IN_ORDER.items()
}
"""Where an auditor reads what: headings, and the modules below each, in the order in which they are best read."""


ROOTS = (
    "airlock_offline.start",
    "airlock_offline.cli.main",
    "airlock_offline.cli.sign",
    "airlock_offline.signing.opinion_child",  # a process of its own, which the signing starts by its name
)
OTHER_COMMANDS = r"airlock_shared\.(report|cli\.(explain|mistyped))|airlock_offline\.cli\.report(\.|$)"
PICTURES = r"|airlock_shared\.(cli\.qr\.(?!file_or_qr$)|qr|ur)|airlock_offline\.scanning(\.|$)"
"""What the closure leaves out: other commands' reports and explanations; pictures, which only ``--qr`` reads and draws."""

AT_A_TERMINAL_OVER_USB = tuple(
    f"airlock_{name}" for name in ("offline.cli.review_pages", "offline.ledger.usb", "shared.cli.terminal")
)
"""What people, and a Ledger that is plugged in, have run beside what a pipe and the software Ledger do."""

WAYS = {
    "a digest": (
        "offline.cli.sign", "shared.documents.requests", "shared.wire.strict_json", "offline.signing.sign_item",
        "shared.checks.judge", "shared.checks.intent", "shared.venue.structs", "shared.ethereum.eip712",
        "offline.signing.second_opinion", "offline.ledger.ethereum_app", "offline.ledger.typed_data",
        "shared.ethereum.signatures",
    ),
    "an event of an order's stream": (
        "online.clients.sse", "online.delivery.routes.batched", "online.delivery.routes.context",
        "online.journal.order_states", "online.journal.journal", "online.journal.events",
    ),
}  # fmt: skip
"""The files through which something goes: read, judged, hashed, given to the Ledger, recovered; decoded, merged, written."""


class Module(NamedTuple):
    """A module: its name, its file relative to the repository, its lines, and its tokens without docstrings and imports."""

    name: str
    file: Path
    lines: int
    tokens: int


@cache
def loaded() -> tuple[Module, ...]:
    """Sign an intent with the installed command, and return what of ours that command has loaded."""
    ledger = start_ledger()
    with TemporaryDirectory() as folder:
        names = _sign(Path(folder), ledger.port)
    stop_ledger(ledger)
    return tuple(map(_module, names))


@cache
def closure(roots: tuple[str, ...] = ROOTS, elsewhere: str = OTHER_COMMANDS + PICTURES) -> tuple[Module, ...]:
    """Return what can run in a signing: what the command imports, at the top and inside functions, and its packages."""
    seen: set[str] = set()
    pending = list(roots)
    while pending:
        name = pending.pop()
        if name not in seen and not re.match(elsewhere, name):
            seen.add(name)
            pending += [*imports()[name], *([package] if (package := name.rpartition(".")[0]) else [])]
    return tuple(_module(name) for name in sorted(seen))


@cache
def tokens_of(text: str) -> int:
    """Return the tokens of a source without its docstrings and imports: what cannot be packed into fewer lines."""
    skipped: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        docstring = (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        )
        if docstring or isinstance(node, ast.Import | ast.ImportFrom):
            skipped |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))  # type: ignore[attr-defined]
    begin, end = (getattr(tokenize, f"FSTRING_{which}", -1) for which in ("START", "END"))  # from Python 3.12 on
    kinds = (tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING, begin)
    count = inside = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        inside -= token.type == end  # a formatted text is taken apart there: here it stays one token
        count += not inside and token.start[0] not in skipped and token.type in kinds
        inside += token.type == begin
    return count


def way(what: str) -> list[Module]:
    """Return the modules through which something goes, in their order."""
    return [_module(f"airlock_{name}") for name in WAYS[what]]


def joined(what: str) -> set[str]:
    """Return the modules of a way that name another of it, or are named there, by an import; also one for types alone."""
    names, imports_of = {module.name for module in way(what)}, graph(types=True).find_modules_directly_imported_by
    pairs = {name: imports_of(name) & names for name in names}
    return {name for name in names if pairs[name]}.union(*pairs.values())


def at_a_terminal() -> list[Module]:
    """Return what is loaded when people sign an ordinary intent at a terminal, with a Ledger on USB."""
    return [*{*loaded(), *closure(AT_A_TERMINAL_OVER_USB)}]


def _module(name: str) -> Module:
    file = modules()[name].path
    text = file.read_text()
    return Module(name, file.relative_to(ROOT), len(text.splitlines()), tokens_of(text))


def _sign(folder: Path, port: int) -> list[str]:
    _write_documents(folder)
    data = (folder / "deployment.json").read_bytes()  # of a chain on which no rehearsal is pinned by trust
    OfflineHome(folder / "home").pin(parse_deployment(data), data, time.time_ns() // 1_000_000)
    watch = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    _run(folder, "preflight", "--time", watch, "--uncertainty", "60", "--emulator", str(port))
    (folder / "sitecustomize.py").write_text(TRACER)
    tracing = {"PYTHONPATH": str(folder), "AIRLOCK_TRACED": str(folder / "modules"), "PYTHONDONTWRITEBYTECODE": "1"}
    words = ("sign", "requests.json", "--plan", "plan.toml", "-o", "signatures.json", "--emulator", str(port))
    _run(folder, *words, typed="Yes\nYes\n", environment=tracing)
    document = json.loads((folder / "signatures.json").read_text())
    assert [item["result"] for item in document["signatures"]] == ["signed"]
    return (folder / "modules").read_text().splitlines()


def _run(folder: Path, *words: str, typed: str = "", environment: Mapping[str, str] = MappingProxyType({})) -> None:
    env = {**os.environ, "TMPDIR": str(folder), **environment}  # nobody else signs with the account there
    ended = run_command(OFFLINE, "--home", "home", *words, typed=typed, env=env, cwd=folder, started=True)
    assert ended.code == 0, ended.err


def _write_documents(folder: Path) -> None:
    """Write deployment, plan and requests: the vectors' own close, signed now by the software Ledger's account."""
    now_ms = time.time_ns() // 1_000_000
    plan = _own(plan_text_of("close"))
    document = rehearsed(json.loads(_own(json.dumps(good("close")))), plan)
    document["header"]["created_ms"] = now_ms
    payload = document["requests"][0]["payload"]
    payload["message"]["_deadline"] = str(now_ms + 10 * MINUTES_MS)
    seal(payload)
    (folder / "plan.toml").write_text(plan)
    for name, made in (("deployment.json", rehearsal_deployment()), ("requests.json", document)):
        (folder / name).write_bytes(to_bytes(made))


def _own(text: str) -> str:
    """Return a text in which the vectors' signer is the software Ledger's account, in either spelling."""
    return text.replace(TREASURY, SIGNER).replace(TREASURY[2:].lower(), SIGNER[2:].lower())


# ---- the table in docs/auditors.md ------------------------------------------------------------------------------------


def table() -> str:
    """Return the table of the trusted path: every file, in reading order, with its lines."""
    found = {module.name: module for module in closure()}
    linked = [name for names in READING_ORDER.values() for name in names]
    lines = ["| read | tokens | lines | files |", "|---|---|---|---|"]
    for number, (heading, names) in enumerate(READING_ORDER.items(), start=1):
        modules = [found[name] for name in names]
        files = ", ".join(f"[`{_short(module)}`](../{module.file}) {module.lines}" for module in modules)
        lines.append(f"| {number}. {heading} | {_sums(modules)} | {files} |")
    lines.append(
        f"| in all | {_sums(closure())} | {len(linked)} modules, and {len(found) - len(linked)} `__init__.py` |"
    )
    lines += [
        "",
        "| loaded to sign | tokens | lines | modules |",
        "|---|---|---|---|",
        f"| an intent, with the software Ledger, through a pipe | {_sums(loaded())} | {len(loaded())} |",
    ]
    people = at_a_terminal()
    lines.append(f"| an intent at a terminal, with a Ledger on USB | {_sums(people)} | {len(people)} |")
    pictures = {*closure(elsewhere=OTHER_COMMANDS)} - {*closure()}
    lines.append(f"| `--qr` adds: codes are decoded before, and drawn after | {_sums([*pictures])} | {len(pictures)} |")
    lines += ["", "| what is followed | files that it goes through |", "|---|---|"]
    for what in WAYS:
        files = ", ".join(f"[`{_short(module)}`](../{module.file})" for module in way(what))
        lines.append(f"| {what} | {len(way(what))}: {files} |")
    return "\n".join(lines) + "\n"


def _sums(modules: Sequence[Module]) -> str:
    return f"{sum(module.tokens for module in modules):,} | {sum(module.lines for module in modules):,}"


def _short(module: Module) -> str:
    return "/".join(module.file.parts[-2:])
