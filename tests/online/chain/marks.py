"""The two chains with marks to go back to: a test begins where another began."""

from __future__ import annotations

from typing import Any, NamedTuple

from airlock_rehearsal.chain import embedded
from airlock_shared.errors import ServiceError
from online.chain import anvil_node


class _Mark(NamedTuple):
    header: Any
    blocks: int
    mined: dict[str, Any]


class EmbeddedEvm(embedded.EmbeddedEvm):
    def snapshot(self) -> object:
        """Return a mark to go back to."""
        return _Mark(self._chain.header, len(self._blocks), dict(self._mined))

    def go_back(self, mark: object) -> None:
        """Forget everything since the mark was made."""
        if not isinstance(mark, _Mark):
            raise TypeError(type(mark))
        self._chain.header, self._mined = mark.header, mark.mined
        del self._blocks[mark.blocks :]


class NodeEvm(anvil_node.NodeEvm):
    def snapshot(self) -> object:
        """Return a mark to go back to."""
        return self._ask("evm_snapshot")

    def go_back(self, mark: object) -> None:
        """Forget everything since the mark was made. A mark serves once."""
        if self._ask("evm_revert", mark) is not True:
            raise ServiceError("the node did not go back to its snapshot", do="start a new node")


Evm = EmbeddedEvm | NodeEvm
