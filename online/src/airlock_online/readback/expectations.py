"""An expectation and what was found: one thing that a signature was to bring about, for people and for the transcript."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from airlock_online.clients.builder_reads import entries
from airlock_online.clients.reply_values import reply_names, value_at, whole
from airlock_online.journal.order_states import OrderEvent
from airlock_shared.cli.terminal import rows
from airlock_shared.documents.requests import Request
from airlock_shared.errors import ServiceError
from airlock_shared.units import PRICE, USDC, Unit, looks_like_seconds, to_human, utc_text
from airlock_shared.venue.structs import value_of
from airlock_shared.wire.strict_json import JsonObject

if TYPE_CHECKING:
    from airlock_online.clients.builder import BuilderClient
    from airlock_online.clients.rpc import RpcClient
    from airlock_online.config import OnlineConfig
    from airlock_online.delivery.routes.posting import StatusRead
    from airlock_shared.documents.deployment import Deployment


class Expectation(NamedTuple):
    """One thing promised, and what was found in its place. ``kept`` is None when that could not be told.

    The texts hold nothing of a service that is not escaped already.
    """

    what: str
    promised: str
    found: str
    kept: bool | None


BY_THE_CHAIN = ", by the chain"
"""After what an expectation is about, where the operator's node was asked, and not the builder."""

UNKNOWN_SHAPE = "the answer has an unknown shape"


JudgedRead = tuple[str, bool | None]
"""What was found, safe to show, and whether that is what was promised; None where it does not tell."""


class ReadReply(NamedTuple):
    """The data of a read, or the ``ServiceError`` in its place. ``names``: its reply names what was asked for."""

    data: Any
    names: bool

    @property
    def members(self) -> JsonObject:
        """The reply's members; none where it failed, or is no object."""
        return self.data if type(self.data) is dict else {}

    @property
    def trouble(self) -> str:
        """Why it tells nothing; empty where it may tell something."""
        if isinstance(self.data, ServiceError):
            return self.data.what
        return "" if type(self.data) is dict else UNKNOWN_SHAPE

    def expect(self, what: str, promised: str, found: JudgedRead | None) -> Expectation:
        """Return an expectation, judged by this read; of one that names nothing it is told, and stays open.

        ``found`` is None where the read has failed, or does not tell it in a shape that is known.
        """
        if found is None:
            return not_known(what, promised, self.data if isinstance(self.data, ServiceError) else UNKNOWN_SHAPE)
        if not self.names:
            return not_known(what, promised, f"by the service's word, which names nothing: {found[0]}")
        return Expectation(what, promised, *found)


class Scene(NamedTuple):
    """What an expectation is judged by: the request, what the services told of it, and builder and node to read from.

    ``now_ms`` is our clock, unix ms. ``node`` is the operator's, None without one. ``twap_status`` reads a TWAP where the
    venue has such a read. ``of_others`` gives the events of the trader's other orders in the journal. Before
    ``prepared_ms``, unix ms, there was no signature. ``nonce_used`` reads whether its nonce is used, None when that cannot
    be told.
    """

    request: Request
    events: Sequence[OrderEvent]
    builder: BuilderClient
    config: OnlineConfig
    now_ms: int
    deployment: Deployment
    node: RpcClient | None = None
    twap_status: Callable[[str], StatusRead] | None = None
    of_others: Callable[[], Iterable[OrderEvent]] = tuple
    prepared_ms: int = 0
    nonce_used: Callable[[], bool | None] = lambda: None

    def signed(self, kind: str) -> Any:
        """Return what was signed as the leaf of this kind, as the payload has it; None where there is none."""
        payload = self.request.payload
        return value_of(self.deployment.structs[payload["primaryType"]].fields, payload["message"], kind)

    def last(self, kind: str) -> Mapping[str, Any]:
        """Return what the last event of a type tells; nothing where there is none."""
        return next((event.payload for event in reversed(self.events) if event.type == kind), {})


def read_of(data: Any, names: bool | None, asked: str) -> ReadReply:
    """Return a read whose reply names what was ``asked``; one that names something else is the ``ServiceError`` of it."""
    if names is False:
        return ReadReply(ServiceError(f"the reply is not about the {asked} that was asked for"), names=False)
    return ReadReply(data, names is True)


ReadBack = dict[str, Callable[[Scene], list[Expectation]]]
"""What reads back, by the action that it is about: each module of this package has the table of its own actions."""


def not_known(what: str, promised: str, why: object) -> Expectation:
    """Return an expectation of which nothing is known; ``why`` is a reason, or the error of the read."""
    found = f"cannot be read: {why.what}" if isinstance(why, ServiceError) else str(why)
    return Expectation(what, promised, found, None)


