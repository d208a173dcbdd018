"""What may be altered between a builder and a contract, step by step: what our gate sees, and what the contract gets.

Every alteration is made with eth-account, eth-abi and libsecp256k1, and from a seed: the same ones on every run.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from airlock_rehearsal.chain.evm import CHAIN_ID
from airlock_rehearsal.chain.venue import ChainVenue
from airlock_shared.plan.model import Bounds
from airlock_shared.venue.structs import CATALOGUE
from online.chain.altered_bytes import encodings, signatures
from online.chain.bench import Altered, Bench, Payload, signature_by
from online.chain.ground import DESK_SENDER, NOW_S, STRANGER, TREASURY_SENDER
from shared.make_payloads import NOW_MS, digest_of, seal
from shared.world import plan

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


def alterations(venue: ChainVenue, step: str) -> Iterator[Altered]:
    """Yield every alteration of a step."""
    bench = Bench(venue, step)
    for family in (_messages, _shown, _types, _domains, _signers, _times, encodings, signatures, _lies):
        yield from family(bench)


# ---- the message ---------------------------------------------------------------------------------------------------


def leaves(value: Payload, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield path and value of every leaf."""
    for name, member in value.items():
        if isinstance(member, dict):
            yield from leaves(member, (*path, name))
        else:
            yield (*path, name), member


def put(message: Payload, path: tuple[str, ...], value: Any) -> None:
    """Set a leaf."""
    for name in path[:-1]:
        message = message[name]
    message[path[-1]] = value


def others(value: Any, pick: random.Random) -> Iterator[Any]:
    """Yield other values that the same type can hold."""
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
            made, payload = bench.document()
            put(payload["message"], path, other)
            seal(payload)
            yield bench.altered("message", f"{path}: {other}", made=made)


def _shown(bench: Bench) -> Iterator[Altered]:
    for path, value in leaves(bench.payload["message"]):
        made, payload = bench.document()
        put(payload["message"], path, next(others(value, bench.pick)))
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
            made, payload = bench.document()
            put(payload["message"], path, other)
            seal(payload)
            yield bench.resigned("consistent lie", f"{path}: {other}", made)


# ---- types, domain, signer, time -----------------------------------------------------------------------------------


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
    """Return a message with its integers as such."""
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
    contracts = bench.venue.contracts
    own = bench.payload["domain"]["verifyingContract"]
    places = {contracts.trading_router, contracts.referral, contracts.usdc, STRANGER.address} - {own}
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
    yield bench.resigned(
        "signer not planned" if allowed else "signer", "delegate and trader changed", bench.good, other
    )
    if not allowed:
        yield bench.altered(
            "signer", "a delegate's, said to be the trader's", signature=signature_by(other, bench.payload)
        )


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
        made, payload = bench.document()
        payload["message"][name] = str(value)
        seal(payload)
        yield bench.resigned(kind, f"{name}: {value}", made)
