"""What other wallets answered to the steps of a requests document, kept until every step is answered.

One file a step in a folder named by the requests' fingerprint. They hold signatures that are not submitted: mode 0600.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from airlock_shared.documents.requests import Request
from airlock_shared.documents.signatures import Signed, read_item
from airlock_shared.host.files import make_folder, read_input, write_new
from airlock_shared.wire.codec import parse_json


class WalletAnswers:
    """The answers to one requests document, in the online machine's folder ``home``."""

    def __init__(self, home: Path, requests_fingerprint: str) -> None:
        self._folder = home / "wallet-answers" / requests_fingerprint

    def keep(self, signed: Signed) -> bool:
        """Keep a step's answer; return False when the step had one before, which stays."""
        path = self._path(signed.step)
        make_folder(self._folder.parent)
        make_folder(self._folder)
        if path.exists():
            return False
        write_new(path, json.dumps(signed.as_json()).encode())
        return True

    def of(self, requests: Iterable[Request]) -> dict[str, Signed]:
        """Return the answers that there are, by step. Raises ``DocumentError`` when a file is damaged."""
        paths = {request.step: self._path(request.step) for request in requests}
        return {
            step: read_item(parse_json(read_input(path)), "answer kept")
            for step, path in paths.items()
            if path.exists()
        }

    def _path(self, step: str) -> Path:
        return self._folder / f"{step}.json"
