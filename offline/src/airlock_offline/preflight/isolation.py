"""Whether the machine is fit for production: no interface up, no route, no radio, and the kernel's filter.

``preflight``, ``sign`` and the seal ask.

Production is every machine but one: where a rehearsal deployment is pinned, no other, and the software Ledger is used. A
real Ledger holds a real key, and it is the deployment that calls itself a rehearsal: its word does not open the room.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from airlock_offline.confinement.enforced import Confinement
from airlock_offline.home import OfflineHome
from airlock_offline.preflight.interfaces import interface_lines, route_lines
from airlock_offline.preflight.kernel import kernel_lines
from airlock_offline.preflight.radios import radio_lines
from airlock_shared.cli.console import say
from airlock_shared.documents.deployment import Deployment, only_rehearsals
from airlock_shared.errors import Refusal
from airlock_shared.host.observed import REFUSED, MachineProbes, Observed

_App = TypeVar("_App")


def is_production(pins: Iterable[Deployment], *, software_ledger: bool) -> bool:
    """Tell whether this is production: a real Ledger, a deployment that is no rehearsal, or none pinned."""
    return not (software_ledger and only_rehearsals(pins))


def airgap_lines(world: MachineProbes) -> list[Observed]:
    """Look at interfaces, routes and radios, and judge them as for production."""
    return [*interface_lines(world), *route_lines(world), *radio_lines(world)]


def require_isolation(lines: Sequence[Observed]) -> None:
    """Raise ``Refusal`` when a line is refused: the first check's id, and every line with its id in ``got``."""
    refused = [line for line in lines if line.verdict == REFUSED]
    if refused:
        got = "; ".join(f"{line.check}: {line.what} {line.found}" for line in refused)
        expected = "every interface and radio off, no route, and a kernel that refuses sockets"
        raise Refusal(refused[0].check, "this machine is not isolated, and production needs isolation", got=got,
                      expected=expected, do=refused[0].do)  # fmt: skip


class Isolation:
    """The look at the machine that a command takes before it signs, and again each time it turns to the Ledger."""

    def __init__(
        self,
        home: Path,
        emulator_port: int | None,
        kernel: Confinement,
        world: MachineProbes = MachineProbes(),  # noqa: B008 (frozen)
    ) -> None:
        """Read which deployments are pinned. Raises ``DocumentError`` for one that is damaged."""
        self._pins = OfflineHome(home).pins()
        self._kernel = kernel
        self._software = emulator_port is not None
        self._world = world

    def _lines(self) -> list[Observed]:
        return [*airgap_lines(self._world), *kernel_lines(self._kernel)]

    def is_rehearsal(self) -> bool:
        """Tell whether this is a rehearsal with the software Ledger: a pipe may then answer in a person's place."""
        return not is_production(self._pins, software_ledger=self._software)

    def begin(self, note: Callable[[str], None] = say) -> None:
        """Refuse in production before anything is reviewed; in a rehearsal, say what production would refuse.

        With a rehearsal deployment and a real Ledger the refusal waits for the Ledger: what needs none is no danger.
        """
        lines = self._lines()
        if is_production(self._pins, software_ledger=True):
            require_isolation(lines)
        elif any(line.verdict == REFUSED for line in lines):
            ids = ", ".join(sorted({line.check for line in lines if line.verdict == REFUSED}))
            note(f"NOTE: this machine is not isolated ({ids}). Production refuses this.")

    def guarded(self, app: Callable[[], _App]) -> Callable[[], _App]:
        """Return ``app``, which gives the Ledger's app, with a look at the machine each time before it is handed out."""

        def looked() -> _App:
            client = app()
            if not self.is_rehearsal():
                require_isolation(self._lines())
            return client

        return looked
