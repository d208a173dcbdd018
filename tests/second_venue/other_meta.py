"""The second venue with another meta document and another catalogue of pairs, where the specification shows neither.

====================== ==============================================================================================
left open              here
====================== ==============================================================================================
contracts              in tables within tables, the token as an object with its address; router and referral contract
                       are not among them (the domains name both), one is null
enums                  a list of names that counts from 0; numbers as keys; a list of objects with aliases of one number;
                       names in another spelling; an enum that no plan uses has no numbers
units                  all as plain numbers, under names in capitals
slippage               ``trading.maxSlippage.percent``, the number 0.4
``GET /v2/pairs``      an object with each pair under its index; the pairs do not say it again
====================== ==============================================================================================
"""

from __future__ import annotations

from typing import Any

from second_venue.venue import CHAIN_ID, PAIRS, REFERRING, STORAGE, TRADING, USDC, SecondVenue

META = """
[replies.meta]
trading_domain = "signing.trade"
referral_domain = "signing.refer"
contracts = "deployed"
enum_first = "0"
units = "scale"
intent_deadline_ms = "trading.lifetime"
slippage_percent = "trading.maxSlippage.percent"
simulator = "testnet"

[replies.pairs]
id = "no"
name = "title"
pnl = "pnl"
"""


class OtherMeta(SecondVenue):
    """The same venue, described otherwise."""

    def _meta(self, _fields: dict[str, Any]) -> Any:
        return {
            "testnet": True,
            "chainId": str(CHAIN_ID),
            "deployed": {
                "core": {"TradingStorage": STORAGE, "vault": None},
                "tokens": {"USDC": {"address": USDC, "decimals": 6}},
            },
            "signing": {"trade": TRADING, "refer": REFERRING},
            "enums": {
                "TriggerType": ["FIXED", "PERCENTAGE"],
                "open_order_type": [
                    {"name": "MARKET", "value": 0}, {"name": "STOP-LIMIT", "value": 1}, {"name": "Limit", "value": 2},
                    {"name": "marketPnl", "value": 3}, {"name": "default", "value": 0},
                ],
                "tradeSide": {"0": "sell", "1": "buy"},
                "status": ["open", "closed"],
                "flavours": {"sweet": None},
            },
            "scale": {"USDC": 1_000_000, "PRICE": 10_000_000_000, "LEVERAGE": 10_000_000_000},
            "trading": {"lifetime": 90_000, "maxSlippage": {"percent": 0.4}},
        }  # fmt: skip

    def _intent(self, struct: str, fields: dict[str, Any]) -> Any:
        usual = {"slippagePercent": "0.4"} if struct.startswith("Increase") else {}
        return super()._intent(struct, usual | fields)

    def _pairs(self, fields: dict[str, Any]) -> Any:
        assert not fields
        return {str(number): {"title": name, "pnl": pnl} for number, (name, pnl) in enumerate(PAIRS)}
