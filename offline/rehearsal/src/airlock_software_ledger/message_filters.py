"""What the software Ledger is told of how to show a message (INS 1E): filters that carry Ledger's own signature alone.

Not simulated: filters of calldata and of names, and filters of lists that are empty.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

from airlock_offline.ledger.screens import ScreenField, network, token_amount
from airlock_software_ledger.answers import (
    BAD_DATA,
    MISSING,
    ORDER,
    PARAMETERS,
    UNSPECIFIED,
    Failed,
    fail_if,
)
from airlock_software_ledger.display import Tokens, is_ledgers
from airlock_software_ledger.typed_stream import ADDRESS, DOMAIN, UINT, FieldType, TypedStream

_MESSAGE, _DATETIME, _TOKEN, _AMOUNT, _RAW = 0x0F, 0xFC, 0xFD, 0xFE, 0xFF
_MAGIC = {_MESSAGE: 183, _DATETIME: 33, _TOKEN: 11, _AMOUNT: 22, _RAW: 72}
_TYPES = {_DATETIME: UINT, _TOKEN: ADDRESS, _AMOUNT: UINT}
_MOST, _PLACES, _THE_CONTRACT, _AMOUNT_LABEL = 50, 5, 0xFF, 25
_CHAIN_BYTES = 8


class Filtering:
    """The filters of one flow. Every method raises ``Failed`` for what the app refuses."""

    def __init__(self, typed: TypedStream, tokens: Tokens) -> None:
        """Activate them, as the definitions stand."""
        self._typed, self._tokens = typed, tokens
        self._schema = hashlib.sha224(typed.schema()).digest()
        self._count: int | None = None
        self._paths: set[str] = set()
        self._amounts: dict[
            int, tuple[str, int]
        ] = {}  # label and amount by its place, until its token has come in, too
        self._named: set[int] = set()  # the places whose token has come in
        self._next: tuple[int, str, int] | None = None  # kind, label and place of the filter of the value that comes
        self._shown: list[ScreenField] = []
        tokens.forget()

    def take(self, p2: int, data: bytes) -> None:
        """Take one command."""
        if p2 == _MESSAGE:
            fail_if(self._typed.root != DOMAIN, ORDER)
            label, count, signature = _parts(data, labelled=True, placed=True)
            fail_if(count[0] > _MOST or not self._is_signed(_MESSAGE, count + label, signature), UNSPECIFIED)
            self._count = count[0]
            self._shown.append(ScreenField("Contract", label.decode("latin-1")))
        elif p2 in _MAGIC:
            self._take_field(p2, data)
        else:
            raise Failed(PARAMETERS)

    def _take_field(self, p2: int, data: bytes) -> None:
        fail_if(self._typed.root in ("", DOMAIN), ORDER)
        label, place, signature = _parts(data, labelled=p2 != _TOKEN, placed=p2 in (_TOKEN, _AMOUNT))
        path, field = self._typed.awaited or ("", None)
        if field is None or not self._is_signed(p2, path.encode() + label + place, signature):
            raise Failed(UNSPECIFIED)
        at = self._place(place[0]) if place else 0
        fail_if(field.code != _TYPES.get(p2, field.code), UNSPECIFIED)
        self._paths.add(path)
        if self._count is None or len(self._paths) > self._count:
            raise Failed(BAD_DATA)
        self._next = p2, label.decode("latin-1"), at

    def _is_signed(self, p2: int, signed: bytes, signature: bytes) -> bool:
        domain = self._typed.domain
        chain = domain.get("chainId", b"").rjust(_CHAIN_BYTES, b"\0")[-_CHAIN_BYTES:]
        contract = domain.get("verifyingContract", bytes(20))
        return is_ledgers(bytes((_MAGIC[p2],)) + chain + contract + self._schema + signed, signature)

    def _place(self, place: int) -> int:
        if place == _THE_CONTRACT:
            found = self._tokens.place_of(self._typed.domain["verifyingContract"])
            if found is None:
                raise Failed(UNSPECIFIED)
            self._named.add(found)
            return found
        fail_if(place >= _PLACES, UNSPECIFIED)
        return place

    # ---- the values

    def root_begins(self) -> None:
        """Show the network, when the message begins."""
        if (chain_id := int.from_bytes(self._typed.domain.get("chainId", b""), "big")) != 1:
            self._shown.append(ScreenField("Network", network(chain_id)))

    @property
    def shows_raw(self) -> bool:
        """Whether the value that comes is shown as it is."""
        return self._next is not None and self._next[0] == _RAW

    def value_came(self, field: FieldType, raw: bytes, shown: str) -> None:
        """Show a value that came in whole as its filter says; one without a filter is hidden."""
        if self._next is None:
            return
        kind, label, place = self._next
        self._next = None
        if kind == _RAW:
            self._shown.append(ScreenField(label or field.name, shown))
        elif kind == _DATETIME:
            self._shown.append(ScreenField(label or field.name, _time(field, raw)))
        else:
            self._shown += self._join(kind, label, place, raw)

    def _join(self, kind: int, label: str, place: int, raw: bytes) -> list[ScreenField]:
        token = self._tokens.get(place)
        if token is None:
            self._tokens.pass_over(place)
        if kind == _AMOUNT:
            self._amounts[place] = label[:_AMOUNT_LABEL], int.from_bytes(raw, "big")
        else:
            fail_if(token is not None and token.address != raw, UNSPECIFIED)
            self._named.add(place)
        if place not in self._amounts or place not in self._named:
            return []
        self._named.remove(place)
        label, amount = self._amounts.pop(place)
        return [ScreenField(label, token_amount(amount, token))]

    def finish(self) -> list[ScreenField]:
        """Return what is shown, once nothing is missing."""
        if self._count is None or len(self._paths) != self._count:
            raise Failed(MISSING)
        return self._shown


def _parts(data: bytes, *, labelled: bool, placed: bool) -> tuple[bytes, bytes, bytes]:
    """Return the label, the byte after it and the signature; empty is what a command has not."""
    label, at = b"", 0
    if labelled:
        at = 1 + (data[0] if data else 0)
        label = data[1:at]
    place = data[at : at + placed]
    at += placed
    signature = data[at + 1 :]
    fail_if(at >= len(data) or data[at] != len(signature), UNSPECIFIED)
    return label, place, signature


def _time(field: FieldType, raw: bytes) -> str:
    if len(raw) >= field.size and set(raw) == {0xFF}:
        return "Unlimited"
    moment = datetime.fromtimestamp(int.from_bytes(raw, "big"), UTC)
    return moment.strftime("%Y-%m-%d\n%I:%M:%S %p UTC")
