"""The naive script that Airlock is measured against: verify a requests file with eth-account and eth-abi.

It is what a careful person writes in an afternoon: load the file, and for each intent recompute the digest and the
encoding, and recover the signer. It compares nothing with a plan or a pinned deployment.
Usage: ``naive_verify.py REQUESTS SIGNATURES [HOW MANY]``. Prints how many intents passed.
"""

import json
import sys
from pathlib import Path
from typing import Any

from eth_account import Account

from shared.make_payloads import seal


def main(requests: str, signatures: str, how_many: str = "") -> int:
    """Verify the intents of a file; return 1 when one of them is wrong."""
    items = json.loads(Path(requests).read_bytes())["requests"]
    signed = json.loads(Path(signatures).read_bytes())["signatures"]
    limit = int(how_many) if how_many else len(items)
    passed = 0
    for item, answer in zip(items[:limit], signed, strict=False):
        passed += verify(item["payload"], answer)
    print(passed)
    return 0 if passed == min(limit, len(items)) else 1


def verify(payload: dict[str, Any], answer: dict[str, Any]) -> bool:
    """Tell whether a payload's digest and encoding are right and the signature is by the signer it names."""
    made = dict(payload)
    seal(made)
    digest = bytes.fromhex(made["digest"][2:])
    signer: str = Account._recover_hash(digest, signature=answer["signature"])
    return made == payload and signer == answer["signer"]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
