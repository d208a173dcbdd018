"""A venue in the public shapes of the real services, by another hand: each ceremony from plan to end, by files alone.

``public_venue/venue.py`` was written from what is public by somebody who had seen neither this code nor the rehearsal. It
verifies digests and signers by eth-account, and calls by its own code: what was signed for another reason does not pass. Its
relayer takes the contract's own call with signature and intent, and tells no block, so that the operator's node proves what
it says. ``tests/online/test_third_venue.py`` has each answer of the relayer, case by case.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account

from e2e.conftest import Ledger, ledger_fixture
from e2e.test_second_venue import DELEGATE, Desk, outcome
from plans import TRADER
from third_venue.venue import PROFILE, SERVICES, third_venue

EXPIRY = (datetime.now(UTC) + timedelta(days=90)).strftime("%Y-%m-%dT00:00:00Z")
DELEGATION = f'trader = "{TRADER}"\ndelegate = "{DELEGATE}"\nexpiry = {EXPIRY}\npossession = "waived"\n'
CODE = f'referee = "{TRADER}"\ncode = "THIRD"\n'
POSITION = f'trader = "{TRADER}"\npairIndex = 0\ntradeIndex = 0\n'
BETWEEN = '{ at_least = "63000", at_most = "65000" }'
TRIGGER = f'{POSITION}kind = "take_profit"\ncoinExposure = "0.05"\nside = "long"\n'
OPENED = f'collateralUsdc = "250"\nopenPrice = {BETWEEN}\n'
TWAP = 'buy = true\ncollateral = "300000000"\nleverage = "100000000000"\nslices = "5"\ninterval = "60"\n'


class ThirdDesk(Desk):
    """Both machines at a table, the third venue somewhere else, and its chain by the operator's own node.

    The venue's two files are all that this venue needs.
    """

    venue: Any

    def __init__(self, folder: Path, venue: Any) -> None:
        super().__init__(folder, venue, SERVICES)
        self.profile = PROFILE
        with self.path("online-home/config.toml").open("a") as written:
            written.write(f'[rpc]\nurl = "{venue.address("node")}"\n')

    def ends(self, ledger: Ledger, action: str, fields: str, *more: str) -> dict[str, Any]:
        """Go the whole way of one step, and return the last thing that was told."""
        ended = self.prepare(action, fields).done()
        ended = self.sign(ledger).done()
        ended = self.submit("--json", *more)
        return outcome(ended) | {"code": ended.code}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ThirdDesk]:
    with third_venue(strict_nonce=True) as running:
        made = ThirdDesk(tmp_path_factory.mktemp("third"), running)
        made.pin()
        yield made


ledger = ledger_fixture("--blind-signing")


# ---- the whole way ---------------------------------------------------------------------------------------------------

ENDS: dict[str, tuple[str, ...]] = {
    "an allowance": ("CONFIRMED", "token-approve", f'trader = "{TRADER}"\nspender = "STORAGE"\namountUsdc = "2500"\n'),
    "a delegate by a transaction": ("CONFIRMED", "delegate-set", DELEGATION, "--by-rpc"),
    "its removal": ("CONFIRMED", "delegate-remove", f'trader = "{TRADER}"\ndelegate = "{DELEGATE}"\n', "--by-rpc"),
    "a delegate": ("CONFIRMED", "delegate", DELEGATION),
    "a close": ("FILLED", "close", f'{POSITION}collateralToCloseUsdc = "100"\nexpectedPrice = {BETWEEN}\n'),
    "an open": ("FILLED", "open", f'trader = "{TRADER}"\npairIndex = 0\nside = "long"\nleverage = "10"\n{OPENED}'),
    "a running TWAP": ("CONFIRMED", "twap-cancel", f'trader = "{TRADER}"\ntwapId = 41\n'),
    "a new TWAP": ("CONFIRMED", "custom", f'struct = "TwapOpenOrder"\ntrader = "{TRADER}"\npairIndex = "0"\n{TWAP}'),
}


@pytest.mark.parametrize("what", ENDS)
def test_each_step_reaches_its_end(desk: ThirdDesk, ledger: Ledger, what: str) -> None:
    state, action, fields, *more = ENDS[what]
    pinned = json.loads(desk.path("deployment.json").read_text())["contracts"]
    ended = desk.ends(ledger, action, fields.replace("STORAGE", pinned["tradingStorage"]), *more)
    assert (ended["state"], ended["code"]) == (state, 0), ended


def test_a_trigger_is_armed_and_then_replaced(desk: ThirdDesk, ledger: Ledger) -> None:
    ended = desk.ends(ledger, "tpsl-partial", TRIGGER + 'price = "70000"\n')
    assert ended["state"] == "CONFIRMED", ended
    stored = re.findall(r"partial-[0-9a-f-]{36}", json.dumps(ended))
    ended = desk.ends(ledger, "tpsl-partial", f'{TRIGGER}price = "71000"\nreplaces = "{stored[0]}"\n')
    assert ended["state"] == "CONFIRMED", ended


def test_the_take_profit_of_a_position_is_put(desk: ThirdDesk, ledger: Ledger) -> None:
    trades = [each["trade"] for each in desk.venue.read("/v2/positions", trader=TRADER)["trades"]]
    [opened] = [trade["timestamp"] for trade in trades if (trade["pairIndex"], trade["index"]) == ("0", "0")]
    fields = (
        f'struct = "UpdateTpSlReq"\ntrader = "{TRADER}"\npairIndex = "0"\nindex = "0"\ntimestamp = "{opened}"\n'
        'newTp = "700000000000000"\nnewSl = "500000000000000"\n'
    )
    assert desk.ends(ledger, "custom", fields)["state"] == "CONFIRMED"


def test_a_code_s_intent_that_a_relayer_of_the_router_alone_refuses_is_confirmed_by_another_sender(
    desk: ThirdDesk, ledger: Ledger
) -> None:
    rejected = desk.ends(ledger, "referral-set-code", CODE.replace("THIRD", "TAKEN"))
    assert (rejected["state"], rejected["code"]) == ("REJECTED", 8), rejected
    assert desk.online("export", desk.path("signatures.json"), "-o", desk.path("package.json")).code == 0
    call = json.loads(desk.path("package.json").read_text())["items"][0]["call"]
    stranger = Account.create()
    fees = {"gas": 500_000, "maxFeePerGas": 10**9, "maxPriorityFeePerGas": 10**8}
    fields = {"type": 2, "chainId": 31337, "value": 0, **fees}
    filled = [{**fields, "nonce": 0, "to": call["to"], "data": call["data"]}, {**fields, "nonce": 1, "to": TRADER}]
    raw = [bytes(stranger.sign_transaction(each).raw_transaction).hex() for each in filled]
    first, _ = [desk.venue.module.rpc("eth_sendRawTransaction", [f"0x{each}"]) for each in raw]
    assert desk.venue.module.rpc("eth_getTransactionReceipt", [first])["status"] == "0x1"
    resolved = desk.online("resolve", "--transaction", first, "--json", rejected["digest"])
    assert resolved.code == 0
    assert resolved.json()[0]["state"] == "CONFIRMED", resolved


def test_a_code_is_registered_and_adopted_through_a_relayer_that_takes_every_contract(
    desk: ThirdDesk, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk.venue.module, "RELAY_TYPE2", "pinned")
    for action, whose in (("referral-register", "referrer"), ("referral-set-code", "referee")):
        ended = desk.ends(ledger, action, f'{whose} = "{TRADER}"\ncode = "DESK27"\n')
        assert ended["state"] == "CONFIRMED", ended


def test_an_own_struct_without_a_body_is_refused_before_anybody_signs(desk: ThirdDesk, tmp_path: Path) -> None:
    other = ThirdDesk(tmp_path, desk.venue)
    before, _, after = SERVICES.partition("[bodies.twap-TwapOpenOrder]")
    other.path("online-home/services.toml").write_text(before + after[after.index("[bodies.") :])
    ended = other.fetch()
    told = " ".join(ended.err.split())
    assert (ended.code, "TwapOpenOrder could not be delivered" in told) == (2, True), told
    assert not other.path("deployment.json").exists()
