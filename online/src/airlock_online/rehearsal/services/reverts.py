"""How a call fails on the chain: the data that it reverts with, and what that data says.

Source: Solidity's ``Error(string)`` and custom errors, whose selector is that of a function's signature.
"""

from __future__ import annotations

from eth_abi import abi

from airlock_online.rehearsal.services.calls import selector_of


class Reverted(Exception):
    """A call that reverts. ``decoded`` is the error's name, or its text; ``data`` is empty when the contract gave none."""

    def __init__(self, target: str, decoded: str, data: bytes) -> None:
        super().__init__(decoded)
        self.target = target
        self.decoded = decoded
        self.data = data


def custom(name: str, target: str) -> Reverted:
    """Return a revert with a custom error that has no arguments."""
    return Reverted(target, name, selector_of(f"{name}()"))


def reason(text: str, target: str) -> Reverted:
    """Return a revert with a text."""
    return Reverted(target, text, selector_of("Error(string)") + bytes(abi.encode(["string"], [text])))
