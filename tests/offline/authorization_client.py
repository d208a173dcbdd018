"""Asking the Ethereum app for an EIP-7702 authorization. No program of ours does (ADR 39); the software Ledger answers."""

from __future__ import annotations

from airlock_offline.ledger.apdu import P1_AUTHORIZATION_FIRST, Ins, encode_integer, encode_path, ethereum_apdu
from airlock_offline.ledger.ethereum_app import EthereumApp
from airlock_offline.ledger.replies import DeviceSignature


def sign_authorization(app: EthereumApp, path: str, chain_id: int, contract: bytes, nonce: int) -> DeviceSignature:
    """Ask for an authorization of a 20-byte contract; the zero address revokes. Layout as recorded from the app."""
    values = (b"\x01", contract, encode_integer(chain_id), encode_integer(nonce))
    listed = b"".join(bytes((tag, len(value))) + value for tag, value in enumerate(values))
    data = encode_path(path) + len(listed).to_bytes(2, "big") + listed
    apdu = ethereum_apdu(Ins.SIGN_AUTHORIZATION, P1_AUTHORIZATION_FIRST, 0, data)
    reply = app.ask(apdu, "sign the authorization", person=True)
    return DeviceSignature(reply[1:33], reply[33:], reply[0])
