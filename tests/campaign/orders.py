"""One signed order for each sending route, and a machine's folder that holds one of them, bound for the venue.

The payloads are built by the rehearsal's builder and judged by ``prepare``; the services that are sent to are not its.
"""

import json
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from airlock_online.home import OnlineHome
from airlock_rehearsal.services.runtime import DEFAULT_TRADER
from airlock_rehearsal.services.server import RehearsalServices
from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.documents.requests import SignaturesHeader, parse_requests, write_signatures
from online.comparison import note_compared
from online.online_command import APPROVAL, CODE, OPEN, TRIGGER, TWAP, sign
from plans import plan_head
from shared.world import to_bytes

SERVICES = ("builder", "batched_market", "relayer", "twap", "core_api")
FAR = "deadlineMs = 2099-01-01T00:00:00Z"
_HEAD = plan_head(
    "campaign", roles='["signer"]', signer=DEFAULT_TRADER,
    deadline_at_most="30000d", slippage_percent_at_most="1", max_fee_gwei_at_most="50",
)  # fmt: skip
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


def make_orders(program: Path) -> dict[str, Order]:
    """Prepare and sign one order for each way, with the installed program and the rehearsal's builder."""
    with TemporaryDirectory(prefix="airlock-campaign-") as name, RehearsalServices() as services:
        folder = Path(name)

        def run(*words: object) -> None:
            command = [str(program), "--home", str(folder / "home"), *map(str, words)]
            ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
            if ended.returncode:
                raise RuntimeError(ended.stderr)

        others = {"batched-market": "batched", "relayer": "relayer", "twap": "twap", "core-api": "core"}
        words = [word for option, its in others.items() for word in (f"--{option}", services.urls[its])]
        deployment = folder / "deployment.json"
        run("deployment", "fetch", "--name", "rehearsal", "--builder", services.builder_url, *words, "-o", deployment)
        (folder / "home/config.toml").write_text(f'[rpc]\nurl = "{services.rpc_url}"\n')
        pinned = deployment.read_bytes()
        storage = json.loads(pinned)["contracts"]["tradingStorage"]
        made = {}
        for way, step in _STEPS.items():
            plan, requests = folder / f"{way}.toml", folder / f"{way}.json"
            told = step.replace("TRADER", DEFAULT_TRADER).replace("STORAGE", storage)
            plan.write_text(f'{_HEAD}[[steps]]\nid = "{way}"\nsigner = "treasury"\n{told}')
            run("prepare", plan, "-o", requests)
            header, items, fingerprint = parse_requests(requests.read_bytes())
            signed = sign(items[0])
            head = SignaturesHeader(header.ceremony, fingerprint, header.rehearsal, "00" * 32, header.created_ms)
            made[way] = Order(
                way, signed.digest, signed.signature, pinned, requests.read_bytes(), write_signatures(head, [signed])
            )
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
