"""``submit``: delivering once, and following what becomes of it."""

from __future__ import annotations

import re
from contextlib import ExitStack
from pathlib import Path

import click

from airlock_online.cli.comparing import prove_compared
from airlock_online.cli.delivery_context import Desk, not_signed, open_desk, patience, read_signatures, requests_option
from airlock_online.clock import now_ms
from airlock_online.delivery.deliveries import delivery_of
from airlock_online.delivery.parallel import Job, JobPlace, run_parallel
from airlock_online.delivery.routes.context import Delivery
from airlock_online.delivery.routes.polling import Steps
from airlock_online.delivery.submit import submitting
from airlock_online.home import OnlineHome
from airlock_online.wallets.authorizations import presigned_lines, read_presigned, require_of_order
from airlock_shared.ceremony.sections import PlanMark
from airlock_shared.cli.console import ask_yes, finish, json_option, led, say, worst
from airlock_shared.cli.document_lines import fingerprint_lines
from airlock_shared.cli.progress import working
from airlock_shared.cli.qr.file_or_light import incoming
from airlock_shared.cli.qr.options import qr_option, restart_option
from airlock_shared.documents.deployment import Deployment
from airlock_shared.documents.requests import Request
from airlock_shared.documents.services import RELAY, RPC
from airlock_shared.documents.signatures import FORMAT
from airlock_shared.errors import DocumentError, ExitCode, UsageError
from airlock_shared.ethereum.addresses import parse_address
from airlock_shared.host.files import read_input
from airlock_shared.text.safe import WIDTH, safe, wrapped
from airlock_shared.text.secrets import keep_secret

MAX_EIP7702_BYTES = 1 << 20
_AUTHORIZATION = re.compile(r'"[rs]"\s*:\s*"([^"]*)')


@click.command("submit")
@click.argument("source", type=click.Path(path_type=Path))
@requests_option
@qr_option
@restart_option
@click.option("--eip7702", "eip7702", multiple=True, metavar="STEP=FILE",
              help="A market order's pre-signed EIP-7702 transaction: shown, then sent unchanged after a Yes.")  # fmt: skip
@click.option("--by-rpc", is_flag=True, help="Send transactions by your own node ([rpc] url, AIRLOCK_RPC).")
@patience
@json_option
@click.pass_obj
def submit(
    home: OnlineHome,
    source: Path,
    requests_file: Path | None,
    qr: bool,
    restart: bool,
    eip7702: tuple[str, ...],
    by_rpc: bool,
    patience: int,
    as_json: bool,
) -> None:
    r"""Deliver the signatures in SOURCE, each once, and follow them to their outcome.

    Before anything is sent, it asks for two words of the signatures, which the machine that signed shows. In an open
    ceremony each role types two, else whoever submits. It asks once for a document.

    Each signature is in the journal before a byte is sent. What was submitted before is followed, and not sent again.
    Signatures are sent one after the other, and followed all at once. Exit code 9: the outcome is not known yet;
    `airlock-online follow` continues. With --qr, SOURCE is a camera or pictures of the other machine's screen.

    \b
    Example:
      airlock-online submit signatures.json
    """
    data = incoming(home.folder, source, FORMAT, "submit", known=None, qr=qr, restart=restart)
    whole = read_signatures(home, data, requests_file)
    extra = _read_eip7702(eip7702, {request.step for request, _ in whole.pairs})
    if any(signed.result == "signed" for _, signed in whole.pairs):
        prove_compared(home, PlanMark(whole.header.ceremony, whole.header.plan), whole.signatures)
    for request, signed in whole.pairs:
        if request.step in extra and signed.result == "signed":
            order = delivery_of(request, signed, whole.header, whole.deployment, whole.requests)
            _agree_to_presigned(order, extra[request.step], whole.deployment)
    for line in () if led() else fingerprint_lines("signatures", whole.signatures):
        say(line)
    facts = {"ceremony": whole.header.ceremony, "requests": whole.requests, "signatures": whole.signatures}
    home.transcript.record("submit-begun", {**facts, "offline_transcript_head": whole.offline_head}, now_ms())
    with open_desk(home, float(patience), as_json=as_json) as desk:
        jobs, codes = [], []
        for request, signed in whole.pairs:
            if signed.result != "signed":
                codes.append(not_signed(request, signed))
                continue
            delivery = delivery_of(request, signed, whole.header, whole.deployment, whole.requests)
            delivery = delivery._replace(eip7702=extra.get(request.step, ""))
            if by_rpc and delivery.route == RELAY:
                delivery = _by_rpc(delivery, whole.deployment, desk)
            jobs.append(_job(delivery, request, desk))
        with working(f"Waiting for {len(jobs)} outcome{'s' if len(jobs) > 1 else ''}"):  # one word for all of them
            codes += run_parallel(jobs, in_turn=True)
        desk.tally()
        if led() and not as_json:
            desk.show_last()
    finish(worst(codes))


