"""NONCE: a number used once is signed once, and a step is not signed anew while its earlier signature may still execute.

Only the plan names an exception: a step may replace an earlier signature that has the very same nonce, so that the chain
executes one of them at most.

The record is made from the signing machine's own transcript, and grows with the items of a document as they are examined.
What the device was about to be asked is in it beside what it has signed: a reservation without an end counts as signed.
A nonce space belongs to a contract on a chain: trading and referral nonces are different numbers. Within it, some contracts
keep the bitmap under the signer and some under the trader, so both are looked at. A transaction's nonce is its sender's
count. Sources: the builder's specification, "Authentication".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile
from typing import NamedTuple

from airlock_shared.checks.model import SIGNABLE, Case, Finding, IntentCase, Situation, check, leaf_of
from airlock_shared.documents.transcript import Entry
from airlock_shared.ethereum.signatures import checksum_address, in_eip55
from airlock_shared.units import utc_text
from airlock_shared.venue.structs import DEADLINE, leaf
from airlock_shared.wire.strict_json import Form, JsonObject, Kinds, read_some

SIGNING, SIGNED, SIGNED_LATE, NOT_SIGNED = "signing", "signed", "signed-late", "not-signed"
"""The transcript's events: the device is about to be asked, has signed, has signed after its time, has surely not signed."""

Key = tuple[int, str, str, int]
"""Where a nonce is marked as used: chain id, contract (empty: the sender's own count), account, nonce."""

_MEMBERS: Kinds = {
    "digest": str, "chain_id": int, "contract": str, "signer": str, "trader": str,
    "nonce": Form(re.compile(r"[0-9]{1,78}", re.ASCII), "a number"), "ceremony": str, "step": str,
}  # fmt: skip
_OPTIONAL: Kinds = {"deadline_ms": int, "replaces": str}


class Use(NamedTuple):
    """What a signature spends: its nonce, where and for whom, for which step, and until when it may execute (unix ms).

    Addresses are EIP-55 texts; ``contract`` is empty for a transaction. ``deadline_ms`` is None when it may execute at any
    time. ``replaces`` is the digest of the earlier signature that the plan has this one take the place of, or empty.
    """

    digest: str
    chain_id: int
    contract: str
    signer: str
    trader: str
    nonce: int
    ceremony: str
    step: str
    deadline_ms: int | None = None
    replaces: str = ""

    def places(self) -> tuple[Key, ...]:
        """Return the places in which the contract may mark the nonce as used."""
        own = self.chain_id, self.contract, self.signer, self.nonce
        return (own,) if self.trader == self.signer else (own, (*own[:2], self.trader, self.nonce))

    def shares_nonce(self, other: Use) -> bool:
        """Tell whether the chain executes one of the two at most, whichever account the contract keeps nonces under."""
        return self._spent() == other._spent()

    def _spent(self) -> tuple[object, ...]:
        return self.chain_id, self.contract, self.signer, self.trader, self.nonce


def use_of(case: Case) -> Use:
    """Return what an item's signature spends; the case must have its digest."""
    situation, signer = case.situation, case.step.signer.account
    contract, trader, deadline_ms = "", signer, None
    if isinstance(case, IntentCase):
        intent, message = case.intent, case.message
        contract = checksum_address(situation.deployment.domains[intent.domain].contract)
        trader, nonce = checksum_address(leaf(message, intent.trader)), leaf(message, intent.nonce)
        deadline_ms = leaf_of(case, DEADLINE)
    else:
        nonce = case.request.transaction.nonce if case.request.transaction else case.message["nonce"]
    return Use(
        "0x" + case.digest.hex(),
        situation.deployment.chain_id,
        contract,
        signer,
        trader,
        nonce,
        situation.plan.id,
        case.request.step,
        deadline_ms,
        case.step.replaced_digest,
    )


def record_of(case: Case) -> JsonObject:
    """Return what the entries ``signing``, ``signed`` and ``signed-late`` say: what it spends, under which plan."""
    use = use_of(case)
    return {
        **{name: value for name, value in use._asdict().items() if name != "replaces" or value},
        "kind": case.intent.domain if isinstance(case, IntentCase) else "transaction",
        "nonce": str(use.nonce),  # a uint256: beyond the integers of many JSON readers
        "plan": case.situation.plan.fingerprint,
    }


def read_use(data: JsonObject) -> Use:
    """Read what :func:`record_of` wrote. Raises ``DocumentError("DOC-FIELD")``, or ``Refusal("MSG-ADDRESS")``."""
    given = {name: kind for name, kind in _OPTIONAL.items() if data.get(name) is not None}
    read_some(data, "signed", {**_MEMBERS, **given})
    spent = {name: data[name] for name in Use._fields if name in data}
    accounts = {name: in_eip55(data[name]) for name in ("signer", "trader")}
    contract = data["contract"] and in_eip55(data["contract"])
    return Use(**{**spent, **accounts, "contract": contract, "nonce": int(data["nonce"])})


