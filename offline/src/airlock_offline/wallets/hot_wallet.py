"""A request to sign that a hot wallet shows (EIP-4527) as a request for a step of the plan, for the same checks as all.

Whatever the wallet says of the request (chain, account, path) must agree with the plan. What only the builder could say is
recomputed from the pinned deployment and our own tables; what nobody here can know, such as a delegate's registration, stays
out, and the checks refuse the step for it.
"""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

from airlock_offline.home import OfflineHome
from airlock_shared.checks.intent import definitions, encoding_of
from airlock_shared.checks.model import Situation
from airlock_shared.documents.requests import Answer, Request, SignaturesHeader, read_request
from airlock_shared.errors import DocumentError, Refusal, UsageError
from airlock_shared.ethereum.signatures import TYPE_2, Transaction, checksum_address, recover, unsigned_bytes
from airlock_shared.ethereum.typed_document import read_typed_data
from airlock_shared.host.files import make_folder, read_input, write_new
from airlock_shared.plan.decisions import market_orders, replaced_trigger, request_fields
from airlock_shared.plan.model import Plan, Step
from airlock_shared.text.safe import safe
from airlock_shared.ur.eth import DataType, Signature, SignRequest
from airlock_shared.venue.structs import PAIR, RELAY, value_of
from airlock_shared.wire.strict_json import (
    HEX_32,
    JsonObject,
    damaged,
    parse_json,
    read_matching,
    read_members,
)

# ---- eip1559 reader -------------------------------------------------------------------------------------------------
# Reading an unsigned EIP-1559 transaction that another wallet asks to have signed, strictly.
# Only the one form that :mod:`airlock_shared.ethereum.signatures` itself writes is read: type 2, an empty access list,
# shortest RLP. Sources: EIP-1559, EIP-2718, the yellow paper's appendix B for RLP.


MAX_TRANSACTION_BYTES = 128 << 10  # no node takes a longer transaction into its pool


def read_unsigned(data: bytes) -> tuple[JsonObject, Transaction]:
    """Return an unsigned transaction's ``to``, ``data``, ``value`` and ``chainId`` as a payload has them, and the rest.

    Raises ``Refusal``: ``TX-KEYS`` for another type or an access list, ``TX-TO`` when it creates a contract;
    ``DocumentError("QR-FIELD")`` for what is not the shortest RLP of nine fields.
    """
    if data[:1] != TYPE_2:
        kind = f"type {data[0]}" if data and data[0] < 0xC0 else "a legacy transaction"
        raise Refusal(
            "TX-KEYS",
            "not an EIP-1559 transaction",
            got=kind,
            expected="type 2",
            do="have the other wallet send it as an EIP-1559 transaction, without an access list",
        )
    from rlp import decode  # noqa: PLC0415 - other people's: after the filter
    from rlp.exceptions import RLPException  # noqa: PLC0415 - as above
    from rlp.sedes import List, big_endian_int, binary, raw  # noqa: PLC0415 - as above

    if len(data) > MAX_TRANSACTION_BYTES:
        raise _malformed("too long", f"{len(data)} bytes")
    try:
        *numbers, to, value, calldata, access_list = decode(
            data[1:], List([*[big_endian_int] * 5, binary, big_endian_int, binary, raw])
        )
    except (RLPException, RecursionError) as error:
        raise _malformed("not nine fields in their shortest RLP", f"{len(data)} bytes") from error
    if access_list != []:
        raise Refusal("TX-KEYS", "the transaction has an access list", got="entries", expected="none")
    if max(*numbers, value) >= 1 << 256:
        raise _malformed("a number of more than 32 bytes", hex(max(*numbers, value))[:80])
    chain_id, nonce, priority, fee, gas = numbers
    if len(to) != 20:
        what = "it creates a contract" if not to else "its destination is not an address"
        raise Refusal("TX-TO", what, got=f"{len(to)} bytes", expected="20 bytes")
    payload = {"to": checksum_address(to), "data": "0x" + calldata.hex(), "value": hex(value), "chainId": chain_id}
    filled = Transaction(nonce, gas, fee, priority)
    if unsigned_bytes(payload, filled) != data:
        raise _malformed("not the shortest RLP", "another encoding of the same transaction")
    return payload, filled


_SHOW_AGAIN = "have the other wallet show it again; if it is refused again, do not sign it"


def _malformed(what: str, got: str) -> DocumentError:
    return damaged(
        "QR-FIELD",
        f"the transaction to sign is malformed: {what}",
        got=got,
        expected="0x02 and the RLP of its nine fields",
        do=_SHOW_AGAIN,
    )


# ---- requests -------------------------------------------------------------------------------------------------------


ENDPOINT = "/wallet"
"""Stands in the document where no endpoint of the builder was asked and none is documented for the action."""


def only_step(plan: Plan, step: str | None) -> Step:
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


def wallet_request(asked: SignRequest, step: Step, situation: Situation) -> Request:
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
    signer, chain_id = step.signer, situation.deployment.chain_id
    address = signer.address if asked.address is None else asked.address
    if (address, str(asked.path)) != (signer.address, signer.path):
        raise Refusal(
            "SIGNER-PLANNED",
            "the wallet asks for an account that is not the plan's signer",
            got=f"{checksum_address(address)} {asked.path}",
            expected=f"{signer.account} {signer.path}",
            do="choose the right account in the wallet, or correct the plan",
        )
    if asked.chain_id not in (None, chain_id):
        check = "DOMAIN-CHAIN" if asked.data_type is DataType.TYPED_DATA else "TX-CHAIN"
        raise Refusal(check, "the wallet is on another chain", got=asked.chain_id, expected=chain_id)
    make = _intent if asked.data_type is DataType.TYPED_DATA else _transaction
    request = make(asked.sign_data, step, situation)
    return read_request(request.as_json(), f"step {step.id}")


