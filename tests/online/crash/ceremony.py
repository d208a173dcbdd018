"""A signed ceremony on the online machine's disk, as `airlock-online submit` finds it: four steps, one for each service."""

from __future__ import annotations

import json
from pathlib import Path

from airlock_online.home import OnlineHome
from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.documents.requests import parse_requests
from online.comparison import note_compared
from online.crash.orders import SERVICES
from shared.world import DEPLOYMENT_TEXT, VECTORS, to_bytes, whole

STEPS = ("open", "desk-key", "stop-twap", "take-profit")


def lay_out(home: Path, base_url: str) -> Path:
    """Write the deployment and the requests into a machine's folder; return the signatures' file."""
    state = OnlineHome(home)
    pinned = to_bytes({**json.loads(DEPLOYMENT_TEXT), "base_urls": dict.fromkeys(SERVICES, base_url)})
    deployment = parse_deployment(pinned)
    state.keep_deployment(deployment, pinned)
    document = whole()
    items = [item for item in document["requests"] if item["step"] in STEPS]
    header = {**document["header"], "count": len(items), "deployment": deployment.fingerprint}
    requests = to_bytes({**document, "header": header, "requests": items})
    fingerprint = parse_requests(requests)[2]
    state.keep_requests(fingerprint, requests)
    answer = json.loads((VECTORS / "signatures/good/every-struct.json").read_text())
    signed = [item for item in answer["signatures"] if item["step"] in STEPS]
    header = {**answer["header"], "count": len(signed), "requests": fingerprint}
    file = home / "signatures.json"
    file.write_bytes(to_bytes({**answer, "header": header, "signatures": signed}))
    note_compared(home, file)
    return file
