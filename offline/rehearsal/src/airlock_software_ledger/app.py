"""The software Ledger: the Ethereum app's commands, with a public test seed. A simulator for rehearsals and tests.

It answers as the real app 1.22.0 answered when it was recorded (``tests/vectors/ledger``), and can misbehave on request.
Not simulated: what ``message_filters`` and ``transactions`` name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from airlock_offline.ledger.device_errors import DeviceLost
from airlock_offline.ledger.message_screens import MESSAGE_REVIEW, message_fields
from airlock_offline.ledger.models import DEFAULT_MODEL, MODELS, screen_of
from airlock_offline.ledger.screens import Page, network, review_pages, transaction_review
from airlock_offline.ledger.transport import (
    CLA_ETHEREUM,
    CLA_SIMULATOR,
    CLA_SYSTEM,
    INS_APP_AND_VERSION,
    INS_PRODUCT,
    P1_AUTHORIZATION_FIRST,
    P1_CONFIRM,
    P1_FIRST,
    P1_MORE,
    P2_CHAIN_CODE,
    Ins,
)
from airlock_shared.ethereum.signatures import keccak256
from airlock_software_ledger import keys, transactions
from airlock_software_ledger.answers import (
    CLASS,
    INSTRUCTION,
    LOCKED,
    OK,
    ORDER,
    PARAMETERS,
    REFUSED,
    AppSettings,
    Failed,
    SigningRequest,
    fail_if,
)
from airlock_software_ledger.display import Tokens, address_pages
from airlock_software_ledger.typed_flow import TypedFlow

_Screens = Callable[[list[Page]], bool]
"""Shows the pages of one request and returns whether the person approves."""

_OLD_VERSION = "1.10.4"
_ALWAYS_SET = 0x02  # in the configuration's flags, as recorded
_SIGNING = (Ins.EIP712_VALUE, Ins.SIGN_EIP712, Ins.SIGN_TRANSACTION, Ins.SIGN_PERSONAL_MESSAGE, Ins.SIGN_AUTHORIZATION)
_FORGETTING = (Ins.ADDRESS, Ins.SIGN_PERSONAL_MESSAGE, Ins.SIGN_EIP712)  # commands that begin without any token
_OTHER_APPS = {"wrong-app": ("Bitcoin", "2.4.0"), "app-closed": ("BOLOS", "1.6.0")}


def approve(_pages: list[Page]) -> bool:
    """Approve whatever is shown."""
    return True


class _Upload(NamedTuple):
    """What has come in so far, under which instruction and for which key."""

    ins: Ins
    path: tuple[int, ...]
    data: bytes


class SoftwareLedger:
    """A simulated Ledger with the Ethereum app open. It is a ``Transport`` too, for tests in the same process."""

    def __init__(
        self,
        *,
        model: str = DEFAULT_MODEL,
        settings: AppSettings = AppSettings(),  # noqa: B008  (a frozen value)
        seed: str = keys.TEST_SEED,
        faults: frozenset[str] = frozenset(),
        screens: _Screens = approve,
    ) -> None:
        """Switch it on: a model whose screens are known, and faults of the table."""
        self._model = model
        self._settings = settings
        self._seed = seed
        self._faults = faults
        self._screens = screens
        self.close()

    def exchange(self, apdu: bytes, *, person: bool = False) -> tuple[bytes, int]:  # noqa: ARG002  (as a Transport)
        """Answer one APDU with data and status word. Raises ``DeviceLost`` when it is to be unplugged."""
        try:
            return self._answer(apdu), OK
        except Failed as failed:
            return b"", failed.sw

    def close(self) -> None:
        """Forget what was begun, as when the app is closed and opened again."""
        self._tokens = Tokens()
        self._typed = TypedFlow(self._model, self._settings, self._tokens)
        self._upload: _Upload | None = None
        for fault in self._faults & {"left-in-message", "left-in-definitions"}:
            self._typed.leave_half_way(in_message=fault == "left-in-message")

    def _answer(self, apdu: bytes) -> bytes:
        fail_if("lock" in self._faults, LOCKED)
        fail_if(len(apdu) < 5 or len(apdu) != 5 + apdu[4])
        cla, ins, p1, p2, data = *apdu[:4], apdu[5:]
        if (cla, ins) == (CLA_SYSTEM, INS_APP_AND_VERSION):
            name, version = self._other_app() or ("Ethereum", self._version())
            parts = (name.encode(), version.encode(), b"\0")
            return b"\x01" + b"".join(bytes((len(part),)) + part for part in parts)
        if (cla, ins) == (CLA_SIMULATOR, INS_PRODUCT):
            return bytes((MODELS[self._model].usb_product, 0))
        fail_if(cla != CLA_ETHEREUM or self._other_app(), CLASS)
        if "disconnect" in self._faults and ins in _SIGNING:
            self.close()
            raise DeviceLost("the software Ledger was unplugged", do="plug it in again and sign again")
        answering: dict[int, Callable[[int, int, bytes], bytes | SigningRequest | None]] = {
            Ins.ADDRESS: self._address,
            Ins.CONFIGURATION: self._configuration,
            Ins.TOKEN: self._tokens.provide,
            Ins.EIP712_DEFINITION: self._typed.define,
            Ins.EIP712_VALUE: self._typed.value,
            Ins.EIP712_FILTER: self._typed.filter,
            Ins.SIGN_TRANSACTION: self._transaction,
            Ins.SIGN_PERSONAL_MESSAGE: self._personal_message,
            Ins.SIGN_EIP712: self._typed.finish,
            Ins.SIGN_AUTHORIZATION: self._authorization,
        }
        if ins in _FORGETTING:
            self._tokens.forget()
        fail_if(ins not in answering, INSTRUCTION)
        answer = answering[ins](p1, p2, data)
        return self._sign(answer) if isinstance(answer, SigningRequest) else answer or b""

    # ---- what arrives in pieces

    def _received(self, ins: Ins, p1: int, data: bytes) -> _Upload:
        upload, self._upload = self._upload, None
        if p1 == P1_FIRST:
            path, rest = keys.read_path(data)
            return _Upload(ins, path, rest)
        fail_if(p1 != P1_MORE, PARAMETERS)
        if upload is None or upload.ins != ins:
            raise Failed(ORDER)
        return upload._replace(data=upload.data + data)

    def _transaction(self, p1: int, _p2: int, data: bytes) -> SigningRequest | None:
        """Take a piece of a transaction; None while more has to come (garbage keeps it waiting, and answers 9000)."""
        upload = self._received(Ins.SIGN_TRANSACTION, p1, data)
        transaction = transactions.read_so_far(upload.data)
        fail_if(transaction.blind and not self._settings.blind_signing)
        if transaction.end is None:
            self._upload = upload
            return None
        digest = keccak256(upload.data[: transaction.end])
        shown = transactions.shown_of(transaction, self._account(upload.path).address, digest, self._tokens)
        self._tokens.forget()
        fail_if(shown.blind and not self._settings.blind_signing)
        return SigningRequest(upload.path, digest, transaction.first_v, *transaction_review(shown, self._model))

    def _personal_message(self, p1: int, _p2: int, data: bytes) -> SigningRequest | None:
        """Take a piece of a personal message; None while more has to come."""
        upload = self._received(Ins.SIGN_PERSONAL_MESSAGE, p1, data)
        length, message = int.from_bytes(upload.data[:4], "big"), upload.data[4:]
        fail_if(len(upload.data) < 4 or len(message) > length)
        if len(message) < length:
            self._upload = upload
            return None
        prefix = b"\x19Ethereum Signed Message:\n" + str(length).encode()  # EIP-191, version 0x45
        return SigningRequest(
            upload.path, keccak256(prefix + message), 27, MESSAGE_REVIEW, message_fields(message, self._model)
        )

    # ---- what it says of itself

    def _version(self) -> str:
        return _OLD_VERSION if "old-version" in self._faults else screen_of(self._model).app_version

    def _other_app(self) -> tuple[str, str] | None:
        return next((named for fault, named in _OTHER_APPS.items() if fault in self._faults), None)

    def _configuration(self, _p1: int, _p2: int, _data: bytes) -> bytes:
        number = self._version().partition("-")[0]
        return bytes((_ALWAYS_SET | self._settings.blind_signing, *map(int, number.split("."))))

    def _address(self, p1: int, p2: int, data: bytes) -> bytes:
        fail_if(p1 not in (P1_FIRST, P1_CONFIRM) or p2 not in (0, P2_CHAIN_CODE), PARAMETERS)
        path, rest = keys.read_path(data)
        fail_if(len(rest) not in (0, 8))
        account = self._account(path)
        if p1 == P1_CONFIRM:
            chain_id = int.from_bytes(rest, "big") if rest else 1
            self._ask(address_pages(network(chain_id), account.address, self._model))
        text = account.address[2:].encode()
        answer = bytes((len(account.public_key),)) + account.public_key + bytes((len(text),)) + text
        return answer + account.chain_code if p2 == P2_CHAIN_CODE else answer

    # ---- the person and the key

    def _account(self, path: tuple[int, ...]) -> keys.DerivedKey:
        if "wrong-account" in self._faults:
            path = (*path[:-1], path[-1] ^ 1)
        return keys.derive(keys.OTHER_SEED if "wrong-seed" in self._faults else self._seed, path)

    def _ask(self, pages: list[Page]) -> None:
        fail_if(not self._screens(pages) or "refuse" in self._faults, REFUSED)

    def _sign(self, asked: SigningRequest) -> bytes:
        self._ask(review_pages(asked.review, asked.fields, self._model))
        if "empty-success" in self._faults:
            return b""
        digest = keccak256(asked.digest) if "wrong-hash" in self._faults else asked.digest
        parity, rs = keys.sign(self._account(asked.path).private_key, digest, high_s="high-s" in self._faults)
        return bytes(((asked.first_v + parity) & 0xFF,)) + rs

    def _authorization(self, p1: int, _p2: int, data: bytes) -> SigningRequest:
        fail_if(p1 != P1_AUTHORIZATION_FIRST, PARAMETERS)
        path, rest = keys.read_path(data)
        fail_if(not self._settings.smart_accounts, ORDER)
        authorization = transactions.read_authorization(rest)
        review, fields = transactions.review_of(authorization, self._account(path).address, self._model)
        return SigningRequest(path, bytes(authorization.hash()), 0, review, fields)
