"""The nonce ledger: what was signed once is not signed otherwise, and a step not twice while the first may execute."""

from typing import Any

import pytest

from airlock_shared.checks import nonces
from airlock_shared.checks.judge import Known
from airlock_shared.checks.model import Case, Situation, Verdict
from airlock_shared.checks.nonces import Spending, Use, UsedNonces, nonces_of, record_of, use_of
from airlock_shared.documents.transcript import read_entries
from airlock_shared.errors import AirlockError
from airlock_shared.ethereum.signatures import checksum_address
from shared.make_payloads import NOW_MS
from shared.world import case_of, chain, examined, good, good_with, refusals, request_of, situation

MINUTE = 60_000
DEADLINE_MS = NOW_MS + 15 * MINUTE
A, B, C, ROUTER, REFERRAL = (checksum_address(bytes([number]) * 20) for number in (10, 11, 12, 1, 2))
USE = Use("0x" + "00" * 32, 8453, ROUTER, A, B, 7, "ceremony", "step", DEADLINE_MS)
OTHER = USE._replace(digest="0x" + "11" * 32, step="another-step")


def _case(step: str, where: Situation | None = None, **message: Any) -> Case:
    """Return an item with changed members, sealed again and examined."""
    return case_of(good_with(step, **message), where)


def _ledger(*cases: Case) -> UsedNonces:
    return _signed(*[record_of(case) for case in cases])


def _signed(*records: dict[str, Any]) -> UsedNonces:
    """Return what a transcript with these signatures says, as it is on the disk."""
    entries = chain(*[("signed", record) for record in records])
    return nonces_of(read_entries(entry.line() for entry in entries))


def _verdicts(case: Case, ledger: UsedNonces) -> list[Verdict]:
    found = examined(case.request, case.situation, known=Known(used=ledger)).verdicts.found
    return [verdict for verdict in found if verdict.check.startswith("NONCE-")]


def _judge(case: Case, ledger: UsedNonces) -> set[str]:
    return refusals(_verdicts(case, ledger))


@pytest.mark.parametrize("step", ["open", "referral"])
def test_the_same_digest_again_is_a_ceremony_that_is_resumed(step: str) -> None:
    assert _judge(_case(step), _ledger(_case(step))) == set()
    elsewhere = situation()._replace(plan=situation().plan._replace(id="another-day"))
    assert _judge(_case(step, elsewhere), _ledger(_case(step))) == {"NONCE-USED"}


@pytest.mark.parametrize(
    ("change", "taken"),
    [
        ({}, True),
        ({"digest": USE.digest, "step": USE.step}, False),  # the same intent
        ({"digest": USE.digest}, True),  # once, for one of two steps
        ({"nonce": 8}, False),
        ({"chain_id": 1}, False),
        ({"contract": REFERRAL}, False),  # a space of its own
        ({"signer": C}, True),  # by another delegate, for the same trader
        ({"trader": C}, True),  # by the same delegate, for another trader
        ({"signer": B, "trader": A}, True),
        ({"signer": C, "trader": C}, False),
        ({"signer": C, "trader": A}, True),  # the signer of the first is the trader of the second
        ({"ceremony": "next-year"}, True),
        ({"deadline_ms": 0}, True),  # what is past was still signed
    ],
)
def test_a_nonce_is_taken_for_its_contract_by_signer_and_by_trader(change: dict[str, Any], taken: bool) -> None:
    assert UsedNonces([USE]).clash(OTHER._replace(**change)) == (USE if taken else None)


def test_another_digest_with_a_nonce_that_was_signed_is_refused_for_ever() -> None:
    later = situation()._replace(now_ms=NOW_MS + 60 * 24 * 400 * MINUTE)
    ledger = _ledger(_case("open"))
    case = _case("close", later, _nonce=str(2**255 + 1))
    assert _judge(case, ledger) == {"NONCE-USED"}
    verdict = next(v for v in _verdicts(case, ledger) if v.check == "NONCE-USED")
    assert "step open of ceremony 2026-09-everything" in str(verdict.got)


