"""A third venue in the shapes of the public services: its relayer takes transactions, and its chain is there to be asked.

Standard library, eth-account and eth-abi; it shares no line with the product, the rehearsal or the second venue. It executes
a delegate's intent by the contract's own call alone (``setDelegateWithSig(bytes signature, bytes intent)``), when the
signature recovers to the account that the encoding names. ``SERVICES`` is the whole of what it needs to be said.

====================== ==============================================================================================
relayer                ``POST /relays`` takes ``{txParams {to, data, value, gasLimit, chainId, transactionType}, wallet}``
                       and gives ``{requestId}``; ``GET /relays/{id}``: ``{requestId, status, receipt {transactionHash,
                       status}}``, ``Inflight``, ``Finalised``, ``Failed``, and no block; 503 ``{"code": "RELAYER_BUSY"}``
builder                a delegate's intent at ``/v2/intents/delegate-set``; every build takes ``trader``
delegation read        ``/v2/delegation``, which names nobody
pairs                  the flag is ``isPnlTypeAllowed``, 0 or 1
node                   JSON-RPC: blocks with their transactions, receipts, the contracts' nonce bitmaps
====================== ==============================================================================================
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from http.server import ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from eth_abi.abi import decode, encode
from eth_account import Account
from eth_account.messages import encode_typed_data
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak

from serving import QuietHandler, serving

SERVICES = """\
format = "airlock/venue-services@1"

[paths]
delegate = "/v2/intents/delegate-set"
referral-register = "/v2/intents/referral-register-code"
delegation = "/v2/delegation"
relayer = "/relays"
relayer-status = "/relays/{id}"
twap-TwapOpenOrder = "/twaps/open"
TwapOpenOrder = "/v2/intents/twap-open"
core-api-UpdateTpSlReq = "PUT /price-triggers/global-tp-{trader}-{pairIndex}-{index}"
UpdateTpSlReq = "/v2/intents/tpsl-update"

[requests.referral-set-code]
trader = "$referee"

[requests.referral-register]
trader = "$referrer"

[requests.TwapOpenOrder]
trader = "$account"
pairIndex = "$pairIndex"
collateralUsdc = "$collateral with 6 decimals"
deadlineMs = "$deadline"

[requests.UpdateTpSlReq]
trader = "$trader"
pairIndex = "$pairIndex"
takeProfit = "$tp with 10 decimals"
deadlineMs = "$deadline"

[bodies.relayer]
wallet = "$signer"

[bodies.relayer.txParams]
to = "$executing.to"
data = "$executing.data"
value = "$executing.value"
gasLimit = "600000"
chainId = "$chain_id"
transactionType = 2

[bodies.twap-TwapOpenOrder]
trader = "$message.trader"
pairIndex = "$message.pairIndex as number"
collateral = "$message.collateral"
reserved1 = "$message.__reserved1"
deadline = "$message.deadline"
nonce = "$message.nonce"
signature = "$signature"

[bodies.core-api-UpdateTpSlReq]
userIntent = "$encoded_intent"
signedMessage = "$signature"

[replies.core-api-UpdateTpSlReq]
id = "result.newEntityId"

[words]
Inflight = "pending"
Finalised = "confirmed"
Failed = "failed"

[replies.pairs]
pnl = "isPnlTypeAllowed"

