"""What a hot wallet asked, remembered by the requests document that was made of it, and the answer that it waits for.

The wallet takes an answer by the id of its request, which no document of ours holds.
"""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any, NamedTuple

from airlock_shared.documents.signatures import SignaturesHeader, Signed
from airlock_shared.errors import Refusal, UsageError
from airlock_shared.ethereum.recovery import recover
from airlock_shared.host.files import make_folder, read_input, write_new
from airlock_shared.ur.eth import DataType, Signature
from airlock_shared.wire.codec import parse_json
from airlock_shared.wire.members import HEX_32, read_matching, read_members

ORIGIN = "Airlock"
_MEMBERS = {"step": str, "digest": str, "signer": str, "data_type": int, "request_id": str}


class Asked(NamedTuple):
    """A wallet's request: the step made of it, its digest and signer (hex), its kind, its id (empty: it gave none)."""

    step: str
    digest: str
    signer: str
    data_type: int
    request_id: str


class WalletRequests:
    """The requests of hot wallets, in the signing machine's folder ``home``."""

    def __init__(self, home: Path) -> None:
        self._folder = home / "wallet-requests"

    def keep(self, requests_fingerprint: str, asked: Asked) -> None:
        """Remember what the wallet asked before its requests document is written."""
        path = self._path(requests_fingerprint)
        make_folder(self._folder)
        if not path.exists():
            write_new(path, json.dumps(asked._asdict()).encode())

    def holds(self, requests_fingerprint: str) -> bool:
        """Tell whether a requests document was made here, from what a wallet asked: it is on no other screen."""
        return self._path(requests_fingerprint).exists()

    def require(self, requests_fingerprint: str) -> Asked:
        """Return what was asked. Raises ``UsageError`` when no wallet asked it here, ``DocumentError`` if damaged."""
        path = self._path(requests_fingerprint)
        if not path.exists():
            raise UsageError(
                "these signatures answer no request that a wallet showed to this machine",
                do="give the signatures of a request that was scanned here with: airlock-offline scan --plan",
            )
        value: Any = parse_json(read_input(path))
        return Asked(**read_members(value, "wallet request kept", _MEMBERS))

    def _path(self, requests_fingerprint: str) -> Path:
        return self._folder / f"{read_matching(requests_fingerprint, 'requests', HEX_32, 'a fingerprint')}.json"


def answer_of(asked: Asked, header: SignaturesHeader, signed: list[Signed]) -> Signature:
    """Return the signature as the wallet takes it: v is the parity for a transaction, 27 or 28 for typed data.

    Raises ``Refusal``: ``PLAN-STEPS``, ``SIG-DIGEST``, ``SIG-SIGNER`` when the document does not answer what was asked;
    ``UsageError`` when the step was not signed.
    """
    if [item.step for item in signed] != [asked.step]:
        got = ", ".join(item.step for item in signed)
        raise Refusal("PLAN-STEPS", "the signatures' steps are not the wallet's", got=got[:200], expected=asked.step)
    item = signed[0]
    if item.result != "signed":
        what = f"step {item.step} of {header.ceremony} was not signed: {item.result}"
        raise UsageError(what, do="decline the request in the wallet; there is nothing to show")
    if item.digest != asked.digest:
        raise Refusal("SIG-DIGEST", "signed over another digest than asked", got=item.digest, expected=asked.digest)
    rsv = bytes.fromhex(item.signature[2:])
    signer = "0x" + recover(bytes.fromhex(asked.digest[2:]), rsv).hex()
    if signer != asked.signer.lower():
        raise Refusal("SIG-SIGNER", "signed by another key than asked", got=signer, expected=asked.signer)
    by_parity = asked.data_type == DataType.TYPED_TRANSACTION
    v = rsv[64] - 27 if by_parity else rsv[64]
    request_id = uuid.UUID(asked.request_id) if asked.request_id else None
    return Signature(rsv[:64] + bytes([v]), request_id, ORIGIN)
