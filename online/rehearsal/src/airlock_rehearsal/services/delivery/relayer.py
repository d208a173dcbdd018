"""The relayer: takes the intents that no other service takes, and reports what became of them.

The specification names it ("All other intents go through the relayer") and shows no endpoint. Here: ``POST /intents`` with
``primaryType``, ``userIntent`` and ``userSignature`` answers 202 with an id; ``GET /intents/{id}`` reads its status.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from airlock_rehearsal.services.builder.accounts_and_pairs import SECONDS_AT_MOST
from airlock_rehearsal.services.envelope import ApiError, Rejected, done, parse_object, read_object
from airlock_rehearsal.services.runtime import Runtime
from airlock_rehearsal.services.transport import guarded
from airlock_rehearsal.services.venue.settlement import sent
from airlock_rehearsal.services.venue.structs import STRUCTS, leaf
from airlock_rehearsal.services.venue.submission import SignedIntent, decoded, exact_object, verified
from airlock_rehearsal.services.venue.venue_state import VenueState

RELAYED = frozenset({"DelegateReq", "SetTraderReferralCodeByUserReq", "RegisterCodeReq"})
"""The structs that the relayer takes."""


def read_intent(state: VenueState, body: dict[str, object]) -> SignedIntent:
    """Validate a body of ``POST /intents``. Raises ``Rejected``."""
    body = exact_object(body, "body", {"primaryType", "userIntent", "userSignature"})
    primary = body["primaryType"]
    if not isinstance(primary, str) or primary not in RELAYED:
        raise Rejected(f"the relayer does not take {str(primary)[:80]}; it takes {', '.join(sorted(RELAYED))}")
    message = decoded(primary, body["userIntent"])
    if primary == "DelegateReq":
        expiry_s = int(str(message["expiry"]))
        if not state.now_s < expiry_s < SECONDS_AT_MOST:
            raise Rejected("the delegate's expiry, in unix seconds, is over or looks like milliseconds")
    return verified(state, primary, message, body["userSignature"])


def nonce_in(body: bytes) -> str:
    """Return the nonce that a POST is counted by."""
    try:
        value = parse_object(body)
        primary = str(value.get("primaryType"))
        return str(leaf(decoded(primary, value.get("userIntent")), STRUCTS[primary].nonce))
    except (Rejected, KeyError):
        return "unreadable"


class Relayer:
    """The relayed intents, by id."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.intents: dict[str, dict[str, object]] = {}

    def accept(self, signed: SignedIntent) -> dict[str, object]:
        """Take an intent on; return its record, which is pending."""
        state = self.runtime.state
        state.reserve(signed.space, signed.trader, signed.nonce)
        record: dict[str, object] = {"id": state.draw_id("intent"), "status": "pending"}
        record |= {"transactionHash": None, "blockNumber": None}
        self.intents[str(record["id"])] = record
        self.runtime.spawn(self._settle(signed, record))
        return record

    async def _settle(self, signed: SignedIntent, record: dict[str, object]) -> None:
        failing = self.runtime.faults.has("fail-terminal", "relayer")
        await self.runtime.pace()
        receipt = sent(self.runtime.state, signed, failing=failing)
        self.runtime.state.release(signed.space, signed.trader, signed.nonce)
        record["transactionHash"], record["blockNumber"] = receipt.hash, receipt.block_number
        record["status"] = "confirmed" if receipt.ok else "reverted"


def routes(runtime: Runtime, relayer: Relayer) -> list[Route]:
    """Return the relayer's routes, without their prefix."""

    async def submit(request: Request) -> Response:
        try:
            signed = read_intent(runtime.state, await read_object(request))
        except Rejected as error:
            raise ApiError("BAD_REQUEST", str(error.message), status=error.status) from error
        record = relayer.accept(signed)
        return done({"id": record["id"], "status": record["status"]}, status=202)

    async def status(request: Request) -> Response:
        record = relayer.intents.get(request.path_params["id"])
        if record is None:
            raise ApiError("NOT_FOUND", "unknown id", status=404)
        return done(record)

    return [
        Route("/intents", guarded(runtime, "relayer", submit, key_of=nonce_in), methods=["POST"]),
        Route("/intents/{id}", guarded(runtime, "relayer", status), methods=["GET"]),
    ]
