"""What can be read from the rehearsal's contracts by ``eth_call``."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from eth_abi import abi
from eth_abi.exceptions import DecodingError
from eth_utils.address import to_checksum_address

from airlock_online.rehearsal.services.calls import selector_of
from airlock_online.rehearsal.services.reverts import Reverted
from airlock_online.rehearsal.services.settings import REFERRAL, TRADING_ROUTER, USDC
from airlock_online.rehearsal.services.world import World


class _View(NamedTuple):
    signature: str
    contracts: tuple[str, ...]
    read: Callable[[World, str, str, str | int], int]  # world, contract, first argument, second argument

    @property
    def types(self) -> list[str]:
        return self.signature.partition("(")[2].removesuffix(")").split(",")


def _bitmap(world: World, contract: str, owner: str, word: str | int) -> int:
    space = "referral" if contract == REFERRAL else "trading"
    spent = [nonce for kind, who, nonce in world.used_nonces if (kind, who) == (space, owner)]
    return sum(1 << (nonce & 255) for nonce in spent if nonce >> 8 == word)


_ALL = (
    _View("allowance(address,address)", (USDC,), lambda world, _, owner, who: world.allowances.get((owner, str(who)), 0)),
    _View("balanceOf(address)", (USDC,), lambda world, _, owner, __: world.usdc.get(owner, 0)),
    _View("nonceBitmap(address,uint256)", (TRADING_ROUTER, REFERRAL), _bitmap),
    _View("multipleDelegations(address,address)", (TRADING_ROUTER,),
          lambda world, _, owner, who: world.delegations.get((owner, str(who)), 0)),
)  # fmt: skip

_BY_SELECTOR = {selector_of(row.signature): row for row in _ALL}


def view(world: World, contract: str, data: bytes) -> bytes | None:
    """Return what a view of a contract returns, ``None`` when the call is not a view. Raises ``Reverted``."""
    row = _BY_SELECTOR.get(data[:4])
    if row is None or contract not in row.contracts:
        return None
    try:
        values = abi.decode(row.types, data[4:])
    except (DecodingError, OverflowError) as error:
        raise Reverted(contract, "the arguments cannot be read", b"") from error
    first, *rest = (str(to_checksum_address(value)) if isinstance(value, str) else int(value) for value in values)
    return bytes(abi.encode(["uint256"], [row.read(world, contract, str(first), rest[0] if rest else 0)]))
