"""A prepared request for another air-gapped wallet to sign, and its answer as one of our own signatures (EIP-4527).

The other wallet shows and judges the request by itself. What comes back is believed as little as a Ledger's answer: it must
answer a request of this document, and recover to the step's signer over the digest that is computed here.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from airlock_online.delivery.deliveries import delivery_of, read_struct, require_sendable
from airlock_shared.checks.intent import definitions
from airlock_shared.cli.kept_signatures import KeptCopy
from airlock_shared.documents.deployment import Deployment, Domain
from airlock_shared.documents.requests import (
    Answer,
    Header,
    Request,
    SignaturesHeader,
    read_signature,
    write_signatures,
)
from airlock_shared.documents.transcript import GENESIS
from airlock_shared.errors import AirlockError, Refusal, UsageError
from airlock_shared.ethereum.eip712 import StructValues
from airlock_shared.ethereum.signatures import checksum_address, parse_address, signing_hash, unsigned_bytes
from airlock_shared.ethereum.struct_types import DOMAIN_DEFINITION, DOMAIN_TYPE, Member, types_of
from airlock_shared.host.files import make_folder, read_input, write_new
from airlock_shared.ur.eth import DataType, Keypath, Signature, SignRequest
from airlock_shared.venue.structs import AUTHORIZATION, Intent
from airlock_shared.wire.strict_json import parse_json

# ---- eip712 json ----------------------------------------------------------------------------------------------------
# An intent as the JSON that other wallets sign: ``EIP712Domain`` listed, every value in the one spelling all of them
# read. Integers are decimal texts, because readers in JavaScript lose digits above 2**53; the chain id is a number, as
# wallets expect it. Source: EIP-712, the parameters of ``eth_signTypedData``.


def typed_json(intent: Intent, domain: Domain, message: StructValues) -> bytes:
    """Return the typed-data document of a canonical message under a pinned domain, in UTF-8 without blanks."""
    document = {
        "types": {DOMAIN_TYPE: DOMAIN_DEFINITION, **types_of(intent.encode_type)},
        "primaryType": intent.name,
        "domain": {
            "name": domain.name,
            "version": domain.version,
            "chainId": domain.chain_id,
            "verifyingContract": checksum_address(domain.contract),
        },
        "message": _plain(intent.name, message, definitions(intent).structs),
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def _plain(kind: str, value: Any, structs: Mapping[str, tuple[Member, ...]]) -> Any:
    if kind in structs:
        return {member.name: _plain(member.type, value[member.name], structs) for member in structs[kind]}
    if type(value) is bytes:
        return checksum_address(value) if kind == "address" else "0x" + value.hex()
    return str(value) if type(value) is int else value


# ---- requests -------------------------------------------------------------------------------------------------------


_ORIGIN = "Airlock"
WALLET = "another wallet"
"""What a signatures document says of the app. There is no offline half's transcript: its head is all zeros."""


class Signable(NamedTuple):
    """What the other wallet is given: the bytes, of which kind, and the 32-byte digest that it has to sign."""

    data: bytes
    data_type: DataType
    digest: bytes

    @property
    def request_id(self) -> uuid.UUID:
        """The id that the answer must bear: the digest's first 16 bytes, so that every step has its own."""
        return uuid.UUID(bytes=self.digest[:16])


def signable_of(request: Request, deployment: Deployment) -> Signable:
    """Return what is to be signed for a request, under the pinned domain or chain.

    Raises ``Refusal``: ``TYPES-KNOWN``, and of the families ``MSG`` and ``TX``.
    """
    payload, filled = request.payload, request.transaction
    if request.action == AUTHORIZATION:
        do = "sign this document with a Ledger, on the air-gapped machine"
        raise Refusal("AUTH-FORM", "an authorization is no request of EIP-4527", got=request.step, do=do)
    if filled is not None:
        require_sendable(payload, filled, deployment)
        return Signable(unsigned_bytes(payload, filled), DataType.TYPED_TRANSACTION, signing_hash(payload, filled))
    intent, message, domain, digest = read_struct(payload, deployment)
    if payload["digest"].lower() != "0x" + digest.hex():
        raise Refusal(
            "DIGEST-MATCH",
            "the payload's digest is not that of its message under the pinned domain",
            got=payload["digest"],
            expected="0x" + digest.hex(),
        )
    return Signable(typed_json(intent, domain, message), DataType.TYPED_DATA, digest)


