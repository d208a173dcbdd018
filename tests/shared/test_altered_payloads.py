"""Every signed leaf and byte of every good payload, changed in every way that comes to mind: something refuses."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from airlock_shared.checks.model import SPELLING, STOP
from airlock_shared.plan.model import Bounds
from airlock_shared.venue.structs import CATALOGUE
from draws import draws, every_nth
from shared.make_payloads import seal
from shared.strategies import at, changed_leaf, leaves
from shared.world import STEPS, examined, good, judge, plan, request_of, whole

SEED = 712
PLAN_LEAVES_FREE = {  # what the builder may choose within a limit, by the last part of its path
    "_slippageP", "_deadline", "_nonce", "deadline", "nonce", "_openTimestamp", "timestamp", "signTimestamp", "tnc",
}  # fmt: skip


def _payload(document: dict[str, Any]) -> dict[str, Any]:
    payload: dict[str, Any] = document["requests"][0]["payload"]
    return payload


@pytest.mark.parametrize("step", STEPS)
def test_a_changed_leaf_of_message_or_domain_is_refused(step: str) -> None:
    pick = random.Random(f"{SEED} {step}")
    tried = 0
    for part in ("message", "domain"):
        for path, value in leaves(_payload(good(step))[part]):
            for other in every_nth([*changed_leaf(value, pick)], 3):
                document = good(step)
                at(_payload(document)[part], path[:-1])[path[-1]] = other
                assert judge(document), f"{part} {path}: {value!r} became {other!r}"
                tried += 1
    assert tried > draws(30, 100)


@pytest.mark.parametrize("step", STEPS)
def test_a_consistent_lie_about_a_field_that_the_plan_decides_is_refused(step: str) -> None:
    """The builder makes digest and encoding anew: only the plan stands between the lie and a signature."""
    pick = random.Random(f"{SEED} {step} lies")
    good_payload = _payload(good(step))
    primary = good_payload["primaryType"]
    planned = {field.path: field.rule for field in CATALOGUE[primary].fields if field.rule.decider != "builder"}
    lied = 0
    for path, value in leaves(good_payload["message"]):
        if ".".join(path) not in planned:
            assert path[-1] in PLAN_LEAVES_FREE
            continue
        wanted = plan().steps[step].values.get(planned[".".join(path)].parameter)
        for other in _lies(value, pick):
            if isinstance(wanted, Bounds) and wanted.holds(int(other)):
                continue  # the plan leaves this much open
            document = good(step)
            payload = _payload(document)
            at(payload["message"], path[:-1])[path[-1]] = other
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
    at(document["requests"][0]["payload"], path[:-1])[path[-1]] = to
    (verdict,) = [v for v in examined(request_of(document)).verdicts.refused() if v.check == check]
    return verdict.do


DOMAIN = [
    {"name": "verifyingContract", "type": "address"},
    {"name": "name", "type": "string"},
    {"name": "version", "type": "string"},
    {"name": "chainId", "type": "uint256"},
]


@pytest.mark.parametrize(
    ("check", "path", "to", "told"),
    [
        ("DIGEST-MATCH", "digest", PAYLOAD["digest"][2:], SPELLING),
        ("DIGEST-MATCH", "digest", "ab" * 32, STOP),
        ("ENC-MATCH", "encodedIntent", PAYLOAD["encodedIntent"][2:], SPELLING),
        ("ENC-MATCH", "encodedIntent", PAYLOAD["encodedIntent"][2:-1] + "f", STOP),
        ("DOMAIN-VERSION", "domain version", 1, SPELLING),
        ("DOMAIN-VERSION", "domain version", 2, STOP),
        ("DOMAIN-VERSION", "domain version", True, STOP),
        ("DOMAIN-CHAIN", "domain chainId", hex(int(PAYLOAD["domain"]["chainId"])), SPELLING),
        ("DOMAIN-CHAIN", "domain chainId", "0x1", "another"),
        ("TYPES-PINNED", "types EIP712Domain", DOMAIN, SPELLING),
        ("TYPES-PINNED", "types EIP712Domain", DOMAIN[:3], STOP),
        ("TYPES-PINNED", "types EIP712Domain", [*DOMAIN[:3], {"name": "chainId", "type": "uint8"}], STOP),
        ("TYPES-PINNED", "types EIP712Domain", "EIP712Domain", STOP),
    ],
)
def test_another_form_suspects_nobody_and_another_value_does(check: str, path: str, to: object, told: str) -> None:
    said = advice(check, *path.split(), to=to)
    assert said == told if told in (SPELLING, STOP) else said != SPELLING
