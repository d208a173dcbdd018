"""EIP-7702 authorizations: to a contract that the Ledger signs for, on the pinned chain alone, for one order of the plan."""

import json
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account

from airlock_online.cli.prepare_steps import prepare_plan
from airlock_online.clients.builder import BuilderClient
from airlock_online.clients.http import Http
from airlock_online.delivery.deliveries import element_of
from airlock_online.preparing.kept_payloads import KeptPayloads
from airlock_online.preparing.prepare import Sources
from airlock_shared.checks.foreseen import contradictions
from airlock_shared.checks.nonces import UsedNonces, use_of
from airlock_shared.ethereum.signatures import checksum_address
from airlock_shared.plan.mistakes import Mistake, find_mistakes
from airlock_shared.plan.reader import parse_plan
from airlock_shared.venue.calls import LEDGER_CONTRACTS
from refusals import check_of
from shared.world import PLAN_TEXTS, VECTORS, bad_request, call_case, confirm, good, judge, names, situation, vectors

FOLDER = "authorizations"
BAD = list(vectors(f"{FOLDER}/bad"))
KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"  # of the published test mnemonic
RECORDED = json.loads((VECTORS / "ledger/a-flex-auth-simple.json").read_text())


@pytest.mark.parametrize("step", ["give", "give-for-desk"])
def test_what_the_plan_gives_is_accepted_and_other_libraries_compute_the_same(step: str) -> None:
    document = good(step, FOLDER)
    assert judge(document, situation(FOLDER)) == set()
    case, payload = call_case(step, FOLDER), document["requests"][0]["payload"]
    made = Account.sign_authorization(payload, KEY)
    assert case.digest == bytes(made.authorization_hash)
    assert [decision.decided_by for decision in case.decisions] == ["plan", "plan"]
    confirm(case)
    element = element_of(payload, made.r.to_bytes(32, "big") + made.s.to_bytes(32, "big") + bytes([27 + made.y_parity]))
    assert element["address"] == payload["address"]
    assert {name: int(element[name], 16) for name in ("chainId", "nonce", "yParity", "r", "s")} == {
        "chainId": made.chain_id, "nonce": made.nonce, "yParity": made.y_parity, "r": made.r, "s": made.s,
    }  # fmt: skip


@pytest.mark.parametrize("vector", BAD, ids=names(BAD))
def test_a_bad_one_is_refused_for_its_reason_and_for_no_other(vector: Any) -> None:
    document, where, steps = bad_request(vector)
    found = judge(document, where, steps=steps)
    assert vector.refusal in found
    assert found <= vector.all_refusals


def test_the_list_holds_the_contract_that_the_app_was_recorded_to_sign_for_and_not_the_one_that_it_refused() -> None:
    refused = json.loads((VECTORS / "ledger/a-flex-auth-unknown.json").read_text())
    known = {checksum_address(contract) for contract in LEDGER_CONTRACTS}
    assert known == {RECORDED["input"]["address"]}
    assert refused["input"]["address"] not in known
    assert all(name in RECORDED["screens"][1] for name in LEDGER_CONTRACTS.values())


def test_its_nonce_is_the_account_s_own_and_is_given_once() -> None:
    first, second = use_of(call_case("give", FOLDER)), use_of(call_case("give-for-desk", FOLDER))
    assert (first.contract, first.nonce, second.nonce) == ("", 5, 6)
    used = UsedNonces([first])
    assert used.clash(second) is None
    assert used.clash(second._replace(nonce=5)) == first


def _found(text: str) -> list[Mistake]:
    return find_mistakes(text.encode(), lambda plan: [*contradictions(plan)])


def _mistakes(old: str, new: str) -> list[tuple[str, int]]:
    text = PLAN_TEXTS[FOLDER]
    assert old in text
    return [(found.error.check, found.line) for found in _found(text.replace(old, new, 1))]


def test_plan_check_tells_what_could_not_be_signed_with_its_line() -> None:
    lines = PLAN_TEXTS[FOLDER].splitlines()
    contract, order = next(n for n, t in enumerate(lines, 1) if "contract =" in t), lines.index('order = "close"') + 1
    other = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
    known = RECORDED["input"]["address"]
    assert _found(PLAN_TEXTS[FOLDER]) == []
    assert _mistakes(known, other) == [("AUTH-CONTRACT", contract)]
    [unknown] = _found(PLAN_TEXTS[FOLDER].replace(known, other, 1))
    assert "a release of the Ledger's Ethereum app that has it on its list is missing" in str(unknown.error)
    assert _mistakes('order = "close"', 'order = "stop"') == [("AUTH-ORDER", order)]
    assert _mistakes('order = "close"', 'order = "none"') == [("AUTH-ORDER", order)]
    assert _mistakes('order = "close"', "order = 7") == [("PLAN-FIELD", order)]
    assert _mistakes(known, "0x" + "0" * 40) == [("PLAN-ADDRESS", contract)]
    assert _mistakes("nonce = 5", "nonce = -5")[0][0] == "PLAN-FIELD"
    assert _mistakes("nonce = 5", f"nonce = {2**64 - 1}") == [("AUTH-FORM", contract + 1)]
    assert _mistakes("nonce = 6", "nonce = 5") == [("NONCE-BATCH", lines.index("nonce = 6") + 1)]
    assert _mistakes(f'nonce = "{2**256 - 1}"', "nonce = 5") == []  # of the trading contract: another number


@pytest.mark.parametrize(
    ("old", "new", "check"),
    [
        (RECORDED["input"]["address"], "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", "AUTH-CONTRACT"),
        ("nonce = 5", f"nonce = {2**64 - 1}", "AUTH-FORM"),
        ('order = "close"', 'order = "none"', "AUTH-ORDER"),
    ],
)
def test_what_could_not_be_signed_is_not_prepared(tmp_path: Path, old: str, new: str, check: str) -> None:
    plan, pinned = parse_plan(PLAN_TEXTS[FOLDER].replace(old, new, 1).encode()), situation(FOLDER).deployment
    kept = KeptPayloads(tmp_path, plan.fingerprint, pinned.fingerprint)
    with Http() as client:  # which is asked nothing: the plan says all of it
        sources = Sources(BuilderClient("http://127.0.0.1:1", client))
        assert check_of(prepare_plan, plan, pinned, sources, kept, ["give"]) == check
