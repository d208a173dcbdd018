"""The second opinion: other libraries recompute digest and encoding, and a disagreement is a refusal."""

import json
import sys

import pytest

from airlock_shared.venue.structs import CATALOGUE
from commands import run_command
from refusals import check_of
from shared.world import STEPS, confirm, intent_case


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("position", [0, 15, 31])
def test_an_altered_digest_of_ours_is_a_disagreement(step: str, position: int) -> None:
    case = intent_case(step)
    digest = bytearray(case.hashes.digest)
    digest[position] ^= 1
    altered = case._replace(hashes=case.hashes._replace(digest=bytes(digest)))
    assert check_of(confirm, altered) == "DIGEST-DISAGREE"


@pytest.mark.parametrize("step", STEPS)
def test_an_altered_encoding_or_domain_is_a_disagreement(step: str) -> None:
    case, other = intent_case(step), intent_case(step)
    encoded = case.request.payload["encodedIntent"]
    case.request.payload["encodedIntent"] = encoded[:-1] + f"{int(encoded[-1], 16) ^ 1:x}"
    assert check_of(confirm, case) == "ENC-DISAGREE"
    other.request.payload["domain"]["chainId"] = 1
    assert check_of(confirm, other) == "DIGEST-DISAGREE"


@pytest.mark.parametrize("step", ["desk-key", "desk-key-terms"])
def test_an_encoding_in_the_order_of_the_type_hash_is_a_disagreement(step: str) -> None:
    altered = intent_case(step)._replace(intent=CATALOGUE["DelegateReq"]._replace(abi_order=()))
    assert check_of(confirm, altered) == "ENC-DISAGREE"


DOCUMENT = {
    "domain": {"name": "A", "version": "1", "chainId": "1", "verifyingContract": "0x" + "11" * 20},
    "types": {"B": [{"name": "c", "type": "uint256"}]},
    "primaryType": "B",
    "message": {"c": "7"},
    "order": ["c"],
}
OPINION = """
import json, sys
from airlock_shared.ethereum.library_opinion import opinion_on
print(json.dumps([opinion_on(json.loads(sys.argv[1])).hex(), sorted({name.partition(".")[0] for name in sys.modules})]))
"""
WHOLE = "import eth_keyfile.keyfile\n"  # there before, so that nothing is left out


def test_the_second_opinion_is_the_same_and_loads_no_key_files() -> None:
    words = (sys.executable, "-c")
    (digest, loaded), (whole, all_loaded) = (
        run_command(*words, text + OPINION, json.dumps(DOCUMENT)).json() for text in ("", WHOLE)
    )
    assert digest == whole
    assert "py_ecc" in all_loaded
    assert "py_ecc" not in loaded
