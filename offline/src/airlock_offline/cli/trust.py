"""``trust``: a deployment becomes a pin, after people have compared it; ``trust-struct``: a struct of one's own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import click

from airlock_offline.clock import now_ms
from airlock_offline.home import OfflineHome
from airlock_offline.ledger.typed_data import EXPECTED, WIDTHS, WIDTHS_DO, refused_integers, type_faults
from airlock_shared.ceremony.sections import BY_PAPER, proved_by_words
from airlock_shared.checks.intent import definitions
from airlock_shared.cli.ceremony.by_screens import show_by_screens
from airlock_shared.cli.ceremony.status import no_on_record
from airlock_shared.cli.comparison_lines import changed_lines, deployment_lines
from airlock_shared.cli.qr.file_or_qr import incoming, qr_option, restart_option
from airlock_shared.cli.terminal import INPUT, PATH_TYPE, ask_yes, json_option, say, say_all, show_json
from airlock_shared.documents.deployment import (
    DEPLOYMENT_FORMAT,
    REHEARSAL_CHAINS,
    Deployment,
    nothing_of_worth,
    parse_deployment,
    valid_elsewhere,
)
from airlock_shared.errors import Refusal, UsageError
from airlock_shared.host.files import append_line, make_folder, read_input
from airlock_shared.plan.toml_positions import parse_written_plan
from airlock_shared.text.safe import WIDTH, safe, wrapped
from airlock_shared.venue.pinned_structs import custom_intent
from airlock_shared.venue.profile_words import struct_words
from airlock_shared.venue.services import PINNABLE, RELAYER
from airlock_shared.venue.structs import Intent

# ---- trust ----------------------------------------------------------------------------------------------------------
# ``trust``: a deployment becomes a pin, after people have compared it.


@click.command("trust")
@click.argument("source", type=PATH_TYPE)
@click.option("--plan", "plan_file", type=INPUT, help="Its ceremony, in which the words may have been typed already.")
@qr_option
@restart_option
@json_option
@click.pass_obj
def trust(state: OfflineHome, source: Path, plan_file: Path | None, qr: bool, restart: bool, as_json: bool) -> None:
    r"""Pin the deployment in SOURCE, after the whole word Yes. If it replaces a pin, the lines that change are shown.

    With --plan nothing is asked when signer and witness typed its words in that open ceremony and no pin is replaced.

    \b
    Example:
      airlock-offline trust deployment.json
      airlock-offline trust camera --qr
    """
    data = incoming(state.home, source, DEPLOYMENT_FORMAT, "trust", known=state.pins, qr=qr, restart=restart)
    deployment = parse_deployment(data)
    if deployment.rehearsal and deployment.chain_id not in REHEARSAL_CHAINS:
        raise Refusal(
            "PIN-REHEARSAL",
            "it calls itself a rehearsal, and its chain is not one of a rehearsal's own",
            got=f"chain id {deployment.chain_id}",
            expected=" or ".join(map(str, REHEARSAL_CHAINS)),
        )
    for intent in deployment.structs.values():
        require_signed_by_fields(intent, "leave it out of the venue's profile, and fetch that again")
    pinned = state.pinned(deployment.name)
    if pinned and pinned.fingerprint == deployment.fingerprint == state.pin_on_record(deployment.name):
        say(f"{deployment.name} is pinned already, with this fingerprint; nothing to do.")
    else:
        if pinned or not _was_compared(state, plan_file, deployment):
            new = list(deployment_lines(deployment))
            if pinned is None:
                say("No deployment of this name is pinned yet. The new one:")
                show_by_screens(new, stays=1)
            else:
                say("Lines that change (- pinned now, + the new one); the others do not change:")
                say_all(f"{mark} {line}" for mark, line in changed_lines(list(deployment_lines(pinned)), new))
            say_all(valid_elsewhere(deployment, state.pins()))
            plan = None if plan_file is None else parse_written_plan(read_input(plan_file))
            with no_on_record(state.transcript, plan, "deployment", "signer", now_ms) if plan else nullcontext():
                ask_yes(f"Pin {deployment.name} on this machine?", piped=nothing_of_worth([*state.pins(), deployment]))
        state.pin(deployment, data, now_ms())
        say(f"Pinned {deployment.name}.")
    if as_json:
        show_json({"ok": True, "name": deployment.name, "fingerprint": deployment.fingerprint})


def require_signed_by_fields(intent: Intent, do: str) -> None:
    """Raise ``Refusal("DIGEST-LEDGER")`` for a struct of which the Ledger's app signs another digest."""
    if faults := type_faults(definitions(intent).structs, intent.name):
        raise Refusal(
            "DIGEST-LEDGER",
            f"no Ledger signs {intent.name} field by field",
            got="; ".join(faults),
            expected=EXPECTED,
            do=do,
        )


def _was_compared(state: OfflineHome, plan_file: Path | None, deployment: Deployment) -> bool:
    """Tell whether signer and witness typed the words of this deployment from paper in the open ceremony of a plan."""
    if plan_file is None:
        return False
    plan = parse_written_plan(read_input(plan_file))
    return proved_by_words(state.transcript.entries(), plan, "deployment", deployment.fingerprint, BY_PAPER)


# ---- trust struct ---------------------------------------------------------------------------------------------------
# ``trust-struct``: a struct beyond the catalogue becomes a pin, after people have compared its ``encodeType``.


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
@click.option(
    "--signer-rule",
    type=click.Choice(["trader-only", "trader-or-delegate"]),
    default="trader-only",
    help="Who may sign it.",
)
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
        ask_yes("Does the venue's contract define exactly this, letter by letter?", piped=state.nothing_of_worth())
        pin_struct(state, deployment, pin, now_ms(), old)
        say(f"Pinned {intent.name}.")
    if as_json:
        show_json(
            {
                "ok": True,
                "struct": intent.name,
                "deployment": deployment,
                "pinned_already": known,
                "refused_by_ledger": refused,
            }
        )


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
