"""``submit``: delivering once, and following what becomes of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import click

from airlock_online.cli.comparing import prove_compared
from airlock_online.cli.delivery_context import Desk, open_desk, patience, requests_option
from airlock_online.cli.presigned import agree_to_presigned, authorization_line, presigned_texts
from airlock_online.cli.signed_documents import not_signed, read_signatures
from airlock_online.clock import now_ms
from airlock_online.delivery.deliveries import delivery_of
from airlock_online.delivery.routes.context import Delivery
from airlock_online.delivery.routes.rpc import require_node
from airlock_online.delivery.submit import run_parallel, submit_delivery
from airlock_online.home import OnlineHome
from airlock_online.journal.order_states import OrderState
from airlock_online.journal.schema import before
from airlock_online.preparing.gas_and_fees import require_pinned_chain
from airlock_shared.cli.progress import working
from airlock_shared.cli.qr.file_or_qr import incoming, qr_option, restart_option
from airlock_shared.cli.terminal import PATH_TYPE, finish, json_option, led, say, say_all, worst
from airlock_shared.documents.deployment import Deployment
from airlock_shared.documents.requests import SIGNATURES_FORMAT
from airlock_shared.errors import ExitCode
from airlock_shared.report.facts import outcomes_recorded
from airlock_shared.text.safe import fingerprint_lines, safe
from airlock_shared.venue.structs import AUTHORIZATION, RELAY, RPC


@click.command("submit")
@click.argument("source", type=PATH_TYPE)
@requests_option
@qr_option
@restart_option
@click.option(
    "--eip7702",
    multiple=True,
    metavar="STEP=FILE",
    help="A market order's pre-signed EIP-7702 transaction: shown, then sent unchanged after a Yes.",
)
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
    data = incoming(home.folder, source, SIGNATURES_FORMAT, "submit", known=None, qr=qr, restart=restart)
    whole = read_signatures(home, data, requests_file)
    told = outcomes_recorded(home.transcript.entries())
    unsent = {None, OrderState.EXPORTED, *before(OrderState.SENDING)}
    sent = {request.step for request, signed in whole.pairs if told.get(signed.digest) not in unsent}
    extra = presigned_texts(eip7702, whole, sent)
    if any(signed.result == "signed" for _, signed in whole.pairs):
        prove_compared(home, whole)
    for request, signed in whole.pairs:
        if request.step in extra and signed.result == "signed":
            order = delivery_of(request, signed, whole.header, whole.deployment, whole.requests)
            agree_to_presigned(order, extra[request.step], whole.deployment)
    if not led():
        say_all(fingerprint_lines("signatures", whole.signatures))
    facts = {"ceremony": whole.header.ceremony, "requests": whole.requests, "signatures": whole.signatures}
    home.transcript.record("submit-begun", {**facts, "offline_transcript_head": whole.offline_head}, now_ms())
    with open_desk(home, float(patience), as_json=as_json, make=True) as desk:
        jobs, codes = [], []
        for request, signed in whole.pairs:
            if signed.result != "signed":
                codes.append(not_signed(request, signed))
                continue
            if request.action == AUTHORIZATION:
                say(authorization_line(request, sent | extra.keys()))
                continue
            delivery = delivery_of(request, signed, whole.header, whole.deployment, whole.requests)
            delivery = delivery._replace(eip7702=extra.get(request.step, ""))
            if by_rpc and delivery.route == RELAY:
                delivery = _by_rpc(delivery, whole.deployment, desk)
            jobs.append(partial(_deliver, desk, delivery, request.action))
        with working(f"Waiting for {len(jobs)} outcome{'s' if len(jobs) > 1 else ''}"):  # one word for all of them
            codes += run_parallel(jobs, in_turn=True)
        desk.tally()
        if led() and not as_json:
            desk.show_last()
    finish(worst(codes))


def _deliver(desk: Desk, delivery: Delivery, action: str, answered: Callable[[], None]) -> ExitCode:
    """Submit a delivery and follow it, as one of several that go in turn; call ``answered`` when the next may begin."""
    desk.announce(f"step {delivery.step} ({safe(action)}), to the {safe(delivery.route)}")
    with ExitStack() as until_answered:
        until_answered.enter_context(working(f"    {delivery.step}: waiting for the answer to what was sent"))

        def show_answered() -> None:
            until_answered.close()
            answered()

        context = desk.context(delivery, show_answered)
        return desk.run(delivery, lambda: submit_delivery(delivery, context))


def _by_rpc(delivery: Delivery, deployment: Deployment, desk: Desk) -> Delivery:
    """Return the delivery on its way to the operator's node. Raises ``UsageError`` without one, or on another chain."""
    node = require_node(desk.node)
    require_pinned_chain(node, deployment)
    return delivery._replace(route=RPC, base_url=node.name)
