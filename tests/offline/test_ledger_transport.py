"""Both transports: every way in which they break, what they load, and their log. ``usb_bus.py`` has USB as it goes well."""

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import pytest

from airlock_offline.ledger import transport
from airlock_offline.ledger.device_errors import DeviceLost, DeviceSilent, WrongAnswer
from airlock_offline.ledger.ethereum_app import open_app
from airlock_offline.ledger.transport import LoggedTransport, LoopbackTransport
from airlock_offline.ledger.usb import HidTransport, PluggedLedger
from airlock_shared.errors import UsageError
from airlock_software_ledger.answers import AppSettings
from airlock_software_ledger.app import SoftwareLedger
from offline.recordings import FOLDER, Recording
from offline.usb_bus import reports


def _in_single_bytes(connection: socket.socket) -> None:
    for byte in b"\0\0\0\x04\x03\x01\x16\x00\x90\x00":
        connection.sendall(bytes((byte,)))


APDU = bytes.fromhex("e006000000")
[GOOD] = reports(b"\x90\x00")
FIRST, SECOND = reports(bytes(100) + b"\x90\x00")


class FakeHid:
    """A HID device that takes everything that is written, gives prepared reports, and then fails or is silent."""

    def __init__(self, replies: list[bytes], fails: BaseException | None = None, *, written: int = 65) -> None:
        self.replies, self.fails, self.written = replies, fails, written
        self.closed = False

    def open_path(self, path: bytes) -> None:
        pass

    def write(self, data: bytes) -> int:
        return self.written

    def read(self, size: int, timeout_ms: int) -> list[int]:
        if self.replies:
            return list(self.replies.pop(0))
        if self.fails is not None:
            raise self.fails
        return []

    def close(self) -> None:
        self.closed = True


@pytest.fixture(autouse=True)
def lock_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.mark.parametrize(
    ("device", "error"),
    [
        (FakeHid([]), DeviceSilent),
        (FakeHid([FIRST]), DeviceSilent),
        (FakeHid([b"\x01\x02" + GOOD[2:]]), WrongAnswer),  # of another channel
        (FakeHid([GOOD[:2] + b"\x06" + GOOD[3:]]), WrongAnswer),  # with another tag
        (FakeHid([SECOND]), WrongAnswer),
        (FakeHid([FIRST, FIRST]), WrongAnswer),
        (FakeHid(reports(b"\x90")), WrongAnswer),
        (FakeHid(reports(b"")), WrongAnswer),
        (FakeHid(reports(bytes(60_000))), WrongAnswer),
        (FakeHid([], KeyboardInterrupt()), KeyboardInterrupt),  # no late answer is taken for the next one
        (FakeHid([], OSError("read error")), DeviceLost),
        (FakeHid([], ValueError("not open")), DeviceLost),
        (FakeHid([], written=-1), DeviceLost),
    ],
)
def test_a_bad_answer_is_named_and_the_device_is_let_go(device: FakeHid, error: type[BaseException]) -> None:
    opened = HidTransport(device=lambda: device, plugged=lambda: [PluggedLedger("/dev/hidraw93", "Flex")])
    with pytest.raises(error) as caught:
        opened.exchange(APDU, person=False)
    assert device.closed
    assert error is not DeviceSilent or "within 20 s" in str(caught.value)
    with pytest.raises(DeviceLost, match="earlier failure"):
        opened.exchange(APDU, person=False)


# ---- loopback -----------------------------------------------------------------------------------------------------

Behaviour = Callable[[socket.socket], None]


@pytest.fixture
def connected(request: pytest.FixtureRequest) -> Iterator[LoopbackTransport]:
    """A transport to a server that reads one APDU and then behaves as asked."""
    behaviour: Behaviour = request.param
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(4 + len(APDU), socket.MSG_WAITALL)
                behaviour(connection)

        thread = Thread(target=serve)
        thread.start()
        opened = LoopbackTransport(listener.getsockname()[1])
        yield opened
        opened.close()
        thread.join()


