"""The EIP-7702 transaction that goes with a market order: read, completed with what was signed here, shown, and asked about.

The specification names its members and does not say what ``to``, ``data`` and ``gas`` have to be: they are the venue's, in a
file. Its ``authorizationList`` is in that file too, or it is made of the authorizations that a Ledger has signed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from airlock_online.cli.signed_documents import MatchedSignatures, keep_signatures_secret
from airlock_online.delivery.admission import wrong_eip7702
from airlock_online.delivery.deliveries import signed_authorization
from airlock_online.delivery.routes.context import Delivery
from airlock_online.secrets import keep_secret
from airlock_shared.cli.terminal import ask_yes, say
from airlock_shared.documents.deployment import Deployment
from airlock_shared.documents.requests import Request
from airlock_shared.errors import DocumentError, Refusal, UsageError, quoted
from airlock_shared.ethereum.signatures import authorization_hash, checksum_address, parse_address, recover
from airlock_shared.host.files import read_input
from airlock_shared.text.safe import WIDTH, safe, wrapped
from airlock_shared.venue.structs import AUTHORIZATION
from airlock_shared.wire.strict_json import JsonObject, parse_json

# ---- authorizations -------------------------------------------------------------------------------------------------
# The EIP-7702 transaction that goes with a market order, whoever signed it: read strictly, and told to people.
# An authorization gives the account to a contract until another one takes it away, so that none is sent unread.
# Sources: the builder's specification, "Batched market"; EIP-7702, "Set EOA account code".


MAX_AUTHORIZATIONS = 8
_BYTES = re.compile(r"0x(?:[0-9a-fA-F]{2})*", re.ASCII)
_NUMBER = re.compile(r"0|[1-9][0-9]{0,77}|0x(?:0|[1-9a-fA-F][0-9a-fA-F]{0,63})", re.ASCII)
_WORD = re.compile(r"0x[0-9a-fA-F]{1,64}", re.ASCII)
_NEEDED = {"chainId", "address", "nonce", "r", "s"}
_PARITIES = {"yParity": {0: 0, 1: 1}, "v": {0: 0, 1: 1, 27: 0, 28: 1}}
"""How the parity of the point is written, and what each number says."""


class SignedAuthorization(NamedTuple):
    """Who gives the account to which contract: chain and nonce as signed, both addresses as 20 bytes."""

    chain_id: int
    contract: bytes
    nonce: int
    authority: bytes


class PresignedTransaction(NamedTuple):
    """What is relayed with an order: where it goes (20 bytes), its calldata, its gas, and its authorizations."""

    chain_id: int
    to: bytes
    data: bytes
    gas: int
    authorizations: tuple[SignedAuthorization, ...]


def read_presigned(text: str) -> PresignedTransaction:
    """Return the transaction of a JSON text. Raises ``Refusal("ORDER-EIP7702")``, or what a strict JSON reader raises."""
    value = parse_json(text.encode())
    if wrong := wrong_eip7702(value):
        expected = "chainId, to, data and gas, each a text in quotes, and the list authorizationList"
        raise _wrong_members("an EIP-7702 transaction", wrong, expected)
    listed = value["authorizationList"]
    if not 0 < len(listed) <= MAX_AUTHORIZATIONS:
        raise _wrong("no authorization, or too many", str(len(listed)), f"1 to {MAX_AUTHORIZATIONS}")
    if not _BYTES.fullmatch(value["data"]):
        raise _wrong("data is not hex", value["data"][:80], "0x and bytes in hex")
    return PresignedTransaction(
        _number(value, "chainId"),
        _address(value, "to"),
        bytes.fromhex(value["data"][2:]),
        _number(value, "gas"),
        tuple(_authorization(each) for each in listed),
    )


def require_of_order(presigned: PresignedTransaction, accounts: Iterable[bytes], deployment: Deployment) -> None:
    """Refuse what is for another chain, or for every chain, or gives away another account than those of the order."""
    chain, allowed = deployment.chain_id, set(accounts)
    chains = [("an authorization", each.chain_id) for each in presigned.authorizations]
    for name, got in [("chainId", presigned.chain_id), *chains]:
        if got != chain:
            what = "good on every chain" if got == 0 else "for another chain"
            raise _wrong(f"{name} is {what}", str(got), str(chain))
    for authorization in presigned.authorizations:
        if authorization.authority not in allowed:
            expected = " or ".join(sorted(checksum_address(account) for account in allowed))
            raise _wrong("an authorization of another account", checksum_address(authorization.authority), expected)


def presigned_lines(presigned: PresignedTransaction, deployment: Deployment) -> Iterator[str]:
    """Yield what a person has to know before it is relayed; there is nothing else in it."""
    for each in presigned.authorizations:
        account = checksum_address(each.authority)
        if each.contract == bytes(20):
            yield f"{account} takes its code back: it is an ordinary account again (account nonce {each.nonce})."
            continue
        yield f"{account} is given to the contract {checksum_address(each.contract)} (account nonce {each.nonce})."
        yield "The contract can do all that the account can, until another authorization takes that back."
    names = {address: name for name, address in deployment.contracts.items()}
    to = names.get(presigned.to, "no pinned contract")
    size = f"{len(presigned.data)} bytes, which Airlock does not read" if presigned.data else "no calldata"
    yield f"Then {checksum_address(presigned.to)} is called ({to}), gas {presigned.gas}, with {size}."


def _authorization(value: Any) -> SignedAuthorization:
    names = set(value) if type(value) is dict else set()
    parities = names & _PARITIES.keys()
    if wrong := sorted(names - parities ^ _NEEDED) or ["yParity"] * (not parities):
        raise _wrong_members("an authorization", wrong, "chainId, address, nonce, r, s, and yParity or v")
    chain_id, nonce, contract = _number(value, "chainId"), _number(value, "nonce"), _address(value, "address")
    told = {name: _number(value, name) for name in parities}
    parity, *others = {_PARITIES[name].get(number) for name, number in told.items()}
    if parity is None or others:
        raise _wrong("yParity and v are not one parity", str(told)[:80], "yParity 0 or 1, v 27 or 28")
    signature = _word(value, "r") + _word(value, "s") + bytes([27 + parity])
    digest = authorization_hash(chain_id, contract, nonce)
    try:
        return SignedAuthorization(chain_id, contract, nonce, recover(digest, signature))
    except Refusal as refusal:
        raise _wrong(f"an authorization's signature: {refusal.what}", refusal.got, refusal.expected) from refusal


def _number(members: JsonObject, name: str) -> int:
    value = members[name]
    text = str(value) if type(value) is int and value >= 0 else value
    if type(text) is not str or not _NUMBER.fullmatch(text):
        raise _wrong(f"{name} is not a number", quoted(value), "a whole number, decimal or 0x-hex")
    return int(text, 0)


def _word(members: JsonObject, name: str) -> bytes:
    value = members[name]
    if type(value) is not str or not _WORD.fullmatch(value):
        raise _wrong(f"{name} is not a number of the signature", "not shown", "0x-hex, at most 32 bytes")
    return int(value, 16).to_bytes(32, "big")


def _address(members: JsonObject, name: str) -> bytes:
    value = members[name]
    try:
        return parse_address(value if type(value) is str else "")
    except Refusal as refusal:
        raise _wrong(f"{name} is not an address", quoted(value), refusal.expected) from refusal


def _wrong_members(of: str, names: list[str], expected: str) -> Refusal:
    return _wrong(
        f"{of} has members that are missing, unknown or of another type: {', '.join(names)[:200]}", "", expected
    )


def _wrong(what: str, got: object, expected: object) -> Refusal:
    do = "correct the file, or make it again in the wallet that signed it, for this order; nothing was sent"
    return Refusal("ORDER-EIP7702", what, got=got, expected=expected, do=do)


# ---- presigned ------------------------------------------------------------------------------------------------------


_MAX_BYTES = 1 << 20
_LIST = "authorizationList"
_OF_THE_VENUE = ("chainId", "to", "data", "gas")


def presigned_texts(given: Sequence[str], whole: MatchedSignatures, sent: Collection[str] = ()) -> dict[str, str]:
    """Return the JSON text of each order's EIP-7702 transaction, by the order's step.

    What ``STEP=FILE`` names is sent as it is, unless it has no ``authorizationList``: that is then what was signed for this
    order. Of a step that was ``sent`` nothing is sent again. Raises ``UsageError`` that says exactly what is missing,
    ``DocumentError`` or ``Refusal``.
    """
    signed: dict[str, list[JsonObject]] = {}
    for request, here in whole.pairs:
        if request.action == AUTHORIZATION and here.result == "signed":
            element = signed_authorization(request, here, whole.deployment)
            for name in ("r", "s"):
                keep_secret(element[name])
            signed.setdefault(request.fields.get("order", ""), []).append(element)
    files = _files(given, {request.step for request, _ in whole.pairs})
    texts = {order: text for order, text in files.items() if order not in sent}
    ready = {request.step for request, answer in whole.pairs if answer.result == "signed"}.difference(sent)
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
        data = read_input(Path(name), max_bytes=_MAX_BYTES)
        keep_signatures_secret(data)
        try:
            texts[step] = data.decode().strip(" \t\r\n")
        except UnicodeDecodeError as error:
            raise DocumentError("DOC-JSON", f"{name} is not UTF-8", do="give the JSON object in a file") from error
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
