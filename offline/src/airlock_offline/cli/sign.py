"""``sign``: review, confirm and sign a requests document, step by step."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path

import click

from airlock_offline.cli.review_pages import GroupPages, ReviewPages, deciding_lines, deciding_rows
from airlock_offline.device_connection import Device, opened, require_ledger, signing_device_options
from airlock_offline.home import OfflineHome, now_ms, uptime
from airlock_offline.ledger.screens import not_shown_in_full
from airlock_offline.ledger.typed_data import device_pages, filtered_message, need_of
from airlock_offline.preflight.isolation import Isolation
from airlock_offline.signing import review
from airlock_offline.signing.review import groups_of
from airlock_offline.signing.rows import proof_lines, replacement_rows
from airlock_offline.signing.sign_item import (
    ItemFault,
    ItemResult,
    SigningDesk,
    first_to_sign,
    judged,
    left_behind,
    sign_item,
    to_sign,
)
from airlock_shared.ceremony.sections import (
    BY_WORDS,
    PAGE_CONFIRMED,
    begun_note,
    confirmed_on_pages,
    no_on_record,
    people_of,
    proved_by_words,
    was_begun,
)
from airlock_shared.checks.document import own_record
from airlock_shared.checks.intent import typed_data_of
from airlock_shared.checks.judge import Examined, Known, judge_header, judge_steps, require_none
from airlock_shared.checks.model import Case, IntentCase, Situation
from airlock_shared.checks.nonces import UsedNonces, nonces_of
from airlock_shared.checks.times import Clock, clock_of
from airlock_shared.cli.qr.file_or_qr import incoming, keep_file, qr_option, require_output, restart_option
from airlock_shared.cli.terminal import (
    LEDGER_HERE,
    PATH_TYPE,
    ask_yes,
    error_as_json,
    explain_error,
    finish,
    json_option,
    led,
    plan_option,
    say,
    say_all,
    screen_rows,
    show_json,
    worst,
)
from airlock_shared.documents.deployment import valid_elsewhere
from airlock_shared.documents.requests import REQUESTS_FORMAT as REQUESTS
from airlock_shared.documents.requests import SIGNATURES_FORMAT as SIGNATURES
from airlock_shared.documents.requests import SignaturesHeader, parse_requests, write_signatures
from airlock_shared.documents.transcript import Entry, machine_of, proved
from airlock_shared.errors import AirlockError, ExitCode
from airlock_shared.host.files import read_input, write_new
from airlock_shared.plan.model import part_lines
from airlock_shared.plan.reader import parse_plan
from airlock_shared.text.safe import fingerprint_lines, safe, spoken
from airlock_shared.wire.strict_json import JsonObject, parse_json
from airlock_shared.wire.strict_json import fingerprint as fingerprint_of

BROUGHT = "A second person reads the online machine's screen aloud. Is the requests fingerprint the same?"
REVIEWED = "reviewed"
"""The transcript's event: what the page that decides said of a step, and which sections were opened beside it."""
_RAW_MESSAGES = "Raw messages must be on; it cannot be read. Off, the Ledger refuses to sign."
RAW_MESSAGES_OFF = "Raw messages must be off; it cannot be read. On, the Ledger shows other pages: reject there."
ASKED_HERE = "This was made here, from a wallet's request. Was it the wallet of the plan's signer, here on the table?"


