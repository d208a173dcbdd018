"""Which Ledger a command talks to: one on USB, or the software Ledger; the software one only where nothing has worth."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any, TypeVar

import click

from airlock_offline import airgap
from airlock_offline.confinement.command import APDU_LOG
from airlock_offline.ledger.device_errors import LIST_AGAIN, AppClosed, OtherVersion, no_pages, wrong_model
from airlock_offline.ledger.ethereum_app import EthereumApp, open_app, require_ready
from airlock_offline.ledger.models import model_of_product, shown_models, words_of
from airlock_offline.ledger.transport import (
    REVIEW_S,
    LoggedTransport,
    LoopbackTransport,
    Meanwhile,
    Transport,
)
from airlock_offline.ledger.typed_data import Need
from airlock_offline.ledger.usb import HidTransport, PluggedLedger, come_back, opens_app
from airlock_shared.cli.terminal import say
from airlock_shared.documents.deployment import Deployment
from airlock_shared.errors import DeviceError, Refusal, UsageError
from airlock_shared.host.files import require_new

REVIEW = "airlock.review-seconds"
"""Where a command's context keeps, in its ``meta``, how long people may read on the device, as the settings say."""

Command = TypeVar("Command", bound=Callable[..., Any])


emulator_option = click.option(
    "--emulator",
    "emulator_port",
    type=click.IntRange(1, 65535),
    help="Rehearsal only: use the software Ledger on this loopback port.",
)
ledger_option = click.option("--ledger", "ledger_path", help="Which Ledger, when several are plugged in.")
_log_option = click.option(
    "--apdu-log",
    type=click.Path(path_type=Path, dir_okay=False),
    callback=lambda context, _, path: context.meta.update({APDU_LOG: path}),
    expose_value=False,
    help="Also write the exchanges with the Ledger to a new file, without values, addresses or signatures.",
)


model_option = click.option(
    "--model",
    type=click.Choice(shown_models()),
    help="Your Ledger's model, as a check (default: as the Ledger says).",
)


def device_options(command: Command) -> Command:
    """Add ``--emulator``, ``--ledger`` and ``--apdu-log``: which Ledger, and where its exchanges are written too."""
    return emulator_option(ledger_option(_log_option(command)))


def signing_device_options(command: Command) -> Command:
    """Add ``--model``, with which the Ledger that is found is compared, and the options of :func:`device_options`."""
    return model_option(device_options(command))


def require_ledger(emulator_port: int | None, deployment: Deployment) -> None:
    """Refuse the kind of Ledger that does not sign for a deployment: ``Refusal("PIN-REHEARSAL")``."""
    if emulator_port is None and deployment.test_network:
        raise Refusal(
            "PIN-REHEARSAL",
            "no real Ledger signs on a test network: its signature may be worth something elsewhere",
            got="a real Ledger",
            expected="the software Ledger",
            do="give --emulator PORT; for what is real, fetch the deployment without --test-network",
        )
    if emulator_port is not None and not deployment.worth_nothing:
        raise Refusal(
            "PIN-REHEARSAL",
            "a software Ledger signs only what is worth nothing",
            got="a production deployment",
            expected="a rehearsal or a test network",
            do="plug in the Ledger and leave --emulator out",
        )


