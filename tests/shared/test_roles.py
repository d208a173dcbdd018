"""How a ceremony stands: who holds which role, what was confirmed by whom, and everything that keeps it incomplete."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from airlock_shared.ceremony.roles import (
    CHECKPOINTS,
    MAX_NAME,
    NO_ROLES,
    NOT_BEGUN,
    NOT_ENDED,
    SUPERSEDED,
    Half,
    Standing,
    check_holder,
    check_people,
    check_role,
    check_text,
    on_record,
    other_plan,
    require_open,
    standing,
    stations_of,
)
from airlock_shared.ceremony.sections import (
    CEREMONY_BEGUN,
    CEREMONY_ENDED,
    CHECKPOINT_CONFIRMED,
    EXCEPTION,
    begun_note,
)
from airlock_shared.cli.ceremony.status import record_lines, standing_json, standing_lines
from airlock_shared.documents.transcript import Entry, next_entry
from airlock_shared.errors import DocumentError, Refusal
from airlock_shared.plan.model import APART, Plan
from airlock_shared.plan.reader import parse_plan

FIRST, SECOND = "0x00000000000000000000000000000000000000A1", "0x00000000000000000000000000000000000000b2"
NAMES = {"signer": "Ada Lovelace", "facilitator": "Grace Hopper", "witness": "Mary Somerville"}
R, S, HEAD, DEPLOYMENT = "aa" * 32, "bb" * 32, "cc" * 32, "dd" * 32
Event = tuple[str, dict[str, Any]]


def make_plan(roles: str = '"signer", "facilitator", "witness"', title: str = "Demo") -> Plan:
    return parse_plan(
        f"""
