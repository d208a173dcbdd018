"""``address``: the account at a path, shown here and confirmed on the device."""

from __future__ import annotations

from pathlib import Path

import click

from airlock_offline.cli.device_waits import ToldTransport
from airlock_offline.cli.plan_signers import choose_signer, signer_option
from airlock_offline.clock import now_ms
from airlock_offline.device_connection import device_options, opened
from airlock_offline.home import OfflineHome
from airlock_offline.ledger.readiness import require_account
from airlock_shared.cli.console import INPUT, json_option, led, say, show, show_json
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.host.files import read_input
from airlock_shared.plan.model import Signer
from airlock_shared.plan.reader import parse_plan

DEFAULT_PATH = "m/44'/60'/0'/0/0"


@click.command("address")
@click.option("--path", help=f"The derivation path (default: {DEFAULT_PATH}, or the plan's).")
@click.option("--plan", "plan_file", type=INPUT, help="Compare with the signer of this plan.")
@signer_option
@click.option("--confirm", is_flag=True, help="Also show the address on the Ledger, to be confirmed there.")
@device_options
@json_option
@click.pass_obj
def address(
    state: OfflineHome,
    path: str | None,
    plan_file: Path | None,
    signer_name: str | None,
    confirm: bool,
    emulator_port: int | None,
    ledger_path: str | None,
    as_json: bool,
) -> None:
    r"""Show the Ledger's address at a path, compared with the plan's signer when a plan is given.

    \b
    Example:
      airlock-offline address --plan plan.toml --confirm
    """
    signer = _signer(plan_file, signer_name)
    path = path or (signer.path if signer else DEFAULT_PATH)
    if signer:
        path_too = "" if led() else f", {signer.path}"
        say(f"expected  {checksum_address(signer.address)}  ({signer.name}{path_too})")
    if confirm and led():
        say("Compare it with the Ledger, then confirm or reject it there.")
    elif confirm:
        say("Compare the address on the Ledger with the one in the plan, then confirm or reject it there.")
    with opened(emulator_port, ledger_path, ToldTransport) as device:
        if signer:
            found = require_account(device.app(), path, signer.address, confirm=confirm)
        else:
            found = device.app().address(path, confirm=confirm).address
    text = checksum_address(found)
    state.transcript.record("address", {"path": path, "address": text, "confirmed": confirm}, now_ms())
    if as_json:
        show_json({"ok": True, "path": path, "address": text, "confirmed": confirm})
    else:
        if led():  # the record is shown when people agree to it
            return
        show(f"{text}  {path}")
        if confirm:
            show("confirmed on the device")


def _signer(plan_file: Path | None, name: str | None) -> Signer | None:
    return None if plan_file is None else choose_signer(parse_plan(read_input(plan_file)), name)
