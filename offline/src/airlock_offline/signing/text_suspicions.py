"""What is suspicious about the texts of an item: sentences for the review screen, in ASCII. They decide nothing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

from airlock_shared.catalogue.referral_code import code_letters
from airlock_shared.checks.case import Case
from airlock_shared.text.confusables import flags
from airlock_shared.units import CODE, TEXT

_MOST_TEXTS = 50
_MOST_CHARACTERS = 20_000


def text_suspicions(case: Case) -> Iterator[str]:
    """Yield a sentence for each thing that a reader of the item's texts may miss."""
    for name, text in _texts(case):
        for flag in flags(text[:_MOST_CHARACTERS]):
            yield f"{name}: {flag}."
    said = [case.request.payload.get(name) for name in ("description", "meta")]
    texts = " ".join(text[:_MOST_CHARACTERS] for text in islice(_claimed(said), _MOST_TEXTS))
    for flag in flags(texts[:_MOST_CHARACTERS]):  # of all together: what it says must not fill the screen with warnings
        yield f"what the builder says: {flag}."


def _texts(case: Case) -> Iterator[tuple[str, str]]:
    for decision in case.decisions:
        name, raw = decision.field.path.rsplit(".", 1)[-1], decision.raw
        if decision.field.unit is CODE and type(raw) is bytes:
            yield f"the code {name}", code_letters(raw)
        elif decision.field.unit is TEXT and type(raw) is str:
            yield f"the text {name}", raw
    for name, value in case.step.values.items():
        yield f"the plan's {name}", value.text
    yield "the reason of the order type", case.request.order_reason


def _claimed(value: object) -> Iterator[str]:
    """Yield the texts within what the builder claims, names of members too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in chain(*value.items()):
            yield from _claimed(member)
    elif isinstance(value, list):
        for member in value:
            yield from _claimed(member)
