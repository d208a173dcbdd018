"""A venue that follows the specification and nothing more, which nobody here wrote the other side of: the whole way.

``second_venue.venue`` says what it does where the specification says nothing. Only what no document shows (where the meta
document has what, the relayer's endpoint, bodies of the core API and of the TWAP service) stands in the services file.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from commands import FinishedCommand
from e2e.conftest import Ledger, Machines, ledger_fixture
from plans import TRADER, plan_head
from second_venue.other_speech import UNSHOWN
from second_venue.other_types import PROFILE
from second_venue.venue import STORAGE, SecondVenue, second_venue

DELEGATE = "0x463e4e114AA57F54f2Fd2C3ec03572C6f75d84C2"
LIMITS = {
    "deadline_at_most": "30m", "slippage_percent_at_most": "1", "max_fee_gwei_at_most": "50", "remaining_at_least": "1m",
}  # fmt: skip
PLAN = f"""{plan_head("second", deployment="second", **LIMITS)}
[[steps]]
id = "step-{{number}}"
action = "{{action}}"
signer = "treasury"
[steps.fields]
{{fields}}
"""
EXPIRY = (datetime.now(UTC) + timedelta(days=30)).strftime("%Y-%m-%dT00:00:00Z")
DELEGATION = f'trader = "{TRADER}"\ndelegate = "{DELEGATE}"\nexpiry = {EXPIRY}\npossession = "waived"\n'
CLOSE = (
    f'trader = "{TRADER}"\npair = "BTC/USD"\ntradeIndex = 0\ncollateralToCloseUsdc = "100"\n'
    'expectedPrice = { at_least = "63000", at_most = "65000" }\n'
)
BY_HAND = ("--nonce", 4, "--gas", 120_000, "--max-fee-gwei", 5, "--priority-fee-gwei", 1)


class Desk(Machines):
    """Both machines at a table, and the second venue somewhere else."""

    def __init__(self, folder: Path, venue: SecondVenue, services: str = UNSHOWN) -> None:
        super().__init__(folder)
        self.venue, self.plans, self.profile = venue, 0, PROFILE
        self.path("online-home").mkdir()
        self.path("online-home/services.toml").write_text(services)
        self.path("online-home/config.toml").write_text('[venue]\nservices = "services.toml"\n')

    def fetch(self) -> FinishedCommand:
        options = ("--builder", "--batched-market", "--relayer", "--twap", "--core-api")
        addresses = map(self.venue.address, ("builder", "market", "relayer", "twap", "core"))
        words: list[object] = [word for each in zip(options, addresses, strict=True) for word in each]
        profile, output = self.path("profile.json"), self.path("deployment.json")
        profile.write_text(json.dumps(self.profile))
        return self.online("deployment", "fetch", "--name", "second", *words, "--venue-profile", profile, "-o", output)

    def pin(self) -> None:
        self.fetch().done()
        self.offline("trust", self.path("deployment.json"), typed="Yes\n").done()
        self.state_time()

    def prepare(self, action: str, fields: str, *more: object, plan: str = PLAN) -> FinishedCommand:
        self.plans += 1
        text = plan.format(action=action, fields=fields, number=self.plans)
        self.path("plan.toml").write_text(text)
        self.path("requests.json").unlink(missing_ok=True)
        return self.online("prepare", self.path("plan.toml"), "-o", self.path("requests.json"), *more)

    def sign(self, ledger: Ledger) -> FinishedCommand:
        self.path("signatures.json").unlink(missing_ok=True)
        words = ("--plan", self.path("plan.toml"), "-o", self.path("signatures.json"), "--emulator", ledger.port)
        return self.offline("sign", self.path("requests.json"), *words, typed="Yes\n" * 6)

    def submit(self, *more: object, typed: str = "") -> FinishedCommand:
        return self.online("submit", self.path("signatures.json"), *more, typed=typed)

    def whole_way(self, ledger: Ledger, action: str, fields: str, *more: object) -> FinishedCommand:
        """Prepare, sign and submit one step; return how the submission ended."""
        self.prepare(action, fields, *more).done()
        self.sign(ledger).done()
        return self.submit("--json")


def desk_fixture(profile: dict[str, Any] = PROFILE, smart: dict[str, str] | None = None) -> Any:
    """Return a fixture: a desk at the second venue, which is pinned."""

    @pytest.fixture
    def opened(tmp_path: Path) -> Iterator[Desk]:
        with second_venue(TRADER) as running:
            made = Desk(tmp_path, running)
            running.smart, made.profile = smart, profile
            made.pin()
            yield made

    return opened


desk = desk_fixture()
ledger = ledger_fixture("--blind-signing")


def outcome(ended: FinishedCommand) -> dict[str, object]:
    """Return the last thing that a submission told."""
    last: dict[str, object] = json.loads(ended.out.splitlines()[-1])
    return last


def test_what_is_pinned_is_shown_in_words_and_a_change_of_it_old_beside_new(desk: Desk) -> None:
    wider = PROFILE["structs"]["DelegateReq"]["encode_type"].replace("uint64 expiry", "uint128 expiry")
    delegate = {**PROFILE["structs"]["DelegateReq"], "encode_type": wider}
    desk.profile = {**PROFILE, "structs": {**PROFILE["structs"], "DelegateReq": delegate}}
    desk.path("deployment.json").unlink()
    desk.fetch().done()
    declined = desk.offline("trust", desk.path("deployment.json"), typed="no\n")
    assert (declined.code, "uint128 expiry" in (desk.path("offline-home") / "pins/second.json").read_text()) == (
        6,
        False,
    )
    assert "- signed: DelegateReq: member expiry is uint64 (ships: uint256)" in declined.err
    assert "+ signed: DelegateReq: member expiry is uint128 (ships: uint256)" in declined.err
    assert "  signed: DelegateReq: member tnc removed" in declined.err


# ---- the whole way ---------------------------------------------------------------------------------------------------


def test_a_position_is_closed_at_the_market(desk: Desk, ledger: Ledger) -> None:
    ended = desk.whole_way(ledger, "close", CLOSE)
    assert (ended.code, outcome(ended)["state"]) == (0, "FILLED"), ended.out + ended.err
    assert desk.venue.paths("POST").count("/market/execute-batched") == 1
    assert desk.venue.closed == {0}
    desk.online("follow", "--json").done()


INCREASE = (
    f'trader = "{TRADER}"\npair = "BTC/USD"\ntradeIndex = 0\nadditionalCollateralUsdc = "10"\nleverage = "10"\n'
    'coinExposure = "0.001"\nminLeverage = "5"\nmaxLeverage = "15"\nopenPrice = "64000"\n'
)


def test_an_order_that_nobody_gives_a_slippage_is_not_built(desk: Desk) -> None:
    ended = desk.prepare("increase-coin", INCREASE)
    assert (ended.code, "gives no default slippage" in " ".join(ended.err.split())) == (2, True), ended.err
    assert "/v2/intents/increase-coin" not in desk.venue.paths("POST")


def test_a_trigger_is_stored_and_replaced(desk: Desk, ledger: Ledger) -> None:
    fields = (
        f'trader = "{TRADER}"\npair = "ETH/USD"\ntradeIndex = 0\nkind = "take_profit"\nside = "short"\n'
        'coinExposure = "0.1"\nprice = "2000"\n'
    )
    ended = desk.whole_way(ledger, "tpsl-partial", fields)
    assert (ended.code, outcome(ended)["state"]) == (0, "CONFIRMED"), ended.out + ended.err
    (first,) = desk.venue.triggers
    assert outcome(ended)["entity_id"] == first
    loss = fields.replace("take_profit", "stop_loss").replace(
        'price = "2000"', 'triggerType = "percentage"\npercentage = "-10"'
    )
    ended = desk.whole_way(ledger, "tpsl-partial", f'{loss}replaces = "{first}"\n')
    assert (ended.code, outcome(ended)["state"]) == (0, "CONFIRMED"), ended.out + ended.err
    (second,) = desk.venue.triggers
    assert (outcome(ended)["entity_id"], outcome(ended)["old_entity_id"]) == (second, first)
    assert (desk.venue.paths("PUT"), desk.venue.triggers[second]["percentage"]) == (
        [f"/price-triggers/{first}"],
        -(10**11),
    )


def test_a_twap_is_cancelled(desk: Desk, ledger: Ledger) -> None:
    ended = desk.whole_way(ledger, "twap-cancel", f'trader = "{TRADER}"\ntwapId = 41\n')
    assert desk.venue.paths("POST").count("/twaps/cancel") == 1
    assert (ended.code, outcome(ended)["state"]) == (0, "CONFIRMED"), ended.out + ended.err


def test_a_delegate_is_registered(desk: Desk, ledger: Ledger) -> None:
    ended = desk.whole_way(ledger, "delegate", DELEGATION)
    assert (ended.code, outcome(ended)["state"]) == (0, "CONFIRMED"), ended.out + ended.err
    assert set(desk.venue.delegates) == {DELEGATE}
    assert "enabled until" in ended.out


TRANSACTIONS = {
    "token-approve": f'trader = "{TRADER}"\nspender = "{STORAGE}"\namountUsdc = "2500"\n',
    "claim-keeper-rewards": f'caller = "{TRADER}"\n',
    "limit-update": f'trader = "{TRADER}"\npair = "BTC/USD"\norderIndex = 0\nprice = "60000"\nslippagePercent = "0.5"\n'
    'takeProfit = "0"\nstopLoss = "0"\n',
    "position-increase-coin": f'trader = "{TRADER}"\npair = "BTC/USD"\ntradeIndex = 0\nadditionalCollateralUsdc = "10"\n'
    'leverage = "10"\nopenPrice = "64000"\nslippagePercent = "0.5"\ncoinExposure = "0.001"\nminLeverage = "5"\n'
    'maxLeverage = "15"\n',
    "delegate-set": DELEGATION,
}


@pytest.mark.parametrize("action", TRANSACTIONS)
def test_a_transaction_of_another_function_goes_by_the_relay(desk: Desk, ledger: Ledger, action: str) -> None:
    ended = desk.whole_way(ledger, action, TRANSACTIONS[action], *BY_HAND)
    assert outcome(ended)["state"] == "CONFIRMED", ended.out + ended.err
    assert outcome(ended)["transaction_hash"] in desk.venue.sent
    assert desk.venue.paths("POST").count("/v2/relay") == 1
    assert set(desk.venue.delegates) == ({DELEGATE} if action == "delegate-set" else set())


def test_terms_that_the_plan_fixes_and_the_venue_does_not_sign_are_refused(desk: Desk) -> None:
    assert desk.prepare("delegate", DELEGATION).code == 0
    ended = desk.prepare("delegate", f'{DELEGATION}terms_sha256 = "{"5a" * 32}"\n')
    assert (ended.code, "a field terms_sha256" in ended.err) == (3, True), ended.err


def test_the_limit_of_rate_is_kept(desk: Desk) -> None:
    with desk.path("online-home/services.toml").open("a") as written:
        written.write("[limits]\nbuilder = 60\n")  # a second each; what arrives late on a busy machine came not early
    before = len(desk.venue.asked)
    desk.prepare("twap-cancel", f'trader = "{TRADER}"\ntwapId = 41\n').done()
    times_s = [asked.at_s for asked in desk.venue.asked[before:] if asked.path != "/ready"]
    assert len(times_s) >= 2
    assert all(later - earlier > 0.4 for earlier, later in pairwise(times_s)), times_s


def test_doctor_and_the_record_of_a_sending_name_the_fingerprint(desk: Desk, ledger: Ledger) -> None:
    shown = desk.online("config", "show", "--json")
    settings = {(row["section"], row["name"]): row for row in json.loads(shown.out)["settings"]}
    mark = settings["machine", "services_fingerprint"]["value"]
    assert settings["replies.pairs", "id"]["from"] == "services.toml"
    assert settings["paths", "pairs"]["from"] == "default"
    assert mark in "".join(desk.online("doctor").out.split())
    desk.whole_way(ledger, "referral-set-code", f'referee = "{TRADER}"\ncode = "SECOND"\n').done()
    assert f'"services":"{mark}"' in desk.path("online-home/transcript.jsonl").read_text().replace(": ", ":")


# ---- an API key ------------------------------------------------------------------------------------------------------

KEY = "kV7pQ2mZ9xRt4LsWc8Yd"


@pytest.fixture
def keyed(tmp_path: Path) -> Iterator[Desk]:
    with second_venue(TRADER, KEY) as running:
        made = Desk(tmp_path, running)
        file = made.path("key")
        file.write_text(KEY)
        file.chmod(0o600)
        config = f'[api_key]\nheader = "X-Venue-Key"\nfile = "{file}"\naddresses = "{running.url}"\n'
        with made.path("online-home/config.toml").open("a") as written:
            written.write(config)
        yield made


def test_a_venue_that_wants_a_key_gets_it_at_every_service_and_no_screen_does(keyed: Desk, ledger: Ledger) -> None:
    keyed.pin()
    ended = keyed.whole_way(ledger, "twap-cancel", f'trader = "{TRADER}"\ntwapId = 41\n')
    assert (ended.code, outcome(ended)["state"]) == (0, "CONFIRMED"), ended.out + ended.err
    assert {asked.headers.get("x-venue-key") for asked in keyed.venue.asked} == {KEY}
    written = [path for path in keyed.path("online-home").rglob("*") if path.is_file()]
    assert [path.name for path in written if KEY.encode() in path.read_bytes()] == []
    shown = keyed.online("config", "show", "--json")
    assert (shown.code, KEY in shown.out) == (0, False)
