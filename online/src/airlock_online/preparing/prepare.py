"""Preparing requests: each plan step is asked of the builder, and what comes back goes through every check.

An intent goes through as it comes; a transaction is filled in first (:mod:`airlock_online.preparing.gas_and_fees`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from airlock_online.clients.builder import NO_SUCH_READ, BuilderClient, Method
from airlock_online.clients.builder_reads import entries
from airlock_online.clients.reply_values import delegation_read, pnl_of, reply_names, require_named, value_at, whole
from airlock_online.clients.rpc import RpcClient
from airlock_online.preparing.gas_and_fees import LEAST_GAS, GasAndFees
from airlock_online.preparing.patience import Patience
from airlock_online.speech.forms import split_decimals
from airlock_online.speech.sections import ACCOUNT, MARKET, PATHS, PLACEHOLDER, Speech, part_name
from airlock_shared.checks.judge import Known, Verdicts, judge_item
from airlock_shared.checks.model import Situation
from airlock_shared.checks.nonces import UsedNonces
from airlock_shared.documents.deployment import Pair
from airlock_shared.documents.requests import Request, read_request
from airlock_shared.errors import Refusal, ServiceError, UsageError
from airlock_shared.ethereum.signatures import Transaction, checksum_address
from airlock_shared.plan.decisions import market_orders, replaced_trigger, request_fields, wanted_value
from airlock_shared.plan.model import CUSTOM, AsSigned, Exact, Step
from airlock_shared.text.safe import safe
from airlock_shared.units import Unit, to_human
from airlock_shared.venue.structs import AUTHORIZATION, BATCHED_MARKET, RELAY, Intent, path_of
from airlock_shared.wire.strict_json import MAX_ITEM_BYTES, JsonObject, damaged, refuse_floats, to_cbor

# ---- own fields -----------------------------------------------------------------------------------------------------
# What the builder is asked for a struct or a call of this venue alone: the plan's values, named as its file says.


def _own_field(step: Step, situation: Situation, leaf: str, decimals: int) -> str:
    """Return the plan's value for a leaf, a side as long or short; an open deadline is asked for at the plan's limit.

    Raises ``UsageError`` for a leaf of which the plan says nothing, and for one that is no number where decimals are wanted.
    """
    wanted, deployment = step.values.get(leaf), situation.deployment
    struct = deployment.structs.get(step.action.primary_type)
    signed = struct or deployment.calls.get(step.action.call)
    if isinstance(wanted, AsSigned):
        if signed and leaf == path_of(signed.fields, "side"):
            return {"true": "long", "false": "short"}.get(wanted.text, wanted.text)
        return with_decimals(wanted.text, decimals, f"step {step.id}: {leaf}") if decimals else wanted.text
    horizon_ms = situation.plan.limits.deadline_at_most_ms
    if struct is None or leaf != struct.deadline or horizon_ms is None:
        raise UsageError(
            f"step {step.id}: the services file sends {leaf} to the builder, and the plan says nothing of it",
            do=f"give {leaf} in the step's fields, or correct the services file, [requests.{step.action.result}]",
        )
    return str(situation.now_ms + horizon_ms)


def with_decimals(text: str, decimals: int, where: str) -> str:
    """Return a raw whole number with a decimal point so many places from its end. Raises ``UsageError`` for no number."""
    if not re.fullmatch(r"-?[0-9]{1,79}", text):
        raise UsageError(
            f"{where} is no whole number, and the services file sends it with decimals", do="correct either"
        )
    return to_human(int(text), Unit(where, decimals))


# ---- extra members --------------------------------------------------------------------------------------------------
# What a builder sends beside the members of a payload that the specification lists: named to people, and not carried.
# What is hashed is made of the listed members alone: ``domain``, ``types`` and ``message`` of an intent, which stay
# word for word and are judged as strictly as ever, and four members of a transaction. So a further member beside them
# changes nothing that is signed. It does not cross the gap: the signing machine reads what it always read. One that
# an Ethereum transaction itself may have is different: it stays, and ``TX-KEYS`` refuses it. Source: the
# specification, "Unsigned transaction payload" and "Signable intent payload".


_INTENT = frozenset(
    {"intent", "signerRule", "domain", "primaryType", "types", "message", "digest", "encodedIntent", "meta"}
)
_TRANSACTION = frozenset({"to", "from", "data", "value", "chainId", "description", "meta"})
_OF_A_TRANSACTION = frozenset(
    {
        "accesslist", "authorizationlist", "authorisationlist", "blobs", "blobversionedhashes", "maxfeeperblobgas",
        "sidecars", "commitments", "proofs",
        "type", "txtype", "transactiontype", "nonce", "gas", "gaslimit", "gasprice", "maxfeepergas",
        "maxpriorityfeepergas", "input", "raw", "rawtransaction", "signature", "r", "s", "v", "yparity",
    }
)  # fmt: skip
"""Members of an Ethereum transaction of any type, in any case: EIP-2718, 2930, 1559, 4844, 7702; never set aside."""

_SHOWN = 200
_COUNTED = 20


def set_aside(payload: Mapping[str, Any], *, transaction: bool) -> tuple[JsonObject, JsonObject]:
    """Return a builder's payload as it is carried, and its extra members; a ``meta`` of null is none."""
    carried, extra = dict[str, Any](), dict[str, Any]()
    for name, value in payload.items():
        listed = name in (_TRANSACTION if transaction else _INTENT) and (name, value) != ("meta", None)
        decides = transaction and name.replace("_", "").lower() in _OF_A_TRANSACTION
        (carried if listed or decides else extra)[name] = value
    return carried, extra


