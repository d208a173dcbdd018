"""eth-account without key files. They and the curve of another chain are most of what it loads, and nothing here uses them.

Loading them takes a second of CPU, and the second opinion on each step of `sign` is a new process.
"""

from __future__ import annotations

import sys
from types import ModuleType

_NAMES = ("KDFType", "create_keyfile_json", "decode_keyfile_json")  # what eth-account takes from it


def leave_out_key_files() -> None:
    """Have eth-account load without eth-keyfile in this process: its names are there and can do nothing."""
    for name in ("eth_keyfile", "eth_keyfile.keyfile"):
        if name not in sys.modules:
            module = sys.modules[name] = ModuleType(name)
            module.__dict__.update(dict.fromkeys(_NAMES, object))
