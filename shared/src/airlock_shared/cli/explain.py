"""``explain``: what a code means and what to do, over what each program knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import groupby
from typing import NamedTuple

import click

from airlock_shared.checks.model import Info
from airlock_shared.cli.terminal import json_option, rows, show_all, show_json
from airlock_shared.errors import DeviceError, DocumentError, ExitCode, Expired, PlanError, Refusal, UsageError
from airlock_shared.text.safe import safe

# ---- explanations ---------------------------------------------------------------------------------------------------
# What ``explain`` knows on both machines: the checks, the exit codes, and how a name is looked up.


EXIT_CODES: dict[ExitCode, tuple[str, str]] = {
    ExitCode.DONE: ("The command did what you asked.", "Nothing."),
    ExitCode.USAGE: ("What the command line, the configuration or the plan asks for cannot be done, or not be written.",
                     "Correct it as the message says, and run it again."),
    ExitCode.REFUSED: ("A check refused; its id is in the message.",
                       "Ask `explain` about the id. No check can be skipped."),
    ExitCode.DOCUMENT: ("A file or document is damaged, too large, or of the wrong kind.",
                        "Copy or scan it again from its source, and compare the fingerprint on both screens."),
    ExitCode.DEVICE: ("The Ledger is missing, locked, in the wrong app, too old, or gave an impossible answer.",
                      "Do what the message says at the device, and run it again."),
    ExitCode.DECLINED: ("A person said no. Nothing was signed or sent.", "Run it again when everybody agrees."),
    ExitCode.EXPIRED: ("A deadline is past or too near, or a clock is wrong.",
                       "Compare the clocks with a watch; prepare and sign again."),
    ExitCode.SERVICE: ("A service answered with an error, in an unknown form, or not at all.",
                       "Ask `explain` about the service's code, and run it again when the cause is gone."),
    ExitCode.UNKNOWN: ("Something was sent and its outcome is not known yet.",
                       "Run `airlock-online follow`. It is never sent again, here or elsewhere."),
    ExitCode.MARKET_DECLINED: ("The transaction succeeded, but the market declined the fill.",
                               "Read the positions. If it is still wanted, agree on a plan with a new id and new bounds."),
    ExitCode.EXECUTION_FAILED: ("It was accepted, but its execution failed, or the state read back is wrong.",
                                "Read the positions and the code; if it is still wanted, prepare and sign it anew."),
    ExitCode.INTERRUPTED: ("Ctrl-C. What was done is recorded.", "Run the same command again to continue."),
}  # fmt: skip


class Explanation(NamedTuple):
    """One thing explained. ``http`` and ``source`` are empty and ``ends_order`` is None where they do not apply."""

    name: str
    kind: str
    meaning: str
    do: str
    exit_code: ExitCode
    ends_order: bool | None = None
    http: str = ""
    source: str = ""


def of_checks(checks: Mapping[str, Info]) -> list[Explanation]:
    """Return the explanations of checks, in the order of their table."""
    return [_of_check(check, info) for check, info in checks.items()]


def of_exit_codes() -> list[Explanation]:
    """Return the explanations of the exit codes."""
    return [Explanation(str(int(code)), "exit code", *said, code) for code, said in EXIT_CODES.items()]


def explanations_of(known: Sequence[Explanation], name: str) -> list[Explanation]:
    """Return what a name means: as it is written, else whatever its case; empty when it is not known."""
    exact = [item for item in known if item.name == name]
    return exact or [item for item in known if item.name.casefold() == name.casefold()]


def similar_names(known: Iterable[Explanation], name: str) -> list[str]:
    """Return the known names that look most like an unknown one, at most three, the nearest first."""
    names = {item.name.casefold(): item.name for item in known}
    return [names[found] for found in get_close_matches(name[:80].casefold(), names, n=3, cutoff=0.5)]


def _of_check(check: str, info: Info) -> Explanation:
    family = check.partition("-")[0]
    meaning, do = f"Refuses: {info.refusal}. Protects from: {info.protects}", info.do
    if family == "PLAN":
        do += f" If the mistake is in the plan, the exit code is {int(PlanError.exit_code)}."
    if family == "TIME":
        do += f" If only time stops a signing, the exit code is {int(Expired.exit_code)}."
    of_documents = family in ("DOC", "QR", "REPORT") and check != "REPORT-MATCH"
    code = DocumentError.exit_code if of_documents else Refusal.exit_code
    if check == "SIGNER-DEVICE":
        code = DeviceError.exit_code
    return Explanation(check, "check", meaning, do, code)


# ---- command --------------------------------------------------------------------------------------------------------
# The command ``explain`` of a program, over what that program knows.


_NUMBERS = {"ignore_unknown_options": True}  # JSON-RPC's codes begin with a minus


def explain_command(text: str, everything: Callable[[], list[Explanation]]) -> click.Command:
    """Return the command, with its help, of a program that can explain ``everything()``."""

    @click.command("explain", context_settings=_NUMBERS, help=text)
    @click.argument("code", required=False)
    @json_option
    def explain(code: str | None, as_json: bool) -> None:
        known = everything()
        found = known if code is None else explanations_of(known, code)
        if code is not None and not found:
            near = similar_names(known, code)
            raise UsageError(
                f"there is no code, check or exit code {safe(code, limit=80)!r}",
                do=f"the nearest names: {', '.join(near)}" if near else "`explain` without a name lists them all",
            )
        if as_json:
            show_json([{**item._asdict(), "exit_code": int(item.exit_code)} for item in found])
        elif code is None:
            show_all(_listed(found))
        else:
            for item in found:
                show_all(explained(item))

    return explain


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


def _listed(known: list[Explanation]) -> Iterator[str]:
    """Yield every name with the first sentence of its meaning, by kind, in lines of 80 columns."""
    for kind, items in groupby(known, key=lambda item: item.kind):
        yield f"{kind}:"
        for item in items:
            yield from rows(f"  {item.name:<20} ", item.meaning.partition(". ")[0].removeprefix("Refuses: "))
