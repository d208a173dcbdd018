"""The pages of ``docs`` about the services: their error codes and their endpoints."""

from __future__ import annotations

from airlock_online.error_codes import CODE_PLACES, ERROR_CODES, ErrorCode
from airlock_shared.venue.services import SERVICES
from workspace.endpoints import ENDPOINTS

_ERRORS = """\
# Error codes

What the services answer with, and what to do about it. `airlock-online explain CODE` says the same. The code alone
decides, never the message. A code that is not here is a failure of its kind, and is kept.

A code in an `AttemptFailed` ends nothing. The column "order over" says whether an `Error` with it ends the order. The
last number is the [exit code](exit-codes.md). This page is written from `airlock_online.error_codes` by `make docs`."""

_ENDPOINTS = """\
# Endpoints

Every endpoint that the specification names, and the few beyond it that Airlock uses: the command of `airlock-online`
that uses it, and the test that proves it. `prepare` builds the steps of a plan; `build` builds one action in the same
way. What the specification does not show is reached by `call`, and what comes back goes through the same checks. This
page is written from `tests/workspace/endpoints.py` by `make docs`."""


def errors() -> str:
    """Return the page ``errors.md``."""
    lines = [_ERRORS]
    for where, title in CODE_PLACES.items():
        over = " order over |" if where in ("batched", "contract") else ""
        lines += ["", f"## {title}", "", f"| code | HTTP | meaning | what to do | exit |{over} source |"]
        lines += ["|---" * (6 + bool(over)) + "|"]
        lines += [_error(entry, bool(over)) for entry in ERROR_CODES.values() if entry.where == where]
    return "\n".join(lines) + "\n"


def _error(entry: ErrorCode, of_orders: bool) -> str:
    over = f" {'yes' if entry.terminal else 'no'} |" if of_orders else ""
    cells = f"`{entry.code}` | {entry.http} | {entry.meaning} | {entry.do} | {int(entry.exit_code)}"
    return f"| {cells} |{over} {entry.source} |"


def endpoints() -> str:
    """Return the page ``endpoints.md``."""
    lines = [_ENDPOINTS]
    for service in SERVICES.values():
        lines += ["", f"## {service.title}", "", "| endpoint | for | command | test | state |", "|---|---|---|---|---|"]
        lines += [
            f"| `{row.method}` `{row.path}` | {row.what} | `{row.command}` | `{row.test}` | {row.state} |"
            for row in ENDPOINTS
            if row.service == service.name
        ]
    return "\n".join(lines) + "\n"
