"""What a Ledger can answer instead of a result: each status word, the error that it becomes, and what to do.

Sources: the Ethereum app's recorded answers (``tests/vectors/ledger``), its protocol description, and, for what the device
answers in the app's place, the device SDK and reports of its users. The table is data; a test reads it.
"""

from __future__ import annotations

from airlock_offline.ledger.status import (
    BLIND_SIGNING,
    AppClosed,
    AppFault,
    Busy,
    Locked,
    NotSetUp,
    NotSupported,
    PathNotAllowed,
    RefusedOnDevice,
    SettingOff,
    UnknownStatus,
    WrongApp,
    WrongOrder,
)
from airlock_shared.errors import AirlockError
from airlock_shared.records import NamedTuple


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
    "sign again if it was refused by mistake, otherwise find out what did not match",
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
    0x6E00: Meaning(WrongApp, "the app that is open is not Ethereum", "close it, open the Ethereum app and try again"),
    0x6985: _REFUSED,
    0x5501: _REFUSED,
    0x6A80: Meaning(
        SettingOff,
        "the Ethereum app refuses this data",
        "in the app's settings turn on {setting}; if it is on, an earlier request was not finished: try once more",
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
        "the app did not accept this command",
        "for an EIP-7702 authorization turn on Smart account upgrade in the app's settings, and use a contract that the "
        "app knows; otherwise try again",
    ),
    0x6A00: Meaning(AppFault, "the Ethereum app reports an error without a reason", _FAULT),
    0x6B00: Meaning(AppFault, "the Ethereum app does not know these parameters", _FAULT),
}


def error_for(sw: int, *, doing: str, setting: str = BLIND_SIGNING) -> AirlockError:
    """Return the named error of a status word other than 9000.

    ``doing`` says what was asked ("sign the typed data"), ``setting`` the app setting that it needs.
    """
    meaning = STATUS_WORDS.get(sw) or Meaning(UnknownStatus, "the Ledger answered with an unknown status", _FAULT)
    return meaning.error(f"could not {doing}: {meaning.what} (status {sw:04x})", do=meaning.do.format(setting=setting))
