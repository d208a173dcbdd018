"""The rehearsal's chain by its rules: nonces, moments, delegates; and the contracts are what their sources compile to."""

import json
import os
import re
import shutil
import subprocess
from hashlib import sha256

import pytest

from airlock_rehearsal.chain.evm import REFERRAL, ROUTER, USDC, Reverted
from airlock_rehearsal.chain.interface import ARTIFACTS, artifacts, encode_call, selector
from airlock_shared.venue.calls import CALLS, DELEGATED_ACTION
from airlock_shared.venue.structs import CATALOGUE
from draws import ALL
from online.chain.alterations import Bench, intent_of, signature_by
from online.chain.ground import (
    DESK_SENDER,
    EXPIRY_S,
    NODE_MODULES,
    NOW_S,
    ONE,
    ROOT,
    STRANGER,
    TREASURY_SENDER,
    USDC_ONE,
    Ground,
)
from shared.make_payloads import DESK, NOW_MS, TREASURY
from shared.make_transactions import NOT_SIGNED, SELECTORS
from shared.world import selectors

CONTRACTS = {"usdc": USDC, "tradingRouter": ROUTER, "referral": REFERRAL}
SOURCES = ROOT / "online/rehearsal/src/airlock_rehearsal/contracts"
SIZE_AT_MOST = 24_576  # EIP-170
DEPLOYED = ("Usdc", "TradingStorage", "Referral", "TradingRouter")


def test_the_spaces_of_trading_and_referral_are_independent(ground: Ground) -> None:
    ground.venue.submit(*intent_of("close", _nonce=4))
    assert ground.venue.nonce_used(ROUTER, TREASURY, 4)
    assert not ground.venue.nonce_used(REFERRAL, TREASURY, 4)
    ground.venue.submit(*intent_of("referral", _nonce=4))
    assert ground.venue.nonce_used(REFERRAL, TREASURY, 4)
    with pytest.raises(Reverted, match="NonceUsed"):
        ground.venue.submit(*intent_of("own-code", _nonce=4))


def test_a_delegates_intent_spends_the_traders_nonce(ground: Ground) -> None:
    bench = Bench("increase")
    intent = bytes.fromhex(bench.payload["encodedIntent"][2:])
    ground.venue.submit(bench.struct, intent, signature_by(DESK_SENDER, bench.payload))
    assert ground.venue.nonce_used(ROUTER, TREASURY, 6)
    assert not ground.venue.nonce_used(ROUTER, DESK, 6)
    with pytest.raises(Reverted, match="NonceUsed"):
        ground.venue.submit(bench.struct, intent, signature_by(TREASURY_SENDER, bench.payload))


@pytest.mark.parametrize(("deadline_ms", "last_s"), [(NOW_MS + 5_999, NOW_S + 5), (NOW_MS + 6_000, NOW_S + 6)])
def test_a_deadline_is_over_when_a_later_second_has_begun(ground: Ground, deadline_ms: int, last_s: int) -> None:
    arguments = intent_of("close", _deadline=deadline_ms)
    ground.clock.now_s = last_s
    ground.venue.check(*arguments)
    ground.clock.now_s = last_s + 1
    with pytest.raises(Reverted, match="DeadlineExpired"):
        ground.venue.check(*arguments)


def test_a_stamp_within_the_second_of_the_block_is_now_and_a_later_one_is_not(ground: Ground) -> None:
    ground.venue.check(*intent_of("take-profit", signTimestamp=NOW_MS + 999))
    with pytest.raises(Reverted, match="SignedInFuture"):
        ground.venue.check(*intent_of("take-profit", signTimestamp=NOW_MS + 1_000))
    ground.venue.check(*intent_of("take-profit", signTimestamp=NOW_MS - 600_000))
    with pytest.raises(Reverted, match="StaleSignature"):
        ground.venue.check(*intent_of("take-profit", signTimestamp=NOW_MS - 600_001))


def test_an_expired_removed_or_unknown_delegate_acts_for_nobody(ground: Ground) -> None:
    call = encode_call(ROUTER, "closeTradeMarket", 0, 2, 10 * USDC_ONE, 62_000 * ONE)
    with pytest.raises(Reverted, match="NotDelegate"):
        ground.send(STRANGER, ROUTER, "delegatedAction", TREASURY, call)
    with pytest.raises(Reverted, match="NotDelegate"):
        ground.send(TREASURY_SENDER, ROUTER, "delegatedAction", DESK, call)
    mark = ground.evm.snapshot()
    ground.send(TREASURY_SENDER, ROUTER, "removeDelegate", DESK)
    with pytest.raises(Reverted, match="NotDelegate"):
        ground.send(DESK_SENDER, ROUTER, "delegatedAction", TREASURY, call)
    ground.evm.go_back(mark)
    ground.clock.now_s = EXPIRY_S
    with pytest.raises(Reverted, match="NotDelegate"):
        ground.send(DESK_SENDER, ROUTER, "delegatedAction", TREASURY, call)


def test_the_selectors_are_the_published_ones() -> None:
    published = {signature.partition("(")[0]: text for signature, text in {**SELECTORS, **NOT_SIGNED}.items()}
    owners = {name: CONTRACTS[call.contract] for name, call in CALLS.items()}
    owners |= dict.fromkeys(("setDelegateWithSig", "multipleDelegations", DELEGATED_ACTION), ROUTER)
    owners |= dict.fromkeys(("setTraderReferralCodeByUserWithSig", "registerCodeWithSig"), REFERRAL)
    for name, text in published.items():
        for owner in (ROUTER, REFERRAL) if name == "nonceBitmap" else (owners[name],):
            assert selector(owner, name).hex() == text, name
    assert {bytes.fromhex(SELECTORS[s]): s.partition("(")[0] for s in SELECTORS} == selectors()


def test_the_committed_contracts_are_of_these_sources() -> None:
    committed = {path.name: sha256(path.read_bytes()).hexdigest() for path in SOURCES.glob("*.sol")}
    assert json.loads(ARTIFACTS.read_text())["sources"] == committed


if ALL:

    def test_the_sources_compile_to_the_committed_contracts() -> None:
        node = shutil.which("node")
        if node is None or not (NODE_MODULES / "solc").exists():
            pytest.skip("Node or solc is not here")
        compiled = subprocess.run(
            [node, str(ROOT / "tests/node/compile.mjs"), str(SOURCES)],
            env={"PATH": os.environ["PATH"], "NODE_PATH": str(NODE_MODULES)},
            capture_output=True,
            check=True,
        )
        assert compiled.stderr == b""
        assert compiled.stdout.decode() == ARTIFACTS.read_text()


def test_the_contracts_fit_on_a_chain_are_pinned_and_hash_the_types_of_the_catalogue() -> None:
    assert set(artifacts()) == set(DEPLOYED)
    assert all(0 < artifact["size"] <= SIZE_AT_MOST for artifact in artifacts().values())
    committed = json.loads(ARTIFACTS.read_text())
    assert committed["compiler"].startswith("0.8.37+commit.")
    assert committed["settings"]["metadata"] == {"appendCBOR": False, "bytecodeHash": "none"}
    pragmas = {re.search(r"pragma solidity (\S+);", path.read_text())[1] for path in SOURCES.glob("*.sol")}  # type: ignore[index]
    assert pragmas == {"0.8.37"}
    text = "".join(path.read_text() for path in sorted(SOURCES.glob("*.sol")))
    types = set(re.findall(r'"(\w+\([^"]*\))"', text))
    for intent in CATALOGUE.values():
        assert {f"{part})" for part in intent.encode_type.split(")") if part} <= types, intent.name