@pytest.mark.parametrize(
    ("connected", "error"),
    [
        (lambda connection: connection.sendall(b"\0\0\0\x04\x03\x01"), DeviceLost),
        (lambda connection: None, DeviceLost),
        (lambda connection: connection.sendall(b"\xff" * 4), WrongAnswer),
        (lambda connection: connection.recv(1), DeviceSilent),  # until the client gives up
    ],
    indirect=["connected"],
)
def test_a_broken_answer_is_named_and_the_connection_is_closed(
    connected: LoopbackTransport, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    if error is DeviceSilent:
        monkeypatch.setattr(transport, "MACHINE_TIMEOUT_S", 0.1)
    with pytest.raises(error):
        connected.exchange(APDU, person=False)
    with pytest.raises(DeviceLost, match="earlier failure"):
        connected.exchange(APDU, person=False)


@pytest.mark.parametrize("connected", [_in_single_bytes], indirect=True)
def test_an_answer_that_comes_in_pieces_is_whole(connected: LoopbackTransport) -> None:
    assert connected.exchange(APDU, person=False) == (b"\x03\x01\x16\x00", 0x9000)


OVER_USB = """
import sys
from airlock_offline.ledger import ethereum_app, screens, transport, usb
print(*sys.modules)

class Device:
    open_path = close = lambda *_: None
    write = lambda *_: 65
    read = lambda *_: list(bytes.fromhex("010105000000029000").ljust(64, b"\\0"))

opened = usb.HidTransport(device=Device, plugged=lambda: [usb.PluggedLedger("/dev/hidraw93", "Flex")])
assert opened.exchange(bytes.fromhex("e006000000"), person=False) == (b"", 0x9000)
print(*sys.modules)
"""


def test_over_usb_nothing_heavy_is_loaded_no_network_and_of_ledgerblue_its_framing_alone(tmp_path: Path) -> None:
    """What reads ledgerblue's environment variables, and would go elsewhere by them, is its ``comm``."""
    words, environment = [sys.executable, "-c", OVER_USB], {**os.environ, "TMPDIR": str(tmp_path)}
    said = subprocess.run(words, capture_output=True, text=True, check=True, env=environment).stdout
    imported, used = (set(line.split()) for line in said.splitlines())
    network = {"socket", "_socket", "ssl", "http", "asyncio"}
    assert (network | {"eth_account", "eth_utils", "coincurve", "hid", "ledgerblue"}) & imported == set()
    assert network & used == set()
    framing = {"ledgerblue.__version__", "ledgerblue.commException", "ledgerblue.ledgerWrapper"}
    assert {name for name in used if name.startswith("ledgerblue.")} == framing


# ---- the APDU log: every exchange is in it, and nothing of what was signed, by whom, or with what result --------------

DELEGATE = Recording(FOLDER / "a-nanosp-full-delegate.json")
TRANSACTION = Recording(FOLDER / "a-nanosp-tx-delegated.json")


def logged(path: Path, **ledger: frozenset[str]) -> LoggedTransport:
    return LoggedTransport(SoftwareLedger(settings=AppSettings(blind_signing=True), **ledger), path)  # type: ignore[arg-type]


def test_every_exchange_is_logged_with_its_header_and_status_word(tmp_path: Path) -> None:
    path = tmp_path / "apdu.log"
    open_app(logged(path)).sign_typed_data(DELEGATE.path, DELEGATE.typed_data()[0])
    exchanges = [json.loads(line) for line in path.read_text().splitlines()][1:]
    assert len(exchanges) == 1 + len(DELEGATE.exchanges)
    for row, exchange in zip(exchanges[1:], DELEGATE.exchanges, strict=True):
        assert str(row["command"])[:10] == exchange.apdu[:5].hex()
        assert row["sw"] == "9000"
    assert exchanges[0]["answer"] == DELEGATE.json["app"].get("answer", exchanges[0]["answer"])


def test_no_value_address_or_signature_is_in_the_log(tmp_path: Path) -> None:
    path = tmp_path / "apdu.log"
    app = open_app(logged(path))
    app.address(DELEGATE.path)
    signature = app.sign_typed_data(DELEGATE.path, DELEGATE.typed_data()[0])
    app.sign_hashes(DELEGATE.path, DELEGATE.raw("domain_hash"), DELEGATE.raw("message_hash"))
    app.sign_transaction(TRANSACTION.path, TRANSACTION.payload())
    app.sign_personal_message(DELEGATE.path, b"a secret")
    text = path.read_text().lower()
    values = [
        e.apdu[7:].hex() for e in DELEGATE.exchanges if e.apdu[1] == 0x1C and e.apdu[3] == 0xFF and len(e.apdu) > 12
    ]
    r, s = signature[:32].hex(), signature[32:64].hex()
    secrets = [*values, r, s, DELEGATE.json["signer"][2:].lower(), b"a secret".hex()]
    secrets += [DELEGATE.raw("domain_hash").hex(), DELEGATE.raw("message_hash").hex(), "8000002c"]
    assert len(values) > 5
    assert [secret for secret in secrets if secret in text] == []
    assert "<65 bytes>" in text


def test_the_log_is_private_and_never_overwrites(tmp_path: Path) -> None:
    path = tmp_path / "apdu.log"
    logged(path).close()
    assert path.stat().st_mode & 0o777 == 0o600
    before = path.read_bytes()
    with pytest.raises(UsageError, match="exists already"):
        logged(path)
    assert path.read_bytes() == before


def test_an_answer_is_not_lost_with_a_log_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_app(log := logged(tmp_path / "apdu.log"))

    def full(*_: object) -> None:
        raise UsageError("no space left")

    monkeypatch.setattr(transport, "append_line", full)
    assert app.sign_hashes(DELEGATE.path, DELEGATE.raw("domain_hash"), DELEGATE.raw("message_hash"))
    with pytest.raises(UsageError, match="no space left"):
        log.exchange(DELEGATE.exchanges[0].apdu, person=False)
