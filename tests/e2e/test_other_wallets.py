"""Other wallets through the installed commands, by real pictures: a step out and its answer back, in both directions."""

import json
import shutil
import uuid
from pathlib import Path

from airlock_offline.ledger.transport import encode_path
from airlock_rehearsal.scenarios import PATH, TRADER
from airlock_shared.ethereum.signatures import checksum_address, recover
from airlock_shared.ethereum.typed_document import read_typed_data
from airlock_shared.host.picture_sources import file_frames
from airlock_shared.qr.documents import Transfer
from airlock_shared.qr.render import write_sequence
from airlock_shared.qr.scan import scan_pictures
from airlock_shared.ur.decode import Decoder, Message
from airlock_shared.ur.eth import (
    HDKEY_TYPE,
    SIGN_REQUEST_TYPE,
    SIGNATURE_TYPE,
    DataType,
    Keypath,
    Signature,
    SignRequest,
)
from airlock_shared.wire import cbor
from airlock_software_ledger.keys import OTHER_SEED, TEST_SEED, derive, read_path, sign
from e2e.conftest import BothMachines, Ledger, refused
from shared.qr.transfers import unexpected

ID = uuid.UUID("9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d")
CEREMONY = "delegate-key"


def read(path: Path) -> Message:
    """What a camera reads from a picture."""
    return scan_pictures(file_frames(path, on_skipped=unexpected), Decoder(), lambda _report: None)


def shown(folder: Path, ur_type: str, cbor: bytes) -> Path:
    """A wallet's screen as pictures in a new folder."""
    write_sequence(Transfer(ur_type, cbor, ur_type, "", ""), folder, 20)
    return folder


def wallet_signs(asked: SignRequest, seed: str = TEST_SEED) -> bytes:
    """What a wallet that hashes for itself answers to typed data: r, s, v."""
    digest = read_typed_data(json.loads(asked.sign_data))[1].digest
    account = derive(seed, read_path(encode_path(str(asked.path)))[0])
    parity, rs = sign(account.private_key, digest)
    return rs + bytes((27 + parity,))


def ask_keystone(desk: BothMachines, requests: Path) -> SignRequest:
    pictures = desk.path("step")
    words = ("--for", "keystone", "--master-fingerprint", "73c5da0a", "--as", "png", "-o", pictures, "--json")
    ended = desk.online("show", requests, *words)
    assert (ended.code, ended.json()["kind"]) == (0, SIGN_REQUEST_TYPE), ended.err
    return SignRequest.from_cbor(read(pictures).expect(SIGN_REQUEST_TYPE))


SECOND_STEP = f"""
[[steps]]
id = "referral-code"
action = "referral-set-code"
signer = "treasury"
fields = {{ referee = "{TRADER}", code = "TREASURY" }}
"""


def test_another_wallet_signs_steps_in_turn_which_are_written_together_and_submit_takes_them(
    desk: BothMachines,
) -> None:
    plan, requests, output = desk.write_plan(CEREMONY), desk.path("two.json"), desk.path("signatures.json")
    plan.write_text(plan.read_text() + SECOND_STEP)
    assert desk.online("prepare", plan, "-o", requests).code == 0
    for number, missing in enumerate((["referral-code"], [])):
        asked = ask_keystone(desk, requests)
        assert (str(asked.path), asked.path.source_fingerprint, asked.origin) == (PATH, 0x73C5DA0A, "Airlock")
        shutil.rmtree(desk.path("step"))
        another = Signature(wallet_signs(asked, OTHER_SEED), asked.request_id)
        pictures = shown(desk.path(f"another-{number}"), SIGNATURE_TYPE, another.to_cbor())
        refused(desk.online("scan", pictures, "--requests", requests, "-o", output), 3, "SIG-SIGNER")
        nowhere = desk.path("no folder/signatures.json")
        refused(desk.online("scan", pictures, "--requests", requests, "-o", nowhere), 2, "could not be written")
        answer = Signature(wallet_signs(asked), asked.request_id)
        pictures = shown(desk.path(f"answer-{number}"), SIGNATURE_TYPE, answer.to_cbor())
        ended = desk.online("scan", pictures, "--requests", requests, "-o", output, "--json")
        assert (ended.code, ended.json()["missing"], output.exists()) == (0, missing, not missing), ended.err
        assert answer.signature.hex() not in ended.out + ended.err
    document = json.loads(output.read_text())
    assert (document["header"]["transcript_head"], document["signatures"][0]["signer"]) == ("0" * 64, TRADER)
    assert desk.online("submit", output).code == 0
    ended = desk.online("show", requests, "--for", "keystone", "--as", "png", "-o", desk.path("again"))
    assert (ended.code, "every step has its answer" in ended.err) == (2, True)
    assert desk.events("online").count("wallet-answered") == 2
    assert desk.fetch(desk.path("changed.json"), batched="http://127.0.0.1:1").code == 0
    refused(desk.online("show", requests, "--for", "keystone"), 2, "the deployment changed")


