"""The program itself against the rehearsal services: every endpoint of the builder, by the command that uses it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from airlock_online.cli.main import program
from airlock_rehearsal.services.runtime import DEFAULT_TRADER, TRADING_STORAGE, RehearsalSettings
from airlock_rehearsal.services.server import RehearsalServices
from airlock_shared.cli.program import run
from airlock_shared.venue.actions import ACTIONS

KEY = "0x" + "22" * 20
EXPIRY_S = time.time_ns() // 10**9 + 86_400
BY_HAND = ["--nonce", "0", "--gas", "900000", "--max-fee-gwei", "2", "--priority-fee-gwei", "1"]
TRADER, CALLER = f"trader={DEFAULT_TRADER}", f"caller={DEFAULT_TRADER}"
SLOT = (TRADER, "pairIndex=0", "tradeIndex=0")
NO_ENDS = ("takeProfit=0", "stopLoss=0")
ADDED = (*SLOT, "additionalCollateralUsdc=10", "leverage=5", "slippagePercent=1")
COINS = ("coinExposure=0.001", "minLeverage=1", "maxLeverage=50")
DELEGATE = (TRADER, f"delegate={KEY}")
Run = Callable[..., Any]

FIELDS: dict[str, tuple[str, ...]] = {
    "open": (TRADER, "pairIndex=0", "side=long", "collateralUsdc=100", "leverage=5", "openPrice=64000"),
    "close": (*SLOT, "collateralToCloseUsdc=100", "expectedPrice=64000"),
    "increase": (*ADDED, "openPrice=64000"),
    "increase-coin": (*ADDED, *COINS, "openPrice=64000"),
    "tpsl-partial": (*SLOT, "kind=take_profit", "coinExposure=0.01", "side=long", "price=70000"),
    "twap-cancel": (TRADER, "twapId=1"),
    "referral-set-code": (f"referee={DEFAULT_TRADER}", "code=DESK"),
    "delegate": (*DELEGATE, f"expiry={EXPIRY_S}"),
    "position-increase": (*ADDED, "openPrice=64000"),
    "position-increase-coin": (*ADDED, *COINS, "openPrice=64000"),
    "limit-update": (TRADER, "pairIndex=2", "orderIndex=0", "price=121.5", "slippagePercent=1", *NO_ENDS),
    "referral-transfer": (CALLER, "code=DESK", f"newOwner={KEY}"),
    "referral-accept": (CALLER, "code=DESK"),
    "referral-set-code-tx": (CALLER, "code=DESK"),
    "referral-cancel-request": (CALLER,),
    "claim-keeper-rewards": (CALLER,),
    "delegate-set": (*DELEGATE, f"expiry={EXPIRY_S}"),
    "delegate-remove": DELEGATE,
    "token-approve": (TRADER, f"spender={TRADING_STORAGE}", "amountUsdc=250"),
}


@pytest.fixture(scope="module")
def services() -> Iterator[RehearsalServices]:
    with RehearsalServices(settings=RehearsalSettings(pacing_s=0, slow_s=0)) as running:
        yield running


@pytest.fixture(scope="module")
def home(services: RehearsalServices, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("online")
    words = ["--home", str(folder), "deployment", "fetch", "--name", "rehearsal", "--builder", services.builder_url]
    assert run(program, [*words, "-o", str(folder / "deployment.json")]) == 0
    return folder


@pytest.fixture
def ask(home: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def asked(*words: str, code: int = 0) -> Any:
        capsys.readouterr()
        ended = run(program, ["--home", str(home), *words, "--json"])
        out, err = capsys.readouterr()
        assert ended == code, err
        return json.loads(out)

    return asked


def test_every_action_with_an_endpoint_is_built_here() -> None:
    assert set(FIELDS) == {action.name for action in ACTIONS.values() if action.path}


@pytest.mark.parametrize("action", FIELDS)
def test_build_asks_the_actions_endpoint_and_no_check_refuses_the_answer(ask: Run, action: str) -> None:
    by_hand = BY_HAND if ACTIONS[action].call else []
    built = ask("build", action, *FIELDS[action], *by_hand)
    assert (built["ok"], built["endpoint"]) == (True, ACTIONS[action].path)
    assert built["payload"]


@pytest.mark.parametrize("words", [
    ("ready",), ("meta",), ("pairs",), ("positions", DEFAULT_TRADER), ("nonce", DEFAULT_TRADER, "5"),
    ("delegation", DEFAULT_TRADER, KEY), ("relay", "0x" + "ab" * 32),
], ids=lambda words: words[0])  # fmt: skip
def test_every_read_has_its_command(ask: Run, words: tuple[str, ...]) -> None:
    assert ask(*words)


@pytest.mark.parametrize("path", ["/v2/nonce", "/v2/reads/nonce"])
def test_the_nonce_is_read_under_either_name(ask: Run, home: Path, path: str) -> None:
    config = home / "config.toml"
    config.write_text('[venue]\nservices = "services.toml"\n')
    (home / "services.toml").write_text(f'format = "airlock/venue-services@1"\n[paths]\nnonce = "{path}"\n')
    try:
        assert ask("nonce", DEFAULT_TRADER, "5")
    finally:
        config.unlink()


def test_call_reaches_what_has_no_action_of_its_own(ask: Run) -> None:
    fields = (TRADER, "side=long", "collateralUsdc=100", "leverage=10", "pairIndex=0")
    assert "data" in ask("call", "POST", "/v2/trade/open", *fields)


@pytest.mark.parametrize("path", ["/v2/margin/update", "/v2/lp/vaults"])
def test_call_tells_the_builders_own_no(ask: Run, path: str) -> None:
    told = ask("call", "GET", path, code=8)
    assert told["error"]["code"] == "NOT_FOUND"
