"""The account that a Ledger has at a path, against the one that is expected there."""

from __future__ import annotations

from airlock_offline.ledger.ethereum_app import EthereumApp
from airlock_shared.errors import ExitCode, Refusal
from airlock_shared.ethereum.addresses import checksum_address


class WrongDevice(Refusal):
    """The Ledger on the table is not the signer's, or its path is another: a matter of the device, exit code 5."""

    exit_code = ExitCode.DEVICE


def require_account(app: EthereumApp, path: str, expected: bytes, *, confirm: bool = False) -> bytes:
    """Return the device's 20-byte address at ``path``; with ``confirm`` a person compares it on the device first.

    Raises ``WrongDevice("SIGNER-DEVICE")`` when it is not ``expected``: another seed, a passphrase, or another path.
    """
    found = (app.address(path, confirm=True) if confirm else app.address(path)).address
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
