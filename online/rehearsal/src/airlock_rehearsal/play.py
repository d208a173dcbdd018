"""A whole rehearsal on one machine: two folders for two machines, files crossing between them, nothing at stake."""

from __future__ import annotations

import re
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from airlock_rehearsal.machines import MACHINES, Play, ceremonies_now, fetching, fingerprint
from airlock_rehearsal.scenarios import Ceremony
from airlock_shared.cli.terminal import show
from airlock_shared.host.files import read_input, write_new
from airlock_shared.text.safe import WIDTH
from airlock_shared.wire.strict_json import parse_json

# ---- participants ---------------------------------------------------------------------------------------------------
# The people of a rehearsed ceremony: named at its beginning, confirming what they compared, on both machines.


PARTICIPANTS = {"signer": "Ada Lovelace", "facilitator": "Charles Babbage", "witness": "Mary Somerville"}


class Participants(NamedTuple):
    """The people of one ceremony, and its plan on each machine. Where a plan names no roles nothing is recorded."""

    play: Play
    plan: str
    named: bool

    def run(self, half: str, *words: str, more: tuple[str, ...] = ()) -> None:
        """Run a command of the record on a machine: its words, the plan, and more."""
        if self.named:
            self.play.run(half, *words, "--plan", self.plan, *more)

    def begin(self) -> None:
        """Name everybody on both machines; then look at the air-gapped one and at the Ledger, and confirm what is known."""
        if not self.named:
            return
        words = tuple(word for role, name in PARTICIPANTS.items() for word in ("--role", f"{role}={name}"))
        for half in MACHINES:
            self.run(half, "ceremony", "begin", more=words)
        look_at_the_machine(self.play)
        self.confirm("online", "plan", "deployment")
        self.confirm("offline", "plan", "deployment", "address")
        self.confirm("offline", "preflight", by="facilitator")

    def confirm(self, half: str, *checkpoints: str, by: str = "") -> None:
        """Have the checkpoints confirmed by the witness and who sits there: the facilitator online, else the signer."""
        by = by or {"online": "facilitator", "offline": "signer"}[half]
        for checkpoint in checkpoints:
            self.run(half, "ceremony", "compare", checkpoint, more=("--by", by, "--by", "witness"))

    def end(self) -> None:
        """Seal the air-gapped machine's transcript, and end the ceremony on both machines."""
        self.run("offline", "transcript", "seal", more=("--model", self.play.model, *self.play.ledger()))
        self.confirm("offline", "seal")
        for half in MACHINES:
            self.run(half, "ceremony", "end")

    def report(self, requests: str, signatures: str) -> None:
        """Write the evidence on both machines and verify it; by QR codes, the air-gapped transcript stays where it is."""
        if not self.named:
            return
        play, evidence = self.play, signatures.replace("signatures.json", "evidence")
        made = ("--signatures", signatures, "-o", evidence)
        self.run("offline", "report", "make", more=("--requests", requests, *made))
        brought = [("--transcript", "offline-transcript.jsonl"), ("--screens", "screens.json")]
        brought = brought if play.channel == "file" else []
        for _, file in brought:
            shutil.copyfile(play.folder / "offline" / evidence / "artefacts" / file, play.folder / "online" / file)
            show(f"\n=== {file} crosses the gap: offline -> online")
        self.run("online", "report", "make", more=(*(word for words in brought for word in words), *made))
        for half in MACHINES:
            play.run(half, "report", "verify", evidence)


def look_at_the_machine(play: Play) -> None:
    """State the time from a watch, look at the air-gapped machine, and compare the Ledger's address."""
    watch = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    play.run("offline", "preflight", "--time", watch, "--uncertainty", "60", *play.ledger())
    play.run("offline", "address", "--confirm", *play.ledger())


# ---- play -----------------------------------------------------------------------------------------------------------


_RULE = "#" * WIDTH


def rehearse(play: Play) -> list[str]:
    """Play every ceremony and return how each ended, for the summary. Raises ``RehearsalFailed``."""
    for half in MACHINES:
        (play.folder / half).mkdir(parents=True)
    show(f"{_RULE}\n# Before the ceremonies: pin the deployment, look at the machine and the Ledger\n{_RULE}")
    play.run("online", *fetching(play.urls))
    play.carry("deployment.json", "online", "offline")
    play.run("offline", "trust", "deployment.json")
    look_at_the_machine(play)
    return [_play(play, ceremony) for ceremony in ceremonies_now()]


def _play(play: Play, ceremony: Ceremony) -> str:
    show(f"\n{_RULE}\n# {ceremony.title}\n{_RULE}")
    plan, requests, signatures = (f"{ceremony.id}.{end}" for end in ("plan.toml", "requests.json", "signatures.json"))
    write_new(play.folder / "online" / plan, ceremony.plan.encode())
    play.carry(plan, "online", "offline")
    for half in MACHINES:
        play.run(half, "plan", "show", plan)
    participants = Participants(play, plan, ceremony.recorded)
    participants.begin()
    if ceremony.delegate_path:
        proof = f"{ceremony.id}.proofs.json"
        asked = ("--plan", plan, "--path", ceremony.delegate_path, "-o", proof, "--model", play.model)
        play.run("offline", "delegate", "prove", *asked, *play.ledger())
        play.run("offline", "delegate", "check", proof, "--plan", plan)
    node = ("--rpc", play.urls["rpc"]) if ceremony.transaction else ()
    prepared = play.run("online", "prepare", plan, "-o", requests, *node)
    participants.confirm("online", "requests")
    play.carry(requests, "online", "offline")
    play.run("offline", "verify", requests, "--plan", plan)
    if ceremony.transaction:
        show("\n=== on the Ledger: Settings, Blind signing, on (off again after this ceremony)")
    words = ("--plan", plan, "-o", signatures, "--model", play.model, *play.ledger(blind=ceremony.transaction))
    signed = play.run("offline", "sign", requests, *words)
    participants.confirm("offline", "requests", "review", "signatures")
    play.compare("requests", "requests", prepared, signed)
    play.carry(signatures, "offline", "online")
    submitted = play.run("online", "submit", signatures, reading=fingerprint(signed, "signatures"))
    participants.confirm("online", "signatures", "outcome")
    participants.end()
    participants.report(requests, signatures)
    item = parse_json(read_input(play.folder / "offline" / signatures))["signatures"][0]
    outcome = ["none", *re.findall(r"outcome: (\w+)", submitted)][-1]
    return f"{ceremony.id}\n  digest    {item['digest'][2:]}\n  signed by {item['signer']}\n  outcome   {outcome}"


def summary_lines(ends: list[str], folder: Path) -> list[str]:
    """Return the table that ends a rehearsal."""
    return [f"\n{_RULE}", "# Summary", _RULE, *ends, f"\nAll documents and records are in {folder}"]
