"""What ``explain`` knows on both machines: the checks, the exit codes, and how a name is looked up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from airlock_shared.checks.case import Info
from airlock_shared.errors import DeviceError, DocumentError, ExitCode, Expired, PlanError, Refusal

EXIT_CODES: dict[ExitCode, tuple[str, str]] = {
    ExitCode.DONE: ("The command did what you asked.", "Nothing."),
    ExitCode.USAGE: ("The command line, the configuration or the plan asks for something that cannot be done.",
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
    ExitCode.MARKET_DECLINED: ("The transaction succeeded, but the market declined the fill. Nothing was filled.",
                               "If you still want the order, agree on a new plan with another id and today's bounds."),
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


def named(known: Sequence[Explanation], name: str) -> list[Explanation]:
    """Return what a name means: as it is written, else whatever its case; empty when it is not known."""
    exact = [item for item in known if item.name == name]
    return exact or [item for item in known if item.name.casefold() == name.casefold()]


def nearest(known: Iterable[Explanation], name: str) -> list[str]:
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
