"""Contract calls: the published selectors, one encoding each, the same as other libraries', and no surprises."""

from typing import Any

import pytest
from eth_abi.abi import decode as eth_decode
from eth_abi.abi import encode as eth_encode
from eth_utils.crypto import keccak
from hypothesis import given
from hypothesis import strategies as st

from airlock_shared.checks.transaction import CALL_CHECKS
from airlock_shared.errors import Refusal
from airlock_shared.ethereum.eip712 import encode_abi
from airlock_shared.venue import calls
from airlock_shared.venue.actions import ACTIONS
from airlock_shared.venue.calls import CALLS, Decoded, canonical, decode_call, selector_of
from draws import repeatable
from refusals import check_of
from shared.make_transactions import NOT_SIGNED, SELECTORS, SIGNATURES, calldata, parts_of
from shared.strategies import plain_values
from shared.world import selectors

SIGNED = {name: call.signature for name, call in CALLS.items()} | {calls.DELEGATED_ACTION: calls.DELEGATED_SIGNATURE}
TRADER = bytes.fromhex("f39fd6e51aad88f6f4ce6ab8827279cfffb92266")


def _decoded_or_refused(data: bytes) -> Decoded | None:
    try:
        return decode_call(data, CALLS)
    except Refusal:
        assert check_of(decode_call, data, CALLS) in {check.id for check in CALL_CHECKS}
        return None


@pytest.mark.parametrize("signature", SELECTORS)
def test_a_selector_is_the_published_one_and_the_keccak_of_our_signature(signature: str) -> None:
    name = signature.partition("(")[0]
    assert canonical(SIGNED[name]) == signature
    assert keccak(signature.encode())[:4].hex() == SELECTORS[signature]
    assert selectors()[bytes.fromhex(SELECTORS[signature])] == name


def _kinds(name: str) -> list[str]:
    """Return the atomic types of a call's leaves, in order."""
    return SIGNATURES[name].partition("(")[2].replace("(", "").replace(")", "").split(",") if CALLS[name].fields else []


@st.composite
def _calls(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A call of the table with any arguments that its types hold."""
    name = draw(st.sampled_from(sorted(CALLS)))
    message: dict[str, Any] = {}
    for field, kind in zip(CALLS[name].fields, _kinds(name), strict=True):
        *parents, last = field.path.split(".")
        node = message
        for part in parents:
            node = node.setdefault(part, {})
        node[last] = draw(plain_values(kind))
    return name, message


def _encoded(name: str, message: dict[str, Any]) -> bytes:
    return selector_of(SIGNED[name]) + encode_abi(CALLS[name].structs, message)


def _as_eth_abi(message: dict[str, Any]) -> list[Any]:
    return [
        "0x" + value.hex() if isinstance(value, bytes) and len(value) == 20
        else tuple(_as_eth_abi(value)) if isinstance(value, dict) else value
        for value in message.values()
    ]  # fmt: skip


def _types(name: str) -> list[str]:
    """Return a call's argument types as eth-abi wants them."""
    return parts_of(SIGNATURES[name].partition("(")[2].removesuffix(")"))


@repeatable
@given(_calls())
def test_any_call_is_encoded_as_eth_abi_does_and_read_back(made: tuple[str, dict[str, Any]]) -> None:
    name, message = made
    data = _encoded(name, message)
    assert data[:4].hex() == SELECTORS[SIGNATURES[name]]
    assert data[4:] == eth_encode(_types(name), _as_eth_abi(message))
    assert list(eth_decode(_types(name), data[4:])) == _as_eth_abi(message)
    decoded = decode_call(data, CALLS)
    assert (decoded.call.name, decoded.message, decoded.delegated_for) == (name, message, None)


@repeatable
@given(_calls(), st.binary(min_size=20, max_size=20))
def test_only_a_delegable_call_is_read_from_its_wrapping(made: tuple[str, dict[str, Any]], trader: bytes) -> None:
    name, message = made
    inner = "0x" + _encoded(name, message).hex()
    data = calldata("delegatedAction(address,bytes)", ["0x" + trader.hex(), inner])
    if not CALLS[name].delegable:
        assert check_of(decode_call, data, CALLS) == "TX-DELEGABLE"
        return
    decoded = decode_call(data, CALLS)
    assert (decoded.call.name, decoded.message, decoded.delegated_for) == (name, message, trader)
    nested = calldata("delegatedAction(address,bytes)", ["0x" + trader.hex(), "0x" + data.hex()])
    assert check_of(decode_call, nested, CALLS) == "TX-NESTED"


@repeatable
@given(_calls(), st.booleans(), st.data())
def test_other_bytes_are_another_call_or_a_refusal(
    made: tuple[str, dict[str, Any]], wrapped: bool, data: st.DataObject
) -> None:
    """No two texts of calldata are read as the same call: what is shown is what is signed."""
    name, message = made
    good = _encoded(name, message)
    if wrapped and CALLS[name].delegable:
        good = calldata("delegatedAction(address,bytes)", ["0x" + TRADER.hex(), "0x" + good.hex()])
    place = data.draw(st.integers(0, len(good) - 1))
    changed = {
        "bit": good[:place] + bytes([good[place] ^ 1 << data.draw(st.integers(0, 7))]) + good[place + 1 :],
        "cut": good[:place],
        "more": good + data.draw(st.binary(min_size=1, max_size=40)),
        "inserted": good[:place] + data.draw(st.binary(min_size=1, max_size=40)) + good[place:],
    }[data.draw(st.sampled_from(["bit", "bit", "cut", "more", "inserted"]))]
    other = _decoded_or_refused(changed)
    assert changed == good or other is None or other != decode_call(good, CALLS)


@repeatable
@given(st.sampled_from([*map(bytes.fromhex, SELECTORS.values()), b""]), st.binary(max_size=400))
def test_no_bytes_make_the_reader_of_calls_fall(selector: bytes, rest: bytes) -> None:
    decoded = _decoded_or_refused(selector + rest)
    assert decoded is None or decoded.call.name in CALLS


@pytest.mark.parametrize("signature", NOT_SIGNED)
def test_a_call_of_the_relayer_and_a_read_are_unknown(signature: str) -> None:
    assert keccak(signature.encode())[:4].hex() == NOT_SIGNED[signature]
    assert bytes.fromhex(NOT_SIGNED[signature]) not in selectors()


def test_every_call_is_some_action_s_and_only_trading_and_the_adoption_of_a_code_may_be_delegated() -> None:
    assert {canonical(text) for text in SIGNED.values()} == set(SELECTORS)
    assert len(selectors()) == len(SELECTORS)
    assert {action.call for action in ACTIONS.values() if action.call} == set(CALLS)
    assert {name for name, known in CALLS.items() if known.delegable} == {
        "increasePositionSize", "increasePositionSizeWithCoinExposure", "updateOpenLimitOrder", "openTrade",
        "closeTradeMarket", "setTraderReferralCodeByUser",
    }  # fmt: skip
