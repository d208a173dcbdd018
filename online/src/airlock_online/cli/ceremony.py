"""``ceremony``: the people of a ceremony and what they confirm, in this machine's transcript."""

from __future__ import annotations

from airlock_online.clock import now_ms
from airlock_online.home import OnlineHome
from airlock_shared.cli.ceremony.by_light import BY_LIGHT
from airlock_shared.cli.ceremony.commands import ceremony_group
from airlock_shared.cli.ceremony.context import CeremonyMachine


def _place(home: OnlineHome) -> CeremonyMachine:
    return CeremonyMachine(
        "online",
        home.transcript,
        now_ms,
        lambda name: home.require_deployment(name).fingerprint,
        home.rehearses,
        home.deployment_path,
    )


ceremony = ceremony_group(_place, BY_LIGHT)
