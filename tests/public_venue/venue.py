"""A venue in the public shapes of the real services, written from these and from the specification alone.

Who wrote it had seen neither Airlock's code nor its rehearsal. It checks digests and signers by eth-account
(``venue_structs``), and calls by an ABI of its own.

127.0.0.1 only. One port; the services stand under /builder, /market, /relayer, /twap, /core, and the node under /rpc.
Choices that what is public leaves open are marked OPEN.
"""
import copy, json, threading, time, traceback, uuid, secrets
from decimal import Decimal
from http.server import ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit, unquote

import eth_abi
from eth_account import Account
from eth_account.typed_transactions import TypedTransaction
from eth_utils import keccak, to_checksum_address
from hexbytes import HexBytes

from serving import QuietHandler
from venue_structs import Structs

CHAIN_ID, ASKED = 31337, []
STRICT_NONCE = False            # the nonce read takes trader and check, nothing else
RELAY_TYPE2 = "router"          # type 2 goes to the router alone; "pinned": to the referral contract as well
PRICE, USDC6 = 10 ** 10, 10 ** 6
TRADER = "0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D"


def addr(text):
    return to_checksum_address(keccak(text.encode())[12:])


# "addresses (12 names)": four of the names are public, eight are OPEN
ADDR = {n: addr("third venue " + n) for n in (
    "tradingRouter", "tradingStorage", "usdc", "referral", "pairStorage", "pairInfos", "priceAggregator", "callbacks",
    "vaultManager", "executor", "multicall", "delegations")}
ROUTER, STORAGE, USDC, REFERRAL = (ADDR[n] for n in ("tradingRouter", "tradingStorage", "usdc", "referral"))
OPERATOR = Account.from_key(keccak(b"third venue operator"))

DOMAINS = {
    "trading": {"name": "PerpTradingV2", "version": "1", "chainId": CHAIN_ID, "verifyingContract": ROUTER},
    "referral": {"name": "PerpReferralV2", "version": "1", "chainId": CHAIN_ID, "verifyingContract": REFERRAL},
}

# ------------------------------------------------------------------------------------------------ structs, letter by letter
_TRADE = ("Trade(address trader,uint256 pairIndex,uint256 index,uint256 initialPosToken,uint256 positionSizeUSDC,"
          "uint256 openPrice,bool buy,uint256 leverage,uint256 tp,uint256 sl,uint256 timestamp)")
STRUCT_TEXT = {
    "OpenTradeReq": "OpenTradeReq(Trade _t,uint8 _type,uint256 _slippageP,uint256 _deadline,uint256 _nonce)" + _TRADE,
    "CloseTradeReq": "CloseTradeReq(address _trader,uint256 _pairIndex,uint256 _index,uint256 _openTimestamp,uint256 _amount,uint256 _wantedPrice,uint256 _deadline,uint256 _nonce)",
    "TpSlReq": "TpSlReq(address trader,uint256 pairIndex,uint256 index,uint8 triggerType,uint256 coinSize,bool buy,uint256 price,int256 percentage,uint256 timestamp,uint256 signTimestamp,uint8 orderType,uint256 nonce)",
    "SetTraderReferralCodeByUserReq": "SetTraderReferralCodeByUserReq(bytes32 _code,address _referee,uint256 _deadline,uint256 _nonce)",
    "RegisterCodeReq": "RegisterCodeReq(bytes32 _code,address _referrer,uint256 _deadline,uint256 _nonce)",
    "TwapCancelReq": "TwapCancelReq(address trader,uint256 twapId,uint256 nonce,uint256 deadline)",
    "DelegateReq": "DelegateReq(address trader,address delegate,uint256 expiry,uint256 deadline,string tnc,uint256 nonce)",
    # OPEN: public are these names and their routes, and no member but `__reserved1`
    "TwapOpenOrder": "TwapOpenOrder(address trader,uint256 pairIndex,bool buy,uint256 collateral,uint256 leverage,uint256 slices,uint256 interval,uint256 __reserved1,uint256 nonce,uint256 deadline)",
    "UpdateTpSlReq": "UpdateTpSlReq(address trader,uint256 pairIndex,uint256 index,uint256 timestamp,uint256 newTp,uint256 newSl,uint256 deadline,uint256 nonce)",
}
ABI_ORDER = {"DelegateReq": ["trader", "delegate", "expiry", "tnc", "deadline", "nonce"]}
REFERRAL_STRUCTS = {"SetTraderReferralCodeByUserReq", "RegisterCodeReq"}


def domain_of(struct):
    return DOMAINS["referral" if struct in REFERRAL_STRUCTS else "trading"]


STRUCTS = Structs(STRUCT_TEXT.values(), ABI_ORDER)


def decode_intent(struct, data):
    value = STRUCTS.decoded(struct, data)
    need(STRUCTS.encoded(struct, value) == data, Revert, "NotCanonical")
    return value


def recover(struct, value, sig):
    try:
        return STRUCTS.signer(struct, value, domain_of(struct), sig)
    except ValueError as e:
        raise Revert("InvalidSignature", str(e))


class Revert(Exception):
    def __init__(self, name, detail=""):
        super().__init__(name + (": " + detail if detail else ""))


def need(so, error, *said):
    if not so:
        raise error(*said)


# ------------------------------------------------------------------------------------------------------------- contracts
def sel(sig):
    return keccak(sig.encode())[:4]


ALL = (1 << 256) - 1
FEED = {0: 64000 * PRICE, 1: 3000 * PRICE}
PAIRS = [("BTC/USD", False), ("ETH/USD", True)]


class State:
    def __init__(self):
        now = int(time.time())
        self.counts = {}
        self.allow = {}
        self.nonces = set()
        self.delegations = {}
        self.codes = {code32("TAKEN"): addr("somebody")}
        self.adopted = {}
        self.orders = {}
        self.next_order = 1
        self.twaps = {41: {"trader": TRADER, "state": "active"}}
        self.next_twap = 42
        self.positions = {(TRADER, 0, 0): {
            "trader": TRADER, "pairIndex": 0, "index": 0, "initialPosToken": 1000 * USDC6, "positionSizeUSDC": 10_000 * USDC6,
            "openPrice": 62000 * PRICE, "buy": True, "leverage": 10 * PRICE, "tp": 0, "sl": 0, "timestamp": now - 3 * 86400}}


def code32(text):
    return text.encode().ljust(32, b"\0")


