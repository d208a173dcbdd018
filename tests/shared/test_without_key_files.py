"""eth-account without key files: the same digest, and neither they nor another chain's curve in the process."""

from __future__ import annotations

import json
import sys

from commands import run_command

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
