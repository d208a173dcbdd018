"""Expectations about referral codes: who has adopted one, who owns it, to whom it is offered.

The builder's word first, and where a node is configured the chain's beside it, each an expectation of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from airlock_online.clients.builder import BuilderClient
from airlock_online.clients.http import Http
from airlock_online.clients.reply_values import reply_names
from airlock_online.clients.rpc import ContractViews, RpcClient
from airlock_online.config import OnlineConfig, ReferralViews
from airlock_online.readback.expectations import (
    BY_THE_CHAIN,
    Expectation,
    JudgedRead,
    ReadBack,
    ReadReply,
    Scene,
    read_of,
)
from airlock_shared.cli.terminal import rows
from airlock_shared.documents.deployment import Deployment
from airlock_shared.errors import Refusal, ServiceError
from airlock_shared.ethereum.signatures import checksum_address, parse_address
from airlock_shared.text.safe import code_points, safe
from airlock_shared.units import code_bytes, code_letters, code_text

# ---- referral lookup ------------------------------------------------------------------------------------------------
# What is known of a referral code before it is signed for: from the builder's read, and from the contract by a node.
# Neither is believed over the other: both are told, and where they differ that is said. None of it decides anything
# that is signed. The read's shape is in no specification; the views' names are those of comparable venues, and are
# configuration.


NOBODY = ""
NO_CODE = bytes(32)
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}", re.ASCII)


class ReferralFacts(NamedTuple):
    """What one source tells of a code; None is "not told".

    ``owner`` and ``pending`` are EIP-55, or empty for nobody; ``adopted`` is the trader's 32 bytes, zero for no code;
    ``trouble`` says why something is not told, and is safe to show.
    """

    source: str
    owner: str | None = None
    pending: str | None = None
    private: bool | None = None
    adopted: bytes | None = None
    trouble: str = ""

    @property
    def exists(self) -> bool | None:
        """Whether somebody owns the code."""
        return None if self.owner is None else bool(self.owner)

    def as_json(self) -> dict[str, object]:
        """Return what was told; an adopted code as 0x-hex."""
        return self._asdict() | {"adopted": None if self.adopted is None else "0x" + self.adopted.hex()}


_LABELS = {"owner": "owner", "pending": "pending owner", "private": "private", "adopted": "adopted"}
"""What a source can tell, by the name that people read."""


# ---- the two sources -------------------------------------------------------------------------------------------------


def from_builder(builder: BuilderClient, code: bytes, trader: str = "") -> ReferralFacts:
    """Return what the builder's read tells of a code, and of a trader when one is given. Raises nothing for its answers."""
    of_code, of_trader = _of_code(builder, code), _of_trader(builder, trader) if trader else None
    private = of_code.members.get("isPrivate", of_code.members.get("private"))
    return ReferralFacts(
        "the builder",
        _address_read(of_code, "owner"),
        _address_read(of_code, "pendingOwner"),
        private if type(private) is bool else None,
        code_in(of_trader) if of_trader else None,
        "; ".join(dict.fromkeys(read.trouble for read in (of_code, of_trader) if read and read.trouble)),
    )


def from_chain(
    node: RpcClient, deployment: Deployment, views: ReferralViews, code: bytes, trader: str = ""
) -> ReferralFacts:
    """Return what the pinned Referral contract tells a node by its views. Raises nothing for what the node answers."""
    seen = ReferralFacts(f"the chain, by {node.name}")
    try:
        contract = ContractViews(node, deployment, deployment.domains["referral"].contract)
        return seen._replace(
            owner=_address_in(contract.word(views.owner, code)),
            pending=_address_in(contract.word(views.pending_owner, code)),
            private=_flag_in(contract.word(views.private, code)),
            adopted=contract.word(views.adopted, parse_address(trader)) if trader else None,
            trouble="; ".join(contract.troubles),
        )
    except ServiceError as error:
        return seen._replace(trouble=error.what)


def read_referral(
    builder: BuilderClient,
    deployment: Deployment,
    config: OnlineConfig,
    http: Http,
    code: bytes,
    trader: str,
) -> list[ReferralFacts]:
    """Return what the builder tells of a code and, when one is given, of a trader; then the chain, when there is a node."""
    seen = [from_builder(builder, code, trader)]
    if config.rpc.url:
        seen.append(from_chain(RpcClient(config.rpc.url, http), deployment, config.referral, code, trader))
    return seen


def code_in(read: ReadReply) -> bytes | None:
    """Return the 32 bytes of the code that a read gives as text or hex, all zero for none; None when it gives neither."""
    code = read.members.get("code")
    if type(code) is not str:
        return None
    try:
        return code_bytes(code) if code else NO_CODE
    except Refusal:
        return None


def _of_code(builder: BuilderClient, code: bytes) -> ReadReply:
    """Return the builder's read of a code."""
    data = builder.read_or_error("referral", {"code": code_text(code)})
    named = code_in(ReadReply(data, names=False))
    return read_of(data, None if named is None else named == code, f"code {safe(code_text(code))}")


def _of_trader(builder: BuilderClient, trader: str) -> ReadReply:
    """Return the builder's read of the code that a trader has adopted."""
    data = builder.read_or_error("referral", {"trader": trader})
    return read_of(data, reply_names(data, trader=trader), f"trader {trader}")


def _address_read(read: ReadReply, name: str) -> str | None:
    value = read.members.get(name, ...)
    if value is None or value == "":
        return NOBODY
    if type(value) is not str or not _ADDRESS.fullmatch(value):
        return None
    return _address_in(bytes.fromhex(value[2:]).rjust(32, b"\0"))


