"""How a ceremony stands: who holds which role, what was confirmed by whom, and everything that keeps it incomplete."""

from functools import partial
from typing import Any

import pytest

from airlock_shared.ceremony import roles as rules
from airlock_shared.ceremony.roles import Half, Standing, check_people, checkpoints_of, standing
from airlock_shared.ceremony.sections import CEREMONY_BEGUN, CEREMONY_ENDED, CHECKPOINT_CONFIRMED, EXCEPTION, people_of
from airlock_shared.checks.document import Attended, people_are_present
from airlock_shared.checks.judge import Known, judge_header
from airlock_shared.documents.requests import parse_requests
from airlock_shared.errors import DocumentError, PlanError
from airlock_shared.plan.mistakes import find_mistakes
from airlock_shared.plan.model import Plan
from airlock_shared.plan.reader import parse_plan
from airlock_shared.plan.toml_positions import parse_written_plan
from refusals import check_of, error_of
from shared.world import chain, situation, to_bytes
from shared.world import plan as vectors_plan
from shared.world import whole as whole_document

FIRST, SECOND = "0x00000000000000000000000000000000000000A1", "0x00000000000000000000000000000000000000b2"
NAMES = {"signer": "Ada Lovelace", "facilitator": "Grace Hopper", "witness": "Mary Somerville"}
R, S, HEAD, DEPLOYMENT = "aa" * 32, "bb" * 32, "cc" * 32, "dd" * 32
Event = tuple[str, dict[str, Any]]


ALL = '"signer", "facilitator", "witness"'


