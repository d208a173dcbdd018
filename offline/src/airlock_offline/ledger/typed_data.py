"""Typed data as the APDUs of the Ethereum app's full-fields flow: definitions, then every value, then the signature.

The device builds the hash from these values itself and shows each of them. Order of the definitions: ``EIP712Domain``,
then the reachable structs in the order of ``types``. No struct that can be pinned has an array, and none is sent
(:func:`type_faults`). Source: the app's protocol description (INS 1A, 1C and 0C with P2 = 01); tests compare every APDU
with the recorded exchanges. Below it, Ledger's signed filters, and what a Ledger is given and needed for.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

from airlock_offline.ledger.device_errors import (
    SW_DATA,
    SW_OK,
    SW_ORDER,
    SW_PARAMETER,
    NoSuchWidth,
    SignedOtherwise,
    TooLargeForDevice,
    wrong_answer,
)
from airlock_offline.ledger.screens import (
    FILTERED,
    Leaf,
    Page,
    ScreenField,
    ShownTransaction,
    authorization_pages,
    leaves,
    network,
    notes_of,
    raw_value,
    review_pages,
    shown_transaction,
    token_amount,
    transaction_pages,
    typed_data_pages,
)
from airlock_offline.ledger.transport import (
    P1_FIRST,
    P1_PARTIAL,
    P2_FIELD,
    P2_NAME,
    P2_SIGN_FIELDS,
    Apdu,
    Ins,
    chunks,
    encode_integer,
    encode_path,
    ethereum_apdu,
)
from airlock_shared.checks.intent import typed_data_of
from airlock_shared.checks.model import CallCase, Case, IntentCase
from airlock_shared.documents.ledger_metadata import (
    AMOUNT_FORMAT,
    AT_THE_CONTRACT,
    DATETIME_FORMAT,
    RAW_FORMAT,
    TOKEN_FORMAT,
    FieldFilter,
    MessageFilters,
    TokenMetadata,
)
from airlock_shared.errors import DeviceError
from airlock_shared.ethereum.eip712 import MessageValue, TypedData, atomic_kind, reached
from airlock_shared.ethereum.struct_types import DOMAIN_TYPE, Structs

MAX_VALUE_BYTES = 0xFFFF  # the length before a value has two bytes

SIGNED_BITS = (8, 16, 32, 64, 128, 256)
"""The app answers 6A80 to signed integers of any other width, as if a setting were off; unsigned ones it takes in all."""

_SIZE_FLAG = 0x40
_CUSTOM = 0
_TYPE_CODES = {"int": 1, "uint": 2, "address": 3, "bool": 4, "string": 5, "bytesN": 6, "bytes": 7}


class FieldsFlow(NamedTuple):
    """The three parts of the flow, in the order in which they are sent."""

    definitions: list[Apdu]
    values: list[Apdu]
    sign: Apdu


def fields_flow(path: str, typed_data: TypedData) -> FieldsFlow:
    """Return every APDU with which the device signs ``typed_data`` field by field.

    Raises ``UsageError`` when ``path`` is not a path, ``TooLargeForDevice`` when a limit is passed, ``NoSuchWidth``.
    """
    definitions = definitions_of(typed_data.structs)
    values = root_of(DOMAIN_TYPE) + values_of(leaves(typed_data, DOMAIN_TYPE))
    values += root_of(typed_data.primary_type) + values_of(leaves(typed_data, typed_data.primary_type))
    sign = ethereum_apdu(Ins.SIGN_EIP712, P1_FIRST, P2_SIGN_FIELDS, encode_path(path))
    return FieldsFlow(definitions, values, sign)


WIDTHS = f"signed integers of {', '.join(map(str, SIGNED_BITS))} bits"
BY_HASHES_DO = (
    'no setting of the app changes this: have the signer sign by hashes (show = "hashes", needs Blind signing), or do not '
    "sign this with a Ledger"
)


def refused_integers(structs: Structs) -> list[str]:
    """Return the members whose integers have a width that the app refuses, as ``Order.price (int24)``."""
    every = (
        (f"{name}.{each.name} ({each.type})", atomic_kind(each.type)) for name in structs for each in structs[name]
    )
    return [said for said, kind in every if kind and kind[0] == "int" and kind[1] not in SIGNED_BITS]


# ---- definitions --------------------------------------------------------------------------------------------------


def definitions_of(structs: Structs) -> list[Apdu]:
    """Return the commands that define structs, in their order. Raises as :func:`fields_flow`."""
    if refused := refused_integers(structs):
        raise NoSuchWidth(f"the Ethereum app takes {WIDTHS} alone, and not {', '.join(refused)}", do=BY_HASHES_DO)
    define = partial(ethereum_apdu, Ins.EIP712_DEFINITION, P1_FIRST)
    result: list[Apdu] = []
    for name, members in structs.items():
        result.append(define(P2_NAME, name.encode()))
        result += [define(P2_FIELD, _type_code(kind, structs) + _with_length(member)) for member, kind in members]
    return result


def _type_code(type_name: str, structs: Structs) -> bytes:
    if type_name in structs:
        return bytes((_CUSTOM,)) + _with_length(type_name)
    kind, size = atomic_kind(type_name) or ("", 0)
    code = _TYPE_CODES[kind]
    return bytes((code | _SIZE_FLAG, size if kind == "bytesN" else size // 8)) if size else bytes((code,))


def _with_length(name: str) -> bytes:
    return bytes((len(name),)) + name.encode()


# ---- values -------------------------------------------------------------------------------------------------------


def root_of(name: str) -> list[Apdu]:
    """Return the command that begins the values of a root struct."""
    return [ethereum_apdu(Ins.EIP712_VALUE, P1_FIRST, P2_NAME, name.encode())]


def values_of(items: Iterable[Leaf]) -> list[Apdu]:
    """Return the commands for values. Raises ``TooLargeForDevice``."""
    return [apdu for leaf in items for apdu in _value(leaf)]


def _value(leaf: Leaf) -> list[Apdu]:
    raw = encode_value(leaf.type, leaf.value)
    if len(raw) > MAX_VALUE_BYTES:
        what = f"{leaf.name} has {len(raw)} bytes, at most {MAX_VALUE_BYTES}"
        raise TooLargeForDevice(f"the Ledger cannot be asked to show this typed data: {what}", do="split the request")
    *pieces, last = chunks(len(raw).to_bytes(2, "big") + raw)
    partly = [ethereum_apdu(Ins.EIP712_VALUE, P1_PARTIAL, P2_FIELD, piece) for piece in pieces]
    return [*partly, ethereum_apdu(Ins.EIP712_VALUE, P1_FIRST, P2_FIELD, last)]


def encode_value(type_name: str, value: MessageValue) -> bytes:
    """Return a canonical value in its wire form: integers minimal, a negative one at full width, the rest as it is."""
    kind, bits = atomic_kind(type_name) or ("", 0)
    if kind in ("int", "uint"):
        return value.to_bytes(bits // 8, "big", signed=True) if value < 0 else encode_integer(value)
    if kind == "bool":
        return b"\x01" if value else b"\x00"
    return value.encode() if isinstance(value, str) else bytes(value)


# ---- app faults -----------------------------------------------------------------------------------------------------
# Typed data of which the Ethereum app signs another digest than EIP-712's: told before anything is shown or sent.
# Measured on the released app 1.22.0 in the emulator, on Flex and Nano S Plus; public as pull request 1060 of
# LedgerHQ's app-ethereum. Such a signature recovers to nobody's address, so that it would be refused afterwards all
# the same. No newer release was measured: each is taken to do as 1.22.0 does until one was.


EXPECTED = "data that the Ethereum app hashes as EIP-712 says"
_MEASURED = "1.22.0"
_MEMBERS = 16  # of a nested struct


def type_faults(structs: Structs, primary: str) -> list[str]:
    """Return a sentence for each fault that the types bring, and for arrays: nothing here sends or shows one."""
    within = reached(structs, primary)
    found = {
        f"a struct of {_MEMBERS} members within another is signed over another hash (app {_MEASURED})": [
            name for name in within if len(structs[name]) == _MEMBERS
        ],
        "no array is sent to a Ledger": [
            f"{name}.{member.name} ({member.type})"
            for name in {primary, *within}
            for member in structs[name]
            if "[" in member.type
        ],
    }
    return [f"{what}: {', '.join(sorted(places))}" for what, places in found.items() if places]


def require_no_fault(typed_data: TypedData) -> None:
    """Raise ``SignedOtherwise`` for typed data of which the app signs another digest, or that has an array."""
    if faults := type_faults(typed_data.structs, typed_data.primary_type):
        raise SignedOtherwise(f"the Ethereum app does not sign this as it is: {'; '.join(faults)}", do=BY_HASHES_DO)


# ---- filters --------------------------------------------------------------------------------------------------------
# Typed data of which a Ledger is told how to show it: Ledger's signed filters (INS 1E), sent with the values.
# With Raw messages off the device then shows the members that have a filter, under its labels, and hides the others. The
# signature is the same. Sources: ``doc/eip712.md``, ``filtering.c`` and ``ui_logic.c`` of LedgerHQ/app-ethereum 1.22.0.


P2_ACTIVATE, P2_MESSAGE = 0x00, 0x0F
P2_OF = {DATETIME_FORMAT: 0xFC, TOKEN_FORMAT: 0xFD, AMOUNT_FORMAT: 0xFE, RAW_FORMAT: 0xFF}
AMOUNT_LABEL = 25  # AMOUNT_JOIN_NAME_LENGTH: the app cuts what is longer
_REFUSALS = (SW_PARAMETER, SW_DATA, SW_ORDER)  # of what the device is told; a locked one, say, answers something else
LATEST_S = 253_402_300_799  # the end of the year 9999

_SETTING = (
    "These pages need Raw messages off. If the Ledger shows others, such as the warning of Blind signing, reject there, "
    "turn Raw messages off, and sign again."
)
_DO = "pin a deployment with newer filters, or without them: the Ledger then shows every member with Raw messages on"


class FiltersRefused(DeviceError):
    """The app does not accept a message filter, or the record of the token of which amounts are."""


class NoDate(DeviceError):
    """A number that the device would show as a date which it is not."""


class FilteredMessage(NamedTuple):
    """What a Ledger is told of a message: its filters, and the record of the one token of which it may be told."""

    filters: MessageFilters
    token: TokenMetadata | None

    def flow(self, path: str, typed_data: TypedData) -> FieldsFlow:
        """Return every APDU with which the device signs ``typed_data`` as the filters show it.

        The structs are defined by name, as in the schema that Ledger has signed. Raises as ``fields_flow``.
        """
        definitions = definitions_of(dict(sorted(typed_data.structs.items())))
        name = self.filters.label.encode()
        message = bytes((len(name),)) + name + bytes((len(self.filters.fields),))
        values = [_filter(P2_ACTIVATE, b""), *root_of(DOMAIN_TYPE), *values_of(leaves(typed_data, DOMAIN_TYPE))]
        values.append(_filter(P2_MESSAGE, _signed(message, self.filters.signature)))
        values += root_of(typed_data.primary_type)
        places: set[int | None] = {None}
        for leaf in leaves(typed_data, typed_data.primary_type):
            if each := self._filter_of(leaf):
                token = None if each.token in places else self._token_at(each.token, typed_data)
                values += [ethereum_apdu(Ins.TOKEN, 0, 0, token.record)] if token else []
                values.append(_filter(P2_OF[each.format], _payload(each)))
                places.add(each.token)
            values += values_of((leaf,))
        sign = ethereum_apdu(Ins.SIGN_EIP712, P1_FIRST, P2_SIGN_FIELDS, encode_path(path))
        return FieldsFlow(definitions, values, sign)

    def is_about_filters(self, apdu: Apdu, reply: bytes, sw: int) -> bool:
        """Tell whether this answers what the device is told, and not a value. Raises ``FiltersRefused``, ``WrongAnswer``."""
        if apdu.ins not in (Ins.EIP712_FILTER, Ins.TOKEN) or sw not in (SW_OK, *_REFUSALS):
            return False
        if sw in _REFUSALS:
            what = "the record of the token" if apdu.ins == Ins.TOKEN else "a message filter"
            raise FiltersRefused(
                f"the Ledger does not accept {what} for {self.filters.struct} (status {sw:04x}): its signature, or what it "
                f"is for",
                do=_DO,
            )
        if len(reply) != (apdu.ins == Ins.TOKEN):
            raise wrong_answer("tell the Ledger how to show the message", f"{len(reply)} bytes")
        return True

    def pages(self, typed_data: TypedData, model: str) -> list[Page]:
        """Return the pages that come, up to the one that signs. Raises ``NoDate``."""
        return review_pages(FILTERED, self.screen_fields(typed_data, model), model)

    def notes(self, typed_data: TypedData, model: str) -> list[str]:
        """Return which member each label stands for, what the device does not show, and what a wrong setting looks like."""
        notes = [
            _SETTING,
            f'The labels are Ledger\'s. "{self.filters.label}" stands for the contract that this is signed for.',
        ]
        for leaf in leaves(typed_data, typed_data.primary_type):
            each, path = self._filter_of(leaf), leaf.path
            if each is None:
                notes.append(f"The Ledger does NOT SHOW {path}: read it here.")
                continue
            if each.format == TOKEN_FORMAT:
                notes.append(f"The Ledger does NOT SHOW {path} itself, but the ticker of the token: read it here.")
                continue
            notes.append(f'"{_shown_label(each)}" on the Ledger is {path}.')
            if each.format == RAW_FORMAT:
                notes += notes_of(leaf, model, path)
            elif each.format == AMOUNT_FORMAT and self._token_at(each.token, typed_data) is None:
                notes.append(f"The Ledger is not told of the token: it shows {path} raw, with ??? for its ticker.")
        notes.append("The Ledger does NOT SHOW the domain, but for a network's name other than Ethereum's.")
        return notes

    def screen_fields(self, typed_data: TypedData, model: str) -> list[ScreenField]:
        """Return what the device shows: an amount and its token once, where the second of both comes. Raises ``NoDate``."""
        chain_id = typed_data.domain["chainId"]
        fields = [ScreenField("Contract", self.filters.label)]
        fields += [ScreenField("Network", network(chain_id))] if chain_id != 1 else []
        amounts: dict[int, ScreenField] = {}
        came: list[int] = []
        for leaf in leaves(typed_data, typed_data.primary_type):
            each = self._filter_of(leaf)
            if each is None:
                continue
            if each.token is None:
                value = _time(leaf) if each.format == DATETIME_FORMAT else raw_value(leaf, model)
                fields.append(ScreenField(each.label, value))
                continue
            if each.format == AMOUNT_FORMAT:
                amount = token_amount(leaf.value, self._token_at(each.token, typed_data))
                amounts[each.token] = ScreenField(_shown_label(each), amount)
            if each.token == AT_THE_CONTRACT or each.token in came:
                fields.append(amounts[each.token])
            came.append(each.token)
        return fields

    def _filter_of(self, leaf: Leaf) -> FieldFilter | None:
        return next((each for each in self.filters.fields if each.path == leaf.path), None)

    def _token_at(self, place: int | None, typed_data: TypedData) -> TokenMetadata | None:
        """Return the token at a place, None for one of which the device is not told."""
        address = typed_data.domain["verifyingContract"]
        if place != AT_THE_CONTRACT:
            path = next(each.path for each in self.filters.fields if (each.token, each.format) == (place, TOKEN_FORMAT))
            address = next(leaf.value for leaf in leaves(typed_data, typed_data.primary_type) if leaf.path == path)
        return self.token if self.token is not None and self.token.address == address else None


def _shown_label(each: FieldFilter) -> str:
    return each.label[:AMOUNT_LABEL] if each.format == AMOUNT_FORMAT else each.label


def _filter(p2: int, data: bytes) -> Apdu:
    return ethereum_apdu(Ins.EIP712_FILTER, P1_FIRST, p2, data)


def _payload(each: FieldFilter) -> bytes:
    label, place = each.label.encode(), b"" if each.token is None else bytes((each.token,))
    return _signed((b"" if each.format == TOKEN_FORMAT else bytes((len(label),)) + label) + place, each.signature)


def _signed(data: bytes, signature: bytes) -> bytes:
    return data + bytes((len(signature),)) + signature


def _time(leaf: Leaf) -> str:
    """Return a time as the device writes it. Raises ``NoDate`` where it would show another one than the number says."""
    bits = (atomic_kind(leaf.type) or ("", 0))[1]
    if leaf.value == (1 << bits) - 1:
        return "Unlimited"
    if leaf.value > LATEST_S:
        raise NoDate(
            f"the Ledger would show {leaf.path} as a date that is not meant: {leaf.value} seconds are after the year 9999",
            do="correct the plan; a value in milliseconds needs a deployment that is pinned without these filters",
        )
    return datetime.fromtimestamp(leaf.value, UTC).strftime("%Y-%m-%d\n%I:%M:%S %p UTC")


# ---- what a device is given -----------------------------------------------------------------------------------------
# What a Ledger is given and needed for, and the pages on which it shows that: for the review, and for the report.


class Need(NamedTuple):
    """What a Ledger is needed for: its 20-byte account at a path, and the settings without which the app does not sign.

    Whether Blind signing is on can be read. Whether Raw messages is cannot: that is for people to look up. ``filtered``: a
    message of which the app is told how to show it needs Raw messages off.
    """

    path: str
    account: bytes
    blind_signing: bool = False
    raw_messages: bool = False
    filtered: bool = False


def filtered_message(case: IntentCase) -> FilteredMessage | None:
    """Return what a Ledger is told of a message that it shows by fields; None where the deployment has no filters for it."""
    deployment = case.situation.deployment
    if case.intent.name not in deployment.filters or case.step.signer.show == "hashes":
        return None
    return FilteredMessage(deployment.filters[case.intent.name], deployment.token)


def need_of(case: Case) -> Need:
    """Return what a Ledger must be and allow to sign this, and nothing beyond."""
    signer = case.step.signer
    if isinstance(case, IntentCase):
        by_hashes, filtered = signer.show == "hashes", filtered_message(case) is not None
        raw_messages = not (by_hashes or filtered)
        return Need(signer.path, signer.address, by_hashes, raw_messages, filtered)
    return Need(signer.path, signer.address, blind_signing=not case.is_authorization and _shown(case).blind)


def device_pages(case: Case, model: str, *, by_hashes: bool) -> list[Page]:
    """Return the pages of a model, up to the one that signs."""
    if isinstance(case, IntentCase):
        if filtered := filtered_message(case):
            return filtered.pages(typed_data_of(case), model)
        return typed_data_pages(typed_data_of(case), case.hashes, model, by_hashes=by_hashes)
    if case.is_authorization:
        return authorization_pages(case.request.payload, case.step.signer.address, model)
    return transaction_pages(_shown(case), model)


def _shown(case: CallCase) -> ShownTransaction:
    return shown_transaction(case.request, case.step.signer.address, case.digest, case.token_for_device)
