"""An unsigned transaction as a wallet shows it: one form is read, every other one has its refusal."""

from __future__ import annotations

from typing import Any

import pytest
import rlp

from airlock_offline.wallets.hot_wallet import MAX_TRANSACTION_BYTES, read_unsigned
from airlock_shared.errors import Refusal
from airlock_shared.ethereum.signatures import unsigned_bytes
from shared.world import VECTORS, good, request_of

STEPS = sorted(path.stem for path in (VECTORS / "transactions/good").glob("*.json"))
TO = bytes.fromhex("f39Fd6e51aad88F6F4ce6aB8827279cffFb92266")
FIELDS: list[Any] = [8453, 7, 1_000_000, 2_000_000_000, 60_000, TO, 0, bytes.fromhex("851b16f5"), []]


def written(**changes: Any) -> bytes:
    """The bytes of a transaction with fields changed, by their place (``f0`` to ``f8``)."""
    fields = [changes.get(f"f{place}", value) for place, value in enumerate(FIELDS)]
    return b"\x02" + bytes(rlp.encode(fields))


@pytest.mark.parametrize("step", STEPS)
def test_what_we_write_is_read_again(step: str) -> None:
    request = request_of(good(step, "transactions"))
    assert request.transaction is not None
    payload, filled = read_unsigned(unsigned_bytes(request.payload, request.transaction))
    assert filled == request.transaction
    for name in ("to", "data", "chainId"):
        assert str(payload[name]).lower() == str(request.payload[name]).lower()
    assert payload["value"] == "0x0"


ENTRY = [TO, [bytes(32)]]
LEGACY = bytes(rlp.encode([7, 2_000_000_000, 60_000, TO, 0, b"", 8453, b"", b""]))
BAD = {
    "legacy": (LEGACY, "TX-KEYS"),
    "type-4": (b"\x04" + written()[1:], "TX-KEYS"),
    "nothing": (b"", "TX-KEYS"),
    "access-list": (written(f8=[ENTRY]), "TX-KEYS"),
    "value-of-33-bytes": (written(f6=2**256), "QR-FIELD"),
    "creates-a-contract": (written(f5=b""), "TX-TO"),
    "to-too-long": (written(f5=TO + b"\0"), "TX-TO"),
    "data-is-a-list": (written(f7=[b"\x85"]), "QR-FIELD"),
    "nonce-is-a-list": (written(f1=[]), "QR-FIELD"),
    "nonce-as-a-zero-byte": (written(f1=b"\0"), "QR-FIELD"),
    "eight-fields": (b"\x02" + bytes(rlp.encode(FIELDS[:8])), "QR-FIELD"),
    "signed": (b"\x02" + bytes(rlp.encode([*FIELDS, 1, 2, 3])), "QR-FIELD"),
    "no-rlp": (b"\x02\xff\xff\xff", "QR-FIELD"),
    "cut": (written()[:-1], "QR-FIELD"),
    "a-byte-behind": (written() + b"\0", "QR-FIELD"),
    "a-length-in-the-long-form": (b"\x02\xf8" + bytes([len(written()) - 2]) + written()[2:], "QR-FIELD"),
    "nested-deep": (b"\x02" + b"\xc1" * 5_000 + b"\xc0", "QR-FIELD"),
    "too-long": (written(f7=bytes(MAX_TRANSACTION_BYTES)), "QR-FIELD"),
}


@pytest.mark.parametrize(("data", "check"), BAD.values(), ids=BAD)
def test_anything_but_the_one_form_is_refused(data: bytes, check: str) -> None:
    with pytest.raises(Refusal) as refused:
        read_unsigned(data)
    assert refused.value.check == check
