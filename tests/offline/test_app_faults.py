"""What the Ethereum app is known to sign over another hash, and what has an array: told before anything is sent."""

from types import SimpleNamespace
from typing import Any

import pytest

from airlock_offline.cli.plan import ledger_faults
from airlock_offline.cli.verify import _judged
from airlock_offline.ledger import ethereum_app
from airlock_offline.ledger.device_errors import SignedOtherwise
from airlock_offline.ledger.ethereum_app import EthereumApp, open_app
from airlock_offline.ledger.typed_data import refused_integers, type_faults
from airlock_offline.signing.sign_item import sign_item
from airlock_shared.checks.intent import definitions, encoding_of, hashes_of
from airlock_shared.checks.model import Situation
from airlock_shared.checks.nonces import UsedNonces
from airlock_shared.documents.requests import Request, read_request
from airlock_shared.ethereum.eip712 import Hashes, TypedData
from airlock_shared.ethereum.typed_document import read_typed_data
from airlock_shared.plan.reader import parse_plan
from airlock_shared.venue.structs import CATALOGUE
from airlock_software_ledger.app import SoftwareLedger
from offline.recordings import SIGNER, Scripted, recovered
from shared import test_own_structs as own
from shared.world import deployment, examined, situation

PATH = "m/44'/60'/0'/0/0"
P, A_P = [{"name": "x", "type": "uint256"}], {"x": "1"}
LIST = [{"name": "l", "type": "uint256[]"}, {"name": "x", "type": "uint256"}]


def members(count: int) -> list[dict[str, str]]:
    return [{"name": f"m{number}", "type": "uint256"} for number in range(count)]


def document(primary: list[tuple[str, str]], message: dict[str, Any], **structs: Any) -> tuple[TypedData, Hashes]:
    types = {"Order": [{"name": name, "type": kind} for name, kind in primary], **structs}
    return read_typed_data({"types": types, "primaryType": "Order", "domain": {"name": "d"}, "message": message})


def values(count: int) -> dict[str, str]:
    return {f"m{number}": "1" for number in range(count)}


SIXTEEN = document([("q", "Q")], {"q": values(16)}, Q=members(16))
WITH_ARRAYS = [
    (document([("l", "uint256[]")], {"l": ["1"]}), r"Order\.l \(uint256\[\]\)"),
    (document([("l", "bool[2][]"), ("x", "uint256")], {"l": [], "x": "1"}), r"Order\.l \(bool\[2\]\[\]\)"),
    (document([("p", "P[2]")], {"p": [A_P, A_P]}, P=P), r"Order\.p \(P\[2\]\)"),
    (document([("q", "Q"), ("p", "P")], {"q": {"x": "1", "l": []}, "p": A_P}, P=P, Q=LIST), r"Q\.l \(uint256\[\]\)"),
    (document([("x", "uint256"), ("o", "Order[]")], {"x": "1", "o": [{"x": "2", "o": []}]}), r"Order\.o \(Order\[\]\)"),
]  # fmt: skip
SOUND = [
    document([("q", "Q")], {"q": values(15)}, Q=members(15)), document([("q", "Q")], {"q": values(17)}, Q=members(17)),
    document([(f"m{number}", "uint256") for number in range(16)], values(16)),
    document([("q", "Q"), ("x", "bool")], {"q": {"p": A_P}, "x": True}, P=P, Q=[{"name": "p", "type": "P"}]),
]  # fmt: skip


def test_what_is_signed_over_another_hash_is_told_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    data, hashes = SIXTEEN
    assert type_faults(data.structs, "Order") == [
        "a struct of 16 members within another is signed over another hash (app 1.22.0): Q"
    ]
    transport = Scripted(b"")
    with pytest.raises(SignedOtherwise, match="16 members"):
        EthereumApp(transport).sign_typed_data(PATH, data)
    assert transport.sent == []
    monkeypatch.setattr(ethereum_app, "require_no_fault", lambda _: None)
    assert recovered(open_app(SoftwareLedger()).sign_typed_data(PATH, data), hashes.digest) != SIGNER