class UsedNonces:
    """What was signed on this machine, and what the items of the document under examination would spend so far.

    ``knows_signed`` is False on a machine that signs nothing, and has no record of what another signed.
    """

    def __init__(self, signed: Iterable[Use] = (), *, knows_signed: bool = True) -> None:
        self.knows_signed = knows_signed
        self._taken: dict[Key, tuple[str, str]] = {}
        self._begun: Mapping[str, int] = {}
        self._signed = {use.digest: use for use in signed}

    def read_again(self, entries: Iterable[Entry]) -> None:
        """Take the transcript as it is now for what was signed; what the document's items spend stays as it is.

        Raises as :func:`read_use`.
        """
        uses, self._begun = spent_by(entries)
        self._signed = {use.digest: use for use in uses}

    def begun_ms(self, digest: str) -> int | None:
        """Return when a signature over a digest was begun of which no end is on record (unix ms); None for any other."""
        return self._begun.get(digest)

    def add(self, use: Use) -> None:
        """Remember a signature that was made; one that is on record already stays at its place in the order."""
        self._signed.setdefault(use.digest, use)

    def counted_as_signed(self, digest: str) -> Use | None:
        """Return what the signature over a digest spends, or None when none was made or begun here."""
        return self._signed.get(digest)

    def holders(self, use: Use) -> list[Use]:
        """Return the signatures, over other digests, that spend the same nonce, the newest last.

        A signature that exists is compared only with older ones.
        """
        places = {*use.places()}
        return [known for known in self._before(use) if not places.isdisjoint(known.places())]

    def clash(self, use: Use) -> Use | None:
        """Return the newest signature that spends the same nonce, unless it is the one that the plan replaces.

        Two cases come first. The same digest was signed for another step: it executes once, for one of the two.
        Or a signature shares only a part of the places where the nonce is marked: it cannot be replaced.
        """
        same = self._signed.get(use.digest)
        if same and (same.ceremony, same.step) != (use.ceremony, use.step):
            return same
        holders = self.holders(use)
        apart = [other for other in holders if not use.shares_nonce(other)]
        if apart:
            return apart[-1]
        return holders[-1] if holders and holders[-1].digest != use.replaces else None

    def earlier(self, use: Use) -> list[Use]:
        """Return what was signed for the same step of the same ceremony and could execute beside ``use``.

        Left out is what has the nonce of a replacement that the plan names: the chain executes only one of the two.
        """
        return [
            other
            for other in self._before(use)
            if (other.chain_id, other.ceremony, other.step) == (use.chain_id, use.ceremony, use.step)
            if not (use.replaces and use.shares_nonce(other))
        ]

    def _before(self, use: Use) -> Iterator[Use]:
        """Return what was signed before ``use``, all when it is not signed yet."""
        return takewhile(lambda other: other.digest != use.digest, self._signed.values())

    def take_in_document(self, use: Use) -> str | None:
        """Let an item of the document have its nonce, and remember that; return the step that has it already, or None."""
        mine, taken = (use.step, use.digest), None
        for key in use.places():
            owner = self._taken.setdefault(key, mine)
            taken = owner if owner != mine else taken
        return taken[0] if taken else None


def nonces_of(entries: Iterable[Entry]) -> UsedNonces:
    """Return what a transcript says was signed. Raises as :func:`read_use`; what spends no nonce is not in it."""
    used = UsedNonces()
    used.read_again(entries)
    return used


def spent_by(entries: Iterable[Entry]) -> tuple[list[Use], dict[str, int]]:
    """Return what counts as signed, in the order in which it was begun, and since when (unix ms) which of it is open.

    ``not-signed`` closes the last attempt alone: an earlier one whose end nobody saw may have been approved on the device.
    Raises as :func:`read_use`.
    """
    uses: dict[str, Use] = {}
    attempts: dict[str, list[int]] = {}
    signed: set[str] = set()
    for entry in entries:
        data = entry.data
        if entry.event == NOT_SIGNED:
            digest = str(data.get("digest"))
            open_ms = attempts.get(digest, [])
            if open_ms and digest not in signed:
                open_ms.pop()
                if not open_ms:
                    del uses[digest], attempts[digest]
        elif entry.event in (SIGNING, SIGNED, SIGNED_LATE) and "nonce" in data:
            use = read_use(data)
            uses.setdefault(use.digest, use)
            if entry.event == SIGNING:
                attempts.setdefault(use.digest, []).append(entry.at_ms)
            else:
                signed.add(use.digest)
    return [*uses.values()], {digest: each[-1] for digest, each in attempts.items() if digest not in signed}


class Spending(NamedTuple):
    """An item with its digest, what its signature would spend, and what is known of other signatures."""

    case: Case
    use: Use
    used: UsedNonces


_SIGNED_ELSEWHERE = Finding(
    None, "", "what was signed before", "", "only the signing machine has the record of earlier signatures"
)


