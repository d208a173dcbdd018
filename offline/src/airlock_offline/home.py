"""The signing machine's own folder: pinned deployments, the transcript, and each signature until it can execute no more."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from airlock_offline.confinement.command import UNCONFINED
from airlock_offline.ledger.models import shown_models
from airlock_offline.ledger.transport import REVIEW_S
from airlock_shared.documents.deployment import Deployment, nothing_of_worth, parse_deployment
from airlock_shared.documents.signatures import Answer, read_signature
from airlock_shared.errors import Refusal, UsageError
from airlock_shared.host.files import TranscriptFile, current, home_of, make_folder, read_input, write_new
from airlock_shared.host.settings import read_settings
from airlock_shared.venue.pinned_structs import with_pins
from airlock_shared.wire.strict_json import parse_json

SETTINGS_FILE = "config.toml"
HOME_VARIABLE = "AIRLOCK_OFFLINE_HOME"


def default_home() -> Path:
    """Return the folder that is used when none is given."""
    return home_of(HOME_VARIABLE, ".airlock-offline")


class OfflineHome:
    """The folder ``home`` and what is in it. Nothing is made before something is written."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.transcript = TranscriptFile(home / "transcript.jsonl")
        self.settings_file = home / SETTINGS_FILE
        self.printing: Callable[[Path, Path], str] | None = None
        """What prints a page, where the command line asks for it."""
        self.confinement = UNCONFINED
        """What the kernel enforces on this process: set when a command begins."""

    def record_unenforced(self, at_ms: int) -> None:
        """Record what the kernel does not enforce on this process; nothing when it enforces all."""
        if not (self.confinement.seccomp and self.confinement.landlock):
            self.transcript.record("kernel-not-enforced", self.confinement.as_json(), at_ms)

    # -- pinned deployments

    def pin_path(self, name: str) -> Path:
        """Return where the deployment of this name is pinned."""
        return self.home / "pins" / f"{name}.json"

    def pinned(self, name: str) -> Deployment | None:
        """Return the pinned deployment of this name, or None. Raises ``DocumentError`` when its file is damaged."""
        path = self.pin_path(name)
        return parse_deployment(read_input(path)) if path.exists() else None

    def pins(self) -> list[Deployment]:
        """Return the deployments that are pinned. Raises ``DocumentError`` for one that is damaged."""
        return [parse_deployment(read_input(path)) for path in current(self.home / "pins")]

    def nothing_of_worth(self) -> bool:
        """Tell whether all that is pinned is worth nothing: a pipe may then answer what only compares."""
        return nothing_of_worth(self.pins())

    def require_pinned(self, name: str) -> Deployment:
        """Return the pinned deployment of this name. Raises ``UsageError`` when there is none that is in force."""
        deployment = self.pinned(name)
        if deployment is None:
            raise UsageError(
                f"no deployment named {name!r} is pinned on this machine",
                do="bring deployment.json from the online machine and run: airlock-offline trust deployment.json",
            )
        recorded = self.pin_on_record(name)
        if recorded != deployment.fingerprint:
            raise Refusal(
                "PIN-DEPLOYMENT",
                f"the pin of {name} is not the one that people agreed to on this machine: its file was changed",
                got=deployment.fingerprint,
                expected=recorded or "none: nobody agreed to one of this name",
                do="find out who changed it, then pin the right one: airlock-offline trust deployment.json",
            )
        return deployment

    def pin_on_record(self, name: str) -> str:
        """Return the fingerprint of the deployment of this name that was pinned last on record, or an empty text."""
        recorded = self._recorded("deployment-pinned", "name", name)
        return str(recorded[-1]["fingerprint"]) if recorded else ""

    def _recorded(self, event: str, member: str, value: str) -> list[Mapping[str, Any]]:
        """Return what the transcript has of an event about one thing, oldest first."""
        return [
            each.data for each in self.transcript.entries() if each.event == event and each.data.get(member) == value
        ]

    def pin(self, deployment: Deployment, data: bytes, at_ms: int) -> None:
        """Pin a deployment, which is on record first; the one it replaces is kept beside it under its fingerprint."""
        path = self.pin_path(deployment.name)
        make_folder(path.parent)
        replaced = self.pinned(deployment.name)
        self.transcript.record(
            "deployment-pinned", {"name": deployment.name, "fingerprint": deployment.fingerprint}, at_ms
        )
        if replaced is not None:
            path.replace(path.with_name(f"{deployment.name}.{replaced.fingerprint[:16]}.replaced.json"))
        write_new(path, data)

    # -- structs beyond the catalogue

    def structs_path(self, deployment: str) -> Path:
        """Return where the structs are pinned that belong to a deployment."""
        return self.home / "structs" / f"{deployment}.jsonl"

    def with_struct_pins(self, deployment: Deployment) -> Deployment:
        """Return a deployment with the structs that were pinned for it on this machine beside its own."""
        pins = self.struct_pins(deployment.name)
        recorded = self._recorded("struct-pinned", "deployment", deployment.name) if pins else []
        on_record = [{name: each.get(name) for name in pins[0]} for each in recorded]
        if _newest(pins) != _newest(on_record):
            raise Refusal(
                "PIN-DEPLOYMENT",
                f"the structs pinned for {deployment.name} are not those that people agreed to here: their file was changed",
                got=f"{len(pins)} pins on the disk",
                expected=f"of each struct the newest of the {len(recorded)} that trust-struct put on record",
                do="find out who changed it, and pin it again: airlock-offline trust-struct",
            )
        return deployment._replace(structs=with_pins(deployment.structs, pins))

    def struct_pins(self, deployment: str) -> list[dict[str, str]]:
        """Return what was pinned for a deployment, oldest first; of pins with one name the newest counts."""
        path = self.structs_path(deployment)
        return [parse_json(line) for line in read_input(path).splitlines()] if path.exists() else []

    # -- what hot wallets asked

    def wallet_request_path(self, requests_fingerprint: str) -> Path:
        """Return where it is remembered that a requests document was made here, from what a wallet asked."""
        return self.home / "wallet-requests" / f"{requests_fingerprint}.json"

    # -- what was signed

    def _signed_path(self, digest: str) -> Path:
        return self.home / "signed" / f"{digest.removeprefix('0x')}.json"

    def kept_signature(self, digest: str) -> Answer | None:
        """Return the signature that was made over a digest before, or None."""
        path = self._signed_path(digest)
        if not path.exists():
            return None
        return read_signature(parse_json(read_input(path)), "signature kept")

    def keep_signature(self, answer: Answer) -> None:
        """Keep a signature, so that a ceremony that is interrupted does not ask for it again."""
        path = self._signed_path(answer.digest)
        make_folder(path.parent)
        write_new(path, json.dumps(answer.as_json()).encode())