def sign_request(request: Request, deployment: Deployment, master_fingerprint: int | None) -> SignRequest:
    """Return a step as the other wallet takes it; wallets with several seeds want their ``master_fingerprint`` in it."""
    signable = signable_of(request, deployment)
    return SignRequest(
        signable.data,
        signable.data_type,
        Keypath.of(request.path, master_fingerprint),
        deployment.chain_id,
        signable.request_id,
        parse_address(request.signer),
        _ORIGIN,
    )


def take_answer(answer: Signature, header: Header, requests: Iterable[Request], deployment: Deployment) -> Answer:
    """Return the other wallet's answer as the signature of its step.

    Raises ``Refusal``: ``SIG-REQUESTS`` when no step of the document has its id, ``SIG-SIGNER`` for another key,
    ``SIG-LOW-S`` and the like, and as ``delivery_of``.
    """
    waiting = {
        signable.request_id: (request, signable)
        for request, signable in [(request, signable_of(request, deployment)) for request in requests]
    }
    if answer.request_id not in waiting:
        raise Refusal(
            "SIG-REQUESTS",
            "the signature is for no step of these requests",
            got=answer.request_id or "no id",
            expected=" or ".join(map(str, waiting))[:400],
            do="give the requests document whose step was shown to the other wallet",
        )
    request, signable = waiting[answer.request_id]
    v = answer.signature[64]
    signed = Answer(
        step=request.step,
        result="signed",
        digest="0x" + signable.digest.hex(),
        signature="0x" + (answer.signature[:64] + bytes([v + 27 if v in (0, 1) else v])).hex(),
        signer=request.signer,
        shown=f"by {WALLET}",
        app=WALLET,
    )
    delivery_of(request, signed, header, deployment, to_send=False)
    return signed


def request_to_answer(requests: list[Request], answered: Mapping[str, Answer], step: str | None) -> Request:
    """Return the request of a step, or the first that has no answer yet. Raises ``UsageError``."""
    if step is None:
        waiting = [request for request in requests if request.step not in answered]
        if not waiting:
            raise UsageError("every step has its answer", do="name a step with --step to show it again")
        return waiting[0]
    found = [request for request in requests if request.step == step]
    if not found:
        names = ", ".join(request.step for request in requests)
        raise UsageError(f"the requests have no step {step!r}", do=f"name one of: {names}")
    return found[0]


def signatures_document(
    header: Header, requests: list[Request], answered: Mapping[str, Answer], fingerprint: str, now_ms: int
) -> bytes:
    """Return the signatures document of requests that are all answered."""
    written = SignaturesHeader(header.ceremony, fingerprint, header.rehearsal, GENESIS, now_ms)
    return write_signatures(written, [answered[request.step] for request in requests])


# ---- answers --------------------------------------------------------------------------------------------------------
# What other wallets answered to the steps of a requests document, kept until `forget` removes them.
# One file a step in a folder named by the requests' fingerprint. They hold signatures that are not submitted: mode
# 0600.


class WalletAnswers:
    """The answers to one requests document, in the online machine's folder ``home``."""

    def __init__(self, home: Path, requests_fingerprint: str) -> None:
        self._folder = home / "wallet-answers" / requests_fingerprint

    def keep(self, answer: Answer) -> bool:
        """Keep a step's answer; return False when the step had one before, which stays."""
        path = self._path(answer.step)
        make_folder(self._folder)
        if path.exists():
            return False
        write_new(path, json.dumps(answer.as_json()).encode())
        return True

    def of(self, requests: Iterable[Request]) -> dict[str, Answer]:
        """Return the answers that there are, by step. Raises ``DocumentError`` when a file is damaged."""
        return {
            request.step: read_signature(parse_json(read_input(path)), "answer kept")
            for request in requests
            if (path := self._path(request.step)).exists()
        }

    def _path(self, step: str) -> Path:
        return self._folder / f"{step}.json"


def wallet_answers(home: Path) -> Iterator[KeptCopy]:
    """Yield every answer that is kept, and the digest that it is over."""
    for path in sorted(home.glob("wallet-answers/*/*.json*")):
        digests = None
        with suppress(AirlockError):
            digests = {read_signature(parse_json(read_input(path)), "answer kept").digest}
        yield KeptCopy(path, digests)