def extra_lines(step: str, extra: Mapping[str, Any]) -> list[str]:
    """Return what stood beside a step's payload, for people: each name with its value, safe to show."""
    if not extra:
        return []
    shown = [f"  {safe(name, limit=80)} = {safe(json.dumps(value), limit=_SHOWN)}" for name, value in extra.items()]
    if len(shown) > _COUNTED:
        shown[_COUNTED:] = [f"  and {len(shown) - _COUNTED} more"]
    head = f"NOTE step {step}: the builder also sent what the specification does not have. It is not signed and not carried:"
    return [head, *shown]


# ---- prepare --------------------------------------------------------------------------------------------------------


_Answer = TypeVar("_Answer")
_Order = tuple[int | None, str]
"""The batched market's order type of a request, and why it has this one."""
_NO_ORDER: _Order = (None, "")
_SLIPPAGE = "slippagePercent"
_PROFILE = "describe it in the venue's profile, and fetch and pin the deployment again"


class Sources(NamedTuple):
    """What preparing asks: the builder, and what fills in transactions, None for a plan that has none.

    With ``patience`` it asks again for what was not answered; without, each thing once.
    """

    builder: BuilderClient
    gas_and_fees: GasAndFees | None = None
    patience: Patience | None = None

    def answered(self, ask: Callable[[], _Answer]) -> _Answer:
        """Return the answer to what changes nothing."""
        return ask() if self.patience is None else self.patience.ask(ask)


class BuildRequest(NamedTuple):
    """How a step's payload is asked for: the documented path, the fields under Airlock's names, the method.

    ``at`` is where the venue has it, empty for there; ``members`` are what differs of the request there.
    """

    path: str
    fields: dict[str, str]
    method: Method = "POST"
    at: str = ""
    members: Mapping[str, Any] = MappingProxyType({})


class Prepared(NamedTuple):
    """A step's request, what the checks say of it, and what the builder sent beside it."""

    request: Request
    verdicts: Verdicts
    extra: Mapping[str, Any] = MappingProxyType({})