class Ctx:
    """One call's surroundings."""
    def __init__(self, state, sender, ts):
        self.s, self.sender, self.ts, self.result = state, sender, ts, {}


def use_intent(ctx, struct, sig, intent):
    """The signature first, then the intent. Verify, spend the nonce, give the struct and its signer."""
    v = decode_intent(struct, intent)
    flat = {**v, **v.get("_t", {})}
    owner = next(flat[k] for k in ("trader", "_trader", "_referee", "_referrer") if k in flat)
    deadline = flat.get("deadline", flat.get("_deadline"))
    need(deadline is None or ctx.ts * 1000 <= deadline, Revert, "Expired")
    signer = recover(struct, v, sig)
    need(signer == owner, Revert, "NotTrader", signer)
    nonce = flat.get("nonce", flat.get("_nonce"))
    key = (REFERRAL if struct in REFERRAL_STRUCTS else ROUTER, signer, nonce)   # OPEN (reading 11): kept under the signer here
    need(key not in ctx.s.nonces, Revert, "NonceUsed")
    ctx.s.nonces.add(key)
    ctx.result.update(struct=struct, value=v, owner=owner, signer=signer, nonce=nonce)
    return v, owner


def c_set_delegate_sig(ctx, sig, intent):
    v, owner = use_intent(ctx, "DelegateReq", sig, intent)
    need(v["tnc"] == TNC, Revert, "WrongTerms")
    set_delegate(ctx, owner, v["delegate"], v["expiry"])


def set_delegate(ctx, trader, delegate, expiry):
    need(ctx.ts < expiry <= ctx.ts + 100 * 365 * 86400, Revert, "InvalidExpiry")
    ctx.s.delegations[(trader, to_checksum_address(delegate))] = expiry


def c_remove_delegate(ctx, delegate):
    gone = ctx.s.delegations.pop((ctx.sender, to_checksum_address(delegate)), 0)
    need(gone, Revert, "NotDelegate")


def c_approve(ctx, spender, amount):
    ctx.s.allow[(ctx.sender, to_checksum_address(spender))] = amount
    return eth_abi.encode(["bool"], [True])


def c_set_code_sig(ctx, sig, intent):
    v, owner = use_intent(ctx, "SetTraderReferralCodeByUserReq", sig, intent)
    ctx.s.adopted[owner] = v["_code"]


def c_register_sig(ctx, sig, intent):
    v, owner = use_intent(ctx, "RegisterCodeReq", sig, intent)
    need(v["_code"] not in ctx.s.codes, Revert, "CodeExists")
    ctx.s.codes[v["_code"]] = owner


def new_order(ctx, **o):
    oid = ctx.s.next_order
    ctx.s.next_order += 1
    ctx.s.orders[oid] = o
    ctx.result["orderId"] = oid


def c_open_sig(ctx, sig, intent):
    v, owner = use_intent(ctx, "OpenTradeReq", sig, intent)
    t = v["_t"]
    need(not (t["initialPosToken"] or t["index"] or t["timestamp"]), Revert, "WrongTrade")
    new_order(ctx, kind="open", v=v, owner=owner)


def c_close_sig(ctx, sig, intent):
    v, owner = use_intent(ctx, "CloseTradeReq", sig, intent)
    p = ctx.s.positions.get((owner, v["_pairIndex"], v["_index"]))
    need(p and p["timestamp"] == v["_openTimestamp"] and 0 < v["_amount"] <= p["initialPosToken"], Revert, "PositionMismatch")
    new_order(ctx, kind="close", v=v, owner=owner)


