"""A venue that follows the specification and nothing more, which nobody here wrote the other side of: the whole way.

``second_venue.venue`` says what it does where the specification says nothing. Only what no document shows (where the meta
document has what, the relayer's endpoint, bodies of the core API and of the TWAP service) stands in the services file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from commands import FinishedCommand, run_command
from draws import every_nth
from e2e.conftest import OFFLINE, ONLINE, Ledger, ledger_fixture
from second_venue.intents import USUAL
from second_venue.other_speech import SERVICES, OtherSpeech
from second_venue.other_types import OTHER, PROFILE
from second_venue.venue import STORAGE, SecondVenue, second_venue

TRADER = "0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D"  # the software Ledger's first account
DELEGATE = "0x463e4e114AA57F54f2Fd2C3ec03572C6f75d84C2"
CONFIG = """\
format = "airlock/venue-services@1"
[replies.meta]
trading_domain = "domains.trading"
referral_domain = "domains.referral"
contracts = "contracts"
simulator = "testnet"

[replies.pairs]
id = "pairIndex"
name = "pair"
pnl = "pnlPair"

[requests.all]
expiry = "$expirySeconds"

[paths]
relayer = "/submit"
relayer-status = "/submissions/{id}"

[bodies.relayer]
kind = "$primary_type"
abi = "$encoded_intent"
sig = "$signature"

[bodies.core-api]
trigger = "$message"
sig = "$signature"

[bodies.twap]
userIntent = "$encoded_intent"
userSignature = "$signature"
"""
PLAN = """\
format = "airlock/plan@1"

[ceremony]
id = "second"
title = "A ceremony at the second venue"
deployment = "second"

[limits]
deadline_at_most = "30m"
slippage_percent_at_most = "1"
max_fee_gwei_at_most = "50"
remaining_at_least = "1m"

[signers.treasury]
address = "{trader}"
path = "m/44'/60'/0'/0/0"