@click.command("sign")
@click.argument("source", type=PATH_TYPE)
@plan_option
@click.option("-o", "--output", type=PATH_TYPE, help="The signatures to write.")
@qr_option
@restart_option
@signing_device_options
@json_option
@click.pass_obj
def sign(
    state: OfflineHome,
    source: Path,
    plan_file: Path,
    output: Path | None,
    qr: bool,
    restart: bool,
    model: str | None,
    emulator_port: int | None,
    ledger_path: str | None,
    as_json: bool,
) -> None:
    r"""Review every item of the requests document SOURCE, sign what is confirmed, and write the signatures.

    With --qr, SOURCE is a camera or pictures of the online machine's screen, and the signatures are shown as codes.
    Each step, or page of like steps, needs the whole word Yes; then confirm each on the Ledger. If the command is
    interrupted, run it again: it does not ask again for what was signed.

    \b
    Example:
      airlock-offline sign requests.json --plan plan.toml -o signatures.json
    """
    require_output(output, qr=qr)
    plan = parse_plan(read_input(plan_file))
    isolation = Isolation(state.pins(), emulator_port, state.confinement)
    if qr:  # before a picture is looked at
        isolation.begin()
    data = incoming(state.home, source, REQUESTS, "sign", known=state.pins, qr=qr, restart=restart)
    header, items, fingerprint = parse_requests(data)
    deployment = state.require_pinned(header.deployment_name)
    require_ledger(emulator_port, deployment)
    if not qr:
        isolation.begin()
    entries = state.transcript.entries()
    compared = proved_by_words(entries, plan, "requests", fingerprint, BY_WORDS)
    say_all(valid_elsewhere(deployment, state.pins()))
    if note := begun_note(entries, plan):
        say(note)
    clock = clock_of(entries, now_ms(), uptime())
    situation = Situation(plan, deployment, clock.now_ms, clock.uncertainty_ms or 0)
    heading = judge_header(
        header, situation, Known(clock, own=own_record(entries, fingerprint), people=people_of(entries, plan))
    )
    steps = judge_steps([item.step for item in items], situation, header.signer)
    require_none([*heading.blocking(), *steps.blocking(), *heading.not_judged()])
    ask = partial(ask_yes, piped=not isolation.is_production())
    pages = (
        ReviewPages(ask, turns=not (emulator_port and LEDGER_HERE in os.environ)) if screen_rows() else None
    )  # where nobody reads and answers at a terminal, all in one piece
    part = list(part_lines(plan, header.signer))
    if pages and part:
        pages.show([part], [], [])
    else:
        say_all(part)
    if not (compared and led()):
        say_all((*fingerprint_lines("requests", fingerprint), *fingerprint_lines("plan", plan.fingerprint)))
    document = {"requests": fingerprint, "plan": plan.fingerprint}
    meanwhile = pages.turning if pages else nullcontext
    with opened(emulator_port, ledger_path, meanwhile, named_model=model, guard=isolation.look_again) as device:
        desk = _desk(state, plan.id, entries, device, ask, pages)
        examined = [judged(item, situation, desk) for item in items]
        if first := first_to_sign(examined, state):
            desk.probe(first)  # nobody compares or reads anything for a Ledger that cannot sign it
        if was_begun(entries, plan, fingerprint):
            say("These requests were compared on this machine before; their fingerprint is the same.")
        elif not qr and not compared:  # by QR codes, it was asked when it came
            with no_on_record(state.transcript, plan, "requests", "signer", now_ms):
                ask_yes(
                    ASKED_HERE if state.wallet_request_path(fingerprint).exists() else BROUGHT,
                    piped=state.all_worth_nothing(),
                )
        state.record_unenforced(now_ms())
        begun = document | {"model": device.model, "signer": header.signer}
        desk.record("sign-begun", {name: text for name, text in begun.items() if text})
        if pages and first:
            pages.begin()
        groups = GroupPages(
            groups_of(examined if first else (), desk.used, lambda case: _notes(case, device.listed_model)),
            confirmed_on_pages(entries, plan, fingerprint),
            pages,
            ask,
            lambda digests: desk.record(PAGE_CONFIRMED, document | {"digests": digests}),
        )
        results, stopped = _sign_all(examined, situation, desk, groups)
    ended = {result.answer.result for result in results}
    signed = "signed" in ended
    if stopped is not None:
        if not signed or (led() and stopped.exit_code is ExitCode.DEVICE):  # `ceremony run` waits, and runs this again
            raise stopped
        try:
            results += left_behind(items[len(results) :], stopped, desk)
        except AirlockError:  # nothing can be written: what was signed is kept, and what happened first says more
            raise stopped from None
    if not signed:
        _say_results(results)
        again = " To sign what was declined, give the same command again." * ("declined" in ended)
        say(f"No signature is given out, and no file was written.{again}")
        if as_json:
            show_json({"ok": False, "steps": _steps(results), "file": None})
        finish(worst([result.code for result in results]))
        return
    record = state.transcript.entries()
    _hand_over(
        results,
        SignaturesHeader(plan.id, fingerprint, deployment.rehearsal, record[-1].hash, now_ms(), machine_of(record)),
        state,
        output,
        stopped,
        qr=qr,
        as_json=as_json,
    )


