"""What ``explain`` knows: the services' codes, the checks, the exit codes, the outcomes, an order's oddities."""

from __future__ import annotations

from difflib import get_close_matches
from typing import NamedTuple

from airlock_online.error_codes import ERROR_CODES, ErrorCode
from airlock_online.journal.order_states import ANOMALIES, MEANINGS, OrderState
from airlock_shared.checks.case import Info
from airlock_shared.checks.catalogue import CHECKS
from airlock_shared.errors import DeviceError, DocumentError, ExitCode, Expired, PlanError, Refusal

DELIVERY_CHECKS: dict[str, Info] = {
    "ROUTE-STRUCT": Info("a struct does not go this way", "A signature given to a service that it was not made for.",
                         "Prepare the step again; a signature for one service is never given to another."),
    "ROUTE-FORM": Info("a member of the delivery is not of its form", "A damaged package that is sent anyway.",
                       "Use the requests and signatures as they were written."),
    "ROUTE-JOURNAL": Info("the journal has this digest with another value", "A package that is not what was signed.",
                          "Find out which file was altered before anything is sent."),
    "ROUTE-EXPORTED": Info("it was handed to another sender", "A signed thing that two senders send.",
                           "Follow it; to send it from here, sign a new one."),
    "ROUTE-SENT": Info("it was sent from here", "A signed thing that two senders send.",
                       "Follow it; what was sent is not exported."),
    "ROUTE-STEP": Info("a step's earlier signature may still execute", "One step that is executed twice.",
                       "Follow the earlier one to its end; only the plan names a replacement."),
    "ORDER-EIP7702": Info("not an EIP-7702 transaction for the batched market", "A transaction nobody asked for.",
                          "Prepare the step again."),
    "SIG-FORM": Info("not 65 bytes r, s, v with v 27 or 28, in lower-case hex", "A signature in another convention.",
                     "Carry the signatures over again, and compare their fingerprint."),
    "SIG-REQUESTS": Info("the signatures answer another document", "A signature for something else.",
                         "Submit the signatures with the requests that they answer."),
}  # fmt: skip
"""The checks of submission alone; all others are in ``airlock_shared.checks.catalogue``."""

_NEVER_AGAIN = "It is never sent again; sign nothing in its place before it is known what became of it."
_FOLLOW = f"Run `airlock-online follow`. {_NEVER_AGAIN}"
OUTCOMES: dict[OrderState, tuple[str, ExitCode]] = {
    OrderState.PREPARED: ("Submit it again: not a byte of it was sent.", ExitCode.SERVICE),
    OrderState.SENDING: (_FOLLOW, ExitCode.UNKNOWN),
    OrderState.REJECTED: ("Remove the cause, and submit it again.", ExitCode.SERVICE),
    OrderState.ACCEPTED: (_FOLLOW, ExitCode.UNKNOWN),
    OrderState.UNKNOWN: (f"Run `airlock-online resolve`, which says what it waits for, and what to do. {_NEVER_AGAIN}",
                    ExitCode.UNKNOWN),
    OrderState.EXPORTED: ("Run `airlock-online follow`, and ask who sends it. It is never sent from here.",
                          ExitCode.UNKNOWN),
    OrderState.PRESUMED_UNKNOWN: ("Run `airlock-online follow`; its sender may still write down what it learned.",
                                  ExitCode.UNKNOWN),
    OrderState.FILLED: ("Nothing: compare what was read back.", ExitCode.DONE),
    OrderState.CONFIRMED: ("Nothing: compare what was read back.", ExitCode.DONE),
    OrderState.MARKET_DECLINED: ("If the order is still wanted: a plan with another id and bounds of now, agreed anew.",
                            ExitCode.MARKET_DECLINED),
    OrderState.FAILED: ("Look up the code that stands beside it.", ExitCode.EXECUTION_FAILED),
    OrderState.EXPIRED_UNUSED: ("This signature is worthless now: prepare and sign again if it is still wanted.",
                           ExitCode.EXPIRED),
    OrderState.VOIDED: ("Look at what has its nonce. If this is still wanted, it is agreed on and signed anew.",
                        ExitCode.EXECUTION_FAILED),
}  # fmt: skip
"""What to do at each state of what was submitted, and the exit code of ``submit`` and ``follow`` there."""

