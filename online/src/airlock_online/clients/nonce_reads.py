"""Whether an intent's nonce is used, by the builder's read: its word, which must name the nonce that was asked for.

Source: the specification, "Common request-field conventions", row ``nonce``; the reply's shape is that of comparable venues.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from airlock_online.clients.builder import builder_of
from airlock_online.clients.echo import named
from airlock_online.clients.reply_values import value_at
from airlock_online.config import OnlineConfig
from airlock_online.speech.sections import NonceReply
from airlock_shared.documents.deployment import Deployment
from airlock_shared.ethereum.addresses import checksum_address

if TYPE_CHECKING:
    from airlock_online.clients.http import Http

NonceRead = Callable[[int | None, str, str, int], bool | None]
"""``(chain_id, contract, account, nonce)`` to whether the nonce is used; None when that cannot be told.

``chain_id`` is None when nobody wrote it down, as in a row of an earlier journal.
"""

REFERRAL = "referral"
_USED = NonceReply().used


def question_of(account: str, nonce: str, space: str) -> dict[str, str]:
    """Return the members of a nonce read; the trading contract's space is what a venue reads when none is named."""
    return {"trader": account, "check": nonce} | ({"space": space} if space == REFERRAL else {})


def used_in(
    reply: object,
    account: str,
    nonce: str,
    space: str,
    places: NonceReply = NonceReply(),  # noqa: B008 (frozen)
) -> bool | None:
    """Return what a reply says of the very nonce that was asked for, else None.

    It must name the nonce and, of another contract than the trading one, the space: a venue that knows no spaces answers for
    the trading contract. The account is compared where it is named. What ships is read beside the venue's own places; where
    two of them contradict each other, nothing is told.
    """
    wanted = {"nonce": nonce} | ({"space": space} if space == REFERRAL else {})
    if named(reply, **wanted) is not True or False in (named(reply, trader=account), named(reply, space=space)):
        return None
    return flag_told(reply, places)


def flag_told(reply: object, places: NonceReply) -> bool | None:
    """Return whether a reply says that its nonce is used; None when it does not say, or contradicts itself."""
    told = [value_at(reply, places.used), value_at(reply, _USED)]
    free = value_at(reply, places.available) if places.available else None
    told += [not free] if type(free) is bool else []
    flags = [flag for flag in (True, False) if any(each is flag for each in told)]
    return flags[0] if len(flags) == 1 else None


def nonce_reader(deployments: Iterable[Deployment], http: Http, config: OnlineConfig) -> NonceRead:
    """Return a reader over the builders of these deployments, found by chain and by the contract that has the nonces.

    Without a chain, two deployments of the same contract on different chains are not told apart, and nothing is told.
    """
    known = [
        (deployment, space, checksum_address(domain.contract).lower())
        for deployment in deployments
        for space, domain in deployment.domains.items()
    ]

    def used(chain_id: int | None, contract: str, account: str, nonce: int) -> bool | None:
        ours = [(d, space) for d, space, where in known if where == contract.lower() and chain_id in (None, d.chain_id)]
        if len({deployment.chain_id for deployment, _ in ours}) != 1:
            return None
        deployment, space = ours[0]
        fields = question_of(account, str(nonce), space)
        builder = builder_of(deployment, http, config)
        read = builder.read(config.reads.nonce, fields)
        return used_in(read, account, str(nonce), space, config.nonce_reply)

    return used