def prepare_step(
    step: Step, situation: Situation, sources: Sources, used: UsedNonces, asked: BuildRequest | None = None
) -> Prepared:
    """Ask the builder for a step's payload and examine it; ``asked`` stands in for the action's documented endpoint.

    Raises as :func:`require_known_action`, :func:`planned_ask`, :func:`ask_for` and :func:`examine`.
    """
    require_known_action(step, situation)
    asked = asked or planned_ask(step, situation, sources.builder.speech)
    return examine(step, situation, sources, used, asked, ask_for(asked, sources))


def require_known_action(step: Step, situation: Situation) -> None:
    """Raise ``UsageError`` for a step whose struct or call is neither of the catalogue nor of the deployment's profile."""
    known = situation.deployment.structs.keys() | situation.deployment.calls.keys()
    if step.action.name == CUSTOM and step.action.result not in known:
        raise UsageError(
            f"step {step.id}: the deployment describes no {step.action.result}, and the online half knows no other",
            do=f"bring its requests document from the tool that builds it, or {_PROFILE}",
        )


def ask_for(asked: BuildRequest, sources: Sources) -> JsonObject:
    """Return the payload that the builder answers, as it came. Raises ``ServiceError``."""
    ask = partial(
        sources.builder.call,
        asked.at or asked.path,
        asked.fields,
        method=asked.method,
        members=asked.members,
        patient=sources.patience is None,
    )
    return sources.answered(ask)


def examine(
    step: Step,
    situation: Situation,
    sources: Sources,
    used: UsedNonces | None,
    asked: BuildRequest,
    payload: JsonObject,
) -> Prepared:
    """Make a request of a payload, and let every check read it; ``used`` knows the nonces of the steps before it.

    Raises ``ServiceError`` for a payload in another form than the specification's, or when the node fails.
    """
    carried, extra = set_aside(payload, transaction=bool(step.action.call))
    filling = Transaction(0, LEAST_GAS, 1, 0) if step.action.call else None  # a stand-in, until all else is judged
    route, order = RELAY, _NO_ORDER
    if filling is None:
        intent = situation.deployment.structs.get(step.action.primary_type)
        if intent is None:
            raise UsageError(
                f"step {step.id}: {situation.deployment.name} has no struct {step.action.primary_type}", do=_PROFILE
            )
        route, order = intent.route, order_type_of(intent, step, situation, sources)
    request = _request(step, asked, carried, route, order, _delegation(step, asked, sources), filling)
    if filling is not None:
        if sources.gas_and_fees is None:
            raise ValueError("a transaction step is prepared with gas and fees")

        def passes(filled: Transaction) -> bool:
            """Tell whether the checks pass it: what one refuses is not shown to the node."""
            return not judge_item(request._replace(transaction=filled), situation, Known()).verdicts.blocking()

        fill = partial(sources.gas_and_fees.fill, request.payload, request.signer, step.id, passes)
        request = request._replace(transaction=sources.answered(fill))
    return Prepared(request, judge_item(request, situation, Known(used=used)).verdicts, extra)


def build_name(step: Step) -> str:
    """Return by which name the services file knows how a step is built."""
    return step.action.result if step.action.name == CUSTOM else step.action.name


def is_built(step: Step, speech: Speech) -> bool:
    """Tell whether there is an endpoint for a step: a documented one, or one of the services file."""
    return bool(speech.paths.get(build_name(step)))


