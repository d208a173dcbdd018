"""``submit``: delivering once, and following what becomes of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click

from airlock_online.cli.delivery_context import Desk, open_desk
from airlock_online.clock import now_ms
from airlock_online.delivery import submit as delivery_submit
from airlock_online.delivery.deliveries import RELAY, delivery_of, match
from airlock_online.delivery.parallel import Job, run_together
from airlock_online.delivery.routes.context import Delivery
from airlock_online.state import State
from airlock_shared.cli.console import INPUT, finish, json_option, say, worst
from airlock_shared.cli.document_lines import fingerprint_lines
from airlock_shared.cli.progress import working
from airlock_shared.cli.qr.file_or_light import incoming
from airlock_shared.cli.qr.options import qr_option, restart_option
from airlock_shared.documents.deployment import Deployment
from airlock_shared.documents.requests import Header, Request, parse_requests
from airlock_shared.documents.signatures import FORMAT, Signed, parse_signatures
from airlock_shared.errors import DocumentError, ExitCode, UsageError
from airlock_shared.host.files import read_input
from airlock_shared.text.safe import safe

MAX_EIP7702_BYTES = 1 << 20

patience = click.option("--patience", type=click.IntRange(0, 86_400), default=120, show_default=True,
                         help="For how many seconds to poll before giving up for now.")  # fmt: skip
requests_option = click.option(
    "--requests", "requests_file", type=INPUT, help="The requests answered, if not prepared on this machine."
)


class Signatures(NamedTuple):
    """A signatures document with the requests that it answers."""

    header: Header
    pairs: list[tuple[Request, Signed]]
    deployment: Deployment
    requests: str
    signatures: str
    offline_head: str


def read_signatures(state: State, data: bytes, requests_file: Path | None) -> Signatures:
    """Read and match a signatures document. Raises ``DocumentError``, ``Refusal`` or ``UsageError``."""
    answer, signed, signatures_fingerprint = parse_signatures(data)
    if requests_file is not None:
        answered = read_input(requests_file)
        header, items, fingerprint = parse_requests(answered)
        state.keep_requests(fingerprint, answered)
    else:
        header, items, fingerprint = state.require_requests(answer.requests)
    deployment = state.require_deployment(header.deployment_name)
    if deployment.fingerprint != header.deployment:
        raise UsageError("the deployment changed since these requests were prepared", do="prepare and sign again")
    pairs = match(answer, signed, header, items, fingerprint)
    return Signatures(header, pairs, deployment, fingerprint, signatures_fingerprint, answer.transcript_head)


def not_signed(request: Request, signed: Signed) -> ExitCode:
    """Say why a step has no signature, and return the exit code that this has."""
    why = safe(signed.why, limit=200)
    say(f"step {request.step} ({safe(request.action)}): not signed, {signed.result} ({why}); nothing to submit")
    say("  do:       if it is still wanted, sign it again on the offline machine, into another file")
    return ExitCode.REFUSED if signed.result == "refused" else ExitCode.DECLINED


@click.command("submit")
@click.argument("source", type=click.Path(path_type=Path))
@requests_option
@qr_option
@restart_option
@click.option("--eip7702", "eip7702", multiple=True, metavar="STEP=FILE",
              help="The pre-signed EIP-7702 transaction of a market order, sent along as it is.")  # fmt: skip
@click.option("--by-rpc", is_flag=True, help="Send transactions by your own node ([rpc] url, AIRLOCK_RPC).")
@patience
@json_option
@click.pass_obj
def submit(
    state: State,
    source: Path,
    requests_file: Path | None,
    qr: bool,
    restart: bool,
    eip7702: tuple[str, ...],
    by_rpc: bool,
    patience: int,
    as_json: bool,
) -> None:
    r"""Deliver the signatures in SOURCE, each once, and follow what becomes of them.

    The journal has each before a byte is sent. What was submitted before is not sent again but followed; when the
    outcome cannot be known yet, the exit code is 9 and `airlock-online follow` goes on. Each is sent when the one before
    it is answered; all are followed at once. With --qr, SOURCE is a camera or pictures of the other machine's screen.

    \b
    Example:
      airlock-online submit signatures.json
    """
    data = incoming(state.home, source, FORMAT, "submit", qr=qr, restart=restart)
    whole = read_signatures(state, data, requests_file)
    for line in fingerprint_lines("signatures", whole.signatures):
        say(line)
    facts = {"ceremony": whole.header.ceremony, "requests": whole.requests, "signatures": whole.signatures}
    state.transcript.record("submit-begun", {**facts, "offline_transcript_head": whole.offline_head}, now_ms())
    extra = _read_eip7702(eip7702, {request.step for request, _ in whole.pairs})
    with open_desk(state, float(patience), as_json=as_json) as desk:
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
        codes += run_together(jobs, in_turn=True)
    finish(worst(codes))


def _job(delivery: Delivery, request: Request, desk: Desk) -> Job[ExitCode]:
    def job(answered: Callable[[], None]) -> ExitCode:
        say(f"step {request.step} ({safe(request.action)}), to the {safe(delivery.route)}")
        with ExitStack() as until_answered:
            until_answered.enter_context(working(f"    {request.step}: waiting for the answer to what was sent"))

            def told() -> None:
                until_answered.close()
                answered()

            world = desk.world(request.step, delivery.digest, told)
            return desk.run(request.step, delivery.digest, partial(delivery_submit.submit, delivery, world))

    return job


def _by_rpc(delivery: Delivery, deployment: Deployment, desk: Desk) -> Delivery:
    """Return the delivery on its way to the operator's node. Raises ``UsageError`` without one, or on another chain."""
    from airlock_online.preparing.gas_and_fees import require_chain

    if desk.node is None:
        raise UsageError("no node is configured", do="give one as [rpc] url in config.toml or in AIRLOCK_RPC")
    require_chain(desk.node, deployment)
    return delivery._replace(route="rpc", base_url=desk.node.name)


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
        if not texts[step]:
            raise DocumentError("DOC-JSON", f"{name} is empty", do="give the JSON object in a file")
    return texts
