"""A venue in the public shapes of the real services, by another hand: each ceremony from plan to end, by files alone.

``public_venue/venue.py`` was written from what is public by somebody who had seen neither this code nor the rehearsal. It
verifies digests, calls and signers by its own code, so that what was signed for another reason does not pass there.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from eth_account import Account

from e2e.conftest import Ledger, ledger_fixture
from e2e.test_second_venue import Desk, outcome

FILES = Path(__file__).parents[1] / "public_venue"
TRADER = "0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D"
DELEGATE = "0x463e4e114AA57F54f2Fd2C3ec03572C6f75d84C2"
EXPIRY = (datetime.now(UTC) + timedelta(days=90)).strftime("%Y-%m-%dT00:00:00Z")
POSITION = f'trader = "{TRADER}"\npairIndex = 0\ntradeIndex = 0\n'
BETWEEN = '{ at_least = "63000", at_most = "65000" }'
TRIGGER = f'{POSITION}kind = "take_profit"\ncoinExposure = "0.05"\nside = "long"\n'
CODE = 'code = "TAKEN"\n'
OPENED = f'collateralUsdc = "250"\nopenPrice = {BETWEEN}\n'
TWAP = 'buy = true\ncollateral = "300000000"\nleverage = "100000000000"\nslices = "5"\ninterval = "60"\n'


class Venue:
    """The venue's process, and what it says of itself: the address of each service and of its node."""

    types = None  # of the base class: other structs by a profile of its own

    def __init__(self, *words: str) -> None:
        self.process = subprocess.Popen([sys.executable, FILES / "venue.py", *words], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.told: dict[str, Any] = json.loads(self.process.stdout.readline())

    def address(self, name: str) -> str:
        return str(self.told[name])

    def post(self, url: str, body: object) -> Any:
        return httpx.post(url, json=body, timeout=30).json()

    def rpc(self, method: str, *params: object) -> Any:
        return self.post(self.told["rpc"], {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})["result"]

    def takes_every_contract(self, *, on: bool) -> None:
        """Let the relayer take calls of every pinned contract, or of the router alone, as the public one does."""
        self.post(self.told["rpc"].replace("/rpc", "/_venue/set"), {"relay_type2": "pinned" if on else "router"})

    def end(self) -> None:
        self.process.terminate()
        self.process.wait(20)
        assert self.process.stdout is not None
        self.process.stdout.close()


class PublicDesk(Desk):
    """Both machines at a table; the venue's two files are all that this venue needs."""

    def __init__(self, folder: Path, venue: Any) -> None:
        super().__init__(folder, venue, (FILES / "services.toml").read_text())
        self.profile = json.loads((FILES / "profile.json").read_text())
        with (folder / "online/config.toml").open("a") as written:
            written.write(f'[rpc]\nurl = "{venue.address("rpc")}"\n')

    def ends(self, ledger: Ledger, action: str, fields: str, *more: str) -> dict[str, Any]:
        """Go the whole way of one step, and return the last thing that was told."""
        assert (ended := self.prepare(action, fields)).code == 0, ended.err
        assert (ended := self.sign(ledger)).code == 0, ended.err
        ended = self.submit("--json", *more)
        return outcome(ended) | {"code": ended.code}


@pytest.fixture(scope="module")
def venue() -> Iterator[Venue]:
    running = Venue("--strict-nonce")
    yield running
    running.end()


ledger = ledger_fixture("--blind-signing")


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, venue: Venue) -> PublicDesk:
    made = PublicDesk(tmp_path_factory.mktemp("public"), venue)
    made.pin()
    return made


DELEGATED = f'trader = "{TRADER}"\ndelegate = "{DELEGATE}"\nexpiry = {EXPIRY}\npossession = "waived"\n'
ENDS: dict[str, tuple[str, ...]] = {
    "an allowance": ("CONFIRMED", "token-approve", f'trader = "{TRADER}"\nspender = "STORAGE"\namountUsdc = "2500"\n'),
    "a delegate by a transaction": ("CONFIRMED", "delegate-set", DELEGATED, "--by-rpc"),
    "its removal": ("CONFIRMED", "delegate-remove", f'trader = "{TRADER}"\ndelegate = "{DELEGATE}"\n', "--by-rpc"),
    "a delegate": ("CONFIRMED", "delegate", DELEGATED),
    "a close": ("FILLED", "close", f'{POSITION}collateralToCloseUsdc = "100"\nexpectedPrice = {BETWEEN}\n'),
    "an open": ("FILLED", "open", f'trader = "{TRADER}"\npairIndex = 0\nside = "long"\nleverage = "10"\n{OPENED}'),
    "a running TWAP": ("CONFIRMED", "twap-cancel", f'trader = "{TRADER}"\ntwapId = 41\n'),
    "a new TWAP": ("CONFIRMED", "custom", f'struct = "TwapOpenOrder"\ntrader = "{TRADER}"\npairIndex = "0"\n{TWAP}'),
}