def _hand_over(
    results: list[ItemResult],
    header: SignaturesHeader,
    state: OfflineHome,
    output: Path | None,
    stopped: AirlockError | None,
    *,
    qr: bool,
    as_json: bool,
) -> None:
    """Write the signatures, to the file named or into the folder, record it, say it, show them by QR codes, and finish.

    What ``stopped`` the command ends it, after what was signed before is handed over.
    """
    data = write_signatures(header, [result.answer for result in results])
    fingerprint = fingerprint_of(parse_json(data))
    if output is None:
        output = keep_file(state.home, SIGNATURES, fingerprint, data)
    else:
        write_new(output, data)
    state.transcript.record("signatures-written", {"requests": header.requests, "signatures": fingerprint}, now_ms())
    code = stopped.exit_code if stopped else worst([result.code for result in results])
    if code or not led():
        _say_results(results)
    if not led():
        say_all(fingerprint_lines("signatures", fingerprint))
        say(f"Wrote {safe(str(output))}")
        say("Carry it to the online machine. Keep it secret until it is submitted.")
    if code in (ExitCode.DECLINED, ExitCode.DEVICE) and not qr:
        say(f"Steps that are not signed stay out. To sign one after all, first move {safe(output.name)} away.")
    codes = {}
    if qr:
        from airlock_shared.cli.qr.documents import outgoing  # noqa: PLC0415 - for codes alone: no other signing loads it

        codes = outgoing(state.home, data, as_json=as_json)
    if stopped:
        say(explain_error(stopped))
    if as_json:
        error = error_as_json(stopped) if stopped else {}
        show_json(
            {"ok": code == 0, "steps": _steps(results)}
            | codes
            | {"file": str(output), "fingerprint": fingerprint, "words": spoken(fingerprint)}
            | error
        )
    finish(code)


def _desk(
    state: OfflineHome,
    ceremony: str,
    entries: list[Entry],
    device: Device,
    ask: Callable[..., None],
    on_screen: ReviewPages | None,
) -> SigningDesk:
    """Return what signing needs of the world: this machine with its entries, this terminal, and this Ledger."""
    said: list[str] = []
    read: list[JsonObject] = []
    used = nonces_of(entries)

    def probe(case: Case) -> None:
        need = need_of(case)
        device.probe(need)
        setting = _RAW_MESSAGES if need.raw_messages else RAW_MESSAGES_OFF if need.filtered else ""
        if setting and setting not in said[-1:]:
            said.append(setting)
            say(setting)

    def list_pages(examined: Examined) -> None:
        pages = _pages(examined.case, device.listed_model)
        listed = review.screen_lines(pages, device.listed_model, device.version, each=not on_screen)
        if on_screen:
            on_screen.set_list(examined.received.request.step, list(listed))
        else:
            say_all(listed)

    def show(examined: Examined) -> None:
        asked = to_sign(examined, state)
        pages, notes = _pages(asked, device.listed_model), _notes(asked, device.listed_model)
        sections = [
            part for part in sections_of(examined, used, pages, notes, device.listed_model, device.version) if part
        ]
        five: list[str] = []
        if (case := examined.case) is not None and not examined.verdicts.blocking():
            decides = deciding_rows(case)
            mark = {"step": case.request.step, "action": case.step.action.name, "digest": "0x" + case.digest.hex()}
            read[:] = [{**mark, "decides": decides}]
            before = [  # of the reviews of this kind of step, of this document too
                entry.data["decides"]
                for entry in state.transcript.entries()
                if entry.event == REVIEWED and entry.data["action"] == case.step.action.name
            ]
            five = list(deciding_lines(decides, before[-1] if before else None))
        if on_screen:
            listed = review.screen_lines(pages, device.listed_model, device.version, notes, each=False) if pages else ()
            on_screen.show(sections, five, list(listed))
        else:
            say_all(review.section_lines(sections))

    def asked(question: str) -> None:
        try:
            (on_screen.ask if on_screen else ask)(question)
        finally:
            sections = sorted(on_screen.opened) if on_screen else "all"
            desk.record(REVIEWED, read[0] | {"opened": sections})

    def clock(entries: list[Entry]) -> Clock:
        return clock_of(entries, now_ms(), uptime())

    proofs, tell = proved(entries), on_screen.tell if on_screen else say
    desk = SigningDesk(
        state,
        ceremony,
        used,
        probe,
        device.app,
        device.close,
        now_ms,
        clock,
        show,
        asked,
        tell,
        proofs,
        list_pages=list_pages,
    )
    return desk


