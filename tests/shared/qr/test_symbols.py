"""Symbols: what fits, what is refused, and that the decoders read what is drawn."""

from __future__ import annotations

import pytest

from airlock_shared.errors import UsageError
from airlock_shared.qr.documents import Transfer, cycle_texts, densities_of, endless_texts, ideal_count
from airlock_shared.qr.pictures import picture
from airlock_shared.qr.scan import texts_in
from airlock_shared.qr.symbol import (
    DENSITIES,
    LARGEST_VERSION,
    QUIET,
    bordered,
    capacity,
    fragment_bytes_for,
    matrix,
    side,
    version_for,
)
from airlock_shared.ur.decode import Decoder, TransferLimits
from shared.qr.transfers import batch, one_intent, one_transaction, whole_plan

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


def test_a_symbol_is_no_larger_than_it_must_be() -> None:
    assert len(matrix("UR:BYTES/AEAD", version_at_most=27)) == side(1)
    assert len(matrix("UR:BYTES/AEAD", version_at_most=27, version_at_least=7)) == side(7)
    assert version_for(["A" * 395, "A"], version_at_most=27) == 10


def test_the_quiet_zone_is_four_modules_of_white_on_every_side() -> None:
    modules = matrix("UR:BYTES/AEAD", version_at_most=1)
    framed = bordered(modules)
    assert [row[QUIET:-QUIET] for row in framed[QUIET:-QUIET]] == modules
    rim = [*framed[:QUIET], *framed[-QUIET:], *(row[:QUIET] + row[-QUIET:] for row in framed)]
    assert not any(any(row) for row in rim)


@pytest.mark.parametrize("ur_type", ["bytes", "eth-sign-request", "crypto-hdkey"])
@pytest.mark.parametrize("version", [5, *DENSITIES])
def test_every_frame_fits_its_density(version: int, ur_type: str) -> None:
    # the longest message that is received, so that every number in a part is as long as it gets
    size = min(TransferLimits().message_bytes, fragment_bytes_for(version, ur_type) * TransferLimits().seq_len)
    transfer = Transfer(ur_type, bytes(size), "", "", "00" * 32)
    texts = endless_texts(transfer, version)
    assert max(len(next(texts)) for _ in range(20)) <= capacity(version)
    numbered = 99_999 - 1  # the part's number at its longest
    assert len(f"{numbered}") - 1 + max(len(next(texts)) for _ in range(20)) <= capacity(version)


@pytest.mark.parametrize("version", DENSITIES)
def test_a_message_of_one_fragment_is_a_still_code_that_fits(version: int) -> None:
    transfer = Transfer("bytes", bytes(fragment_bytes_for(version)), "", "", "00" * 32)
    (text,) = cycle_texts(transfer, version)
    assert len(text) <= capacity(version)
    assert ideal_count(transfer._replace(cbor=bytes(fragment_bytes_for(version) + 1)), version) == 2


# ---- the aims, in frames of the default density -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("transfer", "at_most"),
    [
        (one_intent(), 2),
        (one_transaction(), 2),
        (batch(1)[0], 2),
        (batch(1)[1], 1),
        (batch(50)[0], 40),
        (batch(50)[1], 40),
    ],
    ids=["an intent", "a transaction", "an open", "a signature", "50 intents", "50 signatures"],
)
def test_a_document_takes_at_most_so_many_frames(transfer: Transfer, at_most: int) -> None:
    assert ideal_count(transfer, 20) <= at_most


@pytest.mark.parametrize("version", DENSITIES)
def test_a_cycle_alone_completes_the_message(version: int) -> None:
    decoder = Decoder()
    for text in cycle_texts(whole_plan(), version):
        decoder.receive(text)
    assert decoder.result is not None
    assert decoder.result.cbor == whole_plan().cbor


def test_densities_that_a_receiver_would_not_take_are_not_offered() -> None:
    long = Transfer("bytes", bytes(4096 * fragment_bytes_for(10) + 1), "", "", "00" * 32)
    assert densities_of(long) == [15, 20, 27]
    assert densities_of(long._replace(cbor=bytes(2000))) == [10, 15, 20, 27]
    assert densities_of(long._replace(cbor=bytes(300))) == [10, 15]
    assert densities_of(long._replace(cbor=bytes(100))) == [10]


def test_a_message_too_long_for_codes_is_refused_before_anything_is_drawn() -> None:
    with pytest.raises(UsageError, match="too many for codes"):
        densities_of(Transfer("bytes", bytes(TransferLimits().message_bytes + 1), "", "", "00" * 32))
