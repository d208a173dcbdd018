"""What can go wrong with a Ledger: the errors, one class for each, and the status words that become one."""

from __future__ import annotations

from typing import NamedTuple

from airlock_offline.ledger.models import MODELS, shown_models
from airlock_shared.errors import AirlockError, Declined, DeviceError

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


RAW_MESSAGES = "on Raw messages (and leave Blind signing off)"
NO_RAW_MESSAGES = "off Raw messages"
BLIND_SIGNING = "on Blind signing (and turn it off again afterwards)"


def wrong_answer(doing: str, got: str) -> WrongAnswer:
    """Return the error of a success without a usable result, such as 9000 with no data."""
    return WrongAnswer(
        f"could not {doing}: the Ledger reported success and answered {got}",
        do="Airlock did not use the answer; check that the request is complete, then close and open the Ethereum app",
    )


# ---- status words ---------------------------------------------------------------------------------------------------
# What a Ledger can answer instead of a result: each status word, the error that it becomes, and what to do.
#
# Sources: the Ethereum app's recorded answers (``tests/vectors/ledger``), its protocol description, and, for what the device
# answers in the app's place, the device SDK and reports of its users. The table is data; a test reads it. Below it, what is
# said of a Ledger that is another one than the pages are for.


class AppTooOld(DeviceError):
    """The Ethereum app is older than the oldest version that we sign with."""


class NotReleased(DeviceError):
    """The Ethereum app is a development build."""


class OtherVersion(DeviceError):
    """The Ethereum app is of another version than the one whose pages were listed."""


class AppMissing(DeviceError):
    """The app is not installed on the device."""


class Locked(DeviceError):
    """The device shows its PIN entry."""


class NotSupported(DeviceError):
    """The app does not know the instruction or the kind of transaction."""


class PathNotAllowed(DeviceError):
    """The app may not derive keys on this path."""


class WrongOrder(DeviceError):
    """The app did not expect this command now, or refuses to sign this authorization."""


class AppFault(DeviceError):
    """The app reports an internal error or parameters that it does not know."""


class FiltersMissing(DeviceError):
    """The app was told of fewer message filters than Ledger has signed for the message."""


class UnknownStatus(DeviceError):
    """The device answered a status word that is in no table of ours."""


class Busy(DeviceError):
    """The device shows something of its own: its menu, its settings, or an app that is being opened."""


class NotSetUp(DeviceError):
    """The device has no PIN, and so no keys of anybody."""


class Meaning(NamedTuple):
    """One row of the table: the error that a status word becomes, what happened, and what to do."""

    error: type[AirlockError]
    what: str
    do: str


_UNLOCK = Meaning(Locked, "the Ledger is locked", "unlock it with its PIN, open the Ethereum app and try again")
_OPEN = Meaning(AppClosed, "the Ethereum app is not open", "open the Ethereum app on the Ledger and try again")
_REFUSED = Meaning(
    RefusedOnDevice,
    "refused on the Ledger; nothing was signed",
    "give the command again if it was refused by mistake, otherwise find out what did not match",
)
_FAULT = "close the Ethereum app, open it again and try again; if it happens again, note the app's version"

STATUS_WORDS: dict[int, Meaning] = {
    0x5515: _UNLOCK,
    0x6B0C: _UNLOCK,
    0x6804: _UNLOCK,
    0x6982: _UNLOCK,
    0x5502: Meaning(
        NotSetUp, "the Ledger has no PIN", "this is not the Ledger that was prepared: find that one, or set this one up"
    ),
    0x650F: _OPEN,
    0x6511: _OPEN,
    0x6D02: _OPEN,
    0x6E01: _OPEN,
    0x6601: Meaning(
        Busy, "the Ledger is opening or closing an app", "wait until it shows the Ethereum app, and try again"
    ),
    0x6901: Meaning(
        Busy,
        "the Ledger shows a menu of its own, and takes no command there",
        "leave that menu on the Ledger (settings, control centre, a question), open the Ethereum app and try again",
    ),
    0x6807: Meaning(
        AppMissing,
        "the app is not installed on this Ledger, or could not go on with a value",
        "install it with Ledger Wallet on another machine; if it was open, have the signer sign this by hashes",
    ),
    0x6A84: Meaning(
        TooLargeForDevice,
        "the Ethereum app has not enough memory for this",
        "split the request, or have the signer sign it by hashes: no setting of the app changes it",
    ),
    0x6E00: Meaning(WrongApp, "the app that is open is not Ethereum", "close it, open the Ethereum app and try again"),
    0x6985: _REFUSED,
    0x5501: _REFUSED,
    0x6A80: Meaning(
        SettingOff,
        "the Ethereum app refuses this data",
        "in the app's settings turn {setting}; if it is so, an earlier request was not finished: try once more. An "
        "approval that also sends native currency is refused whatever is on",
    ),
    0x6A88: Meaning(
        FiltersMissing,
        "the app misses message filters",
        "pin a deployment with all filters of this message, or without any",
    ),
    0x6D00: Meaning(
        NotSupported, "the app does not know this command", "update the Ethereum app with Ledger Wallet, or open it"
    ),
    0x6501: Meaning(
        NotSupported, "the app does not sign this type of transaction", "update the Ethereum app with Ledger Wallet"
    ),
    0x6A15: Meaning(
        PathNotAllowed,
        "the Ethereum app may not use this derivation path",
        "correct the signer's path in the plan; Ethereum paths begin with m/44'/60'",
    ),
    0x6980: Meaning(
        WrongOrder,
        "the app refuses this data, or this command at this point",
        "for an EIP-7702 authorization turn on Smart account upgrade in the app's settings, and use a contract that the "
        "app knows; of typed data no setting changes it: try once more, then have the signer sign by hashes",
    ),
    0x6A00: Meaning(AppFault, "the Ethereum app reports an error without a reason", _FAULT),
    0x6B00: Meaning(AppFault, "the Ethereum app does not know these parameters", _FAULT),
}


def wrong_model(found: str, named_model: str, *, listed: bool) -> WrongModel:
    """Return the error of a Ledger of another model than ``named_model``: that of the pages ``listed``, or ``--model``."""
    product, other = MODELS[found].product if found else "model that USB does not name", MODELS[named_model].product
    if listed:
        return WrongModel(f"the Ledger is a {product}, and the pages were listed for a {other}", do=LIST_AGAIN)
    return WrongModel(
        f"the Ledger is a {product}, and --model, or [ledger] model of config.toml, says {other}",
        do=f"find the Ledger that is meant, or leave the model out: it is read from the Ledger; known are {_NAMES}",
    )


def no_pages(found: str) -> WrongModel:
    """Return the error of a Ledger whose pages nobody can list: of a model that is not known, or not listed."""
    if not found:
        return WrongModel("this Ledger does not say which model it is", do=f"name it with --model, one of {_NAMES}")
    return WrongModel(f"the pages of a {MODELS[found].product} are not known", do=f"sign with one of {_NAMES}")


LIST_AGAIN = "give the same command again: it lists the pages of the Ledger that is there"
_NAMES = ", ".join(shown_models())


def error_for(sw: int, *, doing: str, setting: str = BLIND_SIGNING) -> AirlockError:
    """Return the named error of a status word other than 9000.

    ``doing`` says what was asked ("sign the typed data"), ``setting`` the app setting that it needs.
    """
    meaning = STATUS_WORDS.get(sw) or Meaning(UnknownStatus, "the Ledger answered with an unknown status", _FAULT)
    return meaning.error(f"could not {doing}: {meaning.what} (status {sw:04x})", do=meaning.do.format(setting=setting))
