"""A venue in the shapes of the public services, taken from plan to end by its files alone; and what it may not achieve.

Its relayer takes transactions: the contract's own call with signature and intent. It tells no block, so that the operator's
node proves what it says.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import Ledger, ledger_fixture
from e2e.test_second_venue import BY_HAND, Desk, outcome
from third_venue.venue import BUSY_WORD, PROFILE, REFERRAL, ROUTER, SERVICES, STORAGE, ThirdVenue, third_venue

TRADER = "0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D"  # the software Ledger's first account
DELEGATE = "0x463e4e114AA57F54f2Fd2C3ec03572C6f75d84C2"
EXPIRY = (datetime.now(UTC) + timedelta(days=30)).strftime("%Y-%m-%dT00:00:00Z")
DELEGATION = f'trader = "{TRADER}"\ndelegate = "{DELEGATE}"\nexpiry = {EXPIRY}\npossession = "waived"\n'
CODE = f'referee = "{TRADER}"\ncode = "THIRD"\n'


class ThirdDesk(Desk):
    """Both machines at a table, the third venue somewhere else, and its chain by the operator's own node."""

    venue: Any

    def __init__(self, folder: Path, venue: Any, *, node: bool = True) -> None:
        super().__init__(folder, venue, SERVICES)
        self.profile = PROFILE
        if node:
            with (folder / "online/config.toml").open("a") as written:
                written.write(f'[rpc]\nurl = "{venue.address("node")}"\n')

    def signed(self, ledger: Ledger, action: str = "delegate", fields: str = DELEGATION) -> None:
        """Prepare and sign one step."""
        assert (ended := self.prepare(action, fields)).code == 0, ended.err
        assert (ended := self.sign(ledger)).code == 0, ended.err


@pytest.fixture
def venue() -> Iterator[ThirdVenue]:
    with third_venue(TRADER) as running:
        yield running


@pytest.fixture
def desk(tmp_path: Path, venue: ThirdVenue) -> ThirdDesk:
    made = ThirdDesk(tmp_path, venue)
    made.pin()
    return made


ledger = ledger_fixture("--blind-signing")


# ---- the whole way ---------------------------------------------------------------------------------------------------


def test_a_delegate_is_registered_by_the_contract_s_own_call(desk: ThirdDesk, ledger: Ledger) -> None:
    ended = desk.whole_way(ledger, "delegate", DELEGATION)
    assert outcome(ended)["state"] == "CONFIRMED", ended.out + ended.err
    assert set(desk.venue.delegates) == {DELEGATE}
    (sent,) = desk.venue.posted("/relays")
    assert (sent["wallet"], sent["txParams"]["to"]) == (TRADER, ROUTER)
    assert sent["txParams"]["data"].startswith("0xf4ec01eb")
    assert [each.path for each in desk.venue.asked].count("/v2/intents/delegate-set") == 1


@pytest.mark.parametrize(
    ("action", "fields", "selector"),
    [
        ("referral-set-code", CODE, "0x3e3c0e4d"),
        ("referral-register", CODE.replace("referee", "referrer"), "0xe66c3515"),
    ],
)
def test_a_code_is_adopted_and_registered(
    desk: ThirdDesk, ledger: Ledger, action: str, fields: str, selector: str
) -> None:
    ended = desk.whole_way(ledger, action, fields)
    assert outcome(ended)["state"] == "CONFIRMED", ended.out + ended.err
    (sent,) = desk.venue.posted("/relays")
    assert (sent["txParams"]["to"], sent["txParams"]["data"][:10]) == (REFERRAL, selector)
    code = b"THIRD".ljust(32, b"\0")
    assert (desk.venue.codes, desk.venue.owners) in (({TRADER: code}, {}), ({}, {code: TRADER}))


def test_a_position_is_closed_at_the_market(desk: ThirdDesk, ledger: Ledger) -> None:
    fields = (
        f'trader = "{TRADER}"\npair = "BTC/USD"\ntradeIndex = 0\ncollateralToCloseUsdc = "100"\n'
        'expectedPrice = { at_least = "63000", at_most = "65000" }\n'
    )
    ended = desk.whole_way(ledger, "close", fields)
    assert (ended.code, outcome(ended)["state"]) == (0, "FILLED"), ended.out + ended.err


def test_a_twap_is_opened_by_a_struct_of_the_venue_alone(desk: ThirdDesk, ledger: Ledger) -> None:
    fields = f'struct = "TwapOpenOrder"\ntrader = "{TRADER}"\npairIndex = "0"\ncollateral = "250000000"\n'
    ended = desk.whole_way(ledger, "custom", fields)
    assert (ended.code, outcome(ended)["state"]) == (0, "CONFIRMED"), ended.out + ended.err
    (sent,) = desk.venue.posted("/twaps/open")
    assert (sent["reserved1"], sent["pairIndex"], desk.venue.twaps["7"]["collateral"]) == ("0", 0, 250_000_000)


