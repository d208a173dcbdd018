"""A venue in EIP-7702 mode: the plan's authorization is signed on the Ledger and goes with its order, the whole way."""

import json
from collections.abc import Mapping

from commands import FinishedCommand
from e2e.conftest import Ledger, ledger_fixture
from e2e.test_second_venue import CLOSE, PLAN, Desk, desk_fixture
from plans import TRADER
from second_venue.venue import CHAIN_ID, STORAGE

KNOWN = "0x4Cd241E8d1510e30b2076397afc7508Ae59C66c9"  # recorded: tests/vectors/ledger/a-flex-auth-simple.json
GIVE = f"""
[[steps]]
id = "give"
action = "authorization"
signer = "treasury"
[steps.fields]
contract = "{KNOWN}"
nonce = 5
order = "step-1"
"""
VENUES = {"chainId": str(CHAIN_ID), "to": STORAGE, "data": "0x1234", "gas": "900000"}


desk = desk_fixture(smart={})
ledger = ledger_fixture("--smart-accounts")


def prepare(desk: Desk) -> FinishedCommand:
    return desk.prepare("close", CLOSE, plan=PLAN + GIVE)


def of_the_venue(desk: Desk, value: Mapping[str, object]) -> str:
    desk.path("venue.json").write_text(json.dumps(value))
    return f"step-1={desk.path('venue.json')}"


def words(ended: FinishedCommand) -> str:
    return " ".join((ended.out + ended.err).replace("✓", " ").split())


def test_the_authorization_is_made_on_the_ledger_and_goes_with_its_order(desk: Desk, ledger: Ledger) -> None:
    ended = prepare(desk).done()
    signed = desk.sign(ledger)
    review = words(signed)
    assert signed.code == 0, review
    for shown in (
        f"on chain {CHAIN_ID}", f"gives it to {KNOWN} (Simple7702Account)", "with the order step-1", "nonce 5",
        "THE WHOLE ACCOUNT IS GIVEN TO A CONTRACT", "upgrade into smart",
        "Delegate to", "Smart account upgrade must be on",
    ):  # fmt: skip
        assert shown in review
    ended = desk.submit()
    missing = "of its EIP-7702 transaction is missing: chainId, to, data, gas"
    assert (ended.code, missing in words(ended)) == (2, True), ended.err
    assert desk.venue.paths("POST").count("/market/execute-batched") == 0
    ended = desk.submit("--json", "--eip7702", of_the_venue(desk, VENUES), typed="Yes\n").done()
    assert desk.venue.smart == {TRADER: KNOWN}
    told = words(ended)
    assert f"{TRADER} is given to the contract {KNOWN} (account nonce 5)" in told
    assert "step give (authorization) goes with step step-1" in told
    (asked,) = [each for each in desk.venue.asked if each.path == "/market/execute-batched"]
    assert {name: asked.fields["eip7702"][name] for name in VENUES} == VENUES
    again = desk.submit()
    assert (again.code, "step give (authorization) goes with step step-1" in words(again)) == (0, True), words(again)


def test_an_authorization_whose_order_was_declined_is_not_sent_and_what_that_means_is_said(
    desk: Desk, ledger: Ledger
) -> None:
    assert prepare(desk).code == 0
    given = ("--plan", desk.path("plan.toml"), "-o", desk.path("signatures.json"), "--emulator", ledger.port)
    ended = desk.offline("sign", desk.path("requests.json"), *given, typed="Yes\nno\nYes\n")
    results = [item["result"] for item in json.loads(desk.path("signatures.json").read_text())["signatures"]]
    assert results == ["declined", "signed"], words(ended)
    ended = desk.submit()
    assert (ended.code, desk.venue.paths("POST").count("/market/execute-batched")) == (6, 0), words(ended)
    assert "is not sent: its order step-1 is not" in words(ended)
    assert "until the account has sent a transaction with nonce 5" in words(ended)


def test_it_is_signed_once_and_is_in_no_package_for_another_sender(desk: Desk, ledger: Ledger) -> None:
    assert prepare(desk).code == 0
    assert desk.offline("verify", desk.path("requests.json"), "--plan", desk.path("plan.toml")).code == 0
    assert desk.sign(ledger).code == 0
    assert words(desk.sign(ledger)).count("was signed before; the kept signature") == 2
    ended = desk.online("export", desk.path("signatures.json"), "-o", desk.path("package.json"))
    assert (ended.code, "it goes with its order, by `submit --eip7702`" in words(ended)) == (0, True), ended.err
    assert [item["step"] for item in json.loads(desk.path("package.json").read_text())["items"]] == ["step-1"]
    ended = desk.online("export", desk.path("signatures.json"), "--step", "give", "-o", desk.path("give.json"))
    assert (ended.code, desk.path("give.json").exists()) == (2, False), ended.err
