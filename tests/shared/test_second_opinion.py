"""The second opinion: other libraries recompute digest and encoding, and a disagreement is a refusal."""

from __future__ import annotations

import pytest

from airlock_shared.checks.model import IntentCase
from airlock_shared.errors import Refusal
from airlock_shared.venue.structs import CATALOGUE
from shared.world import STEPS, case_of, confirm, good


def _examined(step: str) -> IntentCase:
    case = case_of(good(step))
    assert isinstance(case, IntentCase)
    return case


def _check_of(case: IntentCase) -> str:
    with pytest.raises(Refusal) as caught:
        confirm(case)
    return caught.value.check


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("position", [0, 15, 31])
def test_an_altered_digest_of_ours_is_a_disagreement(step: str, position: int) -> None:
    case = _examined(step)
    digest = bytearray(case.hashes.digest)
    digest[position] ^= 1
    altered = case._replace(hashes=case.hashes._replace(digest=bytes(digest)))
    assert _check_of(altered) == "DIGEST-DISAGREE"


@pytest.mark.parametrize("step", STEPS)
def test_an_altered_encoding_is_a_disagreement(step: str) -> None:
    case = _examined(step)
    encoded = case.request.payload["encodedIntent"]
    case.request.payload["encodedIntent"] = encoded[:-1] + f"{int(encoded[-1], 16) ^ 1:x}"
    assert _check_of(case) == "ENC-DISAGREE"


@pytest.mark.parametrize("step", STEPS)
def test_an_altered_domain_is_a_disagreement(step: str) -> None:
    case = _examined(step)
    case.request.payload["domain"]["chainId"] = 1
    assert _check_of(case) == "DIGEST-DISAGREE"


@pytest.mark.parametrize("step", ["desk-key", "desk-key-terms"])
def test_an_encoding_in_the_order_of_the_type_hash_is_a_disagreement(step: str) -> None:
    case = _examined(step)
    altered = case._replace(intent=CATALOGUE["DelegateReq"]._replace(abi_order=()))
    assert _check_of(altered) == "ENC-DISAGREE"