[[steps]]
id = "step-{number}"
action = "{action}"
signer = "treasury"
[steps.fields]
{fields}
"""
BY_HAND = ("--nonce", 4, "--gas", 120_000, "--max-fee-gwei", 5, "--priority-fee-gwei", 1)


class Desk:
    """Both machines at a table, and the second venue somewhere else."""

    def __init__(self, folder: Path, venue: SecondVenue, services: str = CONFIG) -> None:
        self.folder, self.venue, self.plans = folder, venue, 0
        self.profile = PROFILE if venue.types is OTHER else None
        (folder / "online").mkdir()
        if services:
            said = SERVICES if isinstance(venue, OtherSpeech) else services
            (folder / "online/services.toml").write_text(said)
            (folder / "online/config.toml").write_text('[venue]\nservices = "services.toml"\n')

    def online(self, *words: object, typed: str | None = None) -> FinishedCommand:
        return run_command(ONLINE, "--home", self.folder / "online", *words, typed=typed)

    def offline(self, *words: object, typed: str = "") -> FinishedCommand:
        return run_command(OFFLINE, "--home", self.folder / "offline", *words, typed=typed)

    def path(self, name: str) -> Path:
        return self.folder / name

    def fetch(self) -> FinishedCommand:
        options = ("--builder", "--batched-market", "--relayer", "--twap", "--core-api")
        addresses = map(self.venue.address, ("builder", "market", "relayer", "twap", "core"))
        words: list[object] = [word for each in zip(options, addresses, strict=True) for word in each]
        if self.profile is not None:
            self.path("profile.json").write_text(json.dumps(self.profile))
            words += ["--venue-profile", self.path("profile.json")]
        return self.online("deployment", "fetch", "--name", "second", *words, "-o", self.path("deployment.json"))

    def pin(self) -> None:
        assert (ended := self.fetch()).code == 0, ended.err
        assert (ended := self.offline("trust", self.path("deployment.json"), typed="Yes\n")).code == 0, ended.err
        words = ("--time", datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), "--uncertainty", 60)
        self.offline("preflight", *words)

    def prepare(self, action: str, fields: str, *more: object, plan: str = PLAN) -> FinishedCommand:
        self.plans += 1
        text = plan.format(trader=TRADER, action=action, fields=fields, number=self.plans)
        self.path("plan.toml").write_text(text)
        self.path("requests.json").unlink(missing_ok=True)
        return self.online("prepare", self.path("plan.toml"), "-o", self.path("requests.json"), *more)

    def sign(self, ledger: Ledger) -> FinishedCommand:
        self.path("signatures.json").unlink(missing_ok=True)
        words = ("--plan", self.path("plan.toml"), "-o", self.path("signatures.json"), "--emulator", ledger.port)
        return self.offline("sign", self.path("requests.json"), *words, typed="Yes\n" * 6)

    def submit(self, *more: object, typed: str | None = None) -> FinishedCommand:
        return self.online("submit", self.path("signatures.json"), *more, typed=typed)

    def whole_way(self, ledger: Ledger, action: str, fields: str, *more: object) -> FinishedCommand:
        """Prepare, sign and submit one step; return how the submission ended."""
        assert (ended := self.prepare(action, fields, *more)).code == 0, ended.err
        assert (ended := self.sign(ledger)).code == 0, ended.err
        return self.submit("--json")


VENUES = {
    "usual-types": (USUAL, SecondVenue),
    "by-profile": (OTHER, SecondVenue),  # it goes the whole way of transactions below, too
    "by-services": (USUAL, OtherSpeech),
}


@pytest.fixture(params=every_nth([*VENUES], 3))
def venue(request: pytest.FixtureRequest) -> Iterator[SecondVenue]:
    types, speaking = VENUES[request.param]
    with second_venue(TRADER, types=types, speaking=speaking) as running:
        yield running


@pytest.fixture
def desk(tmp_path: Path, venue: SecondVenue) -> Desk:
    made = Desk(tmp_path, venue)
    made.pin()
    return made


ledger = ledger_fixture("--blind-signing")


def outcome(ended: FinishedCommand) -> dict[str, object]:
    """Return the last thing that a submission told."""
    last: dict[str, object] = json.loads(ended.out.splitlines()[-1])
    return last


def test_what_is_pinned_is_shown_in_words_and_a_change_of_it_old_beside_new(tmp_path: Path) -> None:
    with second_venue(TRADER, types=OTHER) as running:
        desk = Desk(tmp_path, running)
        desk.pin()
        wider = PROFILE["structs"]["DelegateReq"]["encode_type"].replace("uint64 expiry", "uint128 expiry")
        delegate = {**PROFILE["structs"]["DelegateReq"], "encode_type": wider}
        desk.profile = {**PROFILE, "structs": {**PROFILE["structs"], "DelegateReq": delegate}}
        desk.path("deployment.json").unlink()
        assert (ended := desk.fetch()).code == 0, ended.err
    declined = desk.offline("trust", desk.path("deployment.json"), typed="no\n")
    assert (declined.code, "uint128 expiry" in (desk.path("offline") / "pins/second.json").read_text()) == (6, False)
    assert "- signed: DelegateReq: member expiry is uint64 (ships: uint256)" in declined.err
    assert "+ signed: DelegateReq: member expiry is uint128 (ships: uint256)" in declined.err
    assert "  signed: DelegateReq: member tnc removed" in declined.err


# ---- the whole way ---------------------------------------------------------------------------------------------------


def test_a_position_is_closed_at_the_market(desk: Desk, ledger: Ledger) -> None:
    fields = (
        f'trader = "{TRADER}"\npair = "BTC/USD"\ntradeIndex = 0\ncollateralToCloseUsdc = "100"\n'
        'expectedPrice = { at_least = "63000", at_most = "65000" }\n'
    )
    ended = desk.whole_way(ledger, "close", fields)
    assert (ended.code, outcome(ended)["state"]) == (0, "FILLED"), ended.out + ended.err
    assert desk.venue.paths("POST").count("/market/execute-batched") == 1
    assert desk.venue.closed == {0}
    followed = desk.online("follow", "--json")
    assert followed.code == 0, followed.err


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
    if isinstance(desk.venue, OtherSpeech):  # 202, {"queued": true}: it is asked for
        assert desk.venue.paths("GET").count("/twaps/41") == 3  # the last one reads back what became of it


def test_a_delegate_is_registered(desk: Desk, ledger: Ledger) -> None:
    fields = f'trader = "{TRADER}"\ndelegate = "{DELEGATE}"\nexpiry = {EXPIRY}\npossession = "waived"\n'
    ended = desk.whole_way(ledger, "delegate", fields)
    assert (ended.code, outcome(ended)["state"]) == (0, "CONFIRMED"), ended.out + ended.err
    assert set(desk.venue.delegates) == {DELEGATE}
    assert "enabled until" in ended.out


EXPIRY = (datetime.now(UTC) + timedelta(days=30)).strftime("%Y-%m-%dT00:00:00Z")
TRANSACTIONS = {
    "token-approve": f'trader = "{TRADER}"\nspender = "{STORAGE}"\namountUsdc = "2500"\n',
    "claim-keeper-rewards": f'caller = "{TRADER}"\n',
    "limit-update": f'trader = "{TRADER}"\npair = "BTC/USD"\norderIndex = 0\nprice = "60000"\nslippagePercent = "0.5"\n'
    'takeProfit = "0"\nstopLoss = "0"\n',
}


@pytest.mark.parametrize("action", every_nth([*TRANSACTIONS], 2))
def test_a_transaction_goes_by_the_relay(desk: Desk, ledger: Ledger, action: str) -> None:
    ended = desk.whole_way(ledger, action, TRANSACTIONS[action], *BY_HAND)
    assert outcome(ended)["state"] == "CONFIRMED", ended.out + ended.err
    assert outcome(ended)["transaction_hash"] in desk.venue.sent
    assert desk.venue.paths("POST").count("/v2/relay") == 1


BY_PROFILE = {
    "position-increase-coin": f'trader = "{TRADER}"\npair = "BTC/USD"\ntradeIndex = 0\nadditionalCollateralUsdc = "10"\n'
    'leverage = "10"\nopenPrice = "64000"\nslippagePercent = "0.5"\ncoinExposure = "0.001"\nminLeverage = "5"\n'
    'maxLeverage = "15"\n',
    "delegate-set": f'trader = "{TRADER}"\ndelegate = "{DELEGATE}"\nexpiry = {EXPIRY}\npossession = "waived"\n',
}


@pytest.mark.parametrize("action", BY_PROFILE)
def test_a_transaction_of_another_function_goes_the_whole_way_by_profile_alone(
    tmp_path: Path, ledger: Ledger, action: str
) -> None:
    with second_venue(TRADER, types=OTHER) as running:
        desk = Desk(tmp_path, running)
        desk.pin()
        ended = desk.whole_way(ledger, action, BY_PROFILE[action], *BY_HAND)
        assert outcome(ended)["state"] == "CONFIRMED", ended.out + ended.err
        assert outcome(ended)["transaction_hash"] in running.sent
        assert set(running.delegates) == ({DELEGATE} if action == "delegate-set" else set())


# ---- another way of speaking -----------------------------------------------------------------------------------------


@pytest.fixture
def spoken(tmp_path: Path) -> Iterator[Desk]:
    with second_venue(TRADER, speaking=OtherSpeech) as running:
        made = Desk(tmp_path, running)
        made.pin()
        yield made


def test_terms_that_the_plan_fixes_and_the_venue_does_not_sign_are_refused(tmp_path: Path) -> None:
    with second_venue(TRADER, types=OTHER) as running:
        (desk := Desk(tmp_path, running)).pin()
        fields = f'trader = "{TRADER}"\ndelegate = "{DELEGATE}"\nexpiry = {EXPIRY}\npossession = "waived"\n'
        assert desk.prepare("delegate", fields).code == 0
        ended = desk.prepare("delegate", f'{fields}terms_sha256 = "{"5a" * 32}"\n')
    assert (ended.code, "a field terms_sha256" in ended.err) == (3, True), ended.err


def test_the_limit_of_rate_is_kept_so_that_nothing_is_answered_by_429(spoken: Desk) -> None:
    before = len(spoken.venue.asked)
    ended = spoken.prepare("twap-cancel", f'trader = "{TRADER}"\ntwapId = 41\n')
    assert ended.code == 0, ended.err
    assert isinstance(spoken.venue, OtherSpeech)
    assert (len(spoken.venue.asked) - before >= 3, spoken.venue.too_soon) == (True, 0)
    # what the services file expects beside a payload is recorded, and not told each time
    assert "the builder also sent" not in ended.err
    assert "expiresAt" in spoken.path("online/transcript.jsonl").read_text()


def test_doctor_and_the_record_of_a_sending_name_the_fingerprint(spoken: Desk, ledger: Ledger) -> None:
    shown = spoken.online("config", "show", "--json")
    settings = {(row["section"], row["name"]): row for row in json.loads(shown.out)["settings"]}
    mark = settings["machine", "services_fingerprint"]["value"]
    assert settings["replies.relayer", "id"]["from"] == "services.toml"
    assert settings["paths", "pairs"]["from"] == "default"
    assert mark in "".join(spoken.online("doctor").out.split())
    ended = spoken.whole_way(ledger, "referral-set-code", f'referee = "{TRADER}"\ncode = "SECOND"\n')
    assert ended.code == 0, ended.err
    assert f'"services":"{mark}"' in spoken.path("online/transcript.jsonl").read_text().replace(": ", ":")


def test_a_word_that_says_failure_ends_nothing_and_nobody_is_told_to_sign_again(spoken: Desk, ledger: Ledger) -> None:
    spoken.venue.relay_says = "failed"
    assert spoken.prepare("claim-keeper-rewards", TRANSACTIONS["claim-keeper-rewards"], *BY_HAND).code == 0
    assert spoken.sign(ledger).code == 0
    ended = spoken.submit("--patience", 2, "--json")
    told = ended.out + ended.err
    assert (ended.code, outcome(ended)["state"]) == (9, "ACCEPTED"), told
    assert ("sign a new" in told, "sign again" in told, "FILLED" in told) == (False, False, False)


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
        with made.path("online/config.toml").open("a") as written:
            written.write(config)
        yield made


def test_a_venue_that_wants_a_key_gets_it_at_every_service_and_no_screen_does(keyed: Desk, ledger: Ledger) -> None:
    keyed.pin()
    ended = keyed.whole_way(ledger, "twap-cancel", f'trader = "{TRADER}"\ntwapId = 41\n')
    assert (ended.code, outcome(ended)["state"]) == (0, "CONFIRMED"), ended.out + ended.err
    assert {asked.headers.get("x-venue-key") for asked in keyed.venue.asked} == {KEY}
    written = [path for path in keyed.path("online").rglob("*") if path.is_file()]
    assert [path.name for path in written if KEY.encode() in path.read_bytes()] == []
    shown = keyed.online("config", "show", "--json")
    assert (shown.code, KEY in shown.out) == (0, False)
