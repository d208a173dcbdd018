"""Replies and errors of the two families of services, and the reading of requests.

The builder and the relayer answer in the specification's envelope ``{ok, data | error}``; the batched market, the TWAP
service and the core API answer bare, with ``{statusCode, message, error}`` when they refuse.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse

MAX_BODY = 256 * 1024
"""The largest request body that is read, in bytes."""

_MAX_BRACKETS = 500
"""How many objects and arrays a body may open. Importing eth-account raises Python's recursion limit to 100,000 (py_ecc
does), and a deeply nested text then overflows the C stack of the JSON parser instead of raising ``RecursionError``."""


Read = dict[str, Any]
"""Fields of a request by name; a field that was left out is None where it was looked for."""


class Json(JSONResponse):
    """A JSON reply in ASCII, so that a lone surrogate echoed from a request cannot break it."""

    def render(self, content: object) -> bytes:
        """Return the body."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


class Refused(Exception):
    """A refusal. ``code`` and ``details`` are told in the envelope alone; ``issues`` are fields and what is wrong."""

    def __init__(
        self,
        message: str | list[str],
        code: str = "BAD_REQUEST",
        *,
        status: int = 400,
        details: Read | None = None,
        issues: Sequence[tuple[str, str]] = (),
    ) -> None:
        super().__init__(str(message))
        self.message, self.code, self.status = message, code, status
        listed = {"issues": [{"path": name, "message": wrong} for name, wrong in issues]} if issues else {}
        self.details = details or listed

    def reply(self, *, enveloped: bool) -> Json:
        """Return the HTTP reply."""
        if not enveloped:
            phrase = HTTPStatus(self.status).phrase
            bare = {"statusCode": self.status, "message": self.message, "error": phrase}
            return Json(bare, status_code=self.status)
        told = {"details": self.details} if self.details else {}
        return Json({"ok": False, "error": {"code": self.code, "message": str(self), **told}}, status_code=self.status)


def done(data: object, *, status: int = 200) -> Json:
    """Return a success in the envelope."""
    return Json({"ok": True, "data": data}, status_code=status)


async def request_fields(request: Request) -> Read:
    """Return the fields of a request: of the query (GET), else of the body's JSON object. Raises ``Refused``."""
    return dict(request.query_params) if request.method == "GET" else parse_object(await request.body())


def parse_object(body: bytes) -> Read:
    """Return the JSON object of a body. Raises ``Refused`` for other JSON, or too much of it."""
    if len(body) > MAX_BODY:
        raise Refused(f"the body is larger than {MAX_BODY} bytes", status=413)
    if body.count(b"[") + body.count(b"{") > _MAX_BRACKETS:
        raise Refused(f"the body opens more than {_MAX_BRACKETS} objects and arrays")
    try:
        value = json.loads(body)
    except ValueError as error:
        raise Refused(f"the body is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise Refused("the body is not a JSON object")
    return value