@pytest.mark.parametrize(("made", "where"), WITH_ARRAYS)
def test_no_array_is_sent_wherever_it_stands(made: tuple[TypedData, Hashes], where: str) -> None:
    transport = Scripted(b"")
    with pytest.raises(SignedOtherwise, match=f"no array is sent to a Ledger: {where}"):
        EthereumApp(transport).sign_typed_data(PATH, made[0])
    assert transport.sent == []


@pytest.mark.parametrize("made", SOUND)
def test_what_is_signed_as_it_is_is_not_refused(made: tuple[TypedData, Hashes]) -> None:
    data, hashes = made
    assert type_faults(data.structs, "Order") == []
    assert recovered(open_app(SoftwareLedger()).sign_typed_data(PATH, data), hashes.digest) == SIGNER


def test_no_struct_of_the_catalogue_is_such_or_has_a_width_that_the_app_refuses() -> None:
    assert len(CATALOGUE) > 10
    structs = {name: definitions(intent).structs for name, intent in CATALOGUE.items()}
    assert [name for name, each in structs.items() if type_faults(each, name) or refused_integers(each)] == []


TARGET = ",".join(f"uint256 m{number}" for number in range(16))
ENTRY = own.ENTRY | {
    "encode_type": f"MoveReq(address trader,Target to,uint256 deadline,uint256 nonce)Target({TARGET})",
    "leaves": {"trader": "trader", "deadline": "deadlineMs", "nonce": "nonce"} | {f"to.m{n}": "raw" for n in range(16)},
}


def pinned(show: str) -> tuple[Request, Situation]:
    """Return an item of a struct that was pinned before the fault was known, and what it is judged by."""
    leaves = "".join(f'"to.m{number}" = "1"\n' for number in range(16))
    text = own.PLAN.partition("struct = ")[0].replace("m/44'/60'/0'/0/0\"", f"m/44'/60'/0'/0/0\"\nshow = \"{show}\"")
    plan = parse_plan(f'{text}struct = "MoveReq"\ntrader = "{own.TRADER}"\n{leaves}'.encode())
    where = situation()._replace(plan=plan, deployment=own.deployed(ENTRY))
    intent = where.deployment.structs["MoveReq"]
    message = {"trader": own.TRADER, "to": values(16), "deadline": str(where.now_ms + 600_000), "nonce": "11"}
    read = definitions(intent).read("MoveReq", message)
    item = own._item(own._message(where.now_ms))
    item["payload"] |= {
        "message": message, "digest": "0x" + hashes_of(intent, read, deployment().domains["trading"]).digest.hex(),
        "encodedIntent": "0x" + encoding_of(intent, read).hex(),
        "types": {name: [m._asdict() for m in ms] for name, ms in definitions(intent).structs.items()},
    }  # fmt: skip
    return read_request(item, "item"), where


@pytest.mark.parametrize(("show", "told"), [("fields", ["DIGEST-LEDGER"]), ("hashes", [])])
def test_verify_and_plan_check_refuse_it_where_the_device_would_show_fields(show: str, told: list[str]) -> None:
    request, where = pinned(show)
    judged = examined(request, where)
    assert judged.verdicts.refused() == []
    assert [verdict.check for verdict in _judged(judged).refused()] == told
    assert [error.check for error in ledger_faults(where)] == told


class Shown(Exception):
    """Something was shown, or the Ledger was asked."""


@pytest.mark.parametrize(("show", "error"), [("fields", SignedOtherwise), ("hashes", Shown)])
def test_nothing_is_shown_of_it(show: str, error: type[Exception]) -> None:
    def happened(*_: object) -> None:
        raise Shown

    request, where = pinned(show)
    state = SimpleNamespace(kept_signature=lambda _: None)
    desk: Any = SimpleNamespace(used=UsedNonces(), proofs=frozenset(), state=state, probe=happened, show=happened)
    with pytest.raises(error):
        sign_item(request, where, desk)
