"""What may be altered between a builder and a contract, step by step: what our gate sees, and what the contract gets.

Every alteration is made with eth-account, eth-abi and libsecp256k1, and from a seed: the same ones on every run.
"""

import copy
import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from eth_account.signers.local import LocalAccount

from airlock_rehearsal.chain.evm import CHAIN_ID, CONTRACTS, REFERRAL, ROUTER, USDC
from airlock_shared.documents.requests import Answer
from airlock_shared.ethereum.eip712 import as_argument, encode_abi
from airlock_shared.ethereum.signatures import CURVE_ORDER
from airlock_shared.plan.model import Bounds
from airlock_shared.venue.structs import CATALOGUE
from airlock_software_ledger.keys import sign
from online.chain.ground import DESK_SENDER, NOW_S, STRANGER, TREASURY_SENDER, document, signer_of
from shared.make_payloads import NOW_MS, digest_of, seal
from shared.strategies import at, leaves
from shared.world import plan

SEED = 31337
FLIPS_OF_A_SIGNATURE, FLIPS_OF_AN_ENCODING = 22, 12
Payload = dict[str, Any]


class Altered(NamedTuple):
    """One alteration: the document and the signature that the gate is shown; the contract gets ``encodedIntent``."""

    kind: str
    what: str
    document: dict[str, Any]
    signature: bytes
    signed: Answer

    @property
    def payload(self) -> Payload:
        payload: Payload = self.document["requests"][0]["payload"]
        return payload

    @property
    def intent(self) -> bytes:
        return bytes.fromhex(self.payload["encodedIntent"][2:])


class Bench:
    """One step's good document, its digest and signature, from which the bad ones are made."""

    def __init__(self, step: str) -> None:
        self.step = step
        self.good = document(step)
        self.payload: Payload = self.good["requests"][0]["payload"]
        self.struct: str = self.payload["primaryType"]
        self.signer = signer_of(step)
        self.signature = signature_by(self.signer, self.payload)
        self.pick = random.Random(f"{SEED} {step}")

    def document(self) -> tuple[dict[str, Any], Payload]:
        made = copy.deepcopy(self.good)
        return made, made["requests"][0]["payload"]

    def changed(self, path: tuple[str, ...], value: Any) -> dict[str, Any]:
        """Return the document with another leaf in its message, and a digest and an encoding to match."""
        made, payload = self.document()
        at(payload["message"], path[:-1])[path[-1]] = value
        seal(payload)
        return made

    def altered(self, kind: str, what: str, made: Payload | None = None, signature: bytes | None = None) -> Altered:
        signature = self.signature if signature is None else signature
        return self._answered(kind, what, made or self.good, signature, self.payload["digest"], self.signer)

    def resigned(self, kind: str, what: str, made: Payload, signer: LocalAccount | None = None) -> Altered:
        """Return an alteration whose payload was sealed and signed after it was altered."""
        payload, signer = made["requests"][0]["payload"], signer or self.signer
        return self._answered(kind, what, made, signature_by(signer, payload), payload["digest"], signer)

    def _answered(
        self, kind: str, what: str, made: Payload, signature: bytes, digest: str, signer: LocalAccount
    ) -> Altered:
        text = "0x" + signature.hex()
        signed = Answer(self.step, "signed", "", digest, text, signer.address, "fields", "1.22.0")
        return Altered(kind, what, made, signature, signed)


def signature_by(signer: LocalAccount, payload: Payload, *, high_s: bool = False) -> bytes:
    parity, rs = sign(signer.key, bytes.fromhex(payload["digest"][2:]), high_s=high_s)
    return rs + bytes([27 + parity])


def intent_of(step: str, **message: object) -> tuple[str, bytes, bytes]:
    """Return a step's struct, its encoding and signature, with other members of its message."""
    made = document(step)
    payload = made["requests"][0]["payload"]
    payload["message"] |= {name: str(value) for name, value in message.items()}
    seal(payload)
    signature = signature_by(TREASURY_SENDER, payload)
    return payload["primaryType"], bytes.fromhex(payload["encodedIntent"][2:]), signature


GATE_IS_STRICTER = {
    "consistent lie": "a field differs from the plan, and digest, encoding and signature all belong to the lie: a contract "
    "cannot know what was planned",
    "shown otherwise": "the message or digest beside the encoding is not what was signed: a contract never sees either",
    "not canonical": "other bytes that decode to the same values: Solidity's decoder asks for no canonical form",
    "signer not planned": "another key that may sign for the trader, where the plan names this one",
    "deadline limit": "a deadline nearer or further than the plan allows: a contract asks only that it has not passed",
    "expiry in milliseconds": "a delegate until the year 58000: a contract takes any number of seconds",
}
"""Where the gate refuses what the contract accepts: the kind of alteration, and why."""

