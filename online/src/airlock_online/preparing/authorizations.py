"""EIP-7702 authorizations of a plan as items of a requests document: nobody is asked for them, the plan says all of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from airlock_online.clients.rpc import RpcClient
from airlock_online.preparing.prepare import Prepared
from airlock_shared.catalogue.services import AUTHORIZATION, BATCHED_MARKET, ROUTES
from airlock_shared.checks.case import Situation
from airlock_shared.checks.judge import Known, judge_item
from airlock_shared.checks.nonces import UsedNonces
from airlock_shared.documents.requests import Request
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.plan.builder_fields import request_fields
from airlock_shared.plan.model import Exact, Step


def authorization_item(step: Step, situation: Situation, used: UsedNonces) -> Prepared:
    """Return a step's authorization with what the checks say of it; ``used`` knows the nonces of the steps before it."""
    fields, deployment = request_fields(step, situation.deployment), situation.deployment
    request = Request(
        step=step.id,
        action=step.action.name,
        endpoint=ROUTES[BATCHED_MARKET].endpoints[0].path,
        fields=fields,
        payload={"chainId": deployment.chain_id, "address": fields["contract"], "nonce": int(fields["nonce"])},
        route=BATCHED_MARKET,
        order_type=None,
        order_reason="",
        signer=checksum_address(step.signer.address),
        path=step.signer.path,
        delegation=None,
    )
    return Prepared(request, judge_item(request, situation, Known(used=used)).verdicts)


def nonce_lines(steps: Iterable[Step], node: RpcClient) -> Iterator[str]:
    """Yield a warning for each authorization whose account nonce is not the account's now. Raises ``ServiceError``."""
    for step in steps:
        wanted = step.values.get("nonce")
        if step.action.name != AUTHORIZATION or not isinstance(wanted, Exact):
            continue
        account = checksum_address(step.signer.address)
        now = node.transaction_count(account)
        if now != wanted.raw:
            yield (
                f"WARNING: step {step.id} is good for account nonce {wanted.text} alone, and {account} has sent {now} "
                "transactions. It can be used at that count, and never after it."
            )
