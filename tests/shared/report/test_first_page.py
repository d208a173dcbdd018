"""The first page is the report: what people ask first stands on it, with its evidence or the word that there is none."""

from __future__ import annotations

import copy
import hashlib
import re
from html import unescape
from typing import Any

import pytest

from airlock_shared.catalogue.actions import ACTIONS
from airlock_shared.catalogue.calls import CALLS
from airlock_shared.catalogue.intents import CATALOGUE
from airlock_shared.documents.transcript import read_entries
from airlock_shared.report.evidence.timeline import KINDS
from airlock_shared.report.page.front import is_of_chain, transaction_of
from airlock_shared.report.page.html import text
from airlock_shared.report.page.labels import LABELS, label
from airlock_shared.report.page.page import page
from airlock_shared.report.reexamined import judge
from airlock_shared.report.rows import Row
from airlock_shared.report.verify import make
from shared.make_payloads import KEYS
from shared.report.day import HOSTILE, offline_files, online_files, part_files, played, sealed
from shared.world import whole

EVIDENCE = "<h2>Fingerprints</h2>"
TRADER = "0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D"
ADDRESS = re.compile(r"(?<![0-9A-Za-z])0x[0-9A-Fa-f]{40}(?![0-9A-Za-z])")
TREASURY = next(iter(KEYS))


def is_known(key: str) -> bool:
    return label(key) != f'"{key}"'


def close() -> Row:
    """Return the report of a ceremony that was played in a rehearsal."""
    return make(played(), judge).value


def first_page(value: Row) -> str:
    """Return the texts of the first page, with a blank between two of them."""
    return shown(page(value).decode().partition("<main>")[2].partition(EVIDENCE)[0])


def shown(html: str) -> str:
    inline = re.sub(r"</?(?:span|strong|wbr)[^>]*>", "", html)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", inline)).split())


def signed_by_hand(html: str) -> str:
    return shown(html.partition('<section class="signatures">')[2])


# ---- what stands on it ----------------------------------------------------------------------------------------------


def test_it_says_in_this_order_what_people_ask_first() -> None:
    value = close()
    told = first_page(value)
    outcome = value["steps"][0]["outcome"]
    (promise,) = outcome["read_back"]
    said = [
        "REHEARSAL", "Complete", "asked", "pair: BTC/USD", "position number: 0", "collateral to close, USDC: 100",
        f"for the account {TRADER}", f"may be used until {value['steps'][0]['request']['until']['utc']}",
        f"signed by treasury, {TRADER} signed at", "outcome FILLED", "the chain says not read",
        f"the builder says {promise['what']}: {promise['found']} (as promised)",
        f"Read and put on record at {outcome['read_back_at']['utc']}; no later reading is on record.",
        f"transaction {transaction_of(outcome)}", "Signatures that could still execute, of this or another ceremony: 1.",
        "Witness: required.", "signer Ada Lovelace: on the offline machine plan,", "witness Mary Somerville:",
        "Seal of the offline machine's transcript sealed by treasury",
    ]  # fmt: skip
    places = [told.find(each) for each in said]
    assert -1 not in places, said[places.index(-1)]
    assert places == sorted(places)


def test_nothing_of_the_evidence_is_on_it_and_nothing_of_it_after_the_evidence() -> None:
    html = page(close()).decode()
    before, _, after = html.partition(EVIDENCE)
    assert "<svg" not in before
    assert "Seal of the offline" not in after
    assert html.count(EVIDENCE) == 1


def test_account_and_deadline_are_read_off_what_is_signed() -> None:
    by_step = {item["step"]: item["payload"] for item in whole()["requests"]}
    steps = make(offline_files(), judge).value["steps"]
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


def test_what_has_no_deadline_may_be_used_at_any_time() -> None:
    told = first_page(make(offline_files(), judge).value)
    assert told.count("may be used at any time: it has no deadline") == 2
    assert told.count("may be used until ") == 12


def test_what_cannot_be_read_is_not_known_and_never_without_a_deadline() -> None:
    value = close()
    value["steps"][0]["request"] |= {"account": "", "until": None}
    told = first_page(value)
    assert told.count("not known: what came back cannot be read") == 2
    assert "it has no deadline" not in told


def test_without_requests_the_account_is_the_plans_and_the_deadline_is_not_known() -> None:
    value = close()
    value["steps"][0] |= {"request": None, "device": None, "signature": None}
    told = first_page(value)
    assert f"for the account {TRADER} may be used not known: nothing came back" in told
    assert "no signature was given" in told


def test_what_was_not_read_is_not_read() -> None:
    value = make(online_files(), judge).value
    times = {entry.hash: entry.at_ms for entry in read_entries(online_files()["online-transcript.jsonl"].splitlines())}
    outcomes = [step["outcome"] for step in value["steps"]]
    assert outcomes[0]["read_back_at"]["ms"] in times.values()
    assert [each["read_back_at"] for each in outcomes[1:] if each] == [None, None]
    told = first_page(value)
    assert told.count("the chain says not read") == 14
    assert told.count("Read and put on record at ") == 1
    assert "NOT what was promised" in told


