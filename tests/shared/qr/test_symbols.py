"""Symbols: what fits, what is refused, and that the decoders read what is drawn."""

from __future__ import annotations

import pytest

from airlock_shared.errors import UsageError
from airlock_shared.qr.documents import Transfer, densities_of
from airlock_shared.qr.render import picture
from airlock_shared.qr.scan import texts_in
from airlock_shared.qr.symbol import LARGEST_VERSION, capacity, matrix, side
from airlock_shared.ur.decode import TransferLimits

VERSIONS = range(1, LARGEST_VERSION + 1)
# ISO/IEC 18004, table 7: alphanumeric characters at level L.
PUBLISHED = {1: 25, 5: 154, 9: 335, 10: 395, 15: 758, 20: 1249, 26: 1990, 27: 2132}


@pytest.mark.parametrize(("version", "characters"), PUBLISHED.items())
def test_the_capacity_is_the_standards(version: int, characters: int) -> None:
    assert capacity(version) == characters


@pytest.mark.parametrize("version", VERSIONS)
def test_a_full_symbol_is_read_and_one_more_character_needs_the_next_version(version: int) -> None:
    text = ("UR:BYTES/1-9/" + "LPADAXCFAXNECYDAW" * 200)[: capacity(version)]
    modules = matrix(text, version_at_most=version)
    assert len(modules) == len(modules[0]) == side(version)
    assert texts_in(picture(modules, module_pixels=4)) == [text]
    with pytest.raises(UsageError, match=f"do not fit a QR code of version {version}, which holds {len(text)}"):
        matrix(text + "A", version_at_most=version)


@pytest.mark.parametrize("text", ["", "ur:bytes/aeadaolazmjendeoti", "UR:BYTES/É", "UR_BYTES", "UR:BYTES/A\n"])
def test_a_text_outside_the_alphanumeric_mode_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="alphanumeric"):
        matrix(text, version_at_most=20)


# ---- the aims, in frames of the default density -----------------------------------------------------------------------


def test_a_message_too_long_for_codes_is_refused_before_anything_is_drawn() -> None:
    with pytest.raises(UsageError, match="too many for codes"):
        densities_of(Transfer("bytes", bytes(TransferLimits().message_bytes + 1), "", "", "00" * 32))
