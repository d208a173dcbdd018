"""``explain``: what a check's id or an exit code means, and what to do about it."""

from __future__ import annotations

from airlock_shared.checks.catalogue import CHECKS
from airlock_shared.cli.explain.command import explain_command
from airlock_shared.cli.explain.explanations import of_checks, of_exit_codes

explain = explain_command(
    r"""Explain CODE: a check's id or an exit code. Without CODE, list them.

    A service's codes are explained by `airlock-online explain`.

    \b
    Examples:
      airlock-offline explain DOMAIN-CHAIN
      airlock-offline explain 5
    """,
    lambda: [*of_checks(CHECKS), *of_exit_codes()],
)
