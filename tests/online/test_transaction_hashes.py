"""The bytes that are signed: those of eth-account, and a second opinion that is asked before any signature."""

from typing import Any

import pytest
from eth_account import Account
from eth_account.typed_transactions.typed_transaction import TypedTransaction
from hypothesis import given
from hypothesis import strategies as st

from airlock_online.delivery.deliveries import raw_transaction
from airlock_online.delivery.routes.rpc import transaction_hash
from airlock_shared.checks.model import CallCase
from airlock_shared.ethereum.signatures import Transaction, checksum_address, signing_hash
from draws import repeatable
from refusals import check_of
from shared.make_payloads import KEYS, OTHER
from shared.world import call_case, confirm, plan

FOLDER = "transactions"
STEPS = tuple(plan(FOLDER).steps)
_NUMBERS = st.one_of(st.integers(0, 2**64), st.sampled_from([0, 1, 127, 128, 255, 256, 2**32 - 1]))


def _parts(case: CallCase) -> tuple[dict[str, Any], Transaction]:
    assert case.request.transaction is not None
    return case.request.payload, case.request.transaction


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("position", [0, 15, 31])
def test_an_altered_hash_of_ours_is_a_disagreement(step: str, position: int) -> None:
    case = call_case(step)
    digest = bytearray(case.digest)
    digest[position] ^= 1
    _assert_disagrees(case._replace(digest=bytes(digest)))


def test_what_was_altered_after_the_checks_is_a_disagreement() -> None:
    for name, value in (("to", OTHER), ("chainId", 1), ("data", "0x095ea7b3"), ("value", "0x1")):
        case = call_case("approve")
        case.request.payload[name] = value
        _assert_disagrees(case)
    for name in Transaction._fields:
        case = call_case("approve")
        _, filled = _parts(case)
        other = case.request._replace(transaction=filled._replace(**{name: getattr(filled, name) + 1}))
        _assert_disagrees(case._replace(request=other))


def _assert_disagrees(case: CallCase) -> None:
    assert check_of(confirm, case) == "TX-DISAGREE"


@repeatable
@given(
    st.builds(Transaction, _NUMBERS, _NUMBERS, _NUMBERS, _NUMBERS),
    st.binary(min_size=20, max_size=20),
    st.binary(min_size=4, max_size=300),
    st.integers(1, 2**63),
    st.one_of(st.integers(0, 2**256 - 1), st.sampled_from([0, 1, 127, 128, 255, 256])),
    st.sampled_from(sorted(KEYS)),
)
def test_any_transaction_is_serialised(
    filled: Transaction, to: bytes, data: bytes, chain_id: int, wei: int, signer: str
) -> None:
    payload = {"to": checksum_address(to), "data": "0x" + data.hex(), "value": hex(wei), "chainId": chain_id}
    fields = {"type": 2, "accessList": [], **payload, **filled._asdict(), "value": wei}
    assert signing_hash(payload, filled) == bytes(TypedTransaction.from_dict(fields).hash())
    signed = Account.sign_transaction(fields, KEYS[signer])
    signature = signed.r.to_bytes(32, "big") + signed.s.to_bytes(32, "big") + bytes([27 + signed.v])
    raw = raw_transaction(payload, filled, signature)
    assert raw == bytes(signed.raw_transaction)
    assert transaction_hash(raw) == bytes(signed.hash)
    assert Account.recover_transaction(raw) == signer