def _address_in(word: bytes | None) -> str | None:
    if word is None or any(word[:12]):
        return None
    return checksum_address(word[12:]) if any(word) else NOBODY


def _flag_in(word: bytes | None) -> bool | None:
    return {0: False, 1: True}.get(int.from_bytes(word, "big")) if word is not None else None


# ---- what follows ----------------------------------------------------------------------------------------------------


def disagreements(seen: Sequence[ReferralFacts]) -> list[str]:
    """Return a sentence for each thing that two sources tell differently."""
    found = []
    for name, label in _LABELS.items():
        told = [(one.source, getattr(one, name)) for one in seen if getattr(one, name) is not None]
        if len({value for _, value in told}) > 1:
            found.append(f"{label}: " + "; ".join(f"{source} says {shown_fact(value)}" for source, value in told))
    return found


def shown_fact(value: str | bool | bytes | None) -> str:
    """Return a told value for a person."""
    if value is None:
        return "not told"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, bytes):
        return f"{safe(code_text(value))} (raw 0x{value.hex()})" if any(value) else "no code"
    return value or "nobody"


def settled_facts(seen: Sequence[ReferralFacts]) -> ReferralFacts:
    """Return the sources as one: the chain's word where it gives one, else the builder's."""
    told = ReferralFacts("all")
    for one in seen:  # the builder first: what the chain tells takes its place
        told = told._replace(**{name: fact for name in _LABELS if (fact := getattr(one, name)) is not None})
    return told


def seen_lines(seen: Sequence[ReferralFacts], trader: str, margin: str) -> Iterator[str]:
    """Yield what each source tells, in lines of 80 columns; of the trader too when one is given."""
    for one in seen:
        yield f"{margin}{safe(one.source)} says"
        told = {"exists": one.exists, "owner": one.owner, "pending owner": one.pending, "private": one.private}
        for label, value in told.items():
            yield f"{margin}  {label:<14} {shown_fact(value)}"
        if trader:
            yield f"{margin}  adopted by     {trader}:"
            yield from rows(f"{margin}    ", shown_fact(one.adopted))
        if one.trouble:
            yield from rows(f"{margin}  not told: ", one.trouble)


# ---- referral codes -------------------------------------------------------------------------------------------------


def adopted(scene: Scene, *, account: str) -> list[Expectation]:
    """Expect that the account of this field has adopted the code."""
    trader, wanted = scene.request.fields[account], code_bytes(scene.request.fields["code"])
    read, chain = _of_trader(scene.builder, trader), _chain(scene, wanted, trader)
    return _by_both(f"referral code of {safe(trader)}", wanted, read, code_in(read), chain.adopted)


def _registered(scene: Scene) -> list[Expectation]:
    """Expect that who registered the code owns it; what was signed is in the message, whatever the fields' names."""
    return _owners(scene, code_bytes(scene.signed("code")), owner=scene.signed("referrer"))


def transferred(scene: Scene) -> list[Expectation]:
    """Expect that the new owner is nominated, and that the code is the caller's until it is accepted."""
    asked = scene.request.fields
    return _owners(scene, code_bytes(asked["code"]), owner=asked["caller"], pending=asked["newOwner"])


def _accepted(scene: Scene) -> list[Expectation]:
    """Expect that the caller owns the code, and that nobody is nominated any more."""
    asked = scene.request.fields
    return _owners(scene, code_bytes(asked["code"]), owner=asked["caller"], pending=NOBODY)


def _owners(scene: Scene, code: bytes, *, owner: str, pending: str | None = None) -> list[Expectation]:
    """Expect a code's owner and, unless it is None, its pending owner (empty for nobody)."""
    name = f"the code {safe(code_text(code))} ({code_points(code_letters(code))})"
    read, chain = _of_code(scene.builder, code), _chain(scene, code, "")
    found = _by_both(f"owner of {name}", owner, read, _address_read(read, "owner"), chain.owner)
    if pending is not None:
        by_builder = _address_read(read, "pendingOwner")
        found += _by_both(f"pending owner of {name}", pending, read, by_builder, chain.pending)
    return found


_Code = TypeVar("_Code", str, bytes)


def _by_both(
    what: str, wanted: _Code, read: ReadReply, by_builder: _Code | None, by_chain: _Code | None
) -> list[Expectation]:
    """Return what is expected, by the builder's read and by the chain: of an address, empty for nobody, or of a code."""

    def judged(found: _Code) -> JudgedRead:
        return _text(found), found == wanted if isinstance(found, bytes) else found.lower() == wanted.lower()

    promised = _text(wanted)
    found = [read.expect(what, promised, None if by_builder is None else judged(by_builder))]
    if by_chain is not None:
        found.append(Expectation(what + BY_THE_CHAIN, promised, *judged(by_chain)))
    return found


def _chain(scene: Scene, code: bytes, trader: str) -> ReferralFacts:
    """Return what the chain tells: nothing without a node, nor of a venue whose contract has no such views."""
    if scene.node is None:
        return ReferralFacts("no node")
    return from_chain(scene.node, scene.deployment, scene.config.referral, code, trader)


def _text(value: str | bytes) -> str:
    if isinstance(value, str):
        return shown_fact(safe(value))
    points = code_points(code_letters(value))
    return f"{safe(code_text(value))} ({points}; raw 0x{value.hex()})" if any(value) else "no code"


REFERRAL_READS: ReadBack = {
    "referral-set-code": partial(adopted, account="referee"),
    "referral-set-code-tx": partial(adopted, account="caller"),
    "referral-register": _registered, "referral-transfer": transferred, "referral-accept": _accepted,
}  # fmt: skip
"""By action."""
