"""A good request for every intent endpoint."""

from __future__ import annotations

from online.rehearsal.services_client import DELEGATE, START_MS, TRADER, Json

T = TRADER.address
FIXED = {"nonce": "7", "deadlineMs": str(START_MS + 60_000)}
POSITION = {"trader": T, "tradeIndex": 0, "pairIndex": 0}
REQUESTS: dict[str, Json] = {
    "open": FIXED | {"trader": T, "side": "long", "collateralUsdc": "100", "leverage": "10", "pairIndex": 0},
    "close": FIXED | POSITION | {"collateralToCloseUsdc": "100"},
    "increase": FIXED | POSITION | {"additionalCollateralUsdc": "10", "leverage": "2"},
    "increase-coin": FIXED | POSITION | {"additionalCollateralUsdc": "10", "leverage": "2", "coinExposure": "1",
                                         "minLeverage": "1", "maxLeverage": "2"},
    "tpsl-partial": {"nonce": "7"} | POSITION | {"kind": "stop_loss", "coinExposure": "0.05", "side": "long",
                                                 "price": "60000"},
    "twap-cancel": FIXED | {"trader": T, "twapId": 41},
    "referral-set-code": FIXED | {"referee": T, "code": "TREASURY"},
    "delegate": FIXED | {"trader": T, "delegate": DELEGATE.address, "expirySeconds": START_MS // 1000 + 3600},
}  # fmt: skip
