"""The exception tree, and the exit code that each branch ends a command with.

::

    AirlockError
    ├── UsageError          2  wrong words on the command line, wrong configuration, or a file that cannot be written
    ├── Refusal             3  a check said no; carries the check's id
    │   ├── DocumentError   4  damaged, or not what it claims to be (ids DOC-…, QR-…)
    │   └── PlanError       2  a mistake in the ceremony plan (ids PLAN-…)
    ├── DeviceError         5  the Ledger: not there, locked, wrong app, wrong answer
    ├── Declined            6  a person said no, at the keyboard or on the device
    ├── Expired             7  too late, or a clock that cannot be right
    ├── ServiceError        8  a service or the network
    ├── OutcomeUnknown      9  sent, and nobody can say yet what became of it
    ├── MarketDeclined     10  the transaction went through and the market declined the fill
    └── ExecutionFailed    11  accepted, and the execution failed

Every one of them says what happened and what to do next. Nothing outside this tree is expected to leave a command.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import IntEnum


class ExitCode(IntEnum):
    """What a command's exit code means. Nothing exits 0 without having done what was asked."""

    DONE = 0
    USAGE = 2
    REFUSED = 3
    DOCUMENT = 4
    DEVICE = 5
    DECLINED = 6
    EXPIRED = 7
    SERVICE = 8
    UNKNOWN = 9
    MARKET_DECLINED = 10
    EXECUTION_FAILED = 11
    INTERRUPTED = 130


def quoted(value: object) -> str:
    """Return a value as an error quotes it: as Python writes it, cut after 80 characters."""
    return repr(value)[:80]


class AirlockError(Exception):
    """Something foreseen went wrong: ``what`` happened, and what to ``do`` next."""

    exit_code = ExitCode.USAGE

    def __init__(self, what: str, *, do: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.do = do

    def __str__(self) -> str:
        return f"{self.what}; {self.do}" if self.do else self.what

    def as_json(self) -> dict[str, object]:
        """Return the error as the ``error`` member of a command's JSON result."""
        return {"kind": type(self).__name__, "what": self.what, "do": self.do, "exit_code": int(self.exit_code)}


class UsageError(AirlockError):
    """What the command line, the configuration or the plan asks for cannot be done, or not be written."""


class Refusal(AirlockError):
    """A check said no. ``check`` is its id, the same in code, message, JSON, transcript, docs and tests."""

    exit_code = ExitCode.REFUSED

    def __init__(
        self, check: str, what: str, got: object = "", expected: object = "", *, do: str = "", where: str = ""
    ) -> None:
        super().__init__(what, do=do)
        self.check = check
        self.got = str(got)
        self.expected = str(expected)
        self.where = where

    def at(self, name: str) -> Refusal:
        """Prefix the place in the payload at which the check failed, from the inside out."""
        separator = "" if not self.where or self.where.startswith("[") else "."
        self.where = f"{name}{separator}{self.where}"
        return self

    def __str__(self) -> str:
        place = f" at {self.where}" if self.where else ""
        compared = f" (got {self.got}, expected {self.expected})" if self.expected else ""
        advice = f"; {self.do}" if self.do else ""
        return f"{self.check}{place}: {self.what}{compared}{advice}"

    def as_json(self) -> dict[str, object]:
        """Return the refusal with its check id, place, got and expected."""
        details = {"check": self.check, "where": self.where, "got": self.got, "expected": self.expected}
        return super().as_json() | details


class DocumentError(Refusal):
    """A file, document or code is damaged, too large, or not what it claims to be (check ids ``DOC-…``, ``QR-…``).

    ``more`` are the mistakes that its reader found beside it. ``unknown`` are names in its place of which none is ``known``.
    """

    exit_code = ExitCode.DOCUMENT
    more: Sequence[DocumentError] = ()
    unknown: Collection[str] = ()
    known: Collection[str] = ()


class DeviceError(AirlockError):
    """The Ledger is missing, locked, in the wrong app, too old, or answered something that cannot be right."""

    exit_code = ExitCode.DEVICE


class Declined(AirlockError):
    """A person said no, at the keyboard or on the device. What this asked about was neither signed nor sent."""

    exit_code = ExitCode.DECLINED


class NotAnswered(Declined):
    """Nobody answered: it is nobody's No, and goes on record as none."""

    def __init__(
        self,
        what: str = "not answered: the input has ended",
        *,
        do: str = "run the command again where somebody can answer",
    ) -> None:
        super().__init__(what, do=do)


class Expired(AirlockError):
    """A deadline is past or too near, or a clock is wrong."""

    exit_code = ExitCode.EXPIRED


class ServiceError(AirlockError):
    """A service answered with an error, in an unknown form, or not at all. ``code`` is the service's own, if any.

    ``retry_after_s`` is when it says to come again, in seconds; ``unanswered`` says that no whole answer came.
    """

    exit_code = ExitCode.SERVICE
    retry_after_s: int | None = None
    unanswered = False

    def __init__(self, what: str, *, code: str = "", status: int | None = None, do: str = "") -> None:
        super().__init__(what, do=do)
        self.code = code
        self.status = status


class OutcomeUnknown(AirlockError):
    """Something was sent and its outcome is not known yet. It is never sent again; it is resolved by reading."""

    exit_code = ExitCode.UNKNOWN


class MarketDeclined(AirlockError):
    """By the market's word it declined the fill: the transaction succeeded, and the order was cancelled."""

    exit_code = ExitCode.MARKET_DECLINED


class ExecutionFailed(AirlockError):
    """The order was accepted and its execution failed. A new intent has to be signed to try again."""

    exit_code = ExitCode.EXECUTION_FAILED


class PlanError(Refusal):
    """The plan, or the command line in its place, has a mistake: it is configuration, so the command ends with 2."""

    exit_code = ExitCode.USAGE
