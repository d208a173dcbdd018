"""A whole rehearsal on one machine: two folders for two machines, files crossing between them, nothing at stake."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from airlock_online.rehearsal.plans import Ceremony, ceremonies
from airlock_online.rehearsal.processes import Ended, run_command
from airlock_shared.addresses import checksum_address
from airlock_shared.deployment import Deployment, parse_deployment
from airlock_shared.documents import parse_json
from airlock_shared.errors import AirlockError, ExitCode
from airlock_shared.files import read_input, write_new

DEPLOYMENT = "rehearsal"
_ANSWERS = "Yes\n" * 8
_RULE = "#" * 80


class Stage(NamedTuple):
    """What a rehearsal is played on: the folder, both programs, the services' addresses, and the Ledger.

    ``ledger_port`` gives the Ledger's port, after its owner has switched Blind signing on (True) or off. ``channel`` is how
    documents cross the gap: as a ``file``, or by light (``qr``). ``on_chain`` tells what happened on the chain since it was
    last asked, as labels and texts.
    """

    folder: Path
    online: Path
    offline: Path
    urls: dict[str, str]
    ledger_port: Callable[[bool], int]
    model: str
    unattended: bool
    say: Callable[[str], None]
    channel: str
    on_chain: Callable[[], tuple[tuple[str, str], ...]]


class Row(NamedTuple):
    """A ceremony's line in the summary."""

    ceremony: str
    same_fingerprint: bool
    signer: str
    digest: str
    signature: str
    outcome: str
    on_chain: tuple[tuple[str, str], ...]


class RehearsalFailed(AirlockError):
    """A command of the rehearsal ended otherwise than it should; its exit code is the rehearsal's."""

    def __init__(self, what: str, code: int) -> None:
        super().__init__(what, do="read what it said above; the folder is kept as it is")
        known = [known for known in ExitCode if known == code and code != 0]
        self.exit_code = known[0] if known else ExitCode.UNKNOWN


def rehearse(stage: Stage) -> list[Row]:
    """Play every ceremony and return the summary. Raises ``RehearsalFailed``."""
    for machine in ("online", "offline"):
        (stage.folder / machine).mkdir(parents=True)
    deployment = _set_up(stage)
    storage = checksum_address(deployment.contracts["tradingStorage"])
    played = ceremonies(DEPLOYMENT, datetime.now(UTC), trading_storage=storage)
    return [_play(stage, ceremony) for ceremony in played]


def _online(stage: Stage, *words: str) -> Ended:
    return _run(stage, "ONLINE MACHINE", [stage.online, "--home", stage.folder / "online" / "home", *words])


def _offline(stage: Stage, *words: str) -> Ended:
    return _run(stage, "AIR-GAPPED MACHINE", [stage.offline, "--home", stage.folder / "offline" / "home", *words])


def _run(stage: Stage, machine: str, words: list[str | Path]) -> Ended:
    shown = [Path(words[0]).name, *(_short(stage, str(word)) for word in words[3:])]
    stage.say("\n" + textwrap.fill(f"--- {machine} $ {' '.join(shown)}", 80, subsequent_indent="      ",
                                   break_long_words=False, break_on_hyphens=False))  # fmt: skip
    ended = run_command(words, _ANSWERS if stage.unattended else None)
    if ended.code != 0:
        raise RehearsalFailed(f"{shown[0]} {shown[1]} ended with exit code {ended.code}", ended.code)
    return ended


def _short(stage: Stage, word: str) -> str:
    """Return a word of a command line as an operator on that machine would type it."""
    return Path(word).name if word.startswith(str(stage.folder)) else word


def _carry(stage: Stage, name: str, source: str, target: str) -> str:
    """Carry a document across the gap, by light or as a USB stick would; return its path on the other machine."""
    if stage.channel == "qr":
        return _carry_by_light(stage, name, source, target)
    destination = stage.folder / target / name
    shutil.copyfile(stage.folder / source / name, destination)
    stage.say(f"\n=== {name} crosses the gap: {source} -> {target}")
    return str(destination)


def _carry_by_light(stage: Stage, name: str, source: str, target: str) -> str:
    """Show a document as codes on one machine, photograph them badly, and scan the pictures on the other."""
    from airlock_online.rehearsal.light import photograph

    run = {"online": _online, "offline": _offline}
    codes, pictures = stage.folder / source / f"{name}.codes", stage.folder / target / f"{name}.pictures"
    destination = stage.folder / target / name
    shown = run[source](stage, "show", str(stage.folder / source / name), "--as", "png", "-o", str(codes))
    played, seen = photograph(codes, pictures, seed=name)
    stage.say(f"\n=== {name} crosses the gap by light: {source} -> {target}, {played} frames played, {seen} seen")
    read = run[target](stage, "scan", str(pictures), "-o", str(destination))
    same = _fingerprint(shown.screen, "document") == _fingerprint(read.screen, "document") != ""
    stage.say(f"\n=== the document's fingerprint is {'EQUAL' if same else 'NOT EQUAL'} on both screens")
    if not same:
        raise RehearsalFailed(f"{name} is another document on the other machine", ExitCode.REFUSED)
    return str(destination)


