"""Preparing requests: each plan step is asked of the builder, and what comes back goes through every check."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from airlock_online.builder import BuilderClient
from airlock_online.config import Config
from airlock_online.http import Http
from airlock_online.routes.delivery import NonceRead
from airlock_shared.addresses import checksum_address
from airlock_shared.asking import request_fields
from airlock_shared.checks.case import Case, Situation, Verdict
from airlock_shared.checks.nonces import NonceLedger
from airlock_shared.checks.run import examine, examine_nonces
from airlock_shared.decide import wanted_value
from airlock_shared.deployment import Deployment
from airlock_shared.documents import refuse_floats
from airlock_shared.errors import Refusal, ServiceError, UsageError
from airlock_shared.intents import CATALOGUE, Intent
from airlock_shared.plan import Exact, Step
from airlock_shared.requests import Request, read_item


class Prepared(NamedTuple):
    """A step's request and what the checks say of it."""

    request: Request
    verdicts: list[Verdict]


def prepare_step(
    step: Step, situation: Situation, builder: BuilderClient, config: Config, ledger: NonceLedger
) -> Prepared:
    """Ask the builder for a step's payload and examine it; ``ledger`` knows the nonces of the steps before it.

    Raises ``ServiceError`` when the builder fails, ``UsageError`` for an action without a documented endpoint.
    """
    if step.action.call:
        raise UsageError(
            f"step {step.id} is a transaction; this version prepares intents alone",
            do="bring its requests document from another tool: the offline half checks and signs it",
        )
    if not step.action.path:
        raise UsageError(
            f"no builder endpoint is documented for the action {step.action.name}",
            do="ask the venue for one; the struct is known and would be checked and signed",
        )
    fields = fields_to_send(step, situation)
    payload = builder.call(step.action.path, fields)
    intent = CATALOGUE[step.action.primary_type]
    order_type, reason = order_type_of(intent, step, situation)
    request = Request(
        step=step.id,
        action=step.action.name,
        endpoint=step.action.path,
        fields=fields,
        payload=payload,
        route=intent.route,
        order_type=order_type,
        order_reason=reason,
        signer=checksum_address(step.signer.address),
        path=step.signer.path,
        delegation=_delegation(step, builder, config),
    )
    try:
        refuse_floats(request.as_json(), f"step {step.id}")
        request = read_item(request.as_json(), f"step {step.id}")
    except Refusal as refusal:
        raise ServiceError(
            f"the builder's payload for step {step.id} has not the form that the specification gives: {refusal}",
            do="check that the address is the builder's, and its version",
        ) from refusal
    case = Case(request, situation)
    return Prepared(request, examine(case) + examine_nonces(case, ledger))


def fields_to_send(step: Step, situation: Situation) -> dict[str, str]:
    """Return a step's request fields; a deadline that the plan leaves open is asked for at the plan's limit."""
    fields = request_fields(step, situation.deployment)
    horizon_ms = situation.plan.limits.deadline_at_most_ms
    if step.action.parameter("deadlineMs") and "deadlineMs" not in fields and horizon_ms is not None:
        fields["deadlineMs"] = str(situation.now_ms + horizon_ms)
    return fields


def order_type_of(intent: Intent, step: Step, situation: Situation) -> tuple[int | None, str]:
    """Return the batched market's order type for a step, and why; ``(None, "")`` for what is no market order."""
    if intent.order_types is None:
        return None, ""
    wanted = wanted_value("pairIndex", step, situation.deployment)
    number = wanted.raw if isinstance(wanted, Exact) else None
    pair = situation.deployment.pairs.get(number) if isinstance(number, int) else None
    if pair is None:
        raise UsageError(
            f"step {step.id}: the deployment has no pair {number}", do="correct the plan, or fetch it again"
        )
    order_type = intent.order_types[pair.pnl]
    if order_type < 0:
        raise UsageError(f"step {step.id}: {pair.name} is a PnL pair, which has no increase", do="correct the plan")
    kind = "a PnL pair" if pair.pnl else "an ordinary pair"
    return order_type, f"{intent.name} on {pair.name}, {kind} of the pinned deployment"


def _delegation(step: Step, builder: BuilderClient, config: Config) -> dict[str, Any] | None:
    """Return the registration of a signer that is a delegate, as the builder reads it from the chain."""
    if step.signer.delegate_of is None:
        return None
    trader = checksum_address(step.signer.delegate_of)
    read = builder.read(config.reads.delegation, {"trader": trader, "delegate": checksum_address(step.signer.address)})
    if type(read) is not dict or type(read.get("isEnabled")) is not bool:
        raise ServiceError(
            "the delegation read has an unknown shape", do="set its path in config.toml, section [reads]"
        )
    expiry = read.get("expiry")
    number = int(expiry) if type(expiry) is str and expiry.isdecimal() else expiry
    found: dict[str, Any] = {"isEnabled": read["isEnabled"], "expiry": number if type(number) is int else 0}
    if type(read.get("canSignIntents")) is bool:
        found["canSignIntents"] = read["canSignIntents"]
    return found


def nonce_reader(deployments: Iterable[Deployment], http: Http, config: Config) -> NonceRead:
    """Return a reader of nonces over the builders of these deployments, found by the contract that has the nonce space."""

    def used(contract: str, account: str, nonce: int) -> bool | None:
        for deployment in deployments:
            for name, domain in deployment.domains.items():
                if checksum_address(domain.contract).lower() == contract.lower():
                    fields = {"trader": account, "check": str(nonce)} | ({"space": name} if name == "referral" else {})
                    read = BuilderClient(deployment.base_urls["builder"], http).read(config.reads.nonce, fields)
                    answer = read.get("used") if type(read) is dict else None
                    return answer if type(answer) is bool else None
        return None

    return used