def test_only_what_a_node_of_ones_own_told_is_the_chains_word() -> None:
    value = close()
    outcome = value["steps"][0]["outcome"]
    outcome["read_back"].append({"what": "the code, by the chain", "promised": "x", "found": "y", "kept": None})
    told = first_page(value)
    assert "the chain says the code, by the chain: y (not known) Read and put on record at" in told
    assert [is_of_chain(each) for each in outcome["read_back"]] == [False, True]


def test_the_offline_machine_says_that_it_read_no_chain() -> None:
    told = first_page(make(offline_files(), judge).value)
    assert told.count("the chain says not read: the offline machine reads no chain") == 14
    assert "FILLED" not in told


def test_a_transaction_that_a_service_told_is_said_to_be_told() -> None:
    event = {"payload": [{"name": "transactionHash", "value": "0x" + "ab" * 32}]}
    outcome: Row = {"transaction_hash": "", "events": [event]}
    assert transaction_of(outcome) == "0x" + "ab" * 32 + ", as the service told it"
    assert transaction_of(outcome | {"transaction_hash": "0x" + "cd" * 32}) == "0x" + "cd" * 32
    for other in ("0x" + "ab" * 31, HOSTILE, ""):
        changed = {"payload": [{"name": "transactionHash", "value": other}]}
        assert transaction_of(outcome | {"events": [changed]}) == ""


def test_there_is_one_seal_on_it_which_is_the_last() -> None:
    files = offline_files() | {"offline-transcript.jsonl": sealed(TREASURY)}
    value = make(files, judge).value
    (seal,) = value["transcripts"][0]["seals"]
    value["transcripts"][0]["seals"] = [seal | {"head": "e" * 64, "entries": 1}, seal]
    told = first_page(value)
    assert f"sealed by {seal['signer']}, {seal['by']}, at" in told
    assert f"{seal['entries']} entries, head" in told
    assert "eeee" not in told
    assert page(value).decode().partition(EVIDENCE)[0].count('class="hex"') == 1


@pytest.mark.parametrize(
    ("row", "said"),
    [({"machine": "offline", "given": True, "seals": []}, "sealed by nobody"),
     ({"machine": "offline", "given": False}, "sealed not known: the offline machine's transcript was not given")],
)  # fmt: skip
def test_no_seal_is_said(row: Row, said: str) -> None:
    value = close()
    value["transcripts"][0] |= {"entries": 0, "head": "", "words": ""} | row
    assert said in first_page(value)


def test_who_confirmed_nothing_is_told_and_so_is_who_is_nobody() -> None:
    value = close()
    for row in value["people"]:
        row["names"] = [each for each in row["names"] if each["name"] != "witness"]
        for station in row["stations"]:
            station["by"] = [role for role in station["by"] if role != "witness"]
    assert "witness nobody: confirmed nothing" in first_page(value)


def test_a_confirmation_whose_record_changed_since_does_not_count() -> None:
    value = close()
    for station in value["people"][0]["stations"]:
        station["holds"] = station["station"] != "seal"
    told = first_page(value)
    assert "on the offline machine plan, deployment, address, requests, review, signatures" in told
    assert "signatures, seal" not in told


def test_steps_of_another_part_are_named_and_not_shown_as_asked() -> None:
    value = make(part_files("desk"), judge).value
    told = first_page(value)
    for step in value["steps"]:
        assert (f"({step['id']})" in told) is step["in_part"]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [("expiry", "1806451200", "2027-03-31 00:00:00 UTC (1806451200)"),
     ("deadlineMs", "1806451200000", "2027-03-31 00:00:00 UTC (1806451200000)"),
     ("expiry", "2027-03-31T00:00:00+00:00", "2027-03-31T00:00:00+00:00"),
     ("expiry", "\u0661", "\\u{661}"), ("expiry", "9" * 15, None), ("expiry", "9" * 40, "9" * 40),
     ("coinExposure", "1806451200", "1806451200")],
)  # fmt: skip
def test_a_time_that_the_plan_has_as_a_number_is_a_date(name: str, value: str, said: str | None) -> None:
    report = close()
    report["steps"][0]["planned"] = [{"name": name, "value": value}]
    assert f"asked {label(name)}: {said if said else ''}" in first_page(report)


# ---- labels ---------------------------------------------------------------------------------------------------------


def _keys(value: Row) -> set[str]:
    """Return every raw key of a report's data that a page shows."""
    keys = {row["name"] for row in value["preflight"]["rest"]} if value["preflight"] else set()
    for step in value["steps"]:
        keys |= {row["name"] for row in step["planned"]}
        request, outcome = step["request"], step["outcome"]
        keys |= {row["name"] for row in [*request["asked"], *request["claims"]]} if request else set()
        keys |= {row["field"] for row in request["decided"]} if request else set()
        keys |= {row["name"] for event in outcome["events"] for row in event["payload"]} if outcome else set()
    return keys


