"""The contract's own call that executes a signed intent, for whoever sends it: the signature, then the encoding.

``setDelegateWithSig(bytes signature, bytes intent)`` and the like. The contract is the one that verifies the signature, and
no native currency goes with the call. The order is that of the public client programs of comparable venues.
"""

from __future__ import annotations

from airlock_online.delivery.routes.context import Delivery
from airlock_shared.errors import UsageError
from airlock_shared.ethereum.abi import encode
from airlock_shared.ethereum.keccak import keccak256

WITH_SIG = {
    "DelegateReq": "setDelegateWithSig(bytes,bytes)",
    "SetTraderReferralCodeByUserReq": "setTraderReferralCodeByUserWithSig(bytes,bytes)",
    "RegisterCodeReq": "registerCodeWithSig(bytes,bytes)",
}
"""By struct."""


def executing_call(delivery: Delivery) -> dict[str, str]:
    """Return the call: ``function``, ``to``, ``data`` as 0x-hex, ``value`` in wei. Raises ``UsageError`` for none."""
    call = WITH_SIG.get(delivery.primary_type)
    if call is None:
        raise UsageError(
            f"no contract call is known that executes a {delivery.primary_type}",
            do="nothing was sent; correct its body in the services file",
        )
    intent, signature = bytes.fromhex(delivery.encoded_intent[2:]), bytes.fromhex(delivery.signature[2:])
    data = "0x" + (keccak256(call.encode())[:4] + encode(["bytes", "bytes"], [signature, intent])).hex()
    return {"function": call, "to": delivery.contract, "data": data, "value": "0"}