@pytest.mark.parametrize("what", ENDS)
def test_each_step_reaches_its_end(desk: PublicDesk, ledger: Ledger, what: str) -> None:
    state, action, fields, *more = ENDS[what]
    pinned = json.loads(desk.path("deployment.json").read_text())["contracts"]
    ended = desk.ends(ledger, action, fields.replace("STORAGE", pinned["tradingStorage"]), *more)
    assert (ended["state"], ended["code"]) == (state, 0), ended


def test_a_trigger_is_armed_and_then_replaced(desk: PublicDesk, ledger: Ledger) -> None:
    ended = desk.ends(ledger, "tpsl-partial", TRIGGER + 'price = "70000"\n')
    assert ended["state"] == "CONFIRMED", ended
    stored = re.findall(r"partial-[0-9a-f-]{36}", json.dumps(ended))
    ended = desk.ends(ledger, "tpsl-partial", f'{TRIGGER}price = "71000"\nreplaces = "{stored[0]}"\n')
    assert ended["state"] == "CONFIRMED", ended


def test_the_take_profit_of_a_position_is_put(desk: PublicDesk, ledger: Ledger, venue: Venue) -> None:
    trades = venue.post(venue.address("builder") + "/v2/positions", {"trader": TRADER})["data"]["trades"]
    opened = next(
        each["trade"]["timestamp"]
        for each in trades
        if (each["trade"]["pairIndex"], each["trade"]["index"]) == ("0", "0")
    )
    fields = (
        f'struct = "UpdateTpSlReq"\ntrader = "{TRADER}"\npairIndex = "0"\nindex = "0"\ntimestamp = "{opened}"\n'
        'newTp = "700000000000000"\nnewSl = "500000000000000"\n'
    )
    assert desk.ends(ledger, "custom", fields)["state"] == "CONFIRMED"


def test_a_code_s_intent_that_a_relayer_of_the_router_alone_refuses_is_confirmed_by_another_sender(
    desk: PublicDesk, ledger: Ledger, venue: Venue
) -> None:
    rejected = desk.ends(ledger, "referral-set-code", f'referee = "{TRADER}"\n{CODE}')
    assert (rejected["state"], rejected["code"]) == ("REJECTED", 8), rejected
    assert desk.online("export", desk.path("signatures.json"), "-o", desk.path("package.json")).code == 0
    call = json.loads(desk.path("package.json").read_text())["items"][0]["call"]
    stranger = Account.create()
    fees = {"gas": 500_000, "maxFeePerGas": 10**9, "maxPriorityFeePerGas": 10**8}
    fields = {"type": 2, "chainId": 31337, "value": 0, **fees}
    filled = [{**fields, "nonce": 0, "to": call["to"], "data": call["data"]}, {**fields, "nonce": 1, "to": TRADER}]
    sent = [venue.rpc("eth_sendRawTransaction", "0x" + bytes(stranger.sign_transaction(each).raw_transaction).hex())
            for each in filled]  # fmt: skip
    assert venue.rpc("eth_getTransactionReceipt", sent[0])["status"] == "0x1"
    resolved = desk.online("resolve", "--transaction", sent[0], "--json", rejected["digest"])
    assert resolved.code == 0
    assert resolved.json()[0]["state"] == "CONFIRMED", resolved


def test_a_code_is_registered_and_adopted_through_a_relayer_that_takes_every_contract(
    desk: PublicDesk, ledger: Ledger, venue: Venue
) -> None:
    venue.takes_every_contract(on=True)
    try:
        for action, whose in (("referral-register", "referrer"), ("referral-set-code", "referee")):
            ended = desk.ends(ledger, action, f'{whose} = "{TRADER}"\ncode = "DESK27"\n')
            assert ended["state"] == "CONFIRMED", ended
    finally:
        venue.takes_every_contract(on=False)
