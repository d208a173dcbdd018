"""The second opinion in the same process: the same libraries, without a process for each of a hundred signings."""

from __future__ import annotations

import json
from typing import Any

from airlock_shared.ethereum.library_opinion import opinion_on


class SameProcess:
    """An opinion that is computed when it is asked for."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = json.loads(json.dumps(document))
        self.ended = False

    def result(self) -> bytes:
        return opinion_on(self._document)

    def end(self) -> None:
        self.ended = True