@pytest.mark.parametrize("uncertainty_s", [0, 300])
@pytest.mark.parametrize(("after_ms", "pending"), [(-20 * MINUTE, True), (0, True), (1, False)])
def test_a_replacement_waits_till_the_deadline_is_surely_past(uncertainty_s: int, after_ms: int, pending: bool) -> None:
    unsure_ms = uncertainty_s * 1000
    later = situation()._replace(now_ms=DEADLINE_MS + unsure_ms + after_ms, clock_uncertainty_ms=unsure_ms)
    ledger = _ledger(_case("open"))
    case = _case("open", later, _nonce="99")
    assert _judge(case, ledger) == ({"NONCE-PENDING"} if pending else set())
    until = "until 2026-09-21 14:33:20 UTC" if unsure_ms else "until 2026-09-21 14:28:20 UTC"
    assert any(until in str(verdict.got) for verdict in _verdicts(case, ledger)) == pending


def test_what_has_no_deadline_may_always_execute() -> None:
    later = situation()._replace(now_ms=NOW_MS + 10_000 * 24 * 60 * MINUTE)
    case, ledger = _case("take-profit", later, nonce="99"), _ledger(_case("take-profit"))
    assert _judge(case, ledger) == {"NONCE-PENDING"}
    assert any("no deadline" in str(verdict.got) for verdict in _verdicts(case, ledger))


@pytest.mark.parametrize(("first", "second", "name"), [("open", "close", "_nonce"), ("close", "stop-twap", "nonce"),
                                                       ("take-profit", "stop-loss", "nonce"),
                                                       ("referral", "own-code", "_nonce")])  # fmt: skip
def test_two_items_with_one_nonce_are_refused(first: str, second: str, name: str) -> None:
    ledger, one = UsedNonces(), _case(first)
    for _ in range(3):  # an item that is examined again is not its own rival
        assert _judge(one, ledger) == set()
    assert _judge(_case(second, None, **{name: str(use_of(one).nonce)}), ledger) == {"NONCE-BATCH"}


SENT = Use("0x" + "33" * 32, 8453, "", A, A, 4, "ceremony", "approve", None)


@pytest.mark.parametrize(
    ("change", "used", "pending"),
    [
        ({}, True, True),  # a higher fee for the same step: the plan has to say so
        ({"nonce": 5}, False, True),  # both would execute
        ({"step": "other"}, True, False),  # one step would push out the other
        ({"ceremony": "other"}, True, False),
        ({"signer": B, "trader": B}, False, True),
        ({"step": "other", "nonce": 5}, False, False),
        ({"ceremony": "other", "nonce": 5}, False, False),
        ({"chain_id": 1}, False, False),
    ],
)
def test_no_transaction_replaces_another_in_silence(change: dict[str, Any], used: bool, pending: bool) -> None:
    ledger, again = UsedNonces([SENT]), SENT._replace(digest="0x" + "44" * 32, **change)
    assert (ledger.clash(again) is not None, bool(ledger.earlier(again))) == (used, pending)


SIGNED = Use("0x" + "33" * 32, 8453, ROUTER, A, B, 4, "ceremony", "approve", None)
INSTEAD = SIGNED._replace(digest="0x" + "44" * 32, replaces=SIGNED.digest)


def _found(use: Use, ledger: UsedNonces) -> set[str]:
    """Return which of the checks on nonces refuse a signature."""
    spending = Spending(_case("open"), use, ledger)
    return {check.id for check in nonces.CHECKS if check.run(spending).result == "refused"}


@pytest.mark.parametrize("earlier", [SIGNED, SENT], ids=["intent", "transaction"])
@pytest.mark.parametrize("change", [{}, {"step": "remove"}, {"ceremony": "emergency"}, {"deadline_ms": 1}])
def test_the_one_that_the_plan_names_is_replaced(earlier: Use, change: dict[str, Any]) -> None:
    use = earlier._replace(digest="0x" + "44" * 32, replaces=earlier.digest, **change)
    assert _found(use, UsedNonces([earlier])) == set()


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        ({"replaces": ""}, {"NONCE-USED", "NONCE-PENDING"}),
        ({"digest": SIGNED.digest}, {"NONCE-REPLACES"}),  # nothing replaces itself
        ({"replaces": "0x" + "55" * 32}, {"NONCE-USED", "NONCE-REPLACES"}),
        ({"nonce": 5}, {"NONCE-REPLACES", "NONCE-PENDING"}),  # both would execute
        ({"nonce": 5, "step": "remove"}, {"NONCE-REPLACES"}),
        ({"signer": C}, {"NONCE-USED", "NONCE-REPLACES", "NONCE-PENDING"}),  # by a bitmap of the signer both execute
        ({"trader": C}, {"NONCE-USED", "NONCE-REPLACES", "NONCE-PENDING"}),
        ({"signer": B, "trader": A}, {"NONCE-USED", "NONCE-REPLACES", "NONCE-PENDING"}),
        ({"signer": C, "trader": C, "step": "remove"}, {"NONCE-REPLACES"}),
        ({"contract": REFERRAL, "step": "remove"}, {"NONCE-REPLACES"}),
        ({"contract": "", "step": "remove"}, {"NONCE-REPLACES"}),  # a transaction with the number of an intent
        ({"chain_id": 1}, {"NONCE-REPLACES"}),
    ],
)
def test_what_shares_less_than_chain_contract_signer_trader_and_nonce_replaces_nothing(
    change: dict[str, Any], refused: set[str]
) -> None:
    assert _found(INSTEAD._replace(**change), UsedNonces([SIGNED])) == refused


