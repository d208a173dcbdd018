"""The command ``explain`` of a program, over what that program knows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby

import click

from airlock_shared.cli.console import json_option, rows, show_all, show_json
from airlock_shared.cli.explain.explanations import Explanation, named, nearest
from airlock_shared.errors import UsageError
from airlock_shared.text.safe import safe

_NUMBERS = {"ignore_unknown_options": True}  # JSON-RPC's codes begin with a minus


def explain_command(text: str, everything: Callable[[], list[Explanation]]) -> click.Command:
    """Return the command, with its help, of a program that can explain ``everything()``."""

    @click.command("explain", context_settings=_NUMBERS, help=text)
    @click.argument("code", required=False)
    @json_option
    def explain(code: str | None, as_json: bool) -> None:
        known = everything()
        found = known if code is None else named(known, code)
        if code is not None and not found:
            near = nearest(known, code)
            raise UsageError(
                f"there is no code, check or exit code {safe(code, limit=80)!r}",
                do=f"the nearest names: {', '.join(near)}" if near else "`explain` without a name lists them all",
            )
        if as_json:
            show_json([as_object(item) for item in found])
        elif code is None:
            show_all(listed(found))
        else:
            for item in found:
                show_all(explained(item))

    return explain


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
