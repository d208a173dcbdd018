"""A call that a venue takes a fee for: native currency goes with it within the plan's limit, and with no other call."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from typing import Any

import pytest
from eth_account.typed_transactions.typed_transaction import TypedTransaction
from hexbytes import HexBytes

from airlock_online.delivery.deliveries import raw_transaction
from airlock_online.delivery.routes.rpc import transaction_hash
from airlock_shared.checks.model import CallCase, Situation
from airlock_shared.checks.second_opinion import opinion_question
from airlock_shared.cli.comparison_lines import plan_lines
from airlock_shared.documents.deployment import Deployment, parse_deployment
from airlock_shared.errors import DocumentError, PlanError, Refusal
from airlock_shared.plan.reader import parse_plan
from airlock_shared.venue.calls import CALLS
from airlock_shared.venue.profile_words import profile_words, resolve_profile
from shared.make_payloads import NOW_MS
from shared.world import DEPLOYMENT_TEXT, VECTORS, confirm, examined_of, good, refusals, to_bytes

FOLDER = "transactions"
LIMIT_WEI = 500_000_000_000_000
PLAN = (VECTORS / "transactions/plan.toml").read_text()
CALL = "updateOpenLimitOrder"
FEES: dict[str, Any] = {
    "format": "airlock/venue-signed@1",
    "structs": {},
    "calls": {
        CALL: {
            "signature": CALLS[CALL].signature,
            "leaves": {each.path: each.kind for each in CALLS[CALL].fields},
            "value": "fee",
        }
    },
}


def _deployed(profile: dict[str, Any] = FEES) -> Deployment:
    document = {**json.loads(DEPLOYMENT_TEXT), "signed": resolve_profile(profile)}
    return parse_deployment(to_bytes(document))


def _plan_text(limit: str | None) -> bytes:
    line = "" if limit is None else f"native_fee_at_most = {limit}\n"
    return PLAN.replace("max_fee_gwei_at_most", f"{line}max_fee_gwei_at_most", 1).encode()


def _situation(limit: str | None = '"0.0005"', deployment: Deployment | None = None) -> Situation:
    return Situation(parse_plan(_plan_text(limit)), deployment or _deployed(), NOW_MS)


def _sending(value: str, step: str = "limit-update") -> dict[str, Any]:
    document = copy.deepcopy(good(step, FOLDER))
    document["requests"][0]["payload"]["value"] = value
    return document


@dataclass(frozen=True)
class Sent:
    """A value, the step that sends it, the plan's limit."""

    value: str
    step: str = "limit-update"
    limit: str | None = '"0.0005"'


@pytest.mark.parametrize("value", ["0x0", "0", "0x", "0x1", "0x01", hex(LIMIT_WEI), "0x" + f"{LIMIT_WEI:064x}"])
def test_a_fee_within_the_plan_s_limit_is_signed_by_a_trader_and_by_a_delegate(value: str) -> None:
    for step in ("limit-update", "limit-update-desk"):
        found = examined_of(_sending(value, step), _situation())
        assert found.verdicts.blocking() == [], value
        assert isinstance(found.case, CallCase)
        confirm(found.case)


REFUSED = {
    "one wei too much": Sent(hex(LIMIT_WEI + 1)),
    "an ether": Sent(hex(10**18)),
    "the whole word": Sent("0x" + 64 * "f"),
    "a limit of nothing": Sent("0x1", limit='"0"'),
    "a plan without the limit": Sent("0x1", limit=None),
    "an approval, within the limit": Sent("0x1", "approve"),
    "a registration, within the limit": Sent("0x1", "delegate-set"),
    "a decimal number": Sent("1"),
    "a longer word": Sent("0x" + 66 * "0"),
    "an odd zero in front": Sent("0x001"),
    "a sign": Sent("-0x1"),
    "a space": Sent(" 0x1"),
    "another alphabet's digit": Sent("0x\u0661"),
    "nothing": Sent(""),
}


@pytest.mark.parametrize("sent", REFUSED.values(), ids=REFUSED.keys())
def test_anything_else_is_refused_and_has_no_hash(sent: Sent) -> None:
    found = examined_of(_sending(sent.value, sent.step), _situation(sent.limit))
    assert refusals(found.verdicts.all()) == {"TX-VALUE"}
    assert found.digest == b""


