"""The report of a whole ceremony, made and verified by the installed commands of both halves."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from airlock_offline.cli.report import model_of, signed_screens
from airlock_online.journal.journal import Record, open_journal
from airlock_online.journal.order_states import FINAL, OrderState
from airlock_online.report_rows import timeline_of
from airlock_rehearsal.scenarios import TRADER
from airlock_rehearsal.services.faults import Faults
from airlock_rehearsal.services.runtime import RehearsalSettings
from airlock_rehearsal.services.server import RehearsalServices
from airlock_shared.cli.report import read_folder
from airlock_shared.documents.transcript import Entry, next_entry, read_entries
from airlock_shared.errors import Refusal
from airlock_shared.host.print_pdf import browser
from airlock_shared.report.evidence.timeline import parse_timeline
from airlock_shared.report.page.page import report_page
from airlock_shared.report.reexamined import judge
from airlock_shared.report.verify import read_evidence, report_of_artefacts, verify_report
from airlock_shared.venue.services import BATCHED_MARKET, CORE_API, RELAY
from commands import FinishedCommand
from draws import every_nth
from e2e.conftest import BothMachines, Ledger, start_ledger, stop_ledger
from online.loopback import Wire, frame, stream
from shared.world import DEPLOYMENT_TEXT, PLAN_TEXTS, to_bytes, whole

PEOPLE = (
    "--role", "signer=Ada Lovelace", "--role", "facilitator=Grace Hopper", "--role", "witness=Mary Somerville",
)  # fmt: skip
EVERYBODY = ("--by", "signer", "--by", "facilitator", "--by", "witness")
ROLES = ["signer", "facilitator", "witness"]
Run = Callable[..., FinishedCommand]


class Day:
    """A ceremony that was held: where everything is."""

    def __init__(self, desk: BothMachines, ledger: Ledger, ceremony: str) -> None:
        self.desk, self.emulator = desk, ("--emulator", ledger.port)
        self.plan = desk.write_plan(ceremony)
        lines = [line for line in self.plan.read_text().splitlines() if not line.startswith(("roles = ", "witness = "))]
        self.plan.write_text("\n".join(lines).replace("[ceremony]", f"[ceremony]\nroles = {json.dumps(ROLES)}"))
        self.requests, self.signatures = desk.path("requests.json"), desk.path("signatures.json")

    def ceremony(self, run: Run, *words: object) -> FinishedCommand:
        return run("ceremony", *words, "--plan", self.plan, typed="Yes\n")

    def hold(self) -> None:
        """Do all of it, with every station confirmed on both machines."""
        desk = self.desk
        for run in (desk.online, desk.offline):
            assert self.ceremony(run, "begin", *PEOPLE).code == 0
        assert desk.online("prepare", self.plan, "-o", self.requests).code == 0
        watch = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        assert desk.offline("preflight", "--time", watch, "--uncertainty", "60", *self.emulator).code == 0
        assert desk.offline("address", "--plan", self.plan, "--confirm", *self.emulator).code == 0
        assert self.sign().code == 0
        assert desk.online("submit", self.signatures).code == 0
        assert self.seal().code == 0
        for run in (desk.online, desk.offline):
            for row in self.ceremony(run, "show", "--json").json()["stations"]:
                assert self.ceremony(run, "confirm", row["station"], *EVERYBODY).code == 0
            assert self.ceremony(run, "end").code == 0

    def sign(self, typed: str = "Yes\n" * 4) -> FinishedCommand:
        words = ("--plan", self.plan, "-o", self.signatures, *self.emulator)
        return self.desk.offline("sign", self.requests, *words, typed=typed)

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
    assert [event["type"] for event in step["outcome"]["events"]][-1] == "RelayConfirmed"
    assert [promise["kept"] for promise in step["outcome"]["read_back"]] == [True]
    assert step["signature"]["signer"] == TRADER
    assert step["signature"]["bytes"] == json.loads(day.signatures.read_text())["signatures"][0]["signature"]
    assert {row["result"] for row in report["matches"]} == {"holds"}
    assert [len(row["seals"]) for row in report["transcripts"]] == [1, 0]
    assert [row["machine"] for row in report["people"]] == ["offline", "online"]
    assert step["device"]["pages"][-1] == ["Sign message"]
    assert step["request"]["checks"]["refused"] == []
    assert {row["by"] for row in step["request"]["decided"]} == {"plan", "builder"}


def test_the_offline_machine_has_the_hash_of_the_signature_and_not_its_bytes(day: Day) -> None:
    secret = json.loads(day.signatures.read_text())["signatures"][0]["signature"]
    report = _report(day, "offline")
    assert report["complete"] is True, report["missing"]
    assert report["steps"][0]["signature"]["bytes"] == ""
    for path in day.desk.path("offline").rglob("*"):
        if path.is_file() and path.suffix != ".pdf":
            assert secret[2:] not in path.read_text()


def test_nothing_in_it_depends_on_when_it_is_made(day: Day) -> None:
    for half, words in (("offline", ()), ("online", _carried(day.desk))):
        again = f"{half}-again"
        assert getattr(day, f"report_{half}")(again, *words).code == 0
        for name in ("report.json", "report.html"):
            assert (day.desk.path(again) / name).read_bytes() == (day.desk.path(half) / name).read_bytes()


def test_each_half_verifies_the_report_of_the_other(day: Day) -> None:
    for run in (day.desk.offline, day.desk.online):
        for name in ("offline", "online"):
            ended = run("report", "verify", day.desk.path(name), "--json")
            assert ended.code == 0, ended.err
            assert ended.json()["complete"] is True
            told = ended.json()["not_computed_again"]
            assert any("withheld" in sentence for sentence in told) is (name == "offline")
            assert any("pages" in sentence for sentence in told) is (run == day.desk.online)


def test_with_the_signatures_document_every_signer_is_recovered_again(day: Day) -> None:
    words = ("report", "verify", day.desk.path("offline"), "--json", "--signatures")
    assert day.desk.offline(*words, day.signatures).json()["not_computed_again"] == []
    other = json.loads(day.signatures.read_text())
    other["signatures"][0]["signature"] = other["signatures"][0]["signature"][:-6] + "00001b"
    path = day.desk.path("other-signatures.json")
    if not path.exists():
        path.write_text(json.dumps(other))
    ended = day.desk.offline(*words, path)
    assert (ended.code, ended.json()["error"]["check"]) == (3, "REPORT-MATCH")


def test_nothing_is_written_over_and_a_folder_is_private(day: Day) -> None:
    ended = day.report_offline("offline")
    assert ended.code == 2
    assert "exists already" in ended.err
    assert day.desk.path("offline").stat().st_mode & 0o777 == 0o700
    assert {p.stat().st_mode & 0o777 for p in day.desk.path("offline").rglob("*") if p.is_file()} == {0o600}


# ---- every changed field, byte and file -----------------------------------------------------------------------------


def _leaves(value: Any, where: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    members = value.items() if type(value) is dict else enumerate(value) if type(value) is list else ()
    if not members or not value:
        yield where
    for name, member in members:
        yield from _leaves(member, (*where, name))


def _place(where: tuple[Any, ...]) -> str:
    return "".join(f"[{part}]" if type(part) is int else f".{part}" for part in where).lstrip(".")


def _changed(value: Any) -> Any:
    if type(value) is bool:
        return not value
    if value is None or value in ([], {}):
        return "something"
    return value + 1 if type(value) is int else value[:-1] + ("x" if value[-1:] != "x" else "y")


def _refused(folder: Path, value: Any) -> Refusal:
    _, html, files = read_folder(folder)
    with pytest.raises(Refusal) as caught:
        verify_report(json.dumps(value, indent=1).encode() + b"\n", html, files, judge)
    return caught.value


@pytest.mark.parametrize("name", ["offline", "online"])
def test_every_changed_field_is_named(day: Day, name: str) -> None:
    report, folder = _report(day, name), day.desk.path(name)
    places = list(_leaves(report))
    assert len(places) > 200
    for where in every_nth(places, 12, lambda where: where[0]):
        changed = copy.deepcopy(report)
        at = changed
        for part in where[:-1]:
            at = at[part]
        at[where[-1]] = _changed(at[where[-1]])
        refusal = _refused(folder, changed)
        expected = "REPORT-ARTEFACT" if where[0] == "artefacts" else "REPORT-FIELD"
        assert (refusal.check, refusal.where, refusal.exit_code) == (expected, _place(where), 4)


@pytest.mark.parametrize("name", ["offline", "online"])
def test_every_member_that_is_taken_away_or_added_is_named(day: Day, name: str) -> None:
    report, folder = _report(day, name), day.desk.path(name)
    holders = {where[:n] for where in _leaves(report) for n in range(len(where))}
    assert len(holders) > 60
    for where in every_nth(sorted(holders, key=str), 6, lambda where: where[:1]):
        for change in ("take", "add"):
            changed = copy.deepcopy(report)
            at: Any = changed
            for part in where:
                at = at[part]
            last = len(at) - 1 if type(at) is list else list(at)[-1]
            if change == "take":
                del at[last]
            elif type(at) is list:
                at.append(at[-1])
            else:
                at["added"] = ""
            place = (*where, last if change == "take" else len(at) - 1 if type(at) is list else "added")
            refusal = _refused(folder, changed)
            assert refusal.check in ("REPORT-ARTEFACT", "REPORT-FIELD")
            assert refusal.where == _place(place)


def test_every_changed_byte_of_the_page_is_noticed(day: Day) -> None:
    report, html, _ = read_folder(day.desk.path("online"))
    made = report_page(json.loads(report))
    assert made == html
    for at in range(0, len(html), 997):
        changed = html[:at] + bytes([html[at] ^ 1]) + html[at + 1 :]
        assert changed != made
    ended = _verify_with(day, "report.html", lambda data: data.replace(b"Ada Lovelace", b"Eve Lovelace"))
    assert (ended.code, ended.json()["error"]["check"]) == (4, "REPORT-PAGE")
    assert ended.json()["error"]["where"].startswith("byte ")


def _verify_with(day: Day, name: str, change: Callable[[bytes], bytes | None]) -> FinishedCommand:
    """Verify a copy of the online evidence in which one file was changed, or taken away."""
    folder = day.desk.path("changed")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(day.desk.path("online"), folder)
    path = folder / name
    data = change(path.read_bytes() if path.exists() else b"")
    path.unlink(missing_ok=True)
    if data is not None:
        path.write_bytes(data)
    return day.desk.online("report", "verify", folder, "--json")


ARTEFACTS = (
    "plan.toml", "deployment.json", "requests.json", "signatures.json", "screens.json", "offline-transcript.jsonl",
    "online-transcript.jsonl", "timeline.jsonl",
)  # fmt: skip


@pytest.mark.parametrize("name", ARTEFACTS)
def test_a_changed_byte_of_an_artefact_is_named(day: Day, name: str) -> None:
    place = f"artefacts[{ARTEFACTS.index(name)}].sha256"
    ended = _verify_with(day, f"artefacts/{name}", lambda data: data[:-2] + bytes([data[-2] ^ 1]) + data[-1:])
    error = ended.json()["error"]
    assert (ended.code, error["check"], error["where"]) == (4, "REPORT-ARTEFACT", place)


@pytest.mark.parametrize("name", ARTEFACTS)
def test_an_artefact_that_is_taken_away_is_named(day: Day, name: str) -> None:
    error = _verify_with(day, f"artefacts/{name}", lambda _: None).json()["error"]
    assert error["check"] == "REPORT-ARTEFACT"
    assert error["where"].startswith(f"artefacts[{ARTEFACTS.index(name)}]")


@pytest.mark.parametrize("name", ["artefacts/notes.txt", "notes.txt"])
def test_a_file_that_does_not_belong_there_is_refused(day: Day, name: str) -> None:
    ended = _verify_with(day, name, lambda _: b"x")
    assert (ended.code, ended.json()["error"]["check"]) == (4, "REPORT-ARTEFACT")


# ---- artefacts that were changed together with the report -------------------------------------------------------------


def _files(day: Day, name: str = "online") -> dict[str, bytes]:
    return read_folder(day.desk.path(name))[2]


def _check_of(files: dict[str, bytes]) -> str:
    with pytest.raises(Refusal) as caught:
        report_of_artefacts(files, judge)
    return caught.value.check


def _rewritten(data: bytes, change: Callable[[Entry], Entry | None]) -> bytes:
    """Return a transcript written anew with changed entries: its chain holds."""
    last: Entry | None = None
    lines = []
    for entry in read_entries(data.splitlines()):
        kept = change(entry)
        if kept is not None:
            last = next_entry(last, kept.at_ms, kept.event, kept.data)
            lines.append(last.line())
    return b"".join(line + b"\n" for line in lines)


def test_crossed_transcripts_are_refused(day: Day) -> None:
    files = _files(day)
    one, other = "offline-transcript.jsonl", "online-transcript.jsonl"
    assert _check_of(files | {one: files[other], other: files[one]}) == "REPORT-MATCH"


@pytest.mark.parametrize("event", ["deployment-pinned", "sign-begun", "signed", "signatures-written"])
def test_an_offline_transcript_that_does_not_name_the_rest_is_refused(day: Day, event: str) -> None:
    name = "offline-transcript.jsonl"
    files = _files(day)
    without = _rewritten(files[name], lambda e: None if e.event in (event, "sealed") else e)
    assert _check_of(files | {name: without}) == "REPORT-MATCH"


@pytest.mark.parametrize("event", ["prepared", "submit-begun", "timeline-exported"])
def test_an_online_transcript_that_does_not_name_the_rest_is_refused(day: Day, event: str) -> None:
    name = "online-transcript.jsonl"
    files = _files(day)
    changed = _rewritten(
        files[name], lambda e: e._replace(data={**e.data, "requests": "0" * 64}) if e.event == event else e
    )
    assert _check_of(files | {name: changed}) == "REPORT-MATCH"


def test_a_transcript_that_was_written_anew_does_not_keep_its_seal(day: Day) -> None:
    name = "offline-transcript.jsonl"
    files = _files(day)
    anew = _rewritten(files[name], lambda e: e._replace(at_ms=e.at_ms + 1) if e.event == "preflight" else e)
    assert _check_of({n: d for n, d in files.items() if n != "signatures.json"} | {name: anew}) == "DOC-SEAL"


def test_a_seal_by_another_key_is_refused(day: Day) -> None:
    from eth_account.messages import encode_defunct

    from airlock_shared.ethereum.signatures import checksum_address, parse_address
    from e2e.conftest import key_at

    key = key_at("m/44'/60'/9'/0/0")
    name = "offline-transcript.jsonl"
    files = _files(day)
    entries: list[Entry] = []
    for entry in read_entries(files[name].splitlines()):
        data = entry.data
        if entry.event == "sealed":
            head, count = entries[-1].hash, len(entries)
            text = f"Airlock transcript of {data['ceremony']}, {count} entries, head {head}"
            signature = "0x" + key.sign_message(encode_defunct(text=text)).signature.hex()
            address = checksum_address(parse_address(key.address))
            data = {**data, "entries": count, "head": head, "address": address, "signature": signature}
        entries.append(next_entry(entries[-1] if entries else None, entry.at_ms, entry.event, data))
    assert _check_of(files | {name: b"".join(e.line() + b"\n" for e in entries)}) == "DOC-SEAL"


def test_another_plan_another_deployment_and_other_signatures_are_refused(day: Day) -> None:
    files = _files(day)
    other_plan = files["plan.toml"].replace(b'deadline_at_most = "30m"', b'deadline_at_most = "31m"')
    assert _check_of(files | {"plan.toml": other_plan}) == "PLAN-FINGERPRINT"
    deployment = json.loads(files["deployment.json"])
    deployment["fetched_at"] += "Z"
    assert _check_of(files | {"deployment.json": json.dumps(deployment).encode()}) == "PIN-DEPLOYMENT"
    signatures = json.loads(files["signatures.json"])
    for member, value in (("signature_sha256", "0" * 64), ("signature", "0x" + "11" * 64 + "1b")):
        changed = copy.deepcopy(signatures)
        changed["signatures"][0][member] = value
        assert _check_of(files | {"signatures.json": json.dumps(changed).encode()}) == "REPORT-MATCH"
    signatures["header"]["fingerprint"] = "0" * 64
    assert _check_of(files | {"signatures.json": json.dumps(signatures).encode()}) == "REPORT-MATCH"


def test_pages_of_another_model_are_noticed_where_they_can_be_computed(day: Day) -> None:
    files = _files(day)
    screens = json.loads(files["screens.json"])
    screens["steps"][0]["pages"][1] = ["Review something else"]
    files |= {"screens.json": json.dumps(screens).encode()}
    made = report_of_artefacts(files, judge)
    assert any("pages" in sentence for sentence in verify_report(made.json, made.html, files, judge).open)
    with pytest.raises(Refusal, match="pages are not those") as caught:
        verify_report(made.json, made.html, files, judge, screens_of=signed_screens)
    assert caught.value.check == "REPORT-ARTEFACT"


def test_the_pages_of_a_transaction_are_computed_for_either_model(tmp_path: Path) -> None:
    items = whole("transactions")["requests"]
    files = {"plan.toml": PLAN_TEXTS["transactions"].encode(), "deployment.json": DEPLOYMENT_TEXT.encode()}
    files |= {"requests.json": to_bytes(whole("transactions"))}
    told = [
        {"step": each.examined.received.request.step, "result": "signed", "digest": each.digest, "signature": "",
         "app": "1.22.0", "signature_sha256": "0" * 64, "signer": each.examined.received.request.signer,
         "shown": "transaction"}
        for each in judge(read_evidence(files))
    ]  # fmt: skip
    requests = read_evidence(files).requests
    assert requests is not None
    header = {"ceremony": requests.header.ceremony, "requests": requests.fingerprint, "rehearsal": False}
    header |= {"transcript_head": "0" * 64, "created_ms": 0, "fingerprint": "0" * 64}
    document = {"format": "airlock/withheld-signatures@1", "header": header, "signatures": told}
    evidence = read_evidence(files | {"signatures.json": to_bytes(document)})
    for model, last in (("nanosp", "sign transaction"), ("flex", "Hold to sign")):
        screens = signed_screens(evidence, model)
        assert len(screens.steps) == len(items)
        assert {shown.pages[-1][-1] for shown in screens.steps} == {last}


@pytest.mark.parametrize(
    ("told", "expected"),
    [(["flex"], "flex"), (["flex", "nanosp"], "nanosp"), ([], "flex"), (["nobody's"], "flex"), ([7], "flex")],
)
def test_the_model_is_that_of_the_last_signing_else_the_configured_one(
    day: Day, told: list[Any], expected: str
) -> None:
    name, files = "offline-transcript.jsonl", _files(day)
    entries = read_entries(files[name].splitlines())
    begun = next(entry for entry in entries if entry.event == "sign-begun")
    assert begun.data["model"] == "nanosp"
    others = [
        begun.data | {"requests": "f" * 64, "model": "nanosp"},
        {k: v for k, v in begun.data.items() if k != "model"},
    ]
    anew: list[Entry] = []
    for data in [*(begun.data | {"model": model} for model in told), *others]:
        anew.append(next_entry(anew[-1] if anew else None, begun.at_ms, "sign-begun", data))
    evidence = read_evidence(files)._replace(transcripts={"offline": anew})
    assert model_of(evidence, "flex") == expected


def test_the_report_needs_no_option_for_the_model_that_was_signed_with(desk: BothMachines) -> None:
    flex = start_ledger("--model", "flex")
    day = Day(desk, flex, "referral-code")
    assert desk.online("prepare", day.plan, "-o", day.requests).code == 0
    words = ("--plan", day.plan, "-o", day.signatures, *day.emulator)
    signed = desk.offline("sign", day.requests, *words, typed="Yes\n" * 4)
    stop_ledger(flex)
    assert signed.code == 0, signed.err
    assert day.report_offline("evidence").code == 0
    assert _report(day, "evidence")["steps"][0]["device"]["model"] == "flex"
    assert desk.offline("report", "verify", desk.path("evidence")).code == 0


def test_what_the_seal_shows_fits_a_terminal_and_is_grouped(desk: BothMachines, ledger: Ledger) -> None:
    day = Day(desk, ledger, "referral-code")
    ended = day.seal()
    assert ended.code == 0, ended.err
    head = desk.offline("transcript", "verify", "--json").json()["head"]
    lines = [*ended.out.splitlines(), *desk.offline("transcript", "verify").out.splitlines()]
    assert max(map(len, lines)) <= 80
    grouped = [" ".join(half[at : at + 4] for at in range(0, 32, 4)) for half in (head[:32], head[32:])]
    assert [line.strip() for line in ended.out.splitlines()][:3] == ["head after the seal", *grouped]


def test_the_offline_machine_may_be_given_the_online_transcript(day: Day) -> None:
    transcript = day.desk.path("online") / "artefacts/online-transcript.jsonl"
    name = "offline-with-online"
    if not day.desk.path(name).exists():
        assert day.report_offline(name, "--transcript", transcript).code == 0
    report = _report(day, name)
    assert (report["made_by"], report["complete"]) == ("offline", True)
    told = {row["what"]: row["result"] for row in report["matches"]}
    assert told["the online transcript prepared these requests for this plan"] == "holds"
    assert told["the online transcript submitted these signatures"] == "holds"
    assert told["the online transcript has the SHA-256 of the timeline"] == "not given"
    assert [row["given"] for row in report["transcripts"]] == [True, True]


def test_the_wrong_transcript_is_refused_and_nothing_is_written(day: Day) -> None:
    wrong = day.desk.path("online") / "artefacts/online-transcript.jsonl"
    ended = day.report_online("never", "--transcript", wrong, "--json")
    assert (ended.code, ended.json()["error"]["check"]) == (3, "REPORT-MATCH")
    assert not any("never" in path.name for path in day.desk.folder.iterdir())


def test_a_folder_that_is_no_evidence_is_a_usage_error(day: Day) -> None:
    assert day.desk.offline("report", "verify", day.desk.folder).code == 2
    assert day.desk.online("report", "verify", day.desk.path("nowhere")).code == 2


# ---- days that went otherwise -----------------------------------------------------------------------------------------


def test_without_the_offline_transcript_the_report_says_so(day: Day) -> None:
    files = {n: d for n, d in _files(day).items() if n not in ("offline-transcript.jsonl", "screens.json")}
    report = report_of_artefacts(files, judge)
    assert "the offline machine's transcript was not given" in report.value["missing"]
    assert report.value["transcripts"][0] == {"machine": "offline", "given": False}
    assert b"INCOMPLETE" in report.html
    assert verify_report(report.json, report.html, files, judge).value["complete"] is False


def test_a_declined_item_without_people_and_seal_is_incomplete_on_the_first_page(
    desk: BothMachines, ledger: Ledger
) -> None:
    day = Day(desk, ledger, "referral-code")
    assert desk.online("prepare", day.plan, "-o", day.requests).code == 0
    assert day.sign(typed="Yes\nNo\n").code == 6
    ended = day.report_offline("evidence", "--json")
    assert ended.code == 0, ended.err
    told = ended.json()
    assert told["complete"] is False
    assert "offline machine: no ceremony was begun with this plan on this machine" in told["missing"]
    assert any(sentence.startswith("step referral-code: declined") for sentence in told["missing"])
    assert "the offline machine's transcript is not sealed by a signer of the plan" in told["missing"]
    html = (desk.path("evidence") / "report.html").read_text()
    assert html.index("<strong>INCOMPLETE</strong>") < html.index("Fingerprints")
    assert "referral-code, REHEARSAL, INCOMPLETE" in html
    assert desk.offline("report", "verify", desk.path("evidence")).code == 0


def test_an_unsigned_request_and_a_request_alone_have_their_report(desk: BothMachines, ledger: Ledger) -> None:
    day = Day(desk, ledger, "referral-code")
    assert desk.online("prepare", day.plan, "-o", day.requests).code == 0
    for run in (desk.offline, desk.online):
        folder = desk.path(f"evidence-{run.__name__}")
        ended = run("report", "make", "--plan", day.plan, "--requests", day.requests, "-o", folder, "--json")
        assert ended.code == 0, ended.err
        assert "the signatures were not given" in ended.json()["missing"]
        assert run("report", "verify", folder).code == 0


PATHS: dict[OrderState, list[OrderState]] = {
    OrderState.PREPARED: [], OrderState.SENDING: [OrderState.SENDING], OrderState.EXPORTED: [OrderState.EXPORTED],
    OrderState.REJECTED: [OrderState.SENDING, OrderState.REJECTED],
    OrderState.ACCEPTED: [OrderState.SENDING, OrderState.ACCEPTED],
    OrderState.UNKNOWN: [OrderState.SENDING, OrderState.UNKNOWN],
    OrderState.PRESUMED_UNKNOWN: [OrderState.SENDING, OrderState.PRESUMED_UNKNOWN],
    **{final: [OrderState.SENDING, OrderState.ACCEPTED, final] for final in FINAL},
}  # fmt: skip
"""The states on the way from PREPARED to each."""


KINDS: dict[str, tuple[str, int | None, set[OrderState]]] = {
    "transaction": (RELAY, None, {OrderState.CONFIRMED, OrderState.FAILED}),
    "order": (BATCHED_MARKET, 1000, {OrderState.FILLED, OrderState.MARKET_DECLINED, OrderState.CONFIRMED}),
    "trigger": (CORE_API, None, {OrderState.FILLED, OrderState.MARKET_DECLINED}),
}
"""Of each kind the route, the deadline, and with which outcome its nonce is spent: a stored trigger waits, and a failed
order may be tried again by whoever has it."""


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("state", list(OrderState))
def test_only_a_signature_whose_outcome_is_final_and_that_can_execute_no_more_is_no_secret(
    tmp_path: Path, state: OrderState, kind: str, late: bool
) -> None:
    digest, (route, deadline_ms, spent) = "0x" + "ab" * 32, KINDS[kind]
    fields = dict.fromkeys(Record._fields, "") | {
        "digest": digest,
        "ceremony": "demo",
        "deadline_ms": deadline_ms,
        "chain_id": 31337,
    }
    fields |= {
        "deadline_ms": deadline_ms,
        "route": route,
        "contract": TRADER,
        "signer": TRADER,
        "trader": TRADER,
        "nonce": "7",
    }
    over = state in {*spent, OrderState.EXPIRED_UNUSED, OrderState.VOIDED} or (late and deadline_ms is not None)
    with open_journal(str(tmp_path / "journal.sqlite3"), lambda: 0) as journal:
        journal.prepare(Record(**fields))  # type: ignore[arg-type]
        for step in PATHS[state]:
            assert journal.move(digest, step)
        lines, ended = timeline_of(journal, "demo", {digest}, 1000 + 10**6 * late)
    assert ended == ({digest} if state in FINAL and over else set())
    (sent,) = parse_timeline(lines).sent.values()
    assert (sent.row["state"], sent.row["final"]) == (state.value, state in FINAL)


def _signed(desk: BothMachines, ledger: Ledger) -> Day:
    day = Day(desk, ledger, "market-close")
    assert desk.online("prepare", day.plan, "-o", day.requests).code == 0
    assert day.sign().code == 0
    return day


def _has_secret(folder: Path, signatures: Path) -> bool:
    secret = json.loads(signatures.read_text())["signatures"][0]["signature"][2:]
    return any(secret in p.read_text() for p in folder.rglob("*") if p.is_file() and p.suffix != ".pdf")


def test_what_was_signed_and_not_submitted_is_incomplete_and_stays_secret(desk: BothMachines, ledger: Ledger) -> None:
    day = _signed(desk, ledger)
    ended = day.report_online("evidence", "--json")
    assert ended.code == 0, ended.err
    assert "step market-close: signed, and not submitted from this machine" in ended.json()["missing"]
    assert not _has_secret(desk.path("evidence"), day.signatures)


def test_an_unknown_outcome_is_incomplete_and_its_signature_stays_secret(desk: BothMachines, ledger: Ledger) -> None:
    day = _signed(desk, ledger)
    desk.services.faults = Faults.of("drop-before-accepted")
    assert desk.online("submit", day.signatures, "--patience", 0).code == 9
    ended = day.report_online("evidence", "--json")
    assert ended.code == 0, ended.err
    assert "step market-close: its outcome is not known yet (UNKNOWN)" in ended.json()["missing"]
    assert not _has_secret(desk.path("evidence"), day.signatures)
    assert desk.online("report", "verify", desk.path("evidence")).code == 0


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
    told = {event["kind"]: event for event in _report(day, "evidence")["steps"][0]["outcome"]["events"]}
    unusable, note = told["unusable-id"], told["note"]
    assert (unusable["type"], "onerror" in unusable["payload"][0]["value"]) == ("trackingId", True)
    assert {row["name"]: row["value"] for row in note["payload"]} == {"text": noted, "by": name}
    assert note["at"].endswith("UTC")
    html = (desk.path("evidence") / "report.html").read_text()
    assert "id that cannot be used: tracking id" in html
    assert "seen &lt;b&gt;filled&lt;/b&gt; &amp; closed" in html
    assert not any(raw in html for raw in ("<img", noted, name, "\u202e"))
    for run in (desk.online, desk.offline):
        assert run("report", "verify", desk.path("evidence")).code == 0


@pytest.mark.parametrize(("fault", "state"), [("cancel-fill", "MARKET_DECLINED"), ("fail-terminal", "FAILED")])
def test_an_end_that_nobody_hoped_for_is_on_the_first_page(
    desk: BothMachines, ledger: Ledger, fault: str, state: str
) -> None:
    day = _signed(desk, ledger)
    desk.services.faults = Faults.of(fault)
    assert desk.online("submit", day.signatures).code in (10, 11)
    ended = day.report_online("evidence", "--json")
    assert ended.code == 0, ended.err
    assert any(sentence.startswith(f"step market-close ended as {state}") for sentence in ended.json()["look"])
    spent = state == "MARKET_DECLINED"  # what failed has its nonce still, and could be executed until its deadline
    assert _has_secret(desk.path("evidence"), day.signatures) is spent
    assert [each["step"] for each in ended.json()["alive"]["signatures"]] == ([] if spent else ["market-close"])
    assert desk.online("report", "verify", desk.path("evidence")).code == 0


def test_a_refused_item_is_in_the_report_with_its_check(desk: BothMachines, ledger: Ledger) -> None:
    day = Day(desk, ledger, "market-close")
    assert desk.online("prepare", day.plan, "-o", day.requests).code == 0
    document = json.loads(day.requests.read_text())
    document["requests"][0]["payload"]["digest"] = "0x" + "00" * 32
    day.requests.write_text(json.dumps(document))
    assert day.sign().code == 3
    ended = day.report_offline("evidence", "--json")
    assert ended.code == 0, ended.err
    assert "step market-close: refused (DIGEST-MATCH)" in ended.json()["missing"]
    assert "step market-close: a check refuses what came back" in ended.json()["missing"]
    report = json.loads((desk.path("evidence") / "report.json").read_text())
    assert [row["check"] for row in report["steps"][0]["request"]["checks"]["refused"]] == ["DIGEST-MATCH"]
    assert desk.offline("report", "verify", desk.path("evidence")).code == 0


def test_a_plan_without_roles_misses_nobody_and_has_a_line_to_sign(desk: BothMachines, ledger: Ledger) -> None:
    day = _signed(desk, ledger)
    assert desk.online("submit", day.signatures).code == 0  # so that the online machine knows this machine's head
    assert day.seal().code == 0
    files_of = desk.path("market-close.plan.toml")
    assert "roles" in files_of.read_text()
    plain = desk.path("plain.plan.toml")
    plain.write_text("\n".join(line for line in files_of.read_text().splitlines() if not line.startswith("roles")))
    requests, signatures = desk.path("plain.requests.json"), desk.path("plain.signatures.json")
    assert desk.online("prepare", plain, "-o", requests).code == 0
    words = ("--plan", plain, "-o", signatures, *day.emulator)
    assert desk.offline("sign", requests, *words, typed="Yes\n" * 4).code in (0, 3)
    given = ("--signatures", signatures) if signatures.exists() else ()
    words = ("--plan", plain, "--requests", requests, *given, "-o", desk.path("evidence"), "--json")
    ended = desk.offline("report", "make", *words)
    assert ended.code == 0, ended.err
    assert not any("machine:" in sentence for sentence in ended.json()["missing"])
    assert "No roles: nothing was witnessed" in ended.json()["missing"]
    html = (desk.path("evidence") / "report.html").read_text()
    assert "The plan names no roles." in html
    assert "<span>signer: nobody</span>" in html


def test_hostile_names_and_reasons_are_text_on_the_page(desk: BothMachines, ledger: Ledger) -> None:
    day = Day(desk, ledger, "referral-code")
    day.plan.write_text(day.plan.read_text().replace('title = "', 'title = "<script>alert(1)</script>', 1))
    people = (
        "--role",
        "signer=<img src=x onerror=alert(1)>",
        "--role",
        'facilitator="><b>G',
        "--role",
        "witness=&amp;",
    )
    assert day.ceremony(desk.offline, "begin", *people).code == 0
    reason = "</td></table><script src=//evil.example></script>"
    assert day.ceremony(desk.offline, "exception", "--by", "facilitator", "--reason", reason).code == 0
    assert desk.online("prepare", day.plan, "-o", day.requests).code == 0
    assert day.report_offline("evidence").code == 0
    html = (desk.path("evidence") / "report.html").read_text()
    assert "<script" not in html
    assert "<img" not in html
    assert "<b>" not in html
    assert "&lt;img src=x onerror=alert(1)&gt;" in html
    assert "<span>witness: &amp;amp;</span>" in html


def test_the_signing_machine_starts_a_browser_only_when_it_is_asked(desk: BothMachines) -> None:
    plan = desk.write_plan("delegate-key")
    made = desk.offline("report", "make", "--plan", plan, "-o", desk.path("plain"), "--json")
    assert (made.code, made.json()["pdf"], "PDF" in made.err) == (0, False, False), made.err
    assert not desk.path("plain/report.pdf").exists()
    printed = desk.offline("report", "make", "--plan", plan, "-o", desk.path("printed"), "--pdf", "--json")
    assert printed.code == 0, printed.err
    if browser() is None:
        assert "no browser that can print it is installed here" in printed.err
        return
    assert printed.json()["pdf"], printed.err
    assert desk.path("printed/report.pdf").read_bytes().startswith(b"%PDF-")
    assert desk.path("plain/report.html").read_bytes() == desk.path("printed/report.html").read_bytes()
