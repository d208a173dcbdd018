"""Expectations about referral codes: who has adopted one, who owns it, to whom it is offered.

The builder's word first, and where a node is configured the chain's beside it, each an expectation of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from airlock_online.readback.expectations import Expectation, ReadBack, Scene, unreadable
from airlock_online.readback.referral_lookup import NOBODY, ReferralFacts, about_code, code_in, shown, told_owners
from airlock_shared.catalogue.referral_code import code_bytes, code_letters, code_text
from airlock_shared.text.confusables import code_points
from airlock_shared.text.safe import safe


def adopted(scene: Scene, *, account: str) -> list[Expectation]:
    """Expect that the account of this field has adopted the code."""
    trader, wanted = scene.request.fields[account], code_bytes(scene.request.fields["code"])
    what, promised = f"referral code of {safe(trader)}", _code(wanted)
    read = scene.ask_about(scene.config.reads.referral, {"trader": trader})
    found = code_in(read)
    expectations = [unreadable(what, promised, read) if found is None else _adopted(what, wanted, found)]
    for seen in _chain(scene, wanted, trader):
        if seen.adopted is not None:
            expectations.append(_adopted(f"{what}, by the chain", wanted, seen.adopted))
    return expectations


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


def _adopted(what: str, wanted: bytes, found: bytes) -> Expectation:
    return Expectation(what, _code(wanted), _code(found) if any(found) else "no code", found == wanted)


def _owners(scene: Scene, code: bytes, *, owner: str, pending: str | None = None) -> list[Expectation]:
    """Expect a code's owner and, unless it is None, its pending owner (empty for nobody)."""
    name = f"the code {safe(code_text(code))} ({code_points(code_letters(code))})"
    wanted = [("owner", owner)] + ([("pending owner", pending)] if pending is not None else [])
    read = about_code(scene.builder.read_or_error(scene.config.reads.referral, {"code": code_text(code)}), code)
    expectations = []
    for (label, promised), found in zip(wanted, told_owners(read), strict=False):
        what = f"{label} of {name}"
        told = unreadable(what, shown(safe(promised)), read) if found is None else _owner(what, promised, found)
        expectations.append(told)
    for seen in _chain(scene, code, ""):
        for (label, promised), found in zip(wanted, (seen.owner, seen.pending), strict=False):
            if found is not None:
                expectations.append(_owner(f"{label} of {name}, by the chain", promised, found))
    return expectations


def _owner(what: str, promised: str, found: str) -> Expectation:
    same = found.lower() == promised.lower()
    return Expectation(what, shown(safe(promised)), shown(found), same)


def _chain(scene: Scene, code: bytes, trader: str) -> Iterator[ReferralFacts]:
    """Yield what the chain tells, nothing without a node. A venue whose contract has no such views tells nothing."""
    if scene.chain is not None:
        yield scene.chain(code, trader)


def _code(value: bytes) -> str:
    return f"{safe(code_text(value))} ({code_points(code_letters(value))}; raw 0x{value.hex()})"


READ_BACK: ReadBack = {
    "referral-set-code": partial(adopted, account="referee"),
    "referral-set-code-tx": partial(adopted, account="caller"),
    "referral-register": registered, "referral-transfer": transferred, "referral-accept": accepted,
}  # fmt: skip
"""By action."""
