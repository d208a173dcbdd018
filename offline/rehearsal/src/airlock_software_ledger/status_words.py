"""The status words with which the software Ledger ends a command, and the exception that carries one."""

from __future__ import annotations

OK = 0x9000
UNSPECIFIED = 0x6A00
BAD_DATA = 0x6A80
PATH = 0x6A15
TRANSACTION_TYPE = 0x6501
ORDER = 0x6980
MISSING = 0x6A88
REFUSED = 0x6985
PARAMETERS = 0x6B00
INSTRUCTION = 0x6D00
CLASS = 0x6E00
LOCKED = 0x5515


class Failed(Exception):
    """The command ends with a status word other than 9000. Never leaves the software Ledger."""

    def __init__(self, sw: int) -> None:
        super().__init__(f"{sw:04x}")
        self.sw = sw
