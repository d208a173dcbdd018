"""An upgrade that ships other structs than people pinned: nothing is signed until they have read what changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from airlock_shared.catalogue.shipped import SHIPPED
from e2e.conftest import BothMachines, Ledger

OLDER = "0" * 64


def _kept(desk: BothMachines) -> Path:
    (found,) = desk.path("offline-home/shipped").glob("*/*.json")
    assert found.stem == SHIPPED
    return found


def _pinned_by_an_older_release(desk: BothMachines) -> None:
    """Have the pin be one of a release that shipped ``DelegateReq`` with a narrower expiry."""
    kept = _kept(desk)
    whole: dict[str, Any] = json.loads(kept.read_bytes())
    delegate = whole["structs"]["DelegateReq"]
    assert "uint256 expiry" in delegate["encode_type"]
    delegate["encode_type"] = delegate["encode_type"].replace("uint256 expiry", "uint64 expiry")
    kept.unlink()
    kept.with_name(f"{OLDER}.json").write_text(json.dumps(whole))


def _shown(ended: Any) -> str:
    return " ".join((ended.out + ended.err).split())


def test_what_is_pinned_is_kept_with_what_ships(desk: BothMachines) -> None:
    assert len(json.loads(_kept(desk).read_bytes())["structs"]) > 10
    again = desk.offline("trust", desk.path("deployment.json"))
    assert (again.code, "nothing to do" in _shown(again)) == (0, True)


def test_nothing_is_signed_until_people_have_read_what_an_upgrade_changed(desk: BothMachines, ledger: Ledger) -> None:
    plan, requests = desk.prepare("delegate-key")
    _pinned_by_an_older_release(desk)
    signatures = desk.path("signatures.json")
    sign = ("sign", requests, "--plan", plan, "-o", signatures, "--emulator", ledger.port)
    for words in (sign, ("verify", requests, "--plan", plan), ("delegate", "challenge", "--plan", plan)):
        ended = desk.offline(*words, typed="Yes\n")
        assert (ended.code, "an upgrade of Airlock changed what is signed at rehearsal" in _shown(ended)) == (2, True)
    refused = desk.offline("trust", desk.path("deployment.json"), typed="no\n")
    said = _shown(refused)
    assert refused.code == 6, said
    assert "DelegateReq: member expiry is uint64 (ships: uint256)" in said
    assert "DelegateReq: its type hash is 0x" in said
    assert desk.offline(*sign, typed="Yes\n").code == 2
    assert desk.offline("trust", desk.path("deployment.json"), typed="Yes\n").code == 0
    signed = desk.offline(*sign, typed="Yes\nYes\n")
    assert signed.code == 0, signed.err
    assert signatures.exists()


@pytest.mark.parametrize("kept", ["{", '{"format": "airlock/venue-signed@1", "structs": {}, "calls": {}}', ""])
def test_what_cannot_be_read_of_an_older_pin_is_no_reason_to_go_on(desk: BothMachines, kept: str) -> None:
    plan, requests = desk.prepare("referral-code")
    file = _kept(desk)
    file.rename(file.with_name(f"{OLDER}.json")).write_text(kept)
    assert desk.offline("verify", requests, "--plan", plan).code == 2
    asked = desk.offline("trust", desk.path("deployment.json"), typed="no\n")
    assert (asked.code, "An upgrade of Airlock changed what is signed here" in _shown(asked)) == (6, True), _shown(
        asked
    )


def test_a_pin_from_before_there_was_such_a_record_goes_on(desk: BothMachines) -> None:
    plan, requests = desk.prepare("referral-code")
    file = _kept(desk)
    file.unlink()
    file.parent.rmdir()
    assert desk.offline("verify", requests, "--plan", plan).code == 0
