"""The bound on nesting, which must hold whatever the process's recursion limit is."""

from __future__ import annotations

import pytest

from airlock_shared.errors import DocumentError
from airlock_shared.wire.strict_json import MAX_DEPTH, parse_json


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 2000, 100_000])
def test_a_deep_document_is_refused(levels: int) -> None:
    with pytest.raises(DocumentError, match="DOC-DEPTH"):
        parse_json(b"[" * levels + b"]" * levels)
