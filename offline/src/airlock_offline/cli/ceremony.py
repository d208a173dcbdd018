"""``ceremony``: the people of a ceremony and what they confirm, in this machine's transcript."""

from __future__ import annotations

from airlock_offline.clock import now_ms
from airlock_offline.device_connection import which_ledger
from airlock_offline.home import OfflineHome
from airlock_shared.cli.ceremony.by_light import BY_LIGHT
from airlock_shared.cli.ceremony.commands import ceremony_group
from airlock_shared.cli.ceremony.context import CeremonyMachine


def _place(home: OfflineHome) -> CeremonyMachine:
    return CeremonyMachine(
        "offline", home.transcript, now_ms, lambda name: home.require_pinned(name).fingerprint, home.rehearses
    )


ceremony = ceremony_group(_place, BY_LIGHT, which_ledger)
