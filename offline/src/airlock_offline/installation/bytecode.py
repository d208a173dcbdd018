"""Bytecode that can be made again, byte for byte, and so be compared without being loaded.

What Python writes by itself depends on the process that wrote it: in marshal's current format a mark says which objects
had several owners at that moment. Its version 2 has neither these marks nor those of interned texts, so the bytes follow
from source, name and interpreter alone. They are written as PEP 552's unchecked hash-based files: nothing in them depends
on the time of the installation, and Python asks no file's date when it starts. Sources: PEP 552, ``Python/marshal.c``.
"""

from __future__ import annotations

import importlib.util
import marshal
import sys
import warnings
from pathlib import Path

from airlock_shared.errors import UsageError

_MARSHAL_VERSION = 2
_UNCHECKED_HASH = (0b01).to_bytes(4, "little")  # PEP 552: hash-based, and not compared with the source on import


def place(source: str) -> str:
    """Return where the bytecode of a source lies, both relative to the same folder."""
    folder, _, name = source.rpartition("/")
    cached = f"__pycache__/{name.removesuffix('.py')}.{sys.implementation.cache_tag}.pyc"
    return f"{folder}/{cached}" if folder else cached


def make(source: bytes, name: str) -> bytes | None:
    """Return the bytecode file of a module, None for a file that is no Python of this version.

    ``name`` is the path that tracebacks would name; Python puts in the true one when it imports the file.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of other people's sources
            code = compile(source, name, "exec", dont_inherit=True, optimize=0)
    except (SyntaxError, ValueError):
        return None
    header = importlib.util.MAGIC_NUMBER + _UNCHECKED_HASH + importlib.util.source_hash(source)
    return header + marshal.dumps(code, _MARSHAL_VERSION)


def write_all(packages: Path) -> int:
    """Write the bytecode of every module below a folder in which there is none, and return how many were written.

    Raises ``UsageError`` when a file cannot be read or written.
    """
    written = 0
    try:
        for source in sorted(packages.rglob("*.py")):
            name = source.relative_to(packages).as_posix()
            made = make(source.read_bytes(), name)
            if made is not None:
                target = packages / place(name)
                target.parent.mkdir(exist_ok=True)
                with target.open("xb") as file:
                    file.write(made)
                written += 1
    except OSError as error:
        raise UsageError(f"{error.filename}: {error.strerror}", do="check the folder and the free space") from error
    return written
