"""``delegate challenge``, ``prove`` and ``check``: somebody holds the delegate key, shown before it is registered."""

from __future__ import annotations

from pathlib import Path

import click

from airlock_offline.cli.device_waits import ToldTransport
from airlock_offline.clock import now_ms
from airlock_offline.device_connection import opened, require_ledger, signing_device_options
from airlock_offline.home import OfflineHome
from airlock_offline.ledger.commands.message_screens import MESSAGE, message_fields
from airlock_offline.ledger.readiness import Need, require_ready
from airlock_offline.ledger.typed_data_screens import review_pages
from airlock_offline.preflight.isolation import Isolation
from airlock_offline.signing.quarantine import QUARANTINED, recovered_by
from airlock_offline.signing.review import screen_lines
from airlock_shared.ceremony.proofs import (
    MAX_BYTES,
    Proof,
    check_claim,
    choose_step,
    parse_proof,
    read_signature,
    write_proof,
)
from airlock_shared.cli.console import (
    INPUT,
    ask_yes,
    json_option,
    output_option,
    plan_option,
    rows,
    say,
    say_all,
    show,
    show_all,
    show_json,
)
from airlock_shared.cli.possession import challenge_command, step_option
from airlock_shared.documents.transcript import PROVED, proved
from airlock_shared.errors import Refusal, UsageError
from airlock_shared.ethereum.addresses import parse_address
from airlock_shared.host.files import read_input, require_new, write_new
from airlock_shared.plan.delegate_proofs import Challenge, challenge_of, check_possession, registrations
from airlock_shared.plan.model import Plan
from airlock_shared.plan.reader import parse_plan
from airlock_shared.text.safe import safe, safe_again
from airlock_shared.wire.members import DERIVATION_PATH

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


def _challenge(state: OfflineHome, plan: Plan, step_id: str | None) -> Challenge:
    return challenge_of(plan, state.require_pinned(plan.deployment), choose_step(plan, step_id))


delegate.add_command(challenge_command(OfflineHome.require_pinned, _HOW))


@delegate.command("prove")
@plan_option
@step_option
@click.option("--path", required=True, help="Where the Ledger has the delegate key, such as m/44'/60'/1'/0/0.")
@output_option("The proof to write.")
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
        -o proof.json
    """
    if not DERIVATION_PATH.fullmatch(path):
        raise UsageError("not a derivation path", do="give one such as m/44'/60'/1'/0/0")
    require_new(output)
    plan = parse_plan(read_input(plan_file))
    challenge = _challenge(state, plan, step_id)
    require_ledger(emulator_port, state.require_pinned(plan.deployment))
    isolation = Isolation(state.home, emulator_port, state.confinement)
    isolation.begin()
    need = Need(path, parse_address(challenge.delegate))
    with opened(emulator_port, ledger_path, ToldTransport, told_for=model or "") as device:
        app = isolation.guarded(device.app)
        device.look(app, need)
        say("The delegate key signs this text:")
        say_all(f"  {safe_again(line)}" for line in challenge.text().decode().splitlines())
        pages = review_pages(MESSAGE, message_fields(challenge.text(), device.listed), device.listed)
        say_all(("", *screen_lines(pages, device.listed, device.version)))
        ask_yes(f"Sign this text with the delegate key {challenge.delegate}?", piped=isolation.is_rehearsal())
        state.record_unenforced(now_ms())
        require_ready(app(), need)
        signature = app().sign_personal_message(path, challenge.text()).rsv
    _require_possession(state, challenge, signature)
    write_new(output, write_proof(challenge, signature))
    if as_json:
        show_json({"ok": True, "step": challenge.step, "delegate": challenge.delegate, "file": str(output)})
    else:
        show_all(rows("Wrote ", safe(str(output))))
        show("Now check it where the registration is signed: airlock-offline delegate check")


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
@click.argument("proof_file", metavar="[PROOF]", type=INPUT, required=False)
@plan_option
@step_option
@click.option("--signature", metavar="0x…", help="The bare signature, instead of the document PROOF.")
@json_option
@click.pass_obj
def check_command(
    state: OfflineHome,
    proof_file: Path | None,
    plan_file: Path,
    step_id: str | None,
    signature: str | None,
    as_json: bool,
) -> None:
    r"""Check a proof, and record that the key proved itself.

    Only then does `sign` register the key. The proof is worth nothing for another ceremony, plan, step or account.

    \b
    Examples:
      airlock-offline delegate check proof.json --plan plan.toml
      airlock-offline delegate check --signature 0x… --plan plan.toml
    """
    if (proof_file is None) == (signature is None):
        raise UsageError(
            "give either the document or --signature, not both", do="see: airlock-offline delegate check -h"
        )
    plan = parse_plan(read_input(plan_file))
    if proof_file is not None:
        proof = parse_proof(read_input(proof_file, max_bytes=MAX_BYTES))
        step_id = step_id or _step_of(proof, plan)
        challenge = _challenge(state, plan, step_id)
        check_claim(proof.claimed, challenge)
        signed = proof.signature
    else:
        challenge, signed = _challenge(state, plan, step_id), read_signature(signature or "")
    check_possession(challenge, signed)
    before = challenge.sha256() in proved(state.transcript.entries())
    if not before:
        state.transcript.record(PROVED, challenge.as_data(), now_ms())
    if as_json:
        show_json({"ok": True, **challenge.as_data(), "recorded_before": before})
        return
    show(f"recovered  {challenge.delegate}\n           the plan's delegate, step {challenge.step}")
    show("It is recorded already; nothing to do." if before else "Recorded: the step may be signed on this machine.")


def _step_of(proof: Proof, plan: Plan) -> str | None:
    """Return the step that a proof names when the plan registers a delegate in it, else None: the only one is meant."""
    known = [step.id for step in registrations(plan)]
    return proof.claimed.step if proof.claimed.step in known or len(known) != 1 else None
