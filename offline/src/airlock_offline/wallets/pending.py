"""What a hot wallet asked, remembered by the requests document that was made of it until the answer is shown.

The wallet takes an answer by the id of its request, which no document of ours holds.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from airlock_offline.home import OfflineHome
from airlock_shared.errors import UsageError
from airlock_shared.host.files import make_folder, read_input, write_new
from airlock_shared.wire.codec import parse_json
from airlock_shared.wire.members import HEX_32, read_matching, read_members

_MEMBERS = {"step": str, "digest": str, "signer": str, "data_type": int, "request_id": str}


class WalletRequest(NamedTuple):
    """A wallet's request: the step made of it, its digest and signer (hex), its kind, its id (empty: it gave none)."""

    step: str
    digest: str
    signer: str
    data_type: int
    request_id: str


def keep_request(state: OfflineHome, requests_fingerprint: str, asked: WalletRequest) -> None:
    """Remember what the wallet asked before its requests document is written."""
    path = _path(state, requests_fingerprint)
    make_folder(path.parent)
    if not path.exists():
        write_new(path, json.dumps(asked._asdict()).encode())


def require_request(state: OfflineHome, requests_fingerprint: str) -> WalletRequest:
    """Return what was asked. Raises ``UsageError`` when no wallet asked it here, ``DocumentError`` if damaged."""
    path = _path(state, requests_fingerprint)
    if not path.exists():
        raise UsageError(
            "this machine has no wallet request for these signatures",
            do="give the signatures of a request that was scanned here with: airlock-offline scan --plan",
        )
    value: Any = parse_json(read_input(path))
    return WalletRequest(**read_members(value, "wallet request kept", _MEMBERS))


def _path(state: OfflineHome, requests_fingerprint: str) -> Path:
    return state.wallet_request_path(read_matching(requests_fingerprint, "requests", HEX_32, "a fingerprint"))
