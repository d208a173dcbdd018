"""Which way a trigger looks: the word that a number does not say.

A take profit of a long waits for a rise and a stop loss for a fall; of a short it is the other way round. A percentage is
one of profit or loss. Source: the specification, "POST /v2/intents/tpsl-partial".
"""

from __future__ import annotations

from collections.abc import Iterator

from airlock_shared.plan.model import Bounds, Exact, Step

_TAKES, _STOPS = "take_profit", "stop_loss"
_NAMED = {_TAKES: "take profit", _STOPS: "stop loss"}


def directions(step: Step) -> Iterator[str]:
    """Yield what each trigger of a step waits for, by the plan; nothing for a step without one."""
    kind, side = (_text(step, name) for name in ("kind", "side"))
    if kind in _NAMED and "percentage" in step.values:
        yield f"the {_NAMED[kind]} waits for {_of_profit(step.values['percentage'])}"
    elif kind in _NAMED and side and "price" in step.values:
        yield _waits(kind, side, step.values["price"].text)
    elif side:
        for parameter, each in (("takeProfit", _TAKES), ("stopLoss", _STOPS)):
            if parameter in step.values and getattr(step.values[parameter], "raw", None) != 0:
                yield _waits(each, side, step.values[parameter].text)


def odd_directions(step: Step) -> Iterator[str]:
    """Yield what people rarely mean: a stop loss at a profit, a take profit at a loss, a trigger that is hit at once."""
    kind, side = (_text(step, name) for name in ("kind", "side"))
    percentage = _exact(step, "percentage")
    if percentage is not None and kind in _NAMED and (percentage < 0) is (kind == _TAKES) and percentage:
        yield f"a {_NAMED[kind]} at a {'profit' if percentage > 0 else 'loss'}: is the sign of the percentage meant?"
    opened = _exact(step, "openPrice")
    for parameter, each in (("takeProfit", _TAKES), ("stopLoss", _STOPS)):
        trigger = _exact(step, parameter)
        if opened and trigger and side and trigger != opened and (trigger > opened) is not _rises(each, side):
            beyond = "above" if trigger > opened else "below"
            yield f"the {_NAMED[each]} of this {side} lies {beyond} its open price: it would be hit at once"


def _text(step: Step, name: str) -> str:
    return step.values[name].text if name in step.values else ""


def _exact(step: Step, name: str) -> int | None:
    raw = step.raw(name)
    return raw if type(raw) is int else None


def _rises(kind: str, side: str) -> bool:
    return (kind == _TAKES) is (side == "long")


def _waits(kind: str, side: str, price: str) -> str:
    moves = "rises" if _rises(kind, side) else "falls"
    return f"the {_NAMED[kind]} of this {side} waits for a price that {moves} to {price}"


def _of_profit(value: object) -> str:
    if isinstance(value, Exact) and type(value.raw) is int and value.raw:
        return f"a {'profit' if value.raw > 0 else 'loss'} of {value.text.lstrip('-')} %"
    said = value.text if isinstance(value, Exact | Bounds) else ""
    return f"a profit (above 0) or a loss (below 0) of {said} %"
