"""QR symbols (ISO/IEC 18004): a frame's text as a matrix of modules, and how many bytes a frame carries.

Level L and the alphanumeric mode: upper-case URs need nothing else (BCR-2020-005, "QR codes"), a lost frame is replaced by
the fountain code rather than by redundancy in each symbol, and one character of the mode takes 5.5 bits instead of 8.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from airlock_shared.errors import UsageError

Matrix = list[list[bool]]
"""Rows of modules from the top, without the quiet zone; True is dark."""

QUIET = 4  # modules of white on each side: section 6.3.8
DENSITIES = (10, 15, 20, 27)
DEFAULT_VERSION = 20
LARGEST_VERSION = 27  # beyond it a camera at arm's length sees less than two pixels a module

# Data codewords of a symbol at level L, versions 1 to 27: ISO/IEC 18004, table 9. The library's own table loads pillow.
_DATA_CODEWORDS = (
    19, 34, 55, 80, 108, 136, 156, 194, 232, 274, 324, 370, 428, 461, 523, 589, 647, 721, 795, 861, 932, 1006, 1094, 1174,
    1276, 1370, 1468,
)  # fmt: skip
_ALPHANUMERIC = re.compile(r"[0-9A-Z $%*+\-./:]+", re.ASCII)  # table 5
_COUNTER = len("99999-9999/")  # of a part's text: a day and a half at 200 ms a frame
_PART_HEAD = 1 + 5 + 3 + 5 + 5 + 3  # CBOR of a part: array, sequence number, length, message length, CRC32, bytes' head
_CHECKSUM = 4  # of the bytewords


def side(version: int) -> int:
    """Return the modules along one side of a symbol, without the quiet zone."""
    return 17 + 4 * version


def capacity(version: int) -> int:
    """Return how many alphanumeric characters a symbol of level L holds (table 7)."""
    count_bits = 9 if version < 10 else 11 if version < 27 else 13  # table 3
    bits = 8 * _DATA_CODEWORDS[version - 1] - 4 - count_bits
    return bits // 11 * 2 + (bits % 11 >= 6)


def fragment_bytes_for(version: int, ur_type: str) -> int:
    """Return how many bytes of a message one part may carry, so that its UR fits a symbol of this version."""
    characters = capacity(version) - len(f"UR:{ur_type}/") - _COUNTER
    return characters // 2 - _CHECKSUM - _PART_HEAD


def matrix(text: str, *, version_at_most: int) -> Matrix:
    """Return the symbol of an upper-case UR, in the smallest version that holds it. Raises as :func:`symbols`."""
    return symbols([text], version_at_most)[0]


def symbols(texts: Sequence[str], version_at_most: int) -> list[Matrix]:
    """Return the symbols of several frames, all in the smallest version that holds each of them.

    Raises ``UsageError`` for a text that does not fit or has characters outside the alphanumeric mode.
    """
    longest = max(map(len, texts))
    for version in range(1, version_at_most + 1):
        if capacity(version) >= longest:
            return [_drawn(text, version) for text in texts]
    raise UsageError(
        f"{longest} characters do not fit a QR code of version {version_at_most}, which holds {capacity(version_at_most)}",
        do="choose a higher density",
    )


def _drawn(text: str, version: int) -> Matrix:
    from qrcode import QRCode  # type: ignore[import-untyped]  # noqa: PLC0415 - other people's: where codes are drawn alone
    from qrcode.constants import ERROR_CORRECT_L  # type: ignore[import-untyped]  # noqa: PLC0415 - as above
    from qrcode.util import MODE_ALPHA_NUM, QRData  # type: ignore[import-untyped]  # noqa: PLC0415 - as above

    if not _ALPHANUMERIC.fullmatch(text):
        raise UsageError(
            "a frame's text has characters outside the alphanumeric mode", do="give the UR in upper case letters"
        )
    code = QRCode(version=version, error_correction=ERROR_CORRECT_L, border=0)
    code.add_data(QRData(text.encode(), mode=MODE_ALPHA_NUM))
    code.make(fit=False)
    return [[bool(module) for module in row] for row in code.get_matrix()]


def bordered(modules: Matrix) -> Matrix:
    """Return a symbol with its quiet zone."""
    width = len(modules) + 2 * QUIET
    blank = [[False] * width for _ in range(QUIET)]
    sides = [False] * QUIET
    return [*blank, *([*sides, *row, *sides] for row in modules), *blank]
