"""Prints the typefaces of ``ledger/models.py``: how wide each character is on a Ledger's screen, by the device's fonts.

``python make_glyph_widths.py FOLDER``: the folder ``lib_nbgl/include/fonts`` of the public device SDK
(LedgerHQ/ledger-secure-sdk, Apache License 2.0), of the last commit that has it, 70bed26f's parent; since then the fonts
are compiled into the system.
"""

import re
import sys
import textwrap
from pathlib import Path

FACES = {
    "OPEN_SANS_REGULAR_11": "open_sans_regular_11",
    "OPEN_SANS_EXTRABOLD_11": "open_sans_extrabold_11",
    "INTER_REGULAR_24": "inter_regular_24",
    "INTER_SEMIBOLD_24": "inter_semibold_24",
    "INTER_MEDIUM_32": "inter_medium_32",
    "INTER_REGULAR_28": "inter_regular_28",
    "INTER_SEMIBOLD_28": "inter_semibold_28",
    "INTER_MEDIUM_36": "inter_medium_36",
    "NANOTEXT_MEDIUM_18": "nanotext_medium_18_1bpp",
    "NANOTEXT_BOLD_18": "nanotext_bold_18_1bpp",
    "NANODISPLAY_SEMIBOLD_24": "nanodisplay_semibold_24_1bpp",
}


def read(path: Path) -> tuple[int, list[int]]:
    """Return the pixels from line to line of a font, and its characters' widths from 0x20 on."""
    text = path.read_text()
    # the place of the picture, how it is packed, and the width; older tables say the packing after four more figures
    rows = re.findall(r"\{\s*\d+,\s*([01]),\s*(\d+),[^}]*\},\s*//asciii? 0x([0-9A-Fa-f]+)", text)
    codes = [int(code, 16) for _, _, code in rows]
    assert codes == list(range(0x20, 0x20 + len(codes))), path.name
    height = re.search(r"(\d+),\s*// line height", text)
    kerning = re.search(r"(\d+),\s*// kerning", text)
    assert height is not None, path.name
    assert kerning is not None, path.name
    return int(height[1]), [int(width) - int(kerning[1]) for _, width, _ in rows][: 0x7F - 0x20]


def main(folder: Path) -> None:
    """Print each typeface as it stands in the module."""
    for name, file in FACES.items():
        line_px, widths = read(folder / f"nbgl_font_{file}.inc")
        assert len(widths) == 95, (name, len(widths))
        rows = textwrap.wrap(" ".join(map(str, widths)), 120)
        body = "\n".join(rows)
        print(f'{name} = _typeface({line_px}, """\n{body}\n""")')


if __name__ == "__main__":
    main(Path(sys.argv[1]))
