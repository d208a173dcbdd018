"""The online machine's own folder: fetched deployments, prepared requests, journal, transcript, configuration."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from airlock_online.clients.api_key import ApiKey, read_api_key
from airlock_online.clock import now_ms
from airlock_online.config import OnlineConfig, read_config
from airlock_online.secrets import redact_document
from airlock_online.speech.forms import read_services
from airlock_online.speech.sections import SHIPPED, Speech
from airlock_shared.documents.deployment import Deployment, all_worth_nothing, parse_deployment
from airlock_shared.documents.requests import MACHINES_AT_MOST, Header, Request, SignaturesHeader, parse_requests
from airlock_shared.documents.transcript import SENDING, TOO_LATE, Entry
from airlock_shared.errors import UsageError
from airlock_shared.host.files import (
    DAMAGED_DO,
    TranscriptFile,
    current,
    home_of,
    keep_current,
    make_folder,
    read_document,
    read_input,
    write_new,
)
from airlock_shared.report.evidence.timeline import begun_recorded
from airlock_shared.wire.strict_json import JsonObject

if TYPE_CHECKING:
    from airlock_online.journal.schema import Record

_kept_deployment = partial(read_document, parse=parse_deployment, do=DAMAGED_DO)
HOME_VARIABLE = "AIRLOCK_ONLINE_HOME"
JOURNAL_VARIABLE = "AIRLOCK_JOURNAL"
RPC_VARIABLE = "AIRLOCK_RPC"
API_KEY_VARIABLE = "AIRLOCK_API_KEY"

HEAD_SEEN = "signing-head-seen"
"""The transcript's event: ``machine``, ``head`` and ``signatures_ms``, from the header of signatures that came."""
COLLECTED = "signatures-collected"
"""The transcript's event: ``requests`` and ``signatures``, put together on this machine from other wallets' answers."""


def default_home() -> Path:
    """Return the folder that is used when none is given."""
    return home_of(HOME_VARIABLE, ".airlock-online")


def last_outcomes(entries: Iterable[Entry]) -> dict[str, JsonObject]:
    """Return by digest what was told last of each submission: its ``outcome``, an error only where nothing else was told."""
    last: dict[str, JsonObject] = {}
    for entry in entries:
        digest = str(entry.data.get("digest"))
        if entry.event == "outcome" and (entry.data.keys() & {"state", TOO_LATE} or digest not in last):
            last[digest] = entry.data
    return last


class TranscriptMarks:
    """The marks of sendings in a transcript: ``sending`` before each, ``exported`` for another sender, and ``outcome``."""

    def __init__(self, transcript: TranscriptFile, journal_id: str, services: str) -> None:
        self._transcript = transcript
        self._journal_id = journal_id
        self._services = {"services": services} if services else {}

    def begun(self) -> dict[str, int]:
        """Return the number of the last sending of each digest, as ``begun_recorded`` has it."""
        found = begun_recorded(self._transcript.entries())
        return {digest: begun.number for digest, begun in found.items()}

    def begin(self, record: Record, claims: int) -> None:
        """Write down, durably, that the sending with this number begins. Raises ``UsageError``, ``DocumentError``."""
        facts = {"ceremony": record.ceremony, "step": record.step, "digest": record.digest, "route": record.route}
        self._transcript.record(
            SENDING, {**facts, **self._services, "claim": claims, "journal": self._journal_id}, now_ms()
        )


