"""A contract that takes the intent first, then the signature: compiled from the rehearsal's sources with the two exchanged.

The profile says it; what is exported is then accepted there, and what ships is not.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator

import pytest

from airlock_online.delivery.export_package import item_of
from airlock_online.delivery.routes.context import Delivery
from airlock_rehearsal.chain import interface
from airlock_rehearsal.chain.deploy import transact
from airlock_rehearsal.chain.evm import Reverted
from airlock_shared.venue.profile import VENUE_FORMAT, venue_of
from airlock_shared.venue.profile_words import resolve_profile, text_of
from airlock_shared.venue.structs import CATALOGUE
from online.chain.ground import NODE_MODULES, ROOT, STRANGER, Clock, EmbeddedEvm, Ground, set_up, situation
from online.chain.test_compiled import SOURCES
from online.chain.test_structs_settle import CHANGES, signed_by_ledger
from online.delivering_machine import unsent

USUAL, OTHER = "bytes calldata signature, bytes calldata intent", "bytes calldata intent, bytes calldata signature"


@pytest.fixture(scope="module")
def exchanged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    """A chain with such contracts on it."""
    node = shutil.which("node")
    if node is None or not (NODE_MODULES / "solc").exists():
        pytest.skip("Node or solc is not here")
    folder, clock = tmp_path_factory.mktemp("contracts"), Clock()
    for path in SOURCES.glob("*.sol"):
        (folder / path.name).write_text(path.read_text().replace(USUAL, OTHER))
    compiled = subprocess.run(
        [node, str(ROOT / "tests/node/compile.mjs"), str(folder)],
        env={"PATH": os.environ["PATH"], "NODE_PATH": str(NODE_MODULES)},
        capture_output=True,
        check=True,
    )
    (folder / "contracts.json").write_bytes(compiled.stdout)
    assert compiled.stdout.decode() != interface.ARTIFACTS.read_text()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interface, "ARTIFACTS", folder / "contracts.json")
        interface.artifacts.cache_clear()
        yield set_up(EmbeddedEvm(clock), clock)
    interface.artifacts.cache_clear()


@pytest.mark.parametrize("step", ["desk-key", "desk-key-terms", "referral", "own-code"])
def test_a_contract_of_the_other_order_takes_what_the_profile_says_and_not_what_ships(
    exchanged: Ground, step: str
) -> None:
    struct, intent, signature = signed_by_ledger(exchanged, step)
    other = CATALOGUE[struct].executing.replace("bytes signature,bytes intent", "bytes intent,bytes signature")
    signed = resolve_profile({"format": VENUE_FORMAT, "structs": {struct: {"executing": other}}})
    contract = exchanged.venue.contract_of(struct)

    def sent(delivery: Delivery) -> bytes:
        return bytes.fromhex(item_of(delivery, situation(exchanged.venue).deployment)["call"]["data"][2:])

    delivery = unsent(primary_type=struct, encoded_intent="0x" + intent.hex(), signature="0x" + signature.hex())
    with pytest.raises(Reverted):
        transact(exchanged.evm, STRANGER, contract, sent(delivery))
    told = delivery._replace(intent=venue_of(text_of(signed)).structs[struct])
    assert sent(told)[:4] == sent(delivery)[:4]
    mark = exchanged.evm.snapshot()
    CHANGES[step](exchanged, exchanged.venue.outcome(transact(exchanged.evm, STRANGER, contract, sent(told))))
    exchanged.evm.go_back(mark)
