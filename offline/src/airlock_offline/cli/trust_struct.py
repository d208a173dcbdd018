"""``trust-struct``: a struct beyond the catalogue becomes a pin, after people have compared its ``encodeType``."""

from __future__ import annotations

import json
from collections.abc import Iterator

import click

from airlock_offline.cli.trust import require_signed_by_fields
from airlock_offline.clock import now_ms
from airlock_offline.home import OfflineHome
from airlock_offline.ledger.typed_data import WIDTHS, WIDTHS_DO, refused_integers
from airlock_shared.catalogue.intents import Intent
from airlock_shared.catalogue.pinned_structs import custom_intent
from airlock_shared.catalogue.profile_words import struct_words
from airlock_shared.catalogue.services import PINNABLE, RELAYER
from airlock_shared.checks.payload import definitions
from airlock_shared.cli.comparison_lines import changed_lines
from airlock_shared.cli.console import ask_yes, json_option, say, say_all, show_json
from airlock_shared.errors import UsageError
from airlock_shared.host.files import append_line, make_folder
from airlock_shared.text.safe import WIDTH, safe, wrapped

_CHANGE = "change the venue's profile, fetch the deployment with it again, and pin that"


@click.command("trust-struct")
@click.argument("encode_type")
@click.option("--deployment", required=True, help="The pinned deployment that it belongs to.")
@click.option(
    "--domain", type=click.Choice(["trading", "referral"]), required=True, help="The domain it is signed under."
)
@click.option("--trader", required=True, help="The member (path) of the account that it speaks for.")
@click.option("--nonce", required=True, help="The member of its nonce.")
@click.option("--deadline", default="", help="The member of its deadline in unix milliseconds, if it has one.")
@click.option("--signer-rule", type=click.Choice(["trader-only", "trader-or-delegate"]), default="trader-only",
              help="Who may sign it.")  # fmt: skip
@click.option("--route", type=click.Choice(PINNABLE), default=RELAYER, help="The service that it is sent to.")
@json_option
@click.pass_obj
def trust_struct(state: OfflineHome, /, encode_type: str, deployment: str, as_json: bool, **members: str) -> None:
    r"""Pin the struct whose EIP-712 encodeType text is ENCODE_TYPE, after the whole word Yes.

    It is then checked like the structs of the catalogue, but shown raw and marked as such; a plan asks for it with the
    action custom and gives every member's raw value.

    \b
    Example:
      airlock-offline trust-struct 'CancelReq(address trader,uint256 nonce)' \
        --deployment mainnet --domain trading --trader trader --nonce nonce
    """
    venue = state.require_pinned(deployment)
    pin = {"encode_type": encode_type, **members}
    intent = custom_intent(pin)
    if intent.name in venue.structs:
        raise UsageError(f"the pinned deployment {venue.name} describes {intent.name} itself", do=_CHANGE)
    pinned = [old for old in state.struct_pins(deployment) if custom_intent(old).name == intent.name]
    old = pinned[-1] if pinned else None
    known = old == pin
    require_signed_by_fields(intent, "pin nothing of this kind: sign it with another wallet")
    if refused := refused_integers(definitions(intent).structs):
        say(f"NOTE: the Ethereum app takes {WIDTHS} alone, and not {', '.join(refused)}:")
        say(f"  {WIDTHS_DO}.")
    if known:
        say(f"{intent.name} is pinned already, with the same members; nothing to do.")
    else:
        say_all(_compared(deployment, intent, custom_intent(old) if old else None))
        ask_yes("Does the venue's contract define exactly this, letter by letter?", piped=state.rehearses())
        pin_struct(state, deployment, pin, now_ms(), old)
        say(f"Pinned {intent.name}.")
    if as_json:
        show_json({"ok": True, "struct": intent.name, "deployment": deployment, "pinned_already": known,
                   "refused_by_ledger": refused})  # fmt: skip


def pin_struct(
    state: OfflineHome, deployment: str, pin: dict[str, str], at_ms: int, replaced: dict[str, str] | None = None
) -> None:
    """Pin a struct for a deployment; the transcript has it first, with the pin of that name that it replaces, whole."""
    make_folder(state.structs_path(deployment).parent)
    also = {"replaced": replaced} if replaced else {}
    state.transcript.record("struct-pinned", {"deployment": deployment, **pin} | also, at_ms)
    append_line(state.structs_path(deployment), json.dumps(pin).encode())


def _compared(deployment: str, intent: Intent, old: Intent | None) -> Iterator[str]:
    """Yield a struct in the words of a venue's profile, beside the pin of its name that it would replace."""
    new, was = list(struct_words(intent, None)), list(struct_words(old, None)) if old else []
    if old:
        yield f"{intent.name} is pinned for {deployment} already, with differences (- pinned now, + the new one):"
    else:
        yield f"A struct whose meaning Airlock does not know, for {deployment}:"
    for mark, line in changed_lines(was, new) if old else ((" ", line) for line in new):
        first, *rest = wrapped(safe(line, limit=4000), WIDTH - 4)
        yield f"{mark} {first}"
        yield from (f"{mark}   {row}" for row in rest)
