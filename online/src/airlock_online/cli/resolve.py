"""``resolve``: what is known of each submission that has not ended, what was asked now, and what it waits for."""

from __future__ import annotations

from typing import Any

import click

from airlock_online.cli.delivery_context import Desk, open_desk
from airlock_online.delivery.open_outcomes import open_outcome
from airlock_online.delivery.outcome import error_of
from airlock_online.delivery.resolution import USED
from airlock_online.delivery.submit import follow
from airlock_online.home import OnlineHome
from airlock_online.journal.order_states import FINAL, OPEN
from airlock_online.journal.schema import Submission
from airlock_shared.cli.console import finish, json_option, rows, say, show, show_json, worst
from airlock_shared.errors import AirlockError, ExitCode
from airlock_shared.text.safe import safe
from airlock_shared.units import utc_text


@click.command("resolve")
@click.argument("digest", required=False)
@json_option
@click.pass_obj
def resolve(home: OnlineHome, digest: str | None, as_json: bool) -> None:
    r"""Say what is known of DIGEST, or of everything that has not ended; ask once, and settle what reads settle.

    \b
    Example:
      airlock-online resolve
    """
    reports, codes = [], []
    with open_desk(home, 0, as_json=as_json) as desk:
        if digest is not None:
            chosen = [desk.journal.get(digest)]
        else:
            chosen = [known for known in desk.journal.submissions() if known.state not in FINAL]
        for known in chosen:
            report, code = _resolve(known, desk)
            reports.append(report)
            codes.append(code)
            if not as_json:
                _show(report)
    if as_json:
        show_json(reports)
    if not chosen:
        say("Everything that was submitted has its outcome; nothing to resolve.")
    finish(worst(codes))


def _resolve(known: Submission, desk: Desk) -> tuple[dict[str, Any], ExitCode]:
    digest, asked = known.record.digest, []
    context = desk.context(known.record.step, digest)._replace(
        on_asked=lambda question, answer: asked.append({"asked": question, "answered": answer}),
        on_notice=lambda _: None,
    )
    error: AirlockError | None
    reason = known.note
    try:
        outcome = follow(digest, context)
        error, reason = error_of(outcome), outcome.reason
    except AirlockError as failure:
        error, reason = failure, failure.what
    now_known = desk.journal.get(digest)
    if now_known.state in OPEN and not any(entry["asked"].startswith("the builder: ") for entry in asked):
        asked += [{"asked": f"the builder: {p.what}", "answered": p.found} for p in desk.expectations(digest)]
    wait = open_outcome(now_known, nonce_used=any(entry["answered"] == USED for entry in asked))
    report = {
        **now_known.record._asdict(),
        "was": known.state.value,
        "state": now_known.state.value,
        "since_ms": known.updated_ms,
        "tracking_id": now_known.tracking_id,
        "entity_id": now_known.entity_id,
        "unusable_ids": list(now_known.unusable_ids),
        "code": now_known.code,
        "known": reason,
        "rejections": [dict(event.payload) for event in desk.journal.rejections(digest)],
        "asked": asked,
        "waits_for": wait.what,
        "until_ms": wait.until_ms,
        "do": wait.do,
    }
    return report, error.exit_code if error else ExitCode.DONE


def _show(report: dict[str, Any]) -> None:
    settled = f" (was {report['was']})" if report["was"] != report["state"] else ""
    show(f"{report['ceremony']} / {report['step']}: {report['state']}{settled}")
    show(f"  {report['digest']}")
    show(f"  {report['primary_type']}, to the {report['route']}")
    show(f"  last change {utc_text(report['since_ms'])}")
    for name in ("tracking_id", "transaction_hash", "entity_id", "old_entity_id"):
        if report[name]:
            show(f"  {name.replace('_', ' ')}\n    {safe(report[name], limit=200)}")
    for given in report["unusable_ids"]:
        show("\n".join(rows("  given:     ", given)))
    if report["known"]:
        show("\n".join(rows("  known:     ", report["known"], limit=1000)))
    for rejection in report["rejections"]:
        show("\n".join(rows(f"  refused {rejection['attempt']}: ", str(rejection["reason"]), limit=500)))
    for entry in report["asked"]:
        show("\n".join(rows("  asked:     ", entry["asked"])))
        show("\n".join(rows("  answered:  ", entry["answered"], limit=500)))
    show("\n".join(rows("  waits for: ", report["waits_for"])))
    show("\n".join(rows("  do:        ", report["do"])))
