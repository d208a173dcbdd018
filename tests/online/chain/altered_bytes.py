"""Alterations of bytes: encodings and signatures that are not what was made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from airlock_shared.ethereum.abi import encode_struct
from airlock_shared.ethereum.signatures import CURVE_ORDER
from airlock_shared.venue.structs import CATALOGUE, types_of
from online.chain.bench import Altered, Bench, signature_by

FLIPS_OF_A_SIGNATURE = 22
FLIPS_OF_AN_ENCODING = 12


def encodings(bench: Bench) -> Iterator[Altered]:
    raw = bytes.fromhex(bench.payload["encodedIntent"][2:])
    for other, what in _other_encodings(bench, raw):
        made, payload = bench.document()
        payload["encodedIntent"] = "0x" + other.hex()
        kind = "not canonical" if _same_values(bench.struct, raw, other) else "encoding"
        yield bench.altered(kind, what, made=made)


def _other_encodings(bench: Bench, raw: bytes) -> Iterator[tuple[bytes, str]]:
    for _ in range(FLIPS_OF_AN_ENCODING):
        place = bench.pick.randrange(len(raw))
        yield (
            raw[:place] + bytes([raw[place] ^ 1 << bench.pick.randrange(8)]) + raw[place + 1 :],
            f"byte {place} flipped",
        )
    for cut in (1, 32, 64, len(raw) - 32, len(raw) - 1):
        yield raw[:-cut], f"{cut} bytes cut off"
    yield raw[32:] + raw[:32], "the first word moved to the end"
    yield (32).to_bytes(32, "big") + raw, "an offset word before it"
    for more in (1, 32, 100):
        yield raw + b"\x01" * more, f"{more} bytes after it"
    if bench.struct == "DelegateReq":
        yield encode_struct(_type_in_hashing_order(), _values_in_hashing_order(bench)), "in the order of its hash"
        head, tail = raw[:224], raw[224:]
        moved = head[:128] + (224).to_bytes(32, "big") + head[160:] + b"\x07" * 32 + tail
        yield moved, "the text moved away from its place"


def _type_in_hashing_order() -> str:
    return f"({','.join(member['type'] for member in types_of(CATALOGUE['DelegateReq'])['DelegateReq'])})"


def _values_in_hashing_order(bench: Bench) -> list[Any]:
    message = bench.payload["message"]
    kinds: dict[str, Callable[[str], Any]] = {"address": lambda v: bytes.fromhex(v[2:]), "uint256": int, "string": str}
    return [kinds[m["type"]](message[m["name"]]) for m in types_of(CATALOGUE["DelegateReq"])["DelegateReq"]]


def _same_values(struct: str, raw: bytes, other: bytes) -> bool:
    """Tell whether an encoding holds the same values when nothing beyond them is looked at: padding, places, a rest."""
    if struct != "DelegateReq":
        return other[: len(raw)] == raw
    return _loosely_read(other) == _loosely_read(raw)


def _loosely_read(raw: bytes) -> list[bytes]:
    """Return the six members of an encoded ``DelegateReq``, the text without its padding."""
    start = int.from_bytes(raw[:32], "big")
    words = [raw[start + at : start + at + 32] for at in range(0, 192, 32)]
    text_at = start + int.from_bytes(words[3], "big")
    length = int.from_bytes(raw[text_at : text_at + 32], "big")
    text = raw[text_at + 32 : text_at + 32 + length]
    whole = text_at + 32 + length <= len(raw)
    return [*words[:3], text if whole else b"cut off" + raw, *words[4:]]


def signatures(bench: Bench) -> Iterator[Altered]:
    good = bench.signature
    for place in bench.pick.sample(range(65), FLIPS_OF_A_SIGNATURE):
        other = good[:place] + bytes([good[place] ^ 1 << bench.pick.randrange(8)]) + good[place + 1 :]
        yield bench.altered("signature", f"byte {place} flipped", signature=other)
    for v in (good[64] - 27, 55 - good[64], 29, 255, good[64] + 35):
        yield bench.altered("signature", f"v is {v}", signature=good[:64] + bytes([v]))
    zero, order = b"\0" * 32, CURVE_ORDER.to_bytes(32, "big")
    for name, other in (
        ("empty", b""), ("64 bytes", good[:64]), ("66 bytes", good + b"\0"), ("zeros", bytes(65)),
        ("r is 0", zero + good[32:]), ("s is 0", good[:32] + zero + good[64:]), ("r is the order", order + good[32:]),
        ("s is the order", good[:32] + order + good[64:]), ("r and s change places", good[32:64] + good[:32] + good[64:]),
    ):  # fmt: skip
        yield bench.altered("signature", name, signature=other)
    yield bench.altered("high s", "high s", signature=signature_by(bench.signer, bench.payload, high_s=True))
