"""What a hot wallet asks: taken as the plan's step, judged by the same checks, and answered under the wallet's own id."""

from __future__ import annotations

import json
import uuid
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import rlp

from airlock_offline.home import OfflineHome
from airlock_offline.wallets import hot_wallet
from airlock_shared.checks.model import Situation
from airlock_shared.documents.requests import Answer, Request, SignaturesHeader
from airlock_shared.documents.transcript import GENESIS
from airlock_shared.errors import Refusal, UsageError
from airlock_shared.ethereum.signatures import recover, unsigned_bytes
from airlock_shared.plan.reader import parse_plan
from airlock_shared.ur.eth import DataType, Keypath, Signature, SignRequest
from refusals import check_of
from shared.make_payloads import DOMAIN_TYPE, NOW_MS, TREASURY
from shared.world import PLAN_TEXTS, VECTORS, deployment, examined, good, plan_text_of, refusals
from shared.world import request_of as vector_request

ID = uuid.UUID("9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d")
PATH = "m/44'/60'/0'/0/0"
SIGNATURES = {
    item["step"]: item for item in json.loads((VECTORS / "signatures/good/every-struct.json").read_text())["signatures"]
}


@cache
def situation(step: str, folder: str = "requests") -> Situation:
    """The vectors' world with a plan that has this step alone."""
    return Situation(parse_plan(plan_text_of(step, folder=folder).encode()), deployment(), NOW_MS)


def typed(step: str, **changes: Any) -> dict[str, Any]:
    """A step's intent as a wallet holds it, members changed."""
    payload = good(step)["requests"][0]["payload"]
    types = {"EIP712Domain": DOMAIN_TYPE, **payload["types"]}
    document = {"types": types, **{name: payload[name] for name in ("primaryType", "domain", "message")}}
    return document | changes


def asks(data: dict[str, Any] | bytes, **changes: Any) -> SignRequest:
    """A wallet's request with typed data, or with other bytes."""
    sign_data = data if isinstance(data, bytes) else json.dumps(data).encode()
    address, chain_id = bytes.fromhex(TREASURY[2:]), deployment().chain_id
    asked = SignRequest(sign_data, DataType.TYPED_DATA, Keypath.of(PATH, 0x73C5DA0A), chain_id, ID, address, "MetaMask")
    return asked._replace(**changes)


def taken(asked: SignRequest, step: str, folder: str = "requests") -> Request:
    where = situation(step, folder)
    return hot_wallet.wallet_request(asked, hot_wallet.only_step(where.plan, step), where)


def judged(asked: SignRequest, step: str, folder: str = "requests") -> set[str]:
    """The checks that refuse what a wallet asks, in the end."""
    try:
        request = taken(asked, step, folder)
    except Refusal as refusal:
        return {refusal.check}
    return refusals(examined(request, situation(step, folder)).verdicts.found)


INTENTS = sorted(path.stem for path in (VECTORS / "requests/good").glob("*.json") if path.stem != "desk-key-terms")
OWN = [step for step in INTENTS if vector_request(good(step)).delegation is None]
TRANSACTIONS = sorted(path.stem for path in (VECTORS / "transactions/good").glob("*.json"))


@pytest.mark.parametrize("step", OWN)
def test_an_intent_passes_the_checks_as_if_the_builder_had_built_it(step: str) -> None:
    vector, request = vector_request(good(step)), taken(asks(typed(step), address=None), step)
    assert judged(asks(typed(step), address=None), step) == set()
    for name in ("digest", "encodedIntent", "signerRule", "intent"):
        assert request.payload[name] == vector.payload[name]
    fields = [{n: v for n, v in each.fields.items() if n != "deadlineMs"} for each in (request, vector)]
    assert fields[0] == fields[1]  # a deadline that was asked for is the limit's to judge
    assert (request.route, request.order_type) == (vector.route, vector.order_type)


def transaction(step: str, **changes: Any) -> SignRequest:
    vector = vector_request(good(step, "transactions"))
    assert vector.transaction is not None
    data = unsigned_bytes(vector.payload, vector.transaction)
    address, path = bytes.fromhex(vector.signer[2:]), Keypath.of(vector.path)
    return asks(data, data_type=DataType.TYPED_TRANSACTION, address=address, path=path)._replace(**changes)


@pytest.mark.parametrize("step", TRANSACTIONS)
def test_a_transaction_passes_as_prepared_but_for_a_registration_that_nobody_here_knows(step: str) -> None:
    vector = vector_request(good(step, "transactions"))
    expected = set() if vector.delegation is None else {"TX-DELEGATE"}
    assert judged(transaction(step), step, "transactions") == expected
    request = taken(transaction(step), step, "transactions")
    assert (request.transaction, request.route) == (vector.transaction, "relay")
    assert request.payload["data"].lower() == vector.payload["data"].lower()


