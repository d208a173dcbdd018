"""How a ceremony stands, as the lines and the JSON that ``ceremony show`` gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from airlock_shared.ceremony.roles import HOW, Half, Standing, checkpoints_of, standing
from airlock_shared.ceremony.seals import SEALED
from airlock_shared.checks.times import Uptime
from airlock_shared.cli.terminal import MACHINES, led, rows
from airlock_shared.documents.transcript import Entry
from airlock_shared.errors import UsageError
from airlock_shared.host.files import TranscriptFile, read_input
from airlock_shared.plan.model import Plan
from airlock_shared.plan.toml_positions import parse_written_plan
from airlock_shared.text.safe import fingerprint_lines, safe, spoken_rows
from airlock_shared.units import utc_text
from airlock_shared.wire.strict_json import HEX_32, JsonObject

_NOBODY = "nobody"
_ROLE_COLUMNS = 24


def people_lines(names: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each role and who holds it; a long name goes on below itself."""
    for role, name in names.items():
        yield from rows(f"  {role:<{_ROLE_COLUMNS}} ", safe(name) or _NOBODY)


def record_lines(record: str) -> Iterator[str]:
    """Yield what stands on record for a checkpoint: fingerprints in hex and words, anything else as it is."""
    for part in record.split(" "):
        if HEX_32.fullmatch(part):
            yield from labelled_hash_lines("on record", part)
        else:
            yield from rows("on record  ", safe(part))


def head_lines(entries: Sequence[Entry], ceremony: str = "") -> Iterator[str]:
    """Yield a transcript's head, for people who write it down, and over how many entries it is; the seal's is another."""
    head = entries[-1].hash
    sealed = [entry.seq for entry in entries if entry.event == SEALED and entry.data["ceremony"] == ceremony]
    other = f" (the seal's: after {sealed[-1]})" if sealed else ""
    label = f"transcript head after {len(entries)} entries{other}, to write down"
    yield from (f"{label}:", *word_lines("head", head)) if led() else labelled_hash_lines(label, head)


def labelled_hash_lines(label: str, digits: str) -> Iterator[str]:
    """Yield a hash under a label of its own, in hex and words as a fingerprint."""
    yield label
    yield from islice(fingerprint_lines("", digits), 1, None)


def word_lines(label: str, fingerprint: str) -> Iterator[str]:
    """Yield the words of a fingerprint behind a label, in three rows, as both machines of a led ceremony show them."""
    for row in spoken_rows(fingerprint):
        yield f"  {label:<11} {row}"
        label = ""


def standing_lines(stands: Standing, plan: Plan, half: Half) -> Iterator[str]:
    """Yield how a ceremony stands on a machine: people, checkpoints with who confirmed when, exceptions, what is missing."""
    yield f"ceremony {plan.id} on {MACHINES[half]}"
    yield f"begun {_time(stands.begun_ms)}, ended {_time(stands.ended_ms)}"
    yield from fingerprint_lines("plan", plan.fingerprint)
    yield "roles"
    yield from people_lines(stands.names or dict.fromkeys(plan.roles, ""))
    yield "checkpoints"
    for name, confirmations in stands.checkpoints.items():
        if not confirmations:
            yield f"  {name:<12} -"
        for confirmation in confirmations:
            told = [*confirmation.by, *([HOW[confirmation.how]] if confirmation.how in HOW else [])]
            yield from rows(f"  {name:<12} {_time(confirmation.at_ms)}  ", safe(", ".join(told)))
            if not confirmation.holds:
                yield f"  {'':<12} the record changed since: confirm again"
    if stands.exceptions:
        yield "exceptions"
    for deviation in stands.exceptions:
        place = f"checkpoint {safe(deviation.checkpoint)}" if deviation.checkpoint else "no checkpoint"
        yield from rows(f"  {_time(deviation.at_ms)}  ", f"{place}, by {safe(deviation.by)}")
        yield from rows("    ", safe(deviation.reason))
    for line in stands.missing:
        yield from rows("missing: ", line)
    yield "COMPLETE" if stands.complete else "INCOMPLETE"


def standing_json(stands: Standing, plan: Plan, half: Half) -> JsonObject:
    """Return the same for machines; times in unix milliseconds."""
    return {
        "ceremony": plan.id,
        "plan": plan.fingerprint,
        "half": half,
        "begun_ms": stands.begun_ms,
        "ended_ms": stands.ended_ms,
        "roles": stands.names,
        "checkpoints": [
            {
                "checkpoint": checkpoint.name,
                "compares": checkpoint.compares,
                "by_at_least": list(checkpoint.needs(half, plan)),
                "confirmed": [each._asdict() for each in stands.checkpoints[checkpoint.name]],
            }
            for checkpoint in checkpoints_of(half)
        ],
        "exceptions": [deviation._asdict() for deviation in stands.exceptions],
        "missing": list(stands.missing),
        "complete": stands.complete,
    }


def _time(unix_ms: int | None) -> str:
    return "not yet" if unix_ms is None else utc_text(unix_ms)


# ---- context --------------------------------------------------------------------------------------------------------
# What the commands of a ceremony stand on: one of the two machines, and a plan that names roles.


class CeremonyMachine(NamedTuple):
    """One of the two machines: its transcript and clock, a deployment's fingerprint by name, whether all are worth nothing.

    ``shows`` gives the lines that stand on record for a checkpoint, from the entries of the ceremony: what is agreed to
    there, whole, or what people have to decide and to compare.
    """

    half: Half
    transcript: TranscriptFile
    now_ms: Callable[[], int]
    deployment: Callable[[str], str]
    all_worth_nothing: Callable[[], bool]
    deployment_file: Callable[[str], Path] | None = None
    """Where this machine keeps the deployment of a name, to be handed over; None on the machine to which it comes."""
    shows: Callable[[str, Sequence[Entry], bool], Iterable[str]] = lambda _checkpoint, _entries, _whole: ()
    uptime: Callable[[], Uptime | None] = lambda: None
    """How long this machine has been running; nobody states the time of the one that does not say it."""

    def standing(self, plan: Plan) -> Standing:
        """Return how the ceremony of a plan stands here."""
        return standing(self.transcript.entries(), plan, self.half)

    def known_deployment(self, name: str) -> str:
        """Return the fingerprint of the deployment of this name here, empty when there is none."""
        try:
            return self.deployment(name)
        except UsageError:
            return ""

    def record(self, event: str, plan: Plan, data: JsonObject) -> None:
        """Record an event of a plan's ceremony."""
        self.transcript.record(event, {"ceremony": plan.id, **data}, self.now_ms())


def plan_with_roles(file: Path) -> Plan:
    """Return the plan in a file. Raises ``PlanError``, and ``UsageError`` when it names no roles."""
    plan = parse_written_plan(read_input(file))
    if not plan.roles:
        raise UsageError(
            "the plan names no roles, so there is nothing to hold or to confirm",
            do='add them to the plan, such as roles = ["signer", "witness"]',
        )
    return plan
