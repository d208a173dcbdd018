"""``transcript show``, ``seal`` and ``verify``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from airlock_offline.cli.accounts import choose_signer, signer_option
from airlock_offline.cli.device_waits import wait_notice
from airlock_offline.device_connection import Device, opened, require_ledger, signing_device_options
from airlock_offline.home import OfflineHome, now_ms
from airlock_offline.ledger.ethereum_app import require_ready
from airlock_offline.ledger.message_screens import message_pages
from airlock_offline.ledger.typed_data import Need
from airlock_offline.preflight.isolation import Isolation
from airlock_offline.signing.review import screen_lines
from airlock_offline.signing.sign_item import QUARANTINED, recovered_by
from airlock_shared.ceremony.seals import SEALED, VOID, check_seals, seal_of, signer_of
from airlock_shared.ceremony.sections import no_on_record
from airlock_shared.cli.ceremony.status import labelled_hash_lines
from airlock_shared.cli.terminal import INPUT, ask_yes, json_option, led, rows, say, say_all, show, show_all, show_json
from airlock_shared.documents.transcript import GENESIS, Entry
from airlock_shared.errors import Refusal
from airlock_shared.ethereum.signatures import checksum_address
from airlock_shared.host.files import read_input, read_transcript
from airlock_shared.plan.toml_positions import parse_written_plan
from airlock_shared.text.safe import spoken
from airlock_shared.units import utc_text

if TYPE_CHECKING:
    from airlock_shared.plan.model import Plan, Signer


@click.group("transcript")
def transcript() -> None:
    """Show, seal or verify this machine's transcript, or one in a file."""


def _entries(state: OfflineHome, file: Path | None) -> list[Entry]:
    return state.transcript.entries() if file is None else read_transcript(file)


@transcript.command("show")
@click.argument("file", type=INPUT, required=False)
@json_option
@click.pass_obj
def show_transcript(state: OfflineHome, file: Path | None, as_json: bool) -> None:
    r"""Show every entry, after verifying the chain.

    \b
    Example:
      airlock-offline transcript show
    """
    entries = _entries(state, file)
    if as_json:
        show_json([entry._asdict() for entry in entries])
        return
    for entry in entries:
        show_all(rows(f"{entry.seq:>4}  ", f"{utc_text(entry.at_ms)}  {entry.event}"))
        show_all(rows("      ", json.dumps(entry.data, ensure_ascii=False), limit=600))


@transcript.command("seal")
@click.option("--plan", "plan_file", type=INPUT, required=True, help="The ceremony plan: its signer seals.")
@signer_option
@signing_device_options
@json_option
@click.pass_obj
def seal_transcript(
    state: OfflineHome,
    plan_file: Path,
    signer_name: str | None,
    model: str | None,
    emulator_port: int | None,
    ledger_path: str | None,
    as_json: bool,
) -> None:
    r"""Have the transcript's head signed by the signer's Ledger, and record the seal. At the end of a ceremony.

    \b
    Example:
      airlock-offline transcript seal --plan plan.toml
    """
    plan = parse_written_plan(read_input(plan_file))
    require_ledger(emulator_port, state.require_pinned(plan.deployment))
    isolation = Isolation(state.pins(), emulator_port, state.confinement)
    isolation.begin()
    signer = choose_signer(plan, signer_name)
    said_no, guard = no_on_record(state.transcript, plan, "seal", "signer", now_ms), isolation.look_again
    with said_no, opened(emulator_port, ledger_path, wait_notice, named_model=model, guard=guard) as device:
        while (entry := _seal_once(state, plan, signer, device, piped=not isolation.is_production())) is None:
            pass
    if as_json:
        data = entry.data
        show_json(
            {"ok": True, "sealed": data["head"], "entries": data["entries"], "by": data["address"], "head": entry.hash}
        )
    elif not led():  # it ends soon, with the head to write down
        show_all(labelled_hash_lines("head after the seal", entry.hash))


def _seal_once(state: OfflineHome, plan: Plan, signer: Signer, device: Device, *, piped: bool) -> Entry | None:
    """Show the head as it is now, have it signed, and record the seal; None when the transcript went on meanwhile."""
    entries = state.transcript.entries()
    if entries and entries[-1].event == SEALED and entries[-1].data["ceremony"] == plan.id:
        say("The transcript is sealed already, and has no newer entries; nothing to do.")
        return entries[-1]
    need = Need(signer.path, signer.address)
    device.probe(need)
    state.record_unenforced(now_ms())
    entries = state.transcript.entries()
    seal = seal_of(entries, plan.id)
    say(f"entries {seal.entries}, sealed by {signer.name}. After your Yes compare the head on the Ledger.")
    say_all(
        () if led() else (*labelled_hash_lines("head", seal.head), "")
    )  # where it is led, its digits are in the list alone
    pages = message_pages(seal.text(), device.listed_model)
    say_all(screen_lines(pages, device.listed_model, device.version))
    ask_yes("Was the outcome read? Then seal the transcript with this head.", piped=piped)
    address = require_ready(device.app(), need)
    rsv = device.app().sign_personal_message(signer.path, seal.text())
    recovered = recovered_by(seal.digest(), rsv)
    if recovered != checksum_address(address):
        data = {"digest": "0x" + seal.digest().hex(), "recovered": recovered, "expected": checksum_address(address)}
        state.transcript.record(QUARANTINED, data, now_ms())
        raise Refusal(
            "SIG-SIGNER",
            "the seal is by another key, or not over this head: it is quarantined",
            got=recovered,
            expected=checksum_address(address),
        )
    entry = state.transcript.record_after(seal.head, SEALED, seal.as_data(address, rsv), now_ms())
    if entry is None:
        state.transcript.record(VOID, seal.as_data(address, rsv), now_ms())
        say("This seal is void: something was recorded while it was made. Seal the transcript as it is now.")
        return None
    say(
        "Sealed."
        if led()
        else f"Sealed.\n  recovered           {recovered}\n  plan                {signer.name}: equal"
    )
    return entry


@transcript.command("verify")
@click.argument("file", type=INPUT, required=False)
@click.option("--plan", "plan_file", type=INPUT, help="Also require that every seal is by a signer of this plan.")
@json_option
@click.pass_obj
def verify_transcript(state: OfflineHome, file: Path | None, plan_file: Path | None, as_json: bool) -> None:
    r"""Verify the chain and its seals, and show its head, to compare with the head on paper.

    \b
    Example:
      airlock-offline transcript verify --plan plan.toml
    """
    entries = _entries(state, file)
    seals = check_seals(entries)
    if plan_file is not None:
        plan = parse_written_plan(read_input(plan_file))
        for by in [made.by for made in seals] or ["nobody"]:
            signer_of(by, plan)
    head = entries[-1].hash if entries else GENESIS
    if as_json:
        told = [{**made.seal._asdict(), "by": made.by} for made in seals]
        show_json({"ok": True, "entries": len(entries), "head": head, "words": spoken(head), "seals": told})
        return
    show(f"{len(entries)} entries, the chain holds")
    show_all(labelled_hash_lines("head", head))
    for seal, by, _ in seals:
        show(f"seal  over {seal.entries} entries, holds\n      by {by}")
        show_all(rows("      of ", seal.ceremony))
    if not seals:
        show("seal  none: airlock-offline transcript seal --plan PLAN")
