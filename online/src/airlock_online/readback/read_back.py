"""After the outcome: what was promised, read back from the venue, beside what is found there.

The reads' shapes are not in the specification, so a value that cannot be read is never guessed: ``kept`` is then None. What
comes back is the builder's word, which proves nothing by itself; but another service said that the thing was done, and
here the two must agree. A read may lag behind the chain: read again before an expectation is called broken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from airlock_online.clients.builder import BuilderClient
from airlock_online.clients.reply_values import whole
from airlock_online.config import OnlineConfig
from airlock_online.journal.order_states import OrderEvent
from airlock_online.readback import delegates, positions, referral_codes
from airlock_online.readback.delegates import DelegationRead
from airlock_online.readback.expectations import ChainRead, Expectation, ReadBack, Scene, untold
from airlock_shared.documents.requests import Request
from airlock_shared.text.safe import safe
from airlock_shared.venue.structs import CATALOGUE, Intent


def read_back(
    request: Request,
    events: Sequence[OrderEvent],
    builder: BuilderClient,
    config: OnlineConfig,
    now_ms: int,
    chain: ChainRead | None = None,
    structs: Mapping[str, Intent] = CATALOGUE,
    delegation_on_chain: DelegationRead | None = None,
) -> list[Expectation]:
    """Return what a request that succeeded had promised, and what is found; ``now_ms`` is our clock, unix ms.

    ``chain`` reads a referral code by the operator's node, and ``delegation_on_chain`` a delegate; None without a node.
    ``structs`` are the venue's.

    Reads alone, and raises nothing for what a service answers. The caller has checked the request.
    """
    judge = _BY_ACTION.get(request.action, _nothing_reads)
    return judge(Scene(request, events, builder, config, now_ms, chain, structs, delegation_on_chain))


def _twap_cancelled(scene: Scene) -> list[Expectation]:
    """Expect what no read tells; but the service's own answer must be about the order that was signed for."""
    wanted, event = whole(scene.request.fields["twapId"]), scene.last("TwapCancelled")
    what, promised = f"TWAP order {wanted}", "cancelled"
    told = whole(event.payload.get("twapId")) if event else None
    if told is not None and told != wanted:
        return [Expectation(what, promised, f"the service reports TWAP order {told}", False)]
    return [untold(what, promised, "no service reports TWAP orders; read its transaction in a block explorer")]


def _approved(scene: Scene) -> list[Expectation]:
    """Expect an allowance, which is in the chain and in no read of the builder."""
    asked = scene.request.fields
    amount = f"{safe(asked['amountUsdc'])} USDC" if "amountUsdc" in asked else "everything, unlimited"
    what = f"what {safe(asked['spender'])} may take" if "spender" in asked else "what the trading storage may take"
    return [untold(what, amount, "the builder does not report the allowance; read it in a block explorer")]


def _nothing_reads(scene: Scene) -> list[Expectation]:
    return [untold(safe(scene.request.action), "done", "the builder does not report it")]


_OTHERS: ReadBack = {"twap-cancel": _twap_cancelled, "token-approve": _approved}
_BY_ACTION: ReadBack = delegates.DELEGATE_READS | positions.POSITION_READS | referral_codes.REFERRAL_READS | _OTHERS
"""What is not here has nothing that can be read back."""
