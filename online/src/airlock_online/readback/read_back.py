"""After the outcome: what was promised, read back from the venue, beside what is found there.

The reads' shapes are not in the specification, so a value that cannot be read is never guessed: ``kept`` is then None. What
comes back is the builder's word, which proves nothing by itself; but another service said that the thing was done, and
here the two must agree. A read may lag behind the chain: read again before an expectation is called broken.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from airlock_online.clients.connection import is_hash
from airlock_online.clients.reply_values import hashes_named, value_at, whole
from airlock_online.clients.rpc import RpcClient
from airlock_online.delivery.chain_evidence import nonce_used_in, require_recorded_chain
from airlock_online.delivery.event_lines import is_end
from airlock_online.delivery.routes.posting import signs_of_failure
from airlock_online.journal.order_states import OrderEvent
from airlock_online.journal.schema import Submission
from airlock_online.readback import delegates, positions, referral_codes
from airlock_online.readback.expectations import (
    BY_THE_CHAIN,
    GONE,
    Expectation,
    ReadBack,
    ReadReply,
    Scene,
    not_known,
)
from airlock_online.readback.positions import TWO_CLOCKS_MS
from airlock_online.speech.sections import OF_TRANSACTIONS
from airlock_shared.documents.transcript import Entry
from airlock_shared.errors import AirlockError, ExecutionFailed, OutcomeUnknown, ServiceError
from airlock_shared.text.safe import safe
from airlock_shared.units import UNLIMITED, USDC, to_human, to_raw, utc_text
from airlock_shared.venue.structs import CORE_API


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
    if sign or {*shown} != {ours}:
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


# ---- what is made of it ---------------------------------------------------------------------------------------------
# Whether what was read back contradicts the outcome, beside what was read before and what the operator's node has.


_NONCE = "its nonce" + BY_THE_CHAIN


def read_back_error(expectations: Iterable[Expectation]) -> AirlockError | None:
    """Return the error of what was read back where it is not as promised, or where the operator's node is behind."""
    wrong = [each.what for each in expectations if each.kept is False]
    if wrong:
        return ExecutionFailed(
            f"it was reported as done, but the state read back is not the promised one: {', '.join(wrong)}",
            do="read the lines above; sign nothing else until the venue has explained this",
        )
    if any(each.what == _NONCE for each in expectations):
        return OutcomeUnknown(
            "it was reported as done, and your node does not have it yet",
            do="run airlock-online follow DIGEST when the node has caught up; it is never sent again",
        )
    return None


def excused(expectations: list[Expectation], digest: str, entries: Iterable[Entry]) -> list[Expectation]:
    """Return expectations, open where the transcript has what is broken now as kept: others may have changed it since.

    A position that was closed and is there again is no other one, and stays broken.
    """
    kept_ms: dict[str, int] = {}
    for entry in entries:
        if entry.event == "outcome" and entry.data.get("digest") == digest:
            read = entry.data.get("read_back", [])
            open_or_gone = {each["what"] for each in read if not each["kept"] or each["found"].startswith(GONE)}
            kept_ms |= {each["what"]: entry.at_ms for each in read if each["what"] not in open_or_gone}
    return [
        not_known(each.what, each.promised, f"{each.found}; it was as promised at {utc_text(kept_ms[each.what])}")
        if each.kept is False and each.what in kept_ms
        else each
        for each in expectations
    ]


def nonce_unused(known: Submission, events: Iterable[OrderEvent], node: RpcClient | None) -> list[Expectation]:
    """Return an expectation where the operator's node has the nonce of an intent that was executed as unused.

    It is broken in a block that is surely later, or has the transaction that is told as the end; else the node may lag.
    """
    record = known.record
    if node is None or record.route in (*OF_TRANSACTIONS, CORE_API):
        return []
    with suppress(ServiceError):
        require_recorded_chain(node, record)
        block = node.block("latest")
        if block is None or nonce_used_in(node, record, block.number) is not False:
            return []
        told = [event.payload.get("transactionHash") for event in events if is_end(event, record.route)]
        receipt = node.receipt(told[0]) if told and is_hash(told[0]) else None
        has_it = receipt is not None and receipt.ok and receipt.block_number <= block.number
        found, kept = "unused", False if has_it or block.time_ms > known.updated_ms + TWO_CLOCKS_MS else None
        if kept is None:
            found += f"; the node may be behind: its newest block is of {utc_text(block.time_ms)}"
        return [Expectation(_NONCE, "used by its execution", found, kept)]
    return []
