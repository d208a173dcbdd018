"""The report of a whole ceremony, made and verified by the installed commands of both halves."""

import copy
import json
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from airlock_rehearsal.scenarios import TRADER
from airlock_rehearsal.services.runtime import RehearsalSettings
from airlock_rehearsal.services.server import RehearsalServices
from airlock_shared.cli.report import read_folder
from airlock_shared.errors import Refusal
from airlock_shared.report.reexamined import judge
from airlock_shared.report.verify import report_of_artefacts, verify_report
from commands import FinishedCommand
from draws import every_nth
from e2e.conftest import BY_NAME, PEOPLE, BothMachines, Ledger, start_ledger, stop_ledger
from online.loopback import Wire, frame, stream
from refusals import check_of
from shared.strategies import at, places

EVERYBODY = ("--by", "signer", "--by", "facilitator", "--by", "witness")
Run = Callable[..., FinishedCommand]


class Day:
    """A ceremony that was held: where everything is."""

    def __init__(self, desk: BothMachines, ledger: Ledger, ceremony: str) -> None:
        self.desk, self.ledger, self.emulator = desk, ledger, ("--emulator", ledger.port)
        self.plan = desk.write_plan(ceremony, *PEOPLE)
        self.requests, self.signatures = desk.path("requests.json"), desk.path("signatures.json")

    def ceremony(self, run: Run, *words: object) -> FinishedCommand:
        return run("ceremony", *words, "--plan", self.plan, typed="Yes\n" * 3)

    def begin(self) -> None:
        for run in (self.desk.online, self.desk.offline):
            assert self.ceremony(run, "begin", *BY_NAME).code == 0

    def work(self) -> None:
        """Do all of it; nothing is confirmed."""
        desk = self.desk
        self.begin()
        assert desk.online("prepare", self.plan, "-o", self.requests).code == 0
        watch = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        assert desk.offline("preflight", "--time", watch, "--uncertainty", "60", *self.emulator).code == 0
        assert desk.offline("address", "--plan", self.plan, "--confirm", *self.emulator).code == 0
        assert self.sign().code == 0
        assert desk.online("submit", self.signatures).code == 0
        assert desk.ask_the_node(self.signatures).code == 0
        assert self.seal().code == 0

    def hold(self) -> None:
        """Do all of it, with every checkpoint confirmed on both machines."""
        desk = self.desk
        self.work()
        for run in (desk.online, desk.offline):
            for row in self.ceremony(run, "show", "--json").json()["checkpoints"]:
                assert self.ceremony(run, "compare", row["checkpoint"], *EVERYBODY).code == 0
            assert self.ceremony(run, "end").code == 0

    def sign(self, typed: str = "Yes\n" * 4) -> FinishedCommand:
        return self.desk.sign(self.ledger, self.plan, self.requests, self.signatures, typed=typed)

    def seal(self) -> FinishedCommand:
        return self.desk.offline("transcript", "seal", "--plan", self.plan, *self.emulator, typed="Yes\n")

    def report_offline(self, name: str, *words: object) -> FinishedCommand:
        given: tuple[object, ...] = ("--plan", self.plan, "--requests", self.requests)
        given += ("--signatures", self.signatures) if self.signatures.exists() else ()
        return self.desk.offline("report", "make", *given, "-o", self.desk.path(name), *words)

    def report_online(self, name: str, *words: object) -> FinishedCommand:
        given = ("--plan", self.plan, "--signatures", self.signatures, "-o", self.desk.path(name))
        return self.desk.online("report", "make", *given, *words)


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Day]:
    """A whole day, and the evidence of both machines in the folders ``offline`` and ``online``."""
    with RehearsalServices(trader=TRADER, settings=RehearsalSettings(pacing_s=0.0)) as services:
        ledger = start_ledger()
        try:
            desk = BothMachines(tmp_path_factory.mktemp("day"), services)
            desk.pin()
            held = Day(desk, ledger, "referral-code")
            held.hold()
            for ended in (held.report_offline("offline"), held.report_online("online", *_carried(desk))):
                assert ended.code == 0, ended.err
            yield held
        finally:
            stop_ledger(ledger)


def _carried(desk: BothMachines) -> tuple[object, ...]:
    inside = desk.path("offline") / "artefacts"
    return "--transcript", inside / "offline-transcript.jsonl", "--screens", inside / "screens.json"


