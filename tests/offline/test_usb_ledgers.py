"""Ledgers on USB as people use them, through the product's transport: unplugged, locked, of another model, two at once."""

import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from airlock_offline.cli.machine import ledger_lines
from airlock_offline.cli.main import program
from airlock_offline.device_connection import Device
from airlock_offline.home import read_config
from airlock_offline.ledger import device_errors as errors
from airlock_offline.ledger import usb
from airlock_offline.ledger.ethereum_app import WrongDevice, open_app
from airlock_offline.ledger.models import MODELS, model_of_product
from airlock_offline.ledger.typed_data import Need, need_of
from airlock_offline.signing.review import screen_lines
from airlock_offline.signing.sign_item import ItemResult, sign_item
from airlock_shared.errors import AirlockError, DeviceError, UsageError
from airlock_shared.host.files import OK
from airlock_software_ledger.answers import AppSettings
from airlock_software_ledger.app import SoftwareLedger
from commands import run_here
from offline.machine_trees import write
from offline.test_signing import SEED, Table, case, ledger
from offline.usb_bus import OPEN_ETHEREUM, UsbBus
from shared.world import VECTORS, situation

PRODUCTS = {
    "nanos": (0x0001, 0x10), "nanox": (0x0004, 0x40), "nanosp": (0x0005, 0x50), "stax": (0x0006, 0x60),
    "flex": (0x0007, 0x70), "apexp": (0x0008, 0x80),
}  # fmt: skip


FIRST, SECOND = "/dev/hidraw93", "/dev/hidraw95"


@pytest.fixture
def bus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[UsbBus]:
    """An empty bus in hidapi's place, and a folder of its own for locks."""
    plugged = UsbBus()
    monkeypatch.setattr(usb, "hidapi", lambda: plugged)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield plugged
    assert all(device.closed for device in plugged.opened), "a Ledger was not let go"


def told(model: str = "") -> AirlockError:
    """Open a Ledger and return what is wrong with it."""
    device = Device(None, None, named_model=model)
    with pytest.raises(AirlockError) as caught:
        device.app()
    device.close()
    return caught.value


def test_two_ledgers_are_not_guessed_between_and_the_one_named_is_used(bus: UsbBus) -> None:
    first, second = bus.plug(0x5011, FIRST), bus.plug(0x7011, SECOND, model="flex")
    found = told()
    assert type(found) is errors.DeviceNotFound
    assert all(part in found.what for part in ("more than one", FIRST, SECOND))
    assert "--ledger" in found.do
    with pytest.raises(errors.DeviceNotFound, match=f"no Ledger at /dev/hidraw94.*{FIRST}.*{SECOND}"):
        Device(None, "/dev/hidraw94").app()
    device = Device(None, SECOND, named_model="flex")
    device.app()
    device.close()
    assert (first.apdus, bool(second.apdus), device.model) == ([], True, "flex")


PATH = "m/44'/60'/0'/0/0"


def look(device: Device, path: str = PATH, **need: Any) -> None:
    account = open_app(SoftwareLedger(seed=SEED)).address(path).address
    device.probe(Need(path, account, **need))


def looked(**need: Any) -> AirlockError:
    with pytest.raises(AirlockError) as caught:
        look(Device(None, None), **need)
    return caught.value


@pytest.mark.parametrize(
    ("product_id", "named_model", "said", "do"),
    [
        (0x7011, "nanosp", "is a Flex, and --model, or [ledger] model of config.toml, says Nano S Plus", "leave the"),
        (0x0004, "nanosp", "is a Nano X", "find the Ledger that is meant"),
        (0x1015, "nanosp", "is a Nano S,", "known are nanosp, flex"),
        (0xFD11, "", "does not say which model", "--model"),
        (0x1015, "", "of a Nano S", ""),
    ],
)
def test_a_ledger_of_another_model_or_of_one_whose_pages_nobody_can_list_is_asked_to_sign_nothing(
    bus: UsbBus, product_id: int, named_model: str, said: str, do: str
) -> None:
    plugged = bus.plug(product_id, seed=SEED)
    found = told(model=named_model) if named_model else looked()
    assert (type(found), said in found.what, do in found.do) == (errors.WrongModel, True, True)
    assert not named_model or plugged.apdus == []


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """No time passes while a Ledger is waited for; the list counts the seconds."""
    waited = [0.0]

    def sleep(seconds: float) -> None:
        waited[0] += seconds

    monkeypatch.setattr(usb, "sleep", sleep)
    monkeypatch.setattr(usb, "monotonic", lambda: waited[0])
    return waited


