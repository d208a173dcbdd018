"""What submitting, following and resolving share: the context made of this machine, and what is told of each order.

Several orders are told of at once, so that whatever is written is written whole, with the step that it belongs to.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from itertools import count
from typing import NamedTuple

import click

from airlock_online.cli.connections import connections
from airlock_online.cli.own_journal import journal_of
from airlock_online.clients.builder import builder_of
from airlock_online.clients.builder_reads import question_of, used_in
from airlock_online.clients.http import Http
from airlock_online.clients.rpc import RpcClient
from airlock_online.clock import now_ms
from airlock_online.config import OnlineConfig
from airlock_online.delivery.chain_evidence import (
    deployed_contracts,
    nonce_by_word,
    nonce_now,
)
from airlock_online.delivery.deliveries import encoding_signed
from airlock_online.delivery.event_lines import event_json, event_lines
from airlock_online.delivery.outcome import OrderOutcome, outcome_error
from airlock_online.delivery.resolution import is_proved, is_waiting
from airlock_online.delivery.routes.context import Delivery, DeliveryContext, NonceRead
from airlock_online.delivery.routes.posting import POLL_S
from airlock_online.delivery.routes.twap import ROUTE as TWAPS
from airlock_online.home import OnlineHome
from airlock_online.journal.journal import Journal
from airlock_online.journal.order_states import CONTRADICTIONS, DONE, FINAL, OPEN, OrderEvent, OrderState
from airlock_online.journal.schema import Record, Submission, before, sending
from airlock_online.readback.expectations import (
    Expectation,
    Scene,
    expectation_lines,
    not_known,
)
from airlock_online.readback.read_back import excused, nonce_unused, read_back, read_back_error
from airlock_online.speech.sections import STATUS
from airlock_shared.cli.ceremony.by_screens import show_by_screens, turn_page
from airlock_shared.cli.program import give_up
from airlock_shared.cli.terminal import INPUT, explain_error, led, rows, say, say_all, show, show_all, show_json, worst
from airlock_shared.documents.deployment import Deployment
from airlock_shared.documents.requests import Request
from airlock_shared.documents.transcript import TOO_LATE
from airlock_shared.errors import (
    AirlockError,
    Declined,
    DocumentError,
    ExitCode,
    Expired,
    OutcomeUnknown,
    UsageError,
)
from airlock_shared.ethereum.signatures import checksum_address
from airlock_shared.report.facts import outcomes_recorded
from airlock_shared.text.safe import safe
from airlock_shared.venue.structs import TWAP

# ---- tally ----------------------------------------------------------------------------------------------------------
# What is left for a person when several orders were followed: the end of a long run, which nobody read line by line.


_SHOWN = 20


class OutcomeSummary(NamedTuple):
    """What was told of an order: its step, its state (empty where an error was told), its anomalies, its exit code."""

    step: str
    state: str
    anomalies: int
    code: ExitCode


def tally_lines(outcomes: Sequence[OutcomeSummary]) -> Iterator[str]:
    """Yield how many ended how, and each that needs a person; nothing for one order, which stands just above."""
    if len(outcomes) < 2:
        return
    counts = Counter(each.state or "stopped by an error" for each in outcomes)
    yield f"{len(outcomes)} orders: {', '.join(f'{count} {state}' for state, count in sorted(counts.items()))}."
    odd = [each for each in outcomes if each.anomalies or each.code is not ExitCode.DONE]
    if not odd:
        return
    yield f"{len(odd)} need{'s' if len(odd) == 1 else ''} a person: airlock-online resolve says what is known of each."
    for each in odd[:_SHOWN]:
        also = f", {each.anomalies} anomal{'y' if each.anomalies == 1 else 'ies'}" if each.anomalies else ""
        yield f"  {safe(each.step, limit=40)}: {each.state or 'stopped by an error'}{also}"
    if len(odd) > _SHOWN:
        yield f"  and {len(odd) - _SHOWN} more: airlock-online status"


# ---- delivery context -----------------------------------------------------------------------------------------------


NOTING_S = 5.0  # after Ctrl-C, for what was begun to be written down
READS_AT_MOST = 3  # of an expectation that looks broken: a read may lag behind the chain

patience = click.option(
    "--patience",
    type=click.IntRange(0, 86_400),
    default=120,
    show_default=True,
    help="How many seconds to poll before it stops for now.",
)
requests_option = click.option(
    "--requests", "requests_file", type=INPUT, help="The requests of these signatures, if not prepared on this machine."
)


_LAST_AT_MOST = 20  # orders of which it is shown


class Desk:
    """This machine at work: its context, and the telling of it. One a command."""

    def __init__(self, home: OnlineHome, journal: Journal, http: Http, patience_s: float, *, as_json: bool) -> None:
        self.home, self.journal, self.http = home, journal, http
        self.config = home.config()
        self.as_json = as_json
        self._writing = threading.RLock()
        self._interrupted = threading.Event()
        self._step = ""
        self._summaries: list[OutcomeSummary] = []
        self._last: dict[str, list[str]] = {}
        self.node = RpcClient(self.config.rpc.url, http) if self.config.rpc.url else None
        self._context = DeliveryContext(
            journal,
            http,
            now_ms,
            self._sleep,
            nonce_used=nonce_reader(home.deployment_of, http, self.config),
            patience_s=patience_s,
            speech=self.config.speech,
            node=self.node,
            confirmations=self.config.rpc.confirmations,
            confirmed_by=self.config.rpc.confirmed_by,
            contracts_of=self._contracts,
            read_back=lambda digest: [(each.what, each.found) for each in self.expectations(digest)],
            encoded=self._encoded,
            transcript_marks=home.transcript_marks(journal.journal_id, self.config.speech),
        )

    def context(self, order: Delivery | Record, answered: Callable[[], None] = lambda: None) -> DeliveryContext:
        """Return the context of one order: what comes of it is told with its step."""
        return self._context._replace(
            on_event=partial(self._event, order),
            on_notice=partial(self._notice, order.step),
            on_answered=answered,
        )

    def stop(self) -> None:
        """End the threads that wait for the next question: the person has interrupted the command."""
        self._interrupted.set()

    def hush(self) -> None:
        """Let no thread write any more."""
        self._writing.acquire()  # and never given back

    def _sleep(self, seconds: float) -> None:
        if self._interrupted.wait(seconds):
            raise KeyboardInterrupt

    # ---- telling ----------------------------------------------------------------------------------------------------

    def _event(self, order: Delivery | Record, event: OrderEvent) -> None:
        with (
            self._writing,
            suppress(OSError),
        ):  # a full disk ends no following: the outcome is told, or the exit code is 9
            if self.as_json:
                told = event_json(event, now_ms=now_ms(), route=order.route)
                show_json({"step": order.step, "digest": order.digest, **told}, indent=None)
            else:
                self._heading(order.step)
                self._last[order.step] = lines = event_lines(event, now_ms=now_ms(), route=order.route)
                show_all(lines[:1] if led() else lines)  # where it is led, the last one comes to be read

    def _notice(self, step: str, text: str) -> None:
        with self._writing, suppress(OSError):
            if not self._interrupted.is_set():
                say_all(rows(f"    {step}: ", text))

    def announce(self, text: str) -> None:
        """Say which order comes now: talk that cannot be written keeps none from being sent."""
        with self._writing, suppress(OSError):
            say(text)

    def _heading(self, step: str) -> None:
        if step != self._step:
            self._step = step
            show(f"  {step}")

    def run(self, order: Delivery | Record, deliver: Callable[[], OrderOutcome]) -> ExitCode:
        """Submit or follow an order, tell what became of it, record it, and return its exit code."""
        step, digest = order.step, order.digest
        outcome: OrderOutcome | None = None
        expectations: list[Expectation] = []
        failure: AirlockError | None
        try:
            outcome = deliver()
            self._sleep(0)  # after an interrupt nothing is told: the journal has it
            expectations = self._read_back(digest) if outcome.state in DONE else []
            failure = read_back_error(expectations) or outcome_error(outcome)
        except AirlockError as error:
            failure = error
        code = failure.exit_code if failure else ExitCode.DONE
        state, anomalies = (outcome.state.value, len(outcome.anomalies)) if outcome else ("", 0)
        with self._writing:
            try:
                self._tell(order, outcome, expectations, failure)
            except (AirlockError, OSError) as error:
                code = worst([code, self._untold(digest, state, error)])
            self._summaries.append(OutcomeSummary(step, state, anomalies, code))
        return code

    def show_last(self) -> None:
        """Show the last event of each order in full, a screen at a time, where a ceremony is led.

        Of one order its first row stands there already. Of many orders it is in the report alone.
        """
        if not 0 < len(self._last) <= _LAST_AT_MOST:
            return
        heading = len(self._last) > 1
        lines = [
            row for step, rows_ in self._last.items() for row in ((f"  {safe(step)}", *rows_) if heading else rows_[1:])
        ]
        with suppress(Declined, OSError):  # nobody reads on; what was sent is sent
            turn_page()
            show_by_screens(lines, show)

    def tally(self) -> None:
        """Say, after several orders, how many ended how, and which of them need a person."""
        with suppress(OSError):  # what was sent is sent: its exit code says more
            say_all(tally_lines(self._summaries))

    def _tell(
        self,
        order: Delivery | Record,
        outcome: OrderOutcome | None,
        expectations: list[Expectation],
        error: AirlockError | None,
    ) -> None:
        """Show what became of an order, record it, also where it could not be shown, and note that a person was told."""
        digest = order.digest
        facts: dict[str, object] = {"step": order.step, "digest": digest}
        if outcome is not None:
            facts |= {"state": outcome.state.value, "code": safe(outcome.code, limit=64)}
        read = [expectation._asdict() for expectation in expectations]
        try:
            if self.as_json:
                whole = facts | (self._as_document(outcome) | {"read_back": read} if outcome else {})
                show_json(whole | ({"error": error.as_json()} if error else {}), indent=None)
            elif outcome is not None:
                self._show(order.step, outcome, expectations, led_on=error is None)
            for anomaly in outcome.anomalies if outcome else ():
                say(f"    ANOMALY: {safe(anomaly, limit=300)}")
            if error is not None:
                say(explain_error(error))
        finally:
            told: dict[str, object] = {"read_back": read} if read else {}
            told |= {"proved": True} if outcome is not None and is_proved(digest, self.journal) else {}
            if outcome is not None and outcome.state in before(OrderState.SENDING):
                known = self.journal.get(digest)  # another terminal may be sending it by now
                told |= {"claim": known.claims} if known.state in before(OrderState.SENDING) else {}
            if outcome is None and error is not None:
                told = {"error": error.what} | ({TOO_LATE: True} if isinstance(error, Expired) else {})
            self.home.transcript.record("outcome", {"ceremony": order.ceremony} | facts | told, now_ms())
        if outcome is not None:
            self.journal.tell(digest, outcome.state)

    def _untold(self, digest: str, state: str, error: AirlockError | OSError) -> ExitCode:
        """Say that an outcome could not be shown or recorded, where that can be said, and return the exit code."""
        if state in ("", *before(OrderState.SENDING)):
            failure: AirlockError = UsageError(_why(error), do="check the folder and the free space")
        else:
            failure = OutcomeUnknown(
                f"{digest} was sent, but what became of it could not be shown or recorded: {_why(error)}",
                do="remove the cause; then airlock-online follow tells it again; it is never sent again",
            )
        with suppress(OSError):
            say(explain_error(failure))
        return failure.exit_code

    def _as_document(self, outcome: OrderOutcome) -> dict[str, object]:
        known = self.journal.get(outcome.digest)
        return {
            "terminal": outcome.state in FINAL,
            "tracking_id": known.tracking_id,
            "transaction_hash": known.record.transaction_hash,
            "entity_id": known.entity_id,
            "old_entity_id": known.record.old_entity_id,
            "unusable_ids": known.unusable_ids,
            "reason": outcome.reason,
            "anomalies": outcome.anomalies,
        }

    def _show(self, step: str, outcome: OrderOutcome, expectations: list[Expectation], *, led_on: bool) -> None:
        """Show an outcome in words. Where a led ceremony goes on, what was read back is shown when people agree to it."""
        self._heading(step)
        doubt = ", although what was told of it contradicts what was signed"
        show(f"    outcome: {outcome.state.value}{doubt if CONTRADICTIONS & {*outcome.anomalies} else ''}")
        if outcome.reason:
            show_all(rows("      ", outcome.reason, limit=1000))
        if expectations and not (led() and led_on):
            show_all(expectation_lines(expectations))

    # ---- reading back -----------------------------------------------------------------------------------------------

    def _encoded(self, record: Record) -> str:
        """Return the encoding that a submission's request has, empty when it is not on this machine."""
        deployment = self.home.deployment_of(record.deployment)
        _, request = self.request_of(self.journal.get(record.digest))
        try:
            return encoding_signed(request, deployment, record.digest) if request and deployment else ""
        except (AirlockError, KeyError):
            return ""

    def _contracts(self, record: Record) -> frozenset[str]:
        deployment = self.home.deployment_of(record.deployment)
        return deployed_contracts(deployment) if deployment else frozenset()

    def _read_back(self, digest: str) -> list[Expectation]:
        until_s = time.monotonic() + self._context.patience_s
        for turn in count(1):
            with self._context.others:
                found = self.expectations(digest)
                if read_back_error(found):
                    found = excused(found, digest, self.home.transcript.entries())
                found += nonce_unused(self.journal.get(digest), self.journal.events(digest), self.node)
            error = read_back_error(found)
            again = error and turn < READS_AT_MOST
            if not (time.monotonic() < until_s if isinstance(error, OutcomeUnknown) else again):
                break
            self._sleep(POLL_S)
        return found

    def expectations(self, digest: str) -> list[Expectation]:
        """Return what a submission promised and what is found; not known when its request is not on this machine."""
        known = self.journal.get(digest)
        record = known.record
        prepared_ms, request = self.request_of(known)
        deployment = self.home.deployment_of(record.deployment)
        if request is None or deployment is None:
            return [not_known("what was promised", "done", "its requests or their deployment are not here")]
        has_twaps = record.route == TWAP and self.config.speech.paths[TWAP + STATUS]
        contradiction = self.journal.contradiction(digest)
        doubt = [not_known("what the services told", "the signed order", contradiction)] if contradiction else []
        return doubt + read_back(
            Scene(
                request,
                self.journal.events(digest),
                builder_of(deployment, self.http, self.config),
                self.config,
                now_ms(),
                deployment,
                self.node,
                partial(TWAPS.status, record, context=self._context) if has_twaps else None,
                partial(self._of_others, record),
                prepared_ms,
                partial(self._nonce_used, record),
            )
        )

    def _nonce_used(self, record: Record) -> bool | None:
        """Tell whether the builder has an intent's nonce as used; where it does not tell, the node can say that it is."""
        told = nonce_by_word(record, self._context)
        return told if told is not None else nonce_now(record, self._context) or None

    def _of_others(self, record: Record) -> Iterator[OrderEvent]:
        """Yield the events of the trader's other orders; of one that waits also that it may change its position any time."""
        for other in self.journal.submissions():
            if other.record.trader == record.trader and other.record.digest != record.digest:
                yield from self.journal.events(other.record.digest)
                if other.state in OPEN or is_waiting(other, self.journal):
                    yield OrderEvent(None, other.state, {"t": json.loads(other.record.signed)})

    def request_of(self, known: Submission) -> tuple[int, Request | None]:
        """Return before when a submission was not signed, and its request; None where that is not on this machine.

        Before its request was made, nobody signed it; the journal's row may be younger.
        """
        try:
            header, items = self.home.require_requests(known.record.requests)[:2]
        except AirlockError:  # prepared on another machine, or fetched again since
            return known.created_ms, None
        return min(header.created_ms, known.created_ms), {item.step: item for item in items}.get(known.record.step)