def written(roles: str = ALL, witness: str = "", title: str = "Demo") -> bytes:
    return f"""
format = "airlock/plan@1"
[ceremony]
id = "demo"
title = "{title}"
deployment = "rehearsal"
roles = [{roles}]
{witness}
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


PLAN = parse_plan(written())
OWN = {"ceremony": "demo", "plan": PLAN.fingerprint}


def begun(plan: Plan = PLAN, names: dict[str, str] | None = None) -> Event:
    return CEREMONY_BEGUN, {"ceremony": plan.id, "plan": plan.fingerprint, "roles": NAMES | (names or {})}


def confirmed(checkpoint: str, compared: str, by: tuple[str, ...] = tuple(NAMES)) -> Event:
    return CHECKPOINT_CONFIRMED, {"ceremony": "demo", "checkpoint": checkpoint, "by": list(by), "compared": compared}


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
    "plan": PLAN.fingerprint, "deployment": DEPLOYMENT, "address": FIRST, "requests": R, "review": S, "signatures": S,
    "seal": HEAD,
}  # fmt: skip


def whole(half: Half, *, without: str = "") -> list[Event]:
    """Return the events of a complete ceremony on a machine, perhaps without the confirmation of a checkpoint."""
    done = [begun(), *DONE[half]]
    by_entry = chain(*done)[-1].hash  # preflight and outcome are named by their entry
    checkpoints = [checkpoint.name for checkpoint in checkpoints_of(half) if checkpoint.name != without]
    return [*done, *(confirmed(name, COMPARED.get(name, by_entry)) for name in checkpoints), ended()]


def stands(*events: Event, plan: Plan = PLAN, half: Half = "offline") -> Standing:
    return standing(chain(*events), plan, half)


@pytest.mark.parametrize("half", ["online", "offline"])
def test_a_ceremony_with_every_role_and_every_checkpoint_is_complete(half: Half) -> None:
    found = stands(*whole(half), half=half)
    assert (found.missing, found.complete, found.is_open) == ((), True, False)
    assert found.names == NAMES
    assert list(found.checkpoints) == [checkpoint.name for checkpoint in checkpoints_of(half)]
    assert all(len(confirmations) == 1 and confirmations[0].holds for confirmations in found.checkpoints.values())


HALVES: tuple[Half, ...] = ("online", "offline")
CASES = [(half, each.name) for half in HALVES for each in checkpoints_of(half) if each.made_on != half]


@pytest.mark.parametrize(("half", "checkpoint"), CASES)
def test_a_checkpoint_that_the_witness_did_not_confirm_keeps_it_incomplete(half: Half, checkpoint: str) -> None:
    events = whole(half)
    for event, data in events:
        if event == CHECKPOINT_CONFIRMED and data["checkpoint"] == checkpoint:
            data["by"].remove("witness")
    assert stands(*events, half=half).missing == (f"checkpoint {checkpoint} is not confirmed by witness",)


@pytest.mark.parametrize(("by", "lacking"), [((), True), (("clerk",), True), (("auditor",), False)])
def test_of_a_plan_that_names_none_of_its_roles_the_first_confirms_it(by: tuple[str, ...], lacking: bool) -> None:
    plan = parse_plan(written('"auditor", "clerk"'))
    said = [confirmed("plan", plan.fingerprint, by)] if by else []
    missing = stands(begun(plan, {"auditor": "Ada", "clerk": "Grace"}), *said, plan=plan).missing
    assert ("checkpoint plan is not confirmed by auditor" in " ".join(missing)) is lacking


def test_no_exception_heals() -> None:
    said = EXCEPTION, {"ceremony": "demo", "checkpoint": "review", "by": "facilitator", "reason": "The witness left."}
    found = stands(*whole("offline", without="review")[:-1], said, ended())
    assert found.missing == ("checkpoint review is not confirmed by signer and witness",)
    assert [each[1:] for each in found.exceptions] == [("review", "facilitator", "The witness left.")]


@pytest.mark.parametrize(
    ("names", "missing"),
    [
        ({"witness": "ADA  lovelace"}, "one person is both signer and witness"),
        *(({role: ""}, f"the plan names a {role}, and nobody holds that role") for role in NAMES),
    ],
)
def test_one_person_in_both_roles_and_a_role_of_nobody_keep_it_incomplete(names: dict[str, str], missing: str) -> None:
    assert missing in stands(begun(names=names), *whole("offline")[1:]).missing


def test_another_plan_under_the_same_id_is_a_new_beginning() -> None:
    other = parse_plan(written(title="Changed"))
    events = [*whole("offline")[:-1], begun(other)]
    assert (stands(*events).missing, stands(*events).is_open) == ((rules.SUPERSEDED,), False)
    assert stands(*events, plan=other).is_open
    assert stands(*events, plan=other).checkpoints["plan"] == ()
    assert stands(*events, ended()).missing == (rules.SUPERSEDED,)  # the end is the other one's


@pytest.mark.parametrize(
    ("half", "checkpoint", "later"),
    [
        ("offline", "deployment", ("deployment-pinned", {"name": "rehearsal", "fingerprint": "ee" * 32})),
        ("offline", "preflight", ("preflight", {"network_up": ["eth0"]})),
        ("offline", "address", ("address", {"path": "m", "address": SECOND, "confirmed": True})),
        ("offline", "requests", ("sign-begun", {"requests": "ee" * 32, **OWN})),
        ("offline", "review", ("signatures-written", {"requests": R, "signatures": "ee" * 32})),
        ("offline", "signatures", ("signatures-written", {"requests": R, "signatures": "ee" * 32})),
        ("offline", "seal", ("sealed", {"ceremony": "demo", "head": "ee" * 32})),
        ("offline", "seal", ("signatures-written", {"requests": R, "signatures": S})),  # sealed before the signing
        ("online", "requests", ("prepared", {"requests": "ee" * 32, **OWN})),
        ("online", "signatures", ("submit-begun", {"ceremony": "demo", "signatures": "ee" * 32})),
        ("online", "outcome", ("outcome", {"step": "referral", "state": "FAILED"})),
    ],
)
def test_a_checkpoint_is_confirmed_again_when_the_record_changed(half: Half, checkpoint: str, later: Event) -> None:
    events = whole(half)
    found = stands(*events[:-1], later, events[-1], half=half)
    roles = " and ".join(rules.CHECKPOINTS[checkpoint].by[half])
    told = f"checkpoint {checkpoint} is not confirmed by {roles}, because something else was confirmed"
    assert (told in found.missing) == ((half, checkpoint) in CASES)
    assert [each.holds for each in found.checkpoints[checkpoint]] == [False]


def test_a_preflight_for_another_ceremony_takes_nothing_from_what_was_signed_after_this_ones() -> None:
    """Two ceremonies are open on one machine, and a page of preflight names none of them."""
    page: Event = ("preflight", {"network_up": []})
    before = chain(begun(), page)[-1].hash
    signing: list[Event] = [
        ("sign-begun", {"requests": R, **OWN}),
        ("signatures-written", {"requests": R, "signatures": S}),
    ]
    for events, holds in (
        ([confirmed("preflight", before), *signing, page], True),
        ([confirmed("preflight", before), page, *signing], False),  # it was signed after the other page
        ([*signing, confirmed("preflight", before)], True),
        ([*signing, confirmed("preflight", before), page, *signing, page], False),
    ):
        found = stands(begun(), page, *events)
        assert [each.holds for each in found.checkpoints["preflight"]] == [holds], events


@pytest.mark.parametrize(
    "name",
    ["A" * (rules.MAX_NAME + 1), " Ada", "Ada ", "   ", "Ada\nLovelace", "Ada\x1b[2J", "Ada\u202eecalevoL", "\u3164"],
)  # fmt: skip
def test_a_name_or_a_reason_that_cannot_be_read_is_refused(name: str) -> None:
    for check in (
        partial(check_people, {"signer": name}, PLAN),
        partial(rules.check_text, name, "the reason", rules.MAX_NAME),
    ):
        assert check_of(check) == "ROLE-TEXT"


@pytest.mark.parametrize(
    "witness", ["Ada Lovelace", "ada lovelace", "ADA  LOVELACE", "Ａda Lovelace", "\u0410da Lovelace"]
)
def test_one_person_is_not_signer_and_witness(witness: str) -> None:
    assert check_of(check_people, {"signer": "Ada Lovelace", "witness": witness}, PLAN) == "ROLE-SAME"


@pytest.mark.parametrize("role", ["", "Signer", "auditor", "signer "])
def test_a_role_that_the_plan_does_not_name_or_nobody_holds_is_refused(role: str) -> None:
    nobody = partial(rules.check_holder, "witness", {"signer": "Ada", "witness": ""}, PLAN)
    for check in (partial(rules.check_role, role, PLAN), partial(check_people, {role: "Eve"}, PLAN), nobody):
        assert check_of(check) == "ROLE-KNOWN"


def _bad_entries() -> list[Event]:
    good_begun, good_confirmed = begun()[1], confirmed("plan", R)[1]
    good_exception = {"ceremony": "demo", "checkpoint": "", "by": "witness", "reason": "x"}
    return [
        (CEREMONY_BEGUN, {}), (CEREMONY_BEGUN, {**good_begun, "roles": {"signer": 1}}),
        (CEREMONY_BEGUN, {**good_begun, "more": 1}), (CHECKPOINT_CONFIRMED, {**good_confirmed, "by": [None]}),
        (CHECKPOINT_CONFIRMED, {name: value for name, value in good_confirmed.items() if name != "compared"}),
        *((CHECKPOINT_CONFIRMED, {**good_confirmed, **more}) for more in ({"how": 1}, {"positions": "1"}, {"why": "x"})),
        (EXCEPTION, {**good_exception, "reason": None}),
        (CEREMONY_ENDED, {"ceremony": "demo", "complete": False, "missing": [1]}),
    ]  # fmt: skip


@pytest.mark.parametrize("event", _bad_entries())
def test_an_entry_that_has_not_its_form_is_refused(event: Event) -> None:
    with pytest.raises(DocumentError, match=r"^DOC-FIELD[: ]"):
        stands(begun(), event)


@pytest.mark.parametrize("half", ["online", "offline"])
def test_another_ceremony_between_changes_nothing(half: Half) -> None:
    events = whole(half)
    strange: list[Event] = [
        (CEREMONY_BEGUN, {"ceremony": "other", "plan": "ff" * 32, "roles": {"signer": "Eve"}}),
        ("sign-begun", {"ceremony": "other", "plan": "ff" * 32, "requests": "ff" * 32}),
        ("signatures-written", {"requests": "ff" * 32, "signatures": "ff" * 32}),
        ("address", {"path": "m", "address": FIRST.lower(), "confirmed": True}),
        ("address", {"path": "m", "address": SECOND, "confirmed": False}),
        ("deployment-pinned", {"name": "mainnet", "fingerprint": "ff" * 32}),
        ("outcome", {"ceremony": "other", "step": "sell", "digest": "0xff", "state": "FILLED", "code": ""}),
        (CEREMONY_ENDED, {"ceremony": "other", "complete": True, "missing": []}),
    ]
    assert stands(*events[:-1], *strange, events[-1], half=half).complete


# ---- what a plan says of a witness binds: who has to be there, and that nobody is two people ------------------------


def witnessed(roles: str = ALL, witness: str = 'witness = "required"') -> Plan:
    return parse_written_plan(written(roles, witness))


def test_what_a_plan_says_of_a_witness_is_part_of_its_fingerprint() -> None:
    silent, none = witnessed('"signer"', ""), witnessed('"signer"', 'witness = "none"')
    three = (silent, none, witnessed('"signer", "witness"'))
    assert [(each.witness, each.requires_witness) for each in three] == [
        ("", False),
        ("none", False),
        ("required", True),
    ]
    assert len({each.fingerprint for each in three}) == 3
    assert witnessed(ALL, "").fingerprint != witnessed(ALL).fingerprint


@pytest.mark.parametrize(
    ("roles", "witness"),
    [
        (ALL, 'witness = "Required"'),
        (ALL, "witness = true"),
        (ALL, 'witness = "none"'),
        ("", 'witness = "required"'),
        ('"signer"', 'witness = "required"'),
        ('"witness"', 'witness = "required"'),
        ('"signer", "facilitator"', 'witness = "required"'),
    ],
)
def test_a_plan_that_contradicts_itself_is_refused_at_its_line(roles: str, witness: str) -> None:
    error = error_of(PlanError, witnessed, roles, witness)
    assert (error.check, error.where) == ("PLAN-FORM", "ceremony.witness, line 8")
    assert [mistake.error.where for mistake in find_mistakes(written(roles, witness))] == ["ceremony.witness"]


@pytest.mark.parametrize(
    ("people", "what"),
    [
        ({}, "no ceremony with this plan is open"),
        (NAMES | {"witness": ""}, "a role is held by nobody"),
        (NAMES | {"signer": ""}, "a role is held by nobody"),
        ({"signer": "Ada Lovelace"}, "a role is held by nobody"),
    ],
)
def test_without_its_people_a_plan_that_requires_them_is_refused(people: dict[str, str], what: str) -> None:
    found = people_are_present.run(Attended(witnessed(), people))
    assert (found.result, found.what) == ("refused", what)
    header = parse_requests(to_bytes(whole_document()))[0]  # the judge of a document asks for it
    where = situation()._replace(plan=vectors_plan()._replace(witness="required"))
    for known, result in ((None, "not-judged"), (people, "refused"), (NAMES, "pass")):
        verdicts = {each.check: each.result for each in judge_header(header, where, Known(people=known)).found}
        assert verdicts["PLAN-PEOPLE"] == result


def test_the_people_are_those_of_the_open_ceremony_of_this_very_plan() -> None:
    of = witnessed()
    assert people_of(chain(begun(of)), of) == NAMES
    assert people_of(chain(begun(of), ended()), of) == {}
    assert people_of(chain(begun(witnessed(ALL, ""))), of) == {}
    assert people_of(chain(begun(of), begun(witnessed(ALL, ""))), of) == {}
    assert people_of([], of) == {}


@pytest.mark.parametrize("role", ["signer", "witness"])
def test_it_is_not_begun_without_a_name_for_the_signer_and_the_witness(role: str) -> None:
    assert check_of(check_people, NAMES | {role: ""}, witnessed()) == "ROLE-TEXT"
    check_people(NAMES | {role: ""}, witnessed(ALL, ""))
    check_people(NAMES | {"facilitator": ""}, witnessed())


@pytest.mark.parametrize("alike", ["Ada Lovelace", "ADA LOVELACE", "AdaLovelace", "Аda Lovelace", "A da Love lace"])
def test_one_person_who_signs_here_and_witnesses_there_is_told(alike: str) -> None:
    told = rules.differences(NAMES, NAMES | {"signer": "Mary Somerville", "witness": alike})
    assert f"the signer is Ada Lovelace on the air-gapped machine, and {NAMES['witness']} on the online machine" in told
    assert any(line.startswith("Ada Lovelace is signer on the air-gapped machine, and witness on") for line in told)
    assert any(line.startswith("Mary Somerville is witness on the air-gapped machine, and signer on") for line in told)