DESK_KEY = good("desk-key")["requests"][0]["payload"]
DOMAIN = DESK_KEY["domain"]
EXTRA = {"types": {**DESK_KEY["types"], "EIP712Domain": DOMAIN_TYPE, "Extra": [{"name": "a", "type": "bool"}]}}
RENAMED = json.loads(json.dumps(typed("desk-key")).replace("DelegateReq", "PermitReq"))
BAD: dict[str, tuple[SignRequest, str]] = {
    "a personal message": (asks(b"Sign in to example.org", data_type=DataType.PERSONAL_MESSAGE), "PLAN-ACTION"),
    "another account": (asks(typed("desk-key"), address=bytes(20)), "SIGNER-PLANNED"),
    "another path": (asks(typed("desk-key"), path=Keypath.of("m/44'/60'/0'/0/1")), "SIGNER-PLANNED"),
    "another chain said": (asks(typed("desk-key"), chain_id=1), "DOMAIN-CHAIN"),
    "another contract": (asks(typed("desk-key", domain=DOMAIN | {"verifyingContract": TREASURY})), "DOMAIN-CONTRACT"),
    "another delegate": (asks(typed("desk-key", message=DESK_KEY["message"] | {"delegate": TREASURY})), "PLAN-FIELD"),
    "an unknown struct": (asks(RENAMED), "TYPES-KNOWN"),
    "a struct too many": (asks(typed("desk-key", **EXTRA)), "TYPES-PINNED"),
    "a member beside": (asks(typed("desk-key", note="x")), "TYPES-DOCUMENT"),
    "no JSON": (asks(b"\x19\x01" + bytes(64)), "DOC-JSON"),
    "the same member twice": (asks(b'{"types":{},"types":{}}'), "DOC-DUPLICATE"),
    "typed data called a transaction": (asks(typed("desk-key"), data_type=DataType.TYPED_TRANSACTION), "TX-KEYS"),
    "a legacy transaction": (asks(b"\xc0", data_type=DataType.TRANSACTION), "TX-KEYS"),
    "a transaction for an intent's step": (transaction("cancel-request", path=Keypath.of(PATH)), "PLAN-ACTION"),
}  # fmt: skip


@pytest.mark.parametrize(("asked", "check"), BAD.values(), ids=BAD)
def test_what_the_plan_does_not_ask_for_is_refused(asked: SignRequest, check: str) -> None:
    assert check in judged(asked, "desk-key")


@pytest.mark.parametrize("data", [b"\x19\x01", b'{"types":{},"types":{}}', b"\xef\xbb\xbf{}"])
def test_what_was_scanned_is_no_file_to_be_named(data: bytes) -> None:
    with pytest.raises(Refusal) as refused:
        taken(asks(data), "desk-key")
    assert refused.value.do.startswith("have the other wallet show it again")


# ---- an unsigned transaction as a wallet shows it: one form is read, every other one has its refusal ---------------------

TO = bytes.fromhex("f39Fd6e51aad88F6F4ce6aB8827279cffFb92266")
FIELDS: list[Any] = [8453, 7, 1_000_000, 2_000_000_000, 60_000, TO, 0, bytes.fromhex("851b16f5"), []]


def written(**changes: Any) -> bytes:
    """The bytes of a transaction with fields changed, by their place (``f0`` to ``f8``)."""
    fields = [changes.get(f"f{place}", value) for place, value in enumerate(FIELDS)]
    return b"\x02" + bytes(rlp.encode(fields))


LEGACY = bytes(rlp.encode([7, 2_000_000_000, 60_000, TO, 0, b"", 8453, b"", b""]))
NOT_THE_ONE_FORM = {
    "legacy": (LEGACY, "TX-KEYS"),
    "type-4": (b"\x04" + written()[1:], "TX-KEYS"),
    "nothing": (b"", "TX-KEYS"),
    "access-list": (written(f8=[[TO, [bytes(32)]]]), "TX-KEYS"),
    "nonce-of-33-bytes": (written(f1=2**256), "QR-FIELD"),
    "creates-a-contract": (written(f5=b""), "TX-TO"),
    "to-too-long": (written(f5=TO + b"\0"), "TX-TO"),
    "data-is-a-list": (written(f7=[b"\x85"]), "QR-FIELD"),
    "nonce-is-a-list": (written(f1=[]), "QR-FIELD"),
    "nonce-as-a-zero-byte": (written(f1=b"\0"), "QR-FIELD"),
    "eight-fields": (b"\x02" + bytes(rlp.encode(FIELDS[:8])), "QR-FIELD"),
    "signed": (b"\x02" + bytes(rlp.encode([*FIELDS, 1, 2, 3])), "QR-FIELD"),
    "no-rlp": (b"\x02\xff\xff\xff", "QR-FIELD"),
    "cut": (written()[:-1], "QR-FIELD"),
    "a-byte-behind": (written() + b"\0", "QR-FIELD"),
    "a-length-in-the-long-form": (b"\x02\xf8" + bytes([len(written()) - 2]) + written()[2:], "QR-FIELD"),
    "nested-deep": (b"\x02" + b"\xc1" * 5_000 + b"\xc0", "QR-FIELD"),
    "too-long": (written(f7=bytes(hot_wallet.MAX_TRANSACTION_BYTES)), "QR-FIELD"),
}


