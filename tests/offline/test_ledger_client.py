"""The client alone: paths, answers that cannot be right, versions, limits."""

from typing import Any

import pytest

from airlock_offline.device_connection import Device
from airlock_offline.ledger import device_errors as errors
from airlock_offline.ledger.device_errors import STATUS_WORDS, error_for
from airlock_offline.ledger.ethereum_app import EthereumApp, open_app
from airlock_offline.ledger.transport import parse_path
from airlock_offline.ledger.typed_data import SIGNED_BITS, fields_flow
from airlock_shared.errors import AirlockError, Declined, DeviceError, ExitCode, UsageError
from airlock_shared.ethereum.eip712 import TypedData
from airlock_shared.ethereum.typed_document import read_typed_data
from offline.recordings import Scripted, answering, recorded

PATH = "m/44'/60'/0'/0/0"
DOMAIN = {"name": "Desk", "chainId": 1}
HASH = bytes(range(32))
TRANSACTION = b"\x02\xc0"


def app_named(name: bytes, version: bytes) -> bytes:
    return b"\x01" + bytes((len(name),)) + name + bytes((len(version),)) + version + b"\x01\x00"


def typed(members: dict[str, str], message: dict[str, Any], **structs: Any) -> TypedData:
    types = {"Order": [{"name": n, "type": t} for n, t in members.items()], **structs}
    document = {"types": types, "primaryType": "Order", "domain": DOMAIN, "message": message}
    return read_typed_data(document)[0]


@pytest.mark.parametrize(
    "text",
    [
        "", "m", "m/", "44'/60'", "m/44h/60h", "m/44''", "m/-1", "m/01", "m/1\n", "M/1", "m//1", "m/1/", "m/2147483648",
        "m/1_0", "m/٣", "m/" + "/".join("0" * 11),
    ],
)  # fmt: skip
def test_nonsense_is_not_a_path(text: str) -> None:
    with pytest.raises(UsageError, match="not a derivation path"):
        parse_path(text)


ETHEREUM = b"Ethereum"
REFUSED: list[tuple[tuple[bytes, ...], type[DeviceError], str]] = [
    ((b"1.22.0-dev", b"1.23.0-dev", b"1.22.0-rc.1", b"2.0.0-0"), errors.NotReleased, "development build"),
    ((b"1.21.9", b"0.99.99", b"", b"1.22", b"v1.22.0", b"1.22.0 "), errors.AppTooOld, r"1\.22\.0 or newer"),
]


@pytest.mark.parametrize(
    ("version", "error", "said"), [(version, *told) for versions, *told in REFUSED for version in versions]
)
def test_a_development_build_and_an_older_or_unreadable_version_are_refused(
    version: bytes, error: type[DeviceError], said: str
) -> None:
    with pytest.raises(error, match=said) as caught:
        open_app(Scripted(app_named(ETHEREUM, version)))
    assert error is errors.AppTooOld or "install the released app" in caught.value.do


def test_a_released_app_is_taken_and_in_a_rehearsal_any_build_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for version in (b"1.22.0", b"1.23.0", b"2.0.0"):
        assert isinstance(open_app(Scripted(app_named(ETHEREUM, version))), EthereumApp)
    for version in (*REFUSED[0][0], b"1.22.0"):
        assert isinstance(open_app(Scripted(app_named(ETHEREUM, version)), any_build=True), EthereumApp)
    with pytest.raises(errors.AppTooOld):
        open_app(Scripted(app_named(ETHEREUM, b"1.21.9-dev")), any_build=True)
    monkeypatch.setattr(Device, "_open", lambda self: Scripted(app_named(ETHEREUM, b"1.22.0-dev")))
    assert isinstance(Device(9999, None).app(), EthereumApp)  # over loopback; and over USB it is not
    with pytest.raises(errors.NotReleased):
        Device(None, None).app()


@pytest.mark.parametrize("name", [b"ethereum", b"Ethereum Classic", b"", b"Ethereum\n"])
def test_another_app_is_refused(name: bytes) -> None:
    with pytest.raises(errors.WrongApp):
        open_app(Scripted(app_named(name, b"1.22.0")))
    for home in (b"BOLOS", b"OLOS", b"OLOS\0"):
        with pytest.raises(errors.AppClosed, match="home screen"):
            open_app(Scripted(app_named(home, b"2.2.3-rc1")))


