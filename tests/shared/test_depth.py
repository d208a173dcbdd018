"""The bound on nesting, which must hold whatever the process's recursion limit is."""

from __future__ import annotations

import time

import pytest

from airlock_shared.errors import DocumentError
from airlock_shared.wire.strict_json import MAX_DEPTH, parse_json


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 2000, 100_000])
def test_a_deep_document_is_refused(levels: int) -> None:
    with pytest.raises(DocumentError, match="DOC-DEPTH"):
        parse_json(b"[" * levels + b"]" * levels)


def test_a_name_that_comes_twice_is_found_at_once_among_many() -> None:
    names = "".join(f'"{number}":0,' for number in range(60_000))
    began = time.process_time()
    with pytest.raises(DocumentError, match="'59999' appears twice"):
        parse_json(f'{{{names}"59999":0}}'.encode())
    assert time.process_time() - began < 10  # compared each with each, they take minutes
