"""Make a batch to measure with: a plan, a deployment, signed intents, and their signatures.

The intents are the good vectors of eight kinds in turn, each with a nonce and a deadline of its own, sealed anew with
eth-account and eth-abi (``shared/make_payloads.py``) and signed with published keys. Nothing of Airlock's hashing or
encoding is used here: both measured programs read the work of a third.
Usage: ``make_batch.py FOLDER COUNT``.
"""

import json
import random
import re
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from shared.make_payloads import fingerprint, plan_fingerprint, seal, signed_item
from shared.world import DEPLOYMENT_TEXT, PLAN_TEXT, good, to_bytes

STEPS = ("close", "open", "increase", "increase-coin", "take-profit", "desk-key", "referral", "stop-twap")
EXPIRY = datetime(2099, 3, 31, tzinfo=UTC)
HOURS_MS = 3_600_000


def make_batch(folder: Path, count: int) -> None:
    """Write the four files of a batch of ``count`` intents into ``folder``."""
    rng, now_ms = random.Random(count), time.time_ns() // 1_000_000
    pinned = json.loads(DEPLOYMENT_TEXT) | {"rehearsal": True}
    steps = [(STEPS[number % len(STEPS)], number) for number in range(count)]
    plan = _plan_text(steps)
    items = [_item(step, number, now_ms, rng) for step, number in steps]
    common = {"count": count, "ceremony": "bench", "rehearsal": True, "transcript_head": 64 * "0", "created_ms": now_ms}
    pins = {"plan": plan_fingerprint(plan), "deployment": fingerprint(pinned), "deployment_name": "venue"}
    requests = {"format": "airlock/requests@1", "header": common | pins, "requests": items}
    signed = [signed_item(item) for item in items]
    header = common | {"requests": fingerprint(requests)}
    signatures = {"format": "airlock/signatures@1", "header": header, "signatures": signed}
    written = {"plan": plan.encode(), "deployment": to_bytes(pinned), "requests": to_bytes(requests)}
    for kind, data in (written | {"signatures": to_bytes(signatures)}).items():
        (folder / f"{kind}-{count}").write_bytes(data)


def _plan_text(steps: list[tuple[str, int]]) -> str:
    """Return the vectors' plan with these steps, which leaves nonces and deadlines to the builder."""
    head, *known = PLAN_TEXT.split("[[steps]]\n")
    texts = {text.split('"')[1]: text for text in known}
    head = head.replace('"2026-09-everything"', '"bench"').replace('"30m"', '"12h"')
    many = [texts[step].replace(f'id = "{step}"', f'id = "{step}-{number}"') for step, number in steps]
    text = "\n[[steps]]\n".join([head, *many])
    text = re.sub(r"(?m)^expiry = .*$", f"expiry = {EXPIRY:%Y-%m-%dT%H:%M:%SZ}", text)
    return re.sub(r"(?m)^(nonce|deadlineMs) = .*\n", "", text)


def _item(step: str, number: int, now_ms: int, rng: random.Random) -> dict[str, Any]:
    """Return a step's request, as a builder answers now."""
    item: dict[str, Any] = good(step)["requests"][0]
    changed = {
        "nonce": rng.getrandbits(256), "deadline": now_ms + 10 * HOURS_MS + rng.randrange(1000),
        "signTimestamp": now_ms, "expiry": int(EXPIRY.timestamp()),
    }  # fmt: skip
    message = item["payload"]["message"]
    message |= {name: str(changed[name.lstrip("_")]) for name in message if name.lstrip("_") in changed}
    seal(item["payload"])
    sent = {"nonce": None, "deadlineMs": None, "expirySeconds": str(changed["expiry"])}
    told = {name: sent.get(name, value) for name, value in item["fields"].items()}
    return item | {"step": f"{step}-{number}", "fields": {name: value for name, value in told.items() if value}}


if __name__ == "__main__":
    make_batch(Path(sys.argv[1]), int(sys.argv[2]))
