"""The five lines that decide, for the last look before the question: what, how much, for whom, until when, as whom.

They are read off what is signed, beside the raw name of each value. They say less than the review, and nothing else. A
value that the plan decides is always among them.
"""

from __future__ import annotations

from collections.abc import Iterator

from airlock_shared.catalogue.actions import REGISTRATIONS
from airlock_shared.catalogue.eip1559 import value_wei
from airlock_shared.catalogue.intents import is_custom
from airlock_shared.checks.case import CallCase, Case, IntentCase
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.plan.decisions import Decision, shown_value
from airlock_shared.text.safe import beside, safe
from airlock_shared.units import COIN, LEVERAGE, NATIVE, UNIX_MS, UNIX_S, USDC, to_human

HEADING = "WHAT IS SIGNED, IN FIVE LINES"
_NAMED = {"pairIndex": "", "tradeIndex": "position ", "orderIndex": "order ", "twapId": "TWAP ", "side": "", "kind": "",
          "code": ""}  # fmt: skip
_PRICES = ("price", "expectedPrice", "percentage")
_WHOM = ("delegate", "spender", "newOwner", "trader", "referee", "referrer", "caller", "contract")
"""Parameters of the plan that say what it is about, at which price, and who gets something from it, the first one first."""


def deciding_rows(case: Case) -> dict[str, str]:
    """Return the five, each by its label. What the plan decides beside them stands with the first."""
    five = {
        "how much": _how_much(case),
        "for whom": _for_whom(case),
        "until when": _until(case),
        "as whom": _as_whom(case),
    }
    said = "; ".join(five.values())
    own = case.step.signer.address
    others = (d for d in case.decisions if d.decided_by == "plan" and d.field.rule.parameter not in _NAMED)
    also = (_value(d) for d in others if d.raw != own)
    return {"what": ", ".join([case.title, *_named(case), *(text for text in also if text not in said)])} | five


def deciding_lines(five: dict[str, str], before: dict[str, str] | None) -> Iterator[str]:
    """Yield the heading and the five, a long one goes on below; and what the same kind said ``before``, where it differs."""
    yield HEADING if before is not None else f"{HEADING} (the first of its kind on this machine)"
    for label, text in five.items():
        yield from beside(f"  {label:<12}", text)
        if before and label != "until when" and before[label] != text:
            yield from beside(f"  {'':<12}", f"OTHER THAN LAST TIME: {before[label]}")


def _named(case: Case) -> Iterator[str]:
    for decision in case.decisions:
        parameter = decision.field.rule.parameter
        if parameter in _NAMED:
            text = shown_value(decision.field, decision.raw)
            if parameter == "pairIndex":
                pair = case.situation.deployment.pair_at(decision.raw)
                text = pair.name if pair else f"pair {text}"
            if parameter in ("side", "kind"):  # the word is the plan's, and the value is equal to it
                text = decision.expected
            yield safe(_NAMED[parameter] + text, limit=100)


def _how_much(case: Case) -> str:
    if not isinstance(case, IntentCase) and case.request.transaction is None:
        return "all that the account holds, and all that it may do"
    if is_custom(case.intent) if isinstance(case, IntentCase) else case.call.call.is_own:
        return "Airlock does not know the meaning of these values: the review has them all"
    said = "; ".join(_value(decision) for decision in case.decisions if decision.raw != 0 and _is_amount(decision))
    if not said:
        registers = case.step.action.name in REGISTRATIONS
        said = "all that the account trades with" if registers else "no amount"
    if isinstance(case, CallCase) and (filled := case.request.transaction):
        if wei := value_wei(case.request.payload):
            said += f"; {to_human(wei, NATIVE)} {NATIVE.name} is sent with it"
        said += f"; fee at most {to_human(filled.gas * filled.maxFeePerGas, NATIVE)} of the native currency"
    return said


def _is_amount(decision: Decision) -> bool:
    return decision.field.unit in (USDC, COIN, LEVERAGE) or decision.field.rule.parameter in _PRICES


def _value(decision: Decision) -> str:
    asked = decision.expected if decision.expected == "unlimited" else shown_value(decision.field, decision.raw)
    return f"{safe(asked, limit=200)} ({safe(decision.field.path.rsplit('.', 1)[-1], limit=40)})"


def _for_whom(case: Case) -> str:
    for parameter in _WHOM:
        for decision in case.decisions:
            if decision.field.rule.parameter == parameter:
                return _value(decision)
    if isinstance(case, IntentCase):
        return next(_value(decision) for decision in case.decisions if decision.field.path == case.intent.trader)
    if case.call.delegated_for is not None:
        return f"{checksum_address(case.call.delegated_for)} (trader)"
    return f"{checksum_address(case.step.signer.address)} (from)"


def _until(case: Case) -> str:
    said = [
        _value(d) for d in case.decisions if d.field.rule.parameter == "expiry" and d.field.unit in (UNIX_S, UNIX_MS)
    ]
    if isinstance(case, IntentCase):
        said += [_value(d) for d in case.decisions if d.field.path == case.intent.deadline]
        return "; ".join(said) if case.intent.deadline else "; ".join([*said, "no deadline: until its nonce is used"])
    if (filled := case.request.transaction) is None:
        return f"until account nonce {case.message['nonce']} is used; once used, until another takes it back"
    return "; ".join([*said, f"sent until account nonce {filled.nonce} is used"])


def _as_whom(case: Case) -> str:
    signer = case.step.signer
    said = f"{checksum_address(signer.address)} ({safe(signer.name, limit=40)})"
    return said if signer.delegate_of is None else f"{said}, as delegate of {checksum_address(signer.delegate_of)}"