@pytest.mark.parametrize(("data", "check"), NOT_THE_ONE_FORM.values(), ids=NOT_THE_ONE_FORM)
def test_anything_but_the_one_form_is_refused(data: bytes, check: str) -> None:
    assert check_of(hot_wallet.read_unsigned, data) == check


def test_a_transaction_on_another_chain_or_too_dear_is_refused() -> None:
    vector = vector_request(good("cancel-request", "transactions"))
    assert vector.transaction is not None
    other = unsigned_bytes(vector.payload | {"chainId": 1}, vector.transaction)
    dear = unsigned_bytes(vector.payload, vector.transaction._replace(maxFeePerGas=10**12))
    step, folder = "cancel-request", "transactions"
    assert judged(transaction(step, chain_id=1), step, folder) == {"TX-CHAIN"}
    assert judged(transaction(step, sign_data=other), step, folder) == {"TX-CHAIN"}
    assert judged(transaction(step, sign_data=dear), step, folder) == {"TX-FEES"}


def test_a_plan_with_more_steps_is_refused_and_so_is_another_step() -> None:
    with pytest.raises(Refusal, match="PLAN-STEPS"):
        hot_wallet.only_step(parse_plan(PLAN_TEXTS["requests"].encode()), "desk-key")
    with pytest.raises(Refusal, match="PLAN-STEP:"):
        hot_wallet.only_step(situation("desk-key").plan, "referral")
    assert hot_wallet.only_step(situation("desk-key").plan, None).id == "desk-key"


FINGERPRINT = "ab" * 32
SIGNED = Answer(**SIGNATURES["desk-key"])
ASKED = hot_wallet.WalletRequest("desk-key", SIGNED.digest, TREASURY, int(DataType.TYPED_DATA), str(ID))
HEADER = SignaturesHeader("2026-09-everything", FINGERPRINT, False, GENESIS, NOW_MS)


def test_the_answer_bears_the_wallets_id_and_recovers_to_the_account() -> None:
    answer = hot_wallet.answer_of(ASKED, HEADER, [SIGNED])
    assert (answer.request_id, answer.signature.hex()) == (ID, SIGNED.signature[2:])
    assert recover(bytes.fromhex(ASKED.digest[2:]), answer.signature) == bytes.fromhex(TREASURY[2:])
    of_a_transaction = hot_wallet.answer_of(ASKED._replace(data_type=int(DataType.TYPED_TRANSACTION)), HEADER, [SIGNED])
    assert of_a_transaction.signature[64] == int(SIGNED.signature[-2:], 16) - 27
    assert (
        Signature.from_cbor(hot_wallet.answer_of(ASKED._replace(request_id=""), HEADER, [SIGNED]).to_cbor()).request_id
        is None
    )


WRONG: dict[str, tuple[list[Answer], str]] = {
    "another step": ([SIGNED._replace(step="referral")], "PLAN-STEPS"),
    "two steps": ([SIGNED, Answer(**SIGNATURES["referral"])], "PLAN-STEPS"),
    "nothing": ([], "PLAN-STEPS"),
    "another digest": ([SIGNED._replace(digest="0x" + "00" * 32)], "SIG-DIGEST"),
    "another's signature": ([SIGNED._replace(signature=SIGNATURES["referral"]["signature"])], "SIG-SIGNER"),
    "too short": ([SIGNED._replace(signature="0x00")], "SIG-LENGTH"),
    "v of 0": ([SIGNED._replace(signature=SIGNED.signature[:-2] + "00")], "SIG-V"),
}


@pytest.mark.parametrize(("signed", "check"), WRONG.values(), ids=WRONG)
def test_signatures_that_do_not_answer_what_was_asked_are_refused(signed: list[Answer], check: str) -> None:
    with pytest.raises(Refusal) as refused:
        hot_wallet.answer_of(ASKED, HEADER, signed)
    assert refused.value.check == check
    for result in ("declined", "refused"):
        with pytest.raises(UsageError, match=f"not signed: {result}"):
            hot_wallet.answer_of(ASKED, HEADER, [Answer("desk-key", result, "why")])


def test_what_a_wallet_asked_is_remembered_by_the_document_made_of_it(tmp_path: Path) -> None:
    state = OfflineHome(tmp_path)
    hot_wallet.keep_request(state, FINGERPRINT, ASKED)
    hot_wallet.keep_request(state, FINGERPRINT, ASKED)
    assert hot_wallet.require_request(state, FINGERPRINT) == ASKED
    with pytest.raises(UsageError, match="this machine has no wallet request"):
        hot_wallet.require_request(state, "cd" * 32)
