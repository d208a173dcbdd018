"""Every check has an id, a row in the table and a list in which it runs, and is needed: nothing else refuses its vector."""

import importlib
import pkgutil
import re
from pathlib import Path
from types import ModuleType

import pytest

import airlock_shared
from airlock_shared import checks
from airlock_shared.checks import agreement, foreseen, times, transaction
from airlock_shared.checks import intent as payload
from airlock_shared.checks import judge as judge_module
from airlock_shared.checks.catalogue import ALL_CHECKS, CHECKS_BY_ID, READINGS
from airlock_shared.checks.catalogue import FAMILIES as CATALOGUED
from airlock_shared.checks.judge import SIG_CHECKS, Verdicts
from airlock_shared.checks.model import Check, Verdict
from shared.world import RESULTS, examined_of, good, vectors

WORKSPACE = Path(__file__).resolve().parents[2]
SOURCES = (Path(airlock_shared.__file__).parent, WORKSPACE / "offline/src")
IDS_IN_SOURCE = re.compile(
    r'"((?:DOC|QR|PIN|AIRGAP|KIT|ROLE|REPORT|PROOF|DOMAIN|TYPES|MSG|DIGEST|ENC|SIGNER|PLAN|TIME|NONCE|TX|AUTH|ORDER|SIG|TEXT)-[A-Z0-9-]+)"'
)
RAISED = re.compile(
    r'\b(?:Refusal|DocumentError|PlanError|plan_error|Check|Verdict|damaged|_damaged|_wrong)\(\s*"([A-Z]+-[A-Z-]+)"'
)

BAD = [*vectors("requests/bad"), *vectors("transactions/bad"), *vectors("authorizations/bad")]
FOR_INTENTS = {check.id for check in (*payload.BEFORE_MESSAGE, *judge_module.OF_INTENTS)}
FOR_CALLS = {check.id for check in (*agreement.STEP_CHECKS, *transaction.CHECKS, *judge_module.OF_CALLS)}
TABLED = FOR_INTENTS | FOR_CALLS | {check.id for check in (*times.EXPIRY_CHECKS, *transaction.AUTHORIZATION_CHECKS)}
MSG_IDS = {check.id for check in payload.MSG_CHECKS}
NEVER_ALONE = {  # another check stands behind each of these, and refuses too
    "TYPES-KNOWN": "an unknown struct is not the planned one either: PLAN-ACTION",
    "TIME-UNIT": "a time in the wrong unit is also too early or too late: it is there to name the mistake",
    "TX-UNLIMITED": "an unlimited approval is not the planned amount either: PLAN-FIELD; bounds are asked for in vain",
    "TEXT-SCRIPT": "another code is not the planned one either: PLAN-FIELD; it is there to name the trick",
}


def _ids(pattern: re.Pattern[str]) -> set[str]:
    paths = [path for folder in SOURCES for path in folder.rglob("*.py") if path.name != "catalogue.py"]
    return {match for path in paths for match in pattern.findall(path.read_text())}


def test_every_id_that_is_raised_is_in_the_table_and_every_one_of_the_table_is_raised() -> None:
    assert _ids(RAISED) | _ids(IDS_IN_SOURCE) <= set(CHECKS_BY_ID)
    described = {check for family in CATALOGUED.values() for check in family.raised}
    assert described <= _ids(IDS_IN_SOURCE)
    assert set(CHECKS_BY_ID) - described == {check.id for check in (*ALL_CHECKS, *READINGS)}


def test_every_check_that_runs_is_in_the_table() -> None:
    items = [examined_of(good("open")), examined_of(good("desk-key")), examined_of(good("approve", "transactions"))]
    items.append(examined_of(good("give", "authorizations")))
    ran = {verdict.check for item in items for verdict in item.verdicts.found}
    assert ran | {check.id for check in SIG_CHECKS} <= set(CHECKS_BY_ID)
    known_elsewhere = {"NONCE-USED", "NONCE-REPLACES", "NONCE-PENDING", "NONCE-BATCH", "PROOF-DELEGATE"}
    tabled = TABLED | MSG_IDS | {check.id for check in transaction.CALL_CHECKS}
    tabled |= {check.id for check in transaction.FORM_CHECKS}
    assert tabled | known_elsewhere == ran
    of_documents = {
        "PIN-DEPLOYMENT", "PIN-REHEARSAL", "PIN-HEAD", "PLAN-FINGERPRINT", "PLAN-NAME", "PLAN-PEOPLE", "PLAN-STEPS",
        "TIME-CLOCK",
    }  # fmt: skip
    assert {check.id for check in ALL_CHECKS} == TABLED | known_elsewhere | of_documents


