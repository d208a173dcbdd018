"""The bytes that are signed: those of eth-account, and a second opinion that is asked before any signature."""

from __future__ import annotations

import json
from typing import Any

import pytest
from eth_account import Account
from eth_account.typed_transactions.typed_transaction import TypedTransaction
from eth_utils.crypto import keccak
from hypothesis import given
from hypothesis import strategies as st

from airlock_online.delivery.deliveries import raw_transaction
from airlock_online.delivery.routes.rpc import transaction_hash
from airlock_shared.checks.model import CallCase
from airlock_shared.documents.signatures import Answer
from airlock_shared.errors import Refusal
from airlock_shared.ethereum.signatures import checksum_address
from airlock_shared.ethereum.transactions import Transaction, signing_hash, unsigned_bytes
from draws import repeatable
from shared.make_payloads import KEYS, OTHER
from shared.world import VECTORS, confirm, examined, examined_of, good, plan, refusals, request_of, situation

FOLDER = "transactions"
STEPS = tuple(plan(FOLDER).steps)
SIGNED: dict[str, dict[str, str]] = json.loads((VECTORS / "transactions/signed.json").read_text())


def _examined(step: str) -> CallCase:
    found = examined_of(good(step, FOLDER), situation(FOLDER))
    assert found.verdicts.blocking() == []
    assert isinstance(found.case, CallCase)
    return found.case


def _parts(case: CallCase) -> tuple[dict[str, Any], Transaction]:
    assert case.request.transaction is not None
    return case.request.payload, case.request.transaction


def _signed(step: str) -> Answer:
    expected, signer = SIGNED[step], good(step, FOLDER)["requests"][0]["signer"]["address"]
    return Answer(step, "signed", "", expected["digest"], expected["signature"], signer, "transaction", "1.22.0")


@pytest.mark.parametrize("step", STEPS)
def test_the_hash_that_is_signed_is_that_of_eth_account(step: str) -> None:
    case = _examined(step)
    assert "0x" + case.digest.hex() == SIGNED[step]["digest"]
    assert signing_hash(*_parts(case)) == case.digest
    assert keccak(unsigned_bytes(*_parts(case))) == case.digest
    assert unsigned_bytes(*_parts(case))[0] == 2


def test_a_signature_over_another_transaction_is_refused() -> None:
    """A higher nonce, a higher fee: the same call, another hash."""
    for field, value in (("nonce", 5), ("maxFeePerGas", 3_000_000_000), ("gas", 300_000)):
        document = good("approve", FOLDER)
        document["requests"][0]["transaction"][field] = value
        found = examined(request_of(document), situation(FOLDER), _signed("approve"))
        assert refusals(found.verdicts.all()) == {"SIG-DIGEST"}


def test_a_refused_transaction_has_no_hash_and_its_signature_is_not_looked_at() -> None:
    document = good("approve", FOLDER)
    document["requests"][0]["payload"]["value"] = "0x1"
    found = examined(request_of(document), situation(FOLDER), _signed("approve"))
    results = {verdict.check: verdict.result for verdict in found.verdicts.all()}
    assert found.digest == b""
    assert results["TX-VALUE"] == "refused"
    assert {result for check, result in results.items() if check.startswith("SIG-")} == {"not-reached"}


# ---- the second opinion ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("position", [0, 15, 31])
def test_an_altered_hash_of_ours_is_a_disagreement(step: str, position: int) -> None:
    case = _examined(step)
    digest = bytearray(case.digest)
    digest[position] ^= 1
    _assert_disagrees(case._replace(digest=bytes(digest)))


@pytest.mark.parametrize(("name", "value"), [("to", OTHER), ("chainId", 1), ("data", "0x095ea7b3")])
def test_a_payload_altered_after_the_checks_is_a_disagreement(name: str, value: Any) -> None:
    case = _examined("approve")
    case.request.payload[name] = value
    _assert_disagrees(case)


@pytest.mark.parametrize("name", Transaction._fields)
def test_what_was_filled_in_and_altered_after_the_checks_is_a_disagreement(name: str) -> None:
    case = _examined("approve")
    _, filled = _parts(case)
    other = case.request._replace(transaction=filled._replace(**{name: getattr(filled, name) + 1}))
    _assert_disagrees(case._replace(request=other))


def _assert_disagrees(case: CallCase) -> None:
    with pytest.raises(Refusal) as caught:
        confirm(case)
    assert caught.value.check == "TX-DISAGREE"


@pytest.mark.parametrize("spelling", ["to", "from", "data", "value"])
def test_another_spelling_of_the_same_bytes_is_no_disagreement(spelling: str) -> None:
    document = good("approve", FOLDER)
    payload = document["requests"][0]["payload"]
    if spelling == "data":
        payload["data"] = "0x" + payload["data"][2:].upper()
    else:
        payload[spelling] = "0x" if spelling == "value" else payload[spelling].lower()
    found = examined_of(document, situation(FOLDER))
    assert found.verdicts.blocking() == []
    assert found.case is not None
    confirm(found.case)


# ---- any transaction ------------------------------------------------------------------------------------------------

_NUMBERS = st.one_of(st.integers(0, 2**64), st.sampled_from([0, 1, 127, 128, 255, 256, 2**32 - 1]))


@repeatable
@given(
    st.builds(Transaction, _NUMBERS, _NUMBERS, _NUMBERS, _NUMBERS),
    st.binary(min_size=20, max_size=20),
    st.binary(min_size=4, max_size=300),
    st.integers(1, 2**63),
    st.one_of(st.integers(0, 2**256 - 1), st.sampled_from([0, 1, 127, 128, 255, 256])),
    st.sampled_from(sorted(KEYS)),
)
def test_any_transaction_is_serialised_as_eth_account_does(
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
