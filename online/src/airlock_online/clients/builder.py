"""The client of the builder service.

The builder holds nothing and is believed in nothing: what comes back from here is a claim that the checks read. Source:
the specification, "Response envelope", "Builder error envelope", "GET /ready" and "Authentication" (no credential).
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from functools import cache
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from airlock_online.addresses import join_address, segment
from airlock_online.clients.connection import HttpCall, Reply, code_of, json_of, reason_text, unexpected
from airlock_online.clients.pages import join_pages, read_pages
from airlock_online.clients.reply_values import require_named, value_at
from airlock_online.error_codes import ERROR_CODES
from airlock_online.speech.sections import NEXT, NOT_SENT, PAGED, SHIPPED, Speech, part_name
from airlock_shared.errors import ServiceError, UsageError
from airlock_shared.text.safe import safe
from airlock_shared.wire.strict_json import JsonObject

if TYPE_CHECKING:
    from airlock_online.clients.http import Http
    from airlock_online.config import OnlineConfig
    from airlock_shared.documents.deployment import Deployment


# ---- spacing --------------------------------------------------------------------------------------------------------
# A limit of rate that this machine keeps by itself: the builder's questions come evenly, so many a minute at most.
# A venue answers too many with 429, which is waited for as well (:mod:`airlock_online.preparing.patience`); who keeps
# the limit is not told to wait. What is submitted is never held back. Source: the specification, "Limits", row "rate
# limit".


class Spacing:
    """Lets one question begin every so many seconds, whichever thread asks it."""

    def __init__(self, per_minute: int) -> None:
        self._every_s = 60 / per_minute if per_minute else 0.0
        self._next_s = 0.0
        self._taking = Lock()

    def wait(self) -> None:
        """Return when the next question may begin."""
        if not self._every_s:
            return
        with self._taking:
            now_s = time.monotonic()
            begins_s = max(now_s, self._next_s)
            self._next_s = begins_s + self._every_s
        if begins_s > now_s:
            time.sleep(begins_s - now_s)


@cache
def spacing_of(base_url: str, per_minute: int) -> Spacing:
    """Return the spacing of one builder, the same for all that this command asks of it."""
    del base_url  # it tells one builder's from another's
    return Spacing(per_minute)


# ---- builder --------------------------------------------------------------------------------------------------------


Fields = Mapping[str, str | int]
"""Request fields: human decimals as strings, indices as integers; never a float."""

Method = Literal["GET", "POST"]
Members = Mapping[str, Any]
_SAME: Members = MappingProxyType({})


class BuilderError(ServiceError):
    """The builder said no. ``code`` decides what to do, never the message; ``details`` are as the builder gave them."""

    def __init__(self, what: str, *, code: str, status: int, details: object, do: str) -> None:
        super().__init__(what, code=code, status=status, do=do)
        self.details = details

    def as_json(self) -> dict[str, object]:
        """Return the error with the builder's code, its HTTP status and its details."""
        return super().as_json() | {"code": self.code, "status": self.status, "details": self.details}


class Readiness(NamedTuple):
    """Whether the builder says that it is ready, and its breakdown by component."""

    ready: bool
    components: JsonObject


class Meta(NamedTuple):
    """An object such as the meta document, and the bytes of the reply that it came in."""

    data: JsonObject
    raw: bytes


NO_SUCH_READ = "the services file says that this venue has no endpoint {}"

PAGES_BYTES = 32 << 20  # of all pages of a read together
_INDEX = re.compile(r"[0-9]{1,15}", re.ASCII)
INDEX_FIELDS = frozenset({"tradeIndex", "orderIndex", "pairIndex", "twapId"})
"""The fields that are integers in JSON (specification, "Limits", row "index fields")."""