def _sign_all(
    examined: list[Examined], situation: Situation, desk: SigningDesk, groups: GroupPages
) -> tuple[list[ItemResult], AirlockError | None]:
    """Sign item by item. What fails inside one is recorded and returned, and ends it: no later item is begun."""
    results: list[ItemResult] = []
    items = {"0x" + each.digest.hex(): each.received.request for each in examined}
    kept = sum(digest in groups.confirmed and bool(desk.state.kept_signature(digest)) for digest in items)
    if kept:
        say(f"{kept} of {len(examined)} steps were signed before; their kept signatures are used again.")
    for each in examined:
        item, digest = each.received.request, "0x" + each.digest.hex()
        fresh = situation._replace(now_ms=now_ms())

        def can_be_signed(other: str, fresh: Situation = fresh) -> bool:
            return to_sign(judged(items[other], fresh, desk), desk.state) is not None

        try:
            before = desk.state.kept_signature(digest) if groups.confirmed.get(digest) else None
            groups.show_from(digest, can_be_signed)
            results.append(sign_item(item, fresh, desk, groups.confirmed))
        except Exception as error:  # noqa: BLE001 (whatever it is, what was signed before must not be lost with it)
            with suppress(AirlockError):  # when nothing can be written, what happened says it
                desk.record("sign-stopped", {"step": item.step, "why": type(error).__name__})
            say(f"\nStopped at step {item.step}; {len(results)} of {len(examined)} steps are done and kept.")
            return results, error if isinstance(error, AirlockError) else ItemFault(error, item.step)
        answer = results[-1].answer
        if answer.result != "signed":
            continue
        if not groups.confirmed.get(digest):
            equal = f"\n  recovered           {answer.signer}\n  plan                {answer.signer}: equal"
            say(f"Signed.{'' if led() else equal}")
        elif before is None:
            left = groups.signed(len(examined) - len(results))
            say(f"Signed: {item.step}, {len(results)} of {len(examined)}{left}")
    return results, None


def _pages(case: Case | None, model: str) -> list[list[str]]:
    """Return the device's pages of what it will be asked to sign."""
    return device_pages(case, model, by_hashes=case.step.signer.show == "hashes") if case else []


def _notes(case: Case | None, model: str) -> list[str]:
    """Return the notes on what those pages do not show in full; of hashes and transactions the review has its own."""
    if not isinstance(case, IntentCase) or case.step.signer.show == "hashes":
        return []
    filtered, typed_data = filtered_message(case), typed_data_of(case)
    return filtered.notes(typed_data, model) if filtered else not_shown_in_full(typed_data, model)


def sections_of(
    examined: Examined, used: UsedNonces, pages: list[list[str]], notes: list[str], model: str, version: str = ""
) -> Iterator[list[str]]:
    """Yield the sections of all that is shown of an item before people are asked about it; an empty one is none."""
    case, verdicts = examined.case, examined.verdicts
    steps = list(examined.received.situation.plan.steps)
    yield from review.review_sections(examined, steps.index(examined.received.request.step) + 1, len(steps))
    yield list(proof_lines(verdicts.found))
    yield list(replacement_rows(case, used)) if case is not None else []
    if case is not None and not verdicts.blocking():
        yield list(review.hash_lines(case))
        yield list(review.screen_lines(pages, model, version, notes)) if pages else []
    yield list(review.verdict_lines(verdicts))


def _say_results(results: list[ItemResult]) -> None:
    for result in results:
        if result.answer.result != "signed":
            why = f" ({result.answer.why})" if result.answer.why else ""
            say(f"  {result.answer.step:<24} {result.answer.result}{why}")
    say(f"  {sum(each.answer.result == 'signed' for each in results)} of {len(results)} steps are signed")


def _steps(results: list[ItemResult]) -> list[dict[str, str]]:
    return [{"step": r.answer.step, "result": r.answer.result, "why": r.answer.why} for r in results]
