"""Ledger's signed records of tokens: the published one of USDC on Ethereum, and forms that nobody has signed."""

import base64
import json

from shared.world import VECTORS

PUBLISHED = (VECTORS / "device-metadata/erc20-signatures.json").read_bytes()
DER = bytes.fromhex("3006020101020101")
MAINNET_USDC = bytes.fromhex("a0b86991c6218b36c1d19d4a2e9eb0ce3606eb48")


def published() -> list[bytes]:
    rest = base64.b64decode(json.loads(PUBLISHED))
    found = []
    while rest:
        end = 4 + int.from_bytes(rest[:4], "big")
        found.append(rest[4:end])
        rest = rest[end:]
    return found


USDC_RECORD = published()[1]


def unsigned(
    address: bytes, chain_id: int, ticker: bytes = b"USDC", decimals: int = 6, signature: bytes = DER
) -> bytes:
    """Return a record whose signature is nobody's."""
    fixed = address + decimals.to_bytes(4, "big") + chain_id.to_bytes(4, "big")
    return bytes((len(ticker),)) + ticker + fixed + signature
