"""``completion``: the shared command, in the module that the table of commands looks for."""

from __future__ import annotations

from airlock_shared.cli.completion import completion as completion
