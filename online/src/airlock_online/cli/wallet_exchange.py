"""What ``show --for keystone`` and ``scan --requests`` do: a step out to another air-gapped wallet, its answer back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from airlock_online.cli.signed_documents import deployment_of
from airlock_online.clock import now_ms
from airlock_online.home import COLLECTED, OnlineHome
from airlock_online.wallets import erc7730
from airlock_online.wallets.other_wallets import (
    WalletAnswers,
    request_to_answer,
    sign_request,
    signatures_document,
    take_answer,
)
from airlock_shared.cli.qr.file_or_qr import require_output
from airlock_shared.cli.qr.scanning import forgotten_when_wrong, kept_frames, scan_message
from airlock_shared.cli.terminal import FOLDER_TYPE, json_option, rows, say, say_all, show_all, show_json
from airlock_shared.documents.requests import parse_requests
from airlock_shared.host.files import make_folder, read_input, require_new, write_new
from airlock_shared.qr.documents import Transfer
from airlock_shared.text.safe import fingerprint_lines, safe
from airlock_shared.ur.eth import SIGN_REQUEST_TYPE, SIGNATURE_TYPE, Signature
from airlock_shared.wire.strict_json import fingerprint as fingerprint_of
from airlock_shared.wire.strict_json import parse_json


def step_transfer(home: OnlineHome, file: Path, step: str | None, fingerprint: int | None) -> Transfer:
    """Return a step of a requests document as ``ur:eth-sign-request``; without ``step``, the first not yet answered.

    Raises ``DocumentError``, ``Refusal`` or ``UsageError``.
    """
    data = read_input(file)
    header, items, requests = parse_requests(data)
    deployment = deployment_of(home, header, "show them")
    request = request_to_answer(items, WalletAnswers(home.folder, requests).of(items), step)
    asked = sign_request(request, deployment, fingerprint)
    say(f"step {request.step}, for {request.signer} at {request.path}; its answer has the id {asked.request_id}")
    say(
        "Compare the other wallet's screen with the plan. Airlock does not control that screen; it judges only the "
        "answer."
    )
    return Transfer(SIGN_REQUEST_TYPE, asked.to_cbor(), SIGN_REQUEST_TYPE, header.ceremony, "")


def scan_answer(
    home: OnlineHome, sources: Sequence[str], file: Path, output: Path, *, restart: bool, as_json: bool
) -> None:
    """Scan another wallet's answer to a step of the requests in ``file``; write the signatures once all are answered.

    Raises ``DocumentError``, ``Refusal`` or ``UsageError``.
    """
    require_output(output)
    data = read_input(file)
    header, items, requests = parse_requests(data)
    deployment = deployment_of(home, header, "show them")
    kept = kept_frames(home.folder, "wallet-answer", restart=restart)
    message = scan_message(sources, kept=kept)
    with forgotten_when_wrong(kept):
        answer = Signature.from_cbor(message.expect(SIGNATURE_TYPE))
    kept.forget()  # whole: a refused answer is not asked for again, and a good one is kept by its step
    signed = take_answer(answer, header, items, deployment)
    answers = WalletAnswers(home.folder, requests)
    if answers.keep(signed):
        facts = {"requests": requests, "step": signed.step, "digest": signed.digest, "signer": signed.signer}
        home.transcript.record("wallet-answered", facts, now_ms())
        say(f"step {signed.step}: signed by {signed.signer}, over the digest computed here")
    else:
        say(f"step {signed.step}: it was answered before; the first answer is kept")
    answered = answers.of(items)
    missing = [request.step for request in items if request.step not in answered]
    signatures = ""
    if missing:
        say(
            f"{len(answered)} of {len(items)} steps are answered; nothing is written until the rest is: "
            f"{', '.join(missing)}"
        )
    else:
        document = signatures_document(header, items, answered, requests, now_ms())
        home.keep_requests(requests, data)
        signatures = fingerprint_of(parse_json(document))
        home.transcript.record(COLLECTED, {"requests": requests, "signatures": signatures}, now_ms())
        write_new(output, document)
        say_all(fingerprint_lines("signatures", signatures))
        name = safe(str(output))
        say(f"Wrote {name}. Submit it with: airlock-online submit {name}")
    if as_json:
        written = "" if missing else str(output)
        show_json({"ok": True, "missing": missing, "file": written, "fingerprint": signatures})


# ---- descriptors ----------------------------------------------------------------------------------------------------
# ``descriptors``.


@click.command("descriptors")
@click.option("--deployment", "name", help="The fetched deployment (default: the only one).")
@click.option("--owner", help="The owner's name in wallets (default: the trading domain's name).")
@click.option("--url", help="The owner's web site, https://...")
@click.option("-o", "--output", type=FOLDER_TYPE, required=True, help="The folder.")
@json_option
@click.pass_obj
def descriptors(
    home: OnlineHome, name: str | None, owner: str | None, url: str | None, output: Path, as_json: bool
) -> None:
    r"""Write clear-signing descriptors (ERC-7730) of a deployment.

    They are for the venue to submit to the registry, so that wallets show the names and units of signed values. No
    check of Airlock depends on them.

    \b
    Example:
      airlock-online descriptors --deployment mainnet --owner Venue -o erc7730
    """
    deployment = home.choose_deployment(name)
    files = erc7730.make_descriptors(deployment, owner, url)
    make_folder(output)
    for file in files:
        require_new(output / file)
    for file, document in files.items():
        write_new(output / file, f"{json.dumps(document, indent=2)}\n".encode())
    formats = {file: len(document["display"]["formats"]) for file, document in files.items()}
    if as_json:
        show_json({"ok": True, "deployment": deployment.fingerprint, "folder": str(output), "formats": formats})
        return
    for file, number in formats.items():
        show_all(rows(f"{number:>3} formats  ", safe(str(output / file))))
    if deployment.rehearsal:
        say("REHEARSAL: these contracts are worth nothing; there is no registry for them.")
