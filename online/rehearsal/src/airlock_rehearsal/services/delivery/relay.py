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

from airlock_rehearsal.chain.evm import NotTaken, Reverted
from airlock_rehearsal.chain.interface import revert_name
from airlock_rehearsal.services.builder.accounts_and_pairs import bad
from airlock_rehearsal.services.envelope import ApiError, Rejected, done, parse_object, request_fields
from airlock_rehearsal.services.runtime import Runtime
from airlock_rehearsal.services.transport import another_hash, guarded
from airlock_rehearsal.services.venue.eip712_peer import Malformed
from airlock_rehearsal.services.venue.keeper import settle
from airlock_rehearsal.services.venue.raw_transaction import SignedTransaction, hash_of, read_transaction
from airlock_rehearsal.services.venue.submission import hex_bytes

_HASH = re.compile(r"0x[0-9a-fA-F]{64}", re.ASCII)


def hash_in(body: bytes) -> str:
    """Return the transaction's hash that a POST is counted by."""
    try:
        return hash_of(hex_bytes(parse_object(body).get("rawTransaction"), "rawTransaction"))
    except Rejected:
        return "unreadable"


def _read(value: object) -> tuple[bytes, SignedTransaction]:
    try:
        raw = hex_bytes(value, "rawTransaction")
        return raw, read_transaction(raw)
    except (Rejected, Malformed) as error:
        raise bad("rawTransaction", str(error)) from error


def _simulate(runtime: Runtime, transaction: SignedTransaction) -> None:
    """Raise ``SIMULATION_FAILED`` when the transaction would revert now."""
    try:
        if runtime.faults.has("simulation-fails", "relay"):
            raise Reverted("ToldToFail", bytes(keccak(b"ToldToFail()")[:4]))
        runtime.state.venue.evm.call(transaction.sender, transaction.to, transaction.data, transaction.value)
    except Reverted as error:
        details: dict[str, object] = {
            "target": transaction.to,
            "revertData": "0x" + error.data.hex(),
            "decodedError": error.name,
        }
        raise ApiError("SIMULATION_FAILED", f"the transaction would revert: {error.name}", details=details) from error


def relay_routes(runtime: Runtime) -> list[Route]:
    """Return the relay's two routes."""

    async def submit(request: Request) -> Response:
        fields = await request_fields(request)
        raw, transaction = _read(fields.get("rawTransaction"))
        skip = fields.get("skipSimulation", False)
        if not isinstance(skip, bool):
            raise bad("skipSimulation", "not a boolean")
        if transaction.to not in runtime.state.venue.whitelist():
            raise ApiError(
                "TX_REJECTED", f"the contract {transaction.to} is not whitelisted", details={"target": transaction.to}
            )
        if not skip:
            _simulate(runtime, transaction)
        try:
            transaction_hash = runtime.mempool.send_raw(raw)
        except NotTaken as error:
            raise ApiError("TX_REJECTED", str(error), details={"target": transaction.to}) from error
        runtime.spawn(settle(runtime, transaction_hash, "relay", runtime.faults))
        wrong = runtime.faults.has("wrong-hash", "relay")
        return done({"hash": another_hash(transaction_hash) if wrong else transaction_hash})

    async def status(request: Request) -> Response:
        asked = request.path_params["hash"]
        if not _HASH.fullmatch(asked):
            raise bad("hash", "not 0x and 64 hex digits")
        receipt = runtime.state.venue.evm.receipt(asked.lower())
        if receipt is None:
            return done({"hash": asked, "status": "pending"})
        known = {
            "hash": asked,
            "status": "confirmed" if receipt.ok else "reverted",
            "blockNumber": receipt.block_number,
        }
        return done(known if receipt.ok else known | {"decodedError": revert_name(receipt.revert)})

    return [
        Route("/v2/relay", guarded(runtime, "relay", submit, key_of=hash_in, limited=True), methods=["POST"]),
        Route("/v2/relay/{hash}", guarded(runtime, "relay", status), methods=["GET"]),
    ]
