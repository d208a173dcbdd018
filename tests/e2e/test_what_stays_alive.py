"""What stays alive is known: the report lists it, the plan withdraws it, and copies go when it is over and not before."""

import json
import shutil
from pathlib import Path
from typing import Any

from airlock_shared.documents.hand_over import write_hand_over
from commands import FinishedCommand
from e2e.conftest import OFFLINE, BothMachines, Ledger
from e2e.terminal import Terminal
from e2e.transaction_requests import write_transaction

STORED = "the venue has stored it"
EITHER = "Either of the two may execute; the online machine chooses."


def sign(desk: BothMachines, ledger: Ledger, plan: Path, requests: Path, name: str, *reviewed: str) -> dict[str, Any]:
    """Sign, and return the signature; these words stand in the review."""
    ended = desk.sign(ledger, plan, requests, desk.path(f"{name}.json")).done()
    assert [words for words in reviewed if words not in " ".join(ended.err.split())] == []
    signed: dict[str, Any] = json.loads(desk.path(f"{name}.json").read_text())["signatures"][0]
    return signed


def report(desk: BothMachines, half: str, plan: Path, requests: Path, name: str) -> dict[str, dict[str, Any]]:
    """Make and verify a half's report; return what it says could still execute, by digest."""
    folder = desk.path(f"evidence-{half}-{len(list(desk.folder.iterdir()))}")
    documents = ("--requests", requests, "--signatures", desk.path(f"{name}.json"))
    words = ["report", "make", "--plan", plan, *documents, "-o", folder]
    if half == "online":
        words += ["--transcript", desk.path("offline-home/transcript.jsonl")]
    run = desk.online if half == "online" else desk.offline
    made, verified = run(*words, "--json"), run("report", "verify", folder, "--json")
    assert (made.code, verified.code) == (0, 0), made.err + verified.err
    alive = json.loads((folder / "report.json").read_text())["alive"]
    assert made.json()["alive"] == verified.json()["alive"] == alive
    page = (folder / "report.html").read_text()
    assert "Signatures that could still execute" in page
    assert alive["of_all_ceremonies"] is True
    found = {each["digest"]: each for each in alive["signatures"]}
    assert all(each["may_execute"] in page for each in found.values())
    return found


def copies(desk: BothMachines) -> set[str]:
    return {"0x" + path.stem for path in desk.path("offline-home/signed").glob("*.json")}


def forget(desk: BothMachines, *words: object, typed: str = "Yes\n") -> FinishedCommand:
    return desk.offline("forget", *words, "--json", typed=typed)


def withdrawing(plan: Path, earlier: dict[str, Any], nonce: str) -> str:
    """Return the text of a plan whose step takes the place of an earlier signature, under its nonce."""
    before, found, after = plan.read_text().partition('id = "delegate-key"\naction')
    assert found
    text = f'{before}id = "delegate-key"\nreplaces = "{earlier["digest"]}"\naction{after}'
    fields = text.index("trader =")
    return text[:fields] + f"nonce = {nonce}\n" + text[fields:]


