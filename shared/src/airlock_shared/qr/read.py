"""The texts of the QR codes in a picture: zxing-cpp, then zbar where there is a sound one, then a clearer picture."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from airlock_shared.host.zbar_library import SONAME, UPGRADE, why_left_out

if TYPE_CHECKING:
    from PIL import Image

MISSING_ZBAR = (
    "the second decoder is missing: the zbar library is not installed. Codes are read without it; "
    "on Debian, apt-get install libzbar0 brings it"
)

_SMALL_PIXELS = 1 << 20


def texts_in(image: Image.Image) -> list[str]:
    """Return the text of each QR code in a picture, in either polarity; empty when none can be read."""
    grey = image if image.mode == "L" else _on_white(image).convert("L")
    return _by_zxing(grey) or _by_zbar(grey) or _by_zxing(_clearer(grey))


def second_decoder_hint() -> str:
    """Return what to tell the operator once when the second decoder is missing, else nothing."""
    decode, why = _zbar()
    return "" if decode else why


def _on_white(image: Image.Image) -> Image.Image:
    """Return a picture with transparency as it looks on white paper."""
    if not image.has_transparency_data:
        return image
    from PIL import Image

    layer = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer)


def _clearer(grey: Image.Image) -> Image.Image:
    """Return a picture with its whole contrast, a small one at twice its size: noise and a dim screen need it."""
    from PIL import Image, ImageOps

    full = ImageOps.autocontrast(grey, cutoff=1)
    if grey.width * grey.height > _SMALL_PIXELS:
        return full
    return full.resize((2 * grey.width, 2 * grey.height), Image.Resampling.BICUBIC)


def _by_zxing(grey: Image.Image) -> list[str]:
    import zxingcpp

    kind, plain = zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.QRCode), zxingcpp.TextMode.Plain
    found = zxingcpp.read_barcodes(grey, formats=kind, text_mode=plain)
    return [code.text for code in found]


def _by_zbar(grey: Image.Image) -> list[str]:
    decode, _ = _zbar()
    return decode(grey) if decode else []


@cache
def _zbar() -> tuple[Callable[[Image.Image], list[str]] | None, str]:
    """Return zbar's decoder of grey pictures, or None and why: the library is missing, or not one that may be used."""
    try:
        from pyzbar import zbar_library  # type: ignore[import-untyped]

        if sys.platform == "linux":  # it would look for the library by starting ldconfig or a compiler
            zbar_library.find_library = lambda _: SONAME
        from pyzbar import pyzbar, wrapper
    except (ImportError, OSError):
        return None, MISSING_ZBAR
    if why := why_left_out(wrapper.LIBZBAR):
        return None, f"the second decoder is left out: {why}. Codes are read without it; {UPGRADE}"

    def decode(grey: Image.Image) -> list[str]:
        found = pyzbar.decode(grey, symbols=[pyzbar.ZBarSymbol.QRCODE])
        return [code.data.decode("utf-8", "replace") for code in found]

    return decode, ""
