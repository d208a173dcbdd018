"""The first page is the report: what people ask first stands on it, with its evidence or the word that there is none.

Behind it: the Ledger's screens, each beside its fields. And a plan as a page, for those who agree on it days before.
"""

import copy
import hashlib
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from airlock_shared.cli.comparison_lines import plan_lines
from airlock_shared.documents.transcript import read_entries
from airlock_shared.plan.reader import parse_plan
from airlock_shared.report import model
from airlock_shared.report.page.front import is_of_chain, outcome_transaction
from airlock_shared.report.page.html import screens_of_fields, without_buttons
from airlock_shared.report.page.labels import label, leaf_label
from airlock_shared.report.page.page import plan_page, report_page
from airlock_shared.report.reexamined import judge
from airlock_shared.report.rows import PageRow, Row, page_row, report_text
from airlock_shared.report.verify import report_of_artefacts
from airlock_shared.text.safe import grouped, spoken
from airlock_shared.venue.structs import LEAF_KINDS
from shared.make_payloads import KEYS
from shared.report import day
from shared.world import PLAN_TEXTS, VECTORS, whole

STEPS = len(whole()["requests"])
EVIDENCE = "<h2>Fingerprints</h2>"
TRADER = "0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D"
ADDRESS = re.compile(r"(?<![0-9A-Za-z])0x[0-9A-Fa-f]{40}(?![0-9A-Za-z])")
TREASURY = next(iter(KEYS))
PAUSE = ["Press right button to ", "continue message or ", "press both to skip"]
DELEGATE = {path.name: path.read_bytes() for path in (day.PLAYED.parent / "delegate-key").iterdir()}
PLANS = [*sorted((VECTORS / "plans/good").glob("*.toml")), *day.PLAYED.parent.glob("*/plan.toml")]


def close() -> Row:
    """Return the report of a ceremony that was played in a rehearsal."""
    return report_of_artefacts(day.played(), judge).value


def page_text(page: bytes) -> str:
    return shown(page.decode().partition("<main>")[2])


def first_page(value: Row) -> str:
    """Return the texts of the first page, with a blank between two of them."""
    return shown(report_page(value).decode().partition("<main>")[2].partition(EVIDENCE)[0])


def shown(html: str) -> str:
    inline = re.sub(r"</?(?:span|strong|wbr)[^>]*>", "", html)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", inline)).split())


def time_line(value: Row) -> list[str]:
    drawn = report_page(value).decode().partition('<ol class="line">')[2].partition("</ol>")[0]
    return [shown(stage) for stage in re.findall(r"<li.*?</li>", drawn)]


def answers(value: Row) -> dict[str, list[str]]:
    """Return the cells of the table of comparisons by what was compared, and the names at its head."""
    drawn = report_page(value).decode().partition("wide people")[2].partition("</table>")[0]
    rows = [[shown(cell) for cell in re.findall(r"<t[dh].*?</t[dh]>", row)] for row in drawn.split("<tr>")[1:]]
    return {row[0]: row[1:] for row in rows}


def test_it_says_in_this_order_what_people_ask_first() -> None:
    value = close()
    told = first_page(value)
    outcome = value["steps"][0]["outcome"]
    (promise,) = outcome["read_back"]
    ends = [row["entries"] for row in value["transcripts"]]
    said = [
        "REHEARSAL", "Complete", "prepared 2026-", "signed 2026-", "sent 2026-", "confirmed 2026-", "sealed 2026-",
        "What this page stands on", "sealed by", f"{TRADER}, treasury: 40 entries",
        "air-gapped machine, after {} entries:online machine, after {} entries:".format(*ends), "date, signature",
        "signer: Ada Lovelace", "witness: Mary Somerville",
        "asked", "pair: BTC/USD", "pair, by its number: 0 (plan: BTC/USD (number 0))", "position number: 0",
        "collateral to close: 100 USDC (plan: 100)", "price expected: 64000 USD (plan: at least 63000, at most 65000)",
        f"for the account {TRADER}", f"may be used until {value['steps'][0]['request']['until']['utc']}",
        f"signed by treasury, {TRADER}: signed at", "outcome FILLED", "the chain says not read",
        f"the builder says {promise['what']}: {promise['found']}; promised: {promise['promised']} (as promised)",
        f"Read and put on record at {outcome['read_back_at']['utc']}; no later reading is on record.",
        f"transaction {outcome_transaction(page_row(report_text(outcome)))}",
        "Signatures that could still execute, of this or another ceremony: 6.",
        "Witness: required.", "plan \N{CHECK MARK} Yes, air-gapped",
    ]  # fmt: skip
    places = [told.find(each) for each in said]
    assert -1 not in places, said[places.index(-1)]
    assert places == sorted(places)