def planned_ask(step: Step, situation: Situation, speech: Speech) -> BuildRequest:
    """Return how a step's payload is asked for at its endpoint, as the venue's services speak.

    Raises ``UsageError`` when there is none, or when nobody says how much slippage an order may have.
    """
    if not is_built(step, speech):
        raise UsageError(
            f"step {step.id}: {NO_SUCH_READ.format(step.action.name)}"
            if step.action.path
            else f"step {step.id}: no builder endpoint is documented for the action {step.action.name}",
            do="ask the venue for its path, then: airlock-online call POST PATH --plan PLAN --step STEP; or name it in the "
            "services file, section [paths]",
        )
    at, members = speech.paths[build_name(step)], request_members(step, speech)
    if step.action.name == CUSTOM:
        leaves = {
            member: _own_field(step, situation, *split_decimals(part))
            for member, source in members.items()
            if (part := part_name(source)) is not None
        }
        rest = {member: source for member, source in members.items() if member not in leaves}
        return BuildRequest(at, leaves, members=rest)
    fields = fields_to_send(step, situation)
    told = situation.deployment.document["defaults"]
    if step.action.parameter(_SLIPPAGE) and _SLIPPAGE not in fields and _SLIPPAGE not in told:
        raise UsageError(
            f"step {step.id}: this venue gives no default slippage, and Airlock assumes none",
            do=f'give {_SLIPPAGE} as a value in the step\'s fields, such as {_SLIPPAGE} = "0.5"',
        )
    return BuildRequest(step.action.path or at, fields, at=at, members=members)


def request_members(step: Step, speech: Speech) -> JsonObject:
    """Return what differs of a step's request to the builder; the account is whom the step is for."""
    account = checksum_address(step.signer.delegate_of or step.signer.address)
    said = speech.request(build_name(step))
    return {member: account if source == PLACEHOLDER + ACCOUNT else source for member, source in said.items()}


def _request(
    step: Step,
    asked: BuildRequest,
    payload: JsonObject,
    route: str,
    order: _Order = _NO_ORDER,
    delegation: JsonObject | None = None,
    filling: Transaction | None = None,
) -> Request:
    """Return a payload as a request whose form is right. Raises ``ServiceError``."""
    request = Request(
        step=step.id,
        action=step.action.name,
        endpoint=asked.path,
        fields=asked.fields,
        payload=payload,
        route=route,
        order_type=order[0],
        order_reason=order[1],
        signer=checksum_address(step.signer.address),
        path=step.signer.path,
        delegation=delegation,
        transaction=filling,
        replaces=replaced_trigger(step),
    )
    item, where = request.as_json(), f"step {step.id}"
    try:
        refuse_floats(item, where)
        if len(to_cbor(item)) > MAX_ITEM_BYTES:
            raise damaged("DOC-SIZE", f"more than {MAX_ITEM_BYTES} bytes")
        return read_request(item, where)
    except Refusal as refusal:
        refusal.do = ""  # that is about a document, and this is a reply
        raise ServiceError(
            f"the builder's payload for step {step.id} is not in the form of the specification: {refusal}",
            do="check that the address is the builder's, and its version",
        ) from refusal


def fields_to_send(step: Step, situation: Situation) -> dict[str, str]:
    """Return a step's request fields; a deadline that the plan leaves open is asked for at the plan's limit."""
    fields = request_fields(step, situation.deployment)
    horizon_ms = situation.plan.limits.deadline_at_most_ms
    if step.action.parameter("deadlineMs") and "deadlineMs" not in fields and horizon_ms is not None:
        fields["deadlineMs"] = str(situation.now_ms + horizon_ms)
    return fields


def order_type_of(intent: Intent, step: Step, situation: Situation, sources: Sources) -> _Order:
    """Return the batched market's order type for a step, and why; ``(None, "")`` for what is no market order.

    Of a pair that does not tell its kind, the position's own flag does, where the venue has one. Raises ``UsageError`` where
    neither these nor the plan tell, and where they contradict each other.
    """
    if intent.order_types is None:
        return _NO_ORDER
    wanted = wanted_value("pairIndex", step, situation.deployment)
    number = wanted.raw if isinstance(wanted, Exact) else None
    pair = situation.deployment.pair_at(number)
    if pair is None:
        raise UsageError(
            f"step {step.id}: the deployment has no pair {number}", do="correct the plan, or fetch it again"
        )
    types, reason = market_orders(intent, pair, step)
    if not types:
        raise UsageError(f"step {step.id}: {pair.name} is a PnL pair; it has no increase", do="correct the plan")
    told = _kind_of_position(step, pair, sources) if pair.pnl is None else None
    if told is not None:
        types = [each for each in types if each == intent.order_types[told]]
        reason = f"{intent.name} on {pair.name}, by the position's own flag"
    if not types:
        raise UsageError(
            f"step {step.id}: the venue says that it is {'a' if told else 'no'} PnL position", do="correct the plan"
        )
    if len(types) > 1:
        raise UsageError(
            f"step {step.id}: neither {pair.name} nor its position tells whether it is by PnL, and the plan does not either",
            do='ask the venue, and state orderType in the step\'s fields: "market", or "market_pnl"',
        )
    return types[0], reason