def _why(error: AirlockError | OSError) -> str:
    return error.what if isinstance(error, AirlockError) else str(error.strerror)


def nonce_reader(deployment_of: Callable[[str], Deployment | None], http: Http, config: OnlineConfig) -> NonceRead:
    """Return a reader at the builder of the deployment that a submission's requests name, found by its fingerprint.

    Another deployment may have the same chain id and the same contracts, as a fork has, and other nonces.
    """

    def used(record: Record, account: str) -> bool | None:
        deployment = deployment_of(record.deployment)
        domains = deployment.domains.items() if deployment else ()
        ours = [
            space for space, domain in domains if checksum_address(domain.contract).lower() == record.contract.lower()
        ]
        if deployment is None or not ours:
            return None
        reply = builder_of(deployment, http, config).read(
            "nonce", question_of(account, record.nonce, ours[0], config.speech)
        )
        return used_in(reply, account, record.nonce, ours[0], config.speech.replies["nonce"])

    return used


@contextmanager
def open_desk(home: OnlineHome, patience_s: float, *, as_json: bool, make: bool = False) -> Iterator[Desk]:
    """Open the journal and the connections; an interrupt stops every thread that tells of an order."""
    with (
        connections(home, waiting=lambda _host: nullcontext()) as http,
        journal_of(home, make=make) as journal,
    ):
        desk = Desk(home, journal, http, patience_s, as_json=as_json)
        try:
            yield desk
            for stream in (sys.stdout, sys.stderr):
                try:
                    stream.flush()
                except OSError:  # what could not be shown has its exit code
                    give_up(stream)
        except KeyboardInterrupt:
            desk.stop()
            http.close()  # what is not written yet is unsent, and what is written has no answer: its thread notes which
            until = time.monotonic() + NOTING_S
            while sending() and time.monotonic() < until:
                time.sleep(0.02)
            desk.hush()
            raise


def recall(home: OnlineHome, journal: Journal) -> list[ExitCode]:
    """Hold the journal against the transcript, tell of each submission that it has not, and return their exit codes."""
    try:
        told = outcomes_recorded(home.transcript.entries())
        forgotten = journal.recall(home.transcript_marks(journal.journal_id).begun())
    except DocumentError as error:  # what the journal knows is followed all the same
        say(explain_error(error))
        return [error.exit_code]
    for digest in forgotten:
        state = safe(told.get(digest, "UNKNOWN"))
        say(f"{digest} is {state} by this machine's transcript: it was sent or exported, and the journal has it not.")
        if state not in FINAL:
            say("  do:       submit its signatures: they are not sent again, but followed; sign nothing in their place")
    return [ExitCode.DONE if told.get(digest) in FINAL else ExitCode.UNKNOWN for digest in forgotten]
