"""The account for a watch-only wallet: the app's answers with a chain code, the keys below it, and the code shown."""

import json
from pathlib import Path
from typing import Any

import pytest

from airlock_offline.cli.accounts import account_of, extended_key
from airlock_offline.ledger.device_errors import WrongAnswer
from airlock_offline.ledger.ethereum_app import EthereumApp
from airlock_shared.errors import DeviceError
from airlock_shared.ur.eth import Keypath
from airlock_shared.wire import cbor
from airlock_software_ledger.app import SoftwareLedger
from airlock_software_ledger.keys import HARDENED
from offline.recordings import SIGNER, Exchange, Played, answering
from shared.ur.test_peers import peers

VECTORS = Path(__file__).resolve().parents[1] / "vectors" / "extended-keys"
REAL: list[dict[str, Any]] = json.loads((VECTORS / "real-app.json").read_text())["answers"]
WITH_CODE = [answer for answer in REAL if answer["chain_code"] and answer["sw"] == "9000"]
ACCOUNT, FIRST = "m/44'/60'/0'", "m/44'/60'/0'/0/0"


def apdu(path: str, chain_code: bool) -> bytes:
    numbers = [int(name.rstrip("'")) + (HARDENED if name.endswith("'") else 0) for name in path.split("/")[1:]]
    data = bytes((len(numbers),)) + b"".join(number.to_bytes(4, "big") for number in numbers)
    return bytes((0xE0, 0x02, 0, int(chain_code), len(data))) + data


@pytest.mark.parametrize("answer", REAL, ids=lambda a: f"{a['path']}-{a['chain_code']}")
def test_the_software_ledger_answers_as_the_real_app_did(answer: dict[str, Any]) -> None:
    data, sw = SoftwareLedger().exchange(apdu(answer["path"], answer["chain_code"]))
    assert (data.hex(), f"{sw:04x}") == (answer["data"], answer["sw"])


@pytest.mark.parametrize("answer", WITH_CODE, ids=lambda a: a["path"])
def test_the_client_asks_and_reads_as_the_real_app_answered(answer: dict[str, Any]) -> None:
    data = bytes.fromhex(answer["data"])
    transport = Played([Exchange(apdu(answer["path"], True), data, 0x9000)])
    key = extended_key(EthereumApp(transport), answer["path"])
    assert (key.public_key, key.chain_code) == (data[1:66], data[-32:])
    assert transport.waited_for_a_person == [False]


GOOD = bytes.fromhex(next(a["data"] for a in WITH_CODE if a["path"] == ACCOUNT))
BAD = {
    "nothing": b"",
    "no chain code": GOOD[:-32],
    "a short chain code": GOOD[:-1],
    "another key's address": GOOD[:67] + b"00" + GOOD[69:],
    "a key of another length": bytes((64,)) + GOOD[1:],
}


@pytest.mark.parametrize("answer", BAD.values(), ids=BAD)
def test_an_answer_that_is_not_a_key_with_its_chain_code_is_an_error(answer: bytes) -> None:
    with pytest.raises(WrongAnswer):
        extended_key(answering(answer), ACCOUNT)


class OtherCode(SoftwareLedger):
    """A device whose chain code is not its key's."""

    def exchange(self, apdu: bytes, *, person: bool = False) -> tuple[bytes, int]:
        data, sw = super().exchange(apdu, person=person)
        return (data[:-1] + bytes((data[-1] ^ 1,)) if apdu[3] == 1 else data), sw


def test_a_node_that_does_not_lead_to_the_devices_own_address_is_not_shown() -> None:
    with pytest.raises(DeviceError, match="does not lead to its own accounts"):
        account_of(EthereumApp(OtherCode()), ACCOUNT, None)


@pytest.mark.parametrize("fingerprint", [None, 0x73C5DA0A])
def test_the_code_holds_the_node_where_it_comes_from_and_what_is_below(fingerprint: int | None) -> None:
    account = account_of(EthereumApp(SoftwareLedger()), ACCOUNT, fingerprint)
    members = cbor.read(account.payload, max_items=64)
    assert account.first_address == SIGNER
    assert members[5] == cbor.Tagged(305, {1: 60})
    assert members[6] == cbor.Tagged(304, Keypath.of(ACCOUNT, fingerprint).to_map() | {3: 3})
    assert members[7] == cbor.Tagged(304, {1: [0, False, [], False]})
    (read,) = peers(("read_key", {"cbor": account.payload.hex()}))  # by another implementation
    assert (read["key"], read["chain_code"]) == (members[3].hex(), members[4].hex())
    assert (read["origin"], read["children"]) == (ACCOUNT, "m/0/*")
    assert fingerprint is None or read["source_fingerprint"] == "73c5da0a"
