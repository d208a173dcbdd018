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


def test_the_same_pin_again_is_nothing_to_do(desk: BothMachines) -> None:
    assert _trust(desk).code == 0
    again = _trust(desk, typed="")
    assert (again.code, again.json()["pinned_already"], "nothing to do" in again.err) == (0, True, True)
    assert len(_pins(desk)) == len(_recorded(desk)) == 1


CHANGES = [
    ({"domain": "referral"}, "domain", "trading", "referral"),
    ({"signer_rule": "trader-or-delegate"}, "signer_rule", "trader-only", "trader-or-delegate"),
    ({"deadline": ""}, "deadline", "until", "none"),
    ({"nonce": "until", "deadline": "nonce"}, "nonce", "nonce", "until"),
    ({"text": "MoveReq(address trader,uint256 until,uint256 nonce,bool now)"}, "encode_type", TEXT, "bool now"),
]


@pytest.mark.parametrize(("change", "member", "old", "new"), CHANGES)
def test_what_differs_is_shown_old_beside_new_asked_and_recorded_with_both(
    desk: BothMachines, change: dict[str, str], member: str, old: str, new: str
) -> None:
    assert _trust(desk).code == 0
    ended = _trust(desk, **change)
    assert (ended.code, ended.json()["pinned_already"]) == (0, False), ended.err
    shown = [line for line in ended.err.splitlines() if line.startswith(("- ", "+ "))]
    assert any(line.startswith(f"- {member}") and old in line for line in shown)
    assert any(line.startswith(f"+ {member}") and new in line for line in shown)
    first, second = _pins(desk)
    assert first != second
    assert _recorded(desk)[-1] == {"deployment": "rehearsal", **second, "replaced": first}
    assert "nothing to do" in _trust(desk, typed="", **change).err


@pytest.mark.parametrize("typed", ["", "no\n", "yes\n", "y\n"])
@pytest.mark.parametrize(("change", "member", "old", "new"), CHANGES[:1] + CHANGES[-1:])
def test_without_a_yes_the_old_pin_stays(
    desk: BothMachines, typed: str, change: dict[str, str], member: str, old: str, new: str
) -> None:
    assert _trust(desk).code == 0
    assert _trust(desk, typed=typed, **change).code != 0
    assert len(_pins(desk)) == len(_recorded(desk)) == 1


@pytest.mark.parametrize("name", ["bytes33", "uint7", "function", "fixed128x18", "mapping", "tuple", "Move$Req"])
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