FOR_INTENTS_ALONE = dict.fromkeys(("TIME-REMAINING", "TIME-HORIZON"), "no call has a deadline") | {
    "TIME-STAMP": "no call has a stamp",
    "TIME-OPENED": "no call says when a position was opened",
    "ORDER-TYPE": "the market's order type stands beside an intent",
    "ORDER-OPEN": "TX-PAIR says it of a call",
    "SIGNER-RULE": "a rule stands beside an intent",
    "SIGNER-ALLOWED": "TX-TRADER says it of a call",
    "SIGNER-DELEGATE": "TX-DELEGATE says it of a call",
}
"""Why a check of the modules that intents and calls share does not run for calls."""
NEEDS_A_PAYLOAD = dict.fromkeys(
    ("PLAN-STEP", "PLAN-ACTION", "PLAN-REQUEST", "PLAN-FIELD", "SIGNER-RULE", "SIGNER-PLANNED", "ORDER-ROUTE", "TX-KEYS",
     "TX-CHAIN", "TX-TO", "TX-FROM", "TX-VALUE", "TX-GAS", "TX-NONCE"), "it compares a payload with the plan or the pin",
) | {
    "SIGNER-DELEGATE": "it judges what was read at the builder", "TX-DELEGATE": "it judges what was read at the builder",
    "TIME-HORIZON": "a deadline that is too far away today may be near enough on the day",
    "TIME-STAMP": "the builder writes it",
    "TEXT-SCRIPT": "the plan's reader refuses another code than plain ASCII or 32 bytes in hex",
    "TX-FEES": "foreseen where the plan has no limit; the fees come with the payload",
}  # fmt: skip
"""Why ``plan check`` cannot foresee a check over an item: what has to be there first."""


def _defined(module: ModuleType) -> list[Check]:
    return [value for value in vars(module).values() if isinstance(value, Check)]


def test_a_check_that_is_written_is_in_a_list() -> None:
    names = [f"{checks.__name__}.{found.name}" for found in pkgutil.iter_modules(checks.__path__)]
    written = {check.id for name in names for check in _defined(importlib.import_module(name))}
    assert len(written) > 40
    assert written - {check.id for check in (*ALL_CHECKS, *READINGS)} == set(), "in no list: it never runs"


def test_a_check_that_intents_and_calls_share_runs_for_both_or_says_why_not() -> None:
    shared = [check.id for check in (*_defined(times), *_defined(agreement)) if check.id != "TIME-CLOCK"]
    assert {each for each in shared if each not in FOR_INTENTS} == set()
    assert {each for each in shared if each not in FOR_CALLS} == set(FOR_INTENTS_ALONE), "say why in FOR_INTENTS_ALONE"


@pytest.mark.parametrize("folder", ["requests/bad", "transactions/bad"])
def test_a_check_that_runs_for_both_has_a_bad_vector_of_each(folder: str) -> None:
    refused = {check for vector in vectors(folder) for check in vector.all_refusals}
    assert sorted((FOR_INTENTS & FOR_CALLS) - refused) == []


def test_a_check_that_a_plan_alone_can_fail_is_foreseen() -> None:
    item_checks = {check.id for module in (times, agreement, transaction) for check in _defined(module)}
    known = {check.id for check in (*foreseen._TIMES, *foreseen._OF_INTENTS, *foreseen._OF_CALLS)}
    known |= {check.id for check in transaction.AUTHORIZATION_CHECKS[:-1]}  # contradictions tells those
    assert item_checks - known - {"TIME-CLOCK"} == set(NEEDS_A_PAYLOAD), (
        "neither in checks/foreseen.py nor in NEEDS_A_PAYLOAD"
    )


def test_without_any_check_a_bad_request_would_slip_through() -> None:
    """Each one refuses something alone, as its vectors show, but for those behind which another one stands."""
    alone = {vector.refusal for vector in BAD if vector.all_refusals == {vector.refusal}}
    assert TABLED - alone == set(NEVER_ALONE)


def test_what_may_be_signed_has_passed_each_check_that_applies() -> None:
    signable = {result for result in RESULTS if Verdicts([Verdict("SIGNER-MATCH", result)]).signable()}
    assert signable == {"pass", "not-applicable"}
