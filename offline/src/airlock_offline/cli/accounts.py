"""``accounts show``: an account's public node as a QR code, for a watch-only wallet."""

from __future__ import annotations

import click

from airlock_offline.cli.device_waits import ToldTransport
from airlock_offline.clock import now_ms
from airlock_offline.device_connection import device_options, opened
from airlock_offline.home import OfflineHome
from airlock_offline.ledger.watch_only import account_of
from airlock_shared.cli.console import say, show_json
from airlock_shared.cli.master_fingerprint import read_fingerprint
from airlock_shared.cli.qr.transfer import Showing, show_transfer, showing_options
from airlock_shared.qr.transfer import Transfer
from airlock_shared.ur.eth import HDKEY_TYPE

DEFAULT_PATH = "m/44'/60'/0'"


@click.group("accounts")
def accounts() -> None:
    """Show an account of the Ledger to a watch-only wallet."""


@accounts.command("show")
@click.option(
    "--path", default=DEFAULT_PATH, show_default=True, help="The account's node; its addresses are 0/* below."
)
@click.option("--master-fingerprint", "fingerprint", callback=read_fingerprint, metavar="HEX",
              help="The master fingerprint of the seed, if you know it. The Ledger does not give it; some wallets "
                   "need it.")  # fmt: skip
@showing_options
@device_options
@click.pass_obj
def show_account(
    state: OfflineHome,
    path: str,
    fingerprint: int | None,
    showing: Showing,
    emulator_port: int | None,
    ledger_path: str | None,
) -> None:
    r"""Show the account's public key and chain code as ur:crypto-hdkey.

    It cannot sign. But whoever has it knows all addresses of the account, so show it only to your own wallet.

    \b
    Examples:
      airlock-offline accounts show
      airlock-offline accounts show --as page
    """
    with opened(emulator_port, ledger_path, ToldTransport) as device:
        account = account_of(device.app(), path, fingerprint)
    say(f"{path}, first address {account.first_address}: the watch-only wallet must show the same")
    transfer = Transfer(HDKEY_TYPE, account.key.to_cbor(), HDKEY_TYPE, "", "")
    shown = show_transfer(transfer, state.home, showing)
    facts = {"path": path, "first_address": account.first_address}
    state.transcript.record("account-shown", facts, now_ms())
    if showing.as_json:
        show_json({"ok": True} | facts | shown.as_json())