@check(
    "NONCE-USED",
    SIGNABLE,
    "something else was signed with this nonce",
    "Two signatures of which only one can ever be used.",
    "To replace the earlier one, name it in the plan under [[steps]], as shown here. Otherwise prepare again: an "
    "intent with another nonce of the builder; a transaction as soon as the node counts the earlier one.",
)
def nonce_is_unused(spending: Spending) -> Finding:
    """No other digest with this nonce was signed for this contract by the signer or for the trader, but what is replaced.

    The same digest again, for the same step, is a ceremony that is resumed.
    """
    use = spending.use
    if not spending.used.knows_signed:
        return _SIGNED_ELSEWHERE
    other = spending.used.clash(use)
    if other is None:
        but = ", except the one that the plan replaces" if use.replaces else ""
        return Finding(True, use.nonce, "not signed before" + but)
    what = "" if use.contract else "this account nonce was signed before"
    got = f"{use.nonce}, signed before for step {other.step} of ceremony {other.ceremony}, digest {other.digest}"
    got += _if_begun(other, spending.used)
    if other.digest == use.digest:
        what = "this very thing was signed before for another step: it executes once, for one of the two"
    elif use.shares_nonce(other):
        got += f'; to replace that one, the plan says: replaces = "{other.digest}"'
    return Finding(False, got, "a nonce that was not signed before", "", what)


@check(
    "NONCE-REPLACES",
    SIGNABLE,
    "this does not replace the signature that the plan names",
    "Two signatures that both execute.",
    "Compare the plan with this machine's transcript. A replacement has the chain, contract, signer, trader and nonce "
    "of what it replaces: an intent's nonce stands in the plan, a transaction's can be given by prepare --nonce.",
)
def replacement_is_one(spending: Spending) -> Finding | None:
    """What the plan names as replaced was signed on this machine, over another digest, and has the same nonce."""
    use = spending.use
    if not use.replaces:
        return None
    if not spending.used.knows_signed:
        return _SIGNED_ELSEWHERE
    other = spending.used.counted_as_signed(use.replaces)
    if other is None:
        return Finding(
            False,
            use.replaces,
            "a signature that was made on this machine",
            "",
            "the plan replaces a signature that was never made here",
        )
    if other.digest == use.digest:
        return Finding(False, use.replaces, "another digest", "", "the plan replaces a signature by itself")
    if not use.shares_nonce(other):
        return Finding(False, _spent_text(use), _spent_text(other))
    return Finding(True, use.replaces, "signed before with this nonce")


def _spent_text(use: Use) -> str:
    contract = use.contract or "the account's own count"
    return f"chain {use.chain_id}, {contract}, signer {use.signer}, trader {use.trader}, nonce {use.nonce}"


_NOTHING = "nothing that may still execute"


@check(
    "NONCE-PENDING",
    SIGNABLE,
    "an earlier signature for this step may still execute",
    "A step that is executed twice.",
    "Wait until it can no longer execute, and find out whether it did. Or agree on a plan that replaces it, with the "
    "same nonce. If it has no deadline, cancel it at the venue, and agree on a new plan with another id for the step.",
)
def earlier_is_over(spending: Spending) -> Finding:
    """What was signed for this step before can no longer execute: its deadline is past, whatever the clock's error."""
    if not spending.used.knows_signed:
        return _SIGNED_ELSEWHERE
    situation = spending.case.situation
    for other in spending.used.earlier(spending.use):
        if may_execute(other, situation):
            until = "at any time: it has no deadline"
            if other.deadline_ms is not None:
                until = f"until {utc_text(other.deadline_ms + situation.clock_uncertainty_ms)}"
            got = f"signed before with nonce {other.nonce}, digest {other.digest}; it may execute {until}"
            got += _if_begun(other, spending.used)
            return Finding(False, got, "nothing signed for this step that may still execute")
    return Finding(True, _NOTHING, _NOTHING)


def _if_begun(earlier: Use, used: UsedNonces) -> str:
    at_ms = used.begun_ms(earlier.digest)
    if at_ms is None:
        return ""
    return f"; that signing began at {utc_text(at_ms)}; it is not known whether the Ledger signed"


def may_execute(earlier: Use, situation: Situation) -> bool:
    """Tell whether an earlier signature may still execute: its deadline has not surely passed, or it has none."""
    earliest_now_ms = situation.now_ms - situation.clock_uncertainty_ms
    return earlier.deadline_ms is None or earlier.deadline_ms >= earliest_now_ms


@check(
    "NONCE-BATCH",
    SIGNABLE,
    "two items of the document have one nonce",
    "Two signatures of which only one can ever be used.",
    "If the plan fixes it, correct the plan: an authorization's nonce comes after those of the account's transactions in "
    "it. Otherwise prepare again; if it is refused again, stop and find out who altered it.",
)
def nonce_is_alone(spending: Spending) -> Finding:
    """No other item of the document has this nonce for this contract, by the signer or for the trader.

    This check alone changes what it looks at: it notes the nonce as taken.
    """
    nonce, step = spending.use.nonce, spending.used.take_in_document(spending.use)
    if step is None:
        return Finding(True, nonce, "its own nonce")
    return Finding(False, f"{nonce}, as in step {step}", "its own nonce")


CHECKS = (
    nonce_is_unused,
    replacement_is_one,
    earlier_is_over,
    nonce_is_alone,
)