def _intent(data: bytes, step: Step, situation: Situation) -> Request:
    try:
        document = parse_json(data)
    except DocumentError as error:  # of a file its advice would be right
        error.do = _SHOW_AGAIN
        raise
    _, hashes = read_typed_data(document)
    intent = situation.deployment.structs.get(document["primaryType"])
    if intent is None:
        got = safe(document["primaryType"], limit=80)
        raise Refusal("TYPES-KNOWN", "a struct that Airlock does not know", got=got, expected=step.action.result)
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
    pair = situation.deployment.pair_at(value_of(intent.fields, message, PAIR))
    types, why = market_orders(intent, pair, step) if pair else ([], "")
    order_type, reason = (types[0], why) if len(types) == 1 else (None, "")  # ORDER-TYPE says what is wrong with it
    return _request(step, situation, payload, intent.route)._replace(order_type=order_type, order_reason=reason)


def _transaction(data: bytes, step: Step, situation: Situation) -> Request:
    payload, filled = read_unsigned(data)
    payload["from"] = step.signer.account  # the signature itself decides whose it is
    return _request(step, situation, payload, RELAY)._replace(transaction=filled)


def _request(step: Step, situation: Situation, payload: JsonObject, route: str) -> Request:
    return Request(
        step=step.id,
        action=step.action.name,
        endpoint=step.action.path or ENDPOINT,
        fields=request_fields(step, situation.deployment),
        payload=payload,
        route=route,
        order_type=None,
        order_reason="",
        signer=step.signer.account,
        path=step.signer.path,
        delegation=None,
        replaces=replaced_trigger(step),
    )


# ---- pending --------------------------------------------------------------------------------------------------------
# What a hot wallet asked, remembered by the requests document that was made of it until the answer is shown.
# The wallet takes an answer by the id of its request, which no document of ours holds.


class WalletRequest(NamedTuple):
    """A wallet's request: the step made of it, its digest and signer (hex), its kind, its id (empty: it gave none)."""

    step: str
    digest: str
    signer: str
    data_type: int
    request_id: str


def keep_request(state: OfflineHome, requests_fingerprint: str, asked: WalletRequest) -> None:
    """Remember what the wallet asked before its requests document is written."""
    path = _path(state, requests_fingerprint)
    make_folder(path.parent)
    if not path.exists():
        write_new(path, json.dumps(asked._asdict()).encode())


def require_request(state: OfflineHome, requests_fingerprint: str) -> WalletRequest:
    """Return what was asked. Raises ``UsageError`` when no wallet asked it here, ``DocumentError`` if damaged."""
    path = _path(state, requests_fingerprint)
    if not path.exists():
        raise UsageError(
            "this machine has no wallet request for these signatures",
            do="give the signatures of a request that was scanned here with: airlock-offline scan --plan",
        )
    value: Any = parse_json(read_input(path))
    return WalletRequest(**read_members(value, "wallet request kept", get_type_hints(WalletRequest)))


def _path(state: OfflineHome, requests_fingerprint: str) -> Path:
    return state.wallet_request_path(read_matching(requests_fingerprint, "requests", HEX_32, "a fingerprint"))


# ---- answers --------------------------------------------------------------------------------------------------------
# The answer that a hot wallet waits for: the signature over what it asked, in the form that it takes.


_ORIGIN = "Airlock"


def answer_of(asked: WalletRequest, header: SignaturesHeader, answers: list[Answer]) -> Signature:
    """Return the signature as the wallet takes it: v is the parity for a transaction, 27 or 28 for typed data.

    Raises ``Refusal``: ``PLAN-STEPS``, ``SIG-DIGEST``, ``SIG-SIGNER`` when the document does not answer what was asked;
    ``UsageError`` when the step was not signed.
    """
    if [item.step for item in answers] != [asked.step]:
        got = ", ".join(item.step for item in answers)
        raise Refusal("PLAN-STEPS", "the steps are not those of the request", got=got[:200], expected=asked.step)
    item = answers[0]
    if item.result != "signed":
        what = f"step {item.step} of {header.ceremony} was not signed: {item.result}"
        raise UsageError(what, do="decline the request in the wallet; there is no signature to show")
    if item.digest != asked.digest:
        raise Refusal("SIG-DIGEST", "not signed over the digest of the request", got=item.digest, expected=asked.digest)
    rsv = bytes.fromhex(item.signature[2:])
    signer = "0x" + recover(bytes.fromhex(asked.digest[2:]), rsv).hex()
    if signer != asked.signer.lower():
        raise Refusal("SIG-SIGNER", "not signed by the key of the request", got=signer, expected=asked.signer)
    by_parity = asked.data_type == DataType.TYPED_TRANSACTION
    v = rsv[64] - 27 if by_parity else rsv[64]
    request_id = uuid.UUID(asked.request_id) if asked.request_id else None
    return Signature(rsv[:64] + bytes([v]), request_id, _ORIGIN)
