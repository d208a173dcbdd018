"""Defences whose removal no other test noticed."""

from __future__ import annotations

import errno
import json
import os
from io import BytesIO
from pathlib import Path

import pytest

from airlock_shared.checks.document import Steps, steps_are_planned
from airlock_shared.documents.deployment import read_deployment
from airlock_shared.errors import DocumentError, Refusal, UsageError
from airlock_shared.ethereum import abi
from airlock_shared.host.files import write_new
from airlock_shared.text.safe import safe
from airlock_shared.wire.stream import MAX_ITEMS, BatchReader
from shared.world import DEPLOYMENT_TEXT


def test_a_canonical_encoding_beyond_the_cap_is_refused() -> None:
    value = bytes(abi.MAX_ENCODED_BYTES - 64)
    data = abi.encode(["bytes"], [value])
    assert len(data) == abi.MAX_ENCODED_BYTES
    assert abi.decode(["bytes"], data) == [value]
    with pytest.raises(Refusal, match="too long"):
        abi.decode(["bytes"], abi.encode(["bytes"], [value + b"\0"]))


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        (["a", "b", "c"], ""),
        (["a", "c"], "missing: b"),
        (["a", "b", "c", "d"], "not in the plan: d"),
        (["a", "b", "b", "c"], "a step appears twice"),
        (["a", "c", "b"], "in another order than the plan's"),
    ],
)
def test_steps_missing_extra_repeated_and_moved_are_told_apart(steps: list[str], said: str) -> None:
    found = steps_are_planned.run(Steps(steps, ["a", "b", "c"]))
    assert found is not None
    assert (found.ok, found.where) == (not said, said)


def test_one_contract_for_both_domains_is_refused_even_when_the_contracts_agree() -> None:
    document = json.loads(DEPLOYMENT_TEXT)
    contract = document["domains"]["trading"]["verifyingContract"]
    document["domains"]["referral"]["verifyingContract"] = document["contracts"]["referral"] = contract
    with pytest.raises(DocumentError) as caught:
        read_deployment(document)
    assert caught.value.check == "DOC-DEPLOYMENT"


def test_without_hard_links_a_file_that_appears_meanwhile_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "raced"

    def no_links(_source: Path, target: Path) -> None:
        target.write_bytes(b"first")
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", no_links)
    with pytest.raises(UsageError):
        write_new(path, b"second")
    assert path.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [path]


def test_a_batch_that_announces_too_many_items_is_refused_before_the_first() -> None:
    def opened(count: int) -> BatchReader:
        text = json.dumps({"format": "f", "header": {"count": count}, "items": []})
        return BatchReader(BytesIO(text.encode()), format_name="f", list_name="items")

    assert opened(MAX_ITEMS).count == MAX_ITEMS
    with pytest.raises(DocumentError) as caught:
        opened(MAX_ITEMS + 1)
    assert caught.value.check == "DOC-COUNT"


def test_a_cut_text_shows_no_more_than_its_limit() -> None:
    assert safe("a" * 30 + "b" * 70, limit=30).startswith("a" * 30 + " …")
    assert "b" not in safe("a" * 30 + "b" * 70, limit=30)
