"""`venue check` against a venue in the shapes of the public services: what it understands, and what it leaves alone."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commands import FinishedCommand, run_command
from e2e.conftest import ONLINE, ROOT
from e2e.test_second_venue import DELEGATE, PLAN
from e2e.test_third_venue import CODE, DELEGATION
from plans import TRADER
from third_venue.venue import PROFILE, SERVICES, ThirdVenue, third_venue

OWN: Any = PROFILE["structs"]


@pytest.fixture
def venue() -> Iterator[ThirdVenue]:
    with third_venue() as running:
        yield running


def write(folder: Path, services: str = SERVICES, profile: object = PROFILE, **plans: str) -> Path:
    files = folder / "venue"
    files.mkdir()
    (files / "services.toml").write_text(services)
    (files / "venue.json").write_text(json.dumps(profile))
    for number, (action, fields) in enumerate(plans.items(), start=1):
        text = PLAN.format(action=action.replace("_", "-"), fields=fields, number=number)
        (files / f"{number}.plan.toml").write_text(text)
    return files


def check(folder: Path, files: Path, venue: ThirdVenue, *words: object) -> FinishedCommand:
    return run_command(ONLINE, "--home", folder / "home", "venue", "check", files, venue.address("builder"), *words)


def told(ended: FinishedCommand) -> dict[tuple[str, str], str]:
    """Return what is found, by group and name."""
    return {(line["group"], line["what"]): line["found"] for line in ended.json()["lines"]}


def test_what_would_be_signed_is_shown_and_nothing_is_sent_or_written(tmp_path: Path, venue: ThirdVenue) -> None:
    contracts = venue.read("/v2/meta")["addresses"]
    storage, usdc = contracts["tradingStorage"], contracts["usdc"]
    approve = f'trader = "{TRADER}"\nspender = "{storage}"\namountUsdc = "2500"\n'
    services = SERVICES.replace('open-coin = "/v2/intents/open-coin"\n', "")
    files = write(tmp_path, services, delegate=DELEGATION, referral_set_code=CODE, token_approve=approve)
    with (files / "3.plan.toml").open("a") as plan:
        plan.write('[[steps]]\nid = "again"\naction = "token-approve"\nsigner = "treasury"\n[steps.fields]\n' + approve)
    ended = check(tmp_path, files, venue, "--json").done()
    found = told(ended)
    assert "nonce 1" in found["3.plan.toml", "again"]
    for step, words in (
        (("1.plan.toml", "step-1"), ("DelegateReq under", f"delegate {DELEGATE}", "digest 0x")),
        (("2.plan.toml", "step-2"), ("SetTraderReferralCodeByUserReq under", "_code 0x5448495244")),
        (("3.plan.toml", "step-3"), (f"to {usdc}", "approve", "raw 2500000000")),
        (("reads", "nonce"), ("False",)),
        (("reads", "delegation"), ("False",)),
    ):
        assert all(word in found[step] for word in words), found[step]
    rest = found[("builds", "not tried")]
    assert "TwapOpenOrder (/v2/intents/twap-open)" in rest
    assert "open-coin (no path is known)" in rest
    assert "delegate (" not in rest
    assert not (tmp_path / "home").exists()
    assert check(tmp_path, tmp_path / "absent", venue, "--json").json()["error"]["do"] == "write one of them"
    posted = {path for method, _, path, _ in venue.module.ASKED if method != "GET"}
    assert posted == {"/v2/intents/delegate-set", "/v2/intents/referral-set-code", "/v2/token/approve"}


def test_every_mistake_of_every_file_is_told_with_its_place_and_the_venue_is_not_asked(
    tmp_path: Path, venue: ThirdVenue
) -> None:
    wrong = SERVICES.replace("[words]", '[words]\nTaken = "perhaps"').replace(
        "referral-register =", "referal-register ="
    )
    profile = {**PROFILE, "structs": {"DelegateReq": {"encode_type": "DelegateReq(address trader,uint256 nonce)"}}}
    files = write(tmp_path, wrong, profile, delegate="trader = 7\n")
    ended = check(tmp_path, files, venue)
    shown = " ".join(ended.out.split())
    assert ended.code in (2, 4), ended.out
    for words in ("line 6: [paths] referal-register", "did you mean referral-register?", "[words] Taken", "DOC-VENUE"):
        assert words in shown, (words, ended.out)
    assert "PLAN-" in shown
    assert venue.module.ASKED == []


def test_what_a_check_refuses_is_told_by_its_id(tmp_path: Path, venue: ThirdVenue) -> None:
    other = "DelegateReq(address trader,address delegate,uint256 expiry,uint256 deadline,uint256 nonce)"
    delegate = {"encode_type": other}
    profile = {**PROFILE, "structs": {**OWN, "DelegateReq": delegate}}
    ended = check(tmp_path, write(tmp_path, SERVICES, profile, delegate=DELEGATION), venue, "--json")
    assert ended.code == 3, ended.out
    found = told(ended)[("1.plan.toml", "step-1")]
    assert "TYPES-PINNED" in found, found
    assert "correct them, or ask the venue" in found
    assert "altered" not in found


def test_the_examples_of_the_reference_are_understood(tmp_path: Path, venue: ThirdVenue) -> None:
    """Their plan is for a venue that has these structs; this one has not, and that is what is told."""
    ended = check(tmp_path, ROOT / "docs/reference/examples", venue, "--json")
    found = told(ended)
    assert [found[("files", name)] for name in ("services.toml", "venue.json", "custom-steps.plan.toml")] == [
        "understood"
    ] * 3