@pytest.mark.parametrize("answers", [True, False], ids=["answers", "leaves before it answers"])
@pytest.mark.parametrize("path", [FIRST, SECOND], ids=["the same path", "another path"])
def test_at_the_home_screen_the_app_is_opened_by_command_and_the_ledger_waited_for(
    bus: UsbBus, quick: list[float], path: str, answers: bool
) -> None:
    home = bus.at_home(seed=SEED, path=path, answers=answers)
    device = Device(None, None)
    look(device)
    assert (device.model, device.listed_model) == ("nanosp", "nanosp")
    assert home.apdus == [bytes.fromhex("b001000000"), OPEN_ETHEREUM]
    assert 0 < quick[0] < usb.COMES_BACK_S
    assert [apdu[:4].hex() for apdu in bus.ledgers[path].apdus] == ["b0010000", "e0020000"]
    device.close()
    bus.unplug()
    quick[0] = 0
    bus.at_home(seed=SEED, back_after=1000)  # that one does not come back
    assert "no Ledger is plugged in" in looked().what
    assert usb.COMES_BACK_S < quick[0] < usb.COMES_BACK_S + 2


@pytest.mark.parametrize(
    ("sw", "error", "said"),
    [
        (0x5501, errors.RefusedOnDevice, "could not open the Ethereum app: refused on the Ledger"),
        (0x6807, errors.AppMissing, "is not installed on this Ledger"),
        (0x6E01, errors.AppClosed, "home screen"),
    ],
)
def test_a_home_screen_that_opens_nothing_has_its_sentence(
    bus: UsbBus, quick: list[float], sw: int, error: type[AirlockError], said: str
) -> None:
    home = bus.plug(seed=SEED, faults=frozenset({"app-closed"}))
    home.opens = lambda: sw
    found = looked()
    assert (type(found), said in found.what, quick[0]) == (error, True, 0)


@pytest.mark.parametrize("meanwhile", [False, True])
def test_another_seed_is_noticed_before_people_read(bus: UsbBus, quick: list[float], meanwhile: bool) -> None:
    if meanwhile:
        bus.at_home(seed="abandon " * 11 + "about", path=SECOND)
    else:
        bus.plug()
    found = looked()
    assert isinstance(found, WrongDevice)
    assert found.check == "SIGNER-DEVICE"


def test_before_the_signature_no_app_is_opened(bus: UsbBus, quick: list[float]) -> None:
    bus.plug(seed=SEED)
    device = Device(None, None)
    look(device)
    bus.unplug()
    home = bus.at_home(seed=SEED)
    with pytest.raises(errors.AppClosed):
        device.app()
    device.close()
    assert OPEN_ETHEREUM not in home.apdus
    with pytest.raises(errors.AppClosed):  # nor for a command that only asks
        Device(None, None).app()
    bus.opened[-1].close()
    assert (OPEN_ETHEREUM in home.apdus, quick[0]) == (False, 0)


@pytest.mark.parametrize("on", [True, False])
def test_blind_signing_is_asked_for_where_it_is_needed_alone(bus: UsbBus, on: bool) -> None:
    plugged = bus.plug(seed=SEED, settings=AppSettings(blind_signing=on))
    look(Device(None, None))
    assert "e0060000" not in [apdu[:4].hex() for apdu in plugged.apdus]
    if on:
        look(Device(None, None), blind_signing=True)
        return
    found = looked(blind_signing=True)
    assert type(found) is errors.SettingOff
    assert "Blind signing is off" in found.what
    assert "turn on Blind signing (and turn it off again afterwards)" in found.do