def _set_up(stage: Stage) -> Deployment:
    stage.say(f"{_RULE}\n# Before the ceremonies: pin the deployment, look at the machine and the Ledger\n{_RULE}")
    names = {
        "builder": "builder",
        "batched": "batched-market",
        "relayer": "relayer",
        "twap": "twap",
        "core": "core-api",
    }
    services = [word for name, option in names.items() for word in (f"--{option}", stage.urls[name])]
    document = str(stage.folder / "online" / "deployment.json")
    _online(stage, "deployment", "fetch", "--name", DEPLOYMENT, *services, "-o", document)
    _offline(stage, "trust", _carry(stage, "deployment.json", "online", "offline"))
    watch = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    _offline(stage, "preflight", "--time", watch, "--uncertainty", "60", *_ledger(stage))
    _offline(stage, "address", "--confirm", *_ledger(stage))
    return parse_deployment(read_input(Path(document)))


def _ledger(stage: Stage, *, blind: bool = False) -> tuple[str, str]:
    return ("--emulator", str(stage.ledger_port(blind)))


def _play(stage: Stage, ceremony: Ceremony) -> Row:
    stage.say(f"\n{_RULE}\n# {ceremony.title}\n{_RULE}")
    plan, requests, signatures = (f"{ceremony.id}.{end}" for end in ("plan.toml", "requests.json", "signatures.json"))
    write_new(stage.folder / "online" / plan, ceremony.plan.encode())
    plan_offline = _carry(stage, plan, "online", "offline")
    _online(stage, "plan", "show", str(stage.folder / "online" / plan))
    _offline(stage, "plan", "show", plan_offline)
    node = ("--rpc", stage.urls["rpc"]) if ceremony.transaction else ()
    prepared = _online(
        stage, "prepare", str(stage.folder / "online" / plan), "-o", str(stage.folder / "online" / requests), *node
    )
    carried = _carry(stage, requests, "online", "offline")
    _offline(stage, "verify", carried, "--plan", plan_offline)
    output = str(stage.folder / "offline" / signatures)
    if ceremony.transaction:
        stage.say("\n=== on the Ledger: Settings, Blind signing, on (for this ceremony alone; off again afterwards)")
    ledger = _ledger(stage, blind=ceremony.transaction)
    signed = _offline(stage, "sign", carried, "--plan", plan_offline, "-o", output, "--model", stage.model, *ledger)
    same = _fingerprint(prepared.screen) == _fingerprint(signed.screen) != ""
    stage.say(f"\n=== the requests fingerprint is {'EQUAL' if same else 'NOT EQUAL'} on both screens")
    submitted = _online(stage, "submit", _carry(stage, signatures, "offline", "online"))
    item = parse_json(read_input(Path(output)))["signatures"][0]
    outcomes = re.findall(r"outcome: (\w+)", submitted.screen)
    outcome = outcomes[-1] if outcomes else "none"
    return Row(ceremony.id, same, item["signer"], item["digest"], item["signature"], outcome, stage.on_chain())


def _fingerprint(screen: str, label: str = "requests") -> str:
    found = re.search(label + r" fingerprint\n((?:  .+\n){3})", screen.replace("\r\n", "\n"))
    return found[1] if found else ""


def summary_lines(rows: list[Row], folder: Path) -> list[str]:
    """Return the table that ends a rehearsal."""
    lines = [f"\n{_RULE}", "# Summary", _RULE]
    for row in rows:
        lines += [
            row.ceremony,
            f"  fingerprint   {'equal on both machines' if row.same_fingerprint else 'NOT EQUAL'}",
            *_hex_rows("digest", row.digest),
            *_hex_rows("signature", row.signature),
            f"  recovered     {row.signer}, as the plan expects",
            f"  outcome       {row.outcome}",
            *(f"  {label:<13} {text}" for label, text in row.on_chain),
        ]
    return [*lines, f"\nEverything that crossed or was kept is in {folder}"]


def _hex_rows(label: str, value: str) -> list[str]:
    """Return a hex value in rows of 32 bytes beside its label."""
    digits = value.removeprefix("0x")
    rows = [digits[at : at + 64] for at in range(0, len(digits), 64)]
    return [f"  {label if row is rows[0] else '':<14}{row}" for row in rows]
