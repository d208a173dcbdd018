"""The second venue's unsigned transactions: for each path of the specification the account, the contract, the function.

Functions are others than comparable venues have, and take their arguments in another order.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

Fields = Mapping[str, Any]
_ADDED = "(address,uint32,uint16,uint256,uint128,uint64)"


class Built(NamedTuple):
    """A transaction that a path builds: who sends it, to which contract, the function, its arguments, the echo."""

    account: str
    contract: str
    signature: str
    values: Callable[[Fields], list[Any]]
    meta: tuple[str, ...] = ()


def raw(human: Any, decimals: int) -> int:
    """Return the raw integer of a decimal text."""
    return int(Decimal(str(human)).scaleb(decimals))


def _coins(fields: Fields) -> list[Any]:
    position = (fields["trader"], int(fields["pairIndex"]), int(fields["tradeIndex"]))
    added = (raw(fields["openPrice"], 10), raw(fields["additionalCollateralUsdc"], 6), raw(fields["leverage"], 10))
    slippage, *coins = (
        raw(fields[name], 10) for name in ("slippagePercent", "coinExposure", "minLeverage", "maxLeverage")
    )
    return [slippage, position + added, *coins]


def _limit(fields: Fields) -> list[Any]:
    price, *others = (raw(fields.get(name, 0), 10) for name in ("price", "stopLoss", "takeProfit", "slippagePercent"))
    return [price, int(fields["orderIndex"]), int(fields["pairIndex"]), *others]


BUILT = {
    "/v2/position/increase-coin": Built(
        "trader", "router", f"addCoins(uint64,{_ADDED},uint128,uint64,uint64)", _coins,
        ("tradeIndex", "additionalCollateralUsdc", "leverage", "coinExposure", "minLeverage", "maxLeverage"),
    ),
    "/v2/limit/update": Built(
        "trader", "router", "changeLimit(uint256,uint16,uint32,uint256,uint256,uint256)", _limit, ("price",)
    ),
    "/v2/delegate/set": Built("trader", "router", "allow(uint64,address)", lambda f: [int(f["expiry"]), f["delegate"]]),
    "/v2/misc/claim-keeper-rewards": Built("caller", "router", "claimRewards()", lambda _: []),
    "/v2/token/approve": Built(
        "trader", "usdc", "approve(address,uint256)", lambda f: [f["spender"], raw(f["amountUsdc"], 6)]
    ),
    "/v2/lp/deposit": Built(
        "trader", "storage", "depositLp(uint128,address)", lambda f: [raw(f["usdc"], 6), f["trader"]]
    ),
}  # fmt: skip
"""By path."""


def kinds_of(signature: str) -> list[str]:
    """Return the types of a function's arguments, a tuple as one."""
    kinds, depth = [""], 0
    for letter in signature.partition("(")[2][:-1]:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and not depth:
            kinds.append("")
        else:
            kinds[-1] += letter
    return [kind for kind in kinds if kind]