def hot_wallet_asks(requests: Path) -> SignRequest:
    """What MetaMask shows when a page asks it for the intent that the builder built."""
    payload = json.loads(requests.read_text())["requests"][0]["payload"]
    domain_type = [{"name": n, "type": t} for n, t in zip(payload["domain"], _DOMAIN_TYPES, strict=True)]
    document = {name: payload[name] for name in ("types", "primaryType", "domain", "message")}
    document["types"] = {"EIP712Domain": domain_type, **document["types"]}
    address, chain_id = bytes.fromhex(TRADER[2:]), int(payload["domain"]["chainId"])
    data = json.dumps(document).encode()
    return SignRequest(data, DataType.TYPED_DATA, Keypath.of(PATH, 1), chain_id, ID, address, "MetaMask")


_DOMAIN_TYPES = ("string", "string", "uint256", "address")


def test_a_hot_wallets_request_is_signed_on_the_ledger_under_the_plan_and_answered_by_its_id(
    desk: BothMachines, ledger: Ledger
) -> None:
    plan, built = desk.prepare(CEREMONY)
    asked = hot_wallet_asks(built)
    pictures = shown(desk.path("asked"), SIGN_REQUEST_TYPE, asked.to_cbor())
    requests, signatures = desk.path("wallet.requests.json"), desk.path("wallet.signatures.json")
    nowhere = desk.path("no folder/requests.json")
    refused(desk.offline("scan", pictures, "--plan", plan, "-o", nowhere), 2, "could not be written")
    ended = desk.offline("scan", pictures, "--plan", plan, "-o", requests, "--json").done()
    assert ("MetaMask" in ended.err, desk.events()[-1]) == (True, "wallet-asked")
    ended = desk.sign(ledger, plan, requests, signatures).done()
    assert ("from a wallet's request" in ended.err, "screen aloud" in ended.err) == (True, False)
    ended = desk.offline("show", signatures, "--for", "wallet", "--as", "png", "-o", desk.path("back")).done()
    answer = Signature.from_cbor(read(desk.path("back")).expect(SIGNATURE_TYPE))
    digest = read_typed_data(json.loads(asked.sign_data))[1].digest
    assert (answer.request_id, checksum_address(recover(digest, answer.signature))) == (ID, TRADER)


def test_an_intent_that_a_check_refuses_is_not_written_and_its_frames_are_forgotten(desk: BothMachines) -> None:
    plan, built = desk.prepare(CEREMONY)
    document = json.loads(built.read_text())
    document["requests"][0]["payload"]["message"]["delegate"] = TRADER
    desk.path("altered.json").write_text(json.dumps(document))
    pictures = shown(desk.path("asked"), SIGN_REQUEST_TYPE, hot_wallet_asks(desk.path("altered.json")).to_cbor())
    refused(desk.offline("scan", pictures, "--plan", plan, "-o", desk.path("wallet.json")), 3, "PLAN-FIELD")
    assert not desk.path("wallet.json").exists()
    assert not list(desk.folder.rglob("*.frames"))
    assert not list(desk.folder.rglob("wallet-requests"))


def test_the_account_is_shown_to_a_watch_only_wallet(desk: BothMachines, ledger: Ledger) -> None:
    pictures = desk.path("account")
    ended = desk.offline("accounts", "show", "--emulator", ledger.port, "--as", "png", "-o", pictures, "--json")
    assert (ended.code, ended.json()["first_address"]) == (0, TRADER), ended.err
    members = cbor.read(read(pictures).expect(HDKEY_TYPE), max_items=64)
    assert members[6].value == Keypath.of("m/44'/60'/0'").to_map() | {3: 3}
