"""A whole rehearsal on one machine: two folders for two machines, files crossing between them, nothing at stake."""

from __future__ import annotations

import re
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from airlock_rehearsal.machines import RUN, Play, carry, fingerprint, ledger, offline, online
from airlock_rehearsal.processes import Ended
from airlock_rehearsal.scenarios import Ceremony, ceremonies, service_words
from airlock_shared.documents.deployment import Deployment, parse_deployment
from airlock_shared.ethereum.signatures import checksum_address
from airlock_shared.host.files import read_input, write_new
from airlock_shared.text.safe import WIDTH
from airlock_shared.wire.strict_json import parse_json

# ---- participants ---------------------------------------------------------------------------------------------------
# The people of a rehearsed ceremony: named at its beginning, confirming what they compared, on both machines.


PARTICIPANTS = {"signer": "Ada Lovelace", "facilitator": "Charles Babbage", "witness": "Mary Somerville"}


class Participants(NamedTuple):
    """The people of one ceremony, and its plan on each machine. Where a plan names no roles nothing is recorded."""

    play: Play
    plans: dict[str, str]
    named: bool

    def begin(self) -> None:
        """Name everybody on both machines; then look at the air-gapped one and at the Ledger, and confirm what is known."""
        if not self.named:
            return
        for machine, run in RUN.items():
            words = [word for role, name in PARTICIPANTS.items() for word in ("--role", f"{role}={name}")]
            run(self.play, "ceremony", "begin", "--plan", self.plans[machine], *words)
        look_at_the_machine(self.play)
        self.confirm("online", "plan", "deployment")
        self.confirm("offline", "plan", "deployment", "address")
        self.confirm("offline", "preflight", by="facilitator")

    def confirm(self, machine: str, *checkpoints: str, by: str = "") -> None:
        """Have the checkpoints confirmed by the witness and who sits there: the facilitator online, else the signer."""
        by = by or {"online": "facilitator", "offline": "signer"}[machine]
        for checkpoint in checkpoints if self.named else ():
            words = ("--plan", self.plans[machine], "--by", by, "--by", "witness")
            RUN[machine](self.play, "ceremony", "confirm", checkpoint, *words)

    def end(self) -> None:
        """Seal the air-gapped machine's transcript, and end the ceremony on both machines."""
        if not self.named:
            return
        words = ("--plan", self.plans["offline"], "--model", self.play.model, *ledger(self.play))
        offline(self.play, "transcript", "seal", *words)
        self.confirm("offline", "seal")
        for machine, run in RUN.items():
            run(self.play, "ceremony", "end", "--plan", self.plans[machine])

    def report(self, requests: str, signatures: str) -> None:
        """Write the evidence on both machines and verify it; by light, the air-gapped transcript stays where it is."""
        if not self.named:
            return
        name = Path(signatures).name.replace("signatures.json", "evidence")
        folders = {machine: str(self.play.folder / machine / name) for machine in RUN}
        words = ("--requests", requests, "--signatures", signatures)
        self._write("offline", folders["offline"], *words)
        brought: list[str] = []
        if self.play.channel == "file":
            for option, file in (("--transcript", "offline-transcript.jsonl"), ("--screens", "screens.json")):
                shutil.copyfile(Path(folders["offline"]) / "artefacts" / file, self.play.folder / "online" / file)
                self.play.say(f"\n=== {file} crosses the gap: offline -> online")
                brought += [option, str(self.play.folder / "online" / file)]
        signatures_online = str(self.play.folder / "online" / Path(signatures).name)
        self._write("online", folders["online"], "--signatures", signatures_online, *brought)
        for machine, run in RUN.items():
            run(self.play, "report", "verify", folders[machine])

    def _write(self, machine: str, folder: str, *words: str) -> None:
        RUN[machine](self.play, "report", "make", "--plan", self.plans[machine], *words, "-o", folder)


def look_at_the_machine(play: Play) -> None:
    """State the time from a watch, look at the air-gapped machine, and compare the Ledger's address."""
    watch = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    offline(play, "preflight", "--time", watch, "--uncertainty", "60", *ledger(play))
    offline(play, "address", "--confirm", *ledger(play))


# ---- play -----------------------------------------------------------------------------------------------------------


DEPLOYMENT = "rehearsal"
_RULE = "#" * WIDTH


class Row(NamedTuple):
    """A ceremony's line in the summary."""

    ceremony: str
    same_fingerprint: bool
    signer: str
    digest: str
    signature: str
    outcome: str
    on_chain: tuple[tuple[str, str], ...]