class BuilderClient:
    """Calls of one builder service, which speaks as ``speech`` says. ``base_url`` may carry a path, which is kept."""

    def __init__(self, base_url: str, http: Http, speech: Speech = SHIPPED) -> None:
        self.base_url = base_url
        self._http = http
        self.speech = speech
        self._spacing = spacing_of(base_url, speech.limits["builder"])

    def call(
        self, path: str, fields: Fields, *, method: Method = "POST", members: Members = _SAME, patient: bool = False
    ) -> JsonObject:
        """Return the ``data`` object of a builder endpoint; ``members`` are what differs of its request.

        It is asked once, or when ``patient``, told 429, again: the builder stores nothing, so that to build is to read.
        Raises ``BuilderError`` when the builder says no, ``ServiceError`` when it answers anything else.
        """
        return self._object(path, fields, method, members, patient=patient).data

    def ask(self, path: str, fields: Fields, *, method: Method) -> Any:
        """Return the ``data`` of any endpoint, whatever JSON it is; only a GET is asked again when told 429."""
        return _data_of(*self._ask(path, fields, method, patient=method == "GET"))

    def _object(self, path: str, fields: Fields, method: Method, members: Members, *, patient: bool) -> Meta:
        url, reply = self._ask(path, fields, method, members, patient=patient)
        try:
            data = _data_of(url, reply)
        except ServiceError as error:
            error.retry_after_s = reply.retry_after_s
            raise
        if type(data) is not dict:
            raise _unknown_shape(url, reply, "data is not an object")
        return Meta(data, reply.body)

    def read(self, name: str, fields: Fields | None = None, asked: str = "") -> Any:
        """Return the ``data`` of a read by its name in ``[paths]``, whatever JSON it is; ``asked`` is the id in its path.

        One that comes in pages is read whole. The specification does not show their shapes.
        """
        if name in PAGED:
            pages = self.pages(name, fields)
            for page in pages[1:]:
                require_named(PAGED[name], page, **{member: str(value) for member, value in (fields or {}).items()})
            return join_pages(pages, self.named(name))
        path = self._path_of(name)
        path = path.replace("{id}", segment(asked)) if asked else path
        return _data_of(*self._ask(path, fields or {}, "GET", self.speech.request(name)))

    def pages(self, name: str, fields: Fields | None = None) -> list[Any]:
        """Return every page of a read that may come in pages. Raises ``ServiceError`` where one may be missing."""
        path, members = self._path_of(name), self.speech.request(name)
        parts = [part_name(source) or "" for source in members.values()]
        mark = next((part for part in parts if part.startswith(NEXT)), "")
        sizes: list[int] = []

        def ask(which: JsonObject) -> Any:
            url, reply = self._ask(path, {**(fields or {}), **which}, "GET", members)
            sizes.append(len(reply.body))
            if sum(sizes) > PAGES_BYTES:
                do = "check that the address is the builder's"
                raise ServiceError(f"{self.named(name)} has more than {PAGES_BYTES} bytes", do=do)
            return _data_of(url, reply)

        return read_pages(ask, mark, self.named(name))

    def _path_of(self, name: str) -> str:
        """Return where a read is. Raises ``ServiceError`` for one that the venue does not have."""
        if not (path := self.speech.paths[name]):
            raise ServiceError(
                NO_SUCH_READ.format(name), do=f"where it has one, name it in the services file, [paths] {name}"
            )
        return path

    def named(self, name: str) -> str:
        """Return a read that may come in pages by what it is and where it is asked for."""
        return f"the {PAGED[name]} at {self.speech.paths[name]}"

    def read_or_error(self, name: str, fields: Fields) -> Any:
        """Return a read's data, or the ``ServiceError`` that stands in its way."""
        try:
            return self.read(name, fields)
        except ServiceError as error:
            return error

    def meta(self) -> Meta:
        """Return the meta document: chain, contracts, domains, enums, units and defaults, none of them believed yet."""
        return self._object(self.speech.paths["meta"], {}, "GET", self.speech.request("meta"), patient=True)

    def ready(self) -> Readiness:
        """Return what the readiness probe says: a 503 is its answer. Raises ``ServiceError`` when it says neither."""
        url = join_address(self.base_url, "/ready")
        self._spacing.wait()
        reply = self._http.ask_patiently(HttpCall("GET", url), away=())
        document = json_of(reply, url)
        if reply.status not in (200, 503) or type(document) is not dict:
            if value_at(document, "error.code"):
                _data_of(url, reply)  # a refusal, by its code
            raise _unknown_shape(url, reply, "neither ready nor not ready")
        ready = reply.status == 200 and document.get("ok") is True and value_at(document, "data.ready") is True
        places = ("data.components", "error.details.components", "components", "error.details")
        return Readiness(
            ready, next((dict(found) for place in places if type(found := value_at(document, place)) is dict), {})
        )

    def _ask(
        self, path: str, fields: Fields, method: Method, members: Members = _SAME, *, patient: bool = True
    ) -> tuple[str, Reply]:
        for name, value in fields.items():
            if type(value) not in (str, int):
                raise UsageError(
                    f"the field {name} is a {type(value).__name__}", do="give a decimal text or an integer"
                )
        url = join_address(self.base_url, path)
        named = shaped(_as_sent(fields, method), members)
        if method == "GET":
            call = HttpCall("GET", url, named)
        else:
            call = HttpCall("POST", url, body=json.dumps(named, separators=(",", ":")).encode())
        self._spacing.wait()
        return url, self._http.ask_patiently(call) if patient else self._http.exchange(call)