def test_every_key_that_the_catalogue_knows_has_its_label() -> None:
    keys = {name for action in ACTIONS.values() for p in action.parameters for name in (p.name, p.sent) if name}
    keys |= {field.path for intent in CATALOGUE.values() for field in intent.fields}
    keys |= {field.path for call in CALLS.values() for field in call.fields}
    assert len(keys) > 60
    assert sorted(key for key in keys if not is_known(key)) == []


def test_every_key_of_a_rehearsed_ceremony_has_its_label() -> None:
    keys = _keys(close())
    assert len(keys) > 50
    assert sorted(key for key in keys if not is_known(key)) == []


@pytest.mark.parametrize("made", [close, lambda: make(online_files(), judge).value], ids=["close", "everything"])
def test_no_raw_key_is_shown_without_its_label(made: Any) -> None:
    """A raw key is shown once, below its label, where the Ledger's pages have it too."""
    value = made()
    html = page(value).decode().partition("<main>")[2]
    html = re.sub(r'<p class="raw">.*?</p>', "", html)
    html = re.sub(r'<ol class="pages">.*?</ol>', "", html)
    raw = {key for key in _keys(value) if is_known(key) and label(key) != key and re.search("[A-Z_.]", key)}
    assert len(raw) > 30
    words = set(re.findall(r"[\w.\[\]]+", shown(html)))
    assert sorted(words & raw) == []


def test_every_kind_of_event_and_every_fact_of_an_outcome_has_its_label() -> None:
    facts = ("route", "method", "tracking_id", "transaction_hash", "entity_id", "code", "note")
    assert [key for key in (*KINDS[1:], *facts) if not is_known(key)] == []


def test_a_key_that_nobody_knows_stands_in_quotation_marks() -> None:
    assert label("usdcSentToTrader") == label("usdc_sent_to_trader") == "paid to the account"
    assert label("_t.pairIndex") == label("pairIndex") == "pair, by its number"
    assert (label("code"), label("code", "event")) == ("referral code", "code of the service")
    assert label("pins[3].name") == "pinned deployment"
    assert label("nameOfTheirs") == '"nameOfTheirs"'
    assert label(HOSTILE) == f'"{HOSTILE}"'


def test_the_table_has_its_keys_as_they_are_looked_up() -> None:
    keys = list(LABELS)
    assert all(key == re.sub("_", "", key).lower() for key in keys)
    assert all(value for value in LABELS.values())


# ---- addresses ------------------------------------------------------------------------------------------------------


def test_every_address_is_held_together() -> None:
    for value in (close(), make(online_files(), judge).value):
        html = page(value).decode().partition("<main>")[2]
        outside = re.sub(r'<span class="address">.*?</span>', "", html)
        assert len(ADDRESS.findall(html)) > 10
        assert ADDRESS.findall(re.sub(r"<[^>]*>", " ", outside)) == []


def test_a_hash_may_break_in_its_middle_alone_and_what_only_begins_like_one_anywhere() -> None:
    digest = "0x" + "ab" * 32
    assert text(digest) == f'<span class="address">{digest[:34]}<wbr>{digest[34:]}</span>'
    assert text(f"to {TRADER}.") == f'to <span class="address">{TRADER}</span>.'
    for other in (TRADER + "0", TRADER[:-1], "0x" + "ab" * 200, TRADER + "z"):
        assert text(other) == other


# ---- the page that people sign --------------------------------------------------------------------------------------


def test_the_page_that_people_sign_has_the_values_that_decide_and_the_reports_own_fingerprint() -> None:
    made = make(played(), judge)
    told = signed_by_hand(made.html.decode())
    mark = hashlib.sha256(made.json).hexdigest()
    assert mark in told.replace(" ", "")
    for each in ("This report says: Complete.", f"for the account {TRADER}", "amount: 100 USDC",
                 "pair, by its number: 0 (plan: BTC/USD (number 0))", "outcome FILLED",
                 "price expected: 64000 USD (plan: at least 63000, at most 65000)"):  # fmt: skip
        assert each in told
    assert made.value["steps"][0]["request"]["until"]["utc"] in told


def test_it_has_another_fingerprint_for_another_report() -> None:
    value = close()
    before = signed_by_hand(page(value).decode())
    value["artefacts"][0]["sha256"] = "0" * 64
    assert signed_by_hand(page(value).decode()) != before


def test_a_value_that_was_not_kept_and_one_who_is_not_the_account_are_on_it() -> None:
    value = copy.deepcopy(close())
    row = value["steps"][0]["request"]["decided"][4]
    row |= {"ok": False, "value": "900 USDC"}
    value["steps"][0]["request"]["account"] = "0x" + "1" * 40
    told = signed_by_hand(page(value).decode())
    assert "amount: 900 USDC (plan: 100) NOT KEPT" in told
    assert f"account: {TRADER}" in told


def test_terms_of_the_venue_are_counted_on_it_and_not_copied() -> None:
    value = close()
    value["steps"][0]["request"]["decided"][4]["value"] = "z" * 5000
    told = signed_by_hand(page(value).decode())
    assert "amount: 5000 characters, which are in the evidence" in told
    assert "zzz" not in told
