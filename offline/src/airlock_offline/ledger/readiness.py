"""Whether a Ledger can sign what it will be asked for: looked at before people read, and again before the signature.

Sent for it are three commands that show nothing and sign nothing: which app is open, its configuration, and an address.
"""

from __future__ import annotations

from typing import NamedTuple

from airlock_offline.ledger.ethereum_app import EthereumApp
from airlock_offline.ledger.status import BLIND_SIGNING, SettingOff
from airlock_shared.errors import ExitCode, Refusal
from airlock_shared.ethereum.addresses import checksum_address


class WrongDevice(Refusal):
    """The Ledger on the table is not the signer's, or its path is another: a matter of the device, exit code 5."""

    exit_code = ExitCode.DEVICE


class Need(NamedTuple):
    """What a Ledger is needed for: its 20-byte account at a path, and the settings without which the app does not sign.

    Whether Blind signing is on can be read. Whether Raw messages is cannot: that is for people to look up. ``filtered``: a
    message of which the app is told how to show it needs Raw messages off.
    """

    path: str
    account: bytes
    blind_signing: bool = False
    raw_messages: bool = False
    filtered: bool = False


def require_ready(app: EthereumApp, need: Need) -> bytes:
    """Return the device's account when it can sign. Raises as ``require_account``, ``SettingOff`` and ``DeviceError``."""
    account = require_account(app, need.path, need.account)
    if need.blind_signing and not app.configuration().blind_signing:
        raise SettingOff(
            "Blind signing is off in the Ethereum app, and without it this cannot be signed",
            do=f"in the app's settings turn on {BLIND_SIGNING}, then give the same command again",
        )
    return account


def require_account(app: EthereumApp, path: str, expected: bytes, *, confirm: bool = False) -> bytes:
    """Return the device's 20-byte address at ``path``; with ``confirm`` a person compares it on the device first.

    Raises ``WrongDevice("SIGNER-DEVICE")`` when it is not ``expected``: another seed, a passphrase, or another path.
    """
    found = app.address(path, confirm=confirm).address
    if found != expected:
        raise WrongDevice(
            "SIGNER-DEVICE",
            "the Ledger has another account at this path",
            got=checksum_address(found),
            expected=checksum_address(expected),
            do="check that this is the right Ledger, with the right seed and passphrase, and the right path "
            "(Ledger Live counts m/44'/60'/x'/0/0, older wallets m/44'/60'/0'/x); nothing was signed",
        )
    return found
