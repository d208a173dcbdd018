"""Both transports: USB framing over a fake HID device, loopback over a fake server, and every way in which they break."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Thread

import pytest

from airlock_offline.ledger import transport, usb
from airlock_offline.ledger.device_errors import DeviceLost, DeviceNotFound, DeviceSilent, WrongAnswer
from airlock_offline.ledger.ethereum_app import EthereumApp, open_app
from airlock_offline.ledger.transport import LoggedTransport, LoopbackTransport
from airlock_offline.ledger.usb import HeldByAnother, HidTransport, PluggedLedger, choose_ledger, plugged_ledgers
from airlock_shared.errors import UsageError
from airlock_software_ledger.answers import AppSettings
from airlock_software_ledger.app import SoftwareLedger
from offline.recordings import FOLDER, Recording, Wrapped


def _in_single_bytes(connection: socket.socket) -> None:
    for byte in b"\0\0\0\x04\x03\x01\x16\x00\x90\x00":
        connection.sendall(bytes((byte,)))


APDU = bytes.fromhex("e006000000")
LONG = b"\xe0\x04\x00\x00\xff" + bytes(range(255))


def packets(message: bytes, channel: int = 0x0101, tag: int = 5) -> list[bytes]:
    """A message as HID packets of 64 bytes, framed here and not by the code under test."""
    rest = len(message).to_bytes(2, "big") + message
    result: list[bytes] = []
    while rest:
        head = channel.to_bytes(2, "big") + bytes((tag,)) + len(result).to_bytes(2, "big")
        result.append((head + rest[:59]).ljust(64, b"\0"))
        rest = rest[59:]
    return result


class FakeHid:
    """A HID device that keeps what is written and gives prepared packets."""

    def __init__(
        self, replies: list[bytes], written: int = 65, fails: BaseException | None = None, *, opens: bool = True
    ) -> None:
        self.replies, self.fails, self.opens = list(replies), fails, opens
        self.reports: list[bytes] = []
        self.waited_ms: list[int] = []
        self.closed = False
        self._written = written

    def open_path(self, path: bytes) -> None:
        assert path == ONE.path.encode()
        if not self.opens:
            raise OSError("open failed")  # hidapi says no more than that

    def write(self, data: bytes) -> int:
        self.reports.append(bytes(data))
        return self._written

    def read(self, size: int, timeout_ms: int) -> list[int]:
        if self.fails is not None:
            raise self.fails
        self.waited_ms.append(timeout_ms)
        return list(self.replies.pop(0)) if self.replies else []

    def close(self) -> None:
        self.closed = True


ONE, OTHER = PluggedLedger("/dev/hidraw93", "Nano S Plus"), PluggedLedger("/dev/hidraw95", "Flex")


def opened_on(device: FakeHid, plugged: Sequence[PluggedLedger] = (ONE,)) -> HidTransport:
    """A transport on a fake device; let go of when the test ends without it."""
    return HidTransport(device=lambda: device, plugged=lambda: list(plugged))


@pytest.fixture(autouse=True)
def lock_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("apdu", [APDU, LONG])
def test_an_apdu_is_framed_in_packets_of_64_bytes(apdu: bytes) -> None:
    device = FakeHid(packets(b"\x90\x00"))
    opened_on(device).exchange(apdu, person=False)
    assert device.reports == [b"\0" + packet for packet in packets(apdu)]


@pytest.mark.parametrize(("person", "seconds"), [(True, 90), (False, 20)])
def test_silence_is_waited_for_in_slices_of_a_second(person: bool, seconds: int) -> None:
    silent = FakeHid([])
    opened = HidTransport(device=lambda: silent, plugged=lambda: [ONE], review_s=90)
    with pytest.raises(DeviceSilent, match=f"within {seconds} s") as caught:
        opened.exchange(APDU, person=person)
    assert silent.waited_ms == [1000] * seconds
    assert "review_minutes" in caught.value.do
    with pytest.raises(DeviceSilent, match="within 1800 s"):  # unless the settings say otherwise
        opened_on(FakeHid([])).exchange(APDU, person=True)


@pytest.mark.parametrize(
    ("replies", "error"),
    [
        ([], DeviceSilent),
        (packets(bytes(100) + b"\x90\x00")[:1], DeviceSilent),
        (packets(b"\x90\x00", channel=0x0102), WrongAnswer),
        (packets(b"\x90\x00", tag=6), WrongAnswer),
        (packets(bytes(100) + b"\x90\x00")[1:], WrongAnswer),
        (packets(bytes(100) + b"\x90\x00")[:1] * 2, WrongAnswer),
        (packets(b"\x90"), WrongAnswer),
        (packets(b""), WrongAnswer),
        (packets(bytes(60_000)), WrongAnswer),
    ],
)
def test_a_bad_answer_is_named_and_the_device_is_let_go(replies: list[bytes], error: type[Exception]) -> None:
    device = FakeHid(replies or [])
    opened = opened_on(device)
    with pytest.raises(error):
        opened.exchange(APDU, person=False)
    assert device.closed
    with pytest.raises(DeviceLost, match="earlier failure"):
        opened.exchange(APDU, person=False)


def test_after_ctrl_c_no_late_answer_is_taken_for_the_next_one() -> None:
    device = FakeHid([], fails=KeyboardInterrupt())
    opened = opened_on(device)
    with pytest.raises(KeyboardInterrupt):
        opened.exchange(APDU, person=True)
    assert device.closed
    with pytest.raises(DeviceLost, match="earlier failure"):
        opened.exchange(APDU, person=False)


@pytest.mark.parametrize(
    ("plugged", "path", "said"),
    [
        ([], None, "no Ledger is plugged in"),
        ([], "/dev/hidraw93", "no Ledger is plugged in"),
        ([ONE, OTHER], None, "more than one.*hidraw93.*hidraw95"),
        ([ONE, OTHER], "/dev/hidraw94", "no Ledger at /dev/hidraw94.*hidraw93.*hidraw95"),
    ],
)
def test_a_ledger_that_is_not_there_or_not_named_is_not_guessed(
    plugged: list[PluggedLedger], path: str | None, said: str
) -> None:
    with pytest.raises(DeviceNotFound, match=said):
        choose_ledger(plugged, path)
    assert choose_ledger([ONE]) == ONE
    assert choose_ledger([ONE, OTHER], "/dev/hidraw95") == OTHER


def test_only_the_interface_for_apdus_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    flex = {"product_string": "Flex", "product_id": 0x7011}
    entries = [
        flex | {"path": b"/dev/hidraw93", "usage_page": 0xFFA0, "interface_number": 0},
        flex | {"path": b"/dev/hidraw94", "usage_page": 0xF1D0, "interface_number": 1},
    ]
    monkeypatch.setattr(usb.hidapi(), "enumerate", lambda vendor, product: entries if vendor == 0x2C97 else [])
    assert plugged_ledgers() == [PluggedLedger("/dev/hidraw93", "Flex", "flex", 0x7011)]


def test_a_ledger_that_another_airlock_uses_is_held() -> None:
    first = opened_on(FakeHid([]))
    with pytest.raises(HeldByAnother, match="another airlock-offline is using the Ledger at /dev/hidraw93"):
        opened_on(FakeHid([]))
    first.close()
    opened_on(FakeHid([])).close()


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


def test_a_person_is_waited_for_at_every_piece_of_a_transaction() -> None:
    """With Debug contracts on, the app asks a person to confirm each word as it comes in."""
    from rlp import encode

    waited: list[bool] = []
    ledger = SoftwareLedger(settings=AppSettings(blind_signing=True))
    device = Wrapped(ledger, lambda _, person: waited.append(person))
    raw = b"\x02" + bytes(encode([1, 3, 10**8, 2 * 10**9, 60_000, b"\x11" * 20, 0, b"\xaa" * 600, []]))
    signature = EthereumApp(device).sign_transaction("m/44'/60'/0'/0/0", raw)
    assert len(signature.rsv) == 65
    assert waited == [True] * 3


@pytest.mark.parametrize("data", [b"", b"\x03\x01\x16\x00", bytes(range(130))])
def test_an_answer_is_data_and_status_word(data: bytes) -> None:
    device = FakeHid(packets(data + b"\x69\x85"))
    assert opened_on(device).exchange(APDU, person=False) == (data, 0x6985)


@pytest.mark.parametrize("failure", [OSError("read error"), ValueError("not open")])
def test_an_unplugged_device_is_lost(failure: Exception) -> None:
    with pytest.raises(DeviceLost, match="broke"):
        opened_on(FakeHid([], fails=failure)).exchange(APDU, person=False)
    with pytest.raises(DeviceLost):
        opened_on(FakeHid([], written=-1)).exchange(APDU, person=False)  # it takes no data


def test_a_ledger_that_cannot_be_opened_is_named_with_what_to_look_at() -> None:
    with pytest.raises(DeviceLost, match="cannot be opened") as caught:
        opened_on(FakeHid([], opens=False))
    assert "other programs" in caught.value.do
    opened_on(FakeHid([])).close()  # it is not left locked


def test_ledgerblues_environment_variables_have_no_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in LEDGERBLUE_VARIABLES:
        monkeypatch.setenv(name, "127.0.0.1:9")
    monkeypatch.setattr(socket, "socket", lambda *_: pytest.fail("a socket was opened"))
    device = FakeHid(packets(b"\x90\x00"))
    assert opened_on(device).exchange(APDU, person=False) == (b"", 0x9000)
    assert device.reports == [b"\0" + packet for packet in packets(APDU)]


@pytest.mark.parametrize("connected", [_in_single_bytes], indirect=True)
def test_an_answer_that_comes_in_pieces_is_whole(connected: LoopbackTransport) -> None:
    assert connected.exchange(APDU, person=False) == (b"\x03\x01\x16\x00", 0x9000)


def test_importing_the_ledger_loads_nothing_heavy_and_no_network() -> None:
    modules = ("ethereum_app", "screens", "transport", "usb")
    script = f"import sys\nfrom airlock_offline.ledger import {', '.join(modules)}\nprint(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    network = {"socket", "_socket", "ssl", "http", "asyncio"}
    heavy = {"eth_account", "eth_utils", "coincurve", "hid", "ledgerblue"}
    assert (network | heavy) & set(loaded) == set()


def test_over_usb_nothing_of_ledgerblue_but_its_framing_is_loaded() -> None:
    script = "import sys, ledgerblue.ledgerWrapper, ledgerblue.commException; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    ours = {"ledgerblue.__version__", "ledgerblue.commException", "ledgerblue.ledgerWrapper"}
    assert {name for name in loaded if name.startswith("ledgerblue.")} == ours
    assert "socket" not in loaded


LEDGERBLUE_VARIABLES = (  # those that ledgerblue.comm reads
    "APDUGEN", "U2FKEY", "MCUPROXY", "LEDGER_PROXY_ADDRESS", "LEDGER_PROXY_PORT", "LEDGER_NFC_PROXY", "LEDGER_BLE_PROXY",
    "LEDGER_BLE_MAC", "PCSC",
)  # fmt: skip


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
    secrets = [*values, signature.r.hex(), signature.s.hex(), DELEGATE.json["signer"][2:].lower(), b"a secret".hex()]
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
    assert app.sign_hashes(DELEGATE.path, DELEGATE.raw("domain_hash"), DELEGATE.raw("message_hash")).r
    with pytest.raises(UsageError, match="no space left"):
        log.exchange(DELEGATE.exchanges[0].apdu, person=False)
