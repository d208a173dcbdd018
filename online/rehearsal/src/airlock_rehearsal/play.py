"""A whole rehearsal on one machine: two folders for two machines, files crossing between them, nothing at stake."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from airlock_rehearsal.machines import Play, carry, fingerprint, ledger, offline, online
from airlock_rehearsal.participants import Participants, look_at_the_machine
from airlock_rehearsal.processes import Ended
from airlock_rehearsal.scenarios import Ceremony, ceremonies, service_words
from airlock_shared.documents.deployment import Deployment, parse_deployment
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.host.files import read_input, write_new
from airlock_shared.wire.codec import parse_json

DEPLOYMENT = "rehearsal"
_RULE = "#" * 80


class Row(NamedTuple):
    """A ceremony's line in the summary."""

    ceremony: str
    same_fingerprint: bool
    signer: str
    digest: str
    signature: str
    outcome: str
    on_chain: tuple[tuple[str, str], ...]


def rehearse(stage: Play) -> list[Row]:
    """Play every ceremony and return the summary. Raises ``RehearsalFailed``."""
    for machine in ("online", "offline"):
        (stage.folder / machine).mkdir(parents=True)
    deployment = _set_up(stage)
    storage = checksum_address(deployment.contracts["tradingStorage"])
    played = ceremonies(DEPLOYMENT, datetime.now(UTC), trading_storage=storage)
    return [_play(stage, ceremony) for ceremony in played]


def _set_up(stage: Play) -> Deployment:
    stage.say(f"{_RULE}\n# Before the ceremonies: pin the deployment, look at the machine and the Ledger\n{_RULE}")
    document = str(stage.folder / "online" / "deployment.json")
    online(stage, "deployment", "fetch", "--name", DEPLOYMENT, *service_words(stage.urls), "-o", document)
    offline(stage, "trust", carry(stage, "deployment.json", "online", "offline"))
    look_at_the_machine(stage)
    return parse_deployment(read_input(Path(document)))


def _play(stage: Play, ceremony: Ceremony) -> Row:
    stage.say(f"\n{_RULE}\n# {ceremony.title}\n{_RULE}")
    plan, requests, signatures = (f"{ceremony.id}.{end}" for end in ("plan.toml", "requests.json", "signatures.json"))
    plan_online = str(stage.folder / "online" / plan)
    write_new(Path(plan_online), ceremony.plan.encode())
    plan_offline = carry(stage, plan, "online", "offline")
    online(stage, "plan", "show", plan_online)
    offline(stage, "plan", "show", plan_offline)
    people = Participants(stage, {"online": plan_online, "offline": plan_offline}, ceremony.recorded)
    people.begin()
    node = ("--rpc", stage.urls["rpc"]) if ceremony.transaction else ()
    prepared = online(stage, "prepare", plan_online, "-o", str(stage.folder / "online" / requests), *node)
    people.confirm("online", "requests")
    carried = carry(stage, requests, "online", "offline")
    offline(stage, "verify", carried, "--plan", plan_offline)
    output = str(stage.folder / "offline" / signatures)
    signed = _sign(stage, ceremony, carried, plan_offline, output)
    people.confirm("offline", "requests", "review", "signatures")
    same = fingerprint(prepared.screen) == fingerprint(signed.screen) != ""
    stage.say(f"\n=== the requests fingerprint is {'EQUAL' if same else 'NOT EQUAL'} on both screens")
    submitted = online(stage, "submit", carry(stage, signatures, "offline", "online"))
    people.confirm("online", "signatures", "outcome")
    people.end()
    people.report(carried, output)
    item = parse_json(read_input(Path(output)))["signatures"][0]
    outcomes = re.findall(r"outcome: (\w+)", submitted.screen)
    outcome = outcomes[-1] if outcomes else "none"
    return Row(ceremony.id, same, item["signer"], item["digest"], item["signature"], outcome, stage.on_chain())


def _sign(stage: Play, ceremony: Ceremony, requests: str, plan: str, output: str) -> Ended:
    """Have the delegate key prove itself where one is registered, set the Ledger up, review and sign."""
    if ceremony.transaction:
        stage.say("\n=== on the Ledger: Settings, Blind signing, on (off again after this ceremony)")
    if ceremony.delegate_path:
        _prove(stage, ceremony, plan)
    device = ledger(stage, blind=ceremony.transaction)
    return offline(stage, "sign", requests, "--plan", plan, "-o", output, "--model", stage.model, *device)


def _prove(stage: Play, ceremony: Ceremony, plan: str) -> None:
    """Have the delegate key sign its challenge on the Ledger that holds it, and check the proof."""
    proof = str(stage.folder / "offline" / f"{ceremony.id}.proof.json")
    words = ("--plan", plan, "--path", ceremony.delegate_path, "-o", proof, "--model", stage.model)
    offline(stage, "delegate", "prove", *words, *ledger(stage))
    offline(stage, "delegate", "check", proof, "--plan", plan)


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
