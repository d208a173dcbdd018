"""What the second venue signs, other types than comparable venues have, and the profile that says so.

Widths, names of members and of structs within structs, orders, milliseconds, no terms, another function for a call.
"""

import json
from pathlib import Path
from typing import Any

from venue_structs import Structs

PROFILE: dict[str, Any] = json.loads(Path(__file__).with_name("profile.json").read_text())
CANCEL = "CancelReq(address trader,uint64 order,uint256 nonce,uint64 deadline)"
"""A struct that no other venue has; nor has the profile."""
_PROFILED = PROFILE["structs"]
STRUCTS = Structs(
    [*(entry["encode_type"] for entry in _PROFILED.values()), CANCEL],
    {name: entry["abi_order"] for name, entry in _PROFILED.items() if "abi_order" in entry},
)
