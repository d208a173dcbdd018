"""The recorded exchanges, and a transport that plays one of them to the client."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from coincurve import PublicKey

from airlock_offline.ledger.ethereum_app import EthereumApp
from airlock_offline.ledger.models import RELEASED
from airlock_offline.ledger.transport import parse_path
from airlock_shared.ethereum.eip712 import Hashes, TypedData
from airlock_shared.ethereum.signatures import checksum_address, keccak256
from airlock_shared.ethereum.typed_document import read_typed_data
from airlock_software_ledger.app import SoftwareLedger

FOLDER = Path(__file__).resolve().parents[1] / "vectors" / "ledger"
SIGNER = "0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D"  # m/44'/60'/0'/0/0 of the recorded seed


Told = Callable[..., object]


class Exchange(NamedTuple):
    apdu: bytes
    data: bytes
    sw: int


class Recording:
    def __init__(self, path: Path) -> None:
        self.json: dict[str, Any] = json.loads(path.read_text())
        self.id: str = self.json["id"]
        self.model: str = self.json["model"]
        """The Ledger's model."""
        version = self.json["app"]["version_string"]
        self.built: str = self.model if version == RELEASED else f"{self.model}-{version}"
        """The model with this build of the app."""
        self.operation: str = self.json["operation"]
        self.result: str = self.json["result"]
        self.user: str = self.json["user"]
        self.path: str = self.json["path"]
        self.input: dict[str, Any] = self.json["input"]
        self.screens: list[list[str]] = self.json["screens"]
        self.exchanges = [
            Exchange(bytes.fromhex(e["apdu"]), bytes.fromhex(e["data"]), int(e["sw"], 16))
            for e in self.json["exchanges"]
        ]

    def raw(self, key: str) -> bytes:
        return bytes.fromhex(self.json[key][2:])

    def typed_data(self) -> tuple[TypedData, Hashes]:
        return read_typed_data(self.input)

    def payload(self) -> bytes:
        """What was sent in pieces after the path."""
        sent = b"".join(exchange.apdu[5:] for exchange in self.exchanges)
        return sent[1 + 4 * len(parse_path(self.path)) :]


RECORDINGS = [Recording(path) for path in sorted(FOLDER.glob("*.json"))]


def recorded(operation: str, *results: str, users: tuple[str, ...] | None = None) -> list[Recording]:
    """The recordings of an operation with one of these results, and done by one of these users."""
    return [
        r for r in RECORDINGS if r.operation == operation and r.result in results and (users is None or r.user in users)
    ]


def recovered(signature: bytes, digest: bytes) -> str:
    compact = signature[:64] + bytes((signature[64] - 27,))
    key = PublicKey.from_signature_and_message(compact, digest, hasher=None).format(compressed=False)
    return checksum_address(keccak256(key[1:])[-20:])


class Played:
    """A transport that answers as recorded, and fails when anything else is sent than was recorded."""

    def __init__(self, exchanges: list[Exchange]) -> None:
        self._rest = list(exchanges)
        self.waited_for_a_person: list[bool] = []

    def exchange(self, apdu: bytes, *, person: bool) -> tuple[bytes, int]:
        assert self._rest, f"nothing more was recorded, and {apdu.hex()} was sent"
        expected = self._rest.pop(0)
        assert apdu.hex() == expected.apdu.hex()
        self.waited_for_a_person.append(person)
        return expected.data, expected.sw

    def close(self) -> None:
        self._rest = []

    def assert_finished(self) -> None:
        assert self._rest == []


class Wrapped:
    """A software Ledger that tells of every APDU, and whether a person is waited for, before and after it."""

    def __init__(
        self, device: SoftwareLedger, asks: Told, answered: Told = lambda *_: None, closes: Told = lambda: None
    ) -> None:
        self._device, self._asks, self._answered, self._closes = device, asks, answered, closes

    def exchange(self, apdu: bytes, *, person: bool) -> tuple[bytes, int]:
        self._asks(apdu, person)
        answer = self._device.exchange(apdu, person=person)
        self._answered(apdu, person)
        return answer

    def close(self) -> None:
        self._closes()


class Scripted:
    """A transport that gives the same answer to whatever is sent, and keeps what was sent."""

    def __init__(self, data: bytes, sw: int = 0x9000) -> None:
        self.answer = (data, sw)
        self.sent: list[bytes] = []

    def exchange(self, apdu: bytes, *, person: bool) -> tuple[bytes, int]:
        self.sent.append(apdu)
        return self.answer

    def close(self) -> None:
        self.sent.clear()


def answering(data: bytes, sw: int = 0x9000) -> EthereumApp:
    return EthereumApp(Scripted(data, sw))