THIRD = SIGNED._replace(digest="0x" + "66" * 32)


@pytest.mark.parametrize(
    ("named", "refused"),
    [(INSTEAD.digest, set()), (SIGNED.digest, {"NONCE-USED"}), ("", {"NONCE-USED", "NONCE-PENDING"})],
)
def test_of_several_the_newest_is_replaced_one_at_a_time(named: str, refused: set[str]) -> None:
    assert _found(THIRD._replace(replaces=named), UsedNonces([SIGNED, INSTEAD])) == refused
    of_a_chain = [SIGNED, INSTEAD, THIRD._replace(replaces=INSTEAD.digest)]
    assert [_found(again, UsedNonces(of_a_chain)) for again in of_a_chain] == [set()] * 3  # each can be resumed


def test_a_holder_of_the_nonce_that_is_no_twin_cannot_be_passed_over() -> None:
    stranger = SIGNED._replace(digest="0x" + "77" * 32, signer=C, step="other")
    for order in ([stranger, SIGNED], [SIGNED, stranger]):
        assert _found(INSTEAD, UsedNonces(order)) == {"NONCE-USED"}


def _begun(*events: tuple[str, Use]) -> UsedNonces:
    record = record_of(_case("open"))
    made: list[tuple[str, dict[str, Any]]] = []
    for event, use in events:
        accounts = {name: getattr(use, name) for name in ("signer", "trader", "contract")}
        made.append((event, record | use._asdict() | accounts | {"nonce": str(use.nonce)}))
    return nonces_of(chain(*made))


def test_what_was_begun_and_may_be_signed_keeps_its_place_in_the_order() -> None:
    order = (("signing", SIGNED), ("signing", INSTEAD), ("signed", INSTEAD))
    assert _found(THIRD._replace(replaces=INSTEAD.digest), _begun(*order)) == set()
    assert _found(THIRD._replace(replaces=SIGNED.digest), _begun(*order)) == {"NONCE-USED"}
    assert _found(SIGNED, _begun(*order)) == set()  # the Ledger is asked again for what it may have signed


@pytest.mark.parametrize(
    ("events", "refused"),
    [
        (("signing", "not-signed"), set()),  # surely not signed
        (("signing", "signing", "not-signed"), {"NONCE-USED", "NONCE-PENDING"}),  # the first may have been approved
        (("signing", "signing", "not-signed", "not-signed"), set()),  # not of this program: each no closes one attempt
        (("signing", "signed", "signing", "not-signed"), {"NONCE-USED", "NONCE-PENDING"}),
        (("signing", "signed", "not-signed"), {"NONCE-USED", "NONCE-PENDING"}),  # what was signed stays so
        (("not-signed",), set()),
    ],
)
def test_a_no_frees_the_nonce_of_its_own_attempt_alone(events: tuple[str, ...], refused: set[str]) -> None:
    """The cable was lost while the Ledger showed it: it may have been approved there, whatever is answered the next time."""
    begun = [(event, SIGNED) for event in events]
    assert _found(SIGNED._replace(digest=INSTEAD.digest), _begun(*begun)) == refused
    assert _found(INSTEAD, _begun(*begun)) == (set() if refused else {"NONCE-REPLACES"})
    assert _found(SIGNED, _begun(*begun)) == set()


