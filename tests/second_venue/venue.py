"""A second venue, written from the specification's text alone: what it does not say, this venue does otherwise.

Standard library, eth-account and eth-abi; it shares no line with the rehearsal. It holds a signature to be good when its
signer, recovered from the encoding alone, is the trader. Where the specification leaves something open:

====================== ==============================================================================================
left open              here
====================== ==============================================================================================
envelope               ``error`` is null on success; another member, ``requestId``, stands beside it
``GET /v2/meta``       contracts under ``contracts``, domains under ``domains``, named as the specification writes them
units                  ``usdc`` is the number 1000000, the others ``{"decimals": 10}`` or the text ``10000000000``
a simulator            says ``testnet``
defaults               ``intentDeadlineMs`` alone: the specification names no default slippage
``GET /v2/pairs``      ``data`` is an object with ``pairs``, in pages: ``page`` and ``pages``; the flag is ``pnlPair``
payloads               ``requestId`` and ``expiresAt`` beside the members that are listed; ``from`` and ``to`` lower-case
``types``              ``EIP712Domain`` is listed, before the struct
``message``            whole numbers of every width as decimal texts
``value``              zero as a word of 32 bytes
nonce read             ``available`` in place of a flag that says used
delegate builder       the expiry is ``expiry``
relayer                ``POST /submit`` with other members; ``GET /submissions/{id}``
market                 informational events between the documented ones; the replay does not name the order
core API               ``POST /price-triggers`` takes the struct as an object; its reply is ``entityId`` alone
TWAP service           ``POST /twaps/cancel`` takes the encoding; its reply is in an envelope, the block in hex
relay                  ``transactionHash`` in place of ``hash``; the block in hex
EIP-7702 mode          with ``smart``: accounts and the contracts that they were given to; elements of the list as Ethereum's
                       execution API writes them
what is signed         other structs and functions than comparable venues have; with ``fees``, wei that go with a function
an API key             with ``key``, every service asks for it in the header ``X-Venue-Key``
====================== ==============================================================================================
"""

import json
import re
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

import rlp
from eth_abi.abi import encode
from eth_account import Account
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak

from second_venue.calls import BUILT, Built, kinds_of, raw
from second_venue.intents import as_told, signed
from second_venue.other_types import STRUCTS
from serving import QuietHandler, serving
from venue_structs import DOMAIN

CHAIN_ID = 1337
ROUTER, STORAGE, USDC, REFERRAL = (to_checksum_address(bytes([0xC0 + n]) * 20) for n in range(4))
TRADING = {"verifyingContract": ROUTER, "chainId": CHAIN_ID, "version": "1", "name": "ExchangeTrading"}
REFERRING = {"verifyingContract": REFERRAL, "chainId": CHAIN_ID, "version": "1", "name": "ExchangeReferral"}
_CONTRACTS = {"router": ROUTER, "storage": STORAGE, "usdc": USDC}
PAIRS = [("BTC/USD", False), ("ETH/USD", False), ("XAU/USD", False), ("BTC_PNL/USD", True)]
PRICES = {0: "64000", 1: "2500.5", 2: "2650", 3: "64000"}
OPENED_S = 1_750_000_123
PER_PAGE = 3
KEY_HEADER = "X-Venue-Key"
_BUILDERS = {
    "/v2/intents/close": "CloseTradeReq",
    "/v2/intents/tpsl-partial": "TpSlReq",
    "/v2/intents/referral-set-code": "SetTraderReferralCodeByUserReq",
    "/v2/intents/twap-cancel": "TwapCancelReq",
    "/v2/intents/delegate": "DelegateReq",
    "/v2/intents/cancel-order": "CancelReq",
}
_MAY_ASK = {
    "CloseTradeReq": "trader tradeIndex collateralToCloseUsdc pairIndex pair nonce deadlineMs openTimestamp expectedPrice",
    "TpSlReq": "trader tradeIndex kind coinExposure side pairIndex pair nonce triggerType price percentage openTimestamp",
    "SetTraderReferralCodeByUserReq": "referee code nonce deadlineMs",
    "TwapCancelReq": "trader twapId nonce deadlineMs",
    "DelegateReq": "trader delegate expiry nonce deadlineMs",
    "CancelReq": "trader order deadlineMs",
}