def test_account_and_deadline_are_read_off_what_is_signed() -> None:
    by_step = {item["step"]: item["payload"] for item in whole()["requests"]}
    steps = report_of_artefacts(day.offline_files(), judge).value["steps"]
    without = []
    for step in steps:
        message = str(by_step[step["id"]]["message"]).lower()
        assert step["request"]["account"].lower() in message
        until = step["request"]["until"]
        if until is None:
            without.append(step["action"])
        else:
            assert str(until["ms"]) in message
    assert without == ["tpsl-partial", "tpsl-partial"]


def test_what_cannot_be_read_is_not_known_and_never_without_a_deadline() -> None:
    value = close()
    value["steps"][0]["request"] |= {"account": "", "until": None}
    told = first_page(value)
    assert told.count("not known: what came back cannot be read") == 2
    assert "it has no deadline" not in told


def test_what_was_not_read_is_not_read() -> None:
    value = day.reported().value
    times = {entry.at_ms for entry in read_entries(day.online_files()["online-transcript.jsonl"].splitlines())}
    outcomes = [step["outcome"] for step in value["steps"]]
    assert outcomes[0]["read_back_at"]["ms"] in times
    assert [each["read_back_at"] for each in outcomes[1:] if each] == [None, None]
    told = first_page(value)
    assert told.count("the chain says not read") == STEPS
    assert told.count("Read and put on record at ") == 1
    assert "NOT what was promised" in told


def test_only_what_a_node_of_ones_own_told_is_the_chains_word() -> None:
    value = close()
    outcome = value["steps"][0]["outcome"]
    for found, kept in (("y", None), ("x", True)):
        outcome["read_back"].append({"what": "the code, by the chain", "promised": "x", "found": found, "kept": kept})
    told = first_page(value)
    assert "the chain says the code, by the chain: y; promised: x (not known); x (as promised) Read and put on" in told
    assert [is_of_chain(PageRow(**each)) for each in outcome["read_back"]] == [False, True, True]


def test_there_is_one_seal_on_it_which_is_the_last() -> None:
    files = day.offline_files() | {"offline-transcript.jsonl": day.sealed(TREASURY)}
    value = report_of_artefacts(files, judge).value
    (seal,) = value["transcripts"][0]["seals"]
    value["transcripts"][0]["seals"] = [seal | {"head": "e" * 64, "entries": 1}, seal]
    told = first_page(value)
    assert f"{seal['by']}, {seal['signer']}: {seal['entries']} entries, air-gapped; it holds" in told
    assert "eeee" not in told
    front, _, evidence = report_page(value).decode().partition(EVIDENCE)
    assert (front.count('class="hex"'), "eeee" in evidence) == (2, True)  # this report's own, and the seal's


def test_a_confirmation_whose_record_changed_since_does_not_count() -> None:
    value = close()
    for checkpoint in value["people"][0]["checkpoints"]:
        checkpoint["holds"] = checkpoint["checkpoint"] != "seal"
    told = answers(value)
    assert told["seal, with the Ledger"][0] == "does not count, something else was confirmed: Yes, air-gapped"
    assert told["plan"] == [
        "\N{CHECK MARK} Yes, air-gapped",
        "\N{CHECK MARK} Yes, online",
        "\N{CHECK MARK} Yes, air-gapped, online",
    ]


