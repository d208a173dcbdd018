"""What one venue alone has, a struct and a call, by its profile alone: built, signed, sent; and nothing else by it."""

import copy
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import Ledger, ledger_fixture
from e2e.test_second_venue import BY_HAND, PLAN, TRANSACTIONS, Desk, desk_fixture
from plans import TRADER
from second_venue.other_types import PROFILE
from second_venue.venue import STORAGE, second_venue

EXAMPLES = Path(__file__).parents[2] / "docs/reference/examples"
EXAMPLE: dict[str, Any] = json.loads((EXAMPLES / "venue.json").read_text())
LABEL = EXAMPLE["structs"]["CancelReq"]["leaves"]["order"]["label"]
AMOUNT = EXAMPLE["calls"]["depositLp"]["leaves"]["amount"]["label"]
OWN: dict[str, Any] = PROFILE | {part: PROFILE[part] | EXAMPLE[part] for part in ("structs", "calls")}
DEPOSIT = f'call = "depositLp"\namount = "2500000000"\nbeneficiary = "{TRADER}"\n'
CANCEL = f'struct = "CancelReq"\ntrader = "{TRADER}"\norder = "77"\n'


desk = desk_fixture(OWN)
ledger = ledger_fixture("--blind-signing")


def test_a_call_of_the_venue_alone_goes_the_whole_way(desk: Desk, ledger: Ledger) -> None:
    desk.path("plan.toml").write_text(PLAN.format(action="custom", fields=DEPOSIT, number=1))
    words = ("--plan", desk.path("plan.toml"), "--step", "step-1", "-o", desk.path("requests.json"))
    ended = desk.online("call", "POST", "/v2/lp/deposit", f"trader={TRADER}", "usdc=2500", *words, *BY_HAND).done()
    signed = desk.sign(ledger)
    review = " ".join((signed.out + signed.err).split())
    assert signed.code == 0, review
    assert "A CALL OF THIS VENUE ALONE, pinned with it: what its values mean" in review.replace(" · ", " ")
    for shown in ("2500000000", f'the profile calls it "{AMOUNT}"', TRADER, STORAGE.lower(), "depositLp"):
        assert shown in review
    ended = desk.submit("--json")
    assert (ended.code, json.loads(ended.out.splitlines()[-1])["state"]) == (0, "CONFIRMED"), ended.out + ended.err
    assert desk.venue.paths("POST").count("/v2/relay") == 1


def test_a_call_to_a_contract_that_the_venue_does_not_tell_of_is_refused_where_it_is_fetched(tmp_path: Path) -> None:
    with second_venue(TRADER) as running:
        made = Desk(tmp_path, running)
        made.profile = OWN | {"calls": OWN["calls"] | {"depositLp": OWN["calls"]["depositLp"] | {"contract": "vault"}}}
        ended = made.fetch()
        assert (ended.code, "no contract of this deployment" in " ".join(ended.err.split())) == (4, True), ended.err
        assert not made.path("deployment.json").exists()
        made.profile = OWN
        ended = made.fetch().done()


def test_a_venue_with_a_struct_that_the_ledger_signs_over_another_hash_is_not_pinned(tmp_path: Path) -> None:
    told, names = EXAMPLE["structs"]["CancelReq"], [f"m{number}" for number in range(16)]
    held = {
        "encode_type": told["encode_type"][:-1] + f",Held held)Held({','.join(f'uint256 {name}' for name in names)})",
        "leaves": told["leaves"] | {f"held.{name}": "raw" for name in names},
    }
    with second_venue(TRADER) as running:
        made = Desk(tmp_path, running)
        made.profile = OWN | {"structs": OWN["structs"] | {"CancelReq": told | held}}
        ended = made.fetch().done()
        ended = made.offline("trust", made.path("deployment.json"), typed="Yes\n")
    said = (ended.code, "DIGEST-LEDGER" in ended.err, "16 members" in ended.err, "Pin " in ended.err)
    assert said == (3, True, True, False), ended.err
    assert not (made.path("offline-home") / "pins").exists()


ENDPOINTS = (EXAMPLES / "services.toml").read_text().partition("\n")[2]


def _with_endpoints(desk: Desk, text: str = ENDPOINTS) -> Desk:
    """Have this desk's services file say where the venue builds what it alone has, beside all that it says already."""
    folder = desk.path("online-home")
    paths, _, requests = text.partition("[requests")
    told = (folder / "services.toml").read_text().replace("[paths]", paths.strip())
    (folder / "services.toml").write_text(f"{told}\n[requests{requests}")
    return desk


