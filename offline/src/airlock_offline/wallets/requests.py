"""A request to sign that a hot wallet shows (EIP-4527) as a request for a step of the plan, for the same checks as all.

Whatever the wallet says of the request (chain, account, path) must agree with the plan. What only the builder could say is
recomputed from the pinned deployment and our own tables; what nobody here can know, such as a delegate's registration, stays
out, and the checks refuse the step for it.
"""

from __future__ import annotations

from typing import Any

from airlock_offline.wallets.eip1559_reader import read_unsigned
from airlock_shared.catalogue.encode_types import types_of
from airlock_shared.catalogue.intents import Intent
from airlock_shared.catalogue.kinds import PAIR, value_of
from airlock_shared.catalogue.services import RELAY
from airlock_shared.checks.case import Situation
from airlock_shared.checks.payload import definitions, encoding_of
from airlock_shared.documents.requests import Request, read_item
from airlock_shared.errors import Refusal
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.ethereum.eip712 import DOMAIN_TYPE, read_typed_data
from airlock_shared.plan.builder_fields import replaced_trigger, request_fields
from airlock_shared.plan.model import Plan, Step
from airlock_shared.text.safe import safe
from airlock_shared.ur.eth import DataType, SignRequest
from airlock_shared.wire.codec import parse_json, refuse_floats

ENDPOINT = "/wallet"
"""Stands in the document where no endpoint of the builder was asked and none is documented for the action."""


def choose_step(plan: Plan, step: str | None) -> Step:
    """Return the plan's one step. Raises ``Refusal``: ``PLAN-STEPS`` when it has more, ``PLAN-STEP`` for another name."""
    if len(plan.steps) > 1:
        raise Refusal(
            "PLAN-STEPS",
            "a wallet asks for one signature and waits for it, but this plan has more steps",
            got=", ".join(plan.steps)[:200],
            expected="a plan with one step",
            do="write a plan with only this step, and agree on it",
        )
    only = next(iter(plan.steps.values()))
    if step not in (None, only.id):
        raise Refusal("PLAN-STEP", "not a step of the plan", got=str(step)[:80], expected=only.id)
    return only


def request_of(asked: SignRequest, step: Step, situation: Situation) -> Request:
    """Return the wallet's request as the request of a plan step, not yet examined.

    Raises ``Refusal`` for what no plan step can ask for, contradicts the plan, or has not its one form: ``PLAN-ACTION``,
    ``SIGNER-PLANNED``, ``DOMAIN-CHAIN``, ``TX-CHAIN``, ``DOC``, ``TYPES``, ``MSG``, ``TX``, ``QR-FIELD``.
    """
    if asked.data_type is DataType.PERSONAL_MESSAGE:
        raise Refusal(
            "PLAN-ACTION",
            "the wallet asks to sign a personal message, but no step of a plan does that",
            got="a personal message",
            expected=f"{step.action.name}: {step.action.result}",
            do="decline it in the wallet; a site that asks for one does not follow this plan",
        )
    _require_claims(asked, step, situation)
    make = _intent if asked.data_type is DataType.TYPED_DATA else _transaction
    request = make(asked.sign_data, step, situation)
    refuse_floats(request.as_json(), f"step {step.id}")
    return read_item(request.as_json(), f"step {step.id}")


def _require_claims(asked: SignRequest, step: Step, situation: Situation) -> None:
    """Refuse what the wallet says beside the signed bytes when it is not the plan's: it would show the wrong account."""
    signer, chain_id = step.signer, situation.deployment.chain_id
    address = signer.address if asked.address is None else asked.address
    if (address, str(asked.path)) != (signer.address, signer.path):
        raise Refusal(
            "SIGNER-PLANNED",
            "the wallet asks for an account that is not the plan's signer",
            got=f"{checksum_address(address)} {asked.path}",
            expected=f"{checksum_address(signer.address)} {signer.path}",
            do="choose the right account in the wallet, or correct the plan",
        )
    if asked.chain_id not in (None, chain_id):
        check = "DOMAIN-CHAIN" if asked.data_type is DataType.TYPED_DATA else "TX-CHAIN"
        raise Refusal(check, "the wallet is on another chain", got=str(asked.chain_id), expected=str(chain_id))


def _intent(data: bytes, step: Step, situation: Situation) -> Request:
    document = parse_json(data)
    refuse_floats(document)
    _, hashes = read_typed_data(document)
    intent = situation.deployment.structs.get(document["primaryType"])
    if intent is None:
        got = safe(document["primaryType"], limit=80)
        raise Refusal("TYPES-KNOWN", "a struct that Airlock does not know", got=got, expected=step.action.result)
    if {name: members for name, members in document["types"].items() if name != DOMAIN_TYPE} != types_of(intent):
        raise Refusal("TYPES-PINNED", "the type definition is not the pinned one", expected=intent.encode_type)
    message = definitions(intent).read(intent.name, document["message"])
    payload = {
        "intent": intent.name,
        "signerRule": intent.signer_rule,
        "domain": document["domain"],
        "primaryType": intent.name,
        "types": document["types"],
        "message": document["message"],
        "digest": "0x" + hashes.digest.hex(),
        "encodedIntent": "0x" + encoding_of(intent, message).hex(),
    }
    order_type, reason = _order_type(intent, message, situation)
    return _request(step, situation, payload, intent.route)._replace(order_type=order_type, order_reason=reason)


def _order_type(intent: Intent, message: dict[str, Any], situation: Situation) -> tuple[int | None, str]:
    """Return the batched market's order type for the pair in the message, and why; None where there is none."""
    if intent.order_types is None:
        return None, ""
    number = value_of(intent.fields, message, PAIR)
    pair = situation.deployment.pair_at(number)
    if pair is None or intent.order_types[pair.pnl] < 0:
        return None, ""  # ORDER-TYPE says what is wrong with it
    kind = "a PnL pair" if pair.pnl else "an ordinary pair"
    return intent.order_types[pair.pnl], f"{intent.name} on {pair.name}, {kind} of the pinned deployment"


def _transaction(data: bytes, step: Step, situation: Situation) -> Request:
    payload, filled = read_unsigned(data)
    payload["from"] = checksum_address(step.signer.address)  # the signature itself decides whose it is
    return _request(step, situation, payload, RELAY)._replace(transaction=filled)


def _request(step: Step, situation: Situation, payload: dict[str, Any], route: str) -> Request:
    return Request(
        step=step.id,
        action=step.action.name,
        endpoint=step.action.path or ENDPOINT,
        fields=request_fields(step, situation.deployment),
        payload=payload,
        route=route,
        order_type=None,
        order_reason="",
        signer=checksum_address(step.signer.address),
        path=step.signer.path,
        delegation=None,
        replaces=replaced_trigger(step),
    )
