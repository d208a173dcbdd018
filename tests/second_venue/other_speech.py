"""The second venue's other way of speaking, where the specification shows no shape: and the services file that says so.

====================== ==============================================================================================
left open              here
====================== ==============================================================================================
relayer                ``POST /submit`` is answered without an envelope by ``{requestId, state}``; ``GET /submissions/{id}``
                       says ``state`` ``success``, the transaction in ``receipt.txHash``, the block in ``receipt.block``
relay                  ``txHash``; ``outcome.state`` says ``queued``, then ``success``; the block is ``outcome.minedBlock``
TWAP service           202 ``{"queued": true}``; ``GET /twaps/{id}`` says so once more, then transaction and block
core API               ids are numbers: ``trigger.id``; of a replacement ``trigger.id`` and ``trigger.replacedId``
nonce read             ``/v2/reads/nonce``; ``state.isAvailable`` and no flag that says used
delegation read        ``active`` and ``activeUntil``, an ISO time
limit of rate          a question of the builder within 80 ms of the one before it is answered by 429
====================== ==============================================================================================
"""

from __future__ import annotations

import itertools
import time
from datetime import UTC, datetime
from typing import Any

from eth_account import Account
from eth_utils.crypto import keccak

from second_venue.intents import USUAL, Types
from second_venue.venue import Asked, Refused, SecondVenue, Told

APART_S = 0.08

SERVICES = """\
format = "airlock/venue-services@1"

[paths]
nonce = "/v2/reads/nonce"
close-coin = "/v2/trade/close-in-coins"
relayer = "/submit"
relayer-status = "/submissions/{id}"
twap-status = "/twaps/{id}"

[bodies.relayer]
kind = "$primary_type"
abi = "$encoded_intent"
sig = "$signature"

[bodies.twap]
userIntent = "$encoded_intent"
userSignature = "$signature"

[bodies.core-api]
trigger = "$message"
sig = "$signature"

[requests.all]
expiry = "$expirySeconds"

[words]
success = "confirmed"
queued = "pending"
failed = "failed"

[replies.meta]
trading_domain = "domains.trading"
referral_domain = "domains.referral"
contracts = "contracts"
simulator = "testnet"

[replies.pairs]
id = "pairIndex"
name = "pair"
pnl = "pnlPair"

[replies.builder]
extra_members = ["requestId", "expiresAt", "quoteId"]

[replies.relayer]
id = "requestId"
status = "state"
transaction = "receipt.txHash"
block = "receipt.block"

[replies.relay]
status = "outcome.state"
transaction = "txHash"
block = "outcome.minedBlock"

[replies.twap]
taken = "queued"

[replies.core-api]
id = "trigger.id"

[replies.core-api-replace]
id = "trigger.id"
replaced = "trigger.replacedId"

[replies.nonce]
used = "not state.isAvailable"

[replies.delegation]
enabled = "active"
expiry = "activeUntil"
time = "iso"

[limits]
builder = 400
"""


class OtherSpeech(SecondVenue):
    """The same services in other words."""

    bare = frozenset({"market", "core", "relayer", "twap"})

    def __init__(self, trader: str, key: str = "", types: Types = USUAL) -> None:
        super().__init__(trader, key, types)
        self.relay_says = "success"
        self.relayer_says = "success"
        self.too_soon = 0
        self._ids = itertools.count(9_000_000_000_000_001)
        self._last_s = 0.0
        self._looks: dict[str, int] = {}
        self.cancelled: dict[str, dict[str, Any]] = {}

    def builder(self, asked: Asked) -> Any:
        now_s, before_s = time.monotonic(), self._last_s
        self._last_s = now_s
        spoken = asked.path != "/ready" and not asked.path.startswith("/v2/relay")
        if spoken and now_s - before_s < APART_S:
            self.too_soon += 1
            raise Refused(429, "RATE_LIMITED", "too soon")
        if asked.path == "/v2/nonce":
            raise Refused(404, "NOT_FOUND", "nonces are read elsewhere")
        if asked.path == "/v2/reads/nonce":
            return self._nonce(asked.fields)
        return super().builder(asked)

    def _nonce(self, fields: dict[str, Any]) -> Any:
        told = super()._nonce(fields)
        return {"trader": told["trader"], "nonce": told["nonce"], "state": {"isAvailable": told["available"]}}

    def _delegation(self, fields: dict[str, Any]) -> Any:
        told = super()._delegation(fields)
        until = datetime.fromtimestamp(int(told["expiry"]), UTC).isoformat()
        named = {"trader": told["trader"], "delegate": told["delegate"]}
        return {**named, "active": told["isEnabled"], "activeUntil": until}

    def _relay(self, fields: dict[str, Any]) -> Any:
        raw = fields["rawTransaction"]
        told = "0x" + keccak(hexstr=raw).hex()
        if Account.recover_transaction(raw) != self.trader:
            raise Refused(400, "SIMULATION_FAILED", "not a transaction of the trader")
        self.sent[told] = {"txHash": told, "outcome": {"state": self.relay_says, "minedBlock": hex(4_711)}}
        return {"txHash": told}

    def _relayed(self, told: str) -> Any:
        self._looks[told] = self._looks.get(told, 0) + 1
        if self._looks[told] == 1:
            return {"txHash": told, "outcome": {"state": "queued"}}
        return self.sent[told]

    def relayer(self, asked: Asked) -> Any:
        told = super().relayer(asked)
        name = told["id"]
        if asked.method == "POST":
            return {"requestId": name, "state": "queued"}
        receipt = {"txHash": told["transactionHash"], "block": told["blockNumber"]}
        return {"requestId": name, "state": self.relayer_says, "receipt": receipt}

    def twap(self, asked: Asked) -> Any:
        if asked.method == "POST":
            told = super().twap(asked)
            self.cancelled[told["twapId"]] = {name: told[name] for name in ("transactionHash", "blockNumber")}
            return Told(202, {"queued": True})
        name = asked.path.rpartition("/")[2]
        self._looks[name] = self._looks.get(name, 0) + 1
        if self._looks[name] == 1:
            return {"twapId": name, "queued": True}
        return {"twapId": name, "queued": False, **self.cancelled[name]}

    def core(self, asked: Asked) -> Any:
        replaced = asked.path.removeprefix("/price-triggers").strip("/")
        name = super().core(asked)["entityId"]
        number = next(self._ids)
        self.triggers[str(number)] = self.triggers.pop(name)
        told: dict[str, Any] = {"id": number}
        return {"trigger": told | ({"replacedId": int(replaced)} if asked.method == "PUT" else {})}
