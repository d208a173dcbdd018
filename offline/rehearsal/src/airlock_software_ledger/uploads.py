"""Transactions and personal messages as the app takes them: piece by piece, shown and signed when all is there."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from airlock_offline.ledger.message_screens import MESSAGE_REVIEW, message_fields
from airlock_offline.ledger.screens import transaction_review
from airlock_offline.ledger.transport import P1_FIRST, P1_MORE, Ins
from airlock_shared.ethereum.signatures import keccak256
from airlock_software_ledger import transactions
from airlock_software_ledger.answers import ORDER, PARAMETERS, AppSettings, Failed, SigningRequest, fail_if
from airlock_software_ledger.display import Tokens
from airlock_software_ledger.keys import DerivedKey, read_path


class _Upload(NamedTuple):
    """What has come in so far, under which instruction and for which key."""

    ins: Ins
    path: tuple[int, ...]
    data: bytes


class Uploads:
    """The app's state between the pieces. Every method raises ``Failed`` for what the app refuses."""

    def __init__(
        self, model: str, settings: AppSettings, account: Callable[[tuple[int, ...]], DerivedKey], tokens: Tokens
    ) -> None:
        self._model = model
        self._settings = settings
        self._account = account
        self._tokens = tokens
        self._upload: _Upload | None = None

    def _received(self, ins: Ins, p1: int, data: bytes) -> _Upload:
        upload, self._upload = self._upload, None
        if p1 == P1_FIRST:
            path, rest = read_path(data)
            return _Upload(ins, path, rest)
        fail_if(p1 != P1_MORE, PARAMETERS)
        if upload is None or upload.ins != ins:
            raise Failed(ORDER)
        return upload._replace(data=upload.data + data)

    def transaction(self, p1: int, _p2: int, data: bytes) -> SigningRequest | None:
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

    def personal_message(self, p1: int, _p2: int, data: bytes) -> SigningRequest | None:
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