def test_what_was_confirmed_again_does_not_read_as_an_alteration() -> None:
    """Requests that were too late are prepared and compared again: the first answer is told, the second one counts."""
    value = close()
    row = value["people"][0]
    (first,) = [each for each in row["checkpoints"] if each["checkpoint"] == "requests"]
    row["checkpoints"] = [*row["checkpoints"], {**first}]
    first["holds"] = False
    told = answers(value)["requests"]
    assert told[0].startswith("before it was made again: ")
    assert "\N{CHECK MARK}" in told[0]
    assert "does not count" not in " ".join(told)


@pytest.mark.parametrize("after_ms", [-1, 1])
def test_what_was_sent_after_the_seal_is_to_be_looked_at(monkeypatch: pytest.MonkeyPatch, after_ms: int) -> None:
    """Nobody sealed what became of it; the time line alone would say so."""
    value = close()
    monkeypatch.setattr(model, "waivers", lambda _plan: ())
    sealed_ms = max(row["seals"][-1]["at"]["ms"] for row in value["transcripts"] if row["seals"])
    value["steps"][0]["outcome"]["sent_at"]["ms"] = sealed_ms + after_ms
    looked = [line for line in model._notes(None, value) if "sealed" in line]  # type: ignore[arg-type]
    assert bool(looked) is (after_ms > 0)


def test_the_time_line_has_each_time_by_its_record_in_their_order() -> None:
    value = close()
    step, outcome = value["steps"][0], value["steps"][0]["outcome"]
    sending = next(e for e in read_entries(day.played()["online-transcript.jsonl"].splitlines()) if e.event == "sending"
                   and e.data["digest"] == step["signature"]["digest"])  # fmt: skip
    assert outcome["sent_at"]["ms"] == sending.at_ms
    times = [value["prepared_at"], step["signature"]["at"], outcome["sent_at"], outcome["known_at"],
             value["transcripts"][0]["seals"][-1]["at"]]  # fmt: skip
    names = ("prepared", "signed", "sent", "confirmed", "sealed")
    assert time_line(value) == [f"{name} {at['utc']}" for name, at in zip(names, times, strict=True)]
    value["transcripts"][0]["seals"][-1]["at"] = step["signature"]["at"]
    assert [stage.split()[0] for stage in time_line(value)] == ["prepared", "signed", "sealed", "sent", "confirmed"]


@pytest.mark.parametrize(
    ("told", "sent"),
    [(["1 PREPARED", "2 FILLED"], 1), (["1 REJECTED", "2 FILLED"], 1), (["1 PREPARED", "2 PREPARED", "3 "], 2),
     (["1 PREPARED"], None), (["1 PREPARED", "2 PREPARED"], None), (["1 FILLED"], 0)],
)  # fmt: skip
def test_the_time_of_sending_is_that_of_the_last_that_sent_something(told: list[str], sent: int | None) -> None:
    digest, events = day.digests()[0], day.online_events(day.timeline_bytes())
    facts = [({"digest": digest, "claim": int(turn[0])}, {"state": turn[2:]}) for turn in told]
    turns = [each for mark, end in facts for each in (("sending", mark), ("outcome", mark | end))]
    online = [*events[:3], *turns, *events[3:]]
    found = day.reported(online=online).value["steps"][0]["outcome"]["sent_at"]
    entries = read_entries(day.chain(online).splitlines())
    sendings = [entry.at_ms for entry in entries if entry.event == "sending" and entry.data["digest"] == digest]
    assert (found and found["ms"]) == (None if sent is None else sendings[sent])