def _job(delivery: Delivery, request: Request, desk: Desk) -> Job[ExitCode]:
    def job(place: JobPlace) -> Steps[ExitCode]:
        say(f"step {request.step} ({safe(request.action)}), to the {safe(delivery.route)}")
        with ExitStack() as until_answered:
            until_answered.enter_context(working(f"    {request.step}: waiting for the answer to what was sent"))

            def told() -> None:
                until_answered.close()
                place.answered()

            context = desk.context(request.step, delivery.digest, told)._replace(stay=place.stay)
            return (yield from desk.run(request.step, delivery.digest, submitting(delivery, context)))

    return job


def _by_rpc(delivery: Delivery, deployment: Deployment, desk: Desk) -> Delivery:
    """Return the delivery on its way to the operator's node. Raises ``UsageError`` without one, or on another chain."""
    from airlock_online.preparing.gas_and_fees import require_chain

    if desk.node is None:
        raise UsageError("no node is configured", do="give one as [rpc] url in config.toml or in AIRLOCK_RPC")
    require_chain(desk.node, deployment)
    return delivery._replace(route=RPC, base_url=desk.node.name)


def _agree_to_presigned(delivery: Delivery, text: str, deployment: Deployment) -> None:
    """Show what is relayed with an order, and ask for a Yes: it gives the account to a contract.

    Raises as ``read_presigned``, ``require_of_order`` and ``ask_yes``.
    """
    presigned = read_presigned(text)
    require_of_order(presigned, map(parse_address, (delivery.trader, delivery.signer)), deployment)
    say(f"step {delivery.step}: an EIP-7702 transaction goes with it, which another wallet signed")
    for line in presigned_lines(presigned, deployment):
        for part in wrapped(line, WIDTH - 2):
            say(f"  {part}")
    ask_yes("Do you want all of this?", piped=deployment.rehearsal)


def _read_eip7702(given: tuple[str, ...], steps: set[str]) -> dict[str, str]:
    """Return the text of each step's EIP-7702 transaction, blanks around it left out. Raises ``UsageError``."""
    texts: dict[str, str] = {}
    for argument in given:
        step, equals, name = argument.partition("=")
        if not equals or step not in steps or step in texts:
            raise UsageError(f"{argument!r} is not STEP=FILE, once for a step of these signatures", do="correct it")
        data = read_input(Path(name), max_bytes=MAX_EIP7702_BYTES)
        try:
            texts[step] = data.decode().strip(" \t\r\n")
        except UnicodeDecodeError as error:
            raise DocumentError("DOC-JSON", f"{name} is not UTF-8", do="give the JSON object in a file") from error
        for found in _AUTHORIZATION.finditer(texts[step]):
            keep_secret(found[1])
        if not texts[step]:
            raise DocumentError("DOC-JSON", f"{name} is empty", do="give the JSON object in a file")
    return texts
