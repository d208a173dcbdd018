"""The transaction vectors as a venue would serve them: a builder on loopback that answers one step, and its plan."""

import copy
import json
from functools import partial
from pathlib import Path
from typing import Any

from airlock_online.cli.main import program
from airlock_online.preparing.prepare import BuildRequest
from airlock_shared.checks.model import Situation
from airlock_shared.documents.deployment import Deployment, parse_deployment, read_deployment
from airlock_shared.documents.requests import Request, read_request
from airlock_shared.plan.model import Plan, Step
from airlock_shared.plan.reader import parse_plan
from commands import FinishedCommand, run_here
from online.loopback import Answer, reply
from shared.make_payloads import NOW_MS
from shared.world import DEPLOYMENT_TEXT, VECTORS, good, plan_text_of

DELEGATION = {"isEnabled": True, "expiry": 1806451200, "canDelegatedAction": True, "canSignIntents": True}
STEPS = tuple(sorted(path.stem for path in (VECTORS / "transactions/good").glob("*.json")))
BY_CALL = {"trade-open", "trade-open-desk", "trade-close", "trade-close-desk"}
"""The steps whose action has no documented endpoint."""


plan_text = partial(plan_text_of, folder="transactions")
HAND_WORDS = ("--nonce", "3", "--gas", "60000", "--max-fee-gwei", "2", "--priority-fee-gwei", "1")


def plan_of(*steps: str, **limits: str) -> Plan:
    text = plan_text(*steps)
    for name, value in limits.items():
        line = next(row for row in text.splitlines() if row.startswith(name))
        text = text.replace(line, f'{name} = "{value}"' if value else "")
    return parse_plan(text.encode())


def item(step: str) -> dict[str, Any]:
    """Return the request of a step's vector, as the document holds it."""
    found: dict[str, Any] = good(step, "transactions")["requests"][0]
    return found


def request(step: str) -> Request:
    return read_request(item(step), "item")


def payload(step: str, **changes: Any) -> dict[str, Any]:
    """Return the payload of a step's vector, members changed, or left out when None."""
    members = copy.deepcopy(item(step)["payload"]) | changes
    return {name: value for name, value in members.items() if value is not None}


def answers(**payloads: dict[str, Any]) -> dict[str, list[Answer]]:
    """Return a builder's answers: each step's payload at its vector's endpoint (``_`` for ``-`` in the step's name)."""
    script: dict[str, list[Answer]] = {
        "GET /v2/reads/delegation": [reply(200, {"ok": True, "data": DELEGATION})],
        "GET /ready": [reply(200, {"ok": True, "data": {"ready": True, "components": {}}})],
        "GET /v2/meta": [reply(200, {"ok": True, "data": meta()})],
    }
    for name, data in payloads.items():
        path = f"POST {item(name.replace('_', '-'))['endpoint']}"
        script.setdefault(path, []).append(reply(200, {"ok": True, "data": data}))
    return script


def meta() -> dict[str, Any]:
    """Return the meta document from which the vectors' deployment was fetched."""
    document = copy.deepcopy(parse_deployment(DEPLOYMENT_TEXT.encode()).document)
    return {
        "chainId": document["chain_id"],
        "addresses": document["contracts"],
        "eip712": document["domains"],
        "enums": document["enums"],
        "units": document["units"],
        "defaults": document["defaults"],
    }


def situation(plan: Plan) -> Situation:
    return Situation(plan, parse_deployment(DEPLOYMENT_TEXT.encode()), NOW_MS)


def asked(step: Step) -> BuildRequest | None:
    """Return how a step is asked for when its action has no documented endpoint."""
    vector = item(step.id)
    return BuildRequest(vector["endpoint"], vector["fields"]) if step.id in BY_CALL else None


def fetched(home: Path, builder_url: str, name: str = "venue") -> Deployment:
    """Put the vectors' deployment into an online machine's folder, its builder at this address."""
    document = json.loads(DEPLOYMENT_TEXT)
    document |= {"name": name, "base_urls": {"builder": builder_url}}
    (home / "deployments").mkdir(parents=True, exist_ok=True)
    (home / "deployments" / f"{name}.json").write_text(json.dumps(document))
    return read_deployment(document)


class PlannedCommand:
    """``airlock-online`` in this process, on a machine that fetched the venue's deployment and has a plan of these steps."""

    def __init__(self, folder: Path, builder_url: str, *names: str) -> None:
        self.folder, self.home = folder, folder / "home"
        self.plan, self.output = folder / "plan.toml", folder / "requests.json"
        self.plan.write_text(plan_text(*names))
        fetched(self.home, builder_url)

    def __call__(self, *words: object) -> FinishedCommand:
        return run_here(program, "--home", self.home, *words)

    def prepare(self, *words: str) -> FinishedCommand:
        return self("prepare", self.plan, "-o", self.output, *words)

    def take(self, path: str, step: str, *words: object, method: str = "POST") -> FinishedCommand:
        """Call a path and take its answer as the payload of a step, its transaction filled in by hand."""
        return self("call", method, path, *words, "--plan", self.plan, "--step", step, *HAND_WORDS)
