"""The software Ledger: the Ethereum app's state machine, with a public test seed. A simulator for rehearsals and tests.

It answers as the real app 1.22.0 answered when it was recorded (``tests/vectors/ledger``), and can misbehave on request.
Not simulated: filtered typed data (INS 1E), chain codes, and what ``transactions`` names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from airlock_offline.emulator import answers, authorizations, keys, transactions
from airlock_offline.emulator.answers import Failed
from airlock_offline.emulator.display import typed_fields
from airlock_offline.emulator.typed_stream import TypedStream
from airlock_offline.ledger.apdu import (
    CLA_ETHEREUM,
    CLA_SYSTEM,
    INS_APP_AND_VERSION,
    P1_AUTHORIZATION_FIRST,
    P1_CONFIRM,
    P1_FIRST,
    P1_MORE,
    P1_PARTIAL,
    P2_ARRAY,
    P2_FIELD,
    P2_NAME,
    P2_SIGN_FIELDS,
    P2_SIGN_HASHES,
    Ins,
)
from airlock_offline.ledger.screens import (
    FLEX_MODEL,
    HASHES,
    MODELS,
    TYPED_DATA,
    Field,
    Page,
    Review,
    address_pages,
    hash_fields,
    review_pages,
    shown_string,
)
from airlock_offline.ledger.status import DeviceLost
from airlock_shared.errors import UsageError
from airlock_shared.keccak import keccak256

FAULTS = {
    "lock": "it is locked: every command is answered with 5515",
    "refuse": "the person rejects whatever is asked",
    "disconnect": "it is unplugged in the middle of signing",
    "wrong-account": "it derives another account than the one asked for",
    "wrong-hash": "it signs another hash than the one that it showed",
    "high-s": "it answers signatures in their malleable form",
    "wrong-app": "another app is open",
    "old-version": "the Ethereum app is 1.10.4",
}

Screens = Callable[[list[Page]], bool]
"""Shows the pages of one request and returns whether the person approves."""

_VERSION, _OLD_VERSION = (1, 22, 0), (1, 10, 4)
_ALWAYS_SET = 0x02  # in the configuration's flags, as recorded
_SIGNING = (Ins.EIP712_VALUE, Ins.SIGN_EIP712, Ins.SIGN_TRANSACTION, Ins.SIGN_PERSONAL_MESSAGE, Ins.SIGN_AUTHORIZATION)
_MESSAGE = Review(["Review message"], ["Sign message"], ["Review message"], ["Sign message?"], blind=False)


class Settings(NamedTuple):
    """The app's settings, by default as we advise: Raw messages on, Blind signing off."""

    raw_messages: bool = True
    blind_signing: bool = False
    smart_accounts: bool = False


class _Upload(NamedTuple):
    """A transaction or a personal message that is coming in piece by piece."""

    ins: Ins
    path: tuple[int, ...]
    data: bytes


def approve(_pages: list[Page]) -> bool:
    """Approve whatever is shown."""
    return True


