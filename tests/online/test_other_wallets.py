"""A step to another wallet and its answer back: the id, the key and the form are those of the step, or it is refused."""

import json
import uuid
from pathlib import Path
from typing import Any

import pytest

from airlock_online.delivery.deliveries import delivery_of, match_answers
from airlock_online.wallets.other_wallets import (
    WalletAnswers,
    _plain,
    request_to_answer,
    sign_request,
    signable_of,
    signatures_document,
    take_answer,
    typed_json,
)
from airlock_shared.checks.intent import definitions
from airlock_shared.documents.requests import Header, Request, parse_requests, parse_signatures
from airlock_shared.documents.transcript import GENESIS
from airlock_shared.errors import DocumentError, Refusal, UsageError
from airlock_shared.ethereum.struct_types import DOMAIN_DEFINITION, members_of
from airlock_shared.ethereum.typed_document import read_typed_data
from airlock_shared.ur.eth import DataType, Signature, SignRequest
from airlock_shared.venue.structs import CATALOGUE
from refusals import check_of
from shared.make_payloads import NOW_MS, seal
from shared.ur.test_peers import peers
from shared.world import STEPS, VECTORS, deployment, good, high_s, patched, to_bytes, whole

SIGNED = {
    "requests": {
        item["step"]: item["signature"]
        for item in json.loads((VECTORS / "signatures/good/every-struct.json").read_text())["signatures"]
    },
    "transactions": {
        step: item["signature"] for step, item in json.loads((VECTORS / "transactions/signed.json").read_text()).items()
    },
}
ALL = [(folder, step) for folder, steps in SIGNED.items() for step in steps]
GOOD = bytes.fromhex(SIGNED["requests"]["desk-key"][2:])
OTHERS = bytes.fromhex(SIGNED["requests"]["referral"][2:])


def parsed(folder: str = "requests") -> tuple[Header, list[Request], str]:
    return parse_requests(to_bytes(whole(folder)))


def answer(step: str, folder: str = "requests", **changes: Any) -> Signature:
    """What an honest wallet answers to a step of the vectors, or members of it changed."""
    request = next(item for item in parsed(folder)[1] if item.step == step)
    rsv = bytearray.fromhex(SIGNED[folder][step][2:])
    if request.transaction is not None:
        rsv[64] -= 27  # as wallets answer typed transactions
    signable = signable_of(request, deployment())
    return Signature(bytes(rsv), signable.request_id)._replace(**changes)


@pytest.mark.parametrize(("folder", "step"), ALL)
def test_a_request_says_whose_it_is_and_its_answer_becomes_our_own_signer_s_signature(folder: str, step: str) -> None:
    header, items, _ = parsed(folder)
    signed = take_answer(answer(step, folder), header, items, deployment())
    assert (signed.step, signed.signature, signed.shown) == (step, SIGNED[folder][step], "by another wallet")
    request = next(item for item in items if item.step == step)
    assert delivery_of(request, signed, header, deployment(), to_send=False).signature == SIGNED[folder][step]
    asked = sign_request(request, deployment(), 0x73C5DA0A)
    assert SignRequest.from_cbor(asked.to_cbor()) == asked
    assert (str(asked.path), asked.path.source_fingerprint) == (request.path, 0x73C5DA0A)
    assert "0x" + (asked.address or b"").hex() == request.signer.lower()
    assert asked.chain_id == deployment().chain_id
    kind = DataType.TYPED_DATA if request.transaction is None else DataType.TYPED_TRANSACTION
    assert asked.data_type is kind


def test_another_implementation_reads_what_we_ask_and_we_read_what_it_answers() -> None:
    asked = [sign_request(item, deployment(), 0x73C5DA0A) for item in (*parsed()[1], *parsed("transactions")[1])]
    answers = [Signature(GOOD, request.request_id, "Keystone") for request in asked]
    read = peers(*(("read_request", {"cbor": request.to_cbor().hex()}) for request in asked))
    for request, theirs in zip(asked, read, strict=True):
        assert theirs["sign_data"] == request.sign_data.hex()
        assert (theirs["path"], theirs["source_fingerprint"]) == (str(request.path), "73c5da0a")
        assert uuid.UUID(theirs["request_id"]) == request.request_id
    members = [{"signature": GOOD.hex(), "request_id": a.request_id.hex if a.request_id else "", "origin": "Keystone"}
               for a in answers]  # fmt: skip
    written = peers(*(("write_signature", each) for each in members))
    assert [Signature.from_cbor(bytes.fromhex(text)) for text in written] == answers


BAD = {
    "without an id": ({"request_id": None}, "SIG-REQUESTS"),
    "another id": ({"request_id": uuid.UUID(int=7)}, "SIG-REQUESTS"),
    "the signature of another step": ({"signature": OTHERS}, "SIG-SIGNER"),
    "the other v": ({"signature": GOOD[:64] + bytes([55 - GOOD[64]])}, "SIG-SIGNER"),
    "a high s": ({"signature": high_s(GOOD)}, "SIG-LOW-S"),
    "r of zero": ({"signature": bytes(32) + GOOD[32:]}, "SIG-RANGE"),
    "v of a legacy transaction": ({"signature": GOOD[:64] + bytes([37])}, "SIG-V"),
}