def test_a_step_that_spends_its_nonce_withdraws_a_signature_and_then_the_copies_go(
    desk: BothMachines, ledger: Ledger
) -> None:
    plan, requests = desk.prepare("delegate-key")
    first = sign(desk, ledger, plan, requests, "first")  # and it is never sent
    assert set(report(desk, "offline", plan, requests, "first")) == {first["digest"]}
    again, other = desk.path("again.plan.toml"), desk.path("again.requests.json")
    nonce = json.loads(requests.read_text())["requests"][0]["payload"]["message"]["nonce"]
    again.write_text(withdrawing(plan, first, "12345"))
    prepared = desk.online("prepare", again, "-o", desk.path("beside.requests.json"))
    assert (EITHER in prepared.err, "Their nonces differ" in prepared.err) == (False, True), prepared.err
    again.write_text(withdrawing(plan, first, nonce))
    desk.prove(again)
    prepared = desk.online("prepare", again, "-o", other)
    assert (prepared.code, EITHER in prepared.err) == (0, True), prepared.err
    assert f"old {first['digest']}" in prepared.err
    for half in (desk.online, desk.offline):
        shown = half("plan", "show", again).out
        assert (EITHER in shown, f"{first['digest'][2:6]} {first['digest'][6:10]}" in shown) == (True, True)
    second = sign(desk, ledger, again, other, "second", "REPLACES (named by the plan", EITHER, f"nonce {nonce}")
    both = {first["digest"], second["digest"]}
    assert set(report(desk, "offline", again, other, "second")) == both
    ended = forget(desk)
    assert (ended.code, ended.json()["removed"], copies(desk)) == (0, [], both)
    assert desk.online("submit", desk.path("second.json")).code == 0
    late = desk.online("submit", desk.path("first.json"))  # the chain has the nonce
    assert (late.code != 0, second["digest"] in "".join(late.err.split())) == (True, True), late.err
    assert "Either of the two" not in " ".join(late.err.split())
    told = desk.path("online-home/transcript.jsonl")
    assert set(report(desk, "online", again, other, "second")) == both  # the relayer has said it, and nobody else
    ended = forget(desk, "--transcript", told)
    assert (ended.json()["removed"], "has not proved" in " ".join(ended.err.split()), copies(desk)) == ([], True, both)
    assert desk.ask_the_node(desk.path("second.json")).code == 0
    assert report(desk, "online", again, other, "second") == {}
    ended = forget(desk)  # this machine alone does not know of it
    assert (ended.json()["removed"], copies(desk)) == ([], both)
    ended = forget(desk, "--transcript", told, typed="no\n")
    assert (ended.code, copies(desk)) == (6, both), ended.err
    ended = forget(desk, "--transcript", told)
    assert (ended.code, len(ended.json()["removed"]), copies(desk)) == (0, 2, set()), ended.err
    assert f"its nonce is spent by {second['digest']}" in " ".join(ended.err.split())
    last = desk.entries()[-1]
    assert (last["event"], set(last["data"]["digests"])) == ("signatures-forgotten", both)
    ended = forget(desk)
    assert (ended.code, ended.json()["removed"], "nothing to do" in ended.err) == (0, [], True)
    assert desk.offline("transcript", "verify").code == 0


def test_a_transcript_that_was_changed_removes_nothing(desk: BothMachines, ledger: Ledger) -> None:
    plan, requests = desk.prepare("delegate-key")
    sign(desk, ledger, plan, requests, "first")
    assert desk.online("submit", desk.path("first.json")).code == 0
    told = desk.path("told.jsonl")
    lines = desk.path("online-home/transcript.jsonl").read_text().splitlines()
    told.write_text("\n".join(line.replace('"digest"', '"Digest"', 1) for line in lines) + "\n")
    ended = forget(desk, "--transcript", told)
    assert (ended.code, len(copies(desk))) == (4, 1), ended.err


def test_a_stored_trigger_may_execute_at_any_time_whatever_its_outcome_says(desk: BothMachines, ledger: Ledger) -> None:
    file = desk.path("with-core.json")
    assert desk.fetch(file, "--core-api", desk.services.core_url).code == 0
    assert desk.offline("trust", file, typed="Yes\n").code == 0
    plan, requests = desk.prepare("price-trigger")
    signed = sign(desk, ledger, plan, requests, "trigger")
    assert desk.online("submit", desk.path("trigger.json")).code == 0
    found = report(desk, "online", plan, requests, "trigger")
    told = found[signed["digest"]]
    assert (told["known"], told["may_execute"]) == (STORED, "at any time: it has no deadline")
    secret = signed["signature"][2:].encode()
    assert not any(secret in path.read_bytes() for path in desk.folder.glob("evidence-*/**/*") if path.is_file())
    ended = forget(desk, "--transcript", desk.path("online-home/transcript.jsonl"))
    assert (ended.code, ended.json()["removed"], copies(desk)) == (0, [], {signed["digest"]})
    assert STORED in " ".join(ended.err.split())


def test_a_transaction_that_was_never_sent_may_execute_at_any_time(desk: BothMachines, blind: Ledger) -> None:
    plan, requests, _ = write_transaction(desk.folder, desk.path("deployment.json"))
    signed = sign(desk, blind, plan, requests, "approval")
    found = report(desk, "offline", plan, requests, "approval")
    assert found[signed["digest"]]["may_execute"] == "at any time: it has no deadline"
    assert found[signed["digest"]]["known"] == "this machine does not know its outcome"


