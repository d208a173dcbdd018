"""``completion``: the shared command, under the name that the table of commands looks for."""

from __future__ import annotations

from airlock_shared.cli.lazy_commands import COMMAND as COMMAND