@pytest.mark.parametrize(("changes", "check"), BAD.values(), ids=BAD)
def test_a_wrong_answer_is_refused(changes: dict[str, Any], check: str) -> None:
    header, items, _ = parsed()
    with pytest.raises(Refusal) as refused:
        take_answer(answer("desk-key", **changes), header, items, deployment())
    assert refused.value.check == check
    assert GOOD.hex()[:64] not in str(refused.value)


ALTERED = {
    "a field": ("desk-key", "payload.message.delegate", "0x" + "11" * 20, "DIGEST-MATCH"),
    "a field's form": ("desk-key", "payload.message.expiry", "1e9", "MSG-INT"),
    "the struct": ("desk-key", "payload.primaryType", "Permit", "TYPES-KNOWN"),
    "the chain": ("approve", "payload.chainId", 1, "TX-CHAIN"),
    "the function": ("approve", "payload.data", "0xdeadbeef", "TX-SELECTOR"),
    "the contract": ("approve", "payload.to", "0x12", "MSG-ADDRESS"),
    "the nonce": ("approve", "transaction.nonce", -1, "TX-GAS"),
    "an authorization, which is none of theirs": ("give", "endpoint", "/x", "AUTH-FORM"),
}


@pytest.mark.parametrize(("step", "at", "value", "check"), ALTERED.values(), ids=ALTERED)
def test_an_altered_request_is_not_shown_to_another_wallet(step: str, at: str, value: Any, check: str) -> None:
    folder = next((name for name in SIGNED if step in SIGNED[name]), "authorizations")
    document = patched(good(step, folder), [{"at": f"requests.0.{at}", "set": value}])
    request = parse_requests(to_bytes(document))[1][0]
    assert check_of(sign_request, request, deployment(), None) == check


def test_the_document_is_there_once_every_step_is_answered(tmp_path: Path) -> None:
    header, items, fingerprint = parsed()
    answers = WalletAnswers(tmp_path, fingerprint)
    for count, item in enumerate(items):
        assert request_to_answer(items, answers.of(items), None) is items[count]
        assert answers.keep(take_answer(answer(item.step), header, items, deployment()))
    document = signatures_document(header, items, answers.of(items), fingerprint, NOW_MS)
    answered, signed, _ = parse_signatures(document)
    assert answered.transcript_head == GENESIS
    pairs = match_answers(answered, signed, header, items, fingerprint)
    assert [pair[1].signature for pair in pairs] == [SIGNED["requests"][item.step] for item in items]
    with pytest.raises(UsageError, match="every step has its answer"):
        request_to_answer(items, answers.of(items), None)
    with pytest.raises(UsageError, match="desk-key"):
        request_to_answer(parsed()[1], {}, "no-such-step")


def test_a_second_answer_leaves_the_first_in_its_place(tmp_path: Path) -> None:
    header, items, fingerprint = parsed()
    answers = WalletAnswers(tmp_path, fingerprint)
    signed = take_answer(answer("desk-key"), header, items, deployment())
    assert answers.keep(signed)
    assert not answers.keep(signed._replace(signature="0x" + OTHERS.hex()))
    assert answers.of(items) == {"desk-key": signed}


def test_kept_answers_are_their_owner_s_and_document_s_and_a_damaged_one_is_refused(tmp_path: Path) -> None:
    header, items, fingerprint = parsed()
    WalletAnswers(tmp_path, fingerprint).keep(take_answer(answer("desk-key"), header, items, deployment()))
    (path,) = tmp_path.rglob("*.json")
    assert path.stat().st_mode & 0o777 == 0o600
    assert WalletAnswers(tmp_path, "0" * 64).of(items) == {}
    for damaged in ("", "{", "[]", '{"step":"desk-key","result":"signed"}'):
        path.write_text(damaged)
        with pytest.raises(DocumentError):
            WalletAnswers(tmp_path, fingerprint).of(items)


def written_for(step: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A step's payload, and its JSON for another wallet."""
    payload = good(step)["requests"][0]["payload"]
    intent = CATALOGUE[payload["primaryType"]]
    message = definitions(intent).read(intent.name, payload["message"])
    return payload, json.loads(typed_json(intent, deployment().domains[intent.domain], message))


@pytest.mark.parametrize("step", STEPS)
def test_the_digest_is_the_payloads_for_two_implementations_and_no_integer_is_rounded_by_javascript(step: str) -> None:
    payload, written = written_for(step)
    assert "0x" + read_typed_data(written)[1].digest.hex() == payload["digest"].lower()
    assert written["types"]["EIP712Domain"] == DOMAIN_DEFINITION
    inner = [value for value in written["message"].values() if isinstance(value, dict)]
    values = [value for each in [written["message"], *inner] for value in each.values()]
    assert not [value for value in values if type(value) in (int, float)]
    assert type(written["domain"]["chainId"]) is int
    seal(written)  # by eth-account
    assert written["digest"] == payload["digest"].lower()


def test_bytes_addresses_and_nested_structs_are_written_in_their_one_spelling() -> None:
    structs = {"A": members_of("bytes part,bytes none,address who,B more"), "B": members_of("bool yes")}
    value = {"part": b"\x01", "none": b"", "who": b"\x01" * 20, "more": {"yes": True}}
    written = {"part": "0x01", "none": "0x", "who": "0x" + "01" * 20, "more": {"yes": True}}
    assert _plain("A", value, structs) == written
