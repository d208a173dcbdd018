"""The builder's HTTP routes: every endpoint by GET with query parameters and by POST with JSON, in the envelope.

Sources: the specification, "Builder: intents" and "Builder: unsigned transactions".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from airlock_rehearsal.chain.evm import CONTRACTS, REFERRAL, ROUTER, STORAGE, USDC
from airlock_rehearsal.services.builder import message_drafts, unsigned
from airlock_rehearsal.services.builder.fields import OPEN_ORDER_TYPES, TRIGGER_TYPES, BuildFields, bad, read_fields
from airlock_rehearsal.services.builder.message_drafts import Draft
from airlock_rehearsal.services.builder.payload import payload_of
from airlock_rehearsal.services.builder.unsigned import plain
from airlock_rehearsal.services.envelope import Json, done, request_fields
from airlock_rehearsal.services.runtime import CHAIN_ID, INTENT_DEADLINE_MS, SPACES, Runtime, signing_domain
from airlock_rehearsal.services.transport import served
from airlock_rehearsal.services.venue.positions import PAIRS, order_json, trade_json


def _meta(_asked: BuildFields) -> object:
    """``/v2/meta``: the spec does not show its shape; it is that of comparable venues, and says what it is."""
    return {
        "simulator": True,
        "chainId": CHAIN_ID,
        "addresses": {
            "tradingRouter": CONTRACTS[ROUTER],
            "tradingStorage": CONTRACTS[STORAGE],
            "usdc": CONTRACTS[USDC],
            "referral": CONTRACTS[REFERRAL],
        },
        "eip712": {
            "trading": signing_domain("trading"),
            "referral": signing_domain("referral"),
            "signatureFormat": "65 bytes r||s||v, v 27 or 28",
        },
        "enums": {"openOrderType": OPEN_ORDER_TYPES, "triggerType": TRIGGER_TYPES},
        "units": {"price": "1e10", "leverage": "1e10", "usdc": "1e6"},
        "defaults": {
            "intentDeadlineMs": INTENT_DEADLINE_MS,
            "slippagePercent": "1",
            "executionFeeWei": "0",
        },
    }


def _pairs(_asked: BuildFields) -> object:
    """``/v2/pairs``: an array."""
    return [pair.as_json() for pair in PAIRS.values()]


def _positions(asked: BuildFields) -> object:
    """``/v2/positions``: open positions and waiting limit orders of a trader."""
    state, trader = asked.state, asked["trader"]
    trades = [trade_json(held, PAIRS[held["pairIndex"]].is_pnl) for held in state.trades_of(trader)]
    orders = [order_json(order) for order in state.read(STORAGE, "limitOrdersOf", trader)]
    return {"trader": trader, "trades": trades, "orders": orders}


def _nonce(asked: BuildFields) -> object:
    """``/v2/nonce``: whether ``check`` is used."""
    number, space = asked["check"], asked["space"] or "trading"
    used = asked.state.nonce_used(SPACES[space], asked["trader"], number)
    return {"nonce": str(number), "used": used, "space": space}


def _delegation(asked: BuildFields) -> object:
    """``/v2/delegation``: the expiry is in unix seconds, 0 when there never was one."""
    expiry_s = asked.state.delegation_expiry(asked["trader"], asked["delegate"])
    live = expiry_s > asked.state.now_s
    return {**asked, "isEnabled": live, "expiry": expiry_s, "canDelegatedAction": live, "canSignIntents": live}


def _referral(asked: BuildFields) -> object:
    """``/v2/reads/referral``, which the spec does not name: a trader's adopted code, or a code's owners and privacy.

    Zero bytes stand for no code, and for no owner, as on the chain.
    """
    read, trader, code = partial(asked.state.read, REFERRAL), asked["trader"], asked["code"]
    if (trader is None) == (code is None):
        raise bad("trader", "give trader or code, one of them")
    if code is None:
        return {"trader": trader, "code": "0x" + read("traderReferralCodes", trader).hex()}
    key = bytes.fromhex(code[2:])
    owners = {"owner": read("codeOwners", key), "pendingOwner": read("pendingCodeOwners", key)}
    return {"code": code, **owners, "isPrivate": read("isPrivate", key)}


_NONCE = ("trader! check! space", _nonce)
_DELEGATION = ("trader! delegate!", _delegation)
READS: dict[str, tuple[str, Callable[[BuildFields], object]]] = {
    "/v2/meta": ("", _meta),
    "/v2/pairs": ("", _pairs),
    "/v2/positions": ("trader!", _positions),
    "/v2/nonce": _NONCE,
    "/v2/reads/nonce": _NONCE,
    "/v2/delegation": _DELEGATION,
    "/v2/reads/delegation": _DELEGATION,
    "/v2/reads/referral": ("trader code", _referral),
}
"""The reads: request fields and what answers."""

_INCREASE = "trader! tradeIndex! additionalCollateralUsdc! leverage! pairIndex"
_COINS = " coinExposure! minLeverage! maxLeverage!"
_OPEN = "trader! side! collateralUsdc! leverage! pairIndex orderType"
_CLOSE = "trader! tradeIndex! collateralToCloseUsdc! pairIndex"
_TIMED, _PRICED, _EXITS = " nonce deadlineMs", " openPrice slippagePercent", " takeProfit stopLoss"
_STRICT = "/v2/intents/tpsl-partial"
INTENTS: dict[str, tuple[str, Callable[[BuildFields], Draft]]] = {
    "/v2/intents/open": (_OPEN + _PRICED + _EXITS + _TIMED, message_drafts.open_trade),
    "/v2/intents/close": (_CLOSE + _TIMED + " openTimestamp expectedPrice", message_drafts.close_trade),
    "/v2/intents/increase": (_INCREASE + _TIMED + _PRICED, message_drafts.increase),
    "/v2/intents/increase-coin": (_INCREASE + _TIMED + _PRICED + _COINS, message_drafts.increase),
    _STRICT: (
        "trader! tradeIndex! kind! coinExposure! side! pairIndex nonce triggerType price percentage openTimestamp",
        message_drafts.tpsl_partial,
    ),
    "/v2/intents/referral-set-code": ("referee! code!" + _TIMED, message_drafts.referral_set_code),
    "/v2/intents/twap-cancel": ("trader! twapId!" + _TIMED, message_drafts.twap_cancel),
    "/v2/intents/delegate": ("trader! delegate! expirySeconds!" + _TIMED, message_drafts.delegate),
}
"""The endpoints that answer with a message to sign: request fields and what drafts it."""

TRANSACTIONS: dict[str, tuple[str, Callable[[BuildFields], object]]] = {
    "/v2/position/increase": (_INCREASE + " delegate" + _PRICED, unsigned.increase),
    "/v2/position/increase-coin": (_INCREASE + " delegate" + _PRICED + _COINS, unsigned.increase),
    "/v2/limit/update": (
        "trader! orderIndex! price! pairIndex delegate slippagePercent" + _EXITS, unsigned.limit_update,
    ),
    "/v2/trade/open": (_OPEN + " delegate" + _PRICED + _EXITS, unsigned.open_trade),
    "/v2/trade/close": (_CLOSE + " delegate expectedPrice", unsigned.close_trade),
    "/v2/referral/set-code": (
        "caller! code! delegate",
        plain("setTraderReferralCodeByUser", "Adopt a referral code", "code", "code"),
    ),
    "/v2/referral/transfer-ownership": (
        "caller! code! newOwner!",
        plain("setPendingCodeOwnershipTransfer", "Nominate the next owner of a referral code", "code newOwner"),
    ),
    "/v2/referral/accept-ownership": (
        "caller! code!", plain("acceptCodeOwnership", "Accept a referral code", "code"),
    ),
    "/v2/referral/cancel-request": (
        "caller!", plain("cancelRequest", "Withdraw a request for access to a private code"),
    ),
    "/v2/misc/claim-keeper-rewards": ("caller!", plain("claimTokens", "Pay out keeper rewards")),
    "/v2/delegate/set": ("trader! delegate! expirySeconds!", unsigned.set_delegate),
    "/v2/delegate/remove": (
        "trader! delegate!", plain("removeDelegate", "Remove a delegate", "delegate", "delegate"),
    ),
    "/v2/token/approve": ("trader! spender amountUsdc", unsigned.approve),
}  # fmt: skip
"""The endpoints that answer with an unsigned transaction."""


def routes(runtime: Runtime) -> list[Route]:
    """Return the builder's routes but for the relay's, without their prefix."""

    async def ready(request: Request) -> Response:  # noqa: ARG001  (a Starlette endpoint)
        up = not runtime.faults.has("http-503", "builder")  # which leaves this one to answer
        components = {"rpc": {"ok": up, "chainId": CHAIN_ID}, "pairs": {"ok": True}}
        body = {"ok": up, "data": {"ready": up, "components": components}}
        return Json(body, status_code=200 if up else 503)

    def route(path: str, fields: str, answer: Callable[[BuildFields], object], *, limited: bool) -> Route:
        async def handler(request: Request) -> Response:
            came = await request_fields(request)
            read = read_fields(fields, came, strict=path == _STRICT)
            told = answer(BuildFields(runtime.state, runtime.faults, read, came))
            return done(payload_of(told, runtime.faults) if isinstance(told, Draft) else told)

        return served(runtime, "builder", f"GET,POST {path}", handler, limited=limited)

    return [
        served(runtime, "builder", "GET /ready", ready),
        *(route(path, *row, limited=False) for path, row in READS.items()),
        *(route(path, *row, limited=True) for table in (INTENTS, TRANSACTIONS) for path, row in table.items()),
    ]
