"""``resolve``: what is known of each submission that has not ended, what was asked now, and what it waits for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from airlock_online.cli.delivery_context import Desk, open_desk, recall
from airlock_online.clients.connection import is_hash
from airlock_online.clock import now_ms
from airlock_online.delivery.chain_evidence import USED, confirmed_block
from airlock_online.delivery.chain_search import search as search_blocks
from airlock_online.delivery.chain_search import settle_by_transaction
from airlock_online.delivery.event_lines import event_json
from airlock_online.delivery.outcome import OrderOutcome, outcome_error
from airlock_online.delivery.resolution import open_outcome
from airlock_online.delivery.routes.context import DeliveryContext
from airlock_online.delivery.routes.relayer import transaction_on_chain
from airlock_online.delivery.routes.rpc import require_node
from airlock_online.delivery.submit import follow_submission
from airlock_online.home import OnlineHome
from airlock_online.journal.order_states import FINAL, OPEN
from airlock_online.journal.schema import Record, Submission
from airlock_online.speech.sections import OF_TRANSACTIONS
from airlock_shared.cli.terminal import finish, json_option, rows, say, say_all, show, show_all, show_json, worst
from airlock_shared.errors import AirlockError, ExitCode, UsageError
from airlock_shared.text.safe import safe
from airlock_shared.units import utc_text
from airlock_shared.wire.strict_json import JsonObject

if TYPE_CHECKING:
    from airlock_online.clients.rpc import ChainBlock


# ---- resolving ways -------------------------------------------------------------------------------------------------
# What a person can give to ``resolve``: an id, a transaction, a search, a note. Each is verified, or changes nothing.


_NOTE_AT_MOST, _NAME_AT_MOST = 500, 80


def _take(ways: Mapping[str, Any], by: str, known: Submission, desk: Desk, context: DeliveryContext) -> None:
    """Take what was given for one submission: ``tracking_id``, ``transaction``, ``search``, and a ``note`` with its author.

    Raises ``UsageError`` for one that has ended and for a wrong form, ``ServiceError`` for what fails to verify.
    """
    record = known.record
    verified = ways.keys() - {"note"}
    if known.state in FINAL or (verified and known.state not in OPEN):
        raise UsageError(f"{record.digest} is {known.state.value}", do="only open submissions are resolved so")
    if record.route in OF_TRANSACTIONS and verified:
        raise UsageError("a transaction is known by its own hash", do="follow it: airlock-online follow")

    def tell(text: str) -> None:
        say_all(rows(f"  {safe(record.step)}: ", text))

    if "tracking_id" in ways:
        if known.tracking_id:
            raise UsageError(
                f"it has the tracking id {safe(known.tracking_id)} already", do="follow it: airlock-online follow"
            )
        block = _block(record, desk, context)
        told = transaction_on_chain(record, ways["tracking_id"], context)
        tell(settle_by_transaction(record, told, block, context))
        desk.journal.name(record.digest, ways["tracking_id"])
    if "transaction" in ways:
        if not is_hash(ways["transaction"]):
            raise UsageError("that is no transaction hash", do="give 0x and 64 hex digits")
        block = _block(record, desk, context)
        tell(settle_by_transaction(record, ways["transaction"].lower(), block, context))
    if "search" in ways:
        tell(search_blocks(record, desk.request_of(known)[0], _block(record, desk, context), context))
    if "note" in ways:
        for name, value, most in (("note", ways["note"], _NOTE_AT_MOST), ("name", by, _NAME_AT_MOST)):
            if not value.strip() or len(value) > most or not value.isprintable():
                raise UsageError(f"the {name} is empty, not printable or longer than {most} letters", do="correct it")
        desk.journal.note(record.digest, ways["note"], by)
        tell("noted; its state stays as it is, and `follow` without DIGEST waits for it no more")


def _block(record: Record, desk: Desk, context: DeliveryContext) -> ChainBlock:
    """Return the confirmed block at which a node of one's own verifies it. Raises ``UsageError`` without a node."""
    node = require_node(desk.node, "that is verified by a node of your own, and none is configured")
    return confirmed_block(node, record, context)


# ---- resolve --------------------------------------------------------------------------------------------------------