def rehearse(play: Play) -> list[Row]:
    """Play every ceremony and return the summary. Raises ``RehearsalFailed``."""
    for machine in ("online", "offline"):
        (play.folder / machine).mkdir(parents=True)
    deployment = _set_up(play)
    storage = checksum_address(deployment.contracts["tradingStorage"])
    played = ceremonies(DEPLOYMENT, datetime.now(UTC), trading_storage=storage)
    return [_play(play, ceremony) for ceremony in played]


def _set_up(play: Play) -> Deployment:
    play.say(f"{_RULE}\n# Before the ceremonies: pin the deployment, look at the machine and the Ledger\n{_RULE}")
    document = str(play.folder / "online" / "deployment.json")
    online(play, "deployment", "fetch", "--name", DEPLOYMENT, *service_words(play.urls), "-o", document)
    offline(play, "trust", carry(play, "deployment.json", "online", "offline"))
    look_at_the_machine(play)
    return parse_deployment(read_input(Path(document)))


def _play(play: Play, ceremony: Ceremony) -> Row:
    play.say(f"\n{_RULE}\n# {ceremony.title}\n{_RULE}")
    plan, requests, signatures = (f"{ceremony.id}.{end}" for end in ("plan.toml", "requests.json", "signatures.json"))
    plan_online = str(play.folder / "online" / plan)
    write_new(Path(plan_online), ceremony.plan.encode())
    plan_offline = carry(play, plan, "online", "offline")
    online(play, "plan", "show", plan_online)
    offline(play, "plan", "show", plan_offline)
    participants = Participants(play, {"online": plan_online, "offline": plan_offline}, ceremony.recorded)
    participants.begin()
    if ceremony.delegate_path:
        _prove(play, ceremony, plan_offline)
    node = ("--rpc", play.urls["rpc"]) if ceremony.transaction else ()
    prepared = online(play, "prepare", plan_online, "-o", str(play.folder / "online" / requests), *node)
    participants.confirm("online", "requests")
    carried = carry(play, requests, "online", "offline")
    offline(play, "verify", carried, "--plan", plan_offline)
    output = str(play.folder / "offline" / signatures)
    signed = _sign(play, ceremony, carried, plan_offline, output)
    participants.confirm("offline", "requests", "review", "signatures")
    same = fingerprint(prepared.screen) == fingerprint(signed.screen) != ""
    play.say(f"\n=== the requests fingerprint is {'EQUAL' if same else 'NOT EQUAL'} on both screens")
    carried_back = carry(play, signatures, "offline", "online")
    submitted = online(play, "submit", carried_back, reading=fingerprint(signed.screen, "signatures"))
    participants.confirm("online", "signatures", "outcome")
    participants.end()
    participants.report(carried, output)
    item = parse_json(read_input(Path(output)))["signatures"][0]
    outcomes = re.findall(r"outcome: (\w+)", submitted.screen)
    outcome = outcomes[-1] if outcomes else "none"
    return Row(ceremony.id, same, item["signer"], item["digest"], item["signature"], outcome, play.on_chain())


def _sign(play: Play, ceremony: Ceremony, requests: str, plan: str, output: str) -> Ended:
    """Set the Ledger up, review and sign."""
    if ceremony.transaction:
        play.say("\n=== on the Ledger: Settings, Blind signing, on (off again after this ceremony)")
    device = ledger(play, blind=ceremony.transaction)
    return offline(play, "sign", requests, "--plan", plan, "-o", output, "--model", play.model, *device)


def _prove(play: Play, ceremony: Ceremony, plan: str) -> None:
    """Have the delegate key sign its challenge on the Ledger that holds it, and check the proof."""
    proof = str(play.folder / "offline" / f"{ceremony.id}.proofs.json")
    words = ("--plan", plan, "--path", ceremony.delegate_path, "-o", proof, "--model", play.model)
    offline(play, "delegate", "prove", *words, *ledger(play))
    offline(play, "delegate", "check", proof, "--plan", plan)


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
    return [*lines, f"\nAll documents and records are in {folder}"]


def _hex_rows(label: str, value: str) -> list[str]:
    """Return a hex value in rows of 32 bytes beside its label."""
    digits = value.removeprefix("0x")
    rows = [digits[at : at + 64] for at in range(0, len(digits), 64)]
    return [f"  {label if row is rows[0] else '':<14}{row}" for row in rows]