def test_what_is_signed_is_what_eth_account_makes_of_it_and_another_value_is_another_hash() -> None:
    digests = set()
    for wei in (0, 1, LIMIT_WEI):
        found = examined_of(_sending(hex(wei)), _situation())
        assert isinstance(found.case, CallCase)
        request = found.case.request
        assert request.transaction is not None
        fields = {name: request.payload[name] for name in ("to", "data", "chainId")} | request.transaction._asdict()
        library = TypedTransaction.from_dict({**fields, "type": 2, "value": wei, "accessList": []})
        assert bytes(library.hash()) == found.case.digest
        raw = raw_transaction(request.payload, request.transaction, bytes([1] * 32 + [2] * 32 + [27]))
        signed = TypedTransaction.from_bytes(HexBytes(raw)).as_dict()
        assert signed["value"] == wei
        digests.add((found.case.digest, transaction_hash(raw)))
    assert len(digests) == 3


# ---- the plan -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "check"),
    [
        ('"-1"', "PLAN-OWN-LIMIT"),
        ("0.1", "PLAN-AMOUNT"),
        ('"0.1 ETH"', "PLAN-AMOUNT"),
        ('"0.0000000000000000001"', "PLAN-AMOUNT"),
    ],
)
def test_a_limit_that_is_no_amount_is_refused(limit: str, check: str) -> None:
    with pytest.raises(PlanError) as refused:
        parse_plan(_plan_text(limit))
    assert refused.value.check == check
    assert "native_fee_at_most" in refused.value.where


# ---- the profile ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["", "any", "Fee", "0x1", "fee "])
def test_there_is_no_other_word_for_what_is_sent(word: str) -> None:
    profile = copy.deepcopy(FEES)
    profile["calls"][CALL]["value"] = word
    with pytest.raises(DocumentError) as refused:
        resolve_profile(profile)
    assert (refused.value.check, refused.value.where) == ("DOC-VENUE", f"calls.{CALL}.value")


def test_no_fee_goes_with_the_token_s_approval() -> None:
    approve = CALLS["approve"]
    leaves = {each.path: each.kind for each in approve.fields}
    entry = {"signature": approve.signature, "leaves": leaves, "value": "fee"}
    with pytest.raises(DocumentError) as refused:
        resolve_profile({**FEES, "calls": {"approve": entry}})
    assert refused.value.check == "DOC-VENUE"
    whole = json.loads(DEPLOYMENT_TEXT)
    whole["signed"]["calls"]["approve"]["value"] = "fee"  # of an online machine that resolved nothing
    with pytest.raises(DocumentError) as refused:
        parse_deployment(json.dumps(whole).encode())
    assert refused.value.check == "DOC-VENUE"


def test_without_a_profile_no_limit_lets_anything_be_sent() -> None:
    shipped = parse_deployment(DEPLOYMENT_TEXT.encode())
    found = examined_of(_sending("0x1"), _situation(deployment=shipped))
    assert refusals(found.verdicts.all()) == {"TX-VALUE"}


def test_a_library_that_is_asked_about_another_value_disagrees() -> None:
    found = examined_of(_sending("0x5"), _situation())
    assert isinstance(found.case, CallCase)
    assert opinion_question(found.case)["transaction"]["value"] == 5
    with pytest.raises(Refusal) as refused:
        confirm(found.case._replace(digest=examined_of(_sending("0x6"), _situation()).digest))
    assert refused.value.check == "TX-DISAGREE"


def test_the_plan_s_lines_and_its_fingerprint_have_the_limit() -> None:
    without, with_limit = parse_plan(_plan_text(None)), parse_plan(_plan_text('"0.0005"'))
    assert without.fingerprint != with_limit.fingerprint
    assert "  native fee at most  0.0005 of the native currency" in list(plan_lines(with_limit))
    assert not any("native fee" in line for line in plan_lines(without))


def test_people_who_pin_it_read_that_the_call_takes_a_fee() -> None:
    lines = list(profile_words(_deployed().signed))
    assert lines == [f"call {CALL}: native currency may be sent with it as a fee, within the plan's native_fee_at_most"]
