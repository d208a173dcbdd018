"""The licence texts of every package, out of its wheel, and a list that names the packages without one."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable
from email.message import Message
from email.parser import Parser
from pathlib import Path

from wheels import Wheel

_TEXT = re.compile(r"[^/]+\.dist-info/(?:licenses/(.+)|((?:LICEN[CS]E|COPYING|NOTICE|AUTHORS)[^/]*))", re.IGNORECASE)
_HEADING = """\
The licences of the packages in here, as the packages themselves state them; the texts are beside this list.
Libraries that a wheel carries inside it are named in sbom.cdx.json; their terms are where their wheel put them.

"""


def write(wheels: Iterable[Wheel], folder: Path) -> None:
    """Write the texts into one folder a package, and the LIST."""
    rows = []
    for wheel in wheels:
        title = f"{wheel.name} {wheel.version}"
        texts = _texts(wheel)
        for name, data in texts.items():
            path = folder / title.replace(" ", "-") / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        stated = stated_licence(wheel) or "not stated"
        rows.append(f"{title}: {stated}; {f'texts: {len(texts)}' if texts else 'NO LICENCE TEXT in its wheel'}\n")
    (folder / "LIST").write_text(_HEADING + "".join(rows))


def stated_licence(wheel: Wheel) -> str:
    """Return what a package's metadata says its licence is, in one line, empty when it says nothing."""
    fields = metadata(wheel)
    short = fields.get("License", "").strip()
    classified = [
        value.rpartition(" :: ")[2]
        for key, value in fields.items()
        if key == "Classifier" and value.startswith("License :: ")
    ]
    if expression := fields.get("License-Expression", ""):
        return str(expression)
    return short if short and "\n" not in short and len(short) <= 80 else ", ".join(classified)


def metadata(wheel: Wheel) -> Message:
    """Return a wheel's core metadata."""
    with zipfile.ZipFile(wheel.path) as archive:
        (name,) = (name for name in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", name))
        return Parser().parsestr(archive.read(name).decode())


def _texts(wheel: Wheel) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel.path) as archive:
        found = {name: _TEXT.fullmatch(name) for name in archive.namelist() if not name.endswith("/")}
        return {
            re.sub(r"[^A-Za-z0-9._/-]", "_", match[1] or match[2]): archive.read(name)
            for name, match in found.items()
            if match
        }
