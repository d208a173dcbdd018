"""``explain``: what a service's code, a check's id, an outcome or an exit code means, and what to do about it."""

from __future__ import annotations

from airlock_online.code_explanations import everything
from airlock_shared.cli.explain.command import explain_command

explain = explain_command(
    r"""Explain CODE: a service's error code, a check's id, an HTTP status or an exit code. Without CODE, list them.

    \b
    Examples:
      airlock-online explain SPREAD_BLOCKED
      airlock-online explain DOMAIN-CHAIN
      airlock-online explain 9
    """,
    everything,
)
