"""The bound on nesting, which must hold whatever the process's recursion limit is."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airlock_shared.errors import DocumentError
from airlock_shared.wire.codec import MAX_DEPTH, parse_json
from airlock_shared.wire.depth import is_too_deep

TEXTS = st.recursive(
    st.none() | st.text(alphabet='[]{}"\\a', max_size=5), lambda c: st.lists(c, max_size=3), max_leaves=20
)


def depth_of(value: object) -> int:
    return 1 + max(map(depth_of, value), default=0) if isinstance(value, list) else 0


@given(TEXTS, st.text(alphabet=' []"{}', max_size=6))
@settings(derandomize=True)
def test_depth_is_counted_outside_strings_and_inside_the_value_alone(value: object, after: str) -> None:
    text, depth = json.dumps(value), depth_of(value)
    assert not is_too_deep(text + after if depth else text, 0, depth)
    assert depth == 0 or is_too_deep(text + after, 0, depth - 1)


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"[":', '["\\"",', '["]",'])
def test_a_deep_text_is_too_deep(opening: str) -> None:
    assert is_too_deep(opening * 65, 0, 64)


@pytest.mark.parametrize("text", ['"' + '\\"' * 10**6, '"' + "\\", '"a' * 10**5, "]" * 10**5, '"[[[' + "[" * 10**6])
def test_hostile_strings_take_linear_time_and_open_nothing(text: str) -> None:
    assert not is_too_deep(text, 0, 10)


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 2000, 100_000])
def test_a_deep_document_is_refused(levels: int) -> None:
    with pytest.raises(DocumentError, match="DOC-DEPTH"):
        parse_json(b"[" * levels + b"]" * levels)


@pytest.mark.parametrize(
    "reader", ["parse_json(text, max_bytes=8 << 20)", "read_batch(text, format_name='', list_name='')"]
)
def test_a_raised_recursion_limit_does_not_let_a_deep_text_end_the_process(reader: str) -> None:
    program = f"""
import sys
sys.setrecursionlimit(10**6)
from airlock_shared.wire.stream import read_batch
from airlock_shared.wire.codec import parse_json
from airlock_shared.errors import DocumentError
text = b'{{"format": ' + b"[" * 5_000_000
try:
    {reader}
except DocumentError as error:
    print(error.check)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "DOC-DEPTH\n"
