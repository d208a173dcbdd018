"""The people of a rehearsed ceremony: named at its beginning, confirming what they compared, on both machines."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from airlock_rehearsal.machines import RUN, Play, ledger, offline

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