def builder_of(deployment: Deployment, http: Http, config: OnlineConfig) -> BuilderClient:
    """Return the client of a deployment's builder, which speaks as the configuration says."""
    return BuilderClient(deployment.base_urls["builder"], http, config.speech)


def shaped(fields: Fields, members: Members) -> JsonObject:
    """Return a request's fields as the venue wants them: under its names, with its constants, without what it leaves out.

    The value of a field is never changed.
    """
    sent, made = dict(fields), dict[str, Any]()
    for member, source in members.items():
        if (part := part_name(source)) is None:
            made[member] = source
        elif part == NOT_SENT:
            sent.pop(member, None)
        elif part in sent:
            made[member] = sent.pop(part)
    return {**sent, **made}


def _as_sent(fields: Fields, method: Method) -> dict[str, str | int]:
    """Return the fields as they are, in a JSON body indices as integers."""
    if method == "GET":
        return dict(fields)
    return {
        name: int(value) if name in INDEX_FIELDS and _INDEX.fullmatch(str(value)) else value
        for name, value in fields.items()
    }


def _data_of(url: str, reply: Reply) -> Any:
    if reply.status == 429:
        wait = "it gives no time" if reply.retry_after_s is None else f"wait {reply.retry_after_s} s"
        raise BuilderError(
            f"{url} answered 429, too many calls; {wait}: {reason_text(reply.body)}",
            code=code_of(reply.body) or "RATE_LIMITED",
            status=429,
            details=None,
            do=advice_on("RATE_LIMITED"),
        )
    envelope = json_of(reply, url)
    if type(envelope) is not dict:
        raise _unknown_shape(url, reply, "no object")
    if (
        envelope.get("ok") is True
        and 200 <= reply.status < 300
        and "data" in envelope
        and envelope.get("error") is None
    ):
        return envelope["data"]
    if envelope.get("ok") is False and envelope.get("data") is None:
        raise _error_of(url, reply, envelope.get("error"))
    raise _unknown_shape(url, reply, "an envelope that is contradictory or incomplete")


def advice_on(code: str) -> str:
    """Return what to do about an error code of the builder or its relay."""
    known = ERROR_CODES.get(code)
    return known.do if known else "read the message; if it does not help, ask the builder's operator"


def _error_of(url: str, reply: Reply, error: object) -> ServiceError:
    code, message, details = (value_at(error, name) for name in ("code", "message", "details"))
    if type(code) is not str or not code:
        return _unknown_shape(url, reply, "ok is false and there is no error code")
    told = safe(message, limit=500) if type(message) is str else "no message"
    more = f"; details: {safe(json.dumps(details), limit=1000)}" if details is not None else ""
    return BuilderError(
        f"{url} said {safe(code, limit=64)} (HTTP {reply.status}): {told}{more}",
        code=code,
        status=reply.status,
        details=details,
        do=advice_on(code),
    )


def _unknown_shape(url: str, reply: Reply, what: str) -> ServiceError:
    told = f"{url} answered {reply.status} in a form that the specification does not have ({what})"
    error = unexpected(reply, told, "check that the address is the builder's, and its version")
    error.code = code_of(reply.body) if reply.status >= 400 else ""
    return error
