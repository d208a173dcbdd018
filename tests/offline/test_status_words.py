"""Each status word is a named error that says what happened and what to do."""

import pytest

from airlock_offline.ledger import device_errors as errors
from airlock_offline.ledger.device_errors import STATUS_WORDS, error_for
from airlock_shared.errors import AirlockError, Declined, DeviceError, ExitCode

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
