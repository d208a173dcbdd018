"""How the review is laid out: a mark in the margin, labels in a column of their own, and texts beside them, 80 columns.

Below it the rows that what is signed and what is refused have in common: signer, domain, values, sentences of ours.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from airlock_shared.checks.model import CallCase, Case, IntentCase, Situation, Verdict, leaf_of
from airlock_shared.checks.nonces import UsedNonces, may_execute, use_of
from airlock_shared.checks.transaction import pinned_name
from airlock_shared.documents.requests import Request
from airlock_shared.ethereum.signatures import checksum_address, value_wei
from airlock_shared.plan.decisions import Decision, market_orders
from airlock_shared.plan.delegate_proofs import is_waived
from airlock_shared.plan.model import EITHER, Step
from airlock_shared.text.safe import WIDTH, columns, grouped, hanging, labelled_rows, safe, wrapped
from airlock_shared.units import CODE, GWEI, NATIVE, span_text, to_human, utc_text
from airlock_shared.venue.actions import DELEGATE_ACTIONS, REGISTRATIONS, REMOVAL
from airlock_shared.venue.calls import LEDGER_CONTRACTS
from airlock_shared.venue.structs import EXPIRY, PAIR

INDENT = 20
KEPT, NOT_KEPT, CHOSEN = "✓", "✗", "·"
"""In the margin: as the plan and the pins say, not so, or chosen by the builder. The first column is ours alone."""


def row(label: str, text: str) -> Iterator[str]:
    """Yield a label and a text beside it; a label that is too long stands on lines of its own."""
    if columns(label) > INDENT - 2:  # a member of a venue's own struct
        yield from labelled_rows("  ", label)
        label = ""
    label = f"  {label}{' ' * (INDENT - columns(label))}"
    yield from (
        line.rstrip() for line in labelled_rows(label, text, width=WIDTH - 1)
    )  # a terminal may draw a mark wide


def marked(mark: str, rows: Iterable[str]) -> Iterator[str]:
    """Yield rows with a mark in their margin, on every line: a text can be long, and its mark must not be looked for."""
    for line in rows:
        yield f"{mark} {line[2:]}" if line else mark


# ---- rows of a case -------------------------------------------------------------------------------------------------


def signer_rows(case: Case, label: str) -> Iterator[str]:
    """Yield who signs, as the plan says."""
    signer = case.step.signer
    yield from row(label, signer.account)
    yield from row("", f"{signer.name} in the plan, {signer.path}")
    if of := case.step.delegate_of:
        yield from row("", f"as delegate of {checksum_address(of)}")


def under_domain(case: IntentCase) -> Iterator[str]:
    """Yield the pinned domain under which an intent is signed."""
    domain = case.situation.deployment.domains[case.intent.domain]
    yield from row("domain", f"{domain.name}, version {domain.version}, chain {domain.chain_id}")
    yield from row("", f"contract {checksum_address(domain.contract)}")


def route_of(request: Request) -> str:
    """Return where a signature goes, as the request says."""
    order = f", order type {request.order_type}" if request.order_type is not None else ""
    replaced = f", in place of the stored trigger {safe(request.replaces, limit=200)}" if request.replaces else ""
    return f"{safe(request.route, limit=200)}{order}{replaced}"


def goes_to(case: Case) -> Iterator[str]:
    """Yield where a signature goes, and who chose the order type where plan and pins leave more than one."""
    mark, route = KEPT, route_of(case.request)
    pair = case.situation.deployment.pair_at(leaf_of(case, PAIR))
    if isinstance(case, IntentCase) and pair and len(types := market_orders(case.intent, pair, case.step)[0]) > 1:
        mark, route = CHOSEN, f"{route}, of {types}: the online machine chose it"
    yield from marked(mark, row("goes to", route))


def value_rows(decision: Decision, now_ms: int, limit: int | None) -> Iterator[str]:
    """Yield a value in people's units, and as it is signed; ``limit`` is in characters."""
    text, signed, unit = decision.value, decision.signed, decision.field.unit
    shown = safe(text, limit=len(text) if limit is None else limit)
    if decision.at_ms is not None:
        span = span_text(abs(decision.at_ms - now_ms) // 1000)
        shown += f" (in {span})" if decision.at_ms >= now_ms else f" ({span} ago)"
        signed += f" ({unit.name})"
    yield from row(decision.name, shown)
    for note in decision.notes:
        yield from row("", safe(note))
    if signed and unit is not CODE:
        yield from row("", f"raw {signed}")


def noted(kind: str, text: str) -> Iterator[str]:
    """Yield a sentence of ours; what it quotes never begins a line."""
    yield ""
    yield from hanging(f"{kind}: {text}")


def mark_of(decision: Decision) -> str:
    """Return the mark of a value in the margin."""
    return NOT_KEPT if not decision.ok else CHOSEN if decision.decided_by == "builder" else KEPT


# ---- delegate rows --------------------------------------------------------------------------------------------------
# What a delegate key can and cannot do, for the review screen: read off the catalogue, which is what the checks keep
# to. That a delegate never withdraws, approves USDC or names delegates is the venue's promise (specification,
# "Authentication", 4); which structs and calls it may sign is our own table, and nothing else of it is ever signed
# here.


_DAY_S = 86_400
_NEVER = "withdraw funds, approve USDC, or add other delegates: the venue's promise"


def delegate_lines(case: Case) -> Iterator[str]:
    """Yield what a delegate's key may sign and send, what it may not, until when, and what else the plan does.

    A heading stands first; there is nothing for any other step.
    """
    before, after = _rotation(case)
    does = dict.fromkeys(REGISTRATIONS, "registers") | {REMOVAL: "ends the registration of"}
    rows = [
        (f"step {step.id}"[:18], f"{when} this, {does[step.action.name]} {step.address('delegate')}")
        for when, steps in (("before", before), ("after", after))
        for step in steps
    ]
    if case.step.action.name in REGISTRATIONS:
        yield "WHAT THIS DELEGATE CAN AND CANNOT DO FOR THE ACCOUNT"
        rows = [*_powers(case.situation), *_until(case), *rows]
    elif rows:
        yield "WITH THIS REMOVAL"
    for label, text in rows:
        yield from row(label, text)


def _powers(situation: Situation) -> Iterator[tuple[str, str]]:
    intents = situation.deployment.structs.values()
    calls = situation.deployment.calls.values()
    yield "can sign", _list(i.title for i in intents if i.signer_rule == "trader-or-delegate")
    yield "can send", _list(call.title for call in calls if call.delegable)
    yield "can never", _NEVER
    yield "cannot sign", _list(i.title for i in intents if i.signer_rule == "trader-only")
    yield "cannot send", _list(call.title for call in calls if not call.delegable)
    yield "it can lose", "what it trades with: whoever holds this key can lose it in trades"


def _list(titles: Iterator[str]) -> str:
    return "; ".join(dict.fromkeys(titles))


def _until(case: Case) -> Iterator[tuple[str, str]]:
    expiry_s = leaf_of(case, EXPIRY)
    if expiry_s is not None:
        days = (expiry_s - case.situation.now_ms // 1000) // _DAY_S
        yield "until", f"{utc_text(expiry_s * 1000)}, {f'{days} whole days from now' if days >= 0 else 'in the past'}"


def _rotation(case: Case) -> tuple[list[Step], list[Step]]:
    """Return the steps for delegates of a delegate's step's account, before it and after it; none for another step."""
    every = case.situation.plan.steps.values()
    trader = case.step.raw("trader")
    steps = [step for step in every if step.action.name in DELEGATE_ACTIONS and step.raw("trader") == trader]
    if case.step not in steps:
        return [], []
    here = steps.index(case.step)
    return steps[:here], steps[here + 1 :]


def delegate_warnings(case: Case) -> Iterator[str]:
    """Yield what stands out about a delegate's step: no proof wanted, or a rotation in the order that can go wrong."""
    if case.step.action.name in REGISTRATIONS and is_waived(case.step):
        yield (
            "the plan waives the proof that anybody holds this delegate key. A mistyped address becomes a delegate "
            "whose key nobody holds, or a stranger holds."
        )
    if case.step.action.name == REMOVAL and any(step.action.name in REGISTRATIONS for step in _rotation(case)[0]):
        yield (
            "a new key is registered before this one is removed. Until then both can trade, and at a venue with one "
            "delegate for each account, this removal fails. Remove first, then register."
        )


def proof_lines(verdicts: Iterable[Verdict]) -> Iterator[str]:
    """Yield whether the delegate key was proved; nothing for a step that needs no proof."""
    for verdict in verdicts:
        if verdict.check == "PROOF-DELEGATE" and verdict.result in ("pass", "refused"):
            yield "POSSESSION OF THE DELEGATE KEY"
            yield from (f"  {line}" for line in wrapped(str(verdict.got), WIDTH - 2))


# ---- transaction rows -----------------------------------------------------------------------------------------------
# A transaction, or an EIP-7702 authorization, on the review screen: where it goes, what it costs or gives, what to
# know.


def transaction_rows(case: CallCase, failed: Collection[str]) -> Iterator[str]:
    """Yield where a transaction goes, for whom, and what it can cost at most; of an authorization, what it gives to whom.

    ``failed`` are the checks that refused it or were not reached: what they would have established is not said.
    """
    for check, mark, label, text in _authorization(case) if case.is_authorization else _call(case, failed):
        shown = NOT_KEPT if check in failed else " " if failed and mark == KEPT else mark
        yield from marked(shown, row(label, text))


def _call(case: CallCase, failed: Collection[str]) -> Iterator[tuple[str, str, str, str]]:
    """Yield rows of a transaction: the check that establishes each, its mark then, its label, and its text."""
    payload, filled = case.request.payload, case.request.filled
    wei, pinned = value_wei(payload), pinned_name(case)
    chain = "" if "TX-CHAIN" not in failed else ", not the pinned one"
    yield "TX-CHAIN", KEPT, "calls", f"{case.call.function} on chain {payload['chainId']}{chain}"
    at = f"pinned as {pinned}" if "TX-TO" not in failed else f"NOT the pinned {pinned}"
    yield "TX-TO", KEPT, "", f"contract {safe(payload['to'], limit=100)}, {at}"
    if case.delegated_for is not None:
        yield "TX-TO", KEPT, "", f"by delegatedAction, for {checksum_address(case.delegated_for)}"
    yield "TX-VALUE", CHOSEN if wei else KEPT, "value", _sent(case, wei, failed)
    fee = f"{to_human(filled.maxFeePerGas, GWEI)} gwei, priority {to_human(filled.maxPriorityFeePerGas, GWEI)} gwei"
    yield "TX-FEES", CHOSEN, "fee per gas", f"at most {fee}"
    most = to_human(filled.gas * filled.maxFeePerGas, NATIVE)
    yield "TX-GAS", CHOSEN, "gas limit", f"{filled.gas}: at most {most} of the native currency for gas"
    yield "TX-NONCE", CHOSEN, "account nonce", str(filled.nonce)


def _sent(case: CallCase, wei: int | None, failed: Collection[str]) -> str:
    if "TX-VALUE" in failed:
        return f"{safe(case.request.payload['value'], limit=100)}, NOT what the plan allows"
    if not wei:
        return "0 (no native currency is sent)"
    most = to_human(case.situation.plan.limits.native_fee_at_most_wei or 0, NATIVE)
    return f"{to_human(wei, NATIVE)} {NATIVE.name} is sent with it as a fee, at most {most}"


def _authorization(case: CallCase) -> Iterator[tuple[str, str, str, str]]:
    """Yield on which chain the account is given, to what, and with which order."""
    chain, contract = case.request.payload["chainId"], case.message["contract"]
    name = LEDGER_CONTRACTS.get(contract, "no contract that the Ledger knows")
    yield "AUTH-CHAIN", KEPT, "on chain", f"{chain}{'' if chain else ', which is EVERY chain'}"
    yield "AUTH-CONTRACT", KEPT, "gives it to", f"{checksum_address(contract)} ({name})"
    yield "AUTH-ORDER", KEPT, "with the order", safe(case.request.fields.get("order", "none"), limit=80)


def transaction_warnings(case: CallCase) -> Iterator[str]:
    """Yield what stands out about a transaction, or an authorization."""
    if case.is_authorization:
        yield from _OF_AN_AUTHORIZATION
        return
    if case.call.is_own:
        yield "A CALL OF THIS VENUE ALONE, pinned with it: what its values mean is the word of its profile."
    token = case.token_for_device
    if not token:
        yield "The Ledger needs Blind signing on for a transaction with calldata: switch it off again afterwards."
    if case.call.name == "approve":
        if token:
            yield "The Ledger is told of the token and shows spender and amount: leave Blind signing off."
        else:
            yield "The Ledger shows neither spender nor amount of an approval of an unknown token: read them here."
        if case.step.values["amountUsdc"].text == "unlimited":
            yield "UNLIMITED approval: the spender may take everything, forever. The plan asks for it."
    if case.call.pending:
        yield "This stores an order: a confirmed transaction is not a filled trade."


_OF_AN_AUTHORIZATION = (
    (
        "THE WHOLE ACCOUNT IS GIVEN TO A CONTRACT, until another authorization takes that back. Whoever has this signature "
        "can use it, with or without the order, until the account nonce is used."
    ),
    "The Ledger shows the contract's name, not its address, and not the account nonce: read both here.",
    (
        "The app's setting Smart account upgrade must be on; it cannot be read. Off, the Ledger refuses to sign. Switch it "
        "off again afterwards."
    ),
)
"""What stands out about every authorization."""

# ---- replacement rows -----------------------------------------------------------------------------------------------
# What a signature would take the place of, beside it: the earlier signatures that have its nonce.


def replacement_rows(case: Case, used: UsedNonces) -> Iterator[str]:
    """Yield the old beside the new, and what may execute; nothing for a step that replaces nothing."""
    if not case.step.replaced_digest or not case.digest:
        return
    use = use_of(case)
    old = [other for other in used.holders(use) if other.shares_nonce(use)]
    if not old:  # what the plan names is not replaced by this, as NONCE-REPLACES says
        return
    yield "REPLACES (named by the plan; old and new have the same nonce)"
    for label, each in (*(("old", other) for other in old), ("new", use)):
        until = "no deadline" if each.deadline_ms is None else f"until {utc_text(each.deadline_ms)}"
        yield f"  {label:<18}step {safe(each.step)} of ceremony {safe(each.ceremony)}"
        yield f"  {'':<18}nonce {each.nonce}, {until}"
        yield f"  {'':<18}{grouped(each.digest[2:34])}"
        yield f"  {'':<18}{grouped(each.digest[34:])}"
    alive = sum(may_execute(other, case.situation) for other in old)
    if not alive:
        yield "The old one can no longer execute: its deadline is past. It may have been executed."
    else:
        yield EITHER if alive < 2 else f"Any one of these {alive + 1} may execute; the online machine chooses."
