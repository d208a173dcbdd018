"""A pinned struct is compared whole: what differs is shown old beside new and asked, and nothing is replaced in silence."""

from __future__ import annotations

import json

import pytest

from commands import FinishedCommand
from e2e.conftest import BothMachines

TEXT = "MoveReq(address trader,uint256 until,uint256 nonce)"
GOOD = {"domain": "trading", "trader": "trader", "nonce": "nonce", "deadline": "until", "signer-rule": "trader-only",
        "route": "relayer"}  # fmt: skip


def _trust(desk: BothMachines, text: str = TEXT, typed: str = "Yes\n", **change: str) -> FinishedCommand:
    members = GOOD | {name.replace("_", "-"): value for name, value in change.items()}
    words = [word for name, value in members.items() for word in (f"--{name}", value)]
    return desk.offline("trust-struct", text, "--deployment", "rehearsal", *words, "--json", typed=typed)


def _pins(desk: BothMachines) -> list[dict[str, str]]:
    lines = (desk.path("offline-home") / "structs/rehearsal.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def _recorded(desk: BothMachines) -> list[dict[str, object]]:
    lines = (desk.path("offline-home") / "transcript.jsonl").read_text().splitlines()
    return [entry["data"] for entry in map(json.loads, lines) if entry["event"] == "struct-pinned"]


CHANGES = [
    ({"domain": "referral"}, "signed under the trading domain", "signed under the referral domain"),
    ({"signer_rule": "trader-or-delegate"}, "domain, trader-only,", "domain, trader-or-delegate,"),
    ({"route": "core-api"}, "sent to relayer", "sent to core-api"),
    ({"deadline": ""}, "until added: uint256, deadlineMs:", "until added: uint256, raw:"),
    ({"nonce": "until", "deadline": "nonce"}, "nonce added: uint256, nonce:", "until added: uint256, nonce:"),
    ({"text": "MoveReq(address trader,uint256 until,uint256 nonce,bool now)"}, TEXT, "uint256 nonce,bool now)"),
]


@pytest.mark.parametrize(("change", "old", "new"), CHANGES)
def test_what_differs_is_shown_old_beside_new_asked_and_recorded_with_both(
    desk: BothMachines, change: dict[str, str], old: str, new: str
) -> None:
    assert _trust(desk).code == 0
    ended = _trust(desk, **change)
    assert (ended.code, ended.json()["pinned_already"]) == (0, False), ended.err
    shown = [line for line in ended.err.splitlines() if line.startswith(("- ", "+ "))]
    before, after = (" ".join(line[2:].strip() for line in shown if line[0] == mark) for mark in "-+")
    assert (old in before, old in after, new in before, new in after) == (True, False, False, True)
    first, second = _pins(desk)
    assert first != second
    assert _recorded(desk)[-1] == {"deployment": "rehearsal", **second, "replaced": first}
    assert "nothing to do" in _trust(desk, typed="", **change).err


@pytest.mark.parametrize("typed", ["", "yes\n"])
@pytest.mark.parametrize(("change", "old", "new"), CHANGES[-1:])
def test_without_a_yes_the_old_pin_stays(
    desk: BothMachines, typed: str, change: dict[str, str], old: str, new: str
) -> None:
    assert _trust(desk).code == 0
    assert _trust(desk, typed=typed, **change).code != 0
    assert len(_pins(desk)) == len(_recorded(desk)) == 1


@pytest.mark.parametrize("name", ["bytes33", "function", "Move$Req"])
def test_a_struct_that_is_named_like_a_type_is_not_pinned_and_not_hashed(desk: BothMachines, name: str) -> None:
    ended = _trust(desk, TEXT.replace("MoveReq", name))
    assert ended.code in (2, 3), ended.err
    assert not (desk.path("offline-home") / "structs").exists()
    document = {
        "types": {"Order": [{"name": "x", "type": name}], name: [{"name": "y", "type": "uint256"}]},
        "primaryType": "Order", "domain": {"name": "d"}, "message": {"x": {"y": "1"}},
    }  # fmt: skip
    desk.path("typed.json").write_text(json.dumps(document))
    ended = desk.offline("digest", desk.path("typed.json"))
    assert (ended.code, "TYPES-FORM" in ended.err, ended.out) == (3, True, "")


WIDE = "MoveReq(address trader,uint256 until,uint256 nonce,uint24 fee,int40 tick)"
PLAN = """format = "airlock/plan@1"

[ceremony]
id = "move-2026"
title = "Move"
deployment = "rehearsal"

[limits]
deadline_at_most = "30m"

[signers.treasury]
address = "0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D"
path = "m/44'/60'/0'/0/0"

[[steps]]
id = "move"
action = "custom"
signer = "treasury"
fields = { struct = "MoveReq", trader = "0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D", fee = "1", tick = "-1" }
"""


def _check(desk: BothMachines, text: str = PLAN) -> FinishedCommand:
    desk.path("move.plan.toml").write_text(text)
    return desk.offline("plan", "check", desk.path("move.plan.toml"), "--json")


def test_widths_that_the_ledger_refuses_are_told_when_the_struct_is_pinned_and_when_a_plan_is_checked(
    desk: BothMachines,
) -> None:
    assert _check(desk).code == 0
    ended = _trust(desk, WIDE)
    assert (ended.code, ended.json()["refused_by_ledger"]) == (0, ["MoveReq.tick (int40)"])
    said = " ".join(ended.err.split())
    assert "takes signed integers of 8, 16, 32, 64, 128, 256 bits alone, and not MoveReq.tick (int40)" in said
    assert "Raw messages" not in said
    checked = _check(desk)
    assert checked.code == 2, checked.err
    [mistake] = checked.json()["mistakes"]
    assert (mistake["check"], mistake["line"], mistake["got"]) == (
        "PLAN-WIDTH", 19, "MoveReq.tick (int40)"
    )  # fmt: skip
    by_hashes = PLAN.replace("\n[[steps]]", 'show = "hashes"\n\n[[steps]]')
    assert _check(desk, by_hashes).code == 0
    assert _check(desk, PLAN.replace('"MoveReq"', '"OtherReq"')).code == 0


def test_a_struct_that_the_ledger_signs_over_another_hash_is_not_pinned(desk: BothMachines) -> None:
    held = ",".join(f"uint256 m{number}" for number in range(16))
    ended = _trust(desk, f"MoveReq(address trader,uint256 until,uint256 nonce,Held held)Held({held})")
    assert (ended.code, "DIGEST-LEDGER" in ended.err, "16 members" in ended.err) == (3, True, True), ended.err
    assert not (desk.path("offline-home") / "structs").exists()


@pytest.mark.parametrize(
    ("fields", "check", "said"),
    [
        ('fee = "1", tick = "2", more = "1"', "PLAN-FIELD", "the struct has no such field"),
        ('fee = "1"', "PLAN-UNDECIDED", "no rule decides this field"),
    ],
)
def test_a_plan_whose_custom_step_does_not_fit_what_is_pinned_is_told_so_at_once(
    desk: BothMachines, fields: str, check: str, said: str
) -> None:
    assert _trust(desk, WIDE.replace("int40", "int64")).code == 0
    checked = _check(desk, PLAN.replace('fee = "1", tick = "-1"', fields))
    [mistake] = checked.json()["mistakes"]
    assert (checked.code, mistake["check"], mistake["line"], mistake["what"]) == (2, check, 19, said)


# ---- a pin that changed on the disk ------------------------------------------------------------------------------


def test_a_pinned_deployment_that_changed_on_the_disk_is_refused(desk: BothMachines) -> None:
    plan, requests = desk.prepare("market-close")
    assert desk.offline("verify", requests, "--plan", plan).code == 0
    pin = desk.path("offline-home") / "pins/rehearsal.json"
    document = json.loads(pin.read_text())
    document["fetched_at"] = "2026-01-01T00:00:00Z"
    pin.write_text(json.dumps(document))
    ended = desk.offline("verify", requests, "--plan", plan)
    assert (ended.code, "PIN-DEPLOYMENT" in ended.err, "its file was changed" in " ".join(ended.err.split())) == (
        3,
        True,
        True,
    )


def test_a_deployment_that_nobody_agreed_to_on_record_is_not_in_force(desk: BothMachines) -> None:
    plan, requests = desk.prepare("market-close")
    for path in desk.path("offline-home").glob("transcript*"):
        path.unlink()
    ended = desk.offline("verify", requests, "--plan", plan)
    assert (ended.code, "PIN-DEPLOYMENT" in ended.err, "nobody agreed to one" in ended.err) == (3, True, True), ended


@pytest.mark.parametrize("change", ["another domain", "one more", "the older last", "the older alone"])
def test_a_pinned_struct_that_changed_on_the_disk_is_refused(desk: BothMachines, change: str) -> None:
    assert _trust(desk).code == 0
    assert _trust(desk, domain="referral").code == 0
    assert _check(desk, PLAN.replace(', fee = "1", tick = "-1"', "")).code == 0
    pins = desk.path("offline-home") / "structs/rehearsal.jsonl"
    first, second = pins.read_text().splitlines()
    changed = {"another domain": [first, second.replace("referral", "trading")], "one more": [first, second, first],
               "the older last": [second, first], "the older alone": [first]}[change]  # fmt: skip
    pins.write_text("\n".join(changed) + "\n")
    ended = _check(desk, PLAN.replace(', fee = "1", tick = "-1"', ""))
    assert (ended.code, "PIN-DEPLOYMENT" in ended.out) == (3, True), ended
