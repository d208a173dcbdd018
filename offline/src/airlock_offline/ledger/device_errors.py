"""What can go wrong with a Ledger: the errors, one class for each; what a status word or USB alone tells stands there."""

from __future__ import annotations

from airlock_shared.errors import Declined, DeviceError

SW_OK = 0x9000
SW_DATA = 0x6A80
SW_ORDER = 0x6980
SW_PARAMETER = 0x6A00  # also: an EIP-712 flow that was left half-way; the app clears it while answering


class AppClosed(DeviceError):
    """The home screen is open, or the app was closed in the middle."""


class WrongApp(DeviceError):
    """Another app than Ethereum is open."""


class RefusedOnDevice(Declined):
    """The person pressed reject on the device."""


class SettingOff(DeviceError):
    """The app refuses the data: nearly always a setting that is off."""


class WrongAnswer(DeviceError):
    """The device answered success with something that cannot be an answer."""


class DeviceLost(DeviceError):
    """The device is not there any more: unplugged, or its connection broke."""


class DeviceSilent(DeviceError):
    """The device did not answer in time."""


class WrongModel(DeviceError):
    """The Ledger is of another model than the one whose pages were told."""


class DeviceNotFound(DeviceError):
    """No Ledger, or not the one asked for, or more than one."""


class TooLargeForDevice(DeviceError):
    """A value has more bytes than the app takes."""


class NoSuchWidth(DeviceError):
    """The typed data has integers of a width that the app refuses."""


class SignedOtherwise(DeviceError):
    """The app is known to sign another digest for typed data of this kind."""


class TokenRefused(DeviceError):
    """The app does not accept the record by which it was told of a token."""


RAW_MESSAGES = "Raw messages (and leave Blind signing off)"
BLIND_SIGNING = "Blind signing (and turn it off again afterwards)"


def wrong_answer(doing: str, got: str) -> WrongAnswer:
    """Return the error of a success without a usable result, such as 9000 with no data."""
    return WrongAnswer(
        f"could not {doing}: the Ledger reported success and answered {got}",
        do="Airlock did not use the answer; check that the request is complete, then close and open the Ethereum app",
    )
