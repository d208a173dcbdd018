"""``sign`` meets every payload under every step, and requests altered at random: it signs or refuses, and never falls."""

import copy
import json
import os
import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from airlock_offline.cli.ceremony import _shown
from airlock_offline.cli.main import program
from airlock_offline.home import OfflineHome
from airlock_offline.signing import sign_item
from airlock_offline.signing.second_opinion import compare_opinion
from airlock_shared.checks.model import Case
from airlock_shared.cli.terminal import LED
from airlock_shared.errors import DeviceError, Refusal
from airlock_shared.venue.structs import AUTHORIZATION
from commands import run_here
from draws import draws, every_nth
from offline.altered_requests import altered_documents
from offline.signing_world import FOLDERS, REHEARSAL, World, document, require_complete


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    return World(tmp_path, monkeypatch)


def _bytes(made: dict[str, Any]) -> bytes:
    return json.dumps(made).encode()


PAYLOADS = [(folder, item) for folder in FOLDERS for item in document(folder)["requests"]]
OF_AN_ITEM = ("step", "action", "signer")
"""What an item says of its step: kept as the step's, or brought along with the payload."""


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize(
    ("came_from", "brought"), [pytest.param(*each, id=each[1]["step"]) for each in every_nth(PAYLOADS, 6)]
)
def test_a_payload_under_a_step_of_another_action_is_refused_and_nothing_falls(
    folder: str, came_from: str, brought: dict[str, Any], world: World
) -> None:
    for kept in (OF_AN_ITEM, ("step",)):
        made = document(folder)
        crossed = [item for item in made["requests"] if item["action"] != brought["action"]]
        for item in crossed:
            own = {name: item[name] for name in kept}
            item.clear()
            item.update(copy.deepcopy(brought) | own)
        ended = world.sign(_bytes(made), folder)
        require_complete(ended, [item["step"] for item in made["requests"]])
        crossing = {brought["action"], *(item["action"] for item in crossed)}
        if ended.results is None:  # an authorization's payload is a form of its own, and such a document is not read
            assert (ended.code, AUTHORIZATION in crossing, kept) == (4, True, OF_AN_ITEM)
            continue
        assert {ended.results[item["step"]] for item in crossed} == {"refused"}
        assert ended.code == 3


SEED = os.environ.get("AIRLOCK_ALTERED_SEED", "812")
COUNT = draws(120, 6000)


def test_requests_altered_at_random_are_signed_or_refused_and_recorded(world: World) -> None:
    print(f"AIRLOCK_ALTERED_SEED={SEED}")
    pick, codes = random.Random(SEED), Counter[int]()
    for made in altered_documents(pick, COUNT, {folder: document(folder) for folder in FOLDERS}):
        ended = world.sign(made.data, made.folder)
        require_complete(ended, made.steps)
        codes[ended.code] += 1
    assert set(codes) >= {3, 4}, codes


@pytest.mark.parametrize(
    ("damage", "check"),
    [
        (lambda data: data[:-200], "DOC-TRUNCATED"),
        (lambda data: data.replace(b'"payload"', b"x", 1), "DOC-JSON"),
        (bytes, "DOC-LINK"),
    ],
)
def test_a_damaged_document_is_refused_with_exit_code_4_and_one_json_document(
    damage: Callable[[bytes], bytes], check: str, world: World
) -> None:
    if check == "DOC-LINK":
        (world.folder / "requests.json").symlink_to(world.folder / "elsewhere.json")
    ended = world.sign(damage(_bytes(document("requests"))), "requests")
    assert (ended.code, check in ended.err, ended.events, ended.results) == (4, True, [], None)
    words = ("verify", world.folder / "requests.json", "--plan", world.folder / "requests.toml", "--json")
    told = run_here(program, "--home", world.folder / "home", *words)
    error = told.json()["error"]
    assert (told.code, error["check"], error["exit_code"], check in told.err) == (4, check, 4, True)


@pytest.mark.parametrize("signer", ["", "treasury", "stranger"])
def test_a_part_that_says_it_is_something_else_is_refused_before_anything_is_shown(signer: str, world: World) -> None:
    made = document("requests")
    made["requests"] = [item for item in made["requests"] if item["step"] == "increase"]  # all that desk signs
    made["header"] |= {"count": 1, "signer": "desk"}
    assert world.sign(_bytes(made), "requests").results == {"increase": "signed"}
    made["header"] = {name: value for name, value in made["header"].items() if signer or name != "signer"}
    made["header"] |= {"signer": signer} if signer else {}
    ended = world.sign(_bytes(made), "requests")
    assert (ended.code, "PLAN-STEPS" in ended.err, "STEP 1" in ended.err, ended.events) == (3, True, False, []), (
        ended.err
    )
    words = ("verify", world.folder / "requests.json", "--plan", world.folder / "requests.toml")
    told = run_here(program, "--home", world.folder / "home", *words)
    assert (told.code, "PLAN-STEPS" in told.out) == (3, True), told.out


