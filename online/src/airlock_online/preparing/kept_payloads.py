"""What the builder has answered for a plan's steps, kept until the requests are written: the rest is asked for alone.

One file a step, in a folder for each plan and deployment. A file names both, the step, how its payload was asked for and
when, and is sealed with its own fingerprint. It is believed in no more than the builder: the checks read it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from airlock_online.home import OnlineHome
from airlock_online.preparing.prepare import BuildRequest
from airlock_shared.documents.requests import Request
from airlock_shared.errors import DocumentError, UsageError
from airlock_shared.ethereum.signatures import signing_hash
from airlock_shared.host.files import locked, make_folder, open_lock, read_input, write_new
from airlock_shared.plan.model import EITHER, Step
from airlock_shared.text.safe import safe
from airlock_shared.venue.calls import payload_hash
from airlock_shared.venue.structs import AUTHORIZATION, Intent, leaf
from airlock_shared.wire.strict_json import JsonObject, fingerprint, parse_json, to_json

_FORMAT = "airlock/kept-payload@1"


class KeptPayload(NamedTuple):
    """A builder's answer for a step: how it was asked for, the payload as it came, and when (unix ms)."""

    asked: BuildRequest
    payload: JsonObject
    built_ms: int


class KeptPayloads:
    """The kept payloads of one plan under one deployment, both named by fingerprint (64 hex digits)."""

    def __init__(self, home: Path, plan: str, deployment: str) -> None:
        self._names = {"format": _FORMAT, "plan": plan, "deployment": deployment}
        self._folder = home / "prepared" / f"{plan[:32]}-{deployment[:32]}"

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other terminals off this plan meanwhile. Raises ``UsageError`` when one is at it."""
        make_folder(self._folder.parent)
        file = self._folder.with_suffix(".lock")

        def busy(_descriptor: int) -> None:
            raise UsageError("another terminal is preparing this plan", do="wait until it has ended")

        with locked(open_lock(file), file, busy):
            yield

    @contextmanager
    def joined(self, *steps: str) -> Iterator[None]:
        """Keep nothing for steps that make no document together: they would make none the next time either.

        Raises ``DocumentError``.
        """
        try:
            yield
        except DocumentError as error:
            self.forget(*steps)
            error.do = "run it again; if it stays so, ask the builder's operator, or use plans of fewer steps"
            raise

    def find(self, step: str) -> KeptPayload | None:
        """Return what is kept for a step, or None. Raises ``DocumentError`` for a file that is not as it was written."""
        path = self._path(step)
        if not path.exists():
            return None
        entry = parse_json(read_input(path))
        sealed = type(entry) is dict and entry.pop("seal", None) == fingerprint(entry)
        if not sealed or not {**self._names, "step": step}.items() <= entry.items():
            raise DocumentError("DOC-FIELD", f"{path.name} is not as it was written")
        return KeptPayload(
            BuildRequest(entry["path"], entry["fields"], entry["method"]), entry["payload"], entry["built_ms"]
        )

    def keep(self, step: str, kept: KeptPayload) -> None:
        """Keep a step's payload on the disk, in place of an older one. Raises ``UsageError`` when it cannot be written."""
        asked = kept.asked
        entry = {
            **self._names, "step": step, "method": asked.method, "path": asked.path, "fields": dict(asked.fields),
            "payload": kept.payload, "built_ms": kept.built_ms,
        }  # fmt: skip
        self.forget(step)
        make_folder(self._folder)
        write_new(self._path(step), to_json({**entry, "seal": fingerprint(entry)}))

    def forget(self, *steps: str) -> None:
        """Keep nothing for steps: the requests hold them now, or they are asked for again."""
        for step in steps:
            self._path(step).unlink(missing_ok=True)
        with suppress(OSError):  # other steps' payloads, or no folder
            self._folder.rmdir()

    def _path(self, step: str) -> Path:
        return self._folder / f"{step}.json"


# ---- replaced -------------------------------------------------------------------------------------------------------
# The earlier request whose signature a step replaces, from what this machine prepared, to be shown beside the new
# one.


_Structs = Mapping[str, Intent]


def replaced_lines(home: OnlineHome, step: Step, new: Request, structs: _Structs) -> Iterator[str]:
    """Yield the old beside the new, and what may execute; nothing for a step that replaces nothing."""
    if not step.replaced_digest:
        return
    earlier = (
        (f"step {request.step} of ceremony {header.ceremony}", nonce)
        for header, requests in home.kept_requests()
        for request in requests
        for digest, nonce in [_signed(request, structs)]
        if digest == step.replaced_digest
    )
    digest, nonce = _signed(new, structs)
    old, its_nonce = next(earlier, ("not among the requests that were prepared on this machine", ""))
    yield "REPLACES an earlier signature"
    yield f"  old {step.replaced_digest}"
    yield f"      {old}{its_nonce}"
    yield f"  new {digest}"
    yield f"      step {new.step}{nonce}"
    yield (
        EITHER
        if its_nonce in ("", nonce)
        else "Their nonces differ: the air-gapped machine refuses it (NONCE-REPLACES)."
    )


def _signed(request: Request, structs: _Structs) -> tuple[str, str]:
    """Return what is signed of a request that the checks accepted, 0x and 64 hex digits, and its nonce in words."""
    payload = request.payload
    if request.transaction is not None:
        return "0x" + signing_hash(payload, request.transaction).hex(), f", account nonce {request.transaction.nonce}"
    if request.action == AUTHORIZATION:
        return "0x" + payload_hash(payload).hex(), f", account nonce {payload['nonce']}"
    try:
        nonce = leaf(payload["message"], structs[payload["primaryType"]].nonce)
        told = f", nonce {safe(str(nonce), limit=80)}"
    except (KeyError, TypeError):  # an earlier request, of a struct that this venue does not sign, or otherwise, now
        told = ""
    return str(payload["digest"]).lower(), told