class Device:
    """A Ledger that is opened when it is needed; once it was let go of, others may have it until it is opened again."""

    def __init__(
        self,
        emulator_port: int | None,
        ledger_path: str | None,
        log: Path | None = None,
        meanwhile: Meanwhile = nullcontext,
        *,
        named_model: str = "",
        review_s: int = REVIEW_S,
        guard: Callable[[], None] = lambda: None,
    ) -> None:
        """Nothing is opened yet. Raises ``UsageError`` when the file for the APDU log exists.

        ``named_model`` is the model that a person named, empty where nobody did. ``guard`` raises where the app may not be
        handed out now.
        """
        self._named_model, self._review_s, self._guard = named_model, review_s, guard
        if log is not None:
            require_new(log)
        self._emulator_port = emulator_port
        self._ledger_path = ledger_path
        self._log = log
        self._logged: LoggedTransport | None = None
        self._meanwhile = meanwhile
        self._app: EthereumApp | None = None
        self._transport: Transport | None = None
        self._said = False
        self._seen = ""  # the model that was found at the first look, empty when USB did not tell
        self.model = ""
        """By USB, such as ``flex``; after a look, where USB does not tell, as named. Empty before the device is open."""
        self.listed_model = self.version = ""
        """Whose pages people have before them since the first look, as a record of ``MODELS``, and the app's version."""
        self.plugged: PluggedLedger | None = None
        """What USB says of the device; none before it is open, and for an emulator."""

    def app(self) -> EthereumApp:
        """Return the Ethereum app's client, checked for model, name and version. Raises ``DeviceError``, or as the guard.

        Once it was looked at, it must be of the same model and version.
        """
        if self._app is None:
            self._transport = self._open()
            if self._log is not None:
                self._logged = self._logged or LoggedTransport(self._transport, self._log)
                self._logged.transport = self._transport
                self._transport = self._logged
            app = open_app(self._transport, self._meanwhile, any_build=self._emulator_port is not None)
            if self._emulator_port is not None:
                self._require_model(model_of_product(app.simulated_product()))
            if self.version not in ("", app.version):
                raise OtherVersion(
                    f"the Ethereum app is {app.version!r}, and the pages were listed for {self.version!r}",
                    do=LIST_AGAIN,
                )
            self._app = app
        self._guard()
        return self._app

    def probe(self, need: Need) -> None:
        """Before people read: learn whose pages will come, require that it can sign, and let go of it.

        At the home screen of a Ledger on USB the app is opened by command, which a person confirms there.
        Raises as :meth:`app`, or a refusal of the account.
        """
        self.close()
        self.model = self.listed_model = self.version = ""  # another signer may have another Ledger
        try:
            client = self._at_the_app()
            model = self.model or self._named_model
            if model not in shown_models():
                raise no_pages(model)
            require_ready(client, need)
            self._seen, self.version = self.model, client.version
            self.model, self.listed_model = model, words_of(model, client.version)
        finally:
            self.close()

    def _at_the_app(self) -> EthereumApp:
        try:
            return self.app()
        except AppClosed:
            if self._transport is None or self._emulator_port is not None:
                raise
            say("The Ledger's app is not open. Airlock asks the Ledger to open it: confirm that there.")
            if not opens_app(self._transport):
                raise
        self.close()
        return come_back(self.app, self.close)

    def _open(self) -> Transport:
        if self._emulator_port is not None:
            airgap.allow_loopback(self._emulator_port)
            if not self._said:
                say("SIMULATOR: this is the software Ledger of a rehearsal, with a public test seed.")
            self._said = True
            return LoopbackTransport(self._emulator_port, self._review_s)
        opened = HidTransport(self._ledger_path, review_s=self._review_s)
        try:
            self._require_model(opened.ledger.model)
        except DeviceError:
            opened.close()
            raise
        self.plugged = opened.ledger
        return opened

    def _require_model(self, found: str) -> None:
        """Keep the model that was found. Raises ``WrongModel`` for another than was looked at, or than was named.

        Before :meth:`probe`, a model that USB does not name passes as the one of ``--model``. After it, USB must say the
        same as it said then.
        """
        if self.listed_model:
            if found != self._seen:
                raise wrong_model(found, self.model, listed=True)
        elif found and self._named_model and found != self._named_model:
            raise wrong_model(found, self._named_model, listed=False)
        self.model = found or self.model

    def close(self) -> None:
        """Let go of the device; it is opened again when it is needed."""
        self._app = None
        if self._transport is not None:
            self._transport.close()
            self._transport = None


def nothing_is_signed() -> None:
    """Guard nothing: for a command that reads accounts and the app's version, also on a machine that must not sign."""


def opened(
    emulator_port: int | None,
    ledger_path: str | None,
    meanwhile: Meanwhile = nullcontext,
    *,
    named_model: str | None = None,
    guard: Callable[[], None],
) -> closing[Device]:
    """Give a device for a command; ``meanwhile`` is shown while it is waited for; ``--apdu-log`` logs its exchanges.

    ``named_model`` is the model that a person named, ``guard`` is asked each time before the app is handed out:
    :func:`nothing_is_signed` where a command only reads. Raises ``UsageError`` where two Ledgers are named.
    """
    if emulator_port is not None and ledger_path is not None:
        raise UsageError("--emulator is the software Ledger, --ledger one on USB", do="give one of them")
    context = click.get_current_context(silent=True)
    meta = context.meta if context else {}
    return closing(
        Device(
            emulator_port,
            ledger_path,
            meta.get(APDU_LOG),
            meanwhile,
            named_model=named_model or "",
            review_s=meta.get(REVIEW, REVIEW_S),
            guard=guard,
        )
    )
