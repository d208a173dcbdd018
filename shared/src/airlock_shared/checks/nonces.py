"""NONCE: a number used once is signed once, and a step is not signed anew while its earlier signature may still execute.

The ledger is made from the signing machine's own transcript, and grows with the items of a document as they are examined.
A nonce space belongs to a contract on a chain: trading and referral nonces are different numbers. Within it, some contracts
keep the bitmap under the signer and some under the trader, so both are looked at. A transaction's nonce is its sender's
count. Sources: DESIGN section 6; acceptance rule A29; the builder's specification, "Authentication".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple, cast

from airlock_shared.catalogue.intents import leaf
from airlock_shared.checks.case import Case, Check, Finding, Situation
from airlock_shared.documents.transcript import Entry
from airlock_shared.ethereum.addresses import checksum_address, parse_address
from airlock_shared.units import utc_text
from airlock_shared.wire.members import read_matching, read_some

SIGNED = "signed"
"""The transcript's event for a signature that the device made."""

Key = tuple[int, bytes, bytes, int]
"""Where a nonce is marked as used: chain id, contract (empty: the sender's own count), account, nonce."""

_MEMBERS = {"digest": str, "chain_id": int, "contract": str, "signer": str, "trader": str, "nonce": str,
            "ceremony": str, "step": str}  # fmt: skip
_NUMBER = re.compile(r"[0-9]{1,78}", re.ASCII)


class Use(NamedTuple):
    """What a signature spends: its nonce, where and for whom, for which step, and until when it may execute (unix ms).

    ``contract`` is empty for a transaction; ``deadline_ms`` is None when it may execute at any time.
    """

    digest: str
    chain_id: int
    contract: bytes
    signer: bytes
    trader: bytes
    nonce: int
    ceremony: str
    step: str
    deadline_ms: int | None

    def places(self) -> set[Key]:
        """Return the places in which the contract may mark the nonce as used."""
        return {(self.chain_id, self.contract, account, self.nonce) for account in (self.signer, self.trader)}

    def replaces(self, earlier: Use) -> bool:
        """Tell whether these are one step's transactions with one nonce, as when a stuck one is sent with a higher fee.

        The chain executes one of them at most.
        """
        same_step = (self.ceremony, self.step) == (earlier.ceremony, earlier.step)
        return same_step and not self.contract and self.places() == earlier.places()


def use_of(case: Case) -> Use:
    """Return what an item's signature spends; the case must have its step, message and digest."""
    situation, signer = case.situation, case.step.signer.address
    digest, chain_id = "0x" + case.digest.hex(), situation.deployment.chain_id
    ceremony, step = situation.plan.id, case.request.step
    if case.request.transaction is not None:
        nonce = case.request.transaction.nonce
        return Use(digest, chain_id, b"", signer, signer, nonce, ceremony, step, None)
    intent, message = case.intent, case.message
    return Use(
        digest,
        chain_id,
        situation.deployment.domains[intent.domain].contract,
        signer,
        cast(bytes, leaf(message, intent.trader)),
        cast(int, leaf(message, intent.nonce)),
        ceremony,
        step,
        cast(int, leaf(message, intent.deadline)) if intent.deadline else None,
    )


def record_of(case: Case) -> dict[str, Any]:
    """Return what the transcript's ``signed`` entry says of a signature, beside how it was made."""
    use = use_of(case)
    accounts = {"signer": checksum_address(use.signer), "trader": checksum_address(use.trader)}
    return {
        **use._asdict(),
        **accounts,
        "contract": checksum_address(use.contract) if use.contract else "",
        "kind": case.intent.domain if use.contract else "transaction",
        "nonce": str(use.nonce),  # a uint256: beyond the integers of many JSON readers
        "plan": case.situation.plan.fingerprint,
    }


def read_use(data: dict[str, Any]) -> Use:
    """Read what :func:`record_of` wrote. Raises ``DocumentError("DOC-FIELD")``, or ``Refusal("MSG-ADDRESS")``."""
    read_some(data, "signed", _MEMBERS)
    deadline_ms = data.get("deadline_ms")
    if deadline_ms is not None:
        read_some(data, "signed", {"deadline_ms": int})
    read_matching(data["nonce"], "signed.nonce", _NUMBER, "a number")
    contract = parse_address(data["contract"]) if data["contract"] else b""
    return Use(data["digest"], data["chain_id"], contract, parse_address(data["signer"]), parse_address(data["trader"]),
               int(data["nonce"]), data["ceremony"], data["step"], deadline_ms)  # fmt: skip