def test_of_several_steps_their_number_is_told_and_what_was_perhaps_not_sent_does_not_count() -> None:
    events = day.online_events(day.timeline_bytes())
    sending = [("sending", {"digest": each, "claim": 1}) for each in day.digests()[:3]]
    value = day.reported(online=[*events[:3], *sending, *events[3:]]).value
    assert [step["outcome"]["state"] for step in value["steps"][:3]] == ["FILLED", "UNKNOWN", "FAILED"]
    assert [bool(step["outcome"]["sent_at"]) for step in value["steps"][:3]] == [True, False, True]
    told = {stage.split()[0]: stage for stage in time_line(value)}
    assert told["sent"].startswith(f"sent 2 of {STEPS}: 20")
    assert told["confirmed"].startswith(f"confirmed 1 of {STEPS}: 20")
    assert " to " in told["signed"]


def _keys(value: Row) -> set[str]:
    keys = {row["name"] for row in value["preflight"]["rest"]} if value["preflight"] else set()
    for step in value["steps"]:
        keys |= {row["name"] for row in step["planned"]}
        request, outcome = step["request"], step["outcome"]
        keys |= {row["name"] for row in [*request["asked"], *request["claims"]]} if request else set()
        keys |= {row["field"] for row in request["decided"]} if request else set()
        keys |= {row["name"] for event in outcome["events"] for row in event["payload"]} if outcome else set()
    return keys


@pytest.mark.parametrize("made", [close, lambda: day.reported().value], ids=["close", "everything"])
def test_no_raw_key_is_shown_without_its_label(made: Any) -> None:
    """A raw key is shown once, below its label, beside the Ledger's screen that has it too."""
    value = made()
    html = report_page(value).decode().partition("<main>")[2]
    html = re.sub(r'<span class="raw">.*?</span>', "", html)
    html = re.sub(r'<div class="screen">.*?</div>', "", html)
    raw = {key for key in _keys(value) if label(key) not in (key, f'"{key}"') and re.search("[A-Z_.]", key)}
    assert len(raw) > 30
    rest = html.partition("What else was recorded:")[2].partition("<h2>")[0]
    assert not re.findall(r": (?:true|false)?</li>", rest)
    assert label("device.transaction_check") == "Transaction Check on the Ledger"
    words = set(re.findall(r"[\w.\[\]]+", shown(html)))
    assert sorted(words & raw) == []


def test_every_address_is_held_together() -> None:
    for value in (close(), day.reported().value):
        html = report_page(value).decode().partition("<main>")[2]
        outside = re.sub(r'<span class="address">(<span>|</span>|<wbr>|\w)*</span>', "", html)
        assert html.count('<span class="address">') > 10
        assert ADDRESS.findall(outside) == []


def test_the_page_that_people_sign_has_the_reports_own_fingerprint_in_hex_and_words() -> None:
    made = report_of_artefacts(day.played(), judge)
    told = first_page(made.value)
    mark = hashlib.sha256(made.json).hexdigest()
    assert f"this report {grouped(mark)}" in told
    assert spoken(mark) in told


def test_a_value_that_was_not_kept_and_one_who_is_not_the_account_are_on_it() -> None:
    value = copy.deepcopy(close())
    row = value["steps"][0]["request"]["decided"][4]
    row |= {"ok": False, "value": "900 USDC"}
    value["steps"][0]["request"]["account"] = "0x" + "1" * 40
    told = first_page(value)
    assert "collateral to close: 900 USDC (plan: 100) NOT KEPT" in told
    assert f"account: {TRADER}" in told
    assert "for the account 0x1111" in told


@pytest.mark.parametrize("kind", LEAF_KINDS)
def test_a_leaf_is_called_by_its_kind_and_never_by_the_name_that_the_venue_gives_it(kind: str) -> None:
    row = PageRow(field="_t.tp", kind=kind, unit=LEAF_KINDS[kind].unit.name)
    said = leaf_label(row)
    assert (said == '"_t.tp"') is (kind == "raw")
    assert ("take profit" in said) is (kind == "takeProfit")
    assert said.strip('"') not in LEAF_KINDS or said in ("nonce", "leverage", "delegate", "spender", "referee", "price")


