"""The relayer: takes the intents that no other service takes, and reports what became of them.

The specification names it ("All other intents go through the relayer") and shows no endpoint. Here: ``POST /intents`` with
``primaryType``, ``userIntent`` and ``userSignature`` answers 202 with an id; ``GET /intents/{id}`` reads its status.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from airlock_rehearsal.services.builder.asked import SECONDS_AT_MOST
from airlock_rehearsal.services.envelope import Read, Refused, done, parse_object, request_fields
from airlock_rehearsal.services.runtime import Runtime
from airlock_rehearsal.services.transport import served
from airlock_rehearsal.services.venue.settlement import sent
from airlock_rehearsal.services.venue.submission import SignedIntent, decoded, exact_object, nonce_of, verified
from airlock_rehearsal.services.venue.venue_state import VenueState

RELAYED = ("DelegateReq", "RegisterCodeReq", "SetTraderReferralCodeByUserReq")
"""The structs that the relayer takes."""


def read_intent(state: VenueState, body: Read) -> SignedIntent:
    """Validate a body of ``POST /intents``. Raises ``Refused``."""
    exact_object(body, "body", {"primaryType", "userIntent", "userSignature"})
    primary = body["primaryType"]
    if primary not in RELAYED:
        raise Refused(f"the relayer does not take {str(primary)[:80]}; it takes {', '.join(RELAYED)}")
    message = decoded(primary, body["userIntent"])
    if primary == "DelegateReq" and not state.now_s < int(message["expiry"]) < SECONDS_AT_MOST:
        raise Refused("the delegate's expiry, in unix seconds, is over or looks like milliseconds")
    return verified(state, primary, message, body["userSignature"])


def nonce_in(body: bytes) -> str:
    """Return the nonce that a POST is counted by. Raises ``Refused``."""
    value = parse_object(body)
    return nonce_of(value.get("primaryType"), value.get("userIntent"))


class Relayer:
    """The relayed intents, by id."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.intents: dict[str, Read] = {}

    def accept(self, signed: SignedIntent) -> Read:
        """Take an intent on; return its record, which is pending."""
        state = self.runtime.state
        state.reserved_nonces.add(signed.spends)
        record: Read = {"id": state.draw_id("intent"), "status": "pending"}
        record |= {"transactionHash": None, "blockNumber": None}
        self.intents[record["id"]] = record
        self.runtime.spawn(self._settle(signed, record))
        return record

    async def _settle(self, signed: SignedIntent, record: Read) -> None:
        failing = self.runtime.faults.has("fail-terminal", "relayer")
        await self.runtime.pace()
        receipt = sent(self.runtime.state, signed, failing=failing)
        self.runtime.state.reserved_nonces.discard(signed.spends)
        record["transactionHash"], record["blockNumber"] = receipt.hash, receipt.block_number
        record["status"] = "confirmed" if receipt.ok else "reverted"


def routes(runtime: Runtime, relayer: Relayer) -> list[Route]:
    """Return the relayer's routes, without their prefix."""

    async def submit(request: Request) -> Response:
        record = relayer.accept(read_intent(runtime.state, await request_fields(request)))
        return done({"id": record["id"], "status": record["status"]}, status=202)

    async def status(request: Request) -> Response:
        record = relayer.intents.get(request.path_params["id"])
        if record is None:
            raise Refused("unknown id", "NOT_FOUND", status=404)
        return done(record)

    return [
        served(runtime, "relayer", "POST /intents", submit, key_of=nonce_in),
        served(runtime, "relayer", "GET /intents/{id}", status),
    ]
