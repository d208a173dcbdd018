"""Why a contract reverted: revert data read into words.

Three forms are known: ``Error(string)`` and ``Panic(uint256)``, which the Solidity language defines ("Control structures",
error handling), and the contracts' own errors, which carry a bare name: those of the error catalogue, and those of the
rehearsal's contracts about referral codes and delegates (a real one may say the same in a sentence of its own, as
``Error(string)``).
"""

from __future__ import annotations

from functools import cache

from airlock_online.error_codes import ERROR_CODES
from airlock_shared.errors import Refusal
from airlock_shared.ethereum.abi import decode
from airlock_shared.ethereum.keccak import keccak256
from airlock_shared.text.safe import safe

_ERROR, _PANIC = bytes.fromhex("08c379a0"), bytes.fromhex("4e487b71")  # Error(string), Panic(uint256)
_PANICS = {  # Solidity's list of panic codes
    0x01: "an assertion failed",
    0x11: "an arithmetic overflow",
    0x12: "a division by zero",
    0x21: "a number that is not a member of its enum",
    0x22: "a malformed byte array in storage",
    0x31: "a pop from an empty array",
    0x32: "an index beyond an array",
    0x41: "too much memory asked for",
    0x51: "a call of a function that is not set",
}


REFERRAL_ERRORS = {
    "EmptyCode": "the code is empty",
    "CodeTaken": "the code is registered already",
    "CodeIsPrivate": "the code is private, and its owner has not let this account in",
    "NotCodeOwner": "the caller does not own the code",
    "NotPendingOwner": "the caller is not nominated as the code's next owner",
    "NoRequest": "nobody asked for access to the private code",
}
"""The errors of the rehearsal's Referral contract, in no specification, and what each means."""

DELEGATE_ERRORS = {
    "NotDelegate": "this key is not, or is no longer, a delegate of the account",
    "NotAllowedForDelegate": "a delegate may not make this call",
    "InvalidDelegate": "an account cannot be its own delegate, and the zero address has no owner",
    "InvalidExpiry": "the delegate's expiry is past",
}
"""Those of the rehearsal's TradingRouter about delegates."""

_REHEARSED = REFERRAL_ERRORS | DELEGATE_ERRORS


@cache
def _known() -> dict[bytes, str]:
    """Return the contracts' errors by the selector of their form without arguments."""
    names = [entry.code for entry in ERROR_CODES.values() if entry.where == "contract"]
    names += [name for name in _REHEARSED if name not in names]
    return {keccak256(f"{name}()".encode())[:4]: name for name in names}


def error_name(data: str) -> str:
    """Return the name of a contract's own error that is known, or an empty text."""
    return _known().get(_bytes(data)[:4], "")


def reason(data: str) -> str:
    """Return what revert data (0x-hex, or empty) say, safe to show, in one sentence."""
    raw = _bytes(data)
    if not raw:
        return "it gave no reason"
    selector = raw[:4]
    try:
        if selector == _ERROR:
            (told,) = decode(["string"], raw[4:])
            return f"it says: {safe(str(told), limit=300)}"
        if selector == _PANIC:
            (code,) = decode(["uint256"], raw[4:])
            return f"panic {code:#x}: {_PANICS.get(code, 'a code that Solidity does not list')}"
    except Refusal:
        return f"a reason that cannot be read: {data[:202]}"
    if name := error_name(data):
        meaning = _REHEARSED.get(name) or ERROR_CODES[name].meaning
        return f"{name} (0x{selector.hex()}): {meaning}" if name in _REHEARSED else f"{name}: {meaning}"
    return f"an error that Airlock does not know, selector 0x{selector.hex()}, data {data[:202]}"


def _bytes(data: str) -> bytes:
    try:
        return bytes.fromhex(data.removeprefix("0x"))
    except ValueError:
        return b""
