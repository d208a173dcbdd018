"""One command a machine: both programs lead their people through whole ceremonies, in terminals, at the same time."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from eth_account.signers.local import LocalAccount

from airlock_rehearsal.scenarios import DELEGATE_PATH
from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.host.files import read_transcript
from airlock_shared.plan.reader import parse_plan
from airlock_shared.text.safe import spoken
from draws import ALL
from e2e.conftest import OFFLINE, ONLINE, PEOPLE, BothMachines, Ledger, key_at, signed_by
from e2e.led import Asked, Read, Screen, careful, count, kill, lead, rows_of, start, words_on

AT_MOST = Read(commands=4, typed=24, enters=12, rows=260)
"""For a whole ceremony on both machines: see :func:`~e2e.led.count`."""


class Day:
    """A day on which a ceremony is led: the plan on both machines, and a folder through which documents cross."""

    def __init__(self, desk: BothMachines, ledger: Ledger, ceremony: str, *, by_qr: bool = False) -> None:
        self.desk, self.ledger, self.by_qr = desk, ledger, by_qr
        self.plans = {half: desk.path(half) / "the.plan.toml" for half in ("online", "offline")}
        for plan in self.plans.values():
            plan.parent.mkdir()
        deployment = parse_deployment(desk.path("deployment.json").read_bytes())
        self.papers = {"deployment": spoken(deployment.fingerprint)}
        self.agree_on(desk.write_plan(ceremony, *PEOPLE).read_text())
        self.exchange = desk.path("stick")
        self.exchange.mkdir()
        for half in self.plans if by_qr else ():
            self.pictures(half).mkdir()

    def agree_on(self, text: str) -> None:
        """Give both machines a plan, and people the paper of it."""
        for plan in self.plans.values():
            plan.write_text(text)
        self.papers["plan"] = spoken(parse_plan(text.encode()).fingerprint)

    def complete_report(self) -> Any:
        """Return the online machine's report, which is complete."""
        report = json.loads((self.folder("online") / "evidence" / "report.json").read_text())
        assert report["complete"], report["missing"]
        return report

    def folder(self, half: str) -> Path:
        return self.plans[half].with_name("the.plan.ceremony")

    def words(self, half: str) -> tuple[object, ...]:
        device = ("--emulator", self.ledger.port) if half == "offline" else ()
        crossing = ("--qr", self.pictures(half)) if self.by_qr else ("--exchange", self.exchange)
        return ("ceremony", "run", self.plans[half], *crossing, *device)

    def pictures(self, half: str) -> Path:
        """Return the folder into which a person puts the pictures of what the other machine shows."""
        return self.desk.path(f"{half}-pictures")

    def photograph(self, _screens: dict[str, Screen], _asked: list[Asked]) -> bool:
        """Take pictures of each page of codes that is new, and put them in front of the other machine; never an end."""
        for half, other in (("online", "offline"), ("offline", "online")):
            run = self.desk.online if half == "online" else self.desk.offline
            for document in sorted(self.folder(half).glob("codes/*.json")):
                first = min(json.loads(document.read_text())["files"]).partition(".")[0]
                if document.with_suffix(".html").exists() and not (self.pictures(other) / first).exists():
                    taken = self.desk.path(f"{half}-{first}.codes")
                    assert run("show", document, "--as", "png", "-o", taken).code == 0
                    taken.rename(self.pictures(other) / first)
        return False

    def start(self, half: str, **environment: str) -> Screen:
        program = ONLINE if half == "online" else OFFLINE
        screen = start(program, self.desk.path(f"{half}-home"), *self.words(half), **environment)
        screen.papers = self.papers
        return screen

    def exchange_plan(self, half: str) -> None:
        """Give a machine another plan of the same id and title, as whoever holds the online machine may."""
        text, count = re.subn(r'(?m)^code = "\w+"', 'code = "MALLORY"', self.plans[half].read_text())
        assert count == 1
        self.plans[half].write_text(text)

    def prove(self, *keys: LocalAccount) -> None:
        """Have the delegates' servers sign their challenges, and put the proofs where the online machine hands them over."""
        plan, asks = ("--plan", self.plans["online"]), self.desk.path("challenges.json")
        self.desk.online("delegate", "challenge", *plan, "-o", asks).done()
        document = json.loads(asks.read_text())
        by_address = {key.address: key for key in keys or [key_at(DELEGATE_PATH)]}
        for proof in document["proofs"]:
            proof["signature"] = signed_by(by_address[proof["delegate"]], proof["text"])
        asks.write_text(json.dumps(document))
        self.folder("online").mkdir(exist_ok=True)
        self.desk.online("delegate", "proof", asks, *plan, "-o", self.folder("online") / "proofs.json").done()


LED = ("delegate-key", "referral-code", "market-close")


