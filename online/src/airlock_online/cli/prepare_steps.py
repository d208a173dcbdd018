"""The steps of a plan prepared one after the other: what is kept is used, the builder is waited for, nothing is lost."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from time import sleep
from typing import Any, NamedTuple, TypeVar

import click

from airlock_online.clients.http import Http
from airlock_online.clock import now_ms
from airlock_online.config import OnlineConfig
from airlock_online.preparing.gas_and_fees import ByHand, GasAndFees, gas_and_fees_of
from airlock_online.preparing.kept_payloads import KeptPayload, KeptPayloads
from airlock_online.preparing.patience import Patience
from airlock_online.preparing.prepare import (
    BuildRequest,
    Prepared,
    Sources,
    ask_for,
    authorization_item,
    examine,
    planned_ask,
    require_known_action,
)
from airlock_online.preparing.venue_profile import by_the_profile
from airlock_shared.checks.model import Situation
from airlock_shared.checks.nonces import UsedNonces
from airlock_shared.cli.terminal import renew, say
from airlock_shared.documents.deployment import Deployment
from airlock_shared.errors import Expired, Refusal, UsageError
from airlock_shared.ethereum.signatures import Transaction
from airlock_shared.plan.decisions import shown_value
from airlock_shared.plan.model import Plan, Step
from airlock_shared.text.safe import safe
from airlock_shared.units import GWEI, NATIVE, raw_text, span_text, to_human, to_raw, utc_text
from airlock_shared.venue.calls import Calls, decode_call
from airlock_shared.venue.structs import AUTHORIZATION, leaf


def count_down(seconds: int, why: str) -> None:
    """Wait, and say on a terminal why, and how long it still takes; in a pipe or a file nothing is said of it."""
    if not sys.stderr.isatty():
        sleep(seconds)
        return
    say(why)
    try:
        for left in range(seconds, 0, -1):
            renew(f"It goes on in {span_text(left)}. Ctrl-C loses nothing.")
            sleep(1)
    finally:
        renew()


def prepare_plan(
    plan: Plan,
    deployment: Deployment,
    sources: Sources,
    payloads: KeptPayloads,
    part: Sequence[str],
    asked: Mapping[str, BuildRequest] = {},
) -> list[Prepared]:
    """Return every step of a part of a plan prepared and accepted; each payload that passed is kept at once.

    ``asked`` holds the steps asked for otherwise than documented. Raises ``Refusal`` for the first payload that a check
    refuses, ``ServiceError`` when the builder or the node fails, ``Expired`` when a deadline came too near meanwhile.
    """

    def situation() -> Situation:
        return Situation(plan, deployment, now_ms())

    steps = [plan.steps[step] for step in part]
    patience = Patience(count_down, now_ms)
    sources, used = sources._replace(patience=patience), UsedNonces(knows_signed=False)
    prepared: list[Prepared] = []
    begun = situation()  # deadlines that the plan leaves open are asked for from here: one for all
    try:
        for number, step in enumerate(steps, start=1):
            label = f"[{number}/{len(steps)}]"
            if step.action.name == AUTHORIZATION:
                say(f"{label} {step.id} ({step.action.name}): the plan says all of it")
                prepared.append(accepted(authorization_item(step, situation(), used)))
                continue
            own = asked.get(step.id)
            kept = None if own else _usable(step, situation(), sources, payloads)
            if kept is None:
                require_known_action(step, begun)
                own = own or planned_ask(step, begun, sources.builder.speech)
                say(f"{label} building {step.id} ({step.action.name})")
                kept = KeptPayload(own, ask_for(own, sources), now_ms())
            else:
                say(f"{label} {step.id} ({step.action.name}) is kept since {utc_text(kept.built_ms)}")
            item = accepted(examine(step, situation(), sources, used, kept.asked, kept.payload))
            payloads.keep(step.id, kept)
            patience.bound(_until_ms(item, begun))
            prepared.append(item)
        if patience.until_ms < now_ms():
            raise Expired(
                "the first payload's deadline came too near while the others were built",
                do="run it again: only what is too near is asked for again; or prepare fewer steps at once",
            )
    except BaseException:
        if prepared:
            say(f"{len(prepared)} of {len(steps)} payloads are kept. The same command goes on from there.")
        raise
    return prepared


def _usable(step: Step, situation: Situation, sources: Sources, payloads: KeptPayloads) -> KeptPayload | None:
    """Return what is kept for a step if the checks still pass it; what does not is forgotten, and why is said."""
    try:
        kept = payloads.find(step.id)
        if kept is None or step.action.call:  # a call has no time of its own: the checks read it once, with its nonce
            return kept
        accepted(examine(step, situation, sources, None, kept.asked, kept.payload))
    except Refusal as refusal:
        why = f"{refusal.check} ({refusal.what})"
        say(f"The kept payload of {step.id} can no longer be used: {why}. It is asked for again.")
        payloads.forget(step.id)
        return None
    return kept


def _until_ms(item: Prepared, situation: Situation) -> int | None:
    """Return when a payload has too little time left (unix ms); None for one without a deadline."""
    request = item.request
    known = situation.deployment.structs[request.payload["primaryType"]] if request.transaction is None else None
    if known is None or not known.deadline:
        return None
    return int(str(leaf(request.payload["message"], known.deadline))) - situation.plan.limits.remaining_at_least_ms


def accepted(prepared: Prepared) -> Prepared:
    """Return what was prepared. Raises ``Refusal`` when a check refuses it."""
    for verdict in map(by_the_profile, prepared.verdicts.refused()):
        raise Refusal(
            verdict.check,
            f"step {prepared.request.step}: {verdict.what}",
            got=str(verdict.got)[:400],
            expected=str(verdict.expected)[:400],
            do=f"nothing was written. {verdict.do}",
        ).at(verdict.where)
    return prepared


def fields_of(words: tuple[str, ...]) -> dict[str, str]:
    """Return NAME=VALUE words as fields. Raises ``UsageError`` for another form, or a name given twice."""
    fields: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name or name in fields:
            what = f"{name} is given twice" if name in fields else f"{safe(word, limit=80)!r} is not NAME=VALUE"
            raise UsageError(what, do="give each field once, such as tradeIndex=0")
        fields[name] = value
    return fields


# ---- what is said of a payload --------------------------------------------------------------------------------------


def payload_lines(prepared: Prepared, calls: Calls) -> Iterator[str]:
    """Yield a payload for a person: an intent's message as it came, a transaction's arguments read from its calldata."""
    payload = prepared.request.payload
    if prepared.request.transaction is None:
        yield f"{safe(payload['primaryType'])} under {safe(str(payload['domain']), limit=400)}"
        for name, value in payload["message"].items():
            yield f"  {safe(name):<20} {safe(str(value), limit=400)}"
        yield f"  digest {safe(payload['digest'])}"
        return
    yield f"to {safe(payload['to'])}, from {safe(payload['from'])}, chain {payload['chainId']}"
    yield from _call_lines(payload["data"], calls)
    yield from (f"  {line}" for line in filled_lines(prepared.request.transaction))


def _call_lines(data: str, calls: Calls) -> Iterator[str]:
    try:
        decoded = decode_call(bytes.fromhex(data.removeprefix("0x")), calls)
    except (ValueError, Refusal):  # the checks refuse it by their own ids; here it is shown as it came
        yield f"  data {safe(data, limit=400)}"
        return
    yield f"{decoded.call.name}: {decoded.call.title}"
    for field in decoded.call.fields:
        raw = leaf(decoded.message, field.path)
        yield f"  {field.path:<20} {safe(shown_value(field, raw))} (raw {safe(raw_text(raw))})"


def filled_lines(filled: Transaction | None) -> Iterator[str]:
    """Yield what was filled in for a transaction, and what it may cost at most."""
    if filled is not None:
        fee, priority = to_human(filled.maxFeePerGas, GWEI), to_human(filled.maxPriorityFeePerGas, GWEI)
        yield f"nonce {filled.nonce}, gas {filled.gas}"
        yield f"fee at most {fee} gwei, priority {priority} gwei"
        yield f"costs at most {to_human(filled.gas * filled.maxFeePerGas, NATIVE)} {NATIVE.name}"


# ---- fee options ----------------------------------------------------------------------------------------------------
# The options that say where a transaction's nonce, gas and fees come from: a node, or a person, value by value.


_F = TypeVar("_F", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--rpc", help="A node's JSON-RPC address, instead of the configured one."),
    click.option("--nonce", type=click.IntRange(0), help="The first transaction's nonce, by hand."),
    click.option("--gas", type=click.IntRange(1), help="The gas limit of each transaction, by hand."),
    click.option("--max-fee-gwei", metavar="GWEI", help="The highest price of a unit of gas, by hand."),
    click.option(
        "--priority-fee-gwei", metavar="GWEI", help="The part of it that goes to the block's builder, by hand."
    ),
)


class FeeOptions(NamedTuple):
    """What the command line says of nonce, gas and fees."""

    rpc: str | None
    by_hand: ByHand

    @property
    def given(self) -> bool:
        """Whether the command line says anything."""
        return self.rpc is not None or self.by_hand != ByHand()

    def gas_and_fees(
        self, steps: Iterable[Step], config: OnlineConfig, deployment: Deployment, http: Http
    ) -> GasAndFees | None:
        """Return what fills in these steps' transactions, None when there are none. Raises as ``gas_and_fees_of``."""
        if any(step.action.call for step in steps):
            return gas_and_fees_of(deployment, self.by_hand, config.rpc.url, http)
        if self.given:
            raise UsageError(
                "nonce, gas and fees are only for transactions, and no step is a transaction",
                do="leave those options out",
            )
        return None


def fee_options(command: _F) -> _F:
    """Add the options to a command; :func:`read_fee_options` reads what they say."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def read_fee_options(values: Mapping[str, Any]) -> FeeOptions:
    """Return what the options say. Raises ``UsageError`` for a fee that is no amount of gwei."""
    fees = [_wei(values["max_fee_gwei"], "--max-fee-gwei"), _wei(values["priority_fee_gwei"], "--priority-fee-gwei")]
    return FeeOptions(values["rpc"], ByHand(values["nonce"], values["gas"], *fees))


def _wei(text: str | None, option: str) -> int | None:
    if text is None:
        return None
    try:
        wei = to_raw(text, GWEI)
    except Refusal as refusal:
        raise UsageError(f"{option} is {refusal.what}", do="give an amount of gwei such as 1.5") from refusal
    if wei < 0:
        raise UsageError(f"{option} is negative", do="give an amount of gwei such as 1.5")
    return wei