def test_a_person_at_a_terminal_removes_what_is_over_and_nothing_without_the_whole_word(
    desk: BothMachines, ledger: Ledger
) -> None:
    plan, requests = desk.prepare("referral-code")
    sign(desk, ledger, plan, requests, "first")
    assert desk.online("submit", desk.path("first.json")).code == 0
    assert desk.ask_the_node(desk.path("first.json")).code == 0
    told = desk.path("online-home/transcript.jsonl")
    words = (OFFLINE, "--home", desk.path("offline-home"), "forget", "--transcript", told)
    for answer, code, left in (("y", 6, 1), ("Yes", 0, 0)):
        terminal = Terminal(*words)
        assert terminal.until_question() is not None, terminal.shown
        assert "for good?" in terminal.shown
        assert "remove  signed/" in terminal.shown
        terminal.press(f"{answer}\n")
        assert terminal.end() == code, terminal.shown
        assert len(copies(desk)) == left


def test_what_came_or_went_by_qr_is_removed_with_its_pages(desk: BothMachines, ledger: Ledger) -> None:
    plan, requests = desk.prepare("referral-code")
    sign(desk, ledger, plan, requests, "first")
    desk.offline("show", desk.path("first.json"), "--as", "page").done()
    [page] = desk.path("offline-home/qr").glob("signatures-*.html")
    document = page.with_suffix(".json")  # as `sign --qr` and `submit --qr` keep it
    shutil.copy(desk.path("first.json"), document)
    shutil.copytree(page.parent, desk.path("online-home/qr"), dirs_exist_ok=True)
    killed = desk.path(f"online-home/qr/.{document.name}.0123456789ab")
    shutil.copy(document, killed)
    for copy in desk.path("offline-home/signed").iterdir():
        copy.rename(copy.with_name(f".{copy.name}.0123456789ab"))
    online = ("forget", "--json")
    assert desk.online(*online, typed="Yes\n").json()["removed"] == []  # not sent yet
    assert desk.online("submit", document).code == 0
    assert desk.online(*online, typed="Yes\n").json()["removed"] == []  # only the relayer says that it is done
    assert desk.ask_the_node(document).code == 0
    ended = desk.online(*online, typed="Yes\n")
    assert set(ended.json()["removed"]) == {f"qr/{each.name}" for each in (page, document, killed)}, ended.err
    document.unlink()  # as when a file was named for the document, and the page alone is here
    stray = page.with_name("signatures-0123456789abcdef.html")
    stray.write_text("of nobody knows which")
    ended = forget(desk, "--transcript", desk.path("online-home/transcript.jsonl"))
    left = [*desk.path("offline-home/signed").iterdir()]
    assert (ended.code, page.exists(), stray.exists(), left) == (0, False, True, []), ended.err
    assert "cannot be told" in " ".join(ended.err.split())


def test_forget_reaches_the_pages_of_codes_of_a_ceremony_on_both_machines(desk: BothMachines) -> None:
    for half, run in (("online", desk.online), ("offline", desk.offline)):
        (codes := desk.path(f"{half}.plan.ceremony") / "codes").mkdir(parents=True)
        (codes / "hand-over-aa.html").write_text("codes")
        (codes / (killed := ".hand-over-aa.html.0123456789ab")).write_text("what a kill left of it")
        (codes / "hand-over-aa.json").write_bytes(write_hand_over("desk", {"ready.json": b"{}"}))
        (codes / "hand-over-bb.html").write_text("a page whose document is gone")
        ended = run("forget", "--ceremony", codes.parent, "--json", typed="no\n")
        assert (ended.code, len(list(codes.iterdir()))) == (6, 4), ended.err
        ended = run("forget", "--ceremony", codes.parent, "--json", typed="Yes\n")
        assert (ended.code, [path.name for path in codes.iterdir()]) == (0, ["hand-over-bb.html"]), ended.err
        assert {killed, "hand-over-aa.html"} < {Path(path).name for path in ended.json()["removed"]}
        assert run("forget", "--ceremony", desk.path("nowhere")).code == 2