CONTRACT_IS_STRICTER = {
    "stamp ahead": "a signTimestamp ahead by less than the minute that our clock may be off by: the chain's clock is exact",
    "stamp old": "a signTimestamp older than the ten minutes of this venue, and younger than our thirty: the time it takes "
    "to carry a document across the room",
}
"""Where the contract rejects what the gate lets pass; nothing is lost but a signature that nobody takes."""


def alterations(step: str) -> Iterator[Altered]:
    bench = Bench(step)
    for family in (_messages, _shown, _types, _domains, _signers, _times, encodings, signatures, _lies):
        yield from family(bench)


def others(value: Any, pick: random.Random) -> Iterator[Any]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, str) and value.startswith("0x"):
        place = pick.randrange(2, len(value))
        yield (value[:place] + f"{int(value[place], 16) ^ 1 << pick.randrange(4):x}" + value[place + 1 :]).lower()
    elif not str(value).removeprefix("-").isdigit():
        yield value + " "
    elif abs(int(value)) < 256:
        yield from (str(number) for number in pick.sample([n for n in range(1, 10) if n != int(value)], 2))
    else:
        yield from (str(int(value) // 2), str(int(value) ^ 1 << pick.randrange(100)))


def _messages(bench: Bench) -> Iterator[Altered]:
    """A leaf changed after signing, with a digest and an encoding to match."""
    for path, value in leaves(bench.payload["message"]):
        for other in others(value, bench.pick):
            yield bench.altered("message", f"{path}: {other}", made=bench.changed(path, other))


def _shown(bench: Bench) -> Iterator[Altered]:
    for path, value in leaves(bench.payload["message"]):
        made, payload = bench.document()
        at(payload["message"], path[:-1])[path[-1]] = next(others(value, bench.pick))
        yield bench.altered("shown otherwise", f"{path}", made=made)
    made, payload = bench.document()
    payload["digest"] = payload["digest"][:-1] + f"{int(payload['digest'][-1], 16) ^ 1:x}"
    yield bench.altered("shown otherwise", "digest", made=made)


def _lies(bench: Bench) -> Iterator[Altered]:
    """A leaf that the plan decides, changed before signing: digest, encoding and signature all belong to it."""
    rules = {field.path: field.rule for field in CATALOGUE[bench.struct].fields}
    for path, value in leaves(bench.payload["message"]):
        rule = rules[".".join(path)]
        wanted = plan().steps[bench.step].values.get(rule.parameter)
        if rule.decider == "builder":
            continue
        for other in others(value, bench.pick):
            if isinstance(wanted, Bounds) and wanted.holds(int(other)):
                continue
            yield bench.resigned("consistent lie", f"{path}: {other}", bench.changed(path, other))


def _types(bench: Bench) -> Iterator[Altered]:
    """Another type, sealed and signed as such."""
    for place in range(len(bench.payload["types"][bench.struct])):
        made, payload = bench.document()
        member = payload["types"][bench.struct][place]
        name, member["name"] = member["name"], member["name"] + "_"
        payload["message"] = {member["name"] if n == name else n: v for n, v in payload["message"].items()}
        yield from _sealed_as(bench, made, f"{name} is called {member['name']}")
    for place in range(1, len(bench.payload["types"][bench.struct])):
        made, payload = bench.document()
        members = payload["types"][bench.struct]
        members[place - 1], members[place] = members[place], members[place - 1]
        yield from _sealed_as(bench, made, f"{members[place]['name']} and the one before it change places")
    made, payload = bench.document()
    payload["types"] = {n if n != bench.struct else n + "2": v for n, v in payload["types"].items()}
    payload["primaryType"] = payload["intent"] = bench.struct + "2"
    yield from _sealed_as(bench, made, "the struct has another name")


def _sealed_as(bench: Bench, made: dict[str, Any], what: str) -> Iterator[Altered]:
    """Sign the digest under the altered types; the encoding stays the contract's, so that the signature alone is wrong."""
    payload = made["requests"][0]["payload"]
    types, primary = payload["types"], payload["primaryType"]
    typed = {"types": types, "primaryType": primary, "domain": payload["domain"]}
    payload["digest"] = "0x" + digest_of({**typed, "message": _numbers(types, primary, payload["message"])}).hex()
    yield bench.resigned("type", what, made)


def _numbers(types: Payload, struct: str, message: Payload) -> Payload:
    kinds = {member["name"]: member["type"] for member in types[struct]}
    return {
        name: _numbers(types, kinds[name], value)
        if kinds[name] in types
        else int(value)
        if "int" in kinds[name]
        else value
        for name, value in message.items()
    }


def _domains(bench: Bench) -> Iterator[Altered]:
    own = bench.payload["domain"]["verifyingContract"]
    places = {CONTRACTS[ROUTER], CONTRACTS[REFERRAL], CONTRACTS[USDC], STRANGER.address} - {own}
    changes: list[tuple[str, str, Any]] = [
        *(("domain", "name", name) for name in ("Exchange", "exchangetrading", bench.payload["domain"]["name"] + " ")),
        *(("domain", "version", version) for version in ("2", "1.0", "")),
        *(("chain", "chainId", number) for number in (1, 84532, CHAIN_ID + 1)),
        *(("contract", "verifyingContract", place) for place in sorted(places)),
    ]
    for kind, name, value in changes:
        made, payload = bench.document()
        payload["domain"][name] = value
        seal(payload)
        yield bench.resigned(kind, f"{name}: {value}", made)


def _signers(bench: Bench) -> Iterator[Altered]:
    yield bench.resigned("signer", "a stranger", bench.good, STRANGER)
    other = DESK_SENDER if bench.signer is TREASURY_SENDER else TREASURY_SENDER
    allowed = CATALOGUE[bench.struct].signer_rule == "trader-or-delegate"
    kind = "signer not planned" if allowed else "signer"
    yield bench.resigned(kind, "delegate and trader changed", bench.good, other)
    if not allowed:
        signature = signature_by(other, bench.payload)
        yield bench.altered("signer", "a delegate's, said to be the trader's", signature=signature)


def _times(bench: Bench) -> Iterator[Altered]:
    deadline = CATALOGUE[bench.struct].deadline
    changes: list[tuple[str, str, int]] = []
    if deadline:
        passed = (NOW_MS - 1, NOW_MS - 60_000, NOW_S, NOW_S + 900, 1, 0)
        changes += [("deadline", deadline, value) for value in passed]
        changes += [("deadline limit", deadline, NOW_MS + value) for value in (1, 999, 60_000)]
        if not plan().steps[bench.step].values.get("deadlineMs"):
            changes += [("deadline limit", deadline, NOW_MS + 86_400_000), ("deadline limit", deadline, 2**200)]
    else:
        changes += [("stamp", "signTimestamp", value) for value in (NOW_MS + 600_000, NOW_MS - 3_600_000, NOW_S, 0)]
        changes += [("stamp ahead", "signTimestamp", NOW_MS + value) for value in (1_000, 30_000)]
        changes += [("stamp old", "signTimestamp", NOW_MS - 1_200_000)]
    if bench.struct == "DelegateReq":
        changes += [("expiry", "expiry", value) for value in (NOW_S, NOW_S - 1, 0)]
        changes += [("expiry in milliseconds", "expiry", 1_806_451_200_000)]
    for kind, name, value in changes:
        yield bench.resigned(kind, f"{name}: {value}", bench.changed((name,), str(value)))


def flipped(data: bytes, place: int, pick: random.Random) -> bytes:
    return data[:place] + bytes([data[place] ^ 1 << pick.randrange(8)]) + data[place + 1 :]


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
        yield flipped(raw, place, bench.pick), f"byte {place} flipped"
    for cut in (1, 32, 64, len(raw) - 32, len(raw) - 1):
        yield raw[:-cut], f"{cut} bytes cut off"
    yield raw[32:] + raw[:32], "the first word moved to the end"
    yield (32).to_bytes(32, "big") + raw, "an offset word before it"
    for more in (1, 32, 100):
        yield raw + b"\x01" * more, f"{more} bytes after it"
    if bench.struct == "DelegateReq":
        yield _in_hashing_order(bench), "in the order of its hash"
        head, tail = raw[:224], raw[224:]
        moved = head[:128] + (224).to_bytes(32, "big") + head[160:] + b"\x07" * 32 + tail
        yield moved, "the text moved away from its place"


def _in_hashing_order(bench: Bench) -> bytes:
    structs, message = CATALOGUE[bench.struct].structs, bench.payload["message"]
    kinds: dict[str, Callable[[str], Any]] = {"address": lambda v: bytes.fromhex(v[2:]), "uint256": int, "string": str}
    values = {"": {name: kinds[kind](message[name]) for name, kind in structs[bench.struct]}}
    return encode_abi(as_argument(structs, bench.struct), values)


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
        yield bench.altered("signature", f"byte {place} flipped", signature=flipped(good, place, bench.pick))
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