class NonceLedger:
    """What was signed on this machine, and what the items of the document under examination would spend so far."""

    def __init__(self, signed: Iterable[Use] = ()) -> None:
        self._used: dict[Key, list[Use]] = {}
        self._steps: dict[tuple[int, str, str], list[Use]] = {}
        self._claims: dict[Key, tuple[str, str]] = {}
        for use in signed:
            self.add(use)

    def add(self, use: Use) -> None:
        """Remember a signature that was made."""
        for key in use.places():
            self._used.setdefault(key, []).append(use)
        self._steps.setdefault((use.chain_id, use.ceremony, use.step), []).append(use)

    def clash(self, use: Use) -> Use | None:
        """Return an earlier signature, over another digest, that spends the same nonce."""
        earlier = (known for key in use.places() for known in self._used.get(key, ()))
        return next((known for known in earlier if known.digest != use.digest and not use.replaces(known)), None)

    def earlier(self, use: Use) -> list[Use]:
        """Return what was signed for the same step of the same ceremony and could execute beside ``use``."""
        known = self._steps.get((use.chain_id, use.ceremony, use.step), ())
        return [other for other in known if other.digest != use.digest and not use.replaces(other)]

    def claim(self, use: Use) -> str | None:
        """Let an item of the document have its nonce; return the step that has it already, or None."""
        mine = (use.step, use.digest)
        taken = next((owner for key in use.places() if (owner := self._claims.get(key, mine)) != mine), None)
        for key in use.places():
            self._claims.setdefault(key, mine)
        return taken[0] if taken else None


def ledger_of(entries: Iterable[Entry]) -> NonceLedger:
    """Return the ledger of a transcript. Raises as :func:`read_use`; what spends no nonce is not in it."""
    signed = (entry.data for entry in entries if entry.event == SIGNED and "nonce" in entry.data)
    return NonceLedger(read_use(data) for data in signed)


def nonce_is_unused(ledger: NonceLedger, case: Case) -> Finding:
    """No other digest with this nonce was signed for this contract by the signer or for the trader.

    The same digest again is a ceremony that is resumed. A transaction may be signed anew with its nonce for the same step.
    """
    use = use_of(case)
    other = ledger.clash(use)
    if other is None:
        return Finding(True, use.nonce, "not signed before")
    got = f"{use.nonce}, signed before for step {other.step} of ceremony {other.ceremony}, digest {other.digest}"
    return Finding(False, got, "a nonce that was not signed before")


def earlier_is_over(ledger: NonceLedger, case: Case) -> Finding:
    """What was signed for this step before can no longer execute: its deadline is past, whatever the clock's error."""
    situation = case.situation
    for other in ledger.earlier(use_of(case)):
        if may_execute(other, situation):
            until = "at any time: it has no deadline"
            if other.deadline_ms is not None:
                until = f"until {utc_text(other.deadline_ms + situation.clock_uncertainty_ms)}"
            got = f"signed before with nonce {other.nonce}, digest {other.digest}; it may execute {until}"
            return Finding(False, got, "nothing signed for this step that may still execute")
    return Finding(True, "nothing that may still execute", "nothing that may still execute")


def may_execute(earlier: Use, situation: Situation) -> bool:
    """Tell whether an earlier signature may still execute: its deadline has not surely passed, or it has none."""
    earliest_now_ms = situation.now_ms - situation.clock_uncertainty_ms
    return earlier.deadline_ms is None or earlier.deadline_ms >= earliest_now_ms


def nonce_is_alone(ledger: NonceLedger, case: Case) -> Finding:
    """No other item of the document has this nonce for this contract, by the signer or for the trader."""
    use = use_of(case)
    step = ledger.claim(use)
    return Finding(step is None, use.nonce if step is None else f"{use.nonce}, as in step {step}", "its own nonce")


_NEEDS = ("step", "message", "digest")


def checks(ledger: NonceLedger) -> tuple[Check, ...]:
    """Return the checks, asking this ledger."""
    return (
        Check("NONCE-USED", partial(nonce_is_unused, ledger), _NEEDS),
        Check("NONCE-PENDING", partial(earlier_is_over, ledger), _NEEDS),
        Check("NONCE-BATCH", partial(nonce_is_alone, ledger), _NEEDS),
    )
