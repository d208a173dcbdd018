"""The earlier request whose signature a step replaces, from what this machine prepared, to be shown beside the new one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from airlock_online.home import OnlineHome
from airlock_shared.catalogue.authorizations import hash_of
from airlock_shared.catalogue.eip1559 import signing_hash
from airlock_shared.catalogue.intents import Intent
from airlock_shared.catalogue.kinds import leaf
from airlock_shared.catalogue.services import AUTHORIZATION
from airlock_shared.documents.requests import Request
from airlock_shared.plan.model import EITHER, Step
from airlock_shared.text.safe import safe

Structs = Mapping[str, Intent]


def replaced_lines(home: OnlineHome, step: Step, new: Request, structs: Structs) -> Iterator[str]:
    """Yield the old beside the new, and what may execute; nothing for a step that replaces nothing."""
    if not step.replaced_digest:
        return
    yield "REPLACES an earlier signature"
    yield f"  old {step.replaced_digest}"
    yield f"      {_found(home, step.replaced_digest, structs)}"
    yield f"  new {digest_of(new)}"
    yield f"      step {new.step}{_nonce(new, structs)}"
    yield EITHER


def digest_of(request: Request) -> str:
    """Return what is signed of a request that the checks accepted, 0x and 64 hex digits."""
    if request.transaction is not None:
        return "0x" + signing_hash(request.payload, request.transaction).hex()
    if request.action == AUTHORIZATION:
        return "0x" + hash_of(request.payload).hex()
    return str(request.payload["digest"]).lower()


def _found(home: OnlineHome, digest: str, structs: Structs) -> str:
    for header, requests in home.kept_requests():
        for request in requests:
            if digest_of(request) == digest:
                return f"step {request.step} of ceremony {header.ceremony}{_nonce(request, structs)}"
    return "not among the requests that were prepared on this machine"


def _nonce(request: Request, structs: Structs) -> str:
    if request.transaction is not None:
        return f", account nonce {request.transaction.nonce}"
    if request.action == AUTHORIZATION:
        return f", account nonce {request.payload['nonce']}"
    intent = structs.get(request.payload["primaryType"])
    try:
        nonce = leaf(request.payload["message"], intent.nonce) if intent is not None else ""
    except (KeyError, TypeError):  # an earlier request, of a struct that this venue signs otherwise now
        return ""
    return f", nonce {safe(str(nonce), limit=80)}"