def beside(pages: list[list[str]], *names: str) -> list[tuple[list[list[str]], list[str]]]:
    fields = [PageRow(field=name) for name in names]
    return [(screens, [row.field for row in rows]) for screens, rows in screens_of_fields(pages, fields)]


def test_every_screen_of_a_nano_stands_beside_its_field() -> None:
    [step] = page_row(report_of_artefacts(DELEGATE, judge).json).steps
    assert step.device.model == "nanosp"
    first, *rest = screens_of_fields(step.device.pages, step.request.decided)
    assert (len(first[0]), first[1]) == (8, [])  # warning, review, two structs, four members of the domain
    told = [([screen[0] for screen in screens], [row.field for row in rows]) for screens, rows in rest]
    assert told == [
        (["trader"], ["trader"]),
        (["delegate"], ["delegate"]),
        (["expiry"], ["expiry"]),
        (["deadline"], ["deadline"]),
        ([f"tnc ({number}/6)" for number in range(1, 7)], ["tnc"]),
        (["nonce (1/2)", "nonce (2/2)", "Sign message"], ["nonce"]),
    ]


def test_a_value_cannot_take_the_place_of_a_button() -> None:
    value = ["tnc (1/1)", "Reject", "2 of 7"]
    assert without_buttons([value, ["tnc", *PAUSE], ["Sign message"]]) == [value, ["tnc", *PAUSE], ["Sign message"]]
    touch = [
        ["Review typed message", "Swipe to review", "Reject", "1 of 3"],
        ["tnc", "Skip", "Swipe to review", "Reject", "2 of 3", "Hold to sign", "Reject", "2 of 3"],
        ["Sign typed message?", "Reject", "3 of 3", "Hold to sign"],
    ]
    assert without_buttons(touch) == [
        ["Review typed message"],
        ["tnc", "Skip", "Swipe to review", "Reject", "2 of 3", "Hold to sign"],
        ["Sign typed message?"],
    ]


def test_no_field_is_lost_whatever_the_pages_say() -> None:
    assert beside([], "a", "b") == [([], []), ([], ["a"]), ([], ["b"])]
    assert beside([["x"]], "a", "b") == [([["x"]], []), ([], ["a"]), ([], ["b"])]
    assert beside([["x"], ["b"], ["a"]], "a", "b") == [([["x"]], []), ([["b"], ["a"]], ["a", "b"])]
    assert beside([["pairIndex"]], "_t.trader", "_t.pairIndex", "_t.open") == [
        ([], []),
        ([["pairIndex"]], ["_t.trader", "_t.pairIndex"]),
        ([], ["_t.open"]),
    ]


@pytest.mark.parametrize("path", PLANS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_all_that_the_screen_tells_stands_on_it(path: Path) -> None:
    """Word for word, but for the raw names of fields, which have their labels, and for what the layout adds."""
    plan = parse_plan(path.read_bytes())
    told = page_text(plan_page(plan))
    names = {name for step in plan.steps.values() for name in step.values}
    layout = """ceremony on deployment roles: witness: limits for the builder's choices: signer signed by step device shows
        as delegate of plan fingerprint hex and""".split()
    layout += map(str, range(1, 25))
    for word in " ".join(plan_lines(plan)).split():
        bare = word.strip(':,;()"')
        assert bare in told or word in layout or bare in names, word
    for step in plan.steps.values():
        assert f"({step.id}, {step.action.name})" in told
        for name, value in step.values.items():
            assert label(name) in told
            assert " ".join(value.text.split()) in told


def test_a_hostile_title_is_text() -> None:
    text = PLAN_TEXTS["requests"]
    title = re.search(r'(?m)^title = "(.*)"$', text)
    assert title
    hostile = day.HOSTILE.replace('"', "")
    page = plan_page(parse_plan(text.replace(title[1], hostile).encode()))
    html = page.decode()
    assert "<script" not in html
    assert "<img" not in html
    assert " ".join(hostile.split()) in page_text(page)
    assert {character for character in html if not character.isprintable()} == {"\n"}