def c_execute(ctx, oid, price):
    o = ctx.s.orders.pop(oid)
    v, owner, r = o["v"], o["owner"], ctx.result
    if o["kind"] == "open":
        t = dict(v["_t"])
        col = t["positionSizeUSDC"]
        slot = next(i for i in range(100) if (owner, t["pairIndex"], i) not in ctx.s.positions)
        t.update(index=slot, initialPosToken=col, positionSizeUSDC=col * t["leverage"] // PRICE, openPrice=price, timestamp=ctx.ts)
        ctx.s.positions[(owner, t["pairIndex"], slot)] = t
        r.update(t=dict(t), size=t["positionSizeUSDC"], profit=0, sent=0)
    else:
        key = (owner, v["_pairIndex"], v["_index"])
        p = ctx.s.positions[key]
        pct = (price - p["openPrice"]) * p["leverage"] * 100 // p["openPrice"]
        sent = max(0, v["_amount"] + v["_amount"] * pct // (100 * PRICE))
        size = v["_amount"] * p["leverage"] // PRICE
        p = dict(p, initialPosToken=p["initialPosToken"] - v["_amount"], positionSizeUSDC=p["positionSizeUSDC"] - size)
        ctx.s.positions[key] = p
        r.update(t=dict(p), size=size, profit=pct, sent=sent)


def c_twap_cancel(ctx, sig, intent):
    v, owner = use_intent(ctx, "TwapCancelReq", sig, intent)
    tw = ctx.s.twaps.get(v["twapId"])
    need(tw == {"trader": owner, "state": "active"}, Revert, "NoTwap")
    ctx.s.twaps[v["twapId"]] = dict(tw, state="cancelled")


def c_twap_open(ctx, sig, intent):
    v, owner = use_intent(ctx, "TwapOpenOrder", sig, intent)
    need(v["__reserved1"] == 0, Revert, "Reserved")
    i = ctx.s.next_twap
    ctx.s.next_twap += 1
    ctx.s.twaps[i] = {"trader": owner, "state": "active"}
    ctx.result["twapId"] = i


def c_update_tpsl(ctx, sig, intent):
    v, owner = use_intent(ctx, "UpdateTpSlReq", sig, intent)
    p = ctx.s.positions.get((owner, v["pairIndex"], v["index"]))
    need(p and p["timestamp"] == v["timestamp"], Revert, "PositionMismatch")
    ctx.s.positions[(owner, v["pairIndex"], v["index"])] = dict(p, tp=v["newTp"], sl=v["newSl"])


def v_bitmap(contract):
    def view(ctx, account, word):
        account = to_checksum_address(account)
        bits = sum(1 << (n & 255) for c, a, n in ctx.s.nonces if c == contract and a == account and n >> 8 == word)
        return eth_abi.encode(["uint256"], [bits])
    return view


CALLS = {}


def call(contract, sig, fn):
    args = sig[sig.index("(") + 1:-1]
    CALLS[(contract, sel(sig))] = (args.split(","), fn)


for _sig, _fn in (("setDelegateWithSig(bytes,bytes)", c_set_delegate_sig), ("setDelegate(address,uint256)", lambda x, d, e: set_delegate(x, x.sender, d, e)),
                  ("removeDelegate(address)", c_remove_delegate),
                  # OPEN: names of the operator's own entry points
                  ("openTradeWithSig(bytes,bytes)", c_open_sig), ("closeTradeMarketWithSig(bytes,bytes)", c_close_sig),
                  ("executeMarketOrder(uint256,uint256)", c_execute), ("twapCancelWithSig(bytes,bytes)", c_twap_cancel),
                  ("twapOpenWithSig(bytes,bytes)", c_twap_open), ("updateTpSlWithSig(bytes,bytes)", c_update_tpsl),
                  ("nonceBitmap(address,uint256)", v_bitmap(ROUTER)),
                  ("multipleDelegations(address,address)", lambda x, a, b: eth_abi.encode(["uint256"], [x.s.delegations.get((to_checksum_address(a), to_checksum_address(b)), 0)]))):
    call(ROUTER, _sig, _fn)
for _sig, _fn in (("setTraderReferralCodeByUserWithSig(bytes,bytes)", c_set_code_sig), ("registerCodeWithSig(bytes,bytes)", c_register_sig),
                  ("nonceBitmap(address,uint256)", v_bitmap(REFERRAL)),
                  ("codeOwners(bytes32)", lambda x, c: eth_abi.encode(["address"], [x.s.codes.get(c, "0x" + "00" * 20)])),
                  ("traderReferralCodes(address)", lambda x, a: eth_abi.encode(["bytes32"], [x.s.adopted.get(to_checksum_address(a), b"\0" * 32)]))):
    call(REFERRAL, _sig, _fn)
call(USDC, "approve(address,uint256)", c_approve)
call(USDC, "allowance(address,address)", lambda x, a, b: eth_abi.encode(["uint256"], [x.s.allow.get((to_checksum_address(a), to_checksum_address(b)), 0)]))


def run_call(ctx, to, data):
    entry = CALLS.get((to, data[:4]))
    need(entry, Revert, "", "no such function")
    args, fn = entry
    return fn(ctx, *eth_abi.decode(args, data[4:])) or b""


# ------------------------------------------------------------------------------------------------------------------ chain
class Chain:
    def __init__(self):
        self.lock = threading.RLock()
        self.state = State()
        self.blocks, self.states, self.txs, self.receipts = [], [], {}, {}
        self._seal([], int(time.time()) - 60)

    def _seal(self, txs, ts=None):
        n = len(self.blocks)
        ts = max(ts or int(time.time()), (self.blocks[-1]["ts"] + 1) if n else 0)
        self.blocks.append({"n": n, "ts": ts, "txs": txs})
        self.states.append(self.state)
        return n

    def tick(self):
        with self.lock:
            if time.time() - self.blocks[-1]["ts"] >= 2:
                self._seal([])

    def simulate(self, sender, to, data, at=None):
        with self.lock:
            n = len(self.blocks) - 1 if at is None else at
            ts = int(time.time()) if at is None else self.blocks[n]["ts"]
            ctx = Ctx(copy.deepcopy(self.states[n]), sender, ts)
            return run_call(ctx, to, data), ctx

    def send_raw(self, raw):
        raw = bytes(HexBytes(raw))
        with self.lock:
            tx = TypedTransaction.from_bytes(HexBytes(raw)).as_dict()
            sender = to_checksum_address(Account.recover_transaction(raw))
            h = "0x" + keccak(raw).hex()
            want = self.state.counts.get(sender, 0)
            need((tx["chainId"], tx["nonce"]) == (CHAIN_ID, want), ValueError, f"chain id or nonce: {tx['chainId']}, {tx['nonce']}")
            to = to_checksum_address(tx["to"])
            data = bytes(HexBytes(tx["data"]))
            n, ts = len(self.blocks), max(int(time.time()), self.blocks[-1]["ts"] + 1)
            new = copy.deepcopy(self.state)
            ctx, ok = Ctx(new, sender, ts), True
            try:
                run_call(ctx, to, data)
            except Revert:
                ok, new = False, copy.deepcopy(self.state)
            new.counts[sender] = want + 1
            self.state = new
            self.txs[h] = {"from": sender, "to": to, "input": "0x" + data.hex(), "nonce": tx["nonce"]}
            self._seal([h], ts)
            self.receipts[h] = {"ok": ok, "block": n, "result": ctx.result}
            return h

    def operate(self, to, data):
        """The operator (and the relayer) sends a call; gives the hash. Raises Revert when the simulation does."""
        with self.lock:
            self.simulate(OPERATOR.address, to, data)
            tx = {"type": 2, "chainId": CHAIN_ID, "nonce": self.state.counts.get(OPERATOR.address, 0), "to": to, "data": data, "value": 0,
                  "gas": 900000, "maxFeePerGas": 10 ** 9, "maxPriorityFeePerGas": 10 ** 8}
            return self.send_raw(OPERATOR.sign_transaction(tx).raw_transaction)

    def number(self, tag):
        last = len(self.blocks) - 1
        if tag in ("latest", "pending", None):
            return last
        if tag in ("finalized", "safe"):
            return max(0, last - 1)
        return int(tag, 16)


CHAIN = None


def rpc_tx(h, t):
    return {"hash": h, "from": t["from"].lower(), "to": t["to"].lower(), "input": t["input"], "nonce": hex(t["nonce"])}


def rpc(method, params):
    c = CHAIN
    with c.lock:
        c.tick()
        if method == "eth_chainId":
            return hex(CHAIN_ID)
        if method == "eth_getTransactionCount":
            return hex(c.states[c.number(params[1] if len(params) > 1 else None)].counts.get(to_checksum_address(params[0]), 0))
        if method in ("eth_gasPrice", "eth_maxPriorityFeePerGas"):
            return hex(10 ** 8)
        if method == "eth_feeHistory":
            return {"oldestBlock": hex(c.number(params[1])), "baseFeePerGas": [hex(10 ** 8)] * 2, "gasUsedRatio": [0.1]}
        if method in ("eth_call", "eth_estimateGas"):
            p = params[0]
            at = c.number(params[1]) if len(params) > 1 else None
            if at is not None and at == len(c.blocks) - 1:
                at = None
            data = bytes(HexBytes(p.get("data") or p.get("input") or "0x"))
            out, _ = c.simulate(to_checksum_address(p.get("from") or "0x" + "00" * 20), to_checksum_address(p["to"]), data, at)
            return "0x" + out.hex() if method == "eth_call" else hex(120000)
        if method == "eth_sendRawTransaction":
            return c.send_raw(params[0])
        if method == "eth_getTransactionReceipt":
            h = params[0].lower()
            r = c.receipts.get(h)
            if not r:
                return None
            logs = [{"address": c.txs[h]["to"].lower(), "topics": [], "data": "0x"}]
            return {"transactionHash": h, "blockNumber": hex(r["block"]), "logs": logs, "status": "0x1" if r["ok"] else "0x0"}
        if method == "eth_getBlockByNumber":
            if c.number(params[0]) >= len(c.blocks):
                return None
            b = c.blocks[c.number(params[0])]
            return {"number": hex(b["n"]), "timestamp": hex(b["ts"]), "baseFeePerGas": hex(10 ** 8),
                    "transactions": [rpc_tx(h, c.txs[h]) if params[1] else h for h in b["txs"]]}
    raise LookupError(method)


# -------------------------------------------------------------------------------------------------------------- services
class Bad(Exception):
    def __init__(self, status, code, message):
        super().__init__(message)
        self.status, self.code = status, code


TNC = ("By registering this delegate I agree to the venue's terms of delegation, version 2026-09. The delegate may open, change and close "
       "positions for my account until the expiry stated here. It may not withdraw funds, approve tokens or register other delegates. "
       "I understand that trades of the delegate can lose all collateral of my account. " * 2).strip()


def dec(x, name):
    need(isinstance(x, (str, int, float)) and not isinstance(x, bool), Bad, 400, "BAD_REQUEST", f"{name}: not a number")
    return Decimal(str(x))


def scaled(x, scale, name):
    d = dec(x, name) * scale
    need(d == d.to_integral_value(), Bad, 400, "BAD_REQUEST", f"{name}: too many decimals")
    return int(d)


def address(x, name):
    need(isinstance(x, str) and to_checksum_address(x) == x, Bad, 400, "BAD_REQUEST", f"{name}: not an address in EIP-55")
    return x


def whole(x, name):
    d = dec(x, name)
    need(d == d.to_integral_value() and d >= 0, Bad, 400, "BAD_REQUEST", f"{name}: not a whole number")
    return int(d)


def fields(body, required, optional=()):
    """Unknown fields are rejected; every build takes trader or caller."""
    extra = [k for k in body if k not in required and k not in optional]
    missing = [k for k in required if k not in body]
    need(not extra and not missing, Bad, 400, "BAD_REQUEST", f"failed schema validation: unknown {extra}, missing {missing}")


def pair_of(b):
    return whole(b["pairIndex"], "pairIndex")


INTENT_OPT = ("nonce", "deadlineMs")


def nonce_deadline(b):
    n = whole(b["nonce"], "nonce") if "nonce" in b else secrets.randbits(256)
    d = whole(b["deadlineMs"], "deadlineMs") if "deadlineMs" in b else int(time.time() * 1000) + 120000
    return n, d


def to_json(struct, value):
    out = {}
    for m, t in STRUCTS.members[struct].items():
        v = value[m]
        # uint8 fields may arrive as JSON numbers although the spec says decimal strings
        out[m] = (to_json(t, v) if t in STRUCTS.members else "0x" + v.hex() if t == "bytes32" else v if t in ("bool", "string", "address") or t == "uint8" else str(v))
    return out


def intent(struct, value, rule="trader-or-delegate", meta=None):
    return {"intent": struct, "signerRule": rule, "domain": domain_of(struct), "primaryType": struct,
         "types": STRUCTS.types(struct),
         "message": to_json(struct, value), "digest": "0x" + STRUCTS.digest(struct, value, domain_of(struct)).hex(),
         "encodedIntent": "0x" + STRUCTS.encoded(struct, value).hex(), **({"meta": meta} if meta else {})}


def unsigned(to, sender, sig, args, meta, description):
    types = sig[sig.index("(") + 1:-1].split(",")
    return {"to": to, "from": sender, "data": "0x" + (sel(sig) + eth_abi.encode(types, args)).hex(), "value": "0x0", "chainId": CHAIN_ID,
            "description": description, "meta": meta}


def position(trader, pair, slot):
    p = CHAIN.state.positions.get((trader, pair, slot))
    need(p, Bad, 400, "BAD_REQUEST", "no such position")
    return p


def b_open(b):
    fields(b, ["trader", "side", "collateralUsdc", "leverage", "orderType"], ["pairIndex", "slippagePercent", "openPrice", "takeProfit", "stopLoss", *INTENT_OPT])
    pair = pair_of(b)
    n, d = nonce_deadline(b)
    kinds = {"market": 0, "stop_limit": 1, "limit": 2, "market_pnl": 3}
    need(b["orderType"] in kinds and b["side"] in ("long", "short"), Bad, 400, "BAD_REQUEST", "orderType or side")
    price = scaled(b["openPrice"], PRICE, "openPrice") if "openPrice" in b else FEED[pair]
    t = {"trader": address(b["trader"], "trader"), "pairIndex": pair, "index": 0, "initialPosToken": 0, "positionSizeUSDC": scaled(b["collateralUsdc"], USDC6, "collateralUsdc"),
         "openPrice": price, "buy": b["side"] == "long", "leverage": scaled(b["leverage"], PRICE, "leverage"), "tp": scaled(b.get("takeProfit", 0), PRICE, "takeProfit"),
         "sl": scaled(b.get("stopLoss", 0), PRICE, "stopLoss"), "timestamp": 0}
    v = {"_t": t, "_type": kinds[b["orderType"]], "_slippageP": scaled(b.get("slippagePercent", 1), PRICE, "slippagePercent"), "_deadline": d, "_nonce": n}
    return intent("OpenTradeReq", v, meta={"pair": PAIRS[pair][0], "pairIndex": pair, "openPrice": price / PRICE})


def b_close(b):
    fields(b, ["trader", "tradeIndex", "collateralToCloseUsdc"], ["pairIndex", "openTimestamp", "expectedPrice", *INTENT_OPT])
    pair, trader = pair_of(b), address(b["trader"], "trader")
    n, d = nonce_deadline(b)
    slot = whole(b["tradeIndex"], "tradeIndex")
    p = position(trader, pair, slot)
    v = {"_trader": trader, "_pairIndex": pair, "_index": slot, "_openTimestamp": whole(b.get("openTimestamp", p["timestamp"]), "openTimestamp"),
         "_amount": scaled(b["collateralToCloseUsdc"], USDC6, "collateralToCloseUsdc"),
         "_wantedPrice": scaled(b["expectedPrice"], PRICE, "expectedPrice") if "expectedPrice" in b else FEED[pair], "_deadline": d, "_nonce": n}
    return intent("CloseTradeReq", v, meta={"pair": PAIRS[pair][0], "pairIndex": pair})


def b_tpsl(b):
    fields(b, ["trader", "tradeIndex", "kind", "coinExposure", "side"], ["pairIndex", "nonce", "triggerType", "price", "percentage", "openTimestamp"])
    pair, trader = pair_of(b), address(b["trader"], "trader")
    slot = whole(b["tradeIndex"], "tradeIndex")
    p = position(trader, pair, slot)
    kind = b.get("triggerType", "fixed")
    v = {"trader": trader, "pairIndex": pair, "index": slot, "triggerType": {"fixed": 0, "percentage": 1}[kind],
         "coinSize": scaled(b["coinExposure"], PRICE, "coinExposure"), "buy": b["side"] == "long",
         "price": scaled(b["price"], PRICE, "price") if kind == "fixed" else 0, "percentage": scaled(b["percentage"], PRICE, "percentage") if kind == "percentage" else 0,
         "timestamp": whole(b.get("openTimestamp", p["timestamp"]), "openTimestamp"), "signTimestamp": int(time.time() * 1000),
         "orderType": {"take_profit": 4, "stop_loss": 5}[b["kind"]], "nonce": whole(b["nonce"], "nonce") if "nonce" in b else secrets.randbits(256)}
    return intent("TpSlReq", v, meta={"pair": PAIRS[pair][0], "pairIndex": pair})


def b_twap_cancel(b):
    fields(b, ["trader", "twapId"], INTENT_OPT)
    n, d = nonce_deadline(b)
    i = whole(b["twapId"], "twapId")
    return intent("TwapCancelReq", {"trader": address(b["trader"], "trader"), "twapId": i, "nonce": n, "deadline": d}, meta={"twapId": i})


def b_twap_open(b):      # OPEN: path and fields of this builder
    fields(b, ["trader", "pairIndex", "side", "collateralUsdc", "leverage", "slices", "intervalSeconds"], INTENT_OPT)
    n, d = nonce_deadline(b)
    need(b["side"] in ("long", "short"), Bad, 400, "BAD_REQUEST", "side")
    v = {"trader": address(b["trader"], "trader"), "pairIndex": pair_of(b), "buy": b["side"] == "long", "collateral": scaled(b["collateralUsdc"], USDC6, "collateralUsdc"),
         "leverage": scaled(b["leverage"], PRICE, "leverage"), "slices": whole(b["slices"], "slices"), "interval": whole(b["intervalSeconds"], "intervalSeconds"),
         "__reserved1": 0, "nonce": n, "deadline": d}
    return intent("TwapOpenOrder", v, meta={"pairIndex": v["pairIndex"]})


def b_update_tpsl(b):    # OPEN: path and fields of this builder
    fields(b, ["trader", "tradeIndex", "takeProfit", "stopLoss"], ["pairIndex", "openTimestamp", *INTENT_OPT])
    pair, trader = pair_of(b), address(b["trader"], "trader")
    n, d = nonce_deadline(b)
    p = position(trader, pair, whole(b["tradeIndex"], "tradeIndex"))
    v = {"trader": trader, "pairIndex": pair, "index": p["index"], "timestamp": whole(b.get("openTimestamp", p["timestamp"]), "openTimestamp"),
         "newTp": scaled(b["takeProfit"], PRICE, "takeProfit"), "newSl": scaled(b["stopLoss"], PRICE, "stopLoss"), "deadline": d, "nonce": n}
    return intent("UpdateTpSlReq", v, meta={"pairIndex": pair})


def b_set_code(b):
    fields(b, ["referee", "code"], INTENT_OPT)
    n, d = nonce_deadline(b)
    return intent("SetTraderReferralCodeByUserReq", {"_code": code32(b["code"]), "_referee": address(b["referee"], "referee"), "_deadline": d, "_nonce": n})


def b_register(b):       # "every build takes trader or caller": the referrer is the caller here (OPEN which of the two)
    fields(b, ["caller", "code"], INTENT_OPT)
    n, d = nonce_deadline(b)
    return intent("RegisterCodeReq", {"_code": code32(b["code"]), "_referrer": address(b["caller"], "caller"), "_deadline": d, "_nonce": n})


def b_delegate(b):
    fields(b, ["trader", "delegate", "expirySeconds"], INTENT_OPT)
    n, d = nonce_deadline(b)
    v = {"trader": address(b["trader"], "trader"), "delegate": address(b["delegate"], "delegate"), "expiry": whole(b["expirySeconds"], "expirySeconds"),
         "deadline": d, "tnc": TNC, "nonce": n}
    return intent("DelegateReq", v, "trader-only", {"delegate": v["delegate"]})


def b_approve(b):
    fields(b, ["trader"], ["spender", "amountUsdc"])
    amount = scaled(b["amountUsdc"], USDC6, "amountUsdc") if "amountUsdc" in b else ALL
    spender = address(b.get("spender", STORAGE), "spender")
    return unsigned(USDC, address(b["trader"], "trader"), "approve(address,uint256)", [spender, amount], {"spender": spender, "unlimited": amount == ALL}, "approve USDC")


def b_delegate_set(b):
    fields(b, ["trader", "delegate", "expirySeconds"])
    return unsigned(ROUTER, address(b["trader"], "trader"), "setDelegate(address,uint256)", [address(b["delegate"], "delegate"), whole(b["expirySeconds"], "expirySeconds")],
                    {"delegate": b["delegate"], "expirySeconds": str(b["expirySeconds"])}, "set a delegate")


def b_delegate_remove(b):
    fields(b, ["trader", "delegate"])
    return unsigned(ROUTER, address(b["trader"], "trader"), "removeDelegate(address)", [address(b["delegate"], "delegate")], {"delegate": b["delegate"]}, "remove a delegate")


def r_meta(b):
    return {"chainId": CHAIN_ID, "simulator": True, "addresses": ADDR,
            "eip712": {**DOMAINS, "signatureFormat": "65-byte r||s||v, v 27 or 28"},
            "enums": {"openOrderType": {"market": 0, "stop_limit": 1, "limit": 2, "market_pnl": 3}, "triggerType": {"fixed": 0, "percentage": 1}},
            "units": {"price": "1e10", "leverage": "1e10", "usdc": "1e6"},
            "defaults": {"executionFeeWei": "0", "intentDeadlineMs": 120000, "slippagePercent": "1"}}


def r_pairs(b):
    return [{"index": i, "symbol": s, "isPairListed": True, "closeOnly": False, "isPnlTypeAllowed": pnl, "pairMinLevPosUSDC": "100000000",
             "leverages": {"minLeverage": "20000000000", "maxLeverage": "750000000000"}}
            for i, (s, pnl) in enumerate(PAIRS)]


def raw_trade(t):
    return {k: v if isinstance(v, (bool, str)) else str(v) for k, v in t.items()}


def r_positions(b):
    fields(b, ["trader"])
    who = address(b["trader"], "trader")
    return {"trades": [{"trade": raw_trade(p), "liquidationPrice": str(p["openPrice"] * 9 // 10), "coinExposure": str(p["positionSizeUSDC"] * 10 ** 14 // p["openPrice"])}
                       for (t, _, _), p in CHAIN.state.positions.items() if t == who], "orders": []}


def r_nonce(b):
    fields(b, ["trader", "check"], () if STRICT_NONCE else ("space", "contract"))
    who, n = address(b["trader"], "trader"), whole(b["check"], "check")
    return {"nonce": str(n), "used": (ROUTER, who, n) in CHAIN.state.nonces}


def r_delegation(b):
    fields(b, ["trader", "delegate"])
    e = CHAIN.state.delegations.get((address(b["trader"], "trader"), address(b["delegate"], "delegate")), 0)
    on = e > time.time()
    return {"isEnabled": on, "expiry": e, "canDelegatedAction": on, "canSignIntents": on}


def r_referral(b):
    if "code" in b:
        return {"code": b["code"], "owner": CHAIN.state.codes.get(code32(b["code"]), "0x" + "00" * 20), "isPrivate": False}
    return {"trader": b["trader"], "code": "0x" + CHAIN.state.adopted.get(address(b["trader"], "trader"), b"\0" * 32).hex()}


RELAYED = {}


def relay_post(b):
    fields(b, ["rawTransaction"])
    raw = bytes(HexBytes(b["rawTransaction"]))
    tx = TypedTransaction.from_bytes(HexBytes(raw)).as_dict()
    to = to_checksum_address(tx["to"])
    need(to in (ROUTER, STORAGE, USDC, REFERRAL), Bad, 400, "TX_REJECTED", "target is not whitelisted")
    sender = to_checksum_address(Account.recover_transaction(raw))
    CHAIN.simulate(sender, to, bytes(HexBytes(tx["data"])))
    h = "0x" + keccak(raw).hex()
    RELAYED[h] = "pending"

    def later():
        CHAIN.send_raw(raw)
        RELAYED[h] = "confirmed" if CHAIN.receipts[h]["ok"] else "reverted"
    threading.Timer(0.5, later).start()
    return {"hash": h}


def relay_get(h):
    return {"hash": h, "status": RELAYED.get(h, "pending")}     # OPEN: whether a block is told; none is shown


BUILDER = {
    "/v2/meta": r_meta, "/v2/pairs": r_pairs, "/v2/positions": r_positions, "/v2/nonce": r_nonce, "/v2/delegation": r_delegation,
    "/v2/reads/referral": r_referral,
    "/v2/intents/open": b_open, "/v2/intents/close": b_close, "/v2/intents/tpsl-partial": b_tpsl, "/v2/intents/twap-cancel": b_twap_cancel,
    "/v2/intents/referral-set-code": b_set_code, "/v2/intents/referral-register-code": b_register, "/v2/intents/delegate-set": b_delegate,
    "/v2/intents/twap-open": b_twap_open, "/v2/intents/tpsl-global": b_update_tpsl,
    "/v2/token/approve": b_approve, "/v2/delegate/set": b_delegate_set, "/v2/delegate/remove": b_delegate_remove,
}

RELAYS = {}


def hexbytes(x, name):
    need(isinstance(x, str) and x.startswith("0x"), Bad, 400, "Bad Request", f"{name} must be a hex string")
    try:
        return bytes.fromhex(x[2:])
    except ValueError:
        raise Bad(400, "Bad Request", f"{name} must be a hex string")


def relays_post(b):
    need(set(b) == {"txParams", "wallet"}, Bad, 400, "Bad Request", f"body must have txParams, wallet; got {sorted(b)}")
    t = b["txParams"]
    need(set(t) == {"to", "data", "value", "gasLimit", "chainId", "transactionType"}, Bad, 400, "Bad Request", f"txParams: got {sorted(t)}")
    wallet = address(b["wallet"], "wallet")
    to, data = address(t["to"], "to"), hexbytes(t["data"], "data")
    need(t["chainId"] == CHAIN_ID, Bad, 400, "Bad Request", "chainId")
    need(int(str(t["value"]), 0) == 0 and int(str(t["gasLimit"]), 0) >= 21000, Bad, 400, "Bad Request", "value or gasLimit")
    need(t["transactionType"] == 2, Bad, 400, "Bad Request", "transactionType must be 2")
    need(to == ROUTER or RELAY_TYPE2 == "pinned" and to == REFERRAL, Bad, 400, "Bad Request", "type 2 goes to the router alone")
    _, ctx = CHAIN.simulate(OPERATOR.address, to, data)
    need(wallet in (ctx.result.get("owner"), ctx.result.get("signer")), Bad, 400, "Bad Request", "wallet is not the intent's")
    rid = str(uuid.uuid4())
    RELAYS[rid] = {"requestId": rid, "status": "Inflight"}

    def later():
        h = CHAIN.operate(to, data)
        ok = CHAIN.receipts[h]["ok"]
        RELAYS[rid] = {"requestId": rid, "status": "Finalised" if ok else "Failed", "receipt": {"transactionHash": h, "status": "0x1" if ok else "0x0"}}
    threading.Timer(0.5, later).start()
    return {"requestId": rid}


# ---- batched market
EVENTS = {}
ORDER = {0: "OpenTradeReq", 1: "CloseTradeReq"}
ENTRY = {"OpenTradeReq": "openTradeWithSig(bytes,bytes)", "CloseTradeReq": "closeTradeMarketWithSig(bytes,bytes)"}


def market_check(b):
    need(set(b) == {"orderType", "erc712"}, Bad, 400, "Bad Request", ["orderType must be an integer", "erc712 must be an object"])
    ot = b["orderType"]
    need(ot in ORDER and not isinstance(ot, bool), Bad, 400, "Bad Request", f"unsupported orderType {ot}")
    need(set(b["erc712"]) == {"userIntent", "userSignature"}, Bad, 400, "Bad Request", "erc712: userIntent, userSignature")
    struct = ORDER[ot]
    sig, data = hexbytes(b["erc712"]["userSignature"], "userSignature"), hexbytes(b["erc712"]["userIntent"], "userIntent")
    calldata = sel(ENTRY[struct]) + eth_abi.encode(["bytes", "bytes"], [sig, data])
    _, ctx = CHAIN.simulate(OPERATOR.address, ROUTER, calldata)
    v = ctx.result["value"]
    pair = v["_t"]["pairIndex"] if "_t" in v else v["_pairIndex"]
    need(not PAIRS[pair][1] and not v.get("_type"), Bad, 400, "Bad Request", "orderType does not match the pair's PnL status or _type")
    return struct, calldata, v, ctx.result["owner"], pair


def market_run(tid, struct, calldata, v, owner, pair):
    def emit(kind, payload):
        EVENTS[tid].append({"seq": len(EVENTS[tid]), "type": kind, "payload": payload, "at": int(time.time() * 1000)})
    time.sleep(0.2)
    is_open = struct.startswith("Open")
    h = CHAIN.operate(ROUTER, calldata)
    oid = CHAIN.receipts[h]["result"]["orderId"]
    buy = v["_t"]["buy"] if is_open else CHAIN.state.positions[(owner, pair, v["_index"])]["buy"]
    emit("MarketOrderInitiated", {"orderId": oid, "trader": owner, "pairIndex": pair, "open": is_open, "isBuy": buy, "isPnl": False, "transactionHash": h})
    time.sleep(0.2)
    h = CHAIN.operate(ROUTER, sel("executeMarketOrder(uint256,uint256)") + eth_abi.encode(["uint256", "uint256"], [oid, FEED[pair]]))
    r = CHAIN.receipts[h]["result"]
    t = raw_trade(r["t"])
    t["timestamp"] = r["t"]["timestamp"]
    emit("MarketOrderExecuted", {"orderId": oid, "open": is_open, "price": str(FEED[pair]), "positionSizeUSDC": str(r["size"]), "percentProfit": str(r["profit"]),
                                 "usdcSentToTrader": str(r["sent"]), "isPnl": False, "coinExposure": str(r["size"] * 10 ** 14 // FEED[pair]), "isCoinExposureFixed": False,
                                 "t": t, "transactionHash": h})


# ---- core API
TRIGGERS = {}
NUM, STR = ("pairIndex", "index", "triggerType", "timestamp", "signTimestamp", "orderType"), ("coinSize", "price", "percentage", "nonce")


def trigger_check(b):
    bad = [f"{k} must be a number" for k in NUM if not isinstance(b.get(k), int) or isinstance(b.get(k), bool)]
    bad += [f"{k} must be a string" for k in STR if not isinstance(b.get(k), str)]
    bad += [f"property {k} should not exist" for k in b if k not in (*NUM, *STR, "trader", "buy", "signedMessage")]
    if not isinstance(b.get("buy"), bool):
        bad.append("buy must be a boolean")
    need(not bad, Bad, 400, "Bad Request", bad)
    v = {"trader": address(b["trader"], "trader"), "buy": b["buy"], **{k: b[k] for k in NUM}, **{k: int(b[k]) for k in STR}}
    signer = recover("TpSlReq", v, hexbytes(b["signedMessage"], "signedMessage"))
    now = time.time()
    need(signer == v["trader"], Bad, 401, "Unauthorized", f"signed by {signer}")
    p = CHAIN.state.positions.get((v["trader"], v["pairIndex"], v["index"]))
    need(p and p["timestamp"] == v["timestamp"] and p["buy"] == v["buy"], Bad, 400, "Bad Request", "PositionMismatch")
    need(now * 1000 - 1800_000 <= v["signTimestamp"] <= now * 1000, Bad, 400, "Bad Request", "signTimestamp")
    need((v["price"] == 0) == (v["triggerType"] == 1) and v["orderType"] in (4, 5), Bad, 400, "Bad Request", "price or orderType")
    return v


def store(b):
    eid = f"partial-{uuid.uuid4()}"
    TRIGGERS[eid] = {**b, "entityId": eid, "status": "active", "createdAt": int(time.time() * 1000)}
    return eid


def core(method, path, b):
    if method == "POST" and path == "/price-triggers":
        trigger_check(b)
        return 201, TRIGGERS[store(b)]
    if method == "PUT" and path.startswith("/price-triggers/global-tp-"):
        need(set(b) == {"userIntent", "signedMessage"}, Bad, 400, "Bad Request", "userIntent, signedMessage")
        data, sig = hexbytes(b["userIntent"], "userIntent"), hexbytes(b["signedMessage"], "signedMessage")
        v = decode_intent("UpdateTpSlReq", data)
        want = f"/price-triggers/global-tp-{v['trader']}-{v['pairIndex']}-{v['index']}".lower()
        need(path.lower() == want, Bad, 400, "Bad Request", f"path {path} is not the intent's {want}")
        CHAIN.operate(ROUTER, sel("updateTpSlWithSig(bytes,bytes)") + eth_abi.encode(["bytes", "bytes"], [sig, data]))
        eid = path.rsplit("/", 1)[1]
        return 200, {"success": True, "result": {"oldEntityId": eid, "newEntityId": eid}}
    if method == "PUT" and path.startswith("/price-triggers/"):
        old = unquote(path.rsplit("/", 1)[1])
        need(TRIGGERS.get(old, {}).get("status") == "active", Bad, 404, "Not Found", "no such trigger")
        trigger_check(b)
        TRIGGERS[old]["status"] = "replaced"
        return 200, {"success": True, "result": {"oldEntityId": old, "newEntityId": store(b)}}
    raise Bad(404, "Not Found", "Cannot " + method + " " + path)


def twap(method, path, b):
    if method == "GET":
        i = path.rsplit("/", 1)[1]
        t = CHAIN.state.twaps.get(int(i)) if i.isdigit() else None
        need(t, Bad, 404, "Not Found", "no such TWAP")
        return 200, {"twapId": int(i), "trader": t["trader"], "status": t["state"]}
    spec = {"/twaps/cancel": ("TwapCancelReq", "twapCancelWithSig(bytes,bytes)"), "/twaps/open": ("TwapOpenOrder", "twapOpenWithSig(bytes,bytes)")}.get(path)
    need(method == "POST" and spec, Bad, 404, "Not Found", "Cannot " + method + " " + path)
    struct, fn = spec
    want = {m.lstrip("_") if m == "__reserved1" else m: (t, m) for m, t in STRUCTS.members[struct].items()}
    need(set(b) == {*want, "signature"}, Bad, 400, "Bad Request", f"body must have {sorted([*want, 'signature'])}; got {sorted(b)}")
    v = {}
    for k, (t, m) in want.items():
        x = b[k]
        if t == "bool":
            need(isinstance(x, bool), Bad, 400, "Bad Request", f"{k} must be a boolean")
            v[m] = x
        else:
            v[m] = address(x, k) if t == "address" else whole(x, k)
    calldata = sel(fn) + eth_abi.encode(["bytes", "bytes"], [hexbytes(b["signature"], "signature"), STRUCTS.encoded(struct, v)])
    h = CHAIN.operate(ROUTER, calldata)
    return 201, {"twapId": v.get("twapId", CHAIN.receipts[h]["result"].get("twapId")), "transactionHash": h, "blockNumber": CHAIN.receipts[h]["block"]}


# ------------------------------------------------------------------------------------------------------------------- http
class Handler(QuietHandler):
    protocol_version = "HTTP/1.1"

    def tell(self, status, doc):
        self.reply_json(doc, status)

    def answer(self):
        method, u, raw = self.command, urlsplit(self.path), self.body()
        CHAIN.tick()
        service, _, rest = u.path.lstrip("/").partition("/")
        path = "/" + rest
        envelope = service == "builder"
        try:
            body = json.loads(raw) if raw else {}
            if method == "GET":
                body = dict(parse_qsl(u.query))
            self.route(method, service, path, body)
        except (Bad, Revert) as e:
            status, code = getattr(e, "status", 400), getattr(e, "code", "BAD_REQUEST" if envelope else "Bad Request")
            if envelope:
                return self.tell(status, {"ok": False, "error": {"code": code, "message": str(e)}})
            self.tell(status, {"statusCode": status, "message": str(e), "error": code})
        except Exception:
            traceback.print_exc()
            self.tell(500, {"statusCode": 500, "message": "Internal server error"})

    def route(self, method, service, path, b):
        if service == "rpc":
            return self.rpc(b)
        ASKED.append([method, service, path, b])
        if service == "builder":
            if path == "/ready":
                return self.tell(200, {"ok": True, "data": {"ready": True, "components": {}}})
            if path == "/v2/relay" and method == "POST":
                return self.tell(200, {"ok": True, "data": relay_post(b)})
            if path.startswith("/v2/relay/") and method == "GET":
                return self.tell(200, {"ok": True, "data": relay_get(path.rsplit("/", 1)[1])})
            need(path in BUILDER, Bad, 404, "NOT_FOUND", "no such endpoint")
            return self.tell(200, {"ok": True, "data": BUILDER[path](b)})
        if service == "relayer":
            if path == "/relays" and method == "POST":
                return self.tell(201, relays_post(b))
            if path.startswith("/relays/") and method == "GET":
                r = RELAYS.get(path.rsplit("/", 1)[1])
                need(r, Bad, 404, "Not Found", "no such request")
                return self.tell(200, r)
        if service == "twap":
            return self.tell(*twap(method, path, b))
        if service == "core":
            return self.tell(*core(method, path, b))
        if service == "market":
            if path == "/market/execute-batched" and method == "POST":
                return self.stream(market_check(b))
            if path.startswith("/tracking-id/") and path.endswith("/status"):
                tid = path.split("/")[2]
                need(tid in EVENTS, Bad, 404, "Not Found", "unknown trackingId")
                after = int(b["afterSeq"]) if "afterSeq" in b else -1
                return self.tell(200, {"events": [e for e in EVENTS[tid] if e["seq"] > after]})
        raise Bad(404, "Not Found", f"Cannot {method} {self.path}")

    def stream(self, job):
        tid = str(uuid.uuid4())
        EVENTS[tid] = [{"seq": 0, "type": "MarketOrderAccepted", "payload": {"trackingId": tid}, "at": int(time.time() * 1000)}]
        threading.Thread(target=market_run, args=(tid, *job), daemon=True).start()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        sent, end = 0, time.time() + 60
        self.wfile.write(b": keep-alive\n\n")
        while time.time() < end:
            for e in EVENTS[tid][sent:]:
                self.wfile.write(f"event: {e['type']}\nid: {e['seq']}\ndata: {json.dumps(e['payload'])}\n\n".encode())
                self.wfile.flush()
                sent += 1
                if e["type"] == "MarketOrderExecuted":
                    return
            time.sleep(0.2)

    def rpc(self, b):
        out = {"jsonrpc": "2.0", "id": b.get("id")}
        try:
            out["result"] = rpc(b["method"], b.get("params", []))
        except Revert:
            out["error"] = {"code": 3, "message": "execution reverted", "data": "0x"}
        except Exception as e:
            traceback.print_exc()
            out["error"] = {"code": -32000, "message": str(e)}
        self.tell(200, out)


class Server(ThreadingHTTPServer):
    daemon_threads = True


def server(chain=CHAIN_ID, strict_nonce=STRICT_NONCE):
    global CHAIN, CHAIN_ID, STRICT_NONCE
    CHAIN_ID, STRICT_NONCE = chain, strict_nonce
    for domain in DOMAINS.values():
        domain["chainId"] = chain
    CHAIN = Chain()
    return Server(("127.0.0.1", 0), Handler)