@pytest.mark.parametrize(("event", "unknown"), [("signing", True), ("signed", False)])
def test_of_what_was_begun_alone_nobody_knows_whether_it_was_signed(event: str, unknown: bool) -> None:
    spending = Spending(_case("open"), SIGNED._replace(digest=INSTEAD.digest), _begun((event, SIGNED)))
    told = [str(check.run(spending).got) for check in nonces.CHECKS if check.run(spending).result == "refused"]
    assert ["not known whether the Ledger signed" in text for text in told] == [unknown] * 2


def test_a_machine_that_signs_nothing_judges_nothing_of_earlier_signatures() -> None:
    spending = Spending(_case("open"), INSTEAD, UsedNonces(knows_signed=False))
    assert [check.run(spending).result for check in nonces.CHECKS] == ["not-judged"] * 3 + ["pass"]


@pytest.mark.parametrize(("step", "kind"), [("open", "trading"), ("referral", "referral")])
def test_the_record_names_the_space_the_plan_and_the_accounts_in_full(step: str, kind: str) -> None:
    record = record_of(_case(step))
    assert (record["kind"], record["plan"]) == (kind, situation().plan.fingerprint)
    assert all(len(record[name]) == 42 for name in ("contract", "signer", "trader"))


@pytest.mark.parametrize(
    ("member", "value"),
    [("nonce", 7), ("nonce", "0x7"), ("nonce", "-1"), ("deadline_ms", "soon"), ("deadline_ms", True), ("contract", "0x12"),
     ("trader", None), ("chain_id", "8453"), ("replaces", 7)],
)  # fmt: skip
def test_a_record_that_cannot_be_read_stops_the_ceremony(member: str, value: Any) -> None:
    record = record_of(_case("open"))
    with pytest.raises(AirlockError):
        nonces.read_use(record | {member: value})
    for lacking in ("digest", "chain_id", "contract", "signer", "trader", "ceremony", "step"):
        with pytest.raises(AirlockError):
            _signed({name: each for name, each in record.items() if name != lacking})


@pytest.mark.parametrize("member", ["message", "types", "domain"])
def test_an_item_that_cannot_be_read_does_not_pass_and_takes_no_nonce(member: str) -> None:
    document = good("open")
    document["requests"][0]["payload"][member] = {}
    ledger = UsedNonces()
    found = examined(request_of(document), known=Known(used=ledger)).verdicts.found
    assert {v.result for v in found if v.check.startswith("NONCE-")} == {"not-reached"}
    assert _judge(_case("open"), ledger) == set()


def test_every_earlier_signature_of_a_step_counts() -> None:
    first, second = use_of(_case("open"))._replace(deadline_ms=1), use_of(_case("open"))
    ledger = UsedNonces([second, first._replace(nonce=3, digest="0x" + "22" * 32)])
    assert _judge(_case("open", _nonce="99"), ledger) == {"NONCE-PENDING"}


def test_a_replaced_step_still_waits_for_both() -> None:
    emergency = INSTEAD._replace(step="remove", ceremony="emergency")
    again = SIGNED._replace(digest="0x" + "88" * 32, nonce=9)
    assert _found(again, UsedNonces([SIGNED, emergency])) == {"NONCE-PENDING"}


@pytest.mark.parametrize("contract", [ROUTER, ""])
def test_the_refusal_names_the_line_of_the_plan_that_would_replace(contract: str) -> None:
    known = SIGNED._replace(contract=contract)
    spending = Spending(_case("open"), known._replace(digest=INSTEAD.digest), UsedNonces([known]))
    refused = nonces.nonce_is_unused.run(spending)
    assert f'replaces = "{known.digest}"' in str(refused.got)
    assert ("account nonce" in refused.what) == (contract == "")
    stranger = nonces.nonce_is_unused.run(spending._replace(use=spending.use._replace(signer=C)))
    assert (stranger.result, "replaces" in str(stranger.got)) == ("refused", False)


def test_a_replacement_is_recorded_as_one() -> None:
    case = _case("open")
    named = case._replace(step=case.step._replace(replaced_digest=SIGNED.digest))
    assert record_of(named)["replaces"] == SIGNED.digest
    assert nonces.read_use(record_of(named)) == use_of(named)
    assert "replaces" not in record_of(case)


def test_entries_that_spend_no_nonce_are_not_in_the_ledger() -> None:
    assert nonces_of(chain(("refused", {"step": "open", "nonce": "junk"}))).clash(OTHER) is None
    assert _signed({"step": "seal", "digest": "0x"}).clash(OTHER) is None