def _report(day: Day, name: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((day.desk.path(name) / "report.json").read_text())
    return value


# ---- a day in which all went well -----------------------------------------------------------------------------------


def test_the_online_machine_has_the_whole_day_and_it_is_complete(day: Day) -> None:
    report = _report(day, "online")
    assert (report["complete"], report["missing"], report["rehearsal"]) == (True, [], True)
    (step,) = report["steps"]
    assert step["outcome"]["state"] == "CONFIRMED"
    assert [event["type"] for event in step["outcome"]["events"]][-2:] == ["RelayConfirmed", "FoundOnChain"]
    assert {promise["kept"] for promise in step["outcome"]["read_back"]} == {True}
    assert step["signature"]["signer"] == TRADER
    assert step["signature"]["bytes"] == json.loads(day.signatures.read_text())["signatures"][0]["signature"]
    assert {row["result"] for row in report["matches"]} == {"holds"}
    assert [len(row["seals"]) for row in report["transcripts"]] == [1, 0]
    assert [row["machine"] for row in report["people"]] == ["offline", "online"]
    assert step["device"]["pages"][-1] == ["Sign message"]
    assert step["request"]["checks"]["refused"] == []
    assert {row["by"] for row in step["request"]["decided"]} == {"plan", "builder"}


def test_the_offline_machine_has_the_hash_of_the_signature_and_not_its_bytes(day: Day) -> None:
    report = _report(day, "offline")
    assert report["complete"] is True, report["missing"]
    assert report["steps"][0]["signature"]["bytes"] == ""
    assert not _has_secret(day.desk.path("offline"), day.signatures)


def test_nothing_in_it_depends_on_when_it_is_made(day: Day) -> None:
    for half, words in (("offline", ()), ("online", _carried(day.desk))):
        again = f"{half}-again"
        assert getattr(day, f"report_{half}")(again, *words).code == 0
        for name in ("report.json", "report.html"):
            assert (day.desk.path(again) / name).read_bytes() == (day.desk.path(half) / name).read_bytes()


def test_each_half_verifies_the_report_of_the_other(day: Day) -> None:
    for run in (day.desk.offline, day.desk.online):
        for name in ("offline", "online"):
            ended = run("report", "verify", day.desk.path(name), "--json").done()
            assert ended.json()["complete"] is True
            told = ended.json()["not_computed_again"]
            assert any("withheld" in sentence for sentence in told) is (name == "offline")
            assert any("pages" in sentence for sentence in told) is (run == day.desk.online)


# ---- every changed field, byte and file -----------------------------------------------------------------------------


Place = tuple[Any, ...]


def _written(where: Place) -> str:
    return "".join(f"[{part}]" if type(part) is int else f".{part}" for part in where).lstrip(".")


def _alter(report: Any, where: Place) -> Place:
    holder, member = at(report, where[:-1]), where[-1]
    value = holder[member]
    if type(value) in (int, bool):
        holder[member] = not value if type(value) is bool else value + 1
    else:
        holder[member] = value[:-1] + ("x" if value[-1:] != "x" else "y") if value and type(value) is str else "other"
    return where


def _take(report: Any, where: Place) -> Place:
    holder = at(report, where)
    member = len(holder) - 1 if type(holder) is list else list(holder)[-1]
    del holder[member]
    return (*where, member)


def _add(report: Any, where: Place) -> Place:
    holder = at(report, where)
    if type(holder) is list:
        holder.append(holder[-1])
        return (*where, len(holder) - 1)
    holder["added"] = ""
    return (*where, "added")


@pytest.mark.parametrize("name", ["offline", "online"])
def test_every_field_that_is_changed_taken_away_or_added_is_named(day: Day, name: str) -> None:
    report, folder = _report(day, name), day.desk.path(name)
    _, html, files = read_folder(folder)
    changes: list[tuple[Place, Callable[[Any, Place], Place]]] = []
    for where in [(), *places(report)]:
        holds = type(at(report, where)) in (dict, list) and at(report, where)
        changes += [(where, change) for change in ((_take, _add) if holds else (_alter,))]
    assert len(changes) > 320
    for where, change in every_nth(changes, 24, lambda case: (case[0][:1], case[1])):
        altered = copy.deepcopy(report)
        place = change(altered, where)
        with pytest.raises(Refusal) as caught:
            verify_report(json.dumps(altered, indent=1).encode() + b"\n", html, files, judge)
        check = "REPORT-ARTEFACT" if place[0] == "artefacts" else "REPORT-FIELD"
        assert (caught.value.check, caught.value.where, caught.value.exit_code) == (check, _written(place), 4)


ARTEFACTS = (
    "plan.toml", "deployment.json", "requests.json", "signatures.json", "screens.json", "offline-transcript.jsonl",
    "online-transcript.jsonl", "timeline.jsonl",
)  # fmt: skip


@pytest.mark.parametrize("name", [*ARTEFACTS, "notes.txt", "../notes.txt"])
def test_a_changed_byte_of_an_artefact_is_named(day: Day, name: str) -> None:
    """And a file that does not belong there is refused."""
    folder = day.desk.path("changed")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(day.desk.path("online"), folder)
    path = folder / "artefacts" / name
    data = path.read_bytes() if path.exists() else b"xx"
    path.write_bytes(data[:-2] + bytes([data[-2] ^ 1]) + data[-1:])
    with pytest.raises(Refusal) as caught:
        verify_report(*read_folder(folder), judge)
    place = f"artefacts[{ARTEFACTS.index(name)}].sha256" if name in ARTEFACTS else ""
    assert (caught.value.check, caught.value.where, caught.value.exit_code) == ("REPORT-ARTEFACT", place, 4)


def test_crossed_transcripts_are_refused(day: Day) -> None:
    files = read_folder(day.desk.path("online"))[2]
    one, other = "offline-transcript.jsonl", "online-transcript.jsonl"
    assert check_of(report_of_artefacts, files | {one: files[other], other: files[one]}, judge) == "REPORT-MATCH"


# ---- days that went otherwise -----------------------------------------------------------------------------------------


def test_a_declined_item_without_people_and_seal_is_incomplete_on_the_first_page(
    desk: BothMachines, ledger: Ledger
) -> None:
    day = Day(desk, ledger, "referral-code")
    assert desk.online("prepare", day.plan, "-o", day.requests).code == 0
    assert day.sign(typed="Yes\nNo\n").code == 6
    told = day.report_offline("evidence", "--json").done().json()
    assert told["complete"] is False
    assert "air-gapped machine: no ceremony was begun with this plan on this machine" in told["missing"]
    assert any(sentence.startswith("step referral-code: declined") for sentence in told["missing"])
    assert "the air-gapped machine's transcript is not sealed by a signer of the plan" in told["missing"]
    html = (desk.path("evidence") / "report.html").read_text()
    assert html.index("<strong>INCOMPLETE</strong>") < html.index("Fingerprints")
    assert "referral-code, REHEARSAL, INCOMPLETE" in html
    assert desk.offline("report", "verify", desk.path("evidence")).code == 0


def _signed(desk: BothMachines, ledger: Ledger) -> Day:
    day = Day(desk, ledger, "market-close")
    assert desk.online("prepare", day.plan, "-o", day.requests).code == 0
    assert day.sign().code == 0
    return day


def _has_secret(folder: Path, signatures: Path) -> bool:
    secret = json.loads(signatures.read_text())["signatures"][0]["signature"][2:]
    return any(secret in p.read_text() for p in folder.rglob("*") if p.is_file() and p.suffix != ".pdf")


def test_what_people_noted_and_ids_that_cannot_be_used_are_in_the_timeline_and_escaped(
    tmp_path: Path, services: RehearsalServices, ledger: Ledger
) -> None:
    given, noted, name = "<img src=x onerror=alert(1)>\u202e", "seen <b>filled</b> & closed", "Ada </td>"
    market = stream(frame("MarketOrderAccepted", {"trackingId": [given]}, 0))
    with Wire({"POST /market/execute-batched": [market]}) as wire:
        desk = BothMachines(tmp_path, services)
        desk.pin(batched=wire.url)
        day = _signed(desk, ledger)
        assert desk.online("submit", day.signatures, "--patience", 0).code == 9
        [sent] = desk.online("status", "--json").json()
        assert desk.online("resolve", sent["digest"], "--note", noted, "--by", name).code == 9
        assert day.report_online("evidence").code == 0
    assert not _has_secret(desk.path("evidence"), day.signatures)  # its outcome is not known
    told = {event["kind"]: event for event in _report(day, "evidence")["steps"][0]["outcome"]["events"]}
    unusable, note = told["unusable-id"], told["note"]
    assert (unusable["type"], "onerror" in unusable["payload"][0]["value"]) == ("trackingId", True)
    assert {row["name"]: row["value"] for row in note["payload"]} == {"text": noted, "by": name}
    assert (note["at"][-3:], told["event"]["at"][-13:]) == ("UTC", "UTC, received")
    html = (desk.path("evidence") / "report.html").read_text()
    assert "id that cannot be used: tracking id" in html
    assert "seen &lt;b&gt;filled&lt;/b&gt; &amp; closed" in html
    assert not any(raw in html for raw in ("<img", noted, name, "\u202e"))
    for run in (desk.online, desk.offline):
        assert run("report", "verify", desk.path("evidence")).code == 0
