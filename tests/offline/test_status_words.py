"""Each status word is a named error that says what happened and what to do."""

from __future__ import annotations

import pytest

from airlock_offline.ledger import device_errors, status_words
from airlock_offline.ledger.status_words import STATUS_WORDS, error_for
from airlock_shared.errors import AirlockError, Declined, DeviceError, ExitCode

EXPECTED = {
    0x5515: status_words.Locked,
    0x6B0C: status_words.Locked,
    0x6804: status_words.Locked,
    0x650F: device_errors.AppClosed,
    0x6E00: device_errors.WrongApp,
    0x6982: status_words.Locked,
    0x5502: status_words.NotSetUp,
    0x6511: device_errors.AppClosed,
    0x6D02: device_errors.AppClosed,
    0x6E01: device_errors.AppClosed,
    0x6601: status_words.Busy,
    0x6807: status_words.AppMissing,
    0x6901: status_words.Busy,
    0x5501: device_errors.RefusedOnDevice,
    0x6985: device_errors.RefusedOnDevice,
    0x6A80: device_errors.SettingOff,
    0x6A88: status_words.FiltersMissing,
    0x6D00: status_words.NotSupported,
    0x6501: status_words.NotSupported,
    0x6A15: status_words.PathNotAllowed,
    0x6A84: device_errors.TooLargeForDevice,
    0x6980: status_words.WrongOrder,
    0x6A00: status_words.AppFault,
    0x6B00: status_words.AppFault,
}


def error(sw: int) -> AirlockError:
    return error_for(sw, doing="sign the typed data", setting=device_errors.RAW_MESSAGES)


def test_every_word_of_the_table_is_expected_here() -> None:
    assert {sw: meaning.error for sw, meaning in STATUS_WORDS.items()} == EXPECTED


@pytest.mark.parametrize("sw", [*EXPECTED, 0x6F00])
def test_every_error_says_what_was_tried_what_happened_and_what_to_do(sw: int) -> None:
    found = error(sw)
    assert found.what.startswith("could not sign the typed data: ")
    assert f"{sw:04x}" in found.what
    assert len(found.do) > 20
    assert "{" not in found.do


@pytest.mark.parametrize("sw", [0x6F00, 0x0000, 0x6100, 0x9001, 0xFFFF])
def test_an_unknown_word_is_named_as_unknown(sw: int) -> None:
    assert type(error(sw)) is status_words.UnknownStatus


@pytest.mark.parametrize(
    ("sw", "what", "do"),
    [(0x6901, "menu", "leave that menu"), (0x6601, "opening or closing", "wait"), (0x5502, "no PIN", "not the Ledger")],
)
def test_what_the_device_answers_in_the_apps_place_has_its_own_advice(sw: int, what: str, do: str) -> None:
    assert what in str(error(sw))
    assert do in error(sw).do


@pytest.mark.parametrize("sw", [sw for sw in EXPECTED if sw not in (0x6985, 0x5501)])
def test_a_failing_device_ends_with_exit_code_5(sw: int) -> None:
    assert isinstance(error(sw), DeviceError)
    assert error(sw).exit_code == ExitCode.DEVICE


@pytest.mark.parametrize("sw", [0x6985, 0x5501])
def test_a_person_who_says_no_ends_with_exit_code_6(sw: int) -> None:
    assert isinstance(error(sw), Declined)
    assert error(sw).exit_code == ExitCode.DECLINED


@pytest.mark.parametrize("sw", [0x650F, 0x6511, 0x6D02, 0x6E01])
def test_a_closed_app_is_named(sw: int) -> None:
    assert "Ethereum app is not open" in str(error(sw))
    assert "open the Ethereum app" in error(sw).do


@pytest.mark.parametrize("sw", [0x5515, 0x6982, 0x6B0C, 0x6804])
def test_a_locked_device_is_named(sw: int) -> None:
    assert "locked" in str(error(sw))
    assert "PIN" in error(sw).do


def test_refused_data_names_the_setting_that_it_needs() -> None:
    assert "Raw messages" in error(0x6A80).do
    assert "Blind signing" in error_for(0x6A80, doing="sign the transaction").do


def test_a_path_that_is_not_allowed_points_at_the_plan() -> None:
    assert "plan" in error(0x6A15).do
