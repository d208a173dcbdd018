"""After the outcome: what was promised, read back from the venue, beside what is found there.

The reads' shapes are not in the specification, so a value that cannot be read is never guessed: ``kept`` is then None. What
comes back is the builder's word, which proves nothing by itself; but another service said that the thing was done, and
here the two must agree. A read may lag behind the chain: read again before a promise is called broken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from airlock_online.builder import BuilderClient
from airlock_online.config import Config
from airlock_online.lifecycle import OrderEvent
from airlock_online.promises import Promise, Scene, promise_lines, unreadable, untold
from airlock_online.readback_positions import closed, increased, limit_updated, opened, pending, trigger
from airlock_online.trades import whole
from airlock_shared.errors import Refusal
from airlock_shared.referral import code_bytes, code_text
from airlock_shared.requests import Request
from airlock_shared.text import safe
from airlock_shared.units import span_text, utc_text

__all__ = ["Promise", "promise_lines", "read_back"]


def read_back(
    request: Request, events: Sequence[OrderEvent], builder: BuilderClient, config: Config, now_ms: int
) -> list[Promise]:
    """Return what a request that succeeded had promised, and what is found; ``now_ms`` is our clock, unix ms.

    Reads alone, and raises nothing for what a service answers. The caller has checked the request.
    """
    judge = _JUDGES.get(request.action, _nothing_reads)
    return judge(Scene(request, events, builder, config, now_ms))


def _delegate(scene: Scene) -> list[Promise]:
    """Promise that the delegate is enabled until the moment that was signed, and may sign intents."""
    asked = scene.request.fields
    what = f"delegate {safe(asked['delegate'])} of {safe(asked['trader'])}"
    expiry = whole(asked["expirySeconds"])
    promised = f"enabled until {_moment(expiry, scene.now_ms)}"
    read = _delegation(scene)
    enabled = read.get("isEnabled") if type(read) is dict else None
    if type(read) is not dict or type(enabled) is not bool:
        return [unreadable(what, promised, read)]
    until = whole(read.get("expiry"))
    found = f"enabled until {_moment(until, scene.now_ms)}" if enabled else "not enabled"
    kept = False if not enabled else None if until is None else until == expiry
    may = read.get("canSignIntents")
    signs = {True: "it may", False: "it may not"}.get(may, "not told") if type(may) is bool else "not told"
    return [
        Promise(what, promised, found, kept),
        Promise(what, "may sign intents", signs, may if type(may) is bool else None),
    ]


def _delegate_removed(scene: Scene) -> list[Promise]:
    """Promise that a delegate that was removed is not enabled."""
    asked = scene.request.fields
    what = f"delegate {safe(asked['delegate'])} of {safe(asked['trader'])}"
    read = _delegation(scene)
    enabled = read.get("isEnabled") if type(read) is dict else None
    if type(enabled) is not bool:
        return [unreadable(what, "not enabled", read)]
    return [Promise(what, "not enabled", "enabled" if enabled else "not enabled", not enabled)]


def _delegation(scene: Scene) -> object:
    asked = scene.request.fields
    return scene.ask(scene.config.reads.delegation, {"trader": asked["trader"], "delegate": asked["delegate"]})


def _moment(unix_s: int | None, now_ms: int) -> str:
    if unix_s is None:
        return "a moment that is not told"
    span = span_text(abs(unix_s - now_ms // 1000))
    return f"{utc_text(unix_s * 1000)} ({'in ' + span if unix_s * 1000 > now_ms else span + ' ago'}; raw {unix_s})"


def _referral(scene: Scene, *, account: str) -> list[Promise]:
    """Promise that the account has adopted the code."""
    asked = scene.request.fields
    what, wanted = f"referral code of {safe(asked[account])}", code_bytes(asked["code"])
    promised = _code(wanted)
    read = scene.ask(scene.config.reads.referral, {"trader": asked[account]})
    found = _code_in(read)
    if found is None:
        return [unreadable(what, promised, read)]
    return [Promise(what, promised, _code(found) if any(found) else "no code", found == wanted)]


def _code_in(read: object) -> bytes | None:
    """Return the 32 bytes of the code that a read gives as text or hex, all zero for none; None when it gives neither."""
    code = read.get("code") if type(read) is dict else None
    if type(code) is not str:
        return None
    try:
        return code_bytes(code) if code else bytes(32)
    except Refusal:
        return None


def _code(value: bytes) -> str:
    return f"{safe(code_text(value))} (raw 0x{value.hex()})"


def _twap_cancelled(scene: Scene) -> list[Promise]:
    """Promise what no read tells; but the service's own answer must be about the order that was signed for."""
    wanted, event = whole(scene.request.fields["twapId"]), scene.last("TwapCancelled")
    what, promised = f"TWAP order {wanted}", "cancelled"
    told = whole(event.payload.get("twapId")) if event else None
    if told is not None and told != wanted:
        return [Promise(what, promised, f"the service tells of TWAP order {told}", False)]
    return [untold(what, promised, "no read tells of TWAP orders; read its transaction in a block explorer")]


def _approved(scene: Scene) -> list[Promise]:
    """Promise an allowance, which is in the chain and in no read of the builder."""
    asked = scene.request.fields
    amount = f"{safe(asked['amountUsdc'])} USDC" if "amountUsdc" in asked else "everything, unlimited"
    what = f"what {safe(asked['spender'])} may take" if "spender" in asked else "what the trading storage may take"
    return [untold(what, amount, "no read of the builder tells the allowance; read it in a block explorer")]


def _nothing_reads(scene: Scene) -> list[Promise]:
    return [untold(safe(scene.request.action), "done", "no read of the builder tells it")]


_Judge = Callable[[Scene], list[Promise]]
_JUDGES: dict[str, _Judge] = {
    "open": opened, "open-coin": opened, "close": closed, "close-coin": closed,
    "increase": increased, "increase-coin": increased, "tpsl-partial": trigger,
    "twap-cancel": _twap_cancelled,
    "delegate": _delegate, "delegate-set": _delegate, "delegate-remove": _delegate_removed,
    "referral-set-code": partial(_referral, account="referee"),
    "referral-set-code-tx": partial(_referral, account="caller"),
    "token-approve": _approved, "limit-update": limit_updated,
    "position-increase": pending, "position-increase-coin": pending, "trade-open": pending, "trade-close": pending,
}  # fmt: skip
"""By action; what is not here has nothing that can be read back."""