[replies.relayer]
id = "requestId"
transaction = "receipt.transactionHash"
busy = "RELAYER_BUSY"
"""
PROFILE = {
    "format": "airlock/venue-signed@1",
    "structs": {
        "TwapOpenOrder": {
            "encode_type": "TwapOpenOrder(address trader,uint256 pairIndex,uint256 collateral,uint256 __reserved1,"
            "uint256 deadline,uint256 nonce)",
            "leaves": {
                "trader": "trader", "pairIndex": "raw", "collateral": "raw", "__reserved1": "zero", "deadline": "deadlineMs",
                "nonce": "nonce",
            },
            "domain": "trading", "signer_rule": "trader-only", "route": "twap",
        },
        "UpdateTpSlReq": {
            "encode_type": "UpdateTpSlReq(address trader,uint256 pairIndex,uint256 index,uint256 tp,uint256 deadline,"
            "uint256 nonce)",
            "leaves": {
                "trader": "trader", "pairIndex": "raw", "index": "raw", "tp": "raw", "deadline": "deadlineMs",
                "nonce": "nonce",
            },
            "domain": "trading", "signer_rule": "trader-only", "route": "core-api",
        },
    },
    "calls": {},
}  # fmt: skip

CHAIN_ID = 1337
BUSY_WORD = "RELAYER_BUSY"
ROUTER, STORAGE, USDC, REFERRAL, RELAYER = (to_checksum_address(bytes([0xA0 + n]) * 20) for n in range(5))
TRADING = {"name": "ThirdRouter", "version": "1", "chainId": CHAIN_ID, "verifyingContract": ROUTER}
REFERRING = {"name": "ThirdReferral", "version": "1", "chainId": CHAIN_ID, "verifyingContract": REFERRAL}
TERMS = "The terms of the third venue."
STRUCTS = {
    "DelegateReq": "address trader,address delegate,uint256 expiry,uint256 deadline,string tnc,uint256 nonce",
    "SetTraderReferralCodeByUserReq": "bytes32 _code,address _referee,uint256 _deadline,uint256 _nonce",
}
ENCODED = {"DelegateReq": ("trader", "delegate", "expiry", "tnc", "deadline", "nonce")}
EXECUTING = "0x" + keccak(text="setDelegateWithSig(bytes,bytes)")[:4].hex()


class Refused(Exception):
    """What a service does not do: its status, its code."""

    def __init__(self, status: int, code: str) -> None:
        super().__init__(code)
        self.status, self.code = status, code


class Asked(NamedTuple):
    """A request as it came."""

    method: str
    path: str
    fields: Any


class Mined(NamedTuple):
    """A transaction in a block."""

    tx_hash: str
    block: int
    to: str
    data: str


def _members(struct: str) -> list[tuple[str, str]]:
    return [(each.split(" ")[1], each.split(" ")[0]) for each in STRUCTS[struct].split(",")]


def _signable(struct: str, message: dict[str, Any], domain: dict[str, Any]) -> Any:
    listed = {struct: [{"name": name, "type": kind} for name, kind in _members(struct)]}
    kinds = [("name", "string"), ("version", "string"), ("chainId", "uint256"), ("verifyingContract", "address")]
    listed["EIP712Domain"] = [{"name": name, "type": kind} for name, kind in kinds]
    return encode_typed_data(
        full_message={"types": listed, "primaryType": struct, "domain": domain, "message": message}
    )


def _kind(struct: str) -> tuple[list[str], str]:
    kinds = dict(_members(struct))
    names = list(ENCODED.get(struct, kinds))
    return names, f"({','.join(kinds[name] for name in names)})"


def _told(value: Any) -> Any:
    if isinstance(value, bytes):
        return "0x" + value.hex()
    return value if isinstance(value, str | bool) else str(value)


class ThirdVenue:
    """Builder, relayer and node under one port. What was taken is kept for a test."""

    types = None
    """It has no second form: what it signs is what ships."""

    def __init__(self, trader: str) -> None:
        self.trader, self.url = trader, ""
        self.asked: list[Asked] = []
        self.used: dict[tuple[str, int], int] = {}
        self.blocks: list[list[Mined]] = [[] for _ in range(8)]
        self.relayed: dict[str, dict[str, Any]] = {}
        self.delegates: dict[str, int] = {}
        self.on_relay: Callable[[dict[str, Any]], Any] | None = None

    def address(self, service: str) -> str:
        """Return the address of a service."""
        return f"{self.url}/{service}"

    def posted(self, path: str) -> list[Any]:
        """Return the bodies that were posted to a path."""
        return [each.fields for each in self.asked if each.method == "POST" and each.path == path]

    # ---- the chain -------------------------------------------------------------------------------------------------

    def mine(self, to: str, data: str) -> Mined:
        """Put a transaction into a block of its own."""
        made = Mined("0x" + keccak(text=f"{len(self.blocks)}{to}{data}").hex(), len(self.blocks), to, data)
        self.blocks.append([made])
        return made

    def execute(self, to: str, data: str) -> Mined:
        """Execute the contract's call with a signature. Raises ``Refused``."""
        if (data[:10], to_checksum_address(to)) != (EXECUTING, ROUTER):
            raise Refused(400, "NO_SUCH_CALL")
        signature, intent = decode(["bytes", "bytes"], bytes.fromhex(data[10:]))
        if len(signature) != 65:
            raise Refused(400, "BAD_SIGNATURE")
        message = self.take("0x" + intent.hex(), "0x" + signature.hex())
        self.delegates[message["delegate"]] = message["expiry"]
        return self.mine(to, data)

    def take(self, data: str, signature: str) -> dict[str, Any]:
        """Return the message of a good signature, whose nonce is used from the next block on. Raises ``Refused``."""
        names, kind = _kind("DelegateReq")
        (values,) = decode([kind], bytes.fromhex(data[2:]))
        kinds = dict(_members("DelegateReq"))
        message = {
            name: to_checksum_address(value) if kinds[name] == "address" else value
            for name, value in zip(names, values, strict=True)
        }
        signable = _signable("DelegateReq", message, TRADING)
        signer = Account.recover_message(signable, signature=bytes.fromhex(signature[2:]))
        place = (ROUTER, int(message["nonce"]))
        if signer != message["trader"] or signer != self.trader:
            raise Refused(400, "BAD_SIGNER")
        if place in self.used:
            raise Refused(400, "NONCE_USED")
        self.used[place] = len(self.blocks)
        return message

    def node(self, asked: Asked) -> Any:
        method, params = asked.fields["method"], asked.fields["params"]
        newest = len(self.blocks) - 1
        if method == "eth_chainId":
            return hex(CHAIN_ID)
        if method == "eth_blockNumber":
            return hex(newest)
        if method == "eth_getTransactionCount":
            return hex(4)
        if method == "eth_getBlockByNumber":
            number = newest if params[0] in ("finalized", "latest") else int(params[0], 16)
            if number > newest:
                return None
            mined = [
                {"hash": each.tx_hash, "from": RELAYER, "nonce": hex(number), "input": each.data}
                for each in self.blocks[number]
            ]
            return {
                "number": hex(number),
                "timestamp": hex(int(time.time())),
                "transactions": mined if params[1] else [],
            }
        if method == "eth_getTransactionReceipt":
            found = next((each for block in self.blocks for each in block if each.tx_hash == params[0]), None)
            if found is None:
                return None
            logs = [{"address": found.to, "topics": [], "data": "0x"}]
            return {"transactionHash": params[0], "blockNumber": hex(found.block), "status": "0x1", "logs": logs}
        to, data = to_checksum_address(params[0]["to"]), params[0]["data"]
        if method != "eth_call" or data[:10] != "0x4fe02b44":
            raise Refused(400, "NO_SUCH_METHOD")
        at = newest if params[1] == "latest" else int(params[1], 16)
        word = sum(
            1 << (nonce & 255)
            for (contract, nonce), block in self.used.items()
            if contract == to and nonce >> 8 == int(data[74:], 16) and block <= at
        )
        return f"0x{word if data[34:74].lower() == self.trader[2:].lower() else 0:064x}"

    # ---- the builder -----------------------------------------------------------------------------------------------

    def builder(self, asked: Asked) -> Any:
        fields: dict[str, Any] = asked.fields
        builds = {
            "/v2/intents/delegate-set": "DelegateReq", "/v2/intents/referral-set-code": "SetTraderReferralCodeByUserReq",
        }  # fmt: skip
        if asked.path in builds:
            return self._intent(builds[asked.path], fields)
        if asked.path == "/v2/token/approve" and fields["trader"] == self.trader:
            data = keccak(text="approve(address,uint256)")[:4] + encode(
                ["address", "uint256"], [fields["spender"], int(Decimal(fields["amountUsdc"]).scaleb(6))]
            )
            meta = {"spender": fields["spender"], "amountUsdc": fields["amountUsdc"]}
            return {
                "to": USDC, "from": self.trader, "data": "0x" + data.hex(), "value": "0x0", "chainId": CHAIN_ID,
                "description": "approve", "meta": meta,
            }  # fmt: skip
        reads: dict[str, Callable[[dict[str, Any]], Any]] = {
            "/ready": lambda _: {"ready": True}, "/v2/meta": self._meta, "/v2/pairs": self._pairs,
            "/v2/positions": self._positions,
            "/v2/delegation": self._delegation, "/v2/nonce": self._nonce, "/v2/reads/referral": self._referral,
        }  # fmt: skip
        if asked.path not in reads:
            raise Refused(404, "NOT_FOUND")
        return reads[asked.path](fields)

    def _meta(self, _: dict[str, Any]) -> Any:
        return {
            "chainId": CHAIN_ID,
            "simulator": True,
            "addresses": {
                "tradingRouter": ROUTER, "tradingStorage": STORAGE, "usdc": USDC, "referral": REFERRAL,
                **{f"other{n}": to_checksum_address(bytes([0xB0 + n]) * 20) for n in range(8)},
            },
            "eip712": {"trading": TRADING, "referral": REFERRING, "signatureFormat": "eth_signTypedData_v4"},
            "enums": {
                "openOrderType": {"market": 0, "stop_limit": 1, "limit": 2, "market_pnl": 3},
                "triggerType": {"fixed": 0, "percentage": 1},
            },
            "units": {"price": "1e10", "leverage": "1e10", "usdc": "1e6"},
            "defaults": {"executionFeeWei": "0", "intentDeadlineMs": 120_000, "slippagePercent": "1"},
        }  # fmt: skip

    def _pairs(self, _: dict[str, Any]) -> Any:
        more = {"isPairListed": True, "closeOnly": False, "pairMinLevPosUSDC": "1500"}
        pairs = [("BTC/USD", 0), ("ETH/USD", 0), ("BTC_PNL/USD", 1)]
        return [{"index": n, "symbol": name, "isPnlTypeAllowed": pnl, **more} for n, (name, pnl) in enumerate(pairs)]

    def _positions(self, _: dict[str, Any]) -> Any:
        return {"trades": [], "orders": []}

    def _delegation(self, fields: dict[str, Any]) -> Any:
        until = self.delegates.get(to_checksum_address(fields["delegate"]), 0)
        return {
            "isEnabled": bool(until),
            "expiry": until,
            "canDelegatedAction": bool(until),
            "canSignIntents": bool(until),
        }

    def _nonce(self, fields: dict[str, Any]) -> Any:
        contract = REFERRAL if fields.get("space") == "referral" else ROUTER
        used = (contract, int(fields["check"])) in self.used
        space = {"space": fields["space"]} if "space" in fields else {}
        return {"trader": fields["trader"], "nonce": fields["check"], **space, "used": used}

    def _referral(self, fields: dict[str, Any]) -> Any:
        if "code" in fields:
            return {"code": fields["code"], "owner": "0x" + "00" * 20, "isPrivate": False}
        return {"trader": fields["trader"], "code": "0x" + "00" * 32}

    def _intent(self, struct: str, fields: dict[str, Any]) -> Any:
        nonce = int(fields.get("nonce", secrets.randbelow(2**250)))
        deadline = int(fields.get("deadlineMs", time.time_ns() // 1_000_000 + 120_000))
        trader = fields["trader"]
        code = str(fields.get("code", "")).encode().ljust(32, b"\0")
        message: dict[str, Any]
        if struct == "DelegateReq":
            message = {
                "trader": trader, "delegate": fields["delegate"], "expiry": int(fields["expirySeconds"]),
                "deadline": deadline, "tnc": TERMS, "nonce": nonce,
            }  # fmt: skip
        else:
            message = {"_code": code, "_referee": trader, "_deadline": deadline, "_nonce": nonce}
        domain = REFERRING if "_code" in message else TRADING
        signable = _signable(struct, message, domain)
        names, kind = _kind(struct)
        rule = "trader-or-delegate" if "_code" in message else "trader-only"
        return {
            "intent": struct, "signerRule": rule, "domain": domain, "primaryType": struct,
            "types": {struct: [{"name": name, "type": kind} for name, kind in _members(struct)]},
            "message": {name: _told(value) for name, value in message.items()},
            "digest": "0x" + keccak(b"\x19" + signable.version + signable.header + signable.body).hex(),
            "encodedIntent": "0x" + encode([kind], [tuple(message[name] for name in names)]).hex(),
        }  # fmt: skip

    # ---- what executes ---------------------------------------------------------------------------------------------

    def relayer(self, asked: Asked) -> Any:
        if asked.method == "GET":
            told = self.relayed.get(asked.path.rpartition("/")[2])
            if told is None:
                raise Refused(404, "NOT_FOUND")
            looked, told["looked"] = told.get("looked", 0), told.get("looked", 0) + 1
            shown = {name: told[name] for name in ("requestId", "status", "receipt") if name in told}
            return shown if looked else {"requestId": told["requestId"], "status": "Inflight"}
        if asked.path != "/relays":
            raise Refused(404, "NOT_FOUND")
        if self.on_relay is not None:
            return self.on_relay(asked.fields)
        return self.relay(asked.fields)

    def relay(self, fields: dict[str, Any]) -> Any:
        """Execute what came at once, and give the id of it."""
        call = fields["txParams"]
        right = {"to", "data", "value", "gasLimit", "chainId", "transactionType"}
        if set(call) != right or (call["value"], call["chainId"], call["transactionType"]) != ("0", CHAIN_ID, 2):
            raise Refused(400, "VALIDATION_ERROR")
        if fields["wallet"] != self.trader:
            raise Refused(400, "NOT_YOURS")
        mined = self.execute(call["to"], call["data"])
        name = secrets.token_hex(12)
        receipt = {"transactionHash": mined.tx_hash, "status": 1}
        self.relayed[name] = {"requestId": name, "status": "Finalised", "receipt": receipt}
        return {"requestId": name}


class _Handler(QuietHandler):
    venue: ThirdVenue

    def answer(self) -> None:
        parts = urlsplit(self.path)
        _, service, *rest = parts.path.split("/")
        body = self.body()
        asked = Asked(self.command, "/" + "/".join(rest), json.loads(body) if body else dict(parse_qsl(parts.query)))
        if service != "node":
            self.venue.asked.append(asked)
        try:
            told = getattr(self.venue, service)(asked)
        except Refused as error:
            if service == "node":
                self._send(
                    200, {"jsonrpc": "2.0", "id": asked.fields["id"], "error": {"code": 3, "message": error.code}}
                )
                return
            document: Any = {"ok": False, "error": {"code": error.code, "message": error.code}}
            self._send(error.status, {"code": error.code} if service == "relayer" else document)
            return
        except Exception as error:  # noqa: BLE001 (a test looks at what a venue says, and not at a broken connection)
            self._send(500, {"ok": False, "error": {"code": "INTERNAL", "message": repr(error)}})
            return
        if isinstance(told, tuple):
            self._send(*told)
        elif service == "builder":
            self._send(200, {"ok": True, "data": told})
        elif service == "node":
            self._send(200, {"jsonrpc": "2.0", "id": asked.fields["id"], "result": told})
        else:
            self._send(200, told)

    def _send(self, status: int, document: Any) -> None:
        self.reply_json(document, status)


@contextmanager
def third_venue(trader: str) -> Iterator[ThirdVenue]:
    """Yield the venue, listening on loopback until the end."""
    venue = ThirdVenue(trader)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"venue": venue}))
    server.daemon_threads = True
    with serving(server) as venue.url:
        yield venue
