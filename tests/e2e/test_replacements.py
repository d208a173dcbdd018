"""A signed transaction that was never sent locks nothing: the plan names what replaces it, and only the plan."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from airlock_shared.plan.reader import parse_plan
from commands import FinishedCommand
from e2e.conftest import BothMachines, Ledger
from e2e.transaction_requests import FILLED, write_transaction
from shared.make_payloads import seal

EITHER = "Either of the two may execute; the online machine chooses."
MAX_FEE = FILLED["maxFeePerGas"]


def _sign(
    desk: BothMachines, ledger: Ledger, plan: Path, requests: Path, name: str
) -> tuple[FinishedCommand, dict[str, Any]]:
    output = desk.path(f"{name}.json")
    words = ("--plan", plan, "-o", output, "--emulator", ledger.port, "--json")
    ended = desk.offline("sign", requests, *words, typed="Yes\n" * 4)
    return ended, json.loads(output.read_text())["signatures"][0] if output.exists() else ended.json()["steps"][0]


def _emergency(desk: BothMachines, named: str, ceremony: str = "emergency", **filled: int) -> tuple[Path, Path]:
    """Write a revocation of the approval, in a ceremony of its own, whose step replaces the digest that is named."""
    _, requests, _ = write_transaction(desk.folder, desk.path("deployment.json"), 0)
    text = desk.path("keeper.plan.toml").read_text().replace('id = "keeper"', f'id = "{ceremony}"')
    text = text.replace('id = "approve"', 'id = "revoke"' + (f'\nreplaces = "{named}"' if named else ""))
    text = text.replace('"2500.5"', '"0"')
    document = json.loads(requests.read_text())
    document["header"] |= {"ceremony": ceremony, "plan": parse_plan(text.encode()).fingerprint}
    [item] = document["requests"]
    item |= {"step": "revoke", "transaction": FILLED | filled}
    item["fields"]["amountUsdc"] = "0"
    plan, changed = desk.path(f"{ceremony}.plan.toml"), desk.path(f"{ceremony}.requests.json")
    plan.write_text(text)
    changed.write_text(json.dumps(document))
    return plan, changed


def _first(desk: BothMachines, blind: Ledger) -> str:
    plan, requests, _ = write_transaction(desk.folder, desk.path("deployment.json"))
    ended, signed = _sign(desk, blind, plan, requests, "first")
    assert ended.code == 0, ended.err
    return str(signed["digest"])


def test_an_emergency_that_the_plan_names_takes_the_account_nonce_of_what_was_never_sent(
    desk: BothMachines, blind: Ledger
) -> None:
    old = _first(desk, blind)
    plan, requests = _emergency(desk, old)
    assert desk.offline("verify", requests, "--plan", plan).code == 0
    ended, signed = _sign(desk, blind, plan, requests, "second")
    assert (ended.code, signed["result"]) == (0, "signed"), ended.err
    after = ended.err[ended.err.index("REPLACES (named by the plan") :]
    assert "step approve of ceremony keeper" in after
    assert "step revoke of ceremony emergency" in after
    assert f"nonce {FILLED['nonce']}" in after
    assert EITHER in after
    assert old in desk.path("offline-home/transcript.jsonl").read_text()
    # one at a time: a third names the second, not the first
    late = _emergency(desk, old, "late", maxFeePerGas=MAX_FEE + 1)
    assert "NONCE-USED" in _sign(desk, blind, late[0], late[1], "late")[0].err
    third = _emergency(desk, signed["digest"], "third", maxFeePerGas=MAX_FEE + 1)
    ended, signed = _sign(desk, blind, third[0], third[1], "third")
    assert (ended.code, signed["result"]) == (0, "signed"), ended.err
    assert "Any one of these 3 may execute" in ended.err


def test_without_the_plans_word_the_account_nonce_is_refused_and_the_line_for_the_plan_is_told(
    desk: BothMachines, blind: Ledger
) -> None:
    old = _first(desk, blind)
    plan, requests = _emergency(desk, "")
    ended, signed = _sign(desk, blind, plan, requests, "second")
    assert (ended.code, signed["why"]) == (3, "NONCE-USED"), ended.err
    told = " ".join(ended.err.split())
    assert "this account nonce was signed before" in told
    assert f'replaces="{old}"' in told.replace(" ", "")


@pytest.mark.parametrize(
    ("named", "filled", "check"), [("0x" + "00" * 32, {}, "NONCE-REPLACES"), ("", {"nonce": 4}, "NONCE-REPLACES")]
)
def test_what_is_no_replacement_of_the_named_one_is_refused(
    desk: BothMachines, blind: Ledger, named: str, filled: dict[str, int], check: str
) -> None:
    old = _first(desk, blind)
    plan, requests = _emergency(desk, named or old, "emergency", **filled)
    told = desk.offline("verify", requests, "--plan", plan, "--json")
    refused = {row["check"] for row in told.json()["items"][0]["checks"] if row["result"] == "refused"}
    assert (told.code, check in refused) == (3, True)
    ended, signed = _sign(desk, blind, plan, requests, "second")
    assert (ended.code, signed["result"], check in ended.err) == (3, "refused", True)


def test_a_steps_own_transaction_is_not_replaced_in_silence(desk: BothMachines, blind: Ledger) -> None:
    _first(desk, blind)
    plan, requests, _ = write_transaction(desk.folder, desk.path("deployment.json"))
    document = json.loads(requests.read_text())
    document["requests"][0]["transaction"] = FILLED | {"maxFeePerGas": MAX_FEE + 1}
    requests.write_text(json.dumps(document))
    ended, signed = _sign(desk, blind, plan, requests, "second")
    assert (ended.code, signed["result"]) == (3, "refused"), ended.err
    assert "NONCE-USED" in ended.err
    assert "NONCE-PENDING" in ended.err


def test_the_request_cannot_name_a_replacement(desk: BothMachines, blind: Ledger) -> None:
    old = _first(desk, blind)
    plan, requests = _emergency(desk, "")
    document = json.loads(requests.read_text())
    document["requests"][0]["route"]["replaces"] = old
    requests.write_text(json.dumps(document))
    ended, signed = _sign(desk, blind, plan, requests, "second")
    assert (ended.code, signed["why"]) == (3, "PLAN-REQUEST")


def test_both_halves_list_what_a_plan_replaces(desk: BothMachines) -> None:
    plan, _ = _emergency(desk, "0x" + "4d" * 32)
    for half in (desk.online, desk.offline):
        told = half("plan", "show", plan)
        assert (told.code, EITHER in told.out, "4d4d 4d4d" in told.out) == (0, True, True)


# ---- an intent, from the builder to the venue -----------------------------------------------------------------------


def _naming(plan: Path, earlier: dict[str, Any]) -> str:
    """Return a plan whose step replaces an earlier signature."""
    before, found, after = plan.read_text().partition('id = "delegate-key"\naction')
    assert found
    return f'{before}id = "delegate-key"\nreplaces = "{earlier["digest"]}"\naction{after}'


def test_a_named_intent_is_replaced_and_the_online_half_shows_and_sends_one(desk: BothMachines, ledger: Ledger) -> None:
    plan, requests = desk.prepare("delegate-key")
    ended, first = _sign(desk, ledger, plan, requests, "first")
    assert ended.code == 0, ended.err
    nonce = json.loads(requests.read_text())["requests"][0]["payload"]["message"]["nonce"]
    text = _naming(plan, first)
    again = desk.path("again.plan.toml")
    fields = text.index("trader =")
    again.write_text(text[:fields] + f"nonce = {nonce}\n" + text[fields:])
    desk.prove(again)
    other = desk.path("again.requests.json")
    prepared = desk.online("prepare", again, "-o", other)
    assert prepared.code == 0, prepared.err
    assert EITHER in prepared.err
    assert f"old {first['digest']}" in prepared.err
    ended, second = _sign(desk, ledger, again, other, "second")
    assert (ended.code, second["result"]) == (0, "signed"), ended.err
    assert EITHER in ended.err
    assert desk.online("submit", desk.path("second.json")).code == 0
    ended = desk.online("submit", desk.path("first.json"))  # the chain has the nonce
    assert ended.code != 0
    assert second["digest"] in "".join(ended.err.split())
    assert "Either of the two may execute" in " ".join(ended.err.split())


def test_the_request_of_a_named_intent_with_another_nonce_is_refused(desk: BothMachines, ledger: Ledger) -> None:
    plan, requests = desk.prepare("delegate-key")
    _, first = _sign(desk, ledger, plan, requests, "first")
    plan.write_text(_naming(plan, first))
    document = json.loads(requests.read_text())
    document["header"]["plan"] = parse_plan(plan.read_bytes()).fingerprint
    document["requests"][0]["payload"]["message"]["nonce"] = "12345"
    seal(document["requests"][0]["payload"])
    requests.write_text(json.dumps(document))
    desk.prove(plan)
    ended, signed = _sign(desk, ledger, plan, requests, "second")
    assert (ended.code, signed["result"]) == (3, "refused"), ended.err
    assert "NONCE-REPLACES" in ended.err
    assert "NONCE-PENDING" in ended.err
