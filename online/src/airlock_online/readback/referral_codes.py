"""Expectations about referral codes: who has adopted one, who owns it, to whom it is offered.

The builder's word first, and where a node is configured the chain's beside it, each an expectation of its own.
"""

from __future__ import annotations

from functools import partial

from airlock_online.readback.expectations import Expectation, ReadBack, Scene, unreadable
from airlock_online.readback.referral_lookup import NOBODY, ReferralFacts, about_code, code_in, shown, told_owners
from airlock_shared.catalogue.referral_code import code_bytes, code_letters, code_text
from airlock_shared.text.confusables import code_points
from airlock_shared.text.safe import safe

_BY_THE_CHAIN = ", by the chain"


def adopted(scene: Scene, *, account: str) -> list[Expectation]:
    """Expect that the account of this field has adopted the code."""
    trader, wanted = scene.request.fields[account], code_bytes(scene.request.fields["code"])
    what, promised = f"referral code of {safe(trader)}", _code(wanted)
    read = scene.ask_about("referral", {"trader": trader})
    expectations = [] if code_in(read) is not None else [unreadable(what, promised, read)]
    for source, found in (("", code_in(read)), (_BY_THE_CHAIN, _chain(scene, wanted, trader).adopted)):
        if found is not None:
            told = _code(found) if any(found) else "no code"
            expectations.append(Expectation(what + source, promised, told, found == wanted))
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


def _owners(scene: Scene, code: bytes, *, owner: str, pending: str | None = None) -> list[Expectation]:
    """Expect a code's owner and, unless it is None, its pending owner (empty for nobody)."""
    name = f"the code {safe(code_text(code))} ({code_points(code_letters(code))})"
    wanted = [("owner", owner)] + ([("pending owner", pending)] if pending is not None else [])
    read = about_code(scene.builder.read_or_error("referral", {"code": code_text(code)}), code)
    seen = _chain(scene, code, "")
    expectations = []
    for source, told in (("", told_owners(read)), (_BY_THE_CHAIN, (seen.owner, seen.pending))):
        for (label, promised), found in zip(wanted, told, strict=False):
            what, wished = f"{label} of {name}{source}", shown(safe(promised))
            if found is not None:
                same = found.lower() == promised.lower()
                expectations.append(Expectation(what, wished, shown(found), same))
            elif not source:
                expectations.append(unreadable(what, wished, read))
    return expectations


def _chain(scene: Scene, code: bytes, trader: str) -> ReferralFacts:
    """Return what the chain tells: nothing without a node, nor of a venue whose contract has no such views."""
    return scene.chain(code, trader) if scene.chain else ReferralFacts("no node")


def _code(value: bytes) -> str:
    return f"{safe(code_text(value))} ({code_points(code_letters(value))}; raw 0x{value.hex()})"


READ_BACK: ReadBack = {
    "referral-set-code": partial(adopted, account="referee"),
    "referral-set-code-tx": partial(adopted, account="caller"),
    "referral-register": registered, "referral-transfer": transferred, "referral-accept": accepted,
}  # fmt: skip
"""By action."""