def test_a_pin_that_changed_on_the_disk_or_that_nobody_agreed_to_on_record_is_not_in_force(world: World) -> None:
    fresh = OfflineHome(world.folder / "fresh")
    (pin,) = fresh.home.glob("pins/*.json")
    for changed, said in ((True, "its file was changed"), (False, "nobody agreed to one of this name")):
        pin.write_bytes(REHEARSAL.replace(b'"fetched_at": "2', b'"fetched_at": "1') if changed else REHEARSAL)
        ended = world.sign(_bytes(document("requests")), "requests")
        told = " ".join(ended.err.split())
        assert (ended.code, "PIN-DEPLOYMENT" in told, said in told, ended.results) == (3, True, True, None), told
        words = ("verify", world.folder / "requests.json", "--plan", world.folder / "requests.toml", "--json")
        assert run_here(program, "--home", fresh.home, *words).json()["error"]["check"] == "PIN-DEPLOYMENT"
        fresh.transcript.path.unlink(missing_ok=True)


def _failing(monkeypatch: pytest.MonkeyPatch, error: Exception, at: int) -> None:
    """Have the second opinion on the item of this number fail."""
    seen: list[Case] = []

    def fails(case: Case, answer: bytes) -> None:
        seen.append(case)
        if len(seen) == at:
            raise error
        compare_opinion(case, answer)

    monkeypatch.setattr(sign_item, "compare_opinion", fails)


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (KeyError("amountUsdc"), "ItemFault"),
        (Refusal("DIGEST-DISAGREE", "no"), "DIGEST-DISAGREE"),
        (DeviceError("unplugged"), "DeviceError"),
    ],
)
def test_whatever_fails_inside_an_item_what_was_signed_before_is_handed_over(
    error: Exception, why: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = document("requests")
    steps = [item["step"] for item in made["requests"]]
    _failing(monkeypatch, error, 3)
    ended = world.sign(_bytes(made), "requests")
    assert ended.code == (5 if isinstance(error, DeviceError) else 3)
    assert ended.results == dict.fromkeys(steps[:2], "signed") | dict.fromkeys(steps[2:], "refused")
    stopped = [data for event, data in ended.events if event == "sign-stopped"]
    assert [(each["step"], each["why"]) for each in stopped] == [(steps[2], type(error).__name__)]
    whys = [data["why"] for event, data in ended.events if event == "refused"]
    assert whys == [why, *["not begun"] * (len(steps) - 3)]
    assert ended.events[-1][0] == "signatures-written"
    assert ("fault in Airlock: KeyError" in ended.err) == (why == "ItemFault")
    assert "amountUsdc" not in ended.err
    assert "Traceback" not in ended.err
    told = "first move out.json away" in " ".join(ended.err.split())  # the same command then signs the rest
    assert told is isinstance(error, DeviceError)
    requests, plan, output = (world.folder / name for name in ("requests.json", "requests.toml", "out.json"))
    verified = run_here(
        program, "--home", world.folder / "home", "verify", requests, "--plan", plan, "--signatures", output
    )
    assert ", signed 2\n" in verified.err


def test_groups_that_were_signed_whole_are_handed_over_again_though_no_ledger_is_needed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("airlock_offline.signing.review.AT_LEAST", 1)
    for again in (False, True):
        ended = world.sign(_bytes(document("requests")), "requests", again=again)
        assert (ended.code, set((ended.results or {}).values())) == (0, {"signed"}), ended.err[-2000:]
    assert ended.count("signed") == len(ended.results or {})


def test_in_a_led_ceremony_the_steps_that_are_not_signed_are_told_and_again_at_the_review(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LED, "1")
    made = document("requests")
    ended = world.sign(_bytes(made), "requests", "Yes\n" * 2 + "no\n" * 40)
    left = [item["step"] for item in made["requests"]][1:]
    assert (ended.code, ended.count("signatures-written")) == (6, 1)
    assert [step for step in left if not re.search(rf"\n  {step} +declined ", ended.err)] == []
    assert "To sign one after all, first move" in ended.err
    at_the_review = list(_shown("review", OfflineHome(world.folder / "home").transcript.entries(), whole=False))
    assert at_the_review == [f"NOT signed: {step} (declined)" for step in left]


def test_in_a_led_ceremony_a_ledger_that_fails_midway_is_waited_for_and_nothing_is_left_behind(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LED, "1")
    _failing(monkeypatch, DeviceError("could not sign: the Ledger is locked"), 3)
    ended = world.sign(_bytes(document("requests")), "requests")
    assert (ended.code, ended.count("signed"), ended.count("signatures-written", "refused")) == (5, 2, 0)
