"""What is known of a referral code before it is signed for: from the builder's read, and from the contract by a node.

Neither is believed over the other: both are told, and where they differ that is said. None of it decides anything that is
signed. The read's shape is in no specification; the views' names are those of comparable venues, and are configuration.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from airlock_online.clients.builder import BuilderClient
from airlock_online.clients.echo import named
from airlock_online.clients.http import Http
from airlock_online.clients.rpc import RpcClient
from airlock_online.config import OnlineConfig, ReferralViews
from airlock_online.readback.contract_views import ContractViews
from airlock_shared.catalogue.referral_code import code_bytes, code_text
from airlock_shared.cli.console import rows
from airlock_shared.documents.deployment import Deployment
from airlock_shared.errors import Refusal, ServiceError
from airlock_shared.ethereum.addresses import checksum_address, parse_address
from airlock_shared.text.safe import safe

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
    read = about_code(builder.read_or_error("referral", {"code": code_text(code)}), code)
    owner, pending = told_owners(read)
    private = read.get("isPrivate", read.get("private")) if type(read) is dict else None
    seen = ReferralFacts("the builder", owner, pending, private if type(private) is bool else None)
    troubles = [_why(read)]
    if trader:
        read = builder.read_or_error("referral", {"trader": trader})
        if type(read) is dict and named(read, trader=trader) is False:
            read = ServiceError(f"the reply names another trader than {trader}, which was asked for")
        seen = seen._replace(adopted=code_in(read))
        troubles.append(_why(read))
    return seen._replace(trouble="; ".join(dict.fromkeys(filter(None, troubles))))


def from_chain(
    node: RpcClient, deployment: Deployment, views: ReferralViews, code: bytes, trader: str = ""
) -> ReferralFacts:
    """Return what the pinned Referral contract tells a node by its views. Raises nothing for what the node answers."""
    seen = ReferralFacts(f"the chain, by {node.name}")
    try:
        contract = ContractViews(node, deployment, "referral")
        return seen._replace(
            owner=_address_in(contract.word(views.owner, code)),
            pending=_address_in(contract.word(views.pending_owner, code)),
            private=_flag_in(contract.word(views.private, code)),
            adopted=contract.word(views.adopted, parse_address(trader)) if trader else None,
            trouble="; ".join(contract.troubles),
        )
    except ServiceError as error:
        return seen._replace(trouble=error.what)


def look(
    builder: BuilderClient,
    deployment: Deployment,
    config: OnlineConfig,
    rpc: str | None,
    http: Http,
    code: bytes,
    trader: str = "",
) -> list[ReferralFacts]:
    """Return what the builder tells of a code and, when one is given, of a trader; then the chain, when there is a node.

    ``rpc`` is a node's address instead of the configured one.
    """
    seen = [from_builder(builder, code, trader)]
    if url := rpc or config.rpc.url:
        seen.append(from_chain(RpcClient(url, http), deployment, config.referral, code, trader))
    return seen


def code_in(read: object) -> bytes | None:
    """Return the 32 bytes of the code that a read gives as text or hex, all zero for none; None when it gives neither."""
    code = read.get("code") if type(read) is dict else None
    if type(code) is not str:
        return None
    try:
        return code_bytes(code) if code else NO_CODE
    except Refusal:
        return None


def told_owners(read: object) -> tuple[str | None, str | None]:
    """Return owner and pending owner as a read of a code tells them."""
    return (_told_address(read, "owner"), _told_address(read, "pendingOwner")) if type(read) is dict else (None, None)


def about_code(read: object, code: bytes) -> object:
    """Return a code's read; the ``ServiceError`` that says so when it names another code. One that names none passes."""
    if type(read) is dict and code_in(read) not in (code, None):
        return ServiceError(f"the reply does not name the code {safe(code_text(code))}, which was asked for")
    return read


def _why(read: object) -> str:
    """Return why a read tells nothing, empty when it may tell something."""
    unknown = "" if type(read) is dict else "the answer has an unknown shape"
    return read.what if isinstance(read, ServiceError) else unknown


def _told_address(read: dict[str, object], name: str) -> str | None:
    value = read.get(name, ...)
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
            found.append(f"{label}: " + "; ".join(f"{source} says {shown(value)}" for source, value in told))
    return found


def shown(value: str | bool | bytes | None) -> str:
    """Return a told value for a person."""
    if value is None:
        return "not told"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, bytes):
        return f"{safe(code_text(value))} (raw 0x{value.hex()})" if any(value) else "no code"
    return value or "nobody"


def settled(seen: Sequence[ReferralFacts]) -> ReferralFacts:
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
            yield f"{margin}  {label:<14} {shown(value)}"
        if trader:
            yield f"{margin}  adopted by     {trader}:"
            yield from rows(f"{margin}    ", shown(one.adopted))
        if one.trouble:
            yield from rows(f"{margin}  not told: ", one.trouble)
