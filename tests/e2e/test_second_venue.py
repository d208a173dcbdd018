"""A venue that follows the specification and nothing more, which nobody here wrote the other side of: the whole way.

``second_venue.venue`` says what it does where the specification says nothing. Only what no document shows (where the meta
document has what, the relayer's endpoint, bodies of the core API and of the TWAP service) stands in ``config.toml``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from commands import FinishedCommand, run_command
from e2e.conftest import OFFLINE, ONLINE, Ledger, start_ledger, stop_ledger
from second_venue.venue import SecondVenue, second_venue

TRADER = "0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D"  # the software Ledger's first account
CONFIG = """\
[meta]
trading_domain = "domains.trading"
referral_domain = "domains.referral"
contracts = "contracts"
simulator = "testnet"
pair_number = "pairIndex"
pair_name = "pair"
pair_pnl = "pnlPair"
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
id = "only"
action = "{action}"
signer = "treasury"
[steps.fields]
{fields}
"""
BY_HAND = ("--nonce", 4, "--gas", 120_000, "--max-fee-gwei", 5, "--priority-fee-gwei", 1)


class Desk:
    """Both machines at a table, and the second venue somewhere else."""

    def __init__(self, folder: Path, venue: SecondVenue, config: str = CONFIG) -> None:
        self.folder, self.venue = folder, venue
        (folder / "online").mkdir()
        (folder / "online/config.toml").write_text(config)

    def online(self, *words: object) -> FinishedCommand:
        return run_command(ONLINE, "--home", self.folder / "online", *words)

    def offline(self, *words: object, typed: str = "") -> FinishedCommand:
        return run_command(OFFLINE, "--home", self.folder / "offline", *words, typed=typed)

    def path(self, name: str) -> Path:
        return self.folder / name

    def fetch(self) -> FinishedCommand:
        named = {
            "builder": "builder",
            "batched-market": "market",
            "relayer": "relayer",
            "twap": "twap",
            "core-api": "core",
        }
        words = [word for option, name in named.items() for word in (f"--{option}", self.venue.address(name))]
        return self.online("deployment", "fetch", "--name", "second", *words, "-o", self.path("deployment.json"))

    def pin(self) -> None:
        assert (ended := self.fetch()).code == 0, ended.err
        assert (ended := self.offline("trust", self.path("deployment.json"), typed="Yes\n")).code == 0, ended.err
        words = ("--time", datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), "--uncertainty", 60)
        self.offline("preflight", *words)

    def prepare(self, action: str, fields: str, *more: object, plan: str = PLAN) -> FinishedCommand:
        self.path("plan.toml").write_text(plan.format(trader=TRADER, action=action, fields=fields))
        self.path("requests.json").unlink(missing_ok=True)
        return self.online("prepare", self.path("plan.toml"), "-o", self.path("requests.json"), *more)

    def sign(self, ledger: Ledger) -> FinishedCommand:
        self.path("signatures.json").unlink(missing_ok=True)
        words = ("--plan", self.path("plan.toml"), "-o", self.path("signatures.json"), "--emulator", ledger.port)
        return self.offline("sign", self.path("requests.json"), *words, typed="Yes\n" * 6)

    def submit(self, *more: object) -> FinishedCommand:
        return self.online("submit", self.path("signatures.json"), *more)

    def whole_way(self, ledger: Ledger, action: str, fields: str, *more: object) -> FinishedCommand:
        """Prepare, sign and submit one step; return how the submission ended."""
        assert (ended := self.prepare(action, fields, *more)).code == 0, ended.err
        assert (ended := self.sign(ledger)).code == 0, ended.err
        return self.submit("--json")


@pytest.fixture
def venue() -> Iterator[SecondVenue]:
    with second_venue(TRADER) as running:
        yield running


@pytest.fixture
def desk(tmp_path: Path, venue: SecondVenue) -> Desk:
    made = Desk(tmp_path, venue)
    made.pin()
    return made


@pytest.fixture(scope="module")
def ledger() -> Iterator[Ledger]:
    started = start_ledger("--blind-signing")
    yield started
    stop_ledger(started)


def outcome(ended: FinishedCommand) -> dict[str, object]:
    """Return the last thing that a submission told."""
    last: dict[str, object] = json.loads(ended.out.splitlines()[-1])
    return last


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


def test_a_position_is_increased_in_coins(desk: Desk, ledger: Ledger) -> None:
    ended = desk.whole_way(ledger, "increase-coin", INCREASE + 'slippagePercent = "0.5"\n')
    assert (ended.code, outcome(ended)["state"]) == (0, "FILLED"), ended.out + ended.err


def test_an_order_that_nobody_gives_a_slippage_is_not_built(desk: Desk) -> None:
    ended = desk.prepare("increase-coin", INCREASE)
    assert (ended.code, "tells no default slippage" in " ".join(ended.err.split())) == (2, True), ended.err
    assert "/v2/intents/increase-coin" not in desk.venue.paths("POST")
