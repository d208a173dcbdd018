"""After the outcome: what was promised, read back from the venue, beside what is found there.

The reads' shapes are not in the specification, so a value that cannot be read is never guessed: ``kept`` is then None. What
comes back is the builder's word, which proves nothing by itself; but another service said that the thing was done, and
here the two must agree. A read may lag behind the chain: read again before a promise is called broken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from airlock_online.clients.builder import BuilderClient
from airlock_online.config import OnlineConfig
from airlock_online.journal.order_states import OrderEvent
from airlock_online.readback.positions import closed, increased, limit_updated, opened, pending, trigger
from airlock_online.readback.promises import ChainRead, Promise, Scene, promise_lines, unreadable, untold
from airlock_online.readback.referral_codes import accepted, adopted, registered, transferred
from airlock_online.readback.trade_tuple import whole
from airlock_shared.documents.requests import Request
from airlock_shared.text.safe import safe
from airlock_shared.units import span_text, utc_text

__all__ = ["Promise", "promise_lines", "read_back"]


def read_back(
    request: Request,
    events: Sequence[OrderEvent],
    builder: BuilderClient,
    config: OnlineConfig,
    now_ms: int,
    chain: ChainRead | None = None,
) -> list[Promise]:
    """Return what a request that succeeded had promised, and what is found; ``now_ms`` is our clock, unix ms.

    ``chain`` reads a referral code by the operator's node, None without one.

    Reads alone, and raises nothing for what a service answers. The caller has checked the request.
    """
    judge = _JUDGES.get(request.action, _nothing_reads)
    return judge(Scene(request, events, builder, config, now_ms, chain))


def _delegate(scene: Scene) -> list[Promise]:
    """Promise that the delegate is enabled until the moment that was signed, may sign intents, and may send calls."""
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
    told = [_permission(what, label, read.get(name)) for label, name in _PERMISSIONS.items()]
    return [Promise(what, promised, found, kept), *told]


_PERMISSIONS = {"may sign intents": "canSignIntents", "may send calls": "canDelegatedAction"}


def _permission(what: str, promised: str, may: object) -> Promise:
    if type(may) is not bool:
        return Promise(what, promised, "not told", None)
    return Promise(what, promised, "it may" if may else "it may not", may)


def _delegate_removed(scene: Scene) -> list[Promise]:
    """Promise that a delegate that was removed is not enabled, and that no permission of it is told to be left."""
    asked = scene.request.fields
    what = f"delegate {safe(asked['delegate'])} of {safe(asked['trader'])}"
    read = _delegation(scene)
    enabled = read.get("isEnabled") if type(read) is dict else None
    if type(read) is not dict or type(enabled) is not bool:
        return [unreadable(what, "not enabled", read)]
    left = [label for label, name in _PERMISSIONS.items() if read.get(name) is True]
    found = "enabled" if enabled else f"not enabled, but it {' and '.join(left)}" if left else "not enabled"
    return [Promise(what, "not enabled", found, not enabled and not left)]


def _delegation(scene: Scene) -> object:
    asked = scene.request.fields
    return scene.ask(scene.config.reads.delegation, {"trader": asked["trader"], "delegate": asked["delegate"]})


def _moment(unix_s: int | None, now_ms: int) -> str:
    if unix_s is None:
        return "a moment that is not told"
    span = span_text(abs(unix_s - now_ms // 1000))
    return f"{utc_text(unix_s * 1000)} ({'in ' + span if unix_s * 1000 > now_ms else span + ' ago'}; raw {unix_s})"


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
    "referral-set-code": partial(adopted, account="referee"),
    "referral-register": registered, "referral-transfer": transferred, "referral-accept": accepted,
    "referral-set-code-tx": partial(adopted, account="caller"),
    "token-approve": _approved, "limit-update": limit_updated,
    "position-increase": pending, "position-increase-coin": pending, "trade-open": pending, "trade-close": pending,
}  # fmt: skip
"""By action; what is not here has nothing that can be read back."""
