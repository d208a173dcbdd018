"""What one machine hands to the other at once by QR codes, ``airlock/hand-over@1``: documents by their file names.

``{"format", "ceremony", "files"}``. It says nothing of its own: each document in it is read and compared as if it came by
file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from airlock_shared.errors import DocumentError
from airlock_shared.wire.strict_json import (
    NAME,
    parse_json,
    read_matching,
    read_members,
    require_format,
    to_json,
)

HAND_OVER_FORMAT = "airlock/hand-over@1"
FILES_AT_MOST = 64
_FILE = re.compile(r"[a-z0-9][a-z0-9-]{0,80}\.jsonl?", re.ASCII)


def write_hand_over(ceremony: str, files: Mapping[str, bytes]) -> bytes:
    """Return the document. Raises ``DocumentError`` for a file that is no text, or has no name of a document."""
    try:
        texts = {name: data.decode() for name, data in files.items()}
    except UnicodeDecodeError as error:
        raise DocumentError("DOC-JSON", "a file that is not UTF-8", do="hand over documents alone") from error
    data = to_json({"format": HAND_OVER_FORMAT, "ceremony": ceremony, "files": texts})
    parse_hand_over(data)
    return data


def parse_hand_over(data: bytes) -> tuple[str, dict[str, bytes]]:
    """Return the ceremony's id and the files by name. Raises ``DocumentError``, ``DOC-FIELD`` for a name of no document."""
    value = parse_json(data)
    require_format(value, HAND_OVER_FORMAT, "not a hand-over")
    read_members(value, "hand-over", {"format": str, "ceremony": str, "files": dict})
    read_matching(value["ceremony"], "hand-over.ceremony", NAME, "a name in lower case")
    texts: dict[str, str] = read_members(value["files"], "hand-over.files", dict.fromkeys(value["files"], str))
    if not 0 < len(texts) <= FILES_AT_MOST:
        raise DocumentError(
            "DOC-FIELD",
            "a hand-over of no files, or of too many",
            len(texts),
            f"1 to {FILES_AT_MOST}",
            do="show it again",
        )
    for name in texts:
        read_matching(name, "hand-over.files", _FILE, "the name of a document")
    to_json(value)  # each text has a form in UTF-8
    return value["ceremony"], {name: text.encode() for name, text in texts.items()}
