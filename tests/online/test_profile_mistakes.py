"""A profile's mistakes: told at once, each with file, place, nearest name, what is allowed; and not as an alteration."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from airlock_online.cli.prepare_steps import accepted
from airlock_online.preparing.prepare import Prepared
from airlock_online.preparing.venue_profile import add_venue_profile
from airlock_shared.checks.judge import Known, judge_item
from airlock_shared.checks.model import Situation
from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.errors import DocumentError, ExitCode, Refusal
from airlock_shared.venue.profile import VENUE_FORMAT, venue_of
from airlock_shared.venue.profile_words import resolve_profile
from second_venue.other_types import PROFILE
from shared.make_payloads import NOW_MS
from shared.world import DEPLOYMENT_TEXT, good, plan, request_of, to_bytes

DOCUMENT = json.loads(DEPLOYMENT_TEXT)
WORSE = {name.replace("worst", "worse"): kind for name, kind in PROFILE["structs"]["CloseTradeReq"]["leaves"].items()}
OWN = {
    "encode_type": "CancelReq(address trader,uint256 nonce)", "leaves": {"trader": "trader", "nonce": "nonce"},
    "domain": "trading", "signer_rule": "trader-only", "route": "relayer",
}  # fmt: skip
Change = Callable[[dict[str, Any]], object]
_TEXT = "DelegateReq(address trader,address delegate,{}uint256 deadline,{}uint256 nonce)"


def refused(profile: Any, file: str = "venue.json") -> DocumentError:
    data = profile if type(profile) is bytes else json.dumps(profile).encode()
    with pytest.raises(DocumentError) as caught:
        add_venue_profile(DOCUMENT, data, file)
    assert caught.value.exit_code is ExitCode.DOCUMENT
    assert "altered" not in str(caught.value)
    return caught.value


def changed(*changes: Change) -> dict[str, Any]:
    made = copy.deepcopy(PROFILE)
    for change in changes:
        change(made)
    return made


def in_struct(name: str, **members: Any) -> Change:
    return lambda profile: profile["structs"].setdefault(name, {}).update(members)


def in_leaves(name: str, **leaves: Any) -> Change:
    return lambda profile: profile["structs"][name]["leaves"].update(leaves)


def in_calls(name: str, **members: Any) -> Change:
    return lambda profile: profile["calls"].setdefault(name, {}).update(members)


def own(**members: Any) -> Change:
    """Return what gives the profile a struct of its own with these members, or these to the one that it has."""
    return lambda profile: profile["structs"].setdefault("CancelReq", dict(OWN)).update(members)


WRONG: dict[str, tuple[Change, tuple[str, ...]]] = {
    "a section": (lambda p: p.update(struct={}), ("unknown members: ['struct']", "did you mean structs?")),
    "a member of a struct": (in_struct("DelegateReq", encodetype="x"),
                             ("structs.DelegateReq: unknown members", "did you mean encode_type?")),
    "the name of a struct that ships": (in_struct("DelegateRequ", encode_type="x"),
                                        ("structs.DelegateRequ: it does not ship", "did you mean DelegateReq?")),
    "a kind": (in_leaves("DelegateReq", expiry="expirry"),
               ("structs.DelegateReq.leaves.expiry: no kind", "did you mean expiry?", "opened-ms")),
    "a leaf": (in_struct("CloseTradeReq", leaves=WORSE),
               ("structs.CloseTradeReq.leaves: not every leaf once: missing ['worst'], unknown ['worse']",
                "did you mean worst?")),
    "a type that cannot hold it": (in_leaves("DelegateReq", expiry="delegate"),
                                   ("leaves.expiry: a delegate is not of this type",)),
    "a member beside a label": (in_leaves("DelegateReq", expiry={"kind": "expiry", "lable": "x"}),
                                ("leaves.expiry: unknown members: ['lable']", "did you mean label?")),
    "an order": (in_struct("DelegateReq", abi_order=["nonce"]),
                 ("structs.DelegateReq.abi_order: not the struct's members",)),
    "a domain": (own(domain="tradin"), ("structs.CancelReq.domain: not one of these", "did you mean trading?")),
    "a signer's rule": (own(signer_rule="trader_only"), ("CancelReq.signer_rule", "did you mean trader-only?")),
    "a route": (own(route="core-ap"), ("structs.CancelReq.route", "did you mean core-api?")),
    "the name of a call that ships": (in_calls("claimToken", signature="claimToken()"),
                                      ("calls.claimToken: it does not ship", "did you mean claimTokens?")),
    "a contract": (in_calls("go", signature="go()", contract="tradingStorag"),
                   ("calls.go.contract: no contract of this deployment", "did you mean tradingStorage?")),
}  # fmt: skip


def test_each_mistake_is_told_with_file_place_and_nearest_name_and_none_hides_another() -> None:
    for change, told in WRONG.values():
        error = refused(changed(change))
        assert error.what.startswith(("venue.json has one mistake, ", "venue.json has 2 mistakes, "))
        assert ("nothing of it is used" in error.what, "venue-profile.md" in error.do) == (True, True)
        assert [text for text in told if text not in error.what] == [], error.what
    in_one_place = ("a member of a struct", "a kind", "a type that cannot hold it")
    cases = [WRONG[case] for case in WRONG if case not in in_one_place]
    error = refused(changed(own(), *(change for change, _ in cases)))
    assert [text for _, told in cases for text in told if text not in error.what] == [], error.what


def test_of_many_mistakes_forty_are_told_and_what_is_quoted_reaches_no_screen_as_it_came() -> None:
    leaves = {f"m{n}": "expirry" for n in range(50)}
    text = f"ManyReq(address trader,{','.join(f'uint256 m{n}' for n in range(50))},uint256 nonce)"
    many = in_struct(
        "ManyReq", **OWN | {"encode_type": text, "leaves": leaves | {"trader": "trader", "nonce": "nonce"}}
    )
    error = refused(changed(many))
    assert error.what.startswith("venue.json has 50 mistakes, ")
    assert error.what.count("did you mean expiry?") == 40
    assert error.what.endswith("and 10 more")
    hostile = "\x1b[2J\u202e\nplan: equal"
    profile = changed(
        in_leaves("DelegateReq", expiry=hostile), own(domain=hostile), in_calls(hostile, signature=hostile)
    )
    told = refused(profile).what
    assert not any(mark in told for mark in ("\x1b", "\u202e", "\n"))


@pytest.mark.parametrize(
    ("data", "check", "told"),
    [
        (b"{", "DOC-JSON", "not JSON at character 1"),
        (b"[]", "DOC-VENUE", "format: not a profile"),
        (b"\xff", "DOC-UTF8", "UTF-8"),
        (b'{"format": "airlock/venue-signed@2"}', "DOC-VENUE", "expected airlock/venue-signed@1"),
    ],
)
def test_a_file_that_is_no_profile_is_told_by_its_name(data: bytes, check: str, told: str) -> None:
    error = refused(data, "folder/venue.json")
    assert (error.check, told in error.what) == (check, True), error.what
    assert error.what.startswith("folder/venue.json has one mistake, ")


def test_the_signing_machine_refuses_on_the_first_by_the_same_reader() -> None:
    whole = resolve_profile(PROFILE)
    whole["structs"]["CloseTradeReq"]["leaves"]["amount"] = "amont"
    whole["structs"]["DelegateReq"]["leaves"]["expiry"] = "expirry"
    with pytest.raises(DocumentError) as caught:
        venue_of(whole)
    assert (caught.value.where, caught.value.check) == ("structs.CloseTradeReq.leaves.amount", "DOC-VENUE")
    assert [error.where for error in caught.value.more] == ["structs.DelegateReq.leaves.expiry"]
    assert "expirry" not in str(caught.value)


# ---- at prepare: what the builder sends otherwise than the profile has it ---------------------------------------------


def at_prepare(document: dict[str, Any], entry: dict[str, Any] | None = None) -> Refusal:
    """Return what ``prepare`` says of a payload, at a venue whose profile may have its struct otherwise."""
    profile = {"format": VENUE_FORMAT, "structs": {"DelegateReq": entry}} if entry else None
    pinned = parse_deployment(to_bytes({**DOCUMENT, "signed": resolve_profile(profile)} if profile else DOCUMENT))
    found = judge_item(request_of(document), Situation(plan(), pinned, NOW_MS), Known())
    with pytest.raises(Refusal) as caught:
        accepted(Prepared(request_of(document), found.verdicts))
    return caught.value


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"encode_type": _TEXT.format("uint256 expiry,", "")},
         "DelegateReq.tnc is string at the builder, and nothing in the profile"),
        ({"encode_type": _TEXT.format("uint256 expiry,", "string tnc,uint256 zz,"), "leaves": {"zz": "zero"}},
         "DelegateReq.zz is nothing at the builder, and uint256 in the profile"),
        ({"encode_type": _TEXT.format("uint64 expiry,", "string tnc,")},
         "DelegateReq.expiry is uint256 at the builder, and uint64 in the profile"),
        ({"encode_type": _TEXT.format("string tnc,uint256 expiry,", "")}, "the members are in another order"),
    ],
)  # fmt: skip
def test_a_profile_that_lacks_a_member_is_told_as_that_and_as_no_alteration(entry: dict[str, Any], told: str) -> None:
    error = at_prepare(good("desk-key-terms"), entry)
    assert (error.check, told in error.what) == ("TYPES-PINNED", True), error.what
    assert "altered" not in str(error)
    assert error.do.startswith("nothing was written. Compare both with the contract.")


def test_an_order_of_the_encoding_that_the_profile_has_otherwise_is_told_so_too() -> None:
    order = ["nonce", "trader", "delegate", "expiry", "deadline", "tnc"]
    error = at_prepare(good("desk-key-terms"), {"abi_order": order})
    assert (error.check, "altered" in str(error)) == ("ENC-MATCH", False)
    assert "correct the profile" in error.do


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (lambda p: p["domain"].update(chainId=1), "DOMAIN-CHAIN"),
        (lambda p: p["message"].update(delegate="0x" + "11" * 19), "MSG-ADDRESS"),
        (lambda p: p.update(signerRule="trader-or-delegate"), "SIGNER-RULE"),
    ],
)
def test_what_no_profile_can_be_the_cause_of_is_told_as_ever(change: Change, check: str) -> None:
    document = good("desk-key")
    change(document["requests"][0]["payload"])
    error = at_prepare(document)
    assert (error.check, "contract. Where it has it" in error.do) == (check, False)


@pytest.mark.parametrize(
    "types", [7, [], {}, {"DelegateReq": 7}, {"DelegateReq": [7]}, {"DelegateReq": [{"name": "a"}]}]
)
def test_types_of_no_form_are_refused_without_a_difference(types: Any) -> None:
    document = good("desk-key")
    document["requests"][0]["payload"]["types"] = types
    with pytest.raises(Refusal):  # by the reader of requests, or by the gate
        raise at_prepare(document)
