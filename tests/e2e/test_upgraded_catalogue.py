"""A release that ships other structs than people pinned: what they pinned is signed, and told where it differs."""

from __future__ import annotations

import json
from typing import Any

from e2e.conftest import BothMachines, Ledger


def _older(desk: BothMachines) -> dict[str, Any]:
    """Return the deployment as a release would have written it that shipped ``DelegateReq`` with a narrower expiry."""
    document: dict[str, Any] = json.loads(desk.path("deployment.json").read_bytes())
    delegate = document["signed"]["structs"]["DelegateReq"]
    assert "uint256 expiry" in delegate["encode_type"]
    delegate["encode_type"] = delegate["encode_type"].replace("uint256 expiry", "uint64 expiry")
    return document


def _shown(ended: Any) -> str:
    return " ".join((ended.out + ended.err).split())


def test_what_is_pinned_has_all_that_is_signed(desk: BothMachines) -> None:
    pinned = json.loads((desk.path("offline-home") / "pins/rehearsal.json").read_bytes())
    assert len(pinned["signed"]["structs"]) > 10
    assert len(pinned["signed"]["calls"]) > 10
    again = desk.offline("trust", desk.path("deployment.json"))
    assert (again.code, "nothing to do" in _shown(again)) == (0, True)
    assert "signed:" not in _shown(again)


def test_what_an_older_release_pinned_is_told_and_nothing_else_is_signed_under_it(
    desk: BothMachines, ledger: Ledger
) -> None:
    plan, requests = desk.prepare("delegate-key")
    desk.path("older.json").write_text(json.dumps(_older(desk)))
    refused = desk.offline("trust", desk.path("older.json"), typed="no\n")
    said = _shown(refused).replace(" + ", " ")
    assert refused.code == 6, said
    assert "DelegateReq: member expiry is uint64 (ships: uint256)" in said
    assert "DelegateReq: its type hash is 0x" in said
    pinned = desk.offline("trust", desk.path("older.json"), typed="Yes\n")
    assert pinned.code == 0, pinned.err
    verified = desk.offline("verify", requests, "--plan", plan)
    assert (verified.code, "PIN-DEPLOYMENT" in _shown(verified)) == (3, True)
    assert "TYPES-PINNED" in _shown(verified)
    signatures = desk.path("signatures.json")
    ended = desk.offline("sign", requests, "--plan", plan, "-o", signatures, "--emulator", ledger.port, typed="Yes\n")
    assert (ended.code, signatures.exists()) == (3, False), _shown(ended)


def test_a_deployment_that_does_not_say_what_is_signed_is_not_pinned(desk: BothMachines) -> None:
    document = _older(desk)
    del document["signed"]
    desk.path("bare.json").write_text(json.dumps(document))
    ended = desk.offline("trust", desk.path("bare.json"), typed="Yes\n")
    assert (ended.code, "signed" in _shown(ended), "DOC-FIELD" in _shown(ended)) == (4, True, True), _shown(ended)
