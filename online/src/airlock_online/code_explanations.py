"""What ``explain`` knows: the services' codes, the checks, the exit codes, the outcomes, an order's oddities."""

from __future__ import annotations

from airlock_online.error_codes import ERROR_CODES, ErrorCode
from airlock_online.journal.order_states import ANOMALIES, MEANINGS, OrderState
from airlock_shared.checks.case import Info
from airlock_shared.checks.catalogue import CHECKS
from airlock_shared.cli.explain.explanations import Explanation, of_checks, of_exit_codes
from airlock_shared.errors import ExitCode

DELIVERY_CHECKS: dict[str, Info] = {
    "ROUTE-STRUCT": Info("a struct is not sent this way", "A signature that is sent to the wrong service.",
                         "Prepare the step again. A signature for one service is never sent to another."),
    "ROUTE-FORM": Info("a member of the delivery has the wrong form", "A damaged package that is sent anyway.",
                       "Use the requests and signatures as they were written."),
    "ROUTE-JOURNAL": Info("the journal has this digest with another value", "A package that is not what was signed.",
                          "Find out which file was altered before anything is sent."),
    "ROUTE-EXPORTED": Info("it was given to another sender", "A signature that two senders send.",
                           "Follow it. To send from here, sign a new one."),
    "ROUTE-SENT": Info("it was sent from here", "A signature that two senders send.",
                       "Follow it; what was sent is not exported."),
    "ROUTE-STEP": Info("a step's earlier signature may still execute", "One step that is executed twice.",
                       "Follow the earlier one to its end. Only the plan can name a replacement."),
    "ORDER-EIP7702": Info("not an EIP-7702 transaction for the batched market", "An unplanned transaction.",
                          "Prepare the step again."),
    "SIG-FORM": Info("not 65 bytes r, s, v with v 27 or 28, in lower-case hex", "A signature in another convention.",
                     "Carry the signatures over again, and compare their fingerprint."),
    "SIG-REQUESTS": Info("the signatures are for another document", "A signature for something else.",
                         "Submit the signatures with the requests that they answer."),
}  # fmt: skip
"""The checks of submission alone; all others are in ``airlock_shared.checks.catalogue``."""

_NEVER_AGAIN = "It is never sent again. Sign nothing in its place until its outcome is known."
_FOLLOW = f"Run `airlock-online follow`. {_NEVER_AGAIN}"
OUTCOMES: dict[OrderState, tuple[str, ExitCode]] = {
    OrderState.PREPARED: ("Submit it again: not a byte of it was sent.", ExitCode.SERVICE),
    OrderState.SENDING: (_FOLLOW, ExitCode.UNKNOWN),
    OrderState.REJECTED: ("Remove the cause, and submit it again.", ExitCode.SERVICE),
    OrderState.ACCEPTED: (_FOLLOW, ExitCode.UNKNOWN),
    OrderState.UNKNOWN: (f"Run `airlock-online resolve`: it says what is missing and what to do. {_NEVER_AGAIN}",
                    ExitCode.UNKNOWN),
    OrderState.EXPORTED: ("Run `airlock-online follow`, and ask who sends it. It is never sent from here.",
                          ExitCode.UNKNOWN),
    OrderState.PRESUMED_UNKNOWN: ("Run `airlock-online follow`; its sender may still write down what it learned.",
                                  ExitCode.UNKNOWN),
    OrderState.FILLED: ("Nothing: compare what was read back.", ExitCode.DONE),
    OrderState.CONFIRMED: ("Nothing: compare what was read back.", ExitCode.DONE),
    OrderState.MARKET_DECLINED: ("If you still want the order, agree on a new plan with another id and today's bounds.",
                            ExitCode.MARKET_DECLINED),
    OrderState.FAILED: ("Look up the code beside it.", ExitCode.EXECUTION_FAILED),
    OrderState.EXPIRED_UNUSED: ("This signature is worthless now. Prepare and sign again if you still want it.",
                           ExitCode.EXPIRED),
    OrderState.VOIDED: ("Look at what has its nonce. If this is still wanted, it is agreed on and signed anew.",
                        ExitCode.EXECUTION_FAILED),
}  # fmt: skip
"""What to do at each state of what was submitted, and the exit code of ``submit`` and ``follow`` there."""


def everything() -> list[Explanation]:
    """Return all that can be explained, a kind after the other. Some names have two meanings: 3 is one."""
    return [
        *map(_of_entry, ERROR_CODES.values()),
        *of_checks(CHECKS | DELIVERY_CHECKS),
        *of_exit_codes(),
        *(
            Explanation(state.value, "outcome", f"State of a submission: {MEANINGS[state]}.", do, code)
            for state, (do, code) in OUTCOMES.items()
        ),
        *(_of_anomaly(kind, said) for kind, said in ANOMALIES.items()),
    ]


def _of_entry(entry: ErrorCode) -> Explanation:
    kind = "HTTP status" if entry.where == "http" else f"{entry.where} code"
    ends = entry.terminal if entry.where in ("batched", "contract", "relay") else None
    return Explanation(entry.code, kind, entry.meaning, entry.do, entry.exit_code, ends, entry.http, entry.source)


def _of_anomaly(kind: str, said: str) -> Explanation:
    meaning = f"A correct service does not do this: {said}."
    return Explanation(kind, "anomaly", meaning, "Keep the transcript, and ask the service's operator.", ExitCode.DONE)
