"""``plan``: show, check, or write by asking."""

from __future__ import annotations

from airlock_shared.cli.plan import plan_group

plan = plan_group("Write, check or show a ceremony plan.", lambda home: home.deployments())
