"""Parameters of JSON-RPC requests, read strictly, and the errors of that protocol.

Source: JSON-RPC 2.0, section 5.1; the Ethereum execution API ("quantities" in hex without leading zeros).
"""

from __future__ import annotations

import re

from airlock_online.rehearsal.services.fields import address

UNREADABLE, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS = -32700, -32600, -32601, -32602
REVERTED, SERVER = 3, -32000  # what nodes answer for a call that reverts, and for a transaction that is not taken

_HEX = re.compile(r"0x(?:[0-9a-fA-F]{2})*", re.ASCII)
_QUANTITY = re.compile(r"0x(?:0|[1-9a-fA-F][0-9a-fA-F]{0,63})", re.ASCII)
_HASH = re.compile(r"0x[0-9a-fA-F]{64}", re.ASCII)
_NOBODY = "0x" + "00" * 20
_TAGS = ("latest", "pending", "safe", "finalized")

Params = list[object]


class Fault(Exception):
    """A JSON-RPC error."""

    def __init__(self, code: int, message: str, data: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.data = data


def quantity(value: object, name: str) -> int:
    """Read a hex quantity. Raises ``Fault``."""
    if not isinstance(value, str) or not _QUANTITY.fullmatch(value):
        raise Fault(INVALID_PARAMS, f"{name} is not a hex quantity")
    return int(value, 16)


def hex_data(value: object, name: str) -> bytes:
    """Read bytes in hex. Raises ``Fault``."""
    if not isinstance(value, str) or not _HEX.fullmatch(value):
        raise Fault(INVALID_PARAMS, f"{name} is not 0x-hex")
    return bytes.fromhex(value[2:])


def account(value: object, name: str) -> str:
    """Read an address; in mixed case it must be the EIP-55 form. Raises ``Fault``."""
    try:
        return address(value)
    except ValueError as error:
        raise Fault(INVALID_PARAMS, f"{name} is {error}") from error


def transaction_hash(params: Params) -> str:
    """Read the hash of a transaction, the first parameter. Raises ``Fault``."""
    value = params[0]
    if not isinstance(value, str) or not _HASH.fullmatch(value):
        raise Fault(INVALID_PARAMS, "the hash is not 32 bytes in hex")
    return value.lower()


def block_tag(params: Params, position: int) -> str:
    """Read the word for a block; none is ``latest``, and a number is refused. Raises ``Fault``."""
    tag = params[position] if len(params) > position else "latest"
    if tag not in _TAGS:
        raise Fault(INVALID_PARAMS, f"the block is none of {', '.join(_TAGS)}: old states are not kept")
    return str(tag)


def call_of(params: Params) -> tuple[str, str, bytes, int]:
    """Read a call object: sender, contract, calldata, wei. Raises ``Fault``."""
    call = params[0]
    if not isinstance(call, dict):
        raise Fault(INVALID_PARAMS, "the call is not an object")
    data = call.get("input", call.get("data", "0x"))
    sender, value = call.get("from", _NOBODY), call.get("value", "0x0")
    return account(sender, "from"), account(call.get("to"), "to"), hex_data(data, "data"), quantity(value, "value")
