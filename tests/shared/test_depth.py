"""The bound on nesting, which must hold whatever the process's recursion limit is."""

from __future__ import annotations

import subprocess
import sys

import pytest

from airlock_shared.errors import DocumentError
from airlock_shared.wire.strict_json import MAX_DEPTH, parse_json

LIMITS = [1000, 2001, 100_000, 1_000_000]


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 2000, 100_000])
def test_a_deep_document_is_refused(levels: int) -> None:
    with pytest.raises(DocumentError, match="DOC-DEPTH"):
        parse_json(b"[" * levels + b"]" * levels)


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"[":', "[1.5,"])
@pytest.mark.parametrize(
    "reader", ["parse_json(text, max_bytes=64 << 20)", "read_batch(text, format_name='', list_name='')"]
)
def test_a_raised_recursion_limit_does_not_let_a_deep_text_end_the_process(
    reader: str, opening: str, limit: int
) -> None:
    program = f"""
import sys
from airlock_shared.wire.strict_json import read_batch
from airlock_shared.wire.strict_json import parse_json
from airlock_shared.errors import DocumentError
sys.setrecursionlimit({limit})
text = b'{{"format": ' + {opening!r}.encode() * 1_000_000
try:
    {reader}
except DocumentError as error:
    print(error.check, sys.getrecursionlimit())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == f"DOC-DEPTH {limit}\n"


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("opening", ["[", "{a = "])
def test_nor_does_a_deep_plan(opening: str, limit: int) -> None:
    program = f"""
import sys
from airlock_shared.plan.reader import parse_plan
from airlock_shared.errors import PlanError
sys.setrecursionlimit({limit})
try:
    parse_plan(b"a = " + {opening!r}.encode() * 50_000)
except PlanError as error:
    print(error.check)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "PLAN-FORM\n"