def _kind_of_position(step: Step, pair: Pair, sources: Sources) -> bool | None:
    """Return whether a step's position is by PnL, as the venue's read of it tells; None where it does not."""
    speech = sources.builder.speech
    if "tradeIndex" not in step.values or not speech.paths["positions"]:
        return None
    fields = {"trader": step.address("trader")}
    read = sources.answered(partial(sources.builder.read, "positions", fields))
    require_named("positions read", read, **fields)
    place = {"pairIndex": str(pair.number), "index": str(step.raw("tradeIndex"))}
    for entry in entries(read, "trades") or ():
        trade = value_at(entry, "trade")
        if reply_names(trade, **place) is True and reply_names(trade, **fields) is not False:
            flags = [pnl_of(each, speech.replies["positions"]["pnl"]) for each in (entry, trade)]
            return next((flag for flag in flags if type(flag) is bool), None)
    return None


def _delegation(step: Step, asked: BuildRequest, sources: Sources) -> JsonObject | None:
    """Return the registration of a signer that acts as a delegate, as the builder reads it from the chain."""
    signer, delegate = step.signer, checksum_address(step.signer.address)
    if signer.delegate_of is None or (step.action.call and asked.fields.get("delegate") != delegate):
        return None
    fields = {"trader": checksum_address(signer.delegate_of), "delegate": delegate}
    read = sources.answered(partial(sources.builder.read, "delegation", fields))
    read = delegation_read(read, sources.builder.speech.replies["delegation"])
    flags = {
        name: flag
        for name in ("isEnabled", "canSignIntents", "canDelegatedAction")
        if type(flag := value_at(read, name)) is bool
    }
    if "isEnabled" not in flags:
        raise ServiceError(
            "the answer about the delegate has an unknown shape", do="set [paths] delegation in the services file"
        )
    require_named("delegation read", read, **fields)
    return {"isEnabled": flags["isEnabled"], "expiry": whole(read.get("expiry")) or 0} | flags


# ---- authorizations -------------------------------------------------------------------------------------------------
# EIP-7702 authorizations of a plan as items of a requests document: nobody is asked for them, the plan says all of
# it.


def authorization_item(step: Step, situation: Situation, used: UsedNonces) -> Prepared:
    """Return a step's authorization with what the checks say of it; ``used`` knows the nonces of the steps before it."""
    fields = request_fields(step, situation.deployment)
    asked = BuildRequest(PATHS[MARKET], fields)
    payload = {
        "chainId": situation.deployment.chain_id, "address": fields["contract"], "nonce": int(fields["nonce"]),
    }  # fmt: skip
    request = _request(step, asked, payload, BATCHED_MARKET)
    return Prepared(request, judge_item(request, situation, Known(used=used)).verdicts)


def nonce_lines(steps: Iterable[Step], node: RpcClient) -> Iterator[str]:
    """Yield a warning for each authorization whose account nonce is not the account's now. Raises ``ServiceError``."""
    for step in steps:
        if step.action.name != AUTHORIZATION:
            continue
        account = checksum_address(step.signer.address)
        now = node.transaction_count(account)
        if now != step.raw("nonce"):
            yield (
                f"WARNING: step {step.id} is good for account nonce {step.values['nonce'].text} alone, and {account} has "
                f"sent {now} transactions. It can be used at that count, and never after it."
            )
