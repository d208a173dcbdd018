"""The earlier request whose signature a step replaces, from what this machine prepared, to be shown beside the new one."""

from __future__ import annotations

from collections.abc import Iterator

from airlock_online.home import OnlineHome
from airlock_shared.catalogue.eip1559 import signing_hash
from airlock_shared.documents.requests import Request
from airlock_shared.plan.model import EITHER, Step
from airlock_shared.text.safe import safe


def replaced_lines(home: OnlineHome, step: Step, new: Request) -> Iterator[str]:
    """Yield the old beside the new, and what may execute; nothing for a step that replaces nothing."""
    if not step.replaced_digest:
        return
    yield "REPLACES an earlier signature"
    yield f"  old {step.replaced_digest}"
    yield f"      {_found(home, step.replaced_digest)}"
    yield f"  new {digest_of(new)}"
    yield f"      step {new.step}{_nonce(new)}"
    yield EITHER


def digest_of(request: Request) -> str:
    """Return what is signed of a request that the checks accepted, 0x and 64 hex digits."""
    if request.transaction is not None:
        return "0x" + signing_hash(request.payload, request.transaction).hex()
    return str(request.payload["digest"]).lower()


def _found(home: OnlineHome, digest: str) -> str:
    for header, requests in home.kept_requests():
        for request in requests:
            if digest_of(request) == digest:
                return f"step {request.step} of ceremony {header.ceremony}{_nonce(request)}"
    return "not among the requests that were prepared on this machine"


def _nonce(request: Request) -> str:
    if request.transaction is not None:
        return f", account nonce {request.transaction.nonce}"
    message = request.payload["message"]
    nonce = message.get("nonce", message.get("_nonce", ""))
    return f", nonce {safe(str(nonce), limit=80)}"
