"""After the outcome: what was promised, read back from the venue, beside what is found there.

The reads' shapes are not in the specification, so a value that cannot be read is never guessed: ``kept`` is then None. What
comes back is the builder's word, which proves nothing by itself; but another service said that the thing was done, and
here the two must agree. A read may lag behind the chain: read again before an expectation is called broken.
"""

from __future__ import annotations

from airlock_online.clients.reply_values import hashes_named, value_at, whole
from airlock_online.delivery.routes.posting import signs_of_failure
from airlock_online.readback import delegates, positions, referral_codes
from airlock_online.readback.expectations import (
    BY_THE_CHAIN,
    Expectation,
    ReadBack,
    ReadReply,
    Scene,
    not_known,
)
from airlock_shared.errors import ServiceError
from airlock_shared.text.safe import safe
from airlock_shared.units import UNLIMITED, USDC, to_human, to_raw


def read_back(scene: Scene) -> list[Expectation]:
    """Return what a request that succeeded had promised, and what is found.

    Reads alone, and raises nothing for what a service answers. The caller has checked the request.
    """
    return _BY_ACTION.get(scene.request.action, _nothing_reads)(scene)


def _twap_cancelled(scene: Scene) -> list[Expectation]:
    """Expect that the services tell of the order that was signed for, and of the transaction that cancelled it."""
    wanted, event = whole(scene.request.fields["twapId"]), scene.last("TwapCancelled")
    what, promised = f"TWAP order {wanted}", "cancelled"
    told = whole(event.get("twapId"))
    if told not in (None, wanted):
        return [Expectation(what, promised, f"the service reports TWAP order {told}", False)]
    if scene.twap_status is None:
        return [not_known(what, promised, "no service reports TWAP orders; read its transaction in a block explorer")]
    try:
        data, _, places, _ = scene.twap_status(str(wanted))
    except ServiceError as error:
        return [not_known(what, promised, error)]
    named, sign = value_at(data, places["id"]), signs_of_failure(data, places["transaction"])
    if named is not None and str(named) != str(wanted):
        return [not_known(what, promised, f"the reply is about the TWAP order {safe(str(named), limit=80)}")]
    shown = [str(each).lower() for each in hashes_named(data, places["transaction"])]
    ours = str(event.get("transactionHash", "")).lower()
    if sign or not shown or {*shown} != {ours}:
        why = f"its member {sign[0]} speaks of a failure" if sign else f"transaction {', '.join(shown) or 'none'}"
        return [not_known(what, promised, f"the service's read of it tells: {safe(why, limit=200)}")]
    found = f"cancelled, by transaction {safe(ours)}"
    return [ReadReply(data, named is not None).expect(what, promised, (found, True))]


def _approved(scene: Scene) -> list[Expectation]:
    """Expect an allowance, which is in the chain and in no read of the builder; what was taken since is not in it."""
    asked = scene.request.fields
    amount = f"{safe(asked['amountUsdc'])} USDC" if "amountUsdc" in asked else "everything, unlimited"
    what = f"what {safe(asked['spender'])} may take" if "spender" in asked else "what the trading storage may take"
    if scene.node is None or "spender" not in asked:
        return [
            not_known(
                what,
                amount,
                "the builder does not report the allowance; a node of your own ([rpc] url) tells it, or a block explorer",
            )
        ]
    what += BY_THE_CHAIN
    found = delegates.allowance_on_chain(scene.node, scene.deployment, asked["trader"], asked["spender"])
    wanted = to_raw(asked["amountUsdc"], USDC) if "amountUsdc" in asked else UNLIMITED
    if found is None:
        return [not_known(what, amount, "the token does not tell it")]
    shown = "everything, unlimited" if found == UNLIMITED else f"{to_human(found, USDC)} USDC"
    if found < wanted:
        return [not_known(what, amount, f"{shown}; some may be taken already")]
    return [Expectation(what, amount, shown, found == wanted)]


def _nothing_reads(scene: Scene) -> list[Expectation]:
    return [not_known(safe(scene.request.action), "done", "the builder does not report it")]


_OTHERS: ReadBack = {"twap-cancel": _twap_cancelled, "token-approve": _approved}
_BY_ACTION: ReadBack = delegates.DELEGATE_READS | positions.POSITION_READS | referral_codes.REFERRAL_READS | _OTHERS
"""What is not here has nothing that can be read back."""
