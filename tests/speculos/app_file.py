"""What an ELF of the Ethereum app says of itself: the model that it was built for, and its version."""

import os
import struct
from pathlib import Path
from typing import NamedTuple

from airlock_offline.ledger.models import RELEASED

ELF_VARIABLE = "AIRLOCK_ETH_ELF"
MODELS = {"nanos2": "nanosp", "nanox": "nanox", "stax": "stax", "flex": "flex", "apex_p": "apexp"}
"""Our name of a model, by the one of the device SDK."""
_EMULATED = {"nanos2": "nanosp"}  # Speculos has names of the device SDK but for this one
_HEADER = struct.Struct(
    "<32xI10xHHH"
)  # of a file for 32 bits: where its table of sections is, their size, number, names
_SECTION = struct.Struct("<II8xII16x")  # place of the name, kind, place, length


class AppFile(NamedTuple):
    """An ELF: the model of the device SDK it was built for, and its version's text."""

    path: Path
    target: str
    version: str

    @property
    def emulated(self) -> str:
        return _EMULATED.get(self.target, self.target)

    @property
    def model(self) -> str:
        return MODELS[self.target]

    @property
    def built(self) -> str:
        return self.model if self.version == RELEASED else f"{self.model}-{self.version}"


def read_app_file(path: Path) -> AppFile:
    """Return what the sections ``ledger.*`` of an ELF say. Raises ``ValueError`` when it is no app for a Ledger."""
    data = path.read_bytes()
    if data[:5] != b"\x7fELF\x01":
        message = f"{path} is no ELF of 32 bits"
        raise ValueError(message)
    table, size, number, names = _HEADER.unpack_from(data)
    rows = [_SECTION.unpack_from(data, table + size * index) for index in range(number)]
    starts = rows[names][2]
    texts = {}
    for name_at, _, place, length in rows:
        name = data[starts + name_at : data.index(b"\0", starts + name_at)].decode()
        if name.startswith("ledger."):
            texts[name] = data[place : place + length].rstrip(b"\0\n").decode("ascii", "replace")
    target, version = texts.get("ledger.target", ""), texts.get("ledger.app_version", "")
    if texts.get("ledger.app_name") != "Ethereum" or target not in MODELS:
        message = f"{path} is not the Ethereum app of a Ledger that is known here"
        raise ValueError(message)
    return AppFile(path, target, version)


def named_app() -> AppFile:
    """Return the app that ``AIRLOCK_ETH_ELF`` names. Raises ``ValueError`` when it names none."""
    path = Path(os.environ.get(ELF_VARIABLE, ""))
    if not path.is_file():
        message = f"{ELF_VARIABLE} does not name the Ethereum app's ELF: use `make speculos ELF=...`"
        raise ValueError(message)
    return read_app_file(path)
