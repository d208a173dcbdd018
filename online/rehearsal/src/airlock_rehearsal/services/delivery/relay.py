"""The builder's relay: takes a signed transaction for a whitelisted contract, simulates it, sends it, reports on it.

Source: the specification, "Builder service" and "Errors" (``SIMULATION_FAILED``); ``rawTransaction``, ``skipSimulation``,
``hash`` and the words ``pending``, ``confirmed`` and ``reverted`` are those of comparable venues.
"""

from __future__ import annotations

import re

from eth_utils.crypto import keccak
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from airlock_rehearsal.chain.evm import EvmTransaction, NotTaken, Reverted
from airlock_rehearsal.chain.interface import revert_name
from airlock_rehearsal.services.builder.asked import bad
from airlock_rehearsal.services.envelope import Refused, done, parse_object, request_fields
from airlock_rehearsal.services.runtime import Runtime
from airlock_rehearsal.services.transport import another_hash, served
from airlock_rehearsal.services.venue.keeper import settle
from airlock_rehearsal.services.venue.raw_transaction import hash_of, read_transaction
from airlock_rehearsal.services.venue.submission import hex_bytes

_HASH = re.compile(r"0x[0-9a-fA-F]{64}", re.ASCII)


def hash_in(body: bytes) -> str:
    """Return the transaction's hash that a POST is counted by. Raises ``Refused``."""
    return hash_of(hex_bytes(parse_object(body).get("rawTransaction"), "rawTransaction"))


def _simulate(runtime: Runtime, transaction: EvmTransaction) -> None:
    """Raise ``SIMULATION_FAILED`` when the transaction would revert now."""
    try:
        if runtime.faults.has("simulation-fails", "relay"):
            raise Reverted("ToldToFail", bytes(keccak(b"ToldToFail()")[:4]))
        runtime.state.venue.evm.call(transaction.sender, transaction.to, transaction.data, transaction.value)
    except Reverted as error:
        revert = {"revertData": "0x" + error.data.hex(), "decodedError": error.name}
        details = {"target": transaction.to, **revert}
        raise Refused(f"the transaction would revert: {error.name}", "SIMULATION_FAILED", details=details) from error


def relay_routes(runtime: Runtime) -> list[Route]:
    """Return the relay's two routes."""

    async def submit(request: Request) -> Response:
        fields = await request_fields(request)
        try:
            raw = hex_bytes(fields.get("rawTransaction"), "rawTransaction")
            transaction = read_transaction(raw)
        except Refused as error:
            raise bad("rawTransaction", str(error)) from error
        skip = fields.get("skipSimulation", False)
        if not isinstance(skip, bool):
            raise bad("skipSimulation", "not a boolean")
        target = {"target": transaction.to}
        if transaction.to not in runtime.state.venue.whitelist():
            raise Refused(f"the contract {transaction.to} is not whitelisted", "TX_REJECTED", details=target)
        if not skip:
            _simulate(runtime, transaction)
        try:
            runtime.mempool.send_raw(raw)
        except NotTaken as error:
            raise Refused(str(error), "TX_REJECTED", details=target) from error
        runtime.spawn(settle(runtime, transaction.hash, "relay", runtime.faults))
        wrong = runtime.faults.has("wrong-hash", "relay")
        return done({"hash": another_hash(transaction.hash) if wrong else transaction.hash})

    async def status(request: Request) -> Response:
        asked = request.path_params["hash"]
        if not _HASH.fullmatch(asked):
            raise bad("hash", "not 0x and 64 hex digits")
        receipt = runtime.state.venue.evm.receipt(asked.lower())
        if receipt is None:
            return done({"hash": asked, "status": "pending"})
        status = "confirmed" if receipt.ok else "reverted"
        reverted = {} if receipt.ok else {"decodedError": revert_name(receipt.revert)}
        return done({"hash": asked, "status": status, "blockNumber": receipt.block_number, **reverted})

    return [
        served(runtime, "relay", "POST /v2/relay", submit, key_of=hash_in, limited=True),
        served(runtime, "relay", "GET /v2/relay/{hash}", status),
    ]
