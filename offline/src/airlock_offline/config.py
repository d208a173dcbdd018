"""The offline half's configuration, ``config.toml`` in its folder. Every value has a default; none changes a check."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from airlock_offline.ledger.models import shown_models
from airlock_offline.ledger.transport import REVIEW_S
from airlock_shared.errors import UsageError
from airlock_shared.host.settings import read_settings

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


def option_defaults(path: Path) -> dict[str, Any]:
    """Return the options' defaults that the file gives, by command, as click takes them."""
    model = {"model": read_config(path).ledger.model or None}
    return {"sign": model, "transcript": {"seal": model}, "delegate": {"prove": model}}
