"""The signing machine's own folder: pinned deployments, the transcript, and each signature until it is forgotten."""

from __future__ import annotations

import json
import time
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from airlock_offline.confinement.command import UNCONFINED
from airlock_offline.ledger.models import shown_models
from airlock_offline.ledger.transport import REVIEW_S
from airlock_shared.checks.times import Uptime
from airlock_shared.documents.deployment import Deployment, all_worth_nothing, parse_deployment
from airlock_shared.documents.requests import Answer, read_signature
from airlock_shared.errors import Refusal, UsageError
from airlock_shared.host.files import (
    CONFIG_FILE,
    DAMAGED_DO,
    TranscriptFile,
    current,
    home_of,
    keep_current,
    make_folder,
    read_document,
    read_input,
    read_settings,
    write_new,
)
from airlock_shared.wire.strict_json import parse_json

_kept_deployment = partial(read_document, parse=parse_deployment, do=DAMAGED_DO)
HOME_VARIABLE = "AIRLOCK_OFFLINE_HOME"


def default_home() -> Path:
    """Return the folder that is used when none is given."""
    return home_of(HOME_VARIABLE, ".airlock-offline")


class OfflineHome:
    """The folder ``home`` and what is in it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.transcript = TranscriptFile(home / "transcript.jsonl")
        self.settings_file = home / CONFIG_FILE

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
        return _kept_deployment(path) if path.exists() else None

    def pins(self) -> list[Deployment]:
        """Return the deployments that are pinned. Raises ``DocumentError`` naming the file of one that is damaged."""
        return list(map(_kept_deployment, current(self.home / "pins")))

    def all_worth_nothing(self) -> bool:
        """Tell whether all that is pinned is worth nothing: a pipe may then answer what only compares."""
        return all_worth_nothing(self.pins())

    def require_pinned(self, name: str) -> Deployment:
        """Return the pinned deployment of this name.

        Raises ``UsageError`` when there is none, and ``Refusal`` as :meth:`require_on_record`.
        """
        deployment = self.pinned(name)
        if deployment is None:
            raise UsageError(
                f"no deployment named {name!r} is pinned on this machine",
                do="bring deployment.json from the online machine and run: airlock-offline trust deployment.json",
            )
        self.require_on_record(deployment)
        return deployment

    def require_on_record(self, deployment: Deployment) -> None:
        """Raise ``Refusal("PIN-DEPLOYMENT")`` unless this is the deployment of its name that was pinned last on record."""
        recorded = self.pin_on_record(deployment.name)
        if recorded != deployment.fingerprint:
            raise Refusal(
                "PIN-DEPLOYMENT",
                f"the pin of {deployment.name} is not the one that people agreed to last on this machine: its file was "
                "changed, trust was cut off, or another one was pinned meanwhile",
                got=deployment.fingerprint,
                expected=recorded or "none: nobody agreed to one of this name",
                do="find out which, then pin the right one: airlock-offline trust deployment.json",
            )

    def pin_on_record(self, name: str) -> str:
        """Return the fingerprint of the deployment of this name that was pinned last on record, or an empty text."""
        for entry in reversed(self.transcript.entries()):
            if entry.event == "deployment-pinned" and entry.data.get("name") == name:
                return str(entry.data["fingerprint"])
        return ""

    def pin(self, deployment: Deployment, data: bytes, at_ms: int) -> None:
        """Pin a deployment, which is on record first; the one it replaces is kept beside it under its fingerprint."""
        replaced = self.pinned(deployment.name)
        self.transcript.record(
            "deployment-pinned", {"name": deployment.name, "fingerprint": deployment.fingerprint}, at_ms
        )
        keep_current(self.pin_path(deployment.name), data, replaced.fingerprint if replaced else "")

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


# ---- config ---------------------------------------------------------------------------------------------------------
# The offline half's configuration, ``config.toml`` in its folder. Every value has a default; none changes a check.


MAX_REVIEW_MINUTES = 240


class LedgerSettings(NamedTuple):
    """A Ledger of another ``model`` is refused; empty: any is taken. A command's ``--model`` goes before it.

    ``review_minutes``: how long people may read on the device before the command gives up, 1 to 240. What is signed
    after its deadline is not given out.
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


# ---- clock ----------------------------------------------------------------------------------------------------------
# The signing machine's clock, which only a person can vouch for.


BOOT_ID = Path("/proc/sys/kernel/random/boot_id")  # random(4): another one at each start


def now_ms() -> int:
    """Return the machine's time in unix milliseconds."""
    return time.time_ns() // 1_000_000


def uptime() -> Uptime | None:
    """Return how long the machine has been running, suspended or not; None where the system does not tell."""
    if not hasattr(time, "CLOCK_BOOTTIME"):
        return None
    try:
        boot_id = BOOT_ID.read_text(encoding="utf-8").strip()
    except OSError:
        return None
    return Uptime(boot_id, time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000)