def test_a_position_s_own_trigger_is_put_at_its_name(desk: ThirdDesk, ledger: Ledger) -> None:
    fields = f'struct = "UpdateTpSlReq"\ntrader = "{TRADER}"\npairIndex = "0"\nindex = "0"\ntp = "700000000000000"\n'
    ended = desk.whole_way(ledger, "custom", fields)
    assert (ended.code, outcome(ended)["state"]) == (0, "CONFIRMED"), ended.out + ended.err
    assert desk.venue.triggers["e-2"]["tp"] == 700_000_000_000_000
    assert len(desk.venue.posted(f"/price-triggers/global-tp-{TRADER}-0-0")) == 1


def test_an_allowance_goes_by_the_builder_s_relay(desk: ThirdDesk, ledger: Ledger) -> None:
    fields = f'trader = "{TRADER}"\nspender = "{STORAGE}"\namountUsdc = "2500"\n'
    ended = desk.whole_way(ledger, "token-approve", fields, *BY_HAND)
    assert outcome(ended)["state"] == "CONFIRMED", ended.out + ended.err


def test_without_a_node_the_relayer_s_word_ends_nothing(tmp_path: Path, venue: ThirdVenue, ledger: Ledger) -> None:
    desk = ThirdDesk(tmp_path, venue, node=False)
    desk.pin()
    desk.signed(ledger)
    ended = desk.submit("--patience", 3, "--json")
    assert (ended.code, outcome(ended)["state"]) == (9, "ACCEPTED"), ended.out + ended.err
    assert "without a block beside it, that is no proof" in ended.out + ended.err
    assert len(venue.posted("/relays")) == 1


# ---- what it may not achieve -----------------------------------------------------------------------------------------


def test_busy_in_its_own_words_has_taken_nothing_and_it_is_sent_again_once(desk: ThirdDesk, ledger: Ledger) -> None:
    desk.signed(ledger)
    desk.venue.on_relay = lambda _: (503, {"code": BUSY_WORD, "message": "try later"})
    ended = desk.submit("--json")
    assert outcome(ended)["state"] == "REJECTED", ended.out + ended.err
    desk.venue.on_relay = None
    ended = desk.submit("--json")
    assert outcome(ended)["state"] == "CONFIRMED", ended.out + ended.err
    first, second = desk.venue.posted("/relays")
    assert first == second


def test_a_503_that_a_proxy_may_have_sent_leaves_it_unknown_and_nothing_is_sent_again(
    desk: ThirdDesk, ledger: Ledger
) -> None:
    desk.signed(ledger)
    desk.venue.on_relay = lambda _: (503, {"message": "Service Unavailable"})
    for _ in range(2):
        ended = desk.submit("--json", "--patience", 1)
        assert outcome(ended)["state"] == "UNKNOWN", ended.out + ended.err
    assert len(desk.venue.posted("/relays")) == 1


def test_a_busy_word_that_is_a_lie_cannot_have_it_executed_twice(desk: ThirdDesk, ledger: Ledger) -> None:
    """It was taken, and executed; before it is sent again the nonce is read, and it is not."""
    desk.signed(ledger)

    def lie(fields: dict[str, Any]) -> Any:
        desk.venue.relay(fields)
        return 503, {"code": BUSY_WORD}

    desk.venue.on_relay = lie
    assert outcome(desk.submit("--json"))["state"] in ("REJECTED", "CONFIRMED")
    ended = desk.submit("--json")
    assert outcome(ended)["state"] == "CONFIRMED", ended.out + ended.err
    assert len(desk.venue.posted("/relays")) == 1


def test_a_word_for_done_with_another_transaction_ends_nothing(desk: ThirdDesk, ledger: Ledger) -> None:
    desk.signed(ledger)
    other = desk.venue.mine(ROUTER, "0x1234").tx_hash
    read = {"requestId": "r-1", "status": "Finalised", "receipt": {"transactionHash": other, "status": 1}}
    desk.venue.relayed["r-1"] = {}
    desk.venue.on_relay, desk.venue.on_read = lambda _: {"requestId": "r-1"}, lambda _: read
    for _ in range(2):
        ended = desk.submit("--json", "--patience", 2)
        told = ended.out + ended.err
        assert (ended.code, outcome(ended)["state"]) == (9, "ACCEPTED"), told
        assert ("sign a new" in told, "sign again" in told) == (False, False)
    assert len(desk.venue.posted("/relays")) == 1


def test_an_own_struct_without_a_body_is_refused_before_anybody_signs(tmp_path: Path, venue: ThirdVenue) -> None:
    desk = ThirdDesk(tmp_path, venue)
    services = desk.path("online/services.toml")
    before, _, after = SERVICES.partition("[bodies.twap-TwapOpenOrder]")
    services.write_text(before + after[after.index("[bodies.") :])
    ended = desk.fetch()
    told = " ".join(ended.err.split())
    assert (ended.code, "TwapOpenOrder could not be delivered" in told) == (2, True), told
    assert "[bodies.twap-TwapOpenOrder]" in told
    assert not desk.path("deployment.json").exists()


def test_the_exported_call_is_the_one_that_the_relayer_gets(desk: ThirdDesk, ledger: Ledger) -> None:
    desk.signed(ledger)
    ended = desk.online("export", desk.path("signatures.json"), "-o", desk.path("export.json"))
    assert ended.code == 0, ended.err
    (item,) = json.loads(desk.path("export.json").read_text())["items"]
    desk.venue.execute(item["call"]["to"], item["call"]["data"])
    assert set(desk.venue.delegates) == {DELEGATE}