@click.command("resolve")
@click.argument("digest", required=False)
@click.option("--tracking-id", metavar="ID", help="The market's or relayer's id of DIGEST, verified by your own node.")
@click.option("--transaction", metavar="HASH", help="The transaction that executed DIGEST, verified by your own node.")
@click.option("--search", is_flag=True, help="Look for DIGEST in full blocks of your own node, from its preparing on.")
@click.option(
    "--note", metavar="TEXT", help="What you know of DIGEST. Its state stays; `follow` no longer waits for it."
)
@click.option("--by", metavar="NAME", help="Who says so.")
@json_option
@click.pass_obj
def resolve(home: OnlineHome, /, digest: str | None, by: str | None, as_json: bool, **given: Any) -> None:
    r"""Show what is known of DIGEST, or of everything that has not ended.

    It asks each service once, and records each outcome that the answers prove.

    What you give is verified. A note changes no state: it sends nothing, and it allows nothing.

    \b
    Example:
      airlock-online resolve
    """
    ways = {name: value for name, value in given.items() if value not in (None, False)}
    if (ways and digest is None) or ("note" in ways) != (by is not None):
        raise UsageError(
            "these options are about one DIGEST, and a note needs its author", do="give DIGEST, and --by with --note"
        )
    reports = []
    with open_desk(home, 0, as_json=as_json) as desk:
        codes = recall(home, desk.journal)
        if digest is not None:
            chosen, codes = [desk.journal.get(digest)], []
        else:
            chosen = [known for known in desk.journal.submissions() if known.state not in FINAL and not _is_over(known)]
        for known in chosen:
            report, code = _resolve(known, desk, ways, by or "")
            reports.append(report)
            codes.append(code)
            if not as_json:
                _show(report)
    if as_json:
        show_json(reports)
    if not codes:
        say("Everything that was submitted has its outcome; nothing to resolve.")
    finish(worst(codes))


def _is_over(known: Submission) -> bool:
    """Tell whether what was surely not taken can be submitted no more: nothing is left to do or to find out."""
    until_ms = known.record.deadline_ms
    return known.state not in OPEN and until_ms is not None and now_ms() >= until_ms


def _resolve(known: Submission, desk: Desk, ways: Mapping[str, Any], by: str) -> tuple[JsonObject, ExitCode]:
    digest, asked = known.record.digest, []
    context = desk.context(known.record)
    events: list[dict[str, object]] = []  # with ``--json`` they are in the one document that is printed
    if desk.as_json:
        route = known.record.route
        context = context._replace(on_event=lambda each: events.append(event_json(each, now_ms=now_ms(), route=route)))
    if ways:
        _take(ways, by, known, desk, context)
        known = desk.journal.get(digest)
    context = context._replace(
        on_asked=lambda question, answer: asked.append({"asked": question, "answered": answer}),
        on_notice=lambda _: None,
    )
    error: AirlockError | None
    try:
        outcome = follow_submission(digest, context)
        error, reason = outcome_error(outcome), outcome.reason
    except AirlockError as failure:
        error, reason = failure, failure.what
    now_known = desk.journal.get(digest)
    if now_known.state in FINAL:
        error = outcome_error(OrderOutcome(digest, now_known.state, now_known.tracking_id, now_known.code, reason))
    if now_known.state in OPEN and not any(entry["asked"].startswith("the builder: ") for entry in asked):
        asked += [{"asked": f"the builder: {p.what}", "answered": p.found} for p in desk.expectations(digest)]
    by_node = [each for each in asked if not each["asked"].startswith("the service: ")]
    wait = open_outcome(now_known, nonce_used=any(each["answered"] == USED for each in by_node))
    report = {
        **now_known.record._asdict(),
        "was": known.state.value,
        "state": now_known.state.value,
        "since_ms": known.updated_ms,
        "tracking_id": now_known.tracking_id,
        "entity_id": now_known.entity_id,
        "unusable_ids": now_known.unusable_ids,
        "code": now_known.code,
        "known": reason,
        "notes": [{**event.payload, "at_ms": event.at_ms} for event in desk.journal.notes(digest)],
        "rejections": [dict(event.payload) for event in desk.journal.rejections(digest)],
        "asked": asked,
        "events": events,
        "waits_for": wait.what,
        "until_ms": wait.until_ms,
        "do": wait.do,
    }
    return report, error.exit_code if error else ExitCode.DONE


def _show(report: JsonObject) -> None:
    settled = f" (was {report['was']})" if report["was"] != report["state"] else ""
    show(f"{report['ceremony']} / {report['step']}: {report['state']}{settled}")
    show(f"  {report['digest']}")
    show(f"  {report['primary_type']}, to the {report['route']}")
    show(f"  last change {utc_text(report['since_ms'])}")
    for name in ("tracking_id", "transaction_hash", "entity_id", "old_entity_id"):
        if report[name]:
            show(f"  {name.replace('_', ' ')}\n    {safe(report[name], limit=200)}")
    for given in report["unusable_ids"]:
        show_all(rows("  given:     ", given))
    if report["known"]:
        show_all(rows("  known:     ", report["known"], limit=1000))
    for note in report["notes"]:
        who = f"{safe(note['by'], limit=80)}, {utc_text(note['at_ms'])}"
        show_all(rows("  note:      ", f"{note['text']} ({who})", limit=1000))
    for rejection in report["rejections"]:
        show_all(rows(f"  refused {rejection['attempt']}: ", str(rejection["reason"]), limit=500))
    for entry in report["asked"]:
        show_all(rows("  asked:     ", entry["asked"]))
        show_all(rows("  answered:  ", entry["answered"], limit=500))
    show_all(rows("  waits for: ", report["waits_for"]))
    show_all(rows("  do:        ", report["do"]))
