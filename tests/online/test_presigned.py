"""Of an order's EIP-7702 transaction: the list is what was signed here for that order, the rest is the venue's and named."""

import json
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account

from airlock_online.cli.presigned import presigned_texts, read_presigned
from airlock_online.cli.signed_documents import MatchedSignatures
from airlock_online.secrets import redact
from airlock_shared.documents.requests import Answer, Request, parse_requests
from airlock_shared.errors import DocumentError, Refusal, UsageError
from airlock_shared.ethereum.signatures import checksum_address
from shared.world import VECTORS, deployment, good, to_bytes

KEY, OTHER_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80", "0x" + "22" * 32
SIGNED = json.loads((VECTORS / "signatures/good/every-struct.json").read_text())["signatures"]
TO = checksum_address(deployment().contracts["tradingRouter"])
VENUES = {"chainId": str(deployment().chain_id), "to": TO, "data": "0x1234", "gas": "900000"}


def _request(step: str, folder: str = "authorizations") -> Request:
    (request,) = parse_requests(to_bytes(good(step, folder)))[1]
    return request


def _signed(step: str, key: str = KEY) -> tuple[Request, Answer]:
    request = _request(step)
    made = Account.sign_authorization(request.payload, key)
    signature = made.r.to_bytes(32, "big") + made.s.to_bytes(32, "big") + bytes([27 + made.y_parity])
    digest = "0x" + bytes(made.authorization_hash).hex()
    return request, Answer(
        step, "signed", "", digest, "0x" + signature.hex(), request.signer, "authorization", "1.22.0"
    )


def _order(step: str = "close") -> tuple[Request, Answer]:
    request = _request("close", "requests")._replace(step=step)
    return request, Answer(step, "signed", digest="0x" + "00" * 32)


def _whole(*pairs: tuple[Request, Answer]) -> MatchedSignatures:
    header = parse_requests(to_bytes(good("give", "authorizations")))[0]
    return MatchedSignatures(header, list(pairs), deployment(), "", "", "")


def _file(folder: Path, value: Any, step: str = "close") -> str:
    path = folder / f"{step}.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return f"{step}={path}"


@pytest.fixture
def everything() -> MatchedSignatures:
    return _whole(_signed("give"), _signed("give-for-desk"), _order(), _order("close-desk"))


def test_each_order_gets_what_was_signed_for_it_on_no_screen(everything: MatchedSignatures, tmp_path: Path) -> None:
    given = [_file(tmp_path, VENUES), _file(tmp_path, VENUES, "close-desk")]
    texts = presigned_texts(given, everything)
    nonces = {step: [each.nonce for each in read_presigned(text).authorizations] for step, text in texts.items()}
    assert nonces == {"close": [5], "close-desk": [6]}
    assert presigned_texts([], everything, {"close", "close-desk"}) == {}
    for text in texts.values():
        assert {name: json.loads(text)[name] for name in VENUES} == VENUES
    given = [_file(tmp_path, VENUES), _file(tmp_path, VENUES, "close-desk")]
    text = presigned_texts(given, everything)["close"]
    (element,) = json.loads(text)["authorizationList"]
    assert element["r"] not in redact(text)
    assert element["s"] not in redact(text)
    theirs: dict[str, Any] = VENUES | {"authorizationList": []}
    with pytest.raises(UsageError, match="its file has an authorizationList, and an authorization was signed here"):
        presigned_texts([_file(tmp_path, theirs), _file(tmp_path, VENUES, "close-desk")], everything)


def test_a_list_that_comes_with_the_file_is_sent_as_it_is_and_without_one_it_is_missing(tmp_path: Path) -> None:
    theirs = json.dumps(VENUES | {"authorizationList": [{"r": "0x" + "5e" * 32}]}, indent=3)
    assert presigned_texts([_file(tmp_path, theirs)], _whole(_order())) == {"close": theirs}
    assert "5e5e" not in redact(theirs)
    for declined in ((), ((_signed("give")[0], Answer("give", "declined")),)):
        with pytest.raises(UsageError, match=r"is missing: authorizationList; the authorizationList is what"):
            presigned_texts([_file(tmp_path, VENUES)], _whole(*declined, _order()))


@pytest.mark.parametrize("lacking", ["chainId", "to", "data", "gas"])
def test_each_member_that_the_venue_says_is_named(everything: MatchedSignatures, tmp_path: Path, lacking: str) -> None:
    value = {name: text for name, text in VENUES.items() if name != lacking}
    given = [_file(tmp_path, value), _file(tmp_path, VENUES, "close-desk")]
    with pytest.raises(UsageError, match=f"step close: of its EIP-7702 transaction is missing: {lacking};"):
        presigned_texts(given, everything)
    with pytest.raises(UsageError, match=r"step close-desk: .* is missing: chainId, to, data, gas;"):
        presigned_texts([_file(tmp_path, VENUES)], everything)


@pytest.mark.parametrize(
    ("change", "check"),
    [
        ({"digest": "0x" + "00" * 32}, "SIG-DIGEST"),
        ({"signature": SIGNED[0]["signature"]}, "SIG-SIGNER"),
        ({"signer": TO}, "SIG-SIGNER"),
    ],
)
def test_one_that_is_not_the_signers_is_not_put_into_a_list(tmp_path: Path, change: dict[str, str], check: str) -> None:
    request, signed = _signed("give")
    with pytest.raises(Refusal, match=check):
        presigned_texts([_file(tmp_path, VENUES)], _whole((request, signed._replace(**change)), _order()))


def test_one_that_another_key_signed_or_for_another_chain_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="SIG-SIGNER"):
        presigned_texts([_file(tmp_path, VENUES)], _whole(_signed("give", OTHER_KEY), _order()))
    request, signed = _signed("give")
    elsewhere = request._replace(payload=request.payload | {"chainId": 0})
    with pytest.raises(Refusal, match="AUTH-CHAIN"):
        presigned_texts([_file(tmp_path, VENUES)], _whole((elsewhere, signed), _order()))


def test_a_file_is_a_json_object_for_a_step_of_these_signatures(everything: MatchedSignatures, tmp_path: Path) -> None:
    path = _file(tmp_path, VENUES).partition("=")[2]
    for given in (["close"], ["=x"], [f"other={path}"], [f"give-2={path}"], [f"close={path}", f"close={path}"]):
        with pytest.raises(UsageError, match="is not STEP=FILE"):
            presigned_texts(given, everything)
    for text in ("", "  \n", "{", '{"to": 1.5}', '{"to": "0x", "to": "0x"}'):
        with pytest.raises((DocumentError, UsageError)):
            presigned_texts([_file(tmp_path, text), _file(tmp_path, VENUES, "close-desk")], everything)
    given = [_file(tmp_path, "5"), _file(tmp_path, VENUES, "close-desk")]
    assert presigned_texts(given, everything)["close"] == "5"  # refused where it is read
    Path(path).write_bytes(b"\xff")
    with pytest.raises(DocumentError, match="is not UTF-8"):
        presigned_texts(given, everything)
