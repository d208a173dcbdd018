"""A bound on how deep a JSON text nests, for when Python's own bound is gone.

Python 3.11's JSON reader recurses in C, and the recursion limit is all that keeps a deeply nested text from ending the
process. That limit is global, and a library may raise it: ``py_ecc``, which eth-account brings, sets 100,000 when it is
imported.
"""

from __future__ import annotations

import re
import sys

SAFE_RECURSION_LIMIT = 2000  # Python's default is 1000; far below what overflows a thread's stack

_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[{]|[\]}]', re.DOTALL)  # every start matches: linear time
_STEP = {"[": 1, "{": 1, "]": -1, "}": -1}


def recursion_is_unbounded() -> bool:
    """Tell whether Python's recursion limit has been raised beyond what the stack is known to hold."""
    return sys.getrecursionlimit() > SAFE_RECURSION_LIMIT


def is_too_deep(text: str, start: int, at_most: int) -> bool:
    """Tell whether the JSON value at ``start`` opens more than so many objects and lists inside one another."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        depth += _STEP.get(token[0], 0)
        if depth > at_most:
            return True
        if depth <= 0:
            return False
    return False
