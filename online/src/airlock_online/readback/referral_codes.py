"""Expectations about referral codes: who has adopted one, who owns it, to whom it is offered.

The builder's word first, and where a node is configured the chain's beside it, each an expectation of its own.
"""

from __future__ import annotations

from functools import partial
from typing import TypeVar

from airlock_online.readback.expectations import BY_THE_CHAIN, Expectation, Read, ReadBack, Scene, unreadable
from airlock_online.readback.referral_lookup import NOBODY, ReferralFacts, about_code, code_in, shown, told_owners
from airlock_shared.catalogue.referral_code import code_bytes, code_letters, code_text
from airlock_shared.text.confusables import code_points
from airlock_shared.text.safe import safe


def adopted(scene: Scene, *, account: str) -> list[Expectation]:
    """Expect that the account of this field has adopted the code."""
    trader, wanted = scene.request.fields[account], code_bytes(scene.request.fields["code"])
    read, chain = scene.ask_about("referral", {"trader": trader}), _chain(scene, wanted, trader)
    what = f"referral code of {safe(trader)}"
    by_builder, by_chain = _by_both(what, wanted, read, code_in(read.data), chain.adopted)
    return by_builder + by_chain


def registered(scene: Scene) -> list[Expectation]:
    """Expect that who registered the code owns it; what was signed is in the message, whatever the fields' names."""
    return _owners(scene, code_bytes(scene.signed("code")), owner=scene.signed("referrer"))


def transferred(scene: Scene) -> list[Expectation]:
    """Expect that the new owner is nominated, and that the code is the caller's until it is accepted."""
    asked = scene.request.fields
    return _owners(scene, code_bytes(asked["code"]), owner=asked["caller"], pending=asked["newOwner"])


def accepted(scene: Scene) -> list[Expectation]:
    """Expect that the caller owns the code, and that nobody is nominated any more."""
    asked = scene.request.fields
    return _owners(scene, code_bytes(asked["code"]), owner=asked["caller"], pending=NOBODY)


def _owners(scene: Scene, code: bytes, *, owner: str, pending: str | None = None) -> list[Expectation]:
    """Expect a code's owner and, unless it is None, its pending owner (empty for nobody)."""
    name = f"the code {safe(code_text(code))} ({code_points(code_letters(code))})"
    told = scene.builder.read_or_error("referral", {"code": code_text(code)})
    read, chain = Read(about_code(told, code), code_in(told) == code), _chain(scene, code, "")
    at_builder = told_owners(read.data)
    rows = [_by_both(f"owner of {name}", owner, read, at_builder[0], chain.owner)]
    if pending is not None:
        rows.append(_by_both(f"pending owner of {name}", pending, read, at_builder[1], chain.pending))
    return [each for source in zip(*rows, strict=True) for row in source for each in row]


Told = TypeVar("Told", str, bytes)


def _by_both(
    what: str, wanted: Told, read: Read, by_builder: Told | None, by_chain: Told | None
) -> tuple[list[Expectation], list[Expectation]]:
    """Return what is expected, by the builder's read and by the chain: of an address, empty for nobody, or of a code."""

    def judged(source: str, found: Told | None) -> list[Expectation]:
        if found is None:
            return []
        same = found == wanted if isinstance(found, bytes) else found.lower() == wanted.lower()
        return [Expectation(what + source, _text(wanted), _text(found), same)]

    unread = [unreadable(what, _text(wanted), read.data)]
    return read.judged(judged("", by_builder)) or unread, judged(BY_THE_CHAIN, by_chain)


def _chain(scene: Scene, code: bytes, trader: str) -> ReferralFacts:
    """Return what the chain tells: nothing without a node, nor of a venue whose contract has no such views."""
    return scene.chain(code, trader) if scene.chain else ReferralFacts("no node")


def _text(value: str | bytes) -> str:
    if isinstance(value, str):
        return shown(safe(value))
    points = code_points(code_letters(value))
    return f"{safe(code_text(value))} ({points}; raw 0x{value.hex()})" if any(value) else "no code"


READ_BACK: ReadBack = {
    "referral-set-code": partial(adopted, account="referee"),
    "referral-set-code-tx": partial(adopted, account="caller"),
    "referral-register": registered, "referral-transfer": transferred, "referral-accept": accepted,
}  # fmt: skip
"""By action."""
