"""What the Ethereum app takes in pieces: transactions, authorizations, personal messages, and the token of a transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airlock_offline.ledger.apdu import (
    P1_AUTHORIZATION_FIRST,
    P1_FIRST,
    P1_MORE,
    Ins,
    chunks,
    encode_path,
    ethereum_apdu,
)
from airlock_offline.ledger.replies import DeviceSignature
from airlock_offline.ledger.status import BLIND_SIGNING, SW_DATA, SW_OK, TokenRefused, wrong_answer
from airlock_shared.errors import UsageError

if TYPE_CHECKING:
    from airlock_offline.ledger.ethereum_app import EthereumApp
    from airlock_shared.documents.token_metadata import TokenMetadata

TYPED_TRANSACTIONS = (0x01, 0x02, 0x04)  # EIP-2930, EIP-1559, EIP-7702: the device answers the parity itself


def sign_transaction(app: EthereumApp, path: str, unsigned_transaction: bytes) -> DeviceSignature:
    """Sign an unsigned transaction of type 1, 2 or 4: the type byte and the RLP of its fields.

    Raises ``UsageError`` for a legacy transaction, of which the device answers only the low byte of v.
    """
    if unsigned_transaction[:1] not in [bytes((kind,)) for kind in TYPED_TRANSACTIONS]:
        raise UsageError("only transactions of type 1, 2 and 4 are signed", do="prepare it as an EIP-1559 transaction")
    payload = encode_path(path) + unsigned_transaction
    return _in_chunks(app, Ins.SIGN_TRANSACTION, payload, 0, "sign the transaction")


def sign_personal_message(app: EthereumApp, path: str, message: bytes) -> DeviceSignature:
    """Sign a personal message (EIP-191, version 0x45)."""
    payload = encode_path(path) + len(message).to_bytes(4, "big") + message
    return _in_chunks(app, Ins.SIGN_PERSONAL_MESSAGE, payload, 27, "sign the message")


def sign_authorization(app: EthereumApp, path: str, authorization: bytes) -> DeviceSignature:
    """Sign an EIP-7702 authorization, given as ``catalogue.authorizations`` writes it."""
    payload, doing = encode_path(path) + authorization, "sign the authorization"
    return _in_chunks(app, Ins.SIGN_AUTHORIZATION, payload, 0, doing, P1_AUTHORIZATION_FIRST)


def _in_chunks(
    app: EthereumApp, ins: Ins, payload: bytes, first_v: int, doing: str, first: int = P1_FIRST
) -> DeviceSignature:
    app.may_have_signed = False
    pieces = chunks(payload)
    for index, piece in enumerate(pieces[:-1]):  # with Debug contracts a person reads and confirms between the pieces
        apdu = ethereum_apdu(ins, P1_MORE if index else first, 0, piece)
        app.require_silence(*app.exchange(apdu, person=True), doing, BLIND_SIGNING)
    last = ethereum_apdu(ins, P1_MORE if len(pieces) > 1 else first, 0, pieces[-1])
    return app.ask_to_sign(last, doing, BLIND_SIGNING, first_v)


def provide_token(app: EthereumApp, token: TokenMetadata) -> None:
    """Tell the app of a token, for the next transaction alone: it then shows amounts of it.

    Raises ``TokenRefused`` when the app does not accept the record, which it does not show.
    """
    doing = "tell the Ledger of the token"
    app.may_have_signed = False
    reply, sw = app.exchange(ethereum_apdu(Ins.TOKEN, 0, 0, token.record))
    if sw == SW_DATA:
        raise TokenRefused(
            f"the Ledger does not accept the pinned record of {token.ticker}: its signature or its network",
            do="pin a deployment with a newer record, or without one: an approval is then signed blind",
        )
    if sw != SW_OK:
        app.require_silence(b"", sw, doing, BLIND_SIGNING)
    if len(reply) != 1:
        raise wrong_answer(doing, f"{len(reply)} bytes instead of 1")
