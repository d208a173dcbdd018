"""The EIP-7702 transaction that goes with a market order: read, completed with what was signed here, shown, and asked about.

The specification names its members and does not say what ``to``, ``data`` and ``gas`` have to be: they are the venue's, in a
file. Its ``authorizationList`` is in that file too, or it is made of the authorizations that a Ledger has signed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from airlock_online.cli.delivery_context import MatchedSignatures
from airlock_online.delivery.deliveries import signed_authorization
from airlock_online.delivery.routes.context import Delivery
from airlock_online.wallets.authorizations import presigned_lines, read_presigned, require_of_order
from airlock_shared.catalogue.services import AUTHORIZATION
from airlock_shared.cli.console import ask_yes, say
from airlock_shared.documents.deployment import Deployment
from airlock_shared.documents.requests import Request
from airlock_shared.errors import DocumentError, UsageError
from airlock_shared.ethereum.addresses import parse_address
from airlock_shared.host.files import read_input
from airlock_shared.text.safe import WIDTH, safe, wrapped
from airlock_shared.text.secrets import keep_secret
from airlock_shared.wire.codec import parse_json

MAX_BYTES = 1 << 20
_LIST = "authorizationList"
_OF_THE_VENUE = ("chainId", "to", "data", "gas")
_SIGNATURE = re.compile(r'"[rs]"\s*:\s*"([^"]*)')


def presigned_texts(given: Sequence[str], whole: MatchedSignatures) -> dict[str, str]:
    """Return the JSON text of each order's EIP-7702 transaction, by the order's step.

    What ``STEP=FILE`` names is sent as it is, unless it has no ``authorizationList``: that is then what was signed for this
    order. Raises ``UsageError`` that says exactly what is missing, ``DocumentError`` or ``Refusal``.
    """
    signed = _signed_here(whole)
    texts = _files(given, {request.step for request, _ in whole.pairs})
    ready = {request.step for request, answer in whole.pairs if answer.result == "signed"}
    for order in signed.keys() & ready - texts.keys():
        raise _missing(order, [*_OF_THE_VENUE])
    for order, text in texts.items():
        value = parse_json(text.encode())
        if type(value) is dict and _LIST in value and order in signed:
            what = f"step {order}: its file has an {_LIST}, and an authorization was signed here for it"
            raise UsageError(what, do=f"leave the {_LIST} out of the file; or agree on a plan without that step")
        if type(value) is not dict or _LIST in value:
            continue
        lacking = [name for name in _OF_THE_VENUE if name not in value]
        if order not in signed:
            lacking.append(_LIST)
        if lacking:
            raise _missing(order, lacking)
        texts[order] = json.dumps(value | {_LIST: signed[order]}, separators=(",", ":"))
    return texts


def _missing(order: str, lacking: Sequence[str]) -> UsageError:
    does = []
    if set(lacking) - {_LIST}:
        does.append("no document says what the venue wants there: ask the venue")
    if _LIST in lacking:
        does.append(f"the {_LIST} is what steps of the action {AUTHORIZATION} sign for it, or it comes with the file")
    return UsageError(
        f"step {order}: of its EIP-7702 transaction is missing: {', '.join(lacking)}",
        do=f"{'; '.join(does)}. Then: submit --eip7702 {order}=FILE, a JSON object with {', '.join(_OF_THE_VENUE)}",
    )


def _signed_here(whole: MatchedSignatures) -> dict[str, list[dict[str, Any]]]:
    """Return the authorizations that were signed for each order, each recovered again. Raises ``Refusal``."""
    found: dict[str, list[dict[str, Any]]] = {}
    for request, signed in whole.pairs:
        if request.action == AUTHORIZATION and signed.result == "signed":
            element = signed_authorization(request, signed, whole.deployment)
            for name in ("r", "s"):
                keep_secret(element[name])
            found.setdefault(request.fields.get("order", ""), []).append(element)
    return found


def authorization_line(request: Request, sent: Collection[str]) -> str:
    """Return what becomes of a signed authorization: it goes with its order, or nowhere."""
    order = safe(request.fields.get("order", ""), limit=80)
    if request.fields.get("order") in sent:
        return f"step {request.step} ({AUTHORIZATION}) goes with step {order}"
    return (
        f"step {request.step} ({AUTHORIZATION}) is not sent: its order {order} is not. Whoever has the signature can use it "
        f"until the account has sent a transaction with nonce {request.payload['nonce']}."
    )


def _files(given: Sequence[str], steps: set[str]) -> dict[str, str]:
    """Return the text of each file, blanks around it left out. Raises ``UsageError`` or ``DocumentError``."""
    texts: dict[str, str] = {}
    for argument in given:
        step, equals, name = argument.partition("=")
        if not equals or step not in steps or step in texts:
            raise UsageError(f"{argument!r} is not STEP=FILE, once for a step of these signatures", do="correct it")
        data = read_input(Path(name), max_bytes=MAX_BYTES)
        try:
            texts[step] = data.decode().strip(" \t\r\n")
        except UnicodeDecodeError as error:
            raise DocumentError("DOC-JSON", f"{name} is not UTF-8", do="give the JSON object in a file") from error
        for found in _SIGNATURE.finditer(texts[step]):
            keep_secret(found[1])
        if not texts[step]:
            raise DocumentError("DOC-JSON", f"{name} is empty", do="give the JSON object in a file")
    return texts


def agree_to_presigned(delivery: Delivery, text: str, deployment: Deployment) -> None:
    """Show what is relayed with an order, and ask for a Yes: it gives the account to a contract.

    Raises as ``read_presigned``, ``require_of_order`` and ``ask_yes``.
    """
    presigned = read_presigned(text)
    require_of_order(presigned, map(parse_address, (delivery.trader, delivery.signer)), deployment)
    say(f"step {delivery.step}: an EIP-7702 transaction goes with it")
    for line in presigned_lines(presigned, deployment):
        for part in wrapped(line, WIDTH - 2):
            say(f"  {part}")
    ask_yes("Do you want all of this?", piped=deployment.rehearsal)