class OnlineHome:
    """The folder and what is in it. Nothing is made before something is written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.transcript = TranscriptFile(folder / "transcript.jsonl", redact_document)

    def transcript_marks(self, journal_id: str, speech: Speech = SHIPPED) -> TranscriptMarks:
        """Return the marks of sendings in the transcript; new ones name the journal, and how the services were read.

        That is the fingerprint of how they speak, where it is not what ships.
        """
        return TranscriptMarks(self.transcript, journal_id, speech.fingerprint if speech.differences else "")

    def config(self, rpc: str | None = None) -> OnlineConfig:
        """Return the configuration, with the services file that it names.

        ``rpc``, or else ``AIRLOCK_RPC``, stands in for its node.

        Raises ``UsageError`` for a wrong one, with every mistake in a services file.
        """
        config = read_config(self.folder / "config.toml")
        ca_file, key_file, services = (
            str(self.folder.absolute() / Path(name).expanduser()) if name else ""
            for name in (config.http.ca_file, config.api_key.file, config.venue.services)
        )
        config = config._replace(
            http=config.http._replace(ca_file=ca_file),
            api_key=config.api_key._replace(file=key_file),
            speech=read_services(Path(services)) if services else config.speech,
        )
        node = rpc or os.environ.get(RPC_VARIABLE)
        return config._replace(rpc=config.rpc._replace(url=node)) if node else config

    def api_key(self) -> ApiKey | None:
        """Return the venue's API key; ``AIRLOCK_API_KEY`` stands in for its file. Raises ``UsageError`` for a wrong one."""
        return read_api_key(self.config().api_key, os.environ.get(API_KEY_VARIABLE, ""))

    def journal_url(self) -> str:
        """Return the journal's place: ``AIRLOCK_JOURNAL``, or a SQLite file in the folder."""
        return os.environ.get(JOURNAL_VARIABLE) or str(self.folder.absolute() / "journal.sqlite3")

    def journal_is_own(self) -> bool:
        """Tell whether the journal is at its own place: nothing was submitted yet where none is there."""
        return not os.environ.get(JOURNAL_VARIABLE)

    def keep_deployment(self, deployment: Deployment, data: bytes) -> None:
        """Keep a fetched deployment under its name; the one it replaces is kept under its fingerprint."""
        path = self.deployment_path(deployment.name)
        replaced = _kept_deployment(path).fingerprint if path.exists() else ""
        if replaced != deployment.fingerprint:
            keep_current(path, data, replaced)

    def require_deployment(self, name: str) -> Deployment:
        """Return the fetched deployment of this name. Raises ``UsageError`` when there is none."""
        path = self.deployment_path(name)
        if not path.exists():
            raise UsageError(
                f"no deployment named {name!r} was fetched on this machine",
                do=f"run: airlock-online deployment fetch --name {name} --builder URL -o deployment.json",
            )
        return _kept_deployment(path)

    def choose_deployment(self, name: str | None) -> Deployment:
        """Return the fetched deployment of this name, or the only one there is. Raises ``UsageError``."""
        if name is not None:
            return self.require_deployment(name)
        known = self.deployments()
        if len(known) == 1:
            return known[0]
        names = ", ".join(deployment.name for deployment in known)
        raise UsageError(
            f"several deployments were fetched: {names}" if known else "no deployment was fetched on this machine",
            do="name one with --deployment NAME" if known else "run: airlock-online deployment fetch",
        )

    def deployments(self) -> list[Deployment]:
        """Return every deployment that was fetched on this machine and not replaced."""
        return list(map(_kept_deployment, current(self.folder / "deployments")))

    def deployment_of(self, fingerprint: str) -> Deployment | None:
        """Return the deployment with this fingerprint, replaced or not; None when it was not fetched on this machine."""
        folder = self.folder / "deployments"
        paths = *current(folder), *folder.glob(f"*.{fingerprint[:16]}.replaced.json")
        return next((each for each in map(_kept_deployment, paths) if each.fingerprint == fingerprint), None)

    def all_worth_nothing(self) -> bool:
        """Tell whether all that was fetched is worth nothing: a pipe may then answer what only compares."""
        return all_worth_nothing(self.deployments())

    def deployment_path(self, name: str) -> Path:
        """Return where the deployment of this name is kept."""
        return self.folder / "deployments" / f"{name}.json"

    def requests_path(self, fingerprint: str) -> Path:
        """Return where the requests document of this fingerprint is kept."""
        return self.folder / "requests" / f"{fingerprint}.json"

    def keep_requests(self, fingerprint: str, data: bytes) -> Path:
        """Keep a requests document, so that its signatures can be submitted with no other file; return its path."""
        path = self.requests_path(fingerprint)
        make_folder(path.parent)
        if not path.exists():
            write_new(path, data)
        return path

    # -- what was seen of the signing machines

    def note_signing_head(self, answer: SignaturesHeader) -> None:
        """Record which head of its transcript a signing machine names in its signatures, unless it is on record already."""
        seen = {"machine": answer.machine, "head": answer.transcript_head, "signatures_ms": answer.created_ms}
        known = any(entry.event == HEAD_SEEN and entry.data == seen for entry in self.transcript.entries())
        if answer.machine and not known:
            self.transcript.record(HEAD_SEEN, seen, now_ms())

    def signing_heads(self) -> dict[str, str]:
        """Return the newest head that was seen of each signing machine, by the machine's id; of the 64 seen last."""
        seen: dict[str, tuple[int, str]] = {}
        for entry in self.transcript.entries():
            if entry.event == HEAD_SEEN:
                machine, found = entry.data["machine"], (entry.data["signatures_ms"], entry.data["head"])
                seen[machine] = max(found, seen.pop(machine, found), key=lambda each: each[0])
        return {machine: head for machine, (_, head) in list(seen.items())[-MACHINES_AT_MOST:]}

    def kept_requests(self) -> Iterator[tuple[Header, list[Request]]]:
        """Yield every requests document that is kept here, in no order."""
        for path in (self.folder / "requests").glob("*.json"):
            header, requests, _ = parse_requests(read_input(path))
            yield header, requests

    def require_requests(self, fingerprint: str) -> tuple[Header, list[Request], str]:
        """Return the requests document of this fingerprint. Raises ``UsageError`` when this machine did not prepare it."""
        path = self.requests_path(fingerprint)
        if not path.exists():
            raise UsageError(
                "these signatures are for a requests document that this machine did not prepare",
                do="submit them on the machine that prepared it, or give the document with --requests",
            )
        return parse_requests(read_input(path))
