"""``explain``: what a code, a check's id or an exit code means, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import click

from airlock_online.code_explanations import Explanation, everything, explanations_of, nearest
from airlock_shared.cli.console import json_option, rows, show, show_json
from airlock_shared.errors import UsageError
from airlock_shared.text.safe import safe

_NUMBERS = {"ignore_unknown_options": True}  # JSON-RPC's codes begin with a minus


@click.command("explain", context_settings=_NUMBERS)
@click.argument("code", required=False)
@json_option
def explain(code: str | None, as_json: bool) -> None:
    r"""Explain CODE: a service's error code, a check's id, an HTTP status or an exit code. Without CODE, list them.

    \b
    Examples:
      airlock-online explain SPREAD_BLOCKED
      airlock-online explain DOMAIN-CHAIN
      airlock-online explain 9
    """
    if code is None:
        known = everything()
        if as_json:
            show_json([as_object(item) for item in known])
        else:
            for line in listed(known):
                show(line)
        return
    found = explanations_of(code)
    if not found:
        near = nearest(code)
        raise UsageError(
            f"there is no code, check or exit code {safe(code, limit=80)!r}",
            do=f"the nearest names: {', '.join(near)}" if near else "`airlock-online explain` lists them all",
        )
    if as_json:
        show_json([as_object(item) for item in found])
        return
    for item in found:
        for line in explained(item):
            show(line)


def as_object(item: Explanation) -> dict[str, object]:
    """Return an explanation as JSON holds it."""
    return {**item._asdict(), "exit_code": int(item.exit_code)}


def explained(item: Explanation) -> Iterator[str]:
    """Yield an explanation in lines of 80 columns."""
    told = f" (HTTP {item.http})" if item.http and item.http != item.name else ""
    yield f"{item.name}: {item.kind}{told}"
    yield from rows("  means     ", item.meaning)
    yield from rows("  do        ", item.do)
    if item.ends_order is not None:
        yield f"  order     {'has ended' if item.ends_order else 'continues'}"
    if item.kind not in ("exit code", "anomaly"):
        yield f"  exit code {int(item.exit_code)}"
    if item.source:
        yield f"  source    {item.source}"


def listed(known: list[Explanation]) -> Iterator[str]:
    """Yield every name with the first sentence of its meaning, by kind, in lines of 80 columns."""
    for kind, items in groupby(known, key=lambda item: item.kind):
        yield f"{kind}:"
        for item in items:
            yield from rows(f"  {item.name:<20} ", item.meaning.partition(". ")[0].removeprefix("Refuses: "))
