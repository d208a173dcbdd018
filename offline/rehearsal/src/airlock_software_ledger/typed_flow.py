"""Typed data as the app takes it: definitions, then values, then the signature; or the two hashes alone. With its traps.

A flow that was left after its first value makes the next definition answer 6A00 and is forgotten then. One that was left
within the definitions is added to: the next flow fails late with 6A80. Recorded in ``*-abandoned-*``.
"""

from __future__ import annotations

from airlock_offline.ledger.models import Touch, screen_of
from airlock_offline.ledger.screens import FILTERED, HASHES, TYPED_DATA, Review, ScreenField, hash_fields
from airlock_offline.ledger.transport import P1_PARTIAL, P2_ARRAY, P2_FIELD, P2_NAME, P2_SIGN_FIELDS, P2_SIGN_HASHES
from airlock_offline.ledger.typed_data import SIGNED_BITS
from airlock_shared.ethereum.signatures import keccak256
from airlock_software_ledger.answers import (
    ORDER,
    PARAMETERS,
    UNSPECIFIED,
    AppSettings,
    Failed,
    SigningRequest,
    fail_if,
)
from airlock_software_ledger.display import Tokens, shown, typed_fields
from airlock_software_ledger.keys import read_path
from airlock_software_ledger.message_filters import Filtering
from airlock_software_ledger.typed_stream import DOMAIN, INT, TypedStream

_FIRST_V = 27
_LEFT_FIELD = bytes((0x03, 4)) + b"left"  # an address named "left"


class TypedFlow:
    """The app's state between the commands of typed data. Every method raises ``Failed`` for what the app refuses."""

    def __init__(self, model: str, settings: AppSettings, tokens: Tokens) -> None:
        """As recorded: with Raw messages and Blind signing off, a touch screen refuses typed data at its first command.

        A Nano does at the first value; and with Blind signing alone it shows a hash, where a touch screen shows the fields.
        """
        self._model = model
        self._tokens = tokens
        self._raw_messages_first = isinstance(screen_of(model).layout, Touch)
        self._settings = settings
        self._begun: tuple[TypedStream, Filtering | None] | None = None

    def leave_half_way(self, *, in_message: bool) -> None:
        """Begin a flow that nobody will finish: left after the first value, or within the definitions."""
        typed = TypedStream()
        typed.define_struct(DOMAIN.encode())
        typed.define_field(_LEFT_FIELD)
        if in_message:
            typed.begin(DOMAIN.encode())
        self._begun = typed, None

    def define(self, _p1: int, p2: int, data: bytes) -> None:
        """Take a struct's name or a field's definition."""
        typed = self._begun[0] if self._begun else TypedStream()
        self._begun = None  # unless all goes well; a flow that was left half-way is forgotten here
        fail_if(typed.root, UNSPECIFIED)
        if p2 == P2_NAME:
            typed.define_struct(data)
        elif p2 == P2_FIELD:
            typed.define_field(data)
        else:
            raise Failed(PARAMETERS)
        self._begun = typed, None

    def value(self, p1: int, p2: int, data: bytes) -> None:
        """Take a root struct's name, the count of an array, or a value or a piece of one."""
        typed, filtering = self._taken()
        fail_if(
            (p2 == P2_FIELD or self._raw_messages_first)
            and not (filtering or self._settings.raw_messages or self._settings.blind_signing)
        )
        if p2 == P2_NAME:
            typed.begin(data)
            if filtering and typed.root != DOMAIN:
                filtering.root_begins()
        elif p2 == P2_ARRAY:
            typed.count(data)
        elif p2 == P2_FIELD:
            field = typed.awaited[1] if typed.awaited else None
            always = typed.root == DOMAIN or self._settings.raw_messages or self._raw_messages_first
            shown_now = filtering.shows_raw if filtering else always
            fail_if(field and field.code == INT and field.size * 8 not in SIGNED_BITS and shown_now)
            typed.value(data, more=p1 == P1_PARTIAL)
            if filtering and typed.root != DOMAIN and p1 != P1_PARTIAL:
                last = typed.seen[-1]
                filtering.value_came(last.field, last.raw, shown(last.field, last.raw, self._model))
        else:
            raise Failed(PARAMETERS)
        self._begun = typed, filtering

    def filter(self, _p1: int, p2: int, data: bytes) -> None:
        """Take what the app is told of how to show the message; with Raw messages on it heeds none of it."""
        typed, filtering = self._taken()
        if p2 == P2_NAME:
            filtering = None if self._settings.raw_messages else Filtering(typed, self._tokens)
        elif filtering is not None:
            filtering.take(p2, data)
        self._begun = typed, filtering

    def _taken(self) -> tuple[TypedStream, Filtering | None]:
        """Take the flow, which is forgotten unless all goes well."""
        begun, self._begun = self._begun, None
        if begun is None:
            raise Failed(ORDER)
        return begun

    def finish(self, _p1: int, p2: int, data: bytes) -> SigningRequest:
        """Return what is to be signed: the finished flow, or the two hashes that came instead."""
        fail_if(p2 not in (P2_SIGN_FIELDS, P2_SIGN_HASHES), PARAMETERS)
        return self._by_hashes(data) if p2 == P2_SIGN_HASHES else self._by_fields(data)

    def _by_hashes(self, data: bytes) -> SigningRequest:
        path, hashes = read_path(data)
        fail_if(len(hashes) != 64 or not self._settings.blind_signing)
        domain, message = hashes[:32], hashes[32:]
        return _request(path, domain, message, HASHES, hash_fields(domain, message))

    def _by_fields(self, data: bytes) -> SigningRequest:
        typed, filtering = self._taken()
        domain, message = typed.domain_and_message()
        if typed.otherwise:  # the app's own hash is another one; which does not matter: it is nobody's
            message = keccak256(message)
        path, rest = read_path(data)
        fail_if(rest)
        if filtering:
            return _request(path, domain, message, FILTERED, filtering.finish())
        fields_shown = self._settings.raw_messages or self._raw_messages_first
        fields = typed_fields(typed, self._model, message_hash_only=not fields_shown)
        return _request(path, domain, message, TYPED_DATA if fields_shown else HASHES, fields)


def _request(
    path: tuple[int, ...], domain: bytes, message: bytes, review: Review, fields: list[ScreenField]
) -> SigningRequest:
    return SigningRequest(path, keccak256(b"\x19\x01" + domain + message), _FIRST_V, review, fields)