@pytest.mark.parametrize(
    "answer", [b"", b"\x01", b"\x02" + app_named(ETHEREUM, b"1.22.0")[1:], b"\x01\x08Ethe", b"\x01\x01\xff\x01\xff"]
)
def test_an_answer_that_names_no_app_is_refused(answer: bytes) -> None:
    with pytest.raises((errors.WrongAnswer, errors.WrongApp, errors.AppTooOld)):
        open_app(Scripted(answer))


@pytest.mark.parametrize("length", [0, 1, 64, 66, 130])
def test_a_success_without_a_whole_signature_is_an_error(length: int) -> None:
    app = answering(b"\x1b" * length)
    with pytest.raises(errors.WrongAnswer):
        app.sign_hashes(PATH, HASH, HASH)
    with pytest.raises(errors.WrongAnswer):
        app.sign_personal_message(PATH, b"x")
    with pytest.raises(errors.WrongAnswer):
        answering(b"\x00" * length).sign_transaction(PATH, TRANSACTION)


def test_a_signature_with_another_v_or_parity_is_an_error() -> None:
    for v in (0, 26, 29):
        with pytest.raises(errors.WrongAnswer, match=f"v = {v}"):
            answering(bytes((v,)) + bytes(64)).sign_hashes(PATH, HASH, HASH)
    with pytest.raises(errors.WrongAnswer, match="instead of none"):  # where no data is due
        answering(b"\x1b" + bytes(64)).sign_typed_data(PATH, typed({"a": "bool"}, {"a": True}))
    for v in (2, 27, 255):
        with pytest.raises(errors.WrongAnswer, match=f"v = {v}"):
            answering(bytes((v,)) + bytes(64)).sign_transaction(PATH, TRANSACTION)


@pytest.mark.parametrize(
    ("flags", "on"), [(0x02, (False, False)), (0x03, (True, False)), (0x13, (True, True)), (0x10, (False, True))]
)
def test_of_the_settings_two_are_read(flags: int, on: tuple[bool, bool]) -> None:
    assert answering(bytes((flags, 1, 22, 0))).configuration() == (*on, (1, 22, 0))
    for length in (3, 5):
        with pytest.raises(errors.WrongAnswer):
            answering(bytes(length)).configuration()


def test_an_address_that_is_not_its_public_keys_is_an_error() -> None:
    answer = recorded("address", "address")[0].exchanges[0].data
    assert answering(answer).address(PATH).public_key == answer[1:66]
    for wrong in (answer[:-1] + b"E", answer[:5] + b"\0" + answer[6:], answer[:-1], answer + b"\0", b"", answer[:66]):
        with pytest.raises(errors.WrongAnswer):
            answering(wrong).address(PATH)


@pytest.mark.parametrize("payload", [b"", b"\x00", b"\x01\xc0", b"\x03\xc0", b"\xf8\x6b", b"\xc0"])
def test_a_legacy_or_unknown_transaction_is_not_sent(payload: bytes) -> None:
    transport = Scripted(b"")
    with pytest.raises(UsageError, match="of type 2"):
        EthereumApp(transport).sign_transaction(PATH, payload)
    assert transport.sent == []


def test_a_flow_that_fails_again_is_not_restarted_again() -> None:
    transport = Scripted(b"", 0x6A00)
    with pytest.raises(errors.AppFault):
        EthereumApp(transport).sign_typed_data(PATH, typed({"a": "bool"}, {"a": True}))
    assert len(transport.sent) == 2


def sent(typed_data: TypedData) -> list[str]:
    flow = fields_flow(PATH, typed_data)
    return [apdu.encode().hex() for apdu in (*flow.definitions, *flow.values, flow.sign)]


def test_what_the_device_cannot_be_asked_to_show_is_refused() -> None:
    transport = Scripted(b"")
    fields_flow(PATH, typed({"a": "string"}, {"a": "x" * 0xFFFF}))
    with pytest.raises(errors.TooLargeForDevice):
        EthereumApp(transport).sign_typed_data(PATH, typed({"a": "string"}, {"a": "x" * 0x10000}))
    assert transport.sent == []


