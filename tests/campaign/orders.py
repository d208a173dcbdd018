"""One signed order for each sending route, and a machine's folder that holds one of them, bound for the venue.

The payloads are built by the rehearsal's builder and judged by ``prepare``; the services that are sent to are not its.
"""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from airlock_online.home import OnlineHome
from airlock_rehearsal.services.server import RehearsalServices
from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.documents.requests import parse_requests, parse_signatures
from online.online_command import APPROVAL, CODE, OPEN, TRIGGER, TWAP, OnlineCommand, note_compared
from shared.world import to_bytes

SERVICES = ("builder", "batched_market", "relayer", "twap", "core_api")
FAR = "deadlineMs = 2099-01-01T00:00:00Z"
_STEPS = {
    "batched-market": f"{OPEN}{FAR}\n",
    "relayer": CODE.replace(" }", f", {FAR} }}"),
    "twap": TWAP.replace(" }", f", {FAR} }}"),
    "core-api-post": TRIGGER,
    "core-api-put": f'{TRIGGER}replaces = "e-1"\n',
    "relay": APPROVAL,
    "rpc": APPROVAL.replace("250", "251"),
}
WAYS = tuple(_STEPS)


class Order(NamedTuple):
    """A signed order: its digest and signature, and the documents that it came in."""

    way: str
    digest: str
    signature: str
    deployment: bytes
    requests: bytes
    signatures: bytes


def make_orders() -> dict[str, Order]:
    """Prepare and sign one order for each way, at the rehearsal's builder."""
    with TemporaryDirectory(prefix="airlock-campaign-") as name, RehearsalServices() as services:
        machine = OnlineCommand(Path(name), services)
        made = {}
        for way, step in _STEPS.items():
            file = machine.signatures(way, deadline="30000d", **{way: step})
            _, [signed], _ = parse_signatures(file.read_bytes())
            documents = [machine.folder / "deployment.json", machine.folder / f"{way}.requests.json", file]
            made[way] = Order(way, signed.digest, signed.signature, *(path.read_bytes() for path in documents))
        return made


def lay_out(order: Order, home: Path, base_url: str) -> Path:
    """Write what a machine has of an order whose services are at an address; return its signatures document."""
    home.mkdir(mode=0o700)
    state = OnlineHome(home)
    pinned = to_bytes({**json.loads(order.deployment), "base_urls": dict.fromkeys(SERVICES, base_url)})
    deployment = parse_deployment(pinned)
    state.keep_deployment(deployment, pinned)
    document: dict[str, Any] = json.loads(order.requests)
    requests = to_bytes({**document, "header": {**document["header"], "deployment": deployment.fingerprint}})
    fingerprint = parse_requests(requests)[2]
    state.keep_requests(fingerprint, requests)
    answer: dict[str, Any] = json.loads(order.signatures)
    file = home / "signatures.json"
    file.write_bytes(to_bytes({**answer, "header": {**answer["header"], "requests": fingerprint}}))
    note_compared(home, file)
    if order.way == "rpc":
        (home / "config.toml").write_text(f'[rpc]\nurl = "{base_url}/rpc"\n')
    return file