class Asked(NamedTuple):
    """A request as it came: method, path below the service's prefix, query or body, headers in lower case, and when."""

    method: str
    path: str
    fields: dict[str, Any]
    headers: dict[str, str]
    at_s: float


class Refused(Exception):
    """What a service does not do: its status, its code, the message."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _types(struct: str) -> dict[str, list[dict[str, str]]]:
    """Return a struct's types with ``EIP712Domain`` among them, the structs in it first."""
    domain = [{"name": name, "type": kind} for name, kind in DOMAIN]
    return {"EIP712Domain": domain, **dict(reversed(STRUCTS.types(struct).items()))}


class SecondVenue:
    """The five services under one port, a prefix each. What was taken is kept, for a test to look at."""

    def __init__(self, trader: str, key: str = "", fees: dict[str, int] | None = None) -> None:
        self.trader, self.key, self.fees = trader, key, fees or {}
        self.asked: list[Asked] = []
        self.used: set[tuple[str, int]] = set()
        self.orders: dict[str, list[dict[str, Any]]] = {}
        self.triggers: dict[str, dict[str, Any]] = {}
        self.relayed: dict[str, dict[str, Any]] = {}
        self.sent: dict[str, dict[str, Any]] = {}
        self.delegates: dict[str, int] = {}
        self.closed: set[int] = set()
        self.smart: dict[str, str] | None = None
        self.promised: dict[str, tuple[str, dict[str, Any]]] = {}
        self.collateral = {0: 100_000_000, 1: 100_000_000}
        self.url = ""

    def address(self, service: str) -> str:
        """Return the address of ``builder``, ``market``, ``relayer``, ``twap`` or ``core``."""
        return f"{self.url}/{service}/api"

    def paths(self, method: str) -> list[str]:
        """Return the paths that were asked for by a method, in their order."""
        return [asked.path for asked in self.asked if asked.method == method]

    # ---- the builder ------------------------------------------------------------------------------------------------

    def builder(self, asked: Asked) -> Any:
        path, fields = asked.path, asked.fields
        if path in _BUILDERS:
            return self._intent(_BUILDERS[path], fields)
        reads: dict[str, Callable[[dict[str, Any]], Any]] = {
            "/ready": self._ready,
            "/v2/meta": self._meta, "/v2/pairs": self._pairs, "/v2/positions": self._positions, "/v2/nonce": self._nonce,
            "/v2/reads/delegation": self._delegation,
        }  # fmt: skip
        if path in BUILT:
            return self._unsigned(BUILT[path], fields)
        if path == "/v2/relay" and asked.method == "POST":
            return self._relay(fields)
        if path.startswith("/v2/relay/"):
            return self._relayed(path.rpartition("/")[2])
        if path not in reads:
            raise Refused(404, "NOT_FOUND", f"no such path: {path}")
        return reads[path](fields)

    def _ready(self, _fields: dict[str, Any]) -> Any:
        return {"ready": True, "components": {}}

    def _meta(self, _fields: dict[str, Any]) -> Any:
        return {
            "testnet": True,
            "chainId": CHAIN_ID,
            "contracts": {"TradingRouter": ROUTER, "TradingStorage": STORAGE, "USDC": USDC, "Referral": REFERRAL},
            "domains": {"trading": TRADING, "referral": REFERRING},
            "enums": {"triggerType": {"percentage": 1, "fixed": 0}},
            "units": {
                "usdc": 1_000_000, "price": {"decimals": 10}, "leverage": {"decimals": 10}, "coinExposure": "10000000000",
            },
            "defaults": {"intentDeadlineMs": 90_000},
        }  # fmt: skip

    def _pairs(self, fields: dict[str, Any]) -> Any:
        page, every = int(fields.get("page", 1)), list(enumerate(PAIRS))
        shown = every[(page - 1) * PER_PAGE : page * PER_PAGE]
        pairs = [{"pairIndex": n, "pair": name, "pnlPair": pnl} for n, (name, pnl) in shown]
        return {"pairs": pairs, "page": page, "pages": -(-len(every) // PER_PAGE)}

    def _positions(self, fields: dict[str, Any]) -> Any:
        trader = to_checksum_address(fields["trader"])
        trades = [
            {"trade": {"trader": trader, "pairIndex": str(pair), "index": "0", "initialPosToken": str(self.collateral[pair]),
                       "openPrice": str(raw(PRICES[pair], 10)), "buy": pair == 0, "leverage": "100000000000",
                       "timestamp": str(OPENED_S)}}
            for pair in (0, 1) if pair not in self.closed
        ]  # fmt: skip
        return {"trades": trades, "orders": []}

    def _nonce(self, fields: dict[str, Any]) -> Any:
        asked = int(fields["check"])
        taken = any(nonce == asked for _, nonce in self.used)
        return {"trader": fields["trader"], "nonce": str(asked), "available": not taken}

    def _delegation(self, fields: dict[str, Any]) -> Any:
        until = self.delegates.get(to_checksum_address(fields["delegate"]), 0)
        named = {"trader": fields["trader"], "delegate": fields["delegate"]}
        return {**named, "isEnabled": bool(until), "expiry": str(until)}

    def _intent(self, struct: str, fields: dict[str, Any]) -> Any:
        if unknown := sorted(set(fields) - set(_MAY_ASK[struct].split())):
            raise Refused(400, "BAD_REQUEST", f"unknown fields {unknown}")
        message, meta = self._message(struct, fields)
        domain = REFERRING if struct.startswith("SetTrader") else TRADING
        payload = {
            "requestId": secrets.token_hex(8),
            "expiresAt": "2100-01-01T00:00:00Z",
            "intent": struct,
            "signerRule": "trader-only" if struct == "DelegateReq" else "trader-or-delegate",
            "domain": domain,
            "primaryType": struct,
            "types": _types(struct),
            "message": as_told(message),
            "digest": "0x" + STRUCTS.digest(struct, message, domain).hex(),
            "encodedIntent": "0x" + STRUCTS.encoded(struct, message).hex(),
        }
        return payload | ({"meta": meta} if meta else {})

    def _message(self, struct: str, fields: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        nonce = int(fields.get("nonce", secrets.randbelow(2**256)))
        deadline = int(fields.get("deadlineMs", _now_ms() + 90_000))
        pair = int(fields.get("pairIndex", 0))
        meta: dict[str, Any] = {"pair": PAIRS[pair][0], "pairIndex": pair}
        opened_ms = int(fields.get("openTimestamp", OPENED_S)) * 1000 + 456
        if struct == "CloseTradeReq":
            return {
                "at": {"owner": fields["trader"], "pair": pair, "slot": int(fields["tradeIndex"]), "openedAt": opened_ms},
                "amount": raw(fields["collateralToCloseUsdc"], 6),
                "worst": raw(fields.get("expectedPrice", PRICES[pair]), 10), "until": deadline, "salt": nonce,
            }, meta  # fmt: skip
        if struct == "TpSlReq":
            by_price = fields.get("triggerType", "fixed") == "fixed"
            return {
                "owner": fields["trader"], "pair": pair, "slot": int(fields["tradeIndex"]),
                "how": 0 if by_price else 1, "size": raw(fields["coinExposure"], 10),
                "isLong": fields["side"] == "long", "price": raw(fields["price"], 10) if by_price else 0,
                "percentage": 0 if by_price else raw(fields["percentage"], 10),
                "openedAt": opened_ms, "madeAt": _now_ms() - 50,
                "kind": {"take_profit": 4, "stop_loss": 5}[fields["kind"]], "salt": nonce,
            }, meta  # fmt: skip
        if struct == "SetTraderReferralCodeByUserReq":
            code = fields["code"].encode().ljust(32, b"\0")
            return {"referee": fields["referee"], "code": code, "until": deadline, "salt": nonce}, {}
        if struct == "CancelReq":
            order = int(fields["order"])
            return {"trader": fields["trader"], "order": order, "nonce": nonce, "deadline": deadline}, {}
        if struct == "TwapCancelReq":
            twap = int(fields["twapId"])
            return {"id": twap, "owner": fields["trader"], "until": deadline, "salt": nonce}, {"twapId": twap}
        return {
            "trader": fields["trader"], "delegate": fields["delegate"], "expiry": int(fields["expiry"]),
            "deadline": deadline, "nonce": nonce,
        }, {}  # fmt: skip

    def _unsigned(self, built: Built, fields: dict[str, Any]) -> Any:
        signature, account = built.signature, fields[built.account]
        data = keccak(text=signature)[:4] + encode(kinds_of(signature), built.values(fields))
        self.promised["0x" + data.hex()] = (signature, fields)
        meta = {name: fields[name] for name in built.meta} | {"delegated": False}
        return {
            "requestId": secrets.token_hex(8), "to": _CONTRACTS[built.contract].lower(), "from": account.lower(),
            "data": "0x" + data.hex(), "value": f"0x{self.fee(data):064x}", "chainId": CHAIN_ID, "description": signature,
            "meta": meta if built.meta else {},
        }  # fmt: skip

    def fee(self, data: bytes) -> int:
        """Return what this venue takes with a call, in wei."""
        return next((wei for name, wei in self.fees.items() if data[:4] == keccak(text=name)[:4]), 0)

    def _relay(self, fields: dict[str, Any]) -> Any:
        raw = fields["rawTransaction"]
        told = "0x" + keccak(hexstr=raw).hex()
        if Account.recover_transaction(raw) != self.trader:
            raise Refused(400, "SIMULATION_FAILED", "not a transaction of the trader")
        sent = rlp.decode(bytes.fromhex(raw[4:]))
        if int.from_bytes(sent[6], "big") != self.fee(sent[7]):
            raise Refused(400, "SIMULATION_FAILED", "not the fee of this call")
        function, asked = self.promised["0x" + sent[7].hex()]
        if function.startswith("allow"):
            self.delegates[to_checksum_address(asked["delegate"])] = int(asked["expiry"])
        self.sent[told] = {"transactionHash": told, "status": "confirmed", "blockNumber": hex(4_711)}
        return {"transactionHash": told}

    def _relayed(self, told: str) -> Any:
        return self.sent.get(told, {"transactionHash": told, "status": "pending"})

    # ---- what executes intents --------------------------------------------------------------------------------------

    def _take(self, struct: str, data: str, signature: str) -> dict[str, Any]:
        """Return the message of a good signature; its nonce is used from now on. Raises ``Refused``."""
        try:
            intent = signed(struct, data, signature, REFERRING if struct.startswith("SetTrader") else TRADING)
        except Exception as error:
            raise Refused(400, "BAD_INTENT", f"malformed intent or signature: {error}") from error
        if intent.signer != intent.trader or intent.trader != self.trader:
            raise Refused(400, "BAD_SIGNER", f"signed by {intent.signer}")
        if (struct, intent.nonce) in self.used:
            raise Refused(400, "NONCE_USED", "consumed nonce")
        self.used.add((struct, intent.nonce))
        return intent.message

    def relayer(self, asked: Asked) -> Any:
        if asked.method == "GET":
            return self.relayed[asked.path.rpartition("/")[2]]
        if asked.path != "/submit":
            raise Refused(404, "NOT_FOUND", asked.path)
        kind = asked.fields["kind"]
        message = self._take(kind, asked.fields["abi"], asked.fields["sig"])
        if kind == "DelegateReq":
            self.delegates[message["delegate"]] = message["expiry"]
        name = secrets.token_hex(12)
        tx_hash = "0x" + keccak(text=name).hex()
        self.relayed[name] = {"id": name, "status": "confirmed", "transactionHash": tx_hash, "blockNumber": "0x20"}
        return {"id": name, "queued": True}

    def twap(self, asked: Asked) -> Any:
        if (asked.method, asked.path) != ("POST", "/twaps/cancel"):
            raise Refused(404, "NOT_FOUND", asked.path)
        message = self._take("TwapCancelReq", asked.fields["userIntent"], asked.fields["userSignature"])
        tx_hash = "0x" + keccak(hexstr=asked.fields["userIntent"]).hex()
        return {"twapId": str(message["id"]), "transactionHash": tx_hash, "blockNumber": "0x1f"}

    def core(self, asked: Asked) -> Any:
        replaced = asked.path.removeprefix("/price-triggers").strip("/")
        if asked.method == "PUT" and replaced not in self.triggers:
            raise Refused(404, "NOT_FOUND", replaced)
        told = asked.fields["trigger"]
        numbers = {n: int(v) if isinstance(v, str) and re.fullmatch(r"-?[0-9]+", v) else v for n, v in told.items()}
        message = self._take("TpSlReq", "0x" + STRUCTS.encoded("TpSlReq", numbers).hex(), asked.fields["sig"])
        self.triggers.pop(replaced, None)
        name = secrets.token_hex(6)
        self.triggers[name] = message
        return {"entityId": name}

    # ---- the market -------------------------------------------------------------------------------------------------

    def market(self, asked: Asked) -> Any:
        if asked.method == "GET":
            name = asked.path.split("/")[2]
            if name not in self.orders:
                raise Refused(404, "NOT_FOUND", "unknown trackingId")
            after = int(asked.fields.get("afterSeq", -1))
            return {"events": [event for event in self.orders[name] if event["seq"] > after]}
        erc712 = asked.fields["erc712"]
        if asked.fields["orderType"] != 1:
            raise Refused(400, "BAD_ORDER_TYPE", "unsupported orderType")
        if self.smart is not None:
            self._give(asked.fields.get("eip7702"), self.smart)
        message = self._take("CloseTradeReq", erc712["userIntent"], erc712["userSignature"])
        name = secrets.token_hex(10)
        self.orders[name] = [
            {"seq": seq, "type": kind, "payload": payload, "at": _now_ms()}
            for seq, (kind, payload) in enumerate(self._life(name, message))
        ]
        return self.orders[name]

    def _give(self, told: Any, smart: dict[str, str]) -> None:
        """Give each account that signed to its contract, recovered by eth-account. Raises ``Refused``."""
        if not isinstance(told, dict) or set(told) != {"chainId", "to", "data", "gas", "authorizationList"}:
            raise Refused(400, "EIP7702", "missing eip7702 in EIP-7702 mode")
        if told["chainId"] != str(CHAIN_ID) or not told["authorizationList"]:
            raise Refused(400, "EIP7702", "for another chain, or without an authorization")
        for each in told["authorizationList"]:
            numbers = {name: int(each[name], 16) for name in ("chainId", "nonce", "yParity", "r", "s")}
            given = [numbers["chainId"], bytes.fromhex(each["address"][2:]), numbers["nonce"]]
            account = Account._recover_hash(
                keccak(b"\x05" + rlp.encode(given)), vrs=(numbers["yParity"], numbers["r"], numbers["s"])
            )
            if numbers["chainId"] != CHAIN_ID or account != self.trader:
                raise Refused(400, "EIP7702", f"an authorization of {account}")
            smart[account] = each["address"]

    def _life(self, name: str, message: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        tx = {"transactionHash": "0x" + keccak(text=name).hex()}
        yield "MarketOrderAccepted", {"trackingId": name}
        yield "PriceSelected", {"source": "feed", "note": "informational"}
        yield "AttemptFailed", {"attempt": 1, "code": "NO_PRICE", "message": "no price yet", "willRetry": True}
        pair = int(message["at"]["pair"])
        place = {"orderId": 77, "trader": self.trader, "pairIndex": pair}
        self.collateral[pair] -= message["amount"]
        self.closed |= set() if self.collateral[pair] else {pair}
        yield "MarketOrderInitiated", place | tx | {"open": False, "isBuy": True, "isPnl": False}
        yield "MarketOrderExecuted", tx | {
            "orderId": 77, "open": False, "price": str(message["worst"]), "positionSizeUSDC": "1000000000",
            "percentProfit": "0", "usdcSentToTrader": str(message["amount"]), "isPnl": False, "coinExposure": "0",
            "isCoinExposureFixed": False, "t": self._tuple(pair, self.collateral[pair]),
        }  # fmt: skip

    def _tuple(self, pair: int, collateral: int) -> dict[str, Any]:
        return {
            "trader": self.trader, "pairIndex": str(pair), "index": "0", "initialPosToken": str(collateral),
            "positionSizeUSDC": "1000000000", "openPrice": str(raw(PRICES[pair], 10)), "buy": pair == 0,
            "leverage": "100000000000", "tp": "0", "sl": "0", "timestamp": OPENED_S,
        }  # fmt: skip


class _Handler(QuietHandler):
    venue: SecondVenue

    def answer(self) -> None:
        parts = urlsplit(self.path)
        _, service, _, *rest = parts.path.split("/")
        body = self.body()
        fields = json.loads(body) if body else dict(parse_qsl(parts.query))
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(self.command, "/" + "/".join(rest), fields, headers, time.monotonic())
        self.venue.asked.append(asked)
        try:
            if self.venue.key and headers.get(KEY_HEADER.lower()) != self.venue.key:
                raise Refused(401, "NO_KEY", f"no key, or a wrong one: {headers.get(KEY_HEADER.lower())}")
            told = getattr(self.venue, service)(asked)
        except Refused as error:
            envelope = {"ok": False, "error": {"code": error.code, "message": str(error)}}
            plain = {"statusCode": error.status, "message": str(error)}
            self._send(error.status, envelope if service in ("builder", "relayer", "twap") else plain)
            return
        except Exception as error:  # noqa: BLE001 (a test looks at what a venue says, and not at a broken connection)
            self._send(500, {"ok": False, "error": {"code": "INTERNAL", "message": repr(error)}})
            return
        if service == "market" and self.command == "POST":
            self._stream(told)
        else:
            wrapped = {"ok": True, "data": told, "error": None, "requestId": secrets.token_hex(4)}
            self._send(200, told if service in ("market", "core") else wrapped)

    def _send(self, status: int, document: Any) -> None:
        self.reply(status, "application/json; charset=utf-8", json.dumps(document).encode())

    def _stream(self, events: list[dict[str, Any]]) -> None:
        lines = [f"event: {e['type']}\nid: {e['seq']}\ndata: {json.dumps(e['payload'])}\n\n" for e in events]
        self.reply(200, "text/event-stream", "".join([": keep-alive\n\n", *lines]).encode())


@contextmanager
def second_venue(trader: str, key: str = "", fees: dict[str, int] | None = None) -> Iterator[SecondVenue]:
    """Yield the venue, listening on loopback until the end."""
    venue = SecondVenue(trader, key, fees)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"venue": venue}))
    server.daemon_threads = True
    with serving(server) as venue.url:
        yield venue
