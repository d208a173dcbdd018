"""The relayer: takes the intents that no other service takes, and reports what became of them.

The specification names it ("All other intents go through the relayer") and shows no endpoint. Here: ``POST /intents`` with
``primaryType``, ``userIntent`` and ``userSignature`` answers 202 with an id; ``GET /intents/{id}`` reads its status.
"""

from __future__ import annotations

from eth_utils.address import to_checksum_address
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from airlock_rehearsal.chain.evm import CONTRACTS, EvmTransaction, NotTaken, Reverted, reverting
from airlock_rehearsal.chain.interface import revert_name
from airlock_rehearsal.chain.mempool import hash_of
from airlock_rehearsal.services.builder.fields import bad
from airlock_rehearsal.services.envelope import Read, Refused, done, request_fields
from airlock_rehearsal.services.runtime import SPACES, Runtime
from airlock_rehearsal.services.transport import served, told_hash
from airlock_rehearsal.services.venue.settlement import settle
from airlock_rehearsal.services.venue.structs import ORDER_TYPES, STRUCTS
from airlock_rehearsal.services.venue.submission import (
    SignedIntent,
    decoded,
    exact_object,
    hex_bytes,
    nonce_of,
    verified,
)

RELAYED = sorted(STRUCTS.keys() - {row.struct for row in ORDER_TYPES.values()} - {"TpSlReq", "TwapCancelReq"})
"""The structs that the relayer takes: all that no other service takes."""


def _nonce_in(fields: Read) -> str:
    """Return the nonce that a POST is counted by."""
    return nonce_of(fields["primaryType"], fields["userIntent"])


def routes(runtime: Runtime) -> list[Route]:
    """Return the relayer's routes, without their prefix."""
    state, intents = runtime.state, dict[str, Read]()

    async def settle_intent(signed: SignedIntent, record: Read) -> None:
        failing = runtime.faults.has("fail-terminal", "relayer")
        await runtime.pace()
        with reverting(state.evm, CONTRACTS[SPACES[signed.spends[0]]], failing):
            receipt = state.send(*signed.entry)
        state.reserved_nonces.discard(signed.spends)
        status = "confirmed" if receipt.ok else "reverted"
        record.update(status=status, transactionHash=receipt.hash, blockNumber=receipt.block_number)

    async def submit(request: Request) -> Response:
        body = await request_fields(request)
        exact_object(body, "body", {"primaryType", "userIntent", "userSignature"})
        primary = body["primaryType"]
        if primary not in RELAYED:
            raise Refused(f"the relayer does not take {str(primary)[:80]}; it takes {', '.join(RELAYED)}")
        signed = verified(state, primary, decoded(primary, body["userIntent"]), body["userSignature"])
        state.reserved_nonces.add(signed.spends)
        told = {"id": state.draw_id("intent"), "status": "pending"}
        record = intents[told["id"]] = told | {"transactionHash": None, "blockNumber": None}
        runtime.spawn(settle_intent(signed, record))
        return done(told, status=202)

    async def status(request: Request) -> Response:
        record = intents.get(request.path_params["id"])
        if record is None:
            raise Refused("unknown id", "NOT_FOUND", status=404)
        return done(record)

    return [
        served(runtime, "relayer", "POST /intents", submit, key_of=_nonce_in),
        served(runtime, "relayer", "GET /intents/{id}", status),
    ]


# ---- relay ----------------------------------------------------------------------------------------------------------
# The builder's relay: takes a signed transaction for a whitelisted contract, simulates it, sends it, reports on it.
# Source: the specification, "Builder service" and "Errors" (``SIMULATION_FAILED``); ``rawTransaction``, ``hash`` and
# the words ``pending``, ``confirmed`` and ``reverted`` are those of comparable venues.


def _hash_in(fields: Read) -> str:
    """Return the transaction's hash that a POST is counted by."""
    return hash_of(hex_bytes(fields["rawTransaction"], "rawTransaction"))


def _simulate(runtime: Runtime, transaction: EvmTransaction, target: Read) -> None:
    """Raise ``SIMULATION_FAILED`` when the transaction would revert now."""
    try:
        runtime.state.evm.call(transaction.sender, transaction.to, transaction.data, transaction.value)
    except Reverted as error:
        revert = {"revertData": "0x" + error.data.hex(), "decodedError": error.name}
        details = target | revert
        raise Refused(f"the transaction would revert: {error.name}", "SIMULATION_FAILED", details=details) from error


def relay_routes(runtime: Runtime) -> list[Route]:
    """Return the relay's two routes."""

    async def submit(request: Request) -> Response:
        try:
            raw = hex_bytes((await request_fields(request)).get("rawTransaction"), "rawTransaction")
            transaction = runtime.state.evm.read(raw)
        except (Refused, NotTaken) as error:
            raise bad("rawTransaction", str(error)) from error
        contract = str(to_checksum_address(transaction.to)) if transaction.to else ""
        target = {"target": contract}
        if contract not in CONTRACTS.values():
            raise Refused(f"the contract {contract} is not whitelisted", "TX_REJECTED", details=target)
        _simulate(runtime, transaction, target)
        try:
            sent = runtime.mempool.send_raw(raw)
        except NotTaken as error:
            raise Refused(str(error), "TX_REJECTED", details=target) from error
        runtime.spawn(settle(runtime, sent, "relay", runtime.faults))
        return done({"hash": told_hash(runtime, "relay", sent)})

    async def status(request: Request) -> Response:
        told: Read = {"hash": request.path_params["hash"], "status": "pending"}
        if receipt := runtime.state.evm.receipt(told["hash"]):
            told |= {"status": "confirmed", "blockNumber": receipt.block_number}
            if not receipt.ok:
                told |= {"status": "reverted", "decodedError": revert_name(receipt.revert)}
        return done(told)

    return [
        served(runtime, "relay", "POST /v2/relay", submit, key_of=_hash_in, limited=True),
        served(runtime, "relay", "GET /v2/relay/{hash}", status),
    ]