def test_every_width_that_the_app_refuses_is_named_before_anything_is_sent() -> None:
    for bits in range(8, 257, 8):
        fields_flow(PATH, typed({"price": f"uint{bits}"}, {"price": str(2**bits - 1)}))  # as the real app takes them
        typed_data, transport = typed({"price": f"int{bits}"}, {"price": 1}), Scripted(b"")
        if bits in SIGNED_BITS:
            fields_flow(PATH, typed_data)
            continue
        with pytest.raises(errors.NoSuchWidth, match=rf"Order\.price \(int{bits}\)") as caught:
            EthereumApp(transport).sign_typed_data(PATH, typed_data)
        assert transport.sent == []
        assert "Raw messages" not in caught.value.do


def test_a_refused_width_is_found_below_the_message_and_not_in_a_struct_that_is_not_used() -> None:
    inner = [{"name": "b", "type": "int96"}]
    with pytest.raises(errors.NoSuchWidth, match=r"Inner\.b"):
        sent(typed({"a": "Inner"}, {"a": {"b": 1}}, Inner=inner))
    assert sent(typed({"a": "bool"}, {"a": True}, Unused=inner)) == sent(typed({"a": "bool"}, {"a": True}))


@pytest.mark.parametrize("lengths", [(31, 32), (32, 33), (0, 0)])
def test_a_hash_of_another_length_is_a_programming_error(lengths: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        answering(b"").sign_hashes(PATH, bytes(lengths[0]), bytes(lengths[1]))


# ---- each status word is a named error that says what happened and what to do ---------------------------------------


EXPECTED: dict[tuple[int, ...], tuple[type[AirlockError], str, str]] = {
    (0x5515, 0x6B0C, 0x6804, 0x6982): (errors.Locked, "locked", "PIN"),
    (0x650F, 0x6511, 0x6D02, 0x6E01): (errors.AppClosed, "Ethereum app is not open", "open the Ethereum app"),
    (0x6E00,): (errors.WrongApp, "", ""),
    (0x5502,): (errors.NotSetUp, "no PIN", "not the Ledger"),
    (0x6601,): (errors.Busy, "opening or closing", "wait"),
    (0x6901,): (errors.Busy, "menu", "leave that menu"),
    (0x6807,): (errors.AppMissing, "", ""),
    (0x5501, 0x6985): (errors.RefusedOnDevice, "", ""),
    (0x6A80,): (errors.SettingOff, "", "Raw messages"),
    (0x6A88,): (errors.FiltersMissing, "", ""),
    (0x6D00, 0x6501): (errors.NotSupported, "", ""),
    (0x6A15,): (errors.PathNotAllowed, "", "plan"),
    (0x6A84,): (errors.TooLargeForDevice, "", ""),
    (0x6980,): (errors.WrongOrder, "", ""),
    (0x6A00, 0x6B00): (errors.AppFault, "", ""),
}
KNOWN = {sw: told for words, told in EXPECTED.items() for sw in words}
UNKNOWN = (0x6F00, 0x0000, 0x6100, 0x9001, 0xFFFF)


@pytest.mark.parametrize("sw", [*KNOWN, *UNKNOWN])
def test_every_word_is_an_error_that_says_what_was_tried_what_happened_and_what_to_do(sw: int) -> None:
    found = error_for(sw, doing="sign the typed data", setting=errors.RAW_MESSAGES)
    error, said, do = KNOWN.get(sw, (errors.UnknownStatus, "", ""))
    assert (type(found), sw in STATUS_WORDS) == (error, sw in KNOWN)
    assert found.what.startswith("could not sign the typed data: ")
    assert f"{sw:04x}" in found.what
    assert said in found.what
    assert do in found.do
    assert len(found.do) > 20
    assert "{" not in found.do
    declined = error is errors.RefusedOnDevice
    assert isinstance(found, Declined if declined else DeviceError)
    assert found.exit_code == (ExitCode.DECLINED if declined else ExitCode.DEVICE)


def test_refused_data_without_another_setting_names_blind_signing() -> None:
    assert "Blind signing" in error_for(0x6A80, doing="sign the transaction").do
