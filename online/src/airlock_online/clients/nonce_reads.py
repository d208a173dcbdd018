"""Whether an intent's nonce is used, by the builder's read: its word, which must name the nonce that was asked for.

Source: the specification, "Common request-field conventions", row ``nonce``; the reply's shape is that of comparable venues.
"""

from __future__ import annotations

from collections.abc import Mapping

from airlock_online.clients.echo import named
from airlock_online.clients.http_messages import value_at
from airlock_online.speech.sections import REPLIES

_NONCE = REPLIES["nonce"]


def question_of(account: str, nonce: str, space: str) -> dict[str, str]:
    """Return the members of a nonce read; the trading contract's space is what a venue reads when none is named."""
    return {"trader": account, "check": nonce} | _beside_trading(space)


def to_name(nonce: str, space: str) -> dict[str, str]:
    """Return what a reply must name: the nonce and, of another contract than the trading one, the space."""
    return {"nonce": nonce} | _beside_trading(space)


def _beside_trading(space: str) -> dict[str, str]:
    return {"space": space} if space == "referral" else {}


def used_in(
    reply: object,
    account: str,
    nonce: str,
    space: str,
    places: Mapping[str, str] = _NONCE,
) -> bool | None:
    """Return what a reply says of the very nonce that was asked for, else None.

    It must name what :func:`to_name` says: a venue that knows no spaces answers for the trading contract. The account is
    compared where it is named. What ships is read beside the venue's own places; where two of them contradict each other,
    nothing is told.
    """
    beside = (named(reply, trader=account), named(reply, space=space))
    if named(reply, **to_name(nonce, space)) is not True or False in beside:
        return None
    return flag_told(reply, places)


def flag_told(reply: object, places: Mapping[str, str]) -> bool | None:
    """Return whether a reply says that its nonce is used; None when it does not say, or contradicts itself."""
    place = places["used"].removeprefix("not ")
    said = value_at(reply, place)
    told = [not said if type(said) is bool and place != places["used"] else said, value_at(reply, _NONCE["used"])]
    flags = [flag for flag in (True, False) if any(each is flag for each in told)]
    return flags[0] if len(flags) == 1 else None
