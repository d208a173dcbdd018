"""Signing one item at a time: examined, shown, confirmed by a person, signed by the device, recovered, kept.

The order of things is the protection: nothing reaches the device that a check refused or a person did not confirm, and no
signature leaves that does not recover to the plan's address over our own digest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from airlock_offline.home import OfflineHome
from airlock_offline.ledger.accounts import require_account
from airlock_offline.ledger.ethereum_app import DeviceSignature, EthereumApp
from airlock_offline.signing.opinion_process import Opinion, OpinionProcess
from airlock_offline.signing.quarantine import require_signature
from airlock_shared.checks.case import Case, IntentCase, Situation
from airlock_shared.checks.judge import Examined, Known, judge_item
from airlock_shared.checks.nonces import SIGNED, UsedNonces, record_of, use_of
from airlock_shared.checks.payload import DOMAIN_DEFINITION, definitions
from airlock_shared.checks.second_opinion import compare, document_of
from airlock_shared.checks.signature import check_signature
from airlock_shared.checks.verdicts import exit_code_of
from airlock_shared.documents.requests import Request
from airlock_shared.documents.signatures import Signed
from airlock_shared.errors import Declined, ExitCode
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.ethereum.eip712 import DOMAIN_TYPE, TypedData
from airlock_shared.ethereum.eip712_types import Member


class SigningDesk(NamedTuple):
    """What signing needs of the world: the state folder, how to reach the device, the clock, and how to show and ask.

    ``used`` holds what the transcript says was signed, and grows with every signature.
    ``proofs`` holds the challenges that delegate keys have answered; without one in it no delegate is registered.
    ``app`` opens the device when it is first needed; ``show`` shows an examined item with its verdicts; ``ask`` returns
    when a person has confirmed, and raises ``Declined`` otherwise; ``tell`` says what happens next; ``opinion`` begins to
    ask somebody else what is to be signed.
    """

    state: OfflineHome
    used: UsedNonces
    app: Callable[[], EthereumApp]
    now_ms: Callable[[], int]
    show: Callable[[Examined], None]
    ask: Callable[[str], None]
    tell: Callable[[str], None]
    proofs: frozenset[str] = frozenset()
    opinion: Callable[[dict[str, Any]], Opinion] = OpinionProcess


class ItemResult(NamedTuple):
    """What became of an item, and the exit code that it alone would give."""

    signed: Signed
    code: ExitCode


def typed_data_of(case: IntentCase) -> TypedData:
    """Return what the device is shown: the pinned types (never the payload's own), the domain and the message."""
    domain = case.situation.deployment.domains[case.intent.domain]
    values = {
        "name": domain.name,
        "version": domain.version,
        "chainId": domain.chain_id,
        "verifyingContract": domain.contract,
    }
    structs = {DOMAIN_TYPE: tuple(Member(m["name"], m["type"]) for m in DOMAIN_DEFINITION)}
    structs |= definitions(case.intent).structs
    return TypedData(structs, case.intent.name, values, case.message)


def sign_item(request: Request, situation: Situation, station: SigningDesk) -> ItemResult:
    """Examine, show, confirm and sign one item.

    Raises ``DeviceError`` when the device fails, ``Refusal`` of family ``SIG`` when its answer must not be used; items
    signed before stay signed, and the same command goes on from there.
    """
    examined = judge_item(request, situation, Known(used=station.used, proofs=station.proofs))
    case = examined.case
    if case is None or examined.verdicts.hinder() or examined.verdicts.not_judged():
        station.show(examined)
        return _refused(examined, station)
    if kept := station.state.signed("0x" + case.digest.hex()):
        station.show(examined)
        check_signature(case, kept)
        station.tell("This was signed before; the signature that was kept is used again.")
        return ItemResult(kept, ExitCode.DONE)
    opinion = station.opinion(document_of(case))  # it computes while the person reads
    try:
        station.show(examined)
        return _confirm_and_sign(case, station, opinion)
    finally:
        opinion.end()


def _confirm_and_sign(case: Case, station: SigningDesk, opinion: Opinion) -> ItemResult:
    digest = "0x" + case.digest.hex()
    for earlier in station.used.earlier(use_of(case)):
        station.tell(
            f"WARNING: this step was signed before, with digest {earlier.digest}. It can no longer execute, but"
        )
        station.tell("it may have been executed: ask the online machine before you sign it once more.")
    try:
        station.ask(f"Sign step {case.request.step} as {checksum_address(case.step.signer.address)}?")
        signed = _sign(case, station, opinion)
    except Declined as declined:
        station.state.transcript.record("declined", {"step": case.request.step, "digest": digest}, station.now_ms())
        station.tell(f"Declined: {declined.what}.")
        return ItemResult(Signed(case.request.step, "declined", declined.what), ExitCode.DECLINED)
    data = record_of(case) | {"shown": signed.shown, "app": signed.app}
    station.state.transcript.record(SIGNED, data, station.now_ms())
    station.used.add(use_of(case))
    station.state.keep_signed(signed)
    return ItemResult(signed, ExitCode.DONE)


def _refused(examined: Examined, station: SigningDesk) -> ItemResult:
    """Sign nothing of what a check refused or could not judge here."""
    step, verdicts = examined.received.request.step, examined.verdicts
    named = [verdict.check for verdict in (*verdicts.refused(), *verdicts.not_judged())]
    station.state.transcript.record("refused", {"step": step, "checks": named}, station.now_ms())
    stopped = [*verdicts.stopping(), *verdicts.not_judged()]
    return ItemResult(Signed(step, "refused", named[0]), exit_code_of(stopped))


def _sign(case: Case, station: SigningDesk, opinion: Opinion) -> Signed:
    """Ask the device, and trust nothing that it answers before it is recovered over our own digest."""
    compare(case, opinion.answer())
    app, signer = station.app(), case.step.signer
    version = app.app_and_version().version
    require_account(app, signer.path, signer.address)
    station.tell("Now compare every page on the Ledger with the list above, then confirm or reject there.")
    answer, shown = _ask_device(case, app)
    signed = Signed(
        step=case.request.step,
        result="signed",
        digest="0x" + case.digest.hex(),
        signature="0x" + answer.rsv.hex(),
        signer=checksum_address(signer.address),
        shown=shown,
        app=version,
    )
    require_signature(case, signed, station.state, station.now_ms())
    return signed


def _ask_device(case: Case, app: EthereumApp) -> tuple[DeviceSignature, str]:
    """Return the device's signature and how the device showed what it signed."""
    signer, filled = case.step.signer, case.request.transaction
    if not isinstance(case, IntentCase):
        from airlock_shared.catalogue.eip1559 import unsigned_bytes

        if filled is None:
            raise ValueError("a call is signed as the transaction that was filled in")
        return app.sign_transaction(signer.path, unsigned_bytes(case.request.payload, filled)), "transaction"
    if signer.show == "hashes":
        return app.sign_hashes(signer.path, case.hashes.domain_separator, case.hashes.struct_hash), "hashes"
    return app.sign_typed_data(signer.path, typed_data_of(case)), "fields"