def test_prepare_builds_both_where_the_services_file_has_their_endpoints(desk: Desk, ledger: Ledger) -> None:
    _with_endpoints(desk)
    step = PLAN.partition("[[steps]]")[2].partition("{fields}")[0]
    two = "[[steps]]" + step.replace("step-{number}", "deposit") + DEPOSIT
    desk.prepare("custom", CANCEL, *BY_HAND, plan=PLAN + two).done()
    asked = [each.fields for each in desk.venue.asked if each.path in ("/v2/intents/cancel-order", "/v2/lp/deposit")]
    assert [{**each, "deadlineMs": ""} for each in asked] == [
        {"trader": TRADER, "order": "77", "deadlineMs": ""},
        {"trader": TRADER, "usdc": "2500", "deadlineMs": ""},
    ]
    assert 0 < int(asked[0]["deadlineMs"]) - time.time_ns() // 1_000_000 <= 30 * 60_000
    signed = desk.sign(ledger).done()
    lines = (signed.out + signed.err).splitlines()
    named = next(number for number, line in enumerate(lines) if line.split()[1:] == ["order", "77"])
    assert f'the profile calls it "{LABEL}"' in lines[named + 1], "the label stands below the raw name and its value"
    ended = desk.submit("--json")
    assert [asked.fields["kind"] for asked in desk.venue.asked if asked.path == "/submit"] == ["CancelReq"]
    states = [line["state"] for line in ended.lines if "state" in line]
    assert (ended.code, states) == (0, ["CONFIRMED", "CONFIRMED"]), ended.out + ended.err


UNDECIDED = CANCEL.replace('order = "77"\n', "")


@pytest.mark.parametrize(
    ("fields", "text", "said"),
    [
        (UNDECIDED, ENDPOINTS, "the services file sends order to the builder, and the plan says"),
        (CANCEL, ENDPOINTS.replace('"/v2/intents/cancel-order"', '"/v2/relay"'), "nothing is asked where signed"),
        (CANCEL, ENDPOINTS.replace("CancelReq", "approve"), "[paths] approve: it is no struct or call of this venue"),
    ],
    ids=["undecided", "relay", "shipped-call"],
)
def test_an_endpoint_that_cannot_be_meant_is_told_and_nothing_is_asked(
    desk: Desk, fields: str, text: str, said: str
) -> None:
    asked = len(desk.venue.asked)
    ended = _with_endpoints(desk, text).prepare("custom", fields, plan=PLAN)
    told = " ".join(ended.err.split())
    assert (ended.code, said in told, desk.path("requests.json").exists()) == (2, True, False), told
    assert "POST" not in [each.method for each in desk.venue.asked[asked:]]


FEE_WEI = 300_000_000_000_000
CHANGE = "changeLimit(uint256,uint16,uint32,uint256,uint256,uint256)"
WITH_FEE: dict[str, Any] = copy.deepcopy(PROFILE)
WITH_FEE["calls"]["updateOpenLimitOrder"]["value"] = "fee"
FIELDS = TRANSACTIONS["limit-update"]
LIMITED = PLAN.replace("max_fee_gwei_at_most", 'native_fee_at_most = "0.0003"\nmax_fee_gwei_at_most', 1)


@pytest.fixture
def with_fee(tmp_path: Path) -> Iterator[Desk]:
    with second_venue(TRADER, fees={CHANGE: FEE_WEI}) as running:
        made = Desk(tmp_path, running)
        made.profile = WITH_FEE
        yield made


def test_people_read_the_fee_before_they_pin_and_before_they_sign_and_the_venue_gets_it(
    with_fee: Desk, ledger: Ledger
) -> None:
    desk = with_fee
    assert desk.fetch().code == 0
    pinned = desk.offline("trust", desk.path("deployment.json"), typed="Yes\n")
    said = " ".join((pinned.out + pinned.err).split())
    assert (pinned.code, "native currency may be sent with it as a fee" in said) == (0, True), said
    desk.path("deployment.json").unlink()
    desk.pin()
    desk.prepare("limit-update", FIELDS, *BY_HAND, plan=LIMITED).done()
    shown = desk.offline("plan", "show", desk.path("plan.toml"))
    assert "native fee at most  0.0003 of the native currency" in shown.out
    signed = desk.sign(ledger).done()
    review = " ".join((signed.out + signed.err).split())
    assert "0.0003 of the native currency is sent with it as a fee, · at most 0.0003" in review
    assert "calls changeLimit on chain" in review, "the function that is called, not what it is known as"
    assert "0.0003 ???" in review, "the Ledger has its own line for it"
    desk.submit("--json").done()
    assert desk.venue.paths("POST").count("/v2/relay") == 1