@pytest.mark.parametrize(
    ("product_id", "ledger_of_another", "error", "said"),
    [
        (0x7011, {"model": "flex"}, errors.WrongModel, "is a Flex, and the pages were listed for a Nano S Plus"),
        (0xFD11, {}, errors.WrongModel, "model that USB does not name, and the pages were listed for a Nano S Plus"),
        (0x5011, {"version": "1.23.0"}, errors.OtherVersion, "'1.23.0', and the pages were listed for '1.22.0'"),
    ],
    ids=["model", "a model that nobody knows", "version"],
)
def test_what_was_looked_at_is_what_is_asked_to_sign(
    bus: UsbBus, product_id: int, ledger_of_another: dict[str, Any], error: type[AirlockError], said: str
) -> None:
    bus.plug(seed=SEED)
    device = Device(None, None)
    look(device)
    bus.unplug()
    bus.plug(product_id, seed=SEED, **ledger_of_another)
    with pytest.raises(error) as caught:
        device.app()
    device.close()
    assert said in caught.value.what
    assert "the same command again" in caught.value.do
    if product_id != 0xFD11:
        look(device)  # as before another step, whose signer may have another Ledger
        device.app()
        device.close()


class AtTheTable:
    """A table whose Ledger is on the bus."""

    def __init__(self, bus: UsbBus, folder: Path) -> None:
        self.table = Table(folder, ledger())
        self.plugged = bus.plug(seed=SEED)

    def sign(self) -> ItemResult:
        device = Device(None, None)
        desk = self.table.desk._replace(
            probe=lambda signed: device.probe(need_of(signed)), app=device.app, let_go=device.close
        )
        return sign_item(case(), situation(), desk)


@pytest.fixture
def here(bus: UsbBus, tmp_path: Path) -> AtTheTable:
    return AtTheTable(bus, tmp_path)


@pytest.mark.parametrize(
    ("again", "error", "said"),
    [(False, usb.Unplugged, "the Ledger was unplugged"), (True, usb.Replugged, "plugged in again, or an app was")],
)
def test_unplugged_during_a_review_it_says_so_and_the_same_command_signs_afterwards(
    bus: UsbBus, here: AtTheTable, again: bool, error: type[AirlockError], said: str
) -> None:
    def unplug() -> None:
        bus.unplug()
        if again:
            bus.plug(path=SECOND, seed=SEED)

    here.plugged.during_review = [lambda: None, unplug]
    with pytest.raises(error, match=said) as caught:
        here.sign()
    assert again or "plug it in again" in caught.value.do
    assert here.table.kept() == []
    bus.plug(path=SECOND, seed=SEED)
    assert here.sign().answer.result == "signed"


@pytest.mark.parametrize(
    ("unplugged", "said"), [(True, "no Ledger is plugged in"), (False, "is locked")], ids=["unplugged", "locked"]
)
def test_what_happened_to_the_ledger_while_people_read_is_told_and_nothing_is_reserved(
    bus: UsbBus, here: AtTheTable, unplugged: bool, said: str
) -> None:
    def meanwhile(_question: str) -> None:
        bus.unplug()
        if not unplugged:
            bus.plug(seed=SEED, faults=frozenset({"lock"}))

    desk = here.table.desk
    here.table.desk = desk._replace(ask=meanwhile)
    with pytest.raises(DeviceError, match=said):
        here.sign()
    assert here.table.events == []
    here.table.desk = desk
    bus.plug(seed=SEED)
    assert here.sign().answer.result == "signed"


@pytest.mark.parametrize("sw", [0x5515, 0x6901, 0x6E01])
def test_locked_or_closed_during_a_review_nothing_was_signed(here: AtTheTable, sw: int) -> None:
    here.plugged.during_review = [lambda: here.plugged.answer_instead(sw)]
    with pytest.raises(DeviceError, match=f"{sw:04x}"):
        here.sign()
    assert here.table.events == ["signing", "not-signed"]
    assert here.sign().answer.result == "signed"


def test_ctrl_c_during_a_review_ends_within_one_read_and_says_what_to_do(here: AtTheTable) -> None:
    here.plugged.during_review = [lambda: None, lambda: os.kill(os.getpid(), signal.SIGINT), *[lambda: None] * 100]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    try:
        with pytest.raises(KeyboardInterrupt):
            here.sign()
    finally:
        signal.signal(signal.SIGINT, before)
    assert here.plugged.reads_during_review == 2
    said = " ".join(here.table.told)
    assert "reject it there" in said
    assert "not known whether the Ledger signed" in said
    assert (here.table.events, here.table.kept()) == (["signing"], [])


