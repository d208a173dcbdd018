"""Replies and errors of the two families of services, and the reading of JSON bodies.

The builder and the relayer answer in the specification's envelope ``{ok, data | error}``; the batched market, the TWAP
service and the core API answer bare, with ``{statusCode, message, error}`` when they refuse.
"""

from __future__ import annotations

import json
from decimal import Decimal
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import JSONResponse

MAX_BODY = 256 * 1024
"""The largest request body that is read, in bytes."""

MAX_BRACKETS = 500
"""How many objects and arrays a body may open. Importing eth-account raises Python's recursion limit to 100,000 (py_ecc
does), and a deeply nested text then overflows the C stack of the JSON parser instead of raising ``RecursionError``."""


Read = dict[str, object]
"""Fields of a request by name; a field that was left out is None where it was looked for."""


class Json(JSONResponse):
    """A JSON reply in ASCII, so that a lone surrogate echoed from a request cannot break it."""

    def render(self, content: object) -> bytes:
        """Return the body."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


class ApiError(Exception):
    """A refusal in the envelope."""

    def __init__(self, code: str, message: str, *, status: int = 400, details: dict[str, object] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        self.details = details

    def reply(self) -> Json:
        """Return the HTTP reply."""
        error: dict[str, object] = {"code": self.code, "message": self.message}
        return Json(
            {"ok": False, "error": error | ({"details": self.details} if self.details else {})}, status_code=self.status
        )


class Rejected(Exception):
    """A refusal in the bare form."""

    def __init__(self, message: str | list[str], *, status: int = 400) -> None:
        super().__init__(str(message))
        self.message = message
        self.status = status

    def reply(self) -> Json:
        """Return the HTTP reply."""
        phrase = HTTPStatus(self.status).phrase
        body = {"statusCode": self.status, "message": self.message, "error": phrase}
        return Json(body, status_code=self.status)


def done(data: object, *, status: int = 200) -> Json:
    """Return a success in the envelope."""
    return Json({"ok": True, "data": data}, status_code=status)


async def read_object(request: Request) -> dict[str, object]:
    """Return a JSON body's object, its decimals exact. Raises ``Rejected`` for anything else."""
    return parse_object(await request.body())


async def request_fields(request: Request) -> dict[str, object]:
    """Return the fields of a builder's request, from the query (GET) or the JSON body (POST). Raises ``ApiError``."""
    if request.method in ("GET", "HEAD"):
        items = request.query_params.multi_items()
        if len({name for name, _ in items}) != len(items):
            raise ApiError("BAD_REQUEST", "a query parameter comes twice")
        return dict(items)
    try:
        return await read_object(request)
    except Rejected as error:
        raise ApiError("BAD_REQUEST", str(error.message), status=error.status) from error


def parse_object(body: bytes) -> dict[str, object]:
    """Return the JSON object of a body. Raises ``Rejected`` for other JSON, doubled names, NaN, or too much of it."""
    if len(body) > MAX_BODY:
        raise Rejected(f"the body is larger than {MAX_BODY} bytes", status=413)
    if body.count(b"[") + body.count(b"{") > MAX_BRACKETS:
        raise Rejected(f"the body opens more than {MAX_BRACKETS} objects and arrays")
    try:
        value = json.loads(body, parse_float=Decimal, parse_constant=_no_constant, object_pairs_hook=_no_doubled_names)
    except ValueError as error:
        raise Rejected(f"the body is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise Rejected("the body is not a JSON object")
    return value


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _no_doubled_names(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a name comes twice")
    return result
