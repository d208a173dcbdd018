"""Which Ledger a command talks to: one on USB, or the software Ledger, and that in a rehearsal only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from airlock_offline import airgap
from airlock_offline.confinement.needs import APDU_LOG
from airlock_offline.ledger.models import DEFAULT_MODEL, MODELS, shown_models
from airlock_offline.ledger.status import WrongModel
from airlock_offline.ledger.transport import REVIEW_S
from airlock_shared.cli.console import say
from airlock_shared.errors import PlanError, Refusal, UsageError
from airlock_shared.host.files import require_new

if TYPE_CHECKING:
    from airlock_offline.ledger.ethereum_app import EthereumApp
    from airlock_offline.ledger.transport import Transport
    from airlock_offline.ledger.usb import PluggedLedger
    from airlock_shared.plan.model import Plan, Signer

REVIEW = "airlock.review-seconds"
"""Where a command's context keeps, in its ``meta``, how long people may read on the device, as the settings say."""

_Command = TypeVar("_Command", bound=Callable[..., Any])
Around = Callable[["Transport"], "Transport"]


def _log_to(context: click.Context, _parameter: click.Parameter, path: Path | None) -> None:
    context.meta[APDU_LOG] = path


_emulator_option = click.option(
    "--emulator",
    "emulator_port",
    type=click.IntRange(1, 65535),
    help="Rehearsal only: use the software Ledger on this loopback port.",
)
_ledger_option = click.option("--ledger", "ledger_path", help="Which Ledger, when several are plugged in.")
_log_option = click.option(
    "--apdu-log",
    type=click.Path(path_type=Path, dir_okay=False),
    callback=_log_to,
    expose_value=False,
    help="Also write the exchanges with the Ledger to a new file, without values, addresses or signatures.",
)


_model_option = click.option(
    "--model",
    type=click.Choice(shown_models()),
    default=DEFAULT_MODEL,
    show_default=True,
    help="Your Ledger's model.",
)


def device_options(command: _Command) -> _Command:
    """Add ``--emulator``, ``--ledger`` and ``--apdu-log``: which Ledger, and where its exchanges are written too."""
    return _emulator_option(_ledger_option(_log_option(command)))


def signing_device_options(command: _Command) -> _Command:
    """Add ``--model``, whose pages are told before they come, and the options of :func:`device_options`."""
    return _model_option(device_options(command))


def which_ledger(command: _Command) -> _Command:
    """Add ``--model``, ``--emulator`` and ``--ledger`` to a command that hands them on to others."""
    return _model_option(_emulator_option(_ledger_option(command)))


def require_rehearsal(emulator_port: int | None, rehearsal: bool) -> None:
    """Refuse the software Ledger outside a rehearsal: ``Refusal("PIN-REHEARSAL")``."""
    if emulator_port is not None and not rehearsal:
        raise Refusal(
            "PIN-REHEARSAL",
            "a software Ledger signs in a rehearsal only",
            got="a production deployment",
            expected="a rehearsal deployment",
            do="plug in the Ledger and leave --emulator out",
        )


def choose_signer(plan: Plan, name: str | None) -> Signer:
    """Return the plan's signer of this name, or its only one. Raises ``UsageError`` or ``PlanError("PLAN-SIGNER")``."""
    if name is None and len(plan.signers) == 1:
        return next(iter(plan.signers.values()))
    if name is None:
        raise UsageError("the plan has several signers", do=f"choose with --signer, one of {list(plan.signers)}")
    if name not in plan.signers:
        raise PlanError("PLAN-SIGNER", "no such signer in the plan", got=name, expected=str(list(plan.signers)))
    return plan.signers[name]


class Device:
    """A Ledger that is opened when it is first needed, and then kept until the command ends."""

    def __init__(
        self,
        emulator_port: int | None,
        ledger_path: str | None,
        log: Path | None = None,
        around: Around = lambda it: it,
        *,
        told_for: str = "",
        review_s: int = REVIEW_S,
    ) -> None:
        """Nothing is opened yet. Raises ``UsageError`` when the file for the APDU log exists.

        ``told_for`` is the model whose pages people have before them, empty where none were told.
        """
        self._told_for, self._review_s = told_for, review_s
        if log is not None:
            require_new(log)
        self._emulator_port = emulator_port
        self._ledger_path = ledger_path
        self._log = log
        self._around = around
        self._app: EthereumApp | None = None
        self._transport: Transport | None = None
        self.model = ""
        """What the USB product says, such as ``flex``; empty before the device is open, and for an emulator."""
        self.plugged: PluggedLedger | None = None
        """What USB says of the device; none before it is open, and for an emulator."""

    def app(self) -> EthereumApp:
        """Return the Ethereum app's client, checked for model, name and version. Raises ``DeviceError``."""
        if self._app is None:
            from airlock_offline.ledger.ethereum_app import open_app

            self._transport = self._open()
            if self._log is not None:
                from airlock_offline.ledger.apdu_log import LoggedTransport

                self._transport = LoggedTransport(self._transport, self._log)
            self._app = open_app(self._around(self._transport), rehearsal=self._emulator_port is not None)
        return self._app

    def _open(self) -> Transport:
        if self._emulator_port is not None:
            from airlock_offline.ledger.transport import LoopbackTransport

            airgap.allow_loopback(self._emulator_port)
            say("SIMULATOR: this is the software Ledger of a rehearsal, with a public test seed.")
            return LoopbackTransport(self._emulator_port, self._review_s)
        from airlock_offline.ledger.usb import HidTransport

        opened = HidTransport(self._ledger_path, review_s=self._review_s)
        self.plugged, self.model = opened.ledger, opened.ledger.model
        try:
            _require_model(self.model, self._told_for)
        except WrongModel:
            opened.close()
            raise
        return opened

    def close(self) -> None:
        """Let go of the device."""
        if self._transport is not None:
            self._transport.close()


def _require_model(found: str, told_for: str) -> None:
    """Raise ``WrongModel`` when USB names another model than the one whose pages were told; an unknown one may be either."""
    if not (found and told_for) or found == told_for:
        return
    do = f"run it again with --model {found}" if found in shown_models() else f"use one of {', '.join(shown_models())}"
    raise WrongModel(
        f"the Ledger is a {MODELS[found].product}, and the pages were listed for a {MODELS[told_for].product}", do=do
    )


def _review_s(context: click.Context | None) -> int:
    """Return how long people may read on the device, in seconds, as this machine's settings say."""
    seconds: int = context.meta.get(REVIEW, REVIEW_S) if context else REVIEW_S
    return seconds


@contextmanager
def opened(
    emulator_port: int | None, ledger_path: str | None, around: Around = lambda it: it, *, told_for: str = ""
) -> Iterator[Device]:
    """Give a device for a command; ``around`` wraps its transport; ``--apdu-log`` has its exchanges logged.

    ``told_for`` is the model whose pages the command lists.
    """
    context = click.get_current_context(silent=True)
    log = context.meta.get(APDU_LOG) if context else None
    device = Device(emulator_port, ledger_path, log, around, told_for=told_for, review_s=_review_s(context))
    try:
        yield device
    finally:
        device.close()