def test_the_time_for_a_review_is_that_of_the_settings(bus: UsbBus, tmp_path: Path) -> None:
    from airlock_offline.device_connection import nothing_is_signed, opened

    file = tmp_path / "config.toml"
    for written, seconds in (("", 1800), ("[ledger]\nreview_minutes = 2\n", 120)):
        file.write_text(written)
        with program.make_context("airlock-offline", ["--home", str(tmp_path), "sign"]) as context:
            assert program.callback is not None
            context.invoke(program.callback, **context.params)
        with context.scope(cleanup=False), opened(None, None, guard=nothing_is_signed) as device:
            assert device._review_s == seconds
            plugged = bus.plug()
            plugged.during_review = [lambda: None] * 5000
            with pytest.raises(errors.DeviceSilent, match=f"within {seconds} s.*review_minutes"):
                device.app().address("m/44'/60'/0'/0/0", confirm=True)


def test_elsewhere_than_on_linux_a_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    found = told()
    assert (type(found), "darwin" in found.what) == (DeviceError, True)
    assert "on Linux alone" in found.what
    [line] = ledger_lines()
    assert line.verdict != OK
    assert "on Linux alone" in line.found


def test_a_driver_that_cannot_be_loaded_is_told_in_the_same_words_by_the_doctor_and_at_first_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "hidraw", None)
    found = told()
    [line] = ledger_lines()
    assert (found.exit_code, found.what, found.do) == (line.code, line.found, line.do)
    assert found.what.startswith("hidapi cannot be loaded: ")


@pytest.mark.parametrize(
    ("product_id", "named", "model"),
    [
        (0x5011, "", "nanosp"),
        (0x7011, "", "flex"),
        (0x0006, "", "stax"),
        (0x5011, "nanosp", "nanosp"),
        (0xFD11, "nanosp", "nanosp"),
    ],
)
def test_the_model_is_read_and_the_ledger_let_go_of(bus: UsbBus, product_id: int, named: str, model: str) -> None:
    plugged = bus.plug(product_id, seed=SEED, model=model)
    device = Device(None, None, named_model=named)
    look(device)
    assert (device.model, device.listed_model, device.version) == (model, model, "1.22.0")
    assert [apdu[:4].hex() for apdu in plugged.apdus] == ["b0010000", "e0020000"]
    Device(None, None).app()  # another command may have it now
    bus.opened[-1].close()
    device.app()  # a seal was made, and something was recorded meanwhile: it is made again
    look(device)
    assert (device.model, device.listed_model) == (model, model)


def test_a_version_whose_words_nobody_knows_is_listed_with_a_note(bus: UsbBus) -> None:
    bus.plug(seed=SEED, version="1.23.0")
    device = Device(None, None)
    look(device)
    assert (device.listed_model, device.version) == ("nanosp", "1.23.0")
    said = " ".join(screen_lines([["a page"]], device.listed_model, device.version))
    assert "NOTE: The app is 1.23.0. The list has the words of 1.22.0: a word may differ." in said
    assert len(list(screen_lines([["a page"]], device.listed_model, "1.22.0"))) == 2


@pytest.mark.parametrize("name", [model.name for model in MODELS.values() if model.offered])
def test_every_product_id_of_a_model_is_known_legacy_ones_too(name: str) -> None:
    legacy, high = PRODUCTS[name]
    assert model_of_product(legacy) == name
    assert {model_of_product(high << 8 | low) for low in range(256)} == {name}
    assert {model_of_product(other) for other in (0x0000, 0x0002, 0x00FF, 0x2011, 0xFD11, 0xFE11, 0xFFFF)} == {""}


@pytest.mark.parametrize("written", ["review_minutes = 0", "review_minutes = 241", 'review_minutes = "30"',
                                     "review_minutes = 1.5", "review_minutes = true", 'model = "apex"'])  # fmt: skip
def test_a_time_for_a_review_that_is_none_and_an_unknown_model_are_refused(tmp_path: Path, written: str) -> None:
    with pytest.raises(UsageError, match=r"review_minutes|model is 'apex'"):
        read_config(write(tmp_path / "config.toml", f"[ledger]\n{written}\n"))
    assert read_config(write(tmp_path / "config.toml", '[ledger]\nmodel = "flex"\n')).ledger.model == "flex"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('[ledger]\nmodle = "flex"', "did you mean model?"), ("[ledger]\nmodel = 1", "mistyped"), ("[ledger", "not TOML"),
        ('[checks]\nskip = "TIME-PAST"', "unknown section"),
    ],
)  # fmt: skip
def test_a_wrong_configuration_is_refused_by_every_command(tmp_path: Path, written: str, said: str) -> None:
    write(tmp_path / "config.toml", written)
    for words in (("config", "show"), ("plan", "show", VECTORS / "plans/good/every-struct.toml"), ("preflight",)):
        ended = run_here(program, "--home", tmp_path, *words)
        assert (ended.code, said in " ".join(ended.err.split())) == (2, True), ended.err
    assert not (tmp_path / "transcript.jsonl").exists()


