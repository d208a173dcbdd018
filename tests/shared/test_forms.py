"""Who altered it is asked where a difference is more than the form of the same value, and only there."""

from __future__ import annotations

from typing import Any

import pytest

from airlock_shared.checks.model import SPELLING, STOP
from shared.world import examined, request_of, whole

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