def expectation_lines(expectations: Iterable[Expectation]) -> list[str]:
    """Return expectations against what was found, in lines of 80 columns."""
    return [line for each in expectations for line in (*rows("    read back: ", each.what), *_compared(each))]


def kept_lines(expectations: Iterable[Expectation]) -> list[str]:
    """Return the same for who agrees to it: each thing once, and what was found as promised on one line."""
    lines: list[str] = []
    for what, about in groupby(expectations, lambda each: each.what):
        lines += rows("    read back: ", what)
        for each in about:
            alike = each.kept and each.found == each.promised
            lines += rows("      as promised  ", each.found) if alike else _compared(each)
    return lines


def _compared(expectation: Expectation) -> Iterator[str]:
    verdict = {True: "yes", False: "NO: this is not what was promised", None: "not known"}[expectation.kept]
    yield from rows("      promised  ", expectation.promised)
    yield from rows("      found     ", expectation.found)
    yield f"      kept      {verdict}"


# ---- trade tuple ----------------------------------------------------------------------------------------------------
# A position as the positions read and the events hold it: the stored Trade tuple, of which only some members are sure.
# The specification names ``trades[].trade.index`` and ``.timestamp`` and shows the tuple in "Events"; the rest of the
# read is not shown. So nothing here fails: what cannot be read is None, and what is made of None is never a claim.


class Trade(NamedTuple):
    """A position: pair, slot, and what is known of the rest, in raw units; ``opened`` is a unix time in the venue's unit."""

    pair: int
    slot: int
    collateral: int | None
    open_price: int | None
    buy: bool | None
    opened: int | None
    take_profit: int | None
    stop_loss: int | None


def read_trade(value: object) -> Trade | None:
    """Return the trade of a Trade tuple, or None when it does not even say which position it is."""
    names = ("pairIndex", "index", "initialPosToken", "openPrice", "timestamp", "tp", "sl")
    pair, slot, collateral, price, *rest = (whole(value_at(value, name)) for name in names)
    if pair is None or slot is None:
        return None
    buy = value_at(value, "buy")
    return Trade(pair, slot, collateral, price, buy if type(buy) is bool else None, *rest)


def trades_in(read: Any) -> list[Trade] | None:
    """Return the positions of a positions read; None when it is not a list of trades, so that absence proves nothing."""
    told = entries(read, "trades")
    known = [trade for entry in told or () if (trade := read_trade(value_at(entry, "trade"))) is not None]
    return None if told is None or len(known) < len(told) else known


def same_moment(one: int, other: int) -> bool:
    """Tell whether two unix times are one: a venue may sign milliseconds, and tell seconds in a read or an event."""
    return one == other or (
        looks_like_seconds(one) != looks_like_seconds(other) and moment_ms(one) // 1000 == moment_ms(other) // 1000
    )


def moment_ms(time: int) -> int:
    """Return a unix time in ms; whether a venue tells seconds or milliseconds shows by the magnitude."""
    return time * 1000 if looks_like_seconds(time) else time


def moment_text(time: int) -> str:
    """Return a unix time for a person."""
    return utc_text(moment_ms(time))


def held_in(read: object) -> Iterator[object]:
    """Yield the positions and the waiting orders of a positions read, as they came."""
    for kind in ("trade", "order"):
        yield from (value_at(entry, kind) for entry in entries(read, f"{kind}s") or ())


def is_about(read: object, trader: str) -> bool | None:
    """Tell whether a positions read names the trader that was asked for: itself, or by each of its entries.

    False when it names another one, None when it leaves one out.
    """
    itself, *whose = (reply_names(each, trader=trader) for each in (read, *held_in(read)))
    if False in (itself, *whose):
        return False
    return True if itself or (whose and None not in whose) else None


def waiting_order(read: Any, pair: int | None, slot: int | None) -> JsonObject | None:
    """Return the limit order in this slot of the pair: empty when none waits there, None when the read is no list."""
    told = entries(read, "orders")
    for order in [value_at(entry, "order") for entry in told or ()]:
        if type(order) is dict and (whole(order.get("pairIndex")), whole(order.get("index"))) == (pair, slot):
            return order
    return None if told is None else {}


def amount_text(raw: int | None, unit: Unit) -> str:
    """Return an amount for a person, human and raw."""
    return "an unknown amount" if raw is None else f"{to_human(raw, unit)} {unit.name} (raw {raw})"


GONE = "no such position in this slot"


def trade_text(trade: Trade | None) -> str:
    """Return a position for a person; of None, that it is not there."""
    if trade is None:
        return GONE
    side = {True: "long", False: "short", None: "of an unknown side"}[trade.buy]
    text = f"{side}, collateral {amount_text(trade.collateral, USDC)}"
    if trade.open_price is not None:
        text += f", open price {amount_text(trade.open_price, PRICE)}"
    return text if trade.opened is None else f"{text}, opened {moment_text(trade.opened)}"
