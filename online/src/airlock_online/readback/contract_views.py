"""What the pinned contracts tell a node by their own views, each of which takes words and returns one.

Nothing is raised for what a node answers: what cannot be read is not told, and why.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from airlock_online.clients.rpc import RpcCall, RpcClient, RpcError
from airlock_shared.documents.deployment import Deployment
from airlock_shared.errors import ServiceError
from airlock_shared.ethereum.addresses import checksum_address, parse_address
from airlock_shared.ethereum.keccak import keccak256

DELEGATIONS = "multipleDelegations(address,address)"  # 0x21ae831b: until when (unix s), 0 for none
_NO_ADDRESS = "0x" + "00" * 20


class ContractViews:
    """The views of the contract of a domain (``trading``, ``referral``) at one node; ``troubles`` says what is not told.

    Raises ``ServiceError`` when the node serves another chain than the pinned one, or cannot be asked.
    """

    def __init__(self, node: RpcClient, deployment: Deployment, domain: str) -> None:
        if (chain := node.chain_id()) != deployment.chain_id:
            raise ServiceError(f"it serves chain {chain}, but chain {deployment.chain_id} is pinned")
        self._node, self._contract = node, checksum_address(deployment.domains[domain].contract)
        self.troubles: list[str] = []

    def word(self, signature: str, *arguments: bytes) -> bytes | None:
        """Return the word of a view, None where the contract has no such view; arguments are filled up to words."""
        data = keccak256(signature.encode())[:4] + b"".join(argument.rjust(32, b"\0") for argument in arguments)
        try:
            word = self._node.call(RpcCall(_NO_ADDRESS, self._contract, "0x" + data.hex()))
        except RpcError:
            word = b""
        if len(word) != 32:
            self.troubles.append(f"the contract has no view {signature}")
            return None
        return word


class ExpiryOnChain(NamedTuple):
    """Until when a delegate is registered (unix s, 0 for not at all); None is "not told", and ``trouble`` says why."""

    source: str
    expiry_s: int | None = None
    trouble: str = ""


DelegationRead = Callable[[str, str], ExpiryOnChain]
"""Reads from the chain until when a trader's delegate is registered."""


def delegation_on_chain(node: RpcClient, deployment: Deployment, trader: str, delegate: str) -> ExpiryOnChain:
    """Return what the pinned trading contract tells a node of a delegate."""
    seen = ExpiryOnChain(f"the chain, by {node.name}")
    try:
        views = ContractViews(node, deployment, "trading")
        word = views.word(DELEGATIONS, parse_address(trader), parse_address(delegate))
    except ServiceError as error:
        return seen._replace(trouble=error.what)
    return seen._replace(expiry_s=int.from_bytes(word, "big") if word else None, trouble="; ".join(views.troubles))