@pytest.mark.parametrize(
    ("ceremony", "by_qr"),
    [(name, by_qr) for by_qr in (False, True) for name in LED]
    if ALL
    else [("delegate-key", False), ("market-close", True)],
)
def test_two_commands_lead_a_whole_ceremony_to_a_complete_report(
    unpinned: BothMachines, ledger: Ledger, ceremony: str, *, by_qr: bool
) -> None:
    day = Day(unpinned, ledger, ceremony, by_qr=by_qr)
    if ceremony == "delegate-key":
        day.prove()
    screens = {half: day.start(half) for half in ("online", "offline")}
    asked = lead(screens, until=day.photograph)
    assert {half: screen.code for half, screen in screens.items()} == {"online": 0, "offline": 0}, _told(screens)
    report = day.complete_report()
    for told in report["transcripts"]:  # what people wrote down is what stands in the report that they sign
        assert words_on(screens[told["machine"]], "head") == told["words"].split(), told["machine"]
        folder = day.folder(told["machine"]) / "evidence"
        names = ", ".join(name for name in ("report.html", "report.pdf") if (folder / name).exists())
        assert f"Open {names} in\n" in screens[told["machine"]].plain()
    print(f"{ceremony} {'by QR codes' if by_qr else 'by files'}: {(found := count(screens, asked))}")
    assert [each.shown.count("ask the other machine's people") > 0 for each in screens.values()] == [by_qr] * 2
    assert "compared this plan with" not in screens["offline"].shown
    assert all(done <= most for done, most in zip(found, AT_MOST, strict=True)), f"{found}\n{_told(screens)}"
    assert {half: screen.unread() for half, screen in screens.items()} == {"online": [], "offline": []}
    again = day.start("offline")  # on a screen that was closed, the words of the signatures can be read once more
    pages: list[str] = []  # and an early Enter at the seal does not strand the signatures: their page is shown again

    def read(*_: object) -> str:
        page = re.findall(r"hand-over-[0-9a-f]{16}", (day.folder("offline") / "codes/next.html").read_text())[0]
        pages.extend(json.loads((day.folder("offline") / f"codes/{page}.json").read_text())["files"])
        return ""

    lead({"offline": again}, read)
    assert pages == (["signatures.json", "offline-transcript.jsonl", "screens.json"] if by_qr else [])
    assert (again.code, words_on(again, "signatures")) == (0, words_on(screens["offline"], "signatures")), again.shown


def _told(screens: dict[str, Screen]) -> str:
    return "\n".join(f"===== {half}\n" + "\n".join(rows_of(screen.shown)) for half, screen in screens.items())


@pytest.mark.parametrize(
    ("checkpoint", "half", "events"),
    [("requests", "offline", {"sign-begun", "signed"}), ("signatures", "online", {"submit-begun", "sending"})],
)
def test_who_has_read_until_then_and_guesses_from_a_document_on_does_not_get_through(
    unpinned: BothMachines, ledger: Ledger, checkpoint: str, half: str, events: set[str]
) -> None:
    day = Day(unpinned, ledger, "referral-code")

    def tired(machine: str, question: str, screens: dict[str, Screen]) -> str | None:
        return "able acid" if f", {checkpoint}" in question else careful(machine, question, screens)

    screens = {name: day.start(name) for name in ("online", "offline")}
    lead(screens, tired)
    assert screens[half].code == 3
    assert "ROLE-WORDS" in screens[half].shown
    assert "  do:       put right what stands above; then give the same command again\n" in screens[half].plain()
    recorded = {entry.event for entry in read_transcript(unpinned.path(f"{half}-home") / "transcript.jsonl")}
    assert "words-wrong" in recorded
    assert not events & recorded
    for screen in screens.values():
        if screen.code is None:
            kill(screen)


def test_a_plan_that_a_hostile_online_machine_exchanged_is_refused_by_the_paper_of_the_witness(
    unpinned: BothMachines, ledger: Ledger
) -> None:
    day = Day(unpinned, ledger, "referral-code")  # the papers are of the plan that was agreed to
    for half in ("online", "offline"):
        day.exchange_plan(half)
    exchanged = spoken(parse_plan(day.plans["offline"].read_bytes()).fingerprint).split()

    def answer(machine: str, question: str, screens: dict[str, Screen]) -> str | None:
        """Let through whatever the signer could let through."""
        lax = "YOUR PAPER" in question and "(witness)" not in question
        return "no paper" if lax else careful(machine, question, screens)

    screens = {half: day.start(half) for half in ("online", "offline")}
    lead(screens, answer)
    assert (screens["offline"].code, "ROLE-WORDS" in screens["offline"].shown) == (3, True), _told(screens)
    recorded = read_transcript(unpinned.path("offline-home") / "transcript.jsonl")
    assert [entry.data["by"] for entry in recorded if entry.event == "checkpoint-confirmed"] == [["signer"]]
    for screen in screens.values():
        assert " ".join(exchanged[:12]) not in screen.plain()  # and no screen has told its words
    kill(screens["online"])
