"""``delegate challenge``, ``prove`` and ``check``: somebody holds the delegate key, shown before it is registered."""

from __future__ import annotations

from pathlib import Path

import click

from airlock_offline.cli.device_waits import wait_notice
from airlock_offline.device_connection import opened, require_ledger, signing_device_options
from airlock_offline.home import OfflineHome, now_ms
from airlock_offline.ledger.ethereum_app import require_ready
from airlock_offline.ledger.message_screens import message_pages
from airlock_offline.ledger.typed_data import Need
from airlock_offline.preflight.isolation import Isolation
from airlock_offline.signing.review import screen_lines
from airlock_offline.signing.sign_item import QUARANTINED, recovered_by
from airlock_shared.ceremony.seals import check_possession, choose_step, write_proofs
from airlock_shared.cli.possession import (
    challenge_command,
    proofs_argument,
    proved_keys,
    signature_option,
    step_option,
    tell_proved,
)
from airlock_shared.cli.qr.file_or_qr import require_output
from airlock_shared.cli.terminal import (
    ask_yes,
    json_option,
    led,
    output_option,
    plan_option,
    rows,
    say,
    say_all,
    show,
    show_all,
    show_json,
)
from airlock_shared.documents.transcript import PROVED, proved
from airlock_shared.errors import Refusal, UsageError
from airlock_shared.ethereum.signatures import parse_address
from airlock_shared.host.files import read_input, write_new
from airlock_shared.plan.delegate_proofs import Challenge, challenge_of
from airlock_shared.plan.toml_positions import parse_written_plan
from airlock_shared.text.safe import safe, safe_again
from airlock_shared.wire.strict_json import DERIVATION_PATH

_HOW = """\
Have the delegate key sign exactly this text, as a personal message
(personal_sign, EIP-191):
  on a Ledger        airlock-offline delegate prove --plan PLAN --path PATH \\
                       -o proof.json
  in another wallet  its command to sign a message, with the text unchanged
Then, on this machine:
  with the proof     airlock-offline delegate check proof.json --plan PLAN
  a bare signature   airlock-offline delegate check --signature 0x… --plan PLAN"""


@click.group("delegate")
def delegate() -> None:
    """Have a delegate key sign a proof before it is registered."""


delegate.add_command(challenge_command(OfflineHome.require_pinned, _HOW))


@delegate.command("prove")
@plan_option
@step_option
@click.option("--path", required=True, help="Where the Ledger has the delegate key, such as m/44'/60'/1'/0/0.")
@output_option("The document of proofs to write, with this one.")
@signing_device_options
@json_option
@click.pass_obj
def prove_command(
    state: OfflineHome,
    plan_file: Path,
    step_id: str | None,
    path: str,
    output: Path,
    model: str | None,
    emulator_port: int | None,
    ledger_path: str | None,
    as_json: bool,
) -> None:
    r"""Sign the challenge on a Ledger with the delegate key.

    \b
    Example:
      airlock-offline delegate prove --plan plan.toml --path "m/44'/60'/1'/0/0" \
        -o proofs.json
    """
    if not DERIVATION_PATH.fullmatch(path):
        raise UsageError("not a derivation path", do="give one such as m/44'/60'/1'/0/0")
    require_output(output)
    plan = parse_written_plan(read_input(plan_file))
    deployment = state.require_pinned(plan.deployment)
    challenge = challenge_of(plan, deployment, choose_step(plan, step_id))
    require_ledger(emulator_port, deployment)
    isolation = Isolation(state.pins(), emulator_port, state.confinement)
    isolation.begin()
    need = Need(path, parse_address(challenge.delegate))
    guard = isolation.look_again
    with opened(emulator_port, ledger_path, wait_notice, named_model=model, guard=guard) as device:
        device.probe(need)
        say("The delegate key signs this text:")
        say_all(f"  {safe_again(line)}" for line in challenge.text().decode().splitlines())
        pages = message_pages(challenge.text(), device.listed_model)
        say_all(("", *screen_lines(pages, device.listed_model, device.version)))
        ask_yes(f"Sign this text with the delegate key {challenge.delegate}?", piped=not isolation.is_production())
        state.record_unenforced(now_ms())
        require_ready(device.app(), need)
        signature = device.app().sign_personal_message(path, challenge.text())
    _require_possession(state, challenge, signature)
    write_new(output, write_proofs([(challenge, "0x" + signature.hex())]))
    if as_json:
        show_json({"ok": True, "step": challenge.step, "delegate": challenge.delegate, "file": str(output)})
    else:
        show_all(rows("Wrote ", safe(str(output))))
        show("In a led ceremony the run checks it. By hand: airlock-offline delegate check")


def _require_possession(state: OfflineHome, challenge: Challenge, signature: bytes) -> None:
    """Check what the device answered; an answer that does not hold is recorded and kept nowhere."""
    try:
        check_possession(challenge, signature)
    except Refusal as refusal:
        digest = challenge.digest()
        data = {"step": challenge.step, "check": refusal.check, "digest": "0x" + digest.hex()}
        data |= {"recovered": recovered_by(digest, signature), "expected": challenge.delegate}
        state.transcript.record(QUARANTINED, data, now_ms())
        raise


@delegate.command("check")
@proofs_argument
@plan_option
@step_option
@signature_option
@json_option
@click.pass_obj
def check_command(
    state: OfflineHome,
    sources: tuple[Path, ...],
    plan_file: Path,
    step_id: str | None,
    signature: str | None,
    as_json: bool,
) -> None:
    r"""Check proofs, and record which keys proved themselves. One that does not hold: none of them is recorded.

    Only then does `sign` register a key. A proof is worth nothing for another ceremony, plan, step or account.

    \b
    Examples:
      airlock-offline delegate check proofs.json --plan plan.toml
      airlock-offline delegate check --signature 0x… --plan plan.toml
    """
    plan = parse_written_plan(read_input(plan_file))
    held = proved_keys(plan, state.require_pinned(plan.deployment), sources, signature, step_id)
    before = proved(state.transcript.entries())
    new = {asked.sha256(): asked for asked, _ in held if asked.sha256() not in before}
    for asked in new.values():
        state.transcript.record(PROVED, asked.as_data(), now_ms())
    if as_json:
        told = [{**asked.as_data(), "recorded_before": asked.sha256() in before} for asked, _ in held]
        show_json({"ok": True, "proofs": told})
        return
    tell_proved(held)
    if not led():
        show("Recorded: the step may be signed on this machine." if new else "It is recorded already; nothing to do.")
