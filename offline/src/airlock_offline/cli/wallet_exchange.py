"""What ``scan --plan`` and ``show --for wallet`` do: a hot wallet's request in, the signature that it waits for out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from airlock_offline.home import OfflineHome, now_ms, uptime
from airlock_offline.wallets.hot_wallet import (
    WalletRequest,
    answer_of,
    keep_request,
    only_step,
    require_request,
    wallet_request,
)
from airlock_shared.checks.judge import Known, judge_item, require_none
from airlock_shared.checks.model import Situation
from airlock_shared.checks.times import clock_of
from airlock_shared.cli.qr.file_or_qr import require_output
from airlock_shared.cli.qr.scanning import forgotten_when_wrong, kept_frames, scan_message
from airlock_shared.cli.terminal import say, say_all, show_json
from airlock_shared.documents.requests import Header, Request, parse_requests, parse_signatures, write_requests
from airlock_shared.documents.transcript import GENESIS
from airlock_shared.host.files import read_input, write_new
from airlock_shared.plan.toml_positions import parse_written_plan
from airlock_shared.qr.documents import Transfer
from airlock_shared.text.safe import fingerprint_lines, safe, spoken
from airlock_shared.ur.eth import SIGN_REQUEST_TYPE, SIGNATURE_TYPE, SignRequest


def scan_request(
    state: OfflineHome,
    sources: Sequence[str],
    plan_file: Path,
    step: str | None,
    output: Path,
    *,
    restart: bool,
    as_json: bool,
) -> None:
    """Scan what a wallet asks to have signed, examine it as the plan's step, and write it as a requests document.

    Raises ``DocumentError``, ``Refusal`` (the first check that refuses it) or ``UsageError``; then nothing is written.
    """
    require_output(output)
    plan = parse_written_plan(read_input(plan_file))
    planned = only_step(plan, step)
    entries = state.transcript.entries()
    deployment = state.require_pinned(plan.deployment)
    clock = clock_of(entries, now_ms(), uptime())
    situation = Situation(plan, deployment, clock.now_ms, clock.uncertainty_ms or 0)
    kept = kept_frames(state.home, "wallet-request", restart=restart)
    message = scan_message(sources, kept=kept)
    with forgotten_when_wrong(kept):
        asked = SignRequest.from_cbor(message.expect(SIGN_REQUEST_TYPE))
    kept.forget()  # whole: what is refused below would be refused again
    say(f"asked by {safe(asked.origin or 'a wallet that does not say its name', limit=80)}, for {asked.path}")
    request = wallet_request(asked, planned, situation)
    digest = _require_passed(request, situation)
    header = Header(  # of a document that no online half made: its transcript head is all zeros
        ceremony=plan.id,
        plan=plan.fingerprint,
        deployment=deployment.fingerprint,
        deployment_name=deployment.name,
        rehearsal=deployment.rehearsal,
        transcript_head=GENESIS,
        created_ms=situation.now_ms,
    )
    data = write_requests(header, [request])
    fingerprint = parse_requests(data)[2]
    request_id = str(asked.request_id or "")
    remembered = WalletRequest(planned.id, "0x" + digest.hex(), request.signer, int(asked.data_type), request_id)
    keep_request(state, fingerprint, remembered)
    write_new(output, data)
    facts = {"requests": fingerprint, "plan": plan.fingerprint, "step": planned.id, "request_id": request_id}
    state.transcript.record("wallet-asked", facts, now_ms())
    say_all(fingerprint_lines("requests", fingerprint))
    say(f"Wrote {safe(str(output))}, made on this machine: no other screen shows its fingerprint.")
    say(f"Sign it with: airlock-offline sign {safe(str(output))} --plan {safe(str(plan_file))} -o signatures.json")
    if as_json:
        words = spoken(fingerprint)
        show_json({"ok": True, "step": planned.id, "file": str(output), "fingerprint": fingerprint, "words": words})


def _require_passed(request: Request, situation: Situation) -> bytes:
    """Return the digest of a request that no check refuses. Raises the first ``Refusal``; too late is exit code 7.

    Nonces and proofs are judged where it is signed: what was only asked for spends nothing.
    """
    examined = judge_item(request, situation, Known())
    require_none(examined.verdicts.refused())
    for verdict in examined.verdicts.not_judged():
        say(f"  not judged yet: {verdict.check}: {verdict.what}")
    return examined.digest


def answer_transfer(state: OfflineHome, file: Path) -> Transfer:
    """Return the signature in a signatures document as ``ur:eth-signature``, for the wallet that asked.

    Raises ``DocumentError``, ``Refusal`` or ``UsageError``.
    """
    header, signed, _ = parse_signatures(read_input(file))
    asked = require_request(state, header.requests)
    answer = answer_of(asked, header, signed)
    say(f"step {asked.step}, the answer to the wallet's request {asked.request_id or 'without an id'}")
    return Transfer(SIGNATURE_TYPE, answer.to_cbor(), SIGNATURE_TYPE, header.ceremony, "")
