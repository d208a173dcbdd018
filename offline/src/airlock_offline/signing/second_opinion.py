"""A second opinion on digest and encoding, by other people's code, before a signature is asked of the device.

What is asked is written here as a document, and the answer is compared. Who gives it is ``ethereum.library_opinion``, in
another process. It never replaces our own hashing, since common libraries also take what must be refused: it is compared,
and a disagreement is a refusal, not a choice.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from collections.abc import Callable
from hashlib import sha256
from typing import Protocol

from airlock_offline.confinement.command import end_child, start_child
from airlock_shared.checks.model import Case, IntentCase
from airlock_shared.errors import Refusal
from airlock_shared.ethereum.signatures import named_fields
from airlock_shared.ethereum.struct_types import types_of
from airlock_shared.wire.strict_json import JsonObject

OPINION_BYTES = 64


def opinion_question(case: Case) -> JsonObject:
    """Return what the second opinion is asked of an examined item, as JSON has it: types and values, not our hashes."""
    payload = case.request.payload
    if not isinstance(case, IntentCase):
        if case.request.transaction is None:
            return {"authorization": payload}
        return {"transaction": named_fields(payload, case.request.transaction)}
    return {
        "types": types_of(case.intent.encode_type),
        "primaryType": payload["primaryType"],
        "domain": payload["domain"],
        "message": payload["message"],
        "order": [member.name for member in case.intent.abi_structs[case.intent.name]],
    }


def compare_opinion(case: Case, opinion: bytes) -> None:
    """Compare an opinion of 64 bytes with an examined item.

    Its first 32 bytes are the digest, the others for an intent the SHA-256 of its ABI encoding, for a transaction the hash
    of its serialisation by another library. Raises ``Refusal`` with ``DIGEST-OPINION`` for another length, with
    ``DIGEST-DISAGREE`` or ``ENC-DISAGREE`` for an intent, ``TX-DISAGREE`` for a transaction.
    """
    if len(opinion) != OPINION_BYTES:
        raise no_opinion(f"{len(opinion)} bytes")
    digest, other = opinion[:32], opinion[32:]
    if isinstance(case, IntentCase):
        encoded = sha256(bytes.fromhex(case.request.payload["encodedIntent"][2:])).digest()
        compared = (
            ("DIGEST-DISAGREE", "eth-account computes another digest", digest, case.hashes.digest),
            ("ENC-DISAGREE", "eth-abi computes another encoding, as its SHA-256 shows", other, encoded),
        )
    else:
        compared = (
            ("TX-DISAGREE", "eth-account computes another hash", digest, case.digest),
            ("TX-DISAGREE", "rlp computes another hash", other, case.digest),
        )
    for check, what, found, expected in compared:
        if found != expected:
            raise Refusal(check, what, got=found.hex(), expected=expected.hex())


def no_opinion(got: str) -> Refusal:
    """Return the refusal ``DIGEST-OPINION``: nobody else has said what the digest is."""
    return Refusal(
        "DIGEST-OPINION",
        "the second opinion on the digest is missing or malformed",
        got=got,
        expected=f"{OPINION_BYTES} bytes",
        do="sign again; if it happens again, find out why before you sign on this machine",
    )


# ---- process --------------------------------------------------------------------------------------------------------
# The second opinion from another process: started while the person reads, asked before the device is, and then ended.
#
# The libraries that give it, and what they bring along, are never loaded where the Ledger is talked to. It is believed in
# nothing but agreement: no answer in time, another length, an end in failure is the refusal ``DIGEST-OPINION``.


CHILD = "airlock_offline.signing.opinion_child"
TIMEOUT_S = 20  # after the person's Yes; it began to compute when the item was shown, and needs about one


class Opinion(Protocol):
    """Another program's view of what is to be signed."""

    def result(self) -> bytes:
        """Return its answer. Raises ``Refusal("DIGEST-OPINION")``."""

    def end(self) -> None:
        """Let go of it, answered or not."""


class OpinionProcess:
    """A process that was given a document, and what it answers."""

    def __init__(
        self,
        document: JsonObject,
        start: Callable[[], subprocess.Popen[bytes]] = lambda: start_child(CHILD),
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """Start it, and give it what fits into the pipe at once."""
        data = json.dumps(document).encode()
        self._unsent = len(data).to_bytes(4, "big") + data
        self._timeout_s = timeout_s
        self._process = start()
        assert self._process.stdin is not None  # noqa: S101 (both are pipes)
        assert self._process.stdout is not None  # noqa: S101
        self._to, self._from = self._process.stdin, self._process.stdout
        os.set_blocking(self._to.fileno(), False)
        self._send()

    def result(self) -> bytes:
        """Return its answer, as long as it should be. Raises ``Refusal("DIGEST-OPINION")``."""
        deadline_s = time.monotonic() + self._timeout_s
        received = b""
        while piece := self._read(deadline_s):
            received += piece
            if len(received) > OPINION_BYTES:
                raise no_opinion(f"more than {OPINION_BYTES} bytes")
        try:
            code = self._process.wait(max(0.0, deadline_s - time.monotonic()))
        except subprocess.TimeoutExpired as error:
            raise self._late() from error
        if code:
            raise no_opinion(f"it ended with {code}")
        if len(received) != OPINION_BYTES:
            raise no_opinion(f"{len(received)} bytes")
        return received

    def end(self) -> None:
        """End the process."""
        end_child(self._process)

    def _read(self, deadline_s: float) -> bytes:
        """Return what comes next, nothing at its end; meanwhile send the rest of the document."""
        while (left_s := deadline_s - time.monotonic()) > 0:
            readable, writable, _ = select.select([self._from], [self._to] if self._unsent else [], [], left_s)
            if writable:
                self._send()
            if readable:
                return os.read(self._from.fileno(), OPINION_BYTES + 1)
        raise self._late()

    def _send(self) -> None:
        try:
            self._unsent = self._unsent[os.write(self._to.fileno(), self._unsent) :]
        except BlockingIOError:
            return
        except BrokenPipeError:  # it has ended; its output and its exit code say how
            self._unsent = b""
        if not self._unsent:
            self._to.close()

    def _late(self) -> Exception:
        return no_opinion(f"nothing within {self._timeout_s:g} s")
