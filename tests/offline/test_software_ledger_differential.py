"""The software Ledger beside the real app (Flex, 1.22.0-dev, in Speculos): the same commands, answers and pages.

``tests/vectors/ledger-differential`` was recorded from the real app with Speculos' seed: paths, kinds of transactions,
lengths of messages, authorisations. ``RELEASED`` are those that the release answers otherwise, as its published changes say.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from airlock_offline.ledger.models import DEVELOPMENT
from airlock_offline.ledger.screens import Page
from airlock_software_ledger.answers import AppSettings
from airlock_software_ledger.app import SoftwareLedger
from shared.world import VECTORS

CASES: list[dict[str, Any]] = json.loads((VECTORS / "ledger-differential/flex-1.22.0-dev.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['name']}-{case['blind_signing']}")
def test_it_answers_and_shows_what_the_real_app_did(case: dict[str, Any]) -> None:
    shown: list[Page] = []

    def person(pages: list[Page]) -> bool:
        shown.extend(pages)
        return True

    settings = AppSettings(raw_messages=False, blind_signing=case["blind_signing"], smart_accounts=True)
    device = SoftwareLedger(model=f"flex-{DEVELOPMENT}", settings=settings, screens=person)
    data, sw = [device.exchange(bytes.fromhex(apdu)) for apdu in case["apdus"]][-1]
    assert (data.hex(), f"{sw:04x}") == (case["data"], case["sw"])
    assert shown == case["pages"]
