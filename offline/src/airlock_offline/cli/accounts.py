"""``address`` and ``accounts show``: an account's address on the Ledger, and its public node for a watch-only wallet."""

from __future__ import annotations

import hmac
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

import click

from airlock_offline.cli.device_waits import wait_notice
from airlock_offline.device_connection import device_options, nothing_is_signed, opened
from airlock_offline.home import OfflineHome, now_ms
from airlock_offline.ledger.device_errors import wrong_answer
from airlock_offline.ledger.ethereum_app import EthereumApp, account_in, require_account
from airlock_offline.ledger.transport import P1_FIRST, P2_CHAIN_CODE, Ins, encode_path, ethereum_apdu
from airlock_shared.ceremony.sections import no_on_record
from airlock_shared.cli.qr.documents import read_fingerprint
from airlock_shared.cli.qr.transfer import Showing, show_transfer, showing_options
from airlock_shared.cli.terminal import INPUT, json_option, led, say, show, show_json
from airlock_shared.errors import PlanError, UsageError
from airlock_shared.ethereum.signatures import checksum_address, keccak256
from airlock_shared.host.files import read_input
from airlock_shared.plan.model import Plan, Signer
from airlock_shared.plan.toml_positions import parse_written_plan
from airlock_shared.qr.documents import Transfer
from airlock_shared.ur.eth import HDKEY_TYPE, write_account

# ---- watch only -----------------------------------------------------------------------------------------------------
# An account of the Ledger as a watch-only wallet takes it: its public node, from which all its addresses follow.
# Before it is shown, the node is followed to its first address, which must be the one that the device itself answers
# there. Sources: BIP-32, "Public parent key to public child key"; BCR-2020-007 and EIP-4527 for ``crypto-hdkey``.


FIRST = (0, 0)
CHAIN_CODE_BYTES = 32


class ExtendedKey(NamedTuple):
    """A node of the key tree (BIP-32): 65-byte public key, 32-byte chain code.

    No secret, but whoever has it knows every account below it.
    """

    public_key: bytes
    chain_code: bytes


class WatchOnlyAccount(NamedTuple):
    """A node as it is shown, the payload of ``ur:crypto-hdkey``, and its first address in EIP-55."""

    payload: bytes
    first_address: str


def extended_key(app: EthereumApp, path: str) -> ExtendedKey:
    """Return the account at ``path`` with its chain code: what derives every key below it that is not hardened."""
    doing = f"read the extended key of {path}"
    reply = app.ask(ethereum_apdu(Ins.ADDRESS, P1_FIRST, P2_CHAIN_CODE, encode_path(path)), doing)
    if len(reply) != 1 + 65 + 1 + 40 + CHAIN_CODE_BYTES:
        raise wrong_answer(doing, f"{len(reply)} bytes that are not a key, an address and a chain code")
    account = account_in(reply[:-CHAIN_CODE_BYTES], doing)
    return ExtendedKey(account.public_key, reply[-CHAIN_CODE_BYTES:])


def account_of(app: EthereumApp, path: str, master_fingerprint: int | None) -> WatchOnlyAccount:
    """Read the node at ``path``. The app tells no master fingerprint: it refuses every path outside Ethereum.

    Raises ``DeviceError``, also when the node does not lead to the device's own first address.
    """
    from coincurve import PublicKey  # noqa: PLC0415 - native: after the filter

    node = extended_key(app, path)
    first = app.address(path + "".join(f"/{number}" for number in FIRST)).address
    if address_below(node, FIRST) != first:
        raise wrong_answer(f"read the extended key of {path}", "a key that does not lead to its own accounts")
    payload = write_account(PublicKey(node.public_key).format(), node.chain_code, path, master_fingerprint)
    return WatchOnlyAccount(payload, checksum_address(first))


def address_below(node: ExtendedKey, numbers: tuple[int, ...]) -> bytes | None:
    """Return the 20-byte address at child numbers below a node, none of them hardened; None for what is no node."""
    from coincurve import PublicKey  # noqa: PLC0415 - native: after the filter

    try:
        key, chain_code = PublicKey(node.public_key), node.chain_code
        for number in numbers:
            grown = hmac.digest(chain_code, key.format() + number.to_bytes(4, "big"), "sha512")
            key, chain_code = key.add(grown[:32]), grown[32:]
    except ValueError:
        return None
    return keccak256(key.format(compressed=False)[1:])[-20:]


# ---- accounts -------------------------------------------------------------------------------------------------------
# ``accounts show``: an account's public node as a QR code, for a watch-only wallet.


_DEFAULT_PATH = "m/44'/60'/0'"


@click.group("accounts")
def accounts() -> None:
    """Show an account of the Ledger to a watch-only wallet."""


@accounts.command("show")
@click.option(
    "--path", default=_DEFAULT_PATH, show_default=True, help="The account's node; its addresses are 0/* below."
)
@click.option(
    "--master-fingerprint",
    "fingerprint",
    callback=read_fingerprint,
    metavar="HEX",
    help="The master fingerprint of the seed, if you know it. The Ledger does not give it; some wallets need it.",
)
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
    with opened(emulator_port, ledger_path, wait_notice, guard=nothing_is_signed) as device:
        account = account_of(device.app(), path, fingerprint)
    say(f"{path}, first address {account.first_address}: the watch-only wallet must show the same")
    transfer = Transfer(HDKEY_TYPE, account.payload, HDKEY_TYPE, "", "")
    shown = show_transfer(transfer, state.home, showing)
    facts = {"path": path, "first_address": account.first_address}
    state.transcript.record("account-shown", facts, now_ms())
    if showing.as_json:
        show_json({"ok": True} | facts | shown)


# ---- plan signers ---------------------------------------------------------------------------------------------------
# The signer of a plan whose Ledger a command needs.


signer_option = click.option("--signer", "signer_name", help="Which signer of the plan, when it has several.")


def choose_signer(plan: Plan, name: str | None) -> Signer:
    """Return the plan's signer of this name, or its only one. Raises ``UsageError`` or ``PlanError("PLAN-SIGNER")``."""
    if name is None and len(plan.signers) == 1:
        return next(iter(plan.signers.values()))
    if name is None:
        raise UsageError("the plan has several signers", do=f"choose with --signer, one of {list(plan.signers)}")
    if name not in plan.signers:
        raise PlanError("PLAN-SIGNER", "no such signer in the plan", got=name, expected=list(plan.signers))
    return plan.signers[name]


# ---- address --------------------------------------------------------------------------------------------------------
# ``address``: the account at a path, shown here and confirmed on the device.


FIRST_ACCOUNT_PATH = "m/44'/60'/0'/0/0"


@click.command("address")
@click.option("--path", help=f"The derivation path (default: {FIRST_ACCOUNT_PATH}, or the plan's).")
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
    plan = None if plan_file is None else parse_written_plan(read_input(plan_file))
    signer = None if plan is None else choose_signer(plan, signer_name)
    path = path or (signer.path if signer else FIRST_ACCOUNT_PATH)
    if signer:
        path_too = "" if led() else f", {signer.path}"
        say(f"expected  {signer.account}  ({signer.name}{path_too})")
    if confirm and led():
        say("Compare it with the Ledger, then confirm or reject it there.")
    elif confirm:
        say("Compare the address on the Ledger with the one in the plan, then confirm or reject it there.")
    said_no = no_on_record(state.transcript, plan, "address", "signer", now_ms) if plan else nullcontext()
    with said_no, opened(emulator_port, ledger_path, wait_notice, guard=nothing_is_signed) as device:
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