EXIT_CODES: dict[ExitCode, tuple[str, str]] = {
    ExitCode.DONE: ("What was asked was done.", "Nothing."),
    ExitCode.USAGE: ("The command line, the configuration or the plan asks for something that cannot be done.",
                     "Correct it as the message says, and run it again."),
    ExitCode.REFUSED: ("A check said no; its id is in the message.", "Ask `explain` about the id. No check can be skipped."),
    ExitCode.DOCUMENT: ("A file or document is damaged, too large, or not what it claims to be.",
                        "Copy or scan it again from its source, and compare the fingerprint on both screens."),
    ExitCode.DEVICE: ("The Ledger is missing, locked, in the wrong app, too old, or answered what cannot be right.",
                      "Do what the message says at the device, and run it again."),
    ExitCode.DECLINED: ("A person said no. Nothing was signed or sent.", "Run it again when everybody agrees."),
    ExitCode.EXPIRED: ("A deadline is over or too near, or a clock cannot be right.",
                       "Compare the clocks with a watch; prepare and sign again."),
    ExitCode.SERVICE: ("A service answered with an error, with nonsense, or not at all.",
                       "Ask `explain` about the service's code, and run it again when the cause is gone."),
    ExitCode.UNKNOWN: ("Something was sent and its outcome is not known yet.",
                       "Run `airlock-online follow`. It is never sent again, here or elsewhere."),
    ExitCode.MARKET_DECLINED: ("The transaction succeeded and the market declined the fill. Nothing was filled.",
                               "If the order is still wanted: a plan with another id and bounds of now, agreed anew."),
    ExitCode.EXECUTION_FAILED: ("It was accepted and its execution failed, or what was promised is not what was found.",
                                "Read the positions and the code; sign a new intent if it is still wanted."),
    ExitCode.INTERRUPTED: ("Ctrl-C. What was done is recorded.", "Run the same command: it goes on from there."),
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


def everything() -> list[Explanation]:
    """Return all that can be explained, a kind after the other. Some names have two meanings: 3 is one."""
    return [
        *map(_of_entry, ERROR_CODES.values()),
        *(_of_check(check, info) for check, info in (CHECKS | DELIVERY_CHECKS).items()),
        *(Explanation(str(int(code)), "exit code", *said, code) for code, said in EXIT_CODES.items()),
        *(
            Explanation(state.value, "outcome", f"Of what was submitted: {MEANINGS[state]}.", do, code)
            for state, (do, code) in OUTCOMES.items()
        ),
        *(_of_anomaly(kind, said) for kind, said in ANOMALIES.items()),
    ]


def explanations_of(name: str) -> list[Explanation]:
    """Return what a name means: as it is written, else whatever its case; empty when it is not known."""
    known = everything()
    exact = [item for item in known if item.name == name]
    return exact or [item for item in known if item.name.casefold() == name.casefold()]


def nearest(name: str) -> list[str]:
    """Return the known names that look most like an unknown one, at most three, the nearest first."""
    names = {item.name.casefold(): item.name for item in everything()}
    return [names[found] for found in get_close_matches(name[:80].casefold(), names, n=3, cutoff=0.5)]


def _of_entry(entry: ErrorCode) -> Explanation:
    kind = "HTTP status" if entry.where == "http" else f"{entry.where} code"
    ends = entry.terminal if entry.where in ("batched", "contract", "relay") else None
    return Explanation(entry.code, kind, entry.meaning, entry.do, entry.exit_code, ends, entry.http, entry.source)


def _of_check(check: str, info: Info) -> Explanation:
    family = check.partition("-")[0]
    meaning = f"Refuses: {info.refusal}. Protects from: {info.protects}"
    if family == "PLAN":
        meaning += f" Where the plan itself is at fault, the exit code is {int(PlanError.exit_code)}."
    if family == "TIME":
        meaning += f" Where nothing but time stops a signing, the exit code is {int(Expired.exit_code)}."
    of_documents = family in ("DOC", "QR", "REPORT") and check != "REPORT-MATCH"
    code = DocumentError.exit_code if of_documents else Refusal.exit_code
    if check == "SIGNER-DEVICE":
        code = DeviceError.exit_code
    return Explanation(check, "check", meaning, info.do, code)


def _of_anomaly(kind: str, said: str) -> Explanation:
    meaning = f"A correct service does not do this: {said}."
    return Explanation(kind, "anomaly", meaning, "Keep the transcript, and ask the service's operator.", ExitCode.DONE)