format = "airlock/plan@1"
[ceremony]
id = "demo"
title = "{title}"
deployment = "rehearsal"
roles = [{roles}]
[signers.first]
address = "{FIRST}"
path = "m/44'/60'/0'/0/0"
[signers.second]
address = "{SECOND}"
path = "m/44'/60'/0'/0/1"
[[steps]]
id = "referral"
action = "referral-set-code"
signer = "first"
fields = {{ referee = "{FIRST}", code = "TREASURY" }}
""".encode()
    )


PLAN = make_plan()
OWN = {"ceremony": "demo", "plan": PLAN.fingerprint}


def chain(*events: Event) -> list[Entry]:
    """Return a transcript with these events, one a second."""
    entries: list[Entry] = []
    for number, (event, data) in enumerate(events):
        entries.append(next_entry(entries[-1] if entries else None, 1_790_000_000_000 + 1000 * number, event, data))
    return entries


def begun(plan: Plan = PLAN, names: dict[str, str] | None = None) -> Event:
    return CEREMONY_BEGUN, {"ceremony": plan.id, "plan": plan.fingerprint, "roles": NAMES | (names or {})}


def confirmed(station: str, compared: str, by: tuple[str, ...] = tuple(NAMES)) -> Event:
    return CHECKPOINT_CONFIRMED, {"ceremony": "demo", "station": station, "by": list(by), "compared": compared}


def ended(**data: Any) -> Event:
    return CEREMONY_ENDED, {"ceremony": "demo", "complete": True, "missing": [], **data}


DONE: dict[Half, list[Event]] = {
    "offline": [
        ("deployment-pinned", {"name": "rehearsal", "fingerprint": DEPLOYMENT}),
        ("address", {"path": "m", "address": FIRST, "confirmed": True}),
        ("sign-begun", {"requests": R, **OWN}),
        ("signatures-written", {"requests": R, "signatures": S}),
        ("sealed", {"ceremony": "demo", "entries": 4, "head": HEAD, "address": FIRST, "signature": "0x"}),
        ("preflight", {"network_up": []}),
    ],
    "online": [
        ("prepared", {"requests": R, **OWN}),
        ("submit-begun", {"ceremony": "demo", "requests": R, "signatures": S, "offline_transcript_head": HEAD}),
        ("outcome", {"step": "referral", "digest": "0x", "state": "ACCEPTED", "code": ""}),
    ],
}
COMPARED = {
    "plan": PLAN.fingerprint, "deployment": DEPLOYMENT, "address": FIRST, "requests": R, "review": R, "signatures": S,
    "seal": HEAD,
}  # fmt: skip


def whole(half: Half, *, without: str = "") -> list[Event]:
    """Return the events of a complete ceremony on a machine, perhaps without the confirmation of a station."""
    done = [begun(), *DONE[half]]
    by_entry = chain(*done)[-1].hash  # preflight and outcome are named by their entry
    stations = [station.name for station in stations_of(half) if station.name != without]
    return [*done, *(confirmed(name, COMPARED.get(name, by_entry)) for name in stations), ended()]


def stands(*events: Event, plan: Plan = PLAN, half: Half = "offline") -> Standing:
    return standing(chain(*events), plan, half)


# ---- whole and not whole --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("half", ["online", "offline"])
def test_a_ceremony_with_every_role_and_every_station_is_complete(half: Half) -> None:
    found = stands(*whole(half), half=half)
    assert (found.missing, found.complete, found.is_open) == ((), True, False)
    assert found.names == NAMES
    assert list(found.stations) == [station.name for station in stations_of(half)]
    assert all(len(confirmations) == 1 and confirmations[0].holds for confirmations in found.stations.values())


def test_the_stations_are_those_of_the_day_in_its_order() -> None:
    day = ["plan", "deployment", "preflight", "address", "requests", "review", "signatures", "outcome", "seal"]
    assert list(CHECKPOINTS) == day
    assert all("witness" in by for station in CHECKPOINTS.values() for by in station.by.values())


PLACES: list[tuple[Half, str]] = [
    (half, station.name) for half in ("online", "offline") for station in stations_of(half)
]
MADE_THERE = [(half, station) for half, station in PLACES if CHECKPOINTS[station].made_on == half]
CASES = [place for place in PLACES if place not in MADE_THERE]


@pytest.mark.parametrize(("half", "station"), CASES)
def test_a_station_that_nobody_confirmed_keeps_it_incomplete(half: Half, station: str) -> None:
    found = stands(*whole(half, without=station), half=half)
    roles = " and ".join(CHECKPOINTS[station].by[half])
    assert found.missing == (f"station {station} is not confirmed by {roles}",)
    assert not found.complete


@pytest.mark.parametrize(("half", "station"), MADE_THERE)
def test_where_a_document_was_made_nobody_has_to_confirm_it(half: Half, station: str) -> None:
    found = stands(*whole(half, without=station), half=half)
    assert (found.missing, found.complete) == ((), True)
    assert CHECKPOINTS[station].needs(half, PLAN) == ()


def test_each_document_is_confirmed_on_the_machine_that_did_not_make_it() -> None:
    made = {station.name: station.made_on for station in CHECKPOINTS.values() if station.made_on}
    assert made == {"plan": "online", "deployment": "online", "requests": "online", "signatures": "offline"}
    for name, half in made.items():
        other: Half = "offline" if half == "online" else "online"
        assert CHECKPOINTS[name].needs(other, PLAN) == CHECKPOINTS[name].by[other] != ()


@pytest.mark.parametrize(("half", "station"), CASES)
def test_a_station_that_the_witness_did_not_confirm_keeps_it_incomplete(half: Half, station: str) -> None:
    events = whole(half)
    for event, data in events:
        if event == CHECKPOINT_CONFIRMED and data["station"] == station:
            data["by"].remove("witness")
    assert stands(*events, half=half).missing == (f"station {station} is not confirmed by witness",)


@pytest.mark.parametrize("role", NAMES)
def test_a_role_that_nobody_holds_keeps_it_incomplete(role: str) -> None:
    events = [begun(names={role: ""}), *whole("offline")[1:]]
    assert f"the plan names a {role}, and nobody holds that role" in stands(*events).missing


def test_a_role_that_the_beginning_does_not_mention_keeps_it_incomplete() -> None:
    events = whole("offline")
    del events[0][1]["roles"]["witness"]
    assert "the plan names a witness, and nobody holds that role" in stands(*events).missing


def test_no_exception_heals() -> None:
    exceptions = [
        (EXCEPTION, {"ceremony": "demo", "station": "review", "by": "facilitator", "reason": "The witness left."})
    ]
    found = stands(*whole("offline", without="review")[:-1], *exceptions, ended())
    assert found.missing == ("station review is not confirmed by signer and witness",)
    assert [(e.station, e.by, e.reason) for e in found.exceptions] == [("review", "facilitator", "The witness left.")]


def test_what_the_end_says_of_itself_does_not_count() -> None:
    assert not stands(begun(), ended(complete=True)).complete
    assert stands(*whole("offline")[:-1], ended(complete=False, missing=["all"])).complete


def test_one_person_in_both_roles_keeps_a_record_of_somebody_else_incomplete() -> None:
    events = [begun(names={"witness": "ADA  lovelace"}), *whole("offline")[1:]]
    assert stands(*events).missing[0] == "one person is both signer and witness"


def test_a_ceremony_that_was_not_ended_is_not_complete() -> None:
    found = stands(*whole("offline")[:-1])
    assert (found.missing, found.is_open) == ((NOT_ENDED,), True)


def test_confirmations_of_several_roles_add_up() -> None:
    single = [confirmed("plan", PLAN.fingerprint, (role,)) for role in APART]
    events = [
        event
        for each in whole("offline", without="plan")
        for event in ([*single, each] if each[0] == CEREMONY_ENDED else [each])
    ]
    assert stands(*events).complete


def test_a_plan_without_a_witness_asks_for_none_and_one_with_other_roles_for_anybody() -> None:
    alone, other = make_plan('"signer"'), make_plan('"officer"')
    assert "station plan is not confirmed by signer" in stands(begun(alone), plan=alone).missing
    assert "station plan is not confirmed by anybody" in stands(begun(other), plan=other).missing
    found = stands(begun(other), confirmed("plan", other.fingerprint, ("officer",)), plan=other)
    assert not [line for line in found.missing if "station plan" in line]


def test_without_a_beginning_or_without_roles_nothing_is_complete() -> None:
    assert stands().missing == (NOT_BEGUN,)
    bare = make_plan("")
    assert stands(plan=bare).missing == (NO_ROLES,)
    assert not stands(plan=bare).complete


# ---- what belongs to a ceremony -------------------------------------------------------------------------------------


def test_what_happened_before_the_beginning_does_not_count() -> None:
    events = whole("offline")
    found = stands(*events[1:-1], begun(), ended())
    assert found.stations["plan"] == ()
    assert found.exceptions == ()
    assert len(found.missing) == len([station for half, station in CASES if half == "offline"])


def test_what_happened_after_the_end_does_not_count() -> None:
    missing = stands(*whole("offline", without="plan"), confirmed("plan", PLAN.fingerprint)).missing
    assert missing == ("station plan is not confirmed by signer and witness",)
    assert stands(*whole("offline"), ("sealed", {"ceremony": "demo", "head": "ee" * 32})).complete


def test_another_plan_under_the_same_id_is_a_new_beginning() -> None:
    other = make_plan(title="Changed")
    events = [*whole("offline")[:-1], begun(other)]
    assert stands(*events).missing == (SUPERSEDED,)
    assert not stands(*events).is_open
    assert stands(*events, plan=other).is_open
    assert stands(*events, plan=other).stations["plan"] == ()
    assert stands(*events, ended()).missing == (SUPERSEDED,)  # the end is the other one's


def test_begun_again_with_the_same_plan_everything_is_confirmed_anew() -> None:
    assert stands(*whole("offline"), begun()).stations["plan"] == ()


def test_another_ceremony_between_changes_nothing() -> None:
    events = whole("offline")
    strange: list[Event] = [
        (CEREMONY_BEGUN, {"ceremony": "other", "plan": "ff" * 32, "roles": {"signer": "Eve"}}),
        ("sign-begun", {"ceremony": "other", "plan": "ff" * 32, "requests": "ff" * 32}),
        ("signatures-written", {"requests": "ff" * 32, "signatures": "ff" * 32}),
        ("address", {"path": "m", "address": FIRST.lower(), "confirmed": True}),
        ("address", {"path": "m", "address": SECOND, "confirmed": False}),
        ("deployment-pinned", {"name": "mainnet", "fingerprint": "ff" * 32}),
        (CEREMONY_ENDED, {"ceremony": "other", "complete": True, "missing": []}),
    ]
    assert stands(*events[:-1], *strange, events[-1]).complete


# ---- what stood on record -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("half", "station", "later"),
    [
        ("offline", "deployment", ("deployment-pinned", {"name": "rehearsal", "fingerprint": "ee" * 32})),
        ("offline", "preflight", ("preflight", {"network_up": ["eth0"]})),
        ("offline", "address", ("address", {"path": "m", "address": SECOND, "confirmed": True})),
        ("offline", "requests", ("sign-begun", {"requests": "ee" * 32, **OWN})),
        ("offline", "signatures", ("signatures-written", {"requests": R, "signatures": "ee" * 32})),
        ("offline", "seal", ("sealed", {"ceremony": "demo", "head": "ee" * 32})),
        ("online", "requests", ("prepared", {"requests": "ee" * 32, **OWN})),
        ("online", "signatures", ("submit-begun", {"ceremony": "demo", "signatures": "ee" * 32})),
        ("online", "outcome", ("outcome", {"step": "referral", "state": "FAILED"})),
    ],
)
def test_a_station_is_confirmed_again_when_what_stands_on_record_changed(
    half: Half, station: str, later: Event
) -> None:
    events = whole(half)
    found = stands(*events[:-1], later, events[-1], half=half)
    roles = " and ".join(CHECKPOINTS[station].by[half])
    told = f"station {station} is not confirmed by {roles}, because its record changed"
    assert (told in found.missing) == ((half, station) in CASES)
    assert [each.holds for each in found.stations[station]] == [False]


def test_the_same_again_changes_nothing() -> None:
    events = whole("offline")
    again = ("address", {"path": "m", "address": FIRST, "confirmed": True})
    assert stands(*events[:-1], again, events[-1]).complete


def test_a_confirmation_without_anything_on_record_does_not_hold() -> None:
    found = stands(begun(), confirmed("review", R), confirmed("deployment", DEPLOYMENT))
    assert [each.holds for each in found.stations["review"]] == [False]
    assert [each.holds for each in found.stations["deployment"]] == [True]  # pinned before the ceremony
    assert on_record(chain(begun()), PLAN, "review") is None


def test_where_each_signer_has_a_part_the_last_of_each_stands_on_record() -> None:
    part = {"first": "11" * 32, "second": "22" * 32}
    prepared = [("prepared", {"requests": digest, "signer": name, **OWN}) for name, digest in part.items()]
    events: list[Event] = [begun(), *prepared, ("prepared", {"requests": "33" * 32, "signer": "first", **OWN})]
    assert on_record(chain(*events), PLAN, "requests") == f"{'33' * 32} {'22' * 32}"
    lines = list(record_lines(f"{'33' * 32} {FIRST}"))
    assert lines[0] == "on record"
    assert lines[-1] == f"on record  {FIRST}"


# ---- names, reasons, roles ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["A" * (MAX_NAME + 1), " Ada", "Ada ", "   ", "Ada\nLovelace", "Ada\x1b[2J", "Ada\u202eecalevoL", "A\u200bda",
     "Ada\u2028", "Ad\u0301a", "\u05d0\u05d3\u05d4", "\u3164", "Ada\x00"],
)  # fmt: skip
def test_a_name_that_cannot_be_read_is_refused(name: str) -> None:
    with pytest.raises(Refusal) as caught:
        check_people({"signer": name}, PLAN)
    assert caught.value.check == "ROLE-TEXT"


@pytest.mark.parametrize("name", ["A", "A" * MAX_NAME, "Łukasz Żółw", "王小明", "O'Brien, Conor (deputy)"])
def test_a_name_that_can_be_read_is_taken(name: str) -> None:
    check_people({"signer": name, "witness": "Mary Somerville", "facilitator": ""}, PLAN)


@pytest.mark.parametrize("reason", ["", " ", "two\nlines", "x" * 501, "\x07"])
def test_an_exception_without_a_readable_reason_is_refused(reason: str) -> None:
    with pytest.raises(Refusal) as caught:
        check_text(reason, "the reason", 500)
    assert caught.value.check == "ROLE-TEXT"


@pytest.mark.parametrize(
    "witness", ["Ada Lovelace", "ada lovelace", "ADA  LOVELACE", "Ａda Lovelace", "\u0410da Lovelace"]
)
def test_one_person_is_not_signer_and_witness(witness: str) -> None:
    with pytest.raises(Refusal) as caught:
        check_people({"signer": "Ada Lovelace", "witness": witness}, PLAN)
    assert caught.value.check == "ROLE-SAME"


def test_one_person_may_hold_other_roles_together_and_nobody_two() -> None:
    check_people({"signer": "Ada Lovelace", "facilitator": "Ada Lovelace"}, PLAN)
    check_people({"signer": "", "witness": ""}, PLAN)


@pytest.mark.parametrize("role", ["", "Signer", "auditor", "signer ", "sïgner"])
def test_a_role_that_the_plan_does_not_name_is_refused(role: str) -> None:
    for check in (partial(check_role, role, PLAN), partial(check_people, {role: "Eve"}, PLAN)):
        with pytest.raises(Refusal) as caught:
            check()
        assert caught.value.check == "ROLE-KNOWN"


def test_a_role_that_nobody_holds_confirms_nothing() -> None:
    with pytest.raises(Refusal) as caught:
        check_holder("witness", {"signer": "Ada", "witness": ""}, PLAN)
    assert caught.value.check == "ROLE-KNOWN"


@pytest.mark.parametrize(
    ("events", "got"),
    [([], "never begun"), (whole("offline"), "ended"), ([begun(), begun(make_plan(title="Changed"))], SUPERSEDED)],
)
def test_only_a_ceremony_that_is_open_goes_on(events: list[Event], got: str) -> None:
    with pytest.raises(Refusal) as caught:
        require_open(stands(*events))
    assert (caught.value.check, caught.value.got) == ("ROLE-OPEN", got)


# ---- what others ask ------------------------------------------------------------------------------------------------


def test_before_signing_it_is_noted_that_no_ceremony_is_open() -> None:
    assert "no ceremony is open" in begun_note([], PLAN)
    assert "no ceremony is open" in begun_note(chain(*whole("offline")), PLAN)
    assert "no ceremony is open" in begun_note(chain(begun(make_plan(title="Changed"))), PLAN)
    assert begun_note(chain(begun()), PLAN) == ""
    assert begun_note([], make_plan("")) == ""


def test_another_plan_under_this_id_is_named_while_it_is_open() -> None:
    other = make_plan(title="Changed")
    assert other_plan(chain(begun()), PLAN) == ""
    assert other_plan(chain(begun(other)), PLAN) == other.fingerprint
    assert other_plan(chain(begun(other), ended()), PLAN) == ""


def _bad_entries() -> list[Event]:
    good_begun, good_confirmed = begun()[1], confirmed("plan", R)[1]
    good_exception = {"ceremony": "demo", "station": "", "by": "witness", "reason": "x"}
    return [
        (CEREMONY_BEGUN, {}), (CEREMONY_BEGUN, {**good_begun, "roles": ["signer"]}),
        (CEREMONY_BEGUN, {**good_begun, "roles": {"signer": 1}}),
        (CEREMONY_BEGUN, {**good_begun, "ceremony": 7}), (CEREMONY_BEGUN, {**good_begun, "more": 1}),
        (CHECKPOINT_CONFIRMED, {**good_confirmed, "by": "signer"}), (CHECKPOINT_CONFIRMED, {**good_confirmed, "by": [None]}),
        (CHECKPOINT_CONFIRMED, {**good_confirmed, "station": []}),
        (CHECKPOINT_CONFIRMED, {name: value for name, value in good_confirmed.items() if name != "compared"}),
        (EXCEPTION, {**good_exception, "reason": None}), (EXCEPTION, {**good_exception, "by": {}}),
        (CEREMONY_ENDED, {"ceremony": "demo", "complete": 1, "missing": []}),
        (CEREMONY_ENDED, {"ceremony": "demo", "complete": False, "missing": [1]}),
    ]  # fmt: skip


@pytest.mark.parametrize("event", _bad_entries())
def test_an_entry_that_has_not_its_form_is_refused(event: Event) -> None:
    with pytest.raises(DocumentError) as caught:
        stands(begun(), event)
    assert caught.value.check == "DOC-FIELD"


def test_facts_of_another_type_stand_for_their_entry() -> None:
    entries = chain(begun(), ("sign-begun", {"requests": 7, "signer": ["x"], **OWN}), ("sealed", {"head": None}))
    assert on_record(entries, PLAN, "requests") == entries[1].hash
    assert on_record(entries, PLAN, "seal") == entries[2].hash


def test_nothing_in_a_foreign_transcript_acts_on_the_screen() -> None:
    evil = "\x1b[2J\u202e" + "x" * 300
    exception = (EXCEPTION, {"ceremony": "demo", "station": evil, "by": evil, "reason": evil})
    events = [begun(names={"signer": evil, "witness": evil}), confirmed("plan", PLAN.fingerprint, (evil,)), exception]
    found = stands(*events)
    lines = list(standing_lines(found, PLAN, "offline"))
    assert all(line.isprintable() and len(line) <= 80 for line in lines)
    assert lines[-1] == "INCOMPLETE"


def test_the_screen_and_the_json_say_the_same() -> None:
    events = whole("offline")
    found = stands(*events[:-1], ("preflight", {}), events[-1])
    lines = list(standing_lines(found, PLAN, "offline"))
    told = standing_json(found, PLAN, "offline")
    changed = [number for number, line in enumerate(lines) if "the record changed since: confirm again" in line]
    assert [lines[number - 1].split()[0] for number in changed] == ["preflight"]
    assert told["missing"] == list(found.missing)
    assert told["complete"] is False
    assert [row["station"] for row in told["stations"]] == [station.name for station in stations_of("offline")]
    assert list(standing_lines(stands(*events), PLAN, "offline"))[-1] == "COMPLETE"