def _newest(pins: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the pin that counts of each struct, by its name."""
    return {str(pin.get("encode_type")).partition("(")[0]: pin for pin in pins}


# ---- config ---------------------------------------------------------------------------------------------------------
# The offline half's configuration, ``config.toml`` in its folder. Every value has a default; none changes a check.


MAX_REVIEW_MINUTES = 240


class LedgerSettings(NamedTuple):
    """A Ledger of another ``model`` is refused; empty: any is taken. A command's ``--model`` goes before it.

    ``review_minutes``: how long people may read on the device before the command gives up, 1 to 240; a deadline of the
    payload ends it sooner.
    """

    model: str = ""
    review_minutes: int = REVIEW_S // 60


class OfflineConfig(NamedTuple):
    """The whole configuration."""

    ledger: LedgerSettings = LedgerSettings()


def read_config(path: Path) -> OfflineConfig:
    """Read ``config.toml``, or return the defaults when there is none. Raises ``UsageError`` for what is not known."""
    config = read_settings(path, OfflineConfig())
    if config.ledger.model not in ("", *shown_models()):
        raise UsageError(f"{path} [ledger] model is {config.ledger.model!r}", do=f"use one of {shown_models()}")
    if not 1 <= config.ledger.review_minutes <= MAX_REVIEW_MINUTES:
        got = config.ledger.review_minutes
        raise UsageError(f"{path} [ledger] review_minutes is {got}", do=f"give 1 to {MAX_REVIEW_MINUTES} minutes")
    return config


def option_defaults(settings: LedgerSettings) -> dict[str, Any]:
    """Return the options' defaults that the settings give, by command, as click takes them."""
    model = {"model": settings.model or None}
    return {"sign": model, "transcript": {"seal": model}, "delegate": {"prove": model}}
