"""What a service's word can mean: a closed list. What proves a state is code, and in no file.

The specification shows no status of a relayer or of a relay ("Endpoints named but whose shapes are not shown"). A venue's
file may say what such a word means; it cannot say what follows from it (:mod:`airlock_online.delivery.routes.said`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

PENDING, CONFIRMED, REVERTED, FAILED = "pending", "confirmed", "reverted", "failed"

MEANINGS = {
    PENDING: "the service has it, and nothing is decided: it is asked again",
    CONFIRMED: "its transaction is in a block. It counts with its transaction and its block in the same reply, without a "
    "sign of failure beside it, and where a node of the operator's is configured, with that node's receipt",
    REVERTED: "its transaction failed in a block. By itself this ends nothing: the chain, or the deadline, does",
    FAILED: "the service gives up. By itself this ends nothing: the chain, or the deadline, does",
}
"""The closed list, and what follows from each."""

KNOWN = {PENDING: PENDING, CONFIRMED: CONFIRMED, REVERTED: REVERTED}
"""The words that are known without any file."""

OF_EVENTS = frozenset(
    {
        "MarketOrderAccepted", "AttemptFailed", "MarketOrderInitiated", "IncreasePositionRequested", "MarketOrderExecuted",
        "PositionSizeIncreased", "MarketOrderCanceled", "Error",
    }
)  # fmt: skip
"""The market's events, whose meanings are the specification's: no file has them."""

_PLAIN = {
    "fail|revert|error|reject|drop|expire|abort|declin|invalid|denied|timeout|timedout|unsuccess|notconfirm|notexecut"
    "|replaced": frozenset({REVERTED, FAILED}),
    "pending|queue|submit|sent|sending|broadcast|processing|progress|wait|accept|receiv|schedul|mempool|unconfirm|unmined"
    "|notyet|notmined|inflight": frozenset({PENDING}),
    "success|succeed|confirm|complet|execut|finali|mined|done": frozenset({CONFIRMED, PENDING}),
}
"""What a word plainly says in English, by a part of it; the first row that fits decides what it may mean."""


def plain(word: str) -> str:
    """Return a word's letters and digits, whatever its case and whatever stands between them."""
    return "".join(letter for letter in word.casefold() if letter.isalnum())


def may_mean(word: str) -> frozenset[str]:
    """Return what a file may say that a word means: a word that says something plainly means that, and nothing else.

    The meanings' own names have one meaning in every file; ``failed`` is the specification's ("Events", row ``Error``).
    """
    letters = plain(word)
    if letters in MEANINGS:
        return frozenset({letters})
    return next((means for said, means in _PLAIN.items() if re.search(said, letters)), frozenset(MEANINGS))


def mistakes_in(words: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each word of a file with which something is wrong, and what that is."""
    seen = dict[str, str]()
    for word, meaning in words.items():
        if not 0 < len(word) <= 64 or not word.isascii() or not word.isprintable() or not plain(word):
            yield word, "it is not a word of 1 to 64 printable ASCII characters"
        elif type(meaning) is not str or meaning not in MEANINGS:
            yield word, f"it means {meaning!r}, and it can mean {', '.join(MEANINGS)}"
        elif plain(word) in {plain(event) for event in OF_EVENTS}:
            yield word, "it is an event of the market, which the specification explains"
        elif meaning not in may_mean(word):
            yield word, f"it cannot mean {meaning}: it says {' or '.join(sorted(may_mean(word)))}"
        elif seen.setdefault(plain(word), meaning) != meaning:
            yield word, f"it has two meanings: {seen[plain(word)]} and {meaning}"