HIDRAW = "/dev/hidraw3"


def test_the_system_tells_where_a_ledger_is_and_which_program_holds_it(tmp_path: Path) -> None:
    device = tmp_path / "sys/bus/usb/devices/1-2.3"
    (device / "1-2.3:1.0/0003:2C97:7011.0005").mkdir(parents=True)
    write(device / "busnum", "1\n")
    write(device / "devnum", "7\n")
    write(tmp_path / "dev/hidraw3", "")
    (tmp_path / "sys/class/hidraw/hidraw3").mkdir(parents=True)
    (tmp_path / "sys/class/hidraw/hidraw3/device").symlink_to(device / "1-2.3:1.0/0003:2C97:7011.0005")
    write(tmp_path / "proc/4711/comm", "browser\n")
    (tmp_path / "proc/4711/fd").mkdir()
    (tmp_path / "proc/4711/fd/5").symlink_to(tmp_path / "dev/hidraw3")
    port = usb.UsbPort(tmp_path / "dev/hidraw3", "1-7")
    assert (usb.port_of(HIDRAW, tmp_path), usb.holders(port, tmp_path)) == (port, ["browser (process 4711)"])
    (tmp_path / "proc/4711").rename(tmp_path / f"proc/{os.getpid()}")  # this process does not hold it from itself
    assert usb.holders(port, tmp_path) == []
    write(device / "devnum", "8\n")  # it was plugged in again
    assert usb.port_of(HIDRAW, tmp_path) == port._replace(plug_number="1-8")
    for gone in ("1-9:1.0", "/dev/hidraw9", "IOService:/AppleARM", "", "../../etc/passwd:1.0"):
        assert usb.port_of(gone, tmp_path) is None
    assert [usb.may_open(port._replace(node=tmp_path / "dev" / name)) for name in ("hidraw3", "none")] == [True, False]


@pytest.mark.parametrize(
    ("permitted", "held_by", "error", "said"),
    [
        (True, ["browser (process 4711)"], usb.HeldByAnother, "held by browser"),
        (False, [], usb.NotPermitted, "may not open"),
        (True, [], errors.DeviceLost, "cannot be opened.*other programs"),
    ],
)
def test_why_a_ledger_cannot_be_opened_is_told_apart_and_it_is_not_left_locked(
    monkeypatch: pytest.MonkeyPatch, permitted: bool, held_by: list[str], error: type[Exception], said: str
) -> None:
    monkeypatch.setattr(usb, "port_of", lambda path: usb.UsbPort(Path("/dev/bus/usb/001/007"), "1-7"))
    monkeypatch.setattr(usb, "may_open", lambda port: permitted)
    monkeypatch.setattr(usb, "holders", lambda port: held_by)
    closed = UsbBus().device  # nothing is plugged in: it cannot be opened
    with pytest.raises(error, match=said) as caught:
        usb.HidTransport(device=closed, plugged=lambda: [usb.PluggedLedger(HIDRAW, "Flex")])
    usb.DeviceLock(HIDRAW).release()
    assert caught.type is error


def test_a_lock_is_exclusive_per_device_and_is_not_taken_through_a_link(bus: UsbBus, tmp_path: Path) -> None:
    lock, plugged = usb.DeviceLock(FIRST), bus.plug(path=FIRST)
    usb.DeviceLock(SECOND).release()
    found = told()
    assert (type(found), "another airlock-offline" in found.what, plugged.apdus) == (usb.HeldByAnother, True, [])
    lock.release()
    lock.release()
    for file in tmp_path.glob("*.lock"):
        assert file.stat().st_mode & 0o777 == 0o600
        file.unlink()
        file.symlink_to(tmp_path / "elsewhere")
    found = told()
    assert (type(found), "lock file" in found.what) == (usb.HeldByAnother, True)