class SoftwareLedger:
    """A simulated Ledger with the Ethereum app open. It is a ``Transport`` too, for tests in the same process."""

    def __init__(
        self,
        *,
        model: str = MODELS[0],
        settings: Settings = Settings(),  # noqa: B008  (a frozen value)
        seed: str = keys.TEST_SEED,
        faults: frozenset[str] = frozenset(),
        screens: Screens = approve,
    ) -> None:
        """Switch it on. Raises ``UsageError`` for a model or a fault that there is not."""
        if model not in MODELS or not faults <= set(FAULTS):
            raise UsageError(
                f"no such software Ledger: {model} with {sorted(faults)}",
                do=f"models: {', '.join(MODELS)}; faults: {', '.join(FAULTS)}",
            )
        self._model = model
        self._settings = settings
        self._seed = seed
        self._faults = faults
        self._screens = screens
        self._typed: TypedStream | None = None
        self._upload: _Upload | None = None

    def exchange(self, apdu: bytes, *, person: bool = False) -> tuple[bytes, int]:  # noqa: ARG002  (as a Transport)
        """Answer one APDU with data and status word. Raises ``DeviceLost`` when it is to be unplugged."""
        try:
            return self._answer(apdu), answers.OK
        except Failed as failed:
            return b"", failed.sw

    def close(self) -> None:
        """Forget what was begun, as when the app is closed and opened again."""
        self._typed = self._upload = None

    def _answer(self, apdu: bytes) -> bytes:
        if "lock" in self._faults:
            raise Failed(answers.LOCKED)
        if len(apdu) < 5 or len(apdu) != 5 + apdu[4]:
            raise Failed(answers.BAD_DATA)
        cla, ins, p1, p2, data = *apdu[:4], apdu[5:]
        if (cla, ins) == (CLA_SYSTEM, INS_APP_AND_VERSION):
            return self._app_and_version()
        if cla != CLA_ETHEREUM or "wrong-app" in self._faults:
            raise Failed(answers.CLASS)
        if "disconnect" in self._faults and ins in _SIGNING:
            self.close()
            raise DeviceLost("the software Ledger was unplugged", do="plug it in again and sign again")
        handlers: dict[int, Callable[[int, int, bytes], bytes]] = {
            Ins.ADDRESS: self._address,
            Ins.CONFIGURATION: self._configuration,
            Ins.SIGN_TRANSACTION: self._transaction,
            Ins.SIGN_PERSONAL_MESSAGE: self._personal_message,
            Ins.SIGN_EIP712: self._sign_typed,
            Ins.EIP712_DEFINITION: self._define,
            Ins.EIP712_VALUE: self._value,
            Ins.SIGN_AUTHORIZATION: self._authorization,
        }
        if ins not in handlers:
            raise Failed(answers.INSTRUCTION)
        return handlers[ins](p1, p2, data)

    # ---- what it says of itself

    def _number(self) -> tuple[int, int, int]:
        return _OLD_VERSION if "old-version" in self._faults else _VERSION

    def _app_and_version(self) -> bytes:
        name = "Bitcoin" if "wrong-app" in self._faults else "Ethereum"
        version = ".".join(map(str, self._number())) + ("-dev" if self._model == FLEX_MODEL else "")
        parts = (name.encode(), version.encode(), b"\0")
        return b"\x01" + b"".join(bytes((len(part),)) + part for part in parts)

    def _configuration(self, _p1: int, _p2: int, _data: bytes) -> bytes:
        return bytes((_ALWAYS_SET | self._settings.blind_signing, *self._number()))

    def _address(self, p1: int, p2: int, data: bytes) -> bytes:
        if p1 not in (P1_FIRST, P1_CONFIRM) or p2 != 0:
            raise Failed(answers.PARAMETERS)
        path, rest = keys.read_path(data)
        if len(rest) not in (0, 8):
            raise Failed(answers.BAD_DATA)
        account = self._account(path)
        if p1 == P1_CONFIRM:
            network = transactions.network(int.from_bytes(rest, "big") if rest else 1)
            self._ask(address_pages(network, account.address, self._model))
        text = account.address[2:].encode()
        return bytes((len(account.public_key),)) + account.public_key + bytes((len(text),)) + text

    # ---- the person and the key

    def _account(self, path: tuple[int, ...]) -> keys.Account:
        if "wrong-account" in self._faults:
            path = (*path[:-1], path[-1] ^ 1)
        return keys.derive(self._seed, path)

    def _ask(self, pages: list[Page]) -> None:
        if not self._screens(pages) or "refuse" in self._faults:
            raise Failed(answers.REFUSED)

    def _ask_review(self, review: Review, fields: list[Field]) -> None:
        self._ask(review_pages(review, fields, self._model))

    def _sign(self, path: tuple[int, ...], digest: bytes, first_v: int) -> bytes:
        if "wrong-hash" in self._faults:
            digest = keccak256(digest)
        parity, rs = keys.sign(self._account(path).private_key, digest, high_s="high-s" in self._faults)
        return bytes((first_v + parity,)) + rs

    # ---- typed data

    def _define(self, _p1: int, p2: int, data: bytes) -> bytes:
        typed = self._typed or TypedStream()
        self._typed = None  # unless all goes well; a flow that was left half-way is forgotten here
        if typed.rooted:
            raise Failed(answers.UNSPECIFIED)
        if p2 == P2_NAME:
            typed.define_struct(data)
        elif p2 == P2_FIELD:
            typed.define_field(data)
        else:
            raise Failed(answers.PARAMETERS)
        self._typed = typed
        return b""

    def _value(self, p1: int, p2: int, data: bytes) -> bytes:
        typed, self._typed = self._typed, None
        if typed is None:
            raise Failed(answers.ORDER)
        if (p2 == P2_FIELD or self._model == FLEX_MODEL) and not self._may_sign_fields():  # a Nano notices later
            raise Failed(answers.BAD_DATA)
        if p2 == P2_NAME:
            typed.begin(data)
        elif p2 == P2_ARRAY:
            typed.count(data)
        elif p2 == P2_FIELD:
            typed.value(data, more=p1 == P1_PARTIAL)
        else:
            raise Failed(answers.PARAMETERS)
        self._typed = typed
        return b""

    def _may_sign_fields(self) -> bool:
        return self._settings.raw_messages or self._settings.blind_signing

    def _sign_typed(self, _p1: int, p2: int, data: bytes) -> bytes:
        if p2 == P2_SIGN_HASHES:
            path, hashes = keys.read_path(data)
            if len(hashes) != 64 or not self._settings.blind_signing:
                raise Failed(answers.BAD_DATA)
            domain, message = hashes[:32], hashes[32:]
            self._ask_review(HASHES, hash_fields(domain, message))
        elif p2 == P2_SIGN_FIELDS:
            typed, self._typed = self._typed, None
            if typed is None:
                raise Failed(answers.ORDER)
            domain, message = typed.domain_and_message()
            path, rest = keys.read_path(data)
            if rest:
                raise Failed(answers.BAD_DATA)
            fields_shown = self._settings.raw_messages or self._model == FLEX_MODEL
            review = TYPED_DATA if fields_shown else HASHES
            self._ask_review(review, typed_fields(typed, self._model, message_hash_only=not fields_shown))
        else:
            raise Failed(answers.PARAMETERS)
        return self._sign(path, keccak256(b"\x19\x01" + domain + message), 27)

    # ---- transactions, messages, authorizations

    def _received(self, ins: Ins, p1: int, data: bytes) -> _Upload:
        upload, self._upload = self._upload, None
        if p1 == P1_FIRST:
            path, rest = keys.read_path(data)
            return _Upload(ins, path, rest)
        if p1 != P1_MORE:
            raise Failed(answers.PARAMETERS)
        if upload is None or upload.ins != ins:
            raise Failed(answers.ORDER)
        return upload._replace(data=upload.data + data)

    def _transaction(self, p1: int, _p2: int, data: bytes) -> bytes:
        upload = self._received(Ins.SIGN_TRANSACTION, p1, data)
        transaction = transactions.read_so_far(upload.data)
        if transaction.has_calldata and not self._settings.blind_signing:
            raise Failed(answers.BAD_DATA)
        if transaction.end is None:
            self._upload = upload
            return b""
        digest = keccak256(upload.data[: transaction.end])
        sender = self._account(upload.path).address
        self._ask_review(*transactions.review_of(transaction, sender, digest, self._model))
        return self._sign(upload.path, digest, 0)

    def _personal_message(self, p1: int, _p2: int, data: bytes) -> bytes:
        upload = self._received(Ins.SIGN_PERSONAL_MESSAGE, p1, data)
        length, message = int.from_bytes(upload.data[:4], "big"), upload.data[4:]
        if len(upload.data) < 4 or len(message) > length:
            raise Failed(answers.BAD_DATA)
        if len(message) < length:
            self._upload = upload
            return b""
        is_text = all(0x20 <= byte <= 0x7E or byte == 0x0A for byte in message)
        shown = message if is_text else b"0x" + message.hex().encode()
        self._ask_review(_MESSAGE, [Field("Message", shown_string(shown, self._model))])
        prefix = b"\x19Ethereum Signed Message:\n" + str(length).encode()  # EIP-191, version 0x45
        return self._sign(upload.path, keccak256(prefix + message), 27)

    def _authorization(self, p1: int, _p2: int, data: bytes) -> bytes:
        if p1 != P1_AUTHORIZATION_FIRST:
            raise Failed(answers.PARAMETERS)
        path, rest = keys.read_path(data)
        if not self._settings.smart_accounts:
            raise Failed(answers.ORDER)
        authorization = authorizations.read_authorization(rest)
        self._ask_review(*authorizations.review_of(authorization, self._account(path).address, self._model))
        return self._sign(path, authorization.digest(), 0)
