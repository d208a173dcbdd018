"""Every signed leaf and byte of every good payload, changed in every way that comes to mind: something refuses."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from airlock_shared.checks.model import SPELLING, STOP
from airlock_shared.documents.requests import parse_signatures
from airlock_shared.plan.model import Bounds
from airlock_shared.venue.structs import CATALOGUE
from draws import draws, every_nth
from shared.make_payloads import seal
from shared.strategies import changed_leaf
from shared.world import STEPS, VECTORS, case_of, examined, good, judge, plan, refusals, request_of, whole

SEED = 712
PLAN_LEAVES_FREE = {  # what the builder may choose within a limit, by the last part of its path
    "_slippageP", "_deadline", "_nonce", "deadline", "nonce", "_openTimestamp", "timestamp", "signTimestamp", "tnc",
}  # fmt: skip


def _leaves(value: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, member in value.items():
        if isinstance(member, dict):
            yield from _leaves(member, (*path, name))
        else:
            yield (*path, name), member


def _parent(document: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    for name in path[:-1]:
        document = document[name]
    return document


def _payload(document: dict[str, Any]) -> dict[str, Any]:
    payload: dict[str, Any] = document["requests"][0]["payload"]
    return payload


@pytest.mark.parametrize("step", STEPS)
def test_a_changed_leaf_of_message_or_domain_is_refused(step: str) -> None:
    pick = random.Random(f"{SEED} {step}")
    tried = 0
    for part in ("message", "domain"):
        for path, value in _leaves(_payload(good(step))[part]):
            for other in every_nth([*changed_leaf(value, pick)], 3):
                document = good(step)
                _parent(_payload(document)[part], path)[path[-1]] = other
                assert judge(document), f"{part} {path}: {value!r} became {other!r}"
                tried += 1
    assert tried > draws(30, 100)


@pytest.mark.parametrize("step", STEPS)
def test_a_changed_type_definition_is_refused(step: str) -> None:
    for struct, members in _payload(good(step))["types"].items():
        for position, member in enumerate(members):
            for other in (
                {**member, "name": member["name"] + "_"},
                {**member, "name": member["name"].swapcase()},
                {**member, "type": "uint128" if member["type"] == "uint256" else "uint256[]"},
                {**member, "type": member["type"] + "[]"},
                {**member, "extra": "x"},
                {"name": member["name"]},
                None,
            ):
                document = good(step)
                _payload(document)["types"][struct][position] = other
                assert judge(document), f"{struct} {position}: {other}"
            document = good(step)
            definition = _payload(document)["types"][struct]
            definition.insert(0, definition.pop(position))
            assert position == 0 or judge(document), f"{struct}: {member['name']} moved to the front"
            document = good(step)
            del _payload(document)["types"][struct][position]
            assert judge(document), f"{struct} without {member['name']}"


@pytest.mark.parametrize("step", STEPS)
def test_a_changed_digit_of_digest_or_encoding_is_refused(step: str) -> None:
    pick = random.Random(f"{SEED} {step} digits")
    original = case_of(good(step)).request
    for name, check in (("digest", "DIGEST-MATCH"), ("encodedIntent", "ENC-MATCH")):
        text = original.payload[name]
        for place in every_nth(range(2, len(text)), 5):
            digit = f"{int(text[place], 16) ^ pick.randrange(1, 16):x}"
            changed = {**original.payload, name: text[:place] + digit + text[place + 1 :]}
            found = refusals(examined(original._replace(payload=changed)).verdicts.all())
            assert found == {check}, f"{name} at {place}"
        for other in (text[:-1], text[:-2], text + "0", text + "00", "", "0x", text[2:], "0x" + text):
            found = refusals(examined(original._replace(payload={**original.payload, name: other})).verdicts.all())
            assert found == {check}, f"{name}: {other[:20]}"


@pytest.mark.parametrize("step", STEPS)
def test_a_consistent_lie_about_a_field_that_the_plan_decides_is_refused(step: str) -> None:
    """The builder makes digest and encoding anew: only the plan stands between the lie and a signature."""
    pick = random.Random(f"{SEED} {step} lies")
    good_payload = _payload(good(step))
    primary = good_payload["primaryType"]
    planned = {field.path: field.rule for field in CATALOGUE[primary].fields if field.rule.decider != "builder"}
    lied = 0
    for path, value in _leaves(good_payload["message"]):
        if ".".join(path) not in planned:
            assert path[-1] in PLAN_LEAVES_FREE
            continue
        wanted = plan().steps[step].values.get(planned[".".join(path)].parameter)
        for other in _lies(value, pick):
            if isinstance(wanted, Bounds) and wanted.holds(int(other)):
                continue  # the plan leaves this much open
            document = good(step)
            payload = _payload(document)
            _parent(payload["message"], path)[path[-1]] = other
            seal(payload)
            assert judge(document) & {"PLAN-FIELD", "PLAN-UNDECIDED"}, f"{path}: {value!r} became {other!r}"
            lied += 1
    assert lied >= len(planned)


def _lies(value: Any, pick: random.Random) -> Iterator[Any]:
    """Yield other values that the type can hold, and that a bound around the good one does not allow."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, str) and value.startswith("0x"):
        for _ in range(3):
            place = pick.randrange(2, len(value))
            yield (value[:place] + f"{int(value[place], 16) ^ 1 << pick.randrange(4):x}" + value[place + 1 :]).lower()
    elif abs(int(value)) < 256:
        yield from (str(number) for number in {0, 1, 2, 3, 4, 5, 254, 255} - {int(value)})
    else:
        yield from (str(int(value) * 10**4), str(int(value) // 10**4), str(int(value) * 2), "0", "1")


def test_a_changed_byte_of_a_signature_is_refused() -> None:
    pick = random.Random(SEED)
    request = request_of(whole())
    signed = parse_signatures((VECTORS / "signatures/good/every-struct.json").read_bytes())[1][0]
    assert refusals(examined(request, None, signed).verdicts.all()) == set()
    raw = bytes.fromhex(signed.signature[2:])
    for position in range(65):
        changed = bytearray(raw)
        changed[position] ^= pick.randrange(1, 256)
        other = signed._replace(signature="0x" + changed.hex())
        found = refusals(examined(request, None, other).verdicts.all())
        assert found, f"byte {position}"
        assert all(check.startswith("SIG-") for check in found)


@pytest.mark.parametrize("step", STEPS)
def test_what_is_said_beside_the_signed_payload_decides_nothing(step: str) -> None:
    document = good(step)
    _payload(document)["meta"] = {"pair": "anything", "openPrice": 1e300, "verdict": "pass", "deep": [[{"x": None}]]}
    if "order_type" in document["requests"][0]["route"]:
        document["requests"][0]["route"]["reason"] = "\u202eevil"
    assert judge(document) == set()


# ---- who altered it is asked where a difference is more than the form of the same value, and only there ---------------

PAYLOAD: dict[str, Any] = whole()["requests"][0]["payload"]


def advice(check: str, *path: str, to: object) -> str:
    """Return what is advised when a member of the payload is this, by the check that refuses it."""
    document = whole()
    holder = document["requests"][0]["payload"]
    for name in path[:-1]:
        holder = holder[name]
    holder[path[-1]] = to
    (verdict,) = [v for v in examined(request_of(document)).verdicts.refused() if v.check == check]
    return verdict.do


DOMAIN = [
    {"name": "verifyingContract", "type": "address"},
    {"name": "name", "type": "string"},
    {"name": "version", "type": "string"},
    {"name": "chainId", "type": "uint256"},
]


@pytest.mark.parametrize(
    ("check", "path", "to"),
    [
        ("DIGEST-MATCH", ("digest",), PAYLOAD["digest"][2:]),
        ("ENC-MATCH", ("encodedIntent",), PAYLOAD["encodedIntent"][2:]),
        ("DOMAIN-VERSION", ("domain", "version"), 1),
        ("DOMAIN-CHAIN", ("domain", "chainId"), hex(int(PAYLOAD["domain"]["chainId"]))),
        ("TYPES-PINNED", ("types", "EIP712Domain"), DOMAIN),
    ],
)
def test_another_form_of_the_same_value_suspects_nobody(check: str, path: tuple[str, ...], to: object) -> None:
    assert advice(check, *path, to=to) == SPELLING


@pytest.mark.parametrize(
    ("check", "path", "to"),
    [
        ("DIGEST-MATCH", ("digest",), "ab" * 32),
        ("ENC-MATCH", ("encodedIntent",), PAYLOAD["encodedIntent"][2:-1] + "f"),
        ("DOMAIN-VERSION", ("domain", "version"), 2),
        ("DOMAIN-VERSION", ("domain", "version"), True),
        ("TYPES-PINNED", ("types", "EIP712Domain"), DOMAIN[:3]),
        ("TYPES-PINNED", ("types", "EIP712Domain"), [*DOMAIN[:3], {"name": "chainId", "type": "uint8"}]),
        ("TYPES-PINNED", ("types", "EIP712Domain"), "EIP712Domain"),
    ],
)
def test_another_value_is_an_alteration(check: str, path: tuple[str, ...], to: object) -> None:
    assert advice(check, *path, to=to) == STOP
    assert advice("DOMAIN-CHAIN", "domain", "chainId", to="0x1") != SPELLING
