"""A Ledger that was told of a token: an approval is shown with spender and amount while Blind signing is off."""

import pytest

from airlock_offline.ledger.device_errors import SettingOff, TokenRefused, WrongAnswer
from airlock_offline.ledger.screens import ShownTransaction, transaction_pages
from airlock_shared.documents.ledger_metadata import read_token_metadata
from airlock_shared.ethereum.signatures import keccak256
from offline.recordings import SIGNER, answering, recovered
from offline.test_message_filters import Desk
from shared.token_records import MAINNET_USDC, USDC_RECORD

PATH = "m/44'/60'/0'/0/0"
USDC = read_token_metadata(USDC_RECORD)
SPENDER = bytes.fromhex("11" * 20)
FEE_WEI = 60_000 * 2_000_000_000


def call(selector: str = "095ea7b3", amount: int = 2500 * 10**6, more: bytes = b"") -> bytes:
    return bytes.fromhex(selector) + bytes(12) + SPENDER + amount.to_bytes(32, "big") + more


def transaction(data: bytes, to: bytes = MAINNET_USDC, value: int = 0) -> bytes:
    """Return an unsigned EIP-1559 transaction on Ethereum."""
    from rlp import encode

    return b"\x02" + bytes(encode([1, 3, 10**8, 2 * 10**9, 60_000, to, value, data, []]))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (call(), "2500 USDC"),
        (call(amount=1), "0.000001 USDC"),
        (call(amount=2**256 - 1), "Unlimited USDC"),
        (call("a9059cbb"), "2500 USDC"),
    ],
)
def test_spender_and_amount_are_shown_with_blind_signing_off(data: bytes, said: str) -> None:
    desk, whole = Desk(), transaction(data)
    desk.app.provide_token(USDC)
    signature = desk.app.sign_transaction(PATH, whole)
    assert recovered(signature, keccak256(whole)) == SIGNER
    assert any(said in page for page in desk.shown)
    shown = ShownTransaction(SIGNER, 1, MAINNET_USDC, 0, FEE_WEI, data, keccak256(whole), USDC)
    assert desk.shown == transaction_pages(shown, "flex")
    assert "Blind signing ahead" not in desk.shown[0]
    with pytest.raises(SettingOff):  # the token is known for one transaction alone
        desk.app.sign_transaction(PATH, whole)


@pytest.mark.parametrize(
    ("data", "to", "value"),
    [
        (call(), SPENDER, 0),
        (call(), MAINNET_USDC, 1),
        (call("12345678"), MAINNET_USDC, 0),
        (call()[:4], MAINNET_USDC, 0),
        (call(more=bytes(96)), MAINNET_USDC, 0),
    ],
    ids=["another token", "value", "another call", "no arguments", "more than the app keeps"],
)
def test_nothing_else_is_signed_with_blind_signing_off(data: bytes, to: bytes, value: int) -> None:
    desk = Desk()
    desk.app.provide_token(USDC)
    with pytest.raises(SettingOff):
        desk.app.sign_transaction(PATH, transaction(data, to, value))
    assert desk.shown == []


def test_what_is_told_of_one_token_says_nothing_of_another_contract() -> None:
    shown = ShownTransaction(SIGNER, 1, SPENDER, 0, FEE_WEI, call(), bytes(32), USDC)
    pages = transaction_pages(shown, "flex")
    assert "Blind signing ahead" in pages[0]
    assert not any("2500 USDC" in page for page in pages)


@pytest.mark.parametrize("at", [0, 1, 8, 27, 31, 40, len(USDC_RECORD) - 1])
def test_a_record_with_one_other_bit_is_refused(at: int) -> None:
    record = USDC_RECORD[:at] + bytes((USDC_RECORD[at] ^ 1,)) + USDC_RECORD[at + 1 :]
    desk = Desk()
    with pytest.raises(TokenRefused, match="does not accept the pinned record"):
        desk.app.provide_token(USDC._replace(record=record))
    assert not desk.app.may_have_signed


def test_an_answer_that_is_no_place_is_named() -> None:
    with pytest.raises(WrongAnswer, match="0 bytes instead of 1"):
        answering(b"").provide_token(USDC)
