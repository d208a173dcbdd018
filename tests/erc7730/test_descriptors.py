"""The descriptors say of the catalogue what the review screen says, and leave nothing out."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from typing import Any

import pytest
from eth_utils.address import to_checksum_address

from airlock_offline.signing.review import review_sections
from airlock_online.wallets.erc7730 import DESCRIBED_INTENTS, DESCRIPTOR_LABELS, label_of, make_descriptors
from airlock_rehearsal.services.builder.unsigned import CALLS as BUILDER_CALLS
from airlock_shared.checks.judge import Examined
from airlock_shared.checks.model import Case, IntentCase
from airlock_shared.documents.deployment import Deployment, read_deployment
from airlock_shared.plan.decisions import Decision
from airlock_shared.units import CHOICE, CODE, FLAG, UNIX_MS
from airlock_shared.venue.calls import CALLS, DELEGATED_ACTION
from airlock_shared.venue.structs import CATALOGUE, OPENED_MS
from airlock_shared.venue.structs import field as leaf_of
from erc7730.descriptor_world import Files, formats, made
from shared.make_payloads import ENCODE_TYPES
from shared.world import DEPLOYMENT_TEXT, examined_of, good, plan, situation

STEPS = [(folder, step) for folder in ("requests", "transactions") for step in plan(folder).steps]


def _deployment(**changed: Any) -> Deployment:
    return read_deployment(json.loads(DEPLOYMENT_TEXT) | changed)


def test_every_struct_and_call_is_there_once_under_its_domain_or_contract_with_the_published_type() -> None:
    described = [(file, key) for file, document in made().items() for key in document["display"]["formats"]]
    published = {text.partition("(")[0]: text for text in ENCODE_TYPES}
    structs = [(f"eip712-{CATALOGUE[name].domain}.json", text) for name, text in published.items()]
    assert sorted(row for row in described if row[0].startswith("eip712-")) == sorted(structs)
    calls = [(f"calldata-{call.contract}.json", call.name) for call in CALLS.values()]
    calls.append(("calldata-tradingRouter.json", DELEGATED_ACTION))
    found = [(file, key.partition("(")[0]) for file, key in described if file.startswith("calldata-")]
    assert sorted(found) == sorted(calls)
    assert {name for _, name in found} == set(BUILDER_CALLS)


def test_a_descriptor_is_bound_to_what_is_pinned() -> None:
    pinned = json.loads(DEPLOYMENT_TEXT)
    for file, document in made().items():
        kind, _, name = file.removesuffix(".json").partition("-")
        bound = document["context"]["eip712" if kind == "eip712" else "contract"]
        address = pinned["domains"][name]["verifyingContract"] if kind == "eip712" else pinned["contracts"][name]
        assert bound["deployments"] == [{"chainId": pinned["chain_id"], "address": address}]
        if kind == "eip712":
            assert bound["domain"] == {member: pinned["domains"][name][member] for member in ("name", "version")}


def test_every_leaf_is_shown_once_and_none_is_hidden() -> None:
    shown = {key.partition("(")[0]: content["fields"] for key, content in formats(made())}
    known = {name: intent.fields for name, intent in CATALOGUE.items()} | {name: c.fields for name, c in CALLS.items()}
    for name, leaves in known.items():
        assert [field["path"] for field in shown[name]] == [leaf.path for leaf in leaves]
    assert {field["visible"] for fields in shown.values() for field in fields} == {"always"}


def test_the_words_fit_a_ledger_and_tell_the_leaves_of_a_format_apart() -> None:
    used = set()
    for _, content in formats(made()):
        labels = [field["label"] for field in content["fields"]]
        assert len(set(labels)) == len(labels)
        used |= set(labels)
        assert all(len(label) <= 20 and label.isascii() for label in labels)
        assert 0 < len(content["intent"]) <= 30
    assert used == {*DESCRIPTOR_LABELS.values(), "Call"}
    assert label_of(leaf_of("", OPENED_MS)) == "Opened at (unix ms)"
    described = {key.partition("(")[0] for key, _ in formats(made())}
    assert set(DESCRIBED_INTENTS) == described == {*CATALOGUE, *CALLS, DELEGATED_ACTION}


def test_without_names_for_the_choices_their_numbers_are_shown() -> None:
    files = make_descriptors(_deployment(enums={}), "Venue", None)
    fields = [field for _, content in formats(files) for field in content["fields"]]
    assert [field["format"] for field in fields if field["label"] == "Order type"] == ["raw", "raw", "raw"]
    assert files["eip712-trading.json"]["metadata"]["enums"] == {"kind": {"4": "take_profit", "5": "stop_loss"}}


def test_another_deployment_gives_other_bonds_and_the_same_words() -> None:
    changed = json.loads(DEPLOYMENT_TEXT)
    for domain in changed["domains"].values():
        domain["chainId"] = 8453
    other = make_descriptors(_deployment(domains=changed["domains"], chain_id=8453), "Venue", "https://venue.example")
    assert json.dumps(other).replace('"chainId": 8453', '"chainId": 84532') == json.dumps(made())
    assert other != made()


@cache
def _examined(folder: str, step: str) -> Examined:
    found = examined_of(good(step, folder), situation(folder))
    assert not found.verdicts.blocking()
    return found


def _case(folder: str, step: str) -> Case:
    case = _examined(folder, step).case
    assert case is not None
    return case


def _described(files: Files, case: Case) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the format of a case and the metadata of its descriptor, found as a wallet does: by contract and by type."""
    name = case.intent.name if isinstance(case, IntentCase) else case.call.name
    kind = "eip712" if isinstance(case, IntentCase) else "contract"
    found = [
        (content, document["metadata"])
        for document in files.values()
        if kind in document["context"]
        for key, content in document["display"]["formats"].items()
        if key.startswith(f"{name}(")
    ]
    assert len(found) == 1
    return found[0]


def _by_wallet(field: dict[str, Any], raw: Any, metadata: dict[str, Any]) -> str:
    """Return what a wallet shows of a value by the rules of the standard; the token of ``tokenAmount`` is USDC."""
    params = field.get("params", {})
    if field["format"] == "unit":
        return f"{_decimal(raw, params['decimals'])} {params['base']}"
    if field["format"] == "tokenAmount":
        assert params["tokenPath"] == "@.to"
        return params["message"] if raw >= int(params["threshold"], 16) else f"{_decimal(raw, 6)} USDC"
    if field["format"] == "date":
        assert params == {"encoding": "timestamp"}
        return datetime.fromtimestamp(raw, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    if field["format"] == "enum":
        return str(metadata["enums"][params["$ref"].removeprefix("$.metadata.enums.")][str(raw)])
    if field["format"] == "addressName":
        return str(to_checksum_address(raw))
    assert field["format"] == "raw"
    return f"0x{raw.hex()}" if isinstance(raw, bytes) else str(raw)


def _decimal(raw: int, decimals: int) -> str:
    text = f"{Decimal(raw).scaleb(-decimals):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _in_review(decision: Decision, wallet: str, review: str) -> bool:
    """Tell whether the review screen, without its blanks, says of a leaf what a wallet would say."""
    name = decision.field.path.rsplit(".", 1)[-1]
    if decision.field.unit is FLAG:
        wallet = {"True": "yes (long)", "False": "no (short)"}[wallet]
    if decision.field.unit is CODE:
        wallet = f'"{bytes.fromhex(wallet[2:]).rstrip(bytes(1)).decode()}"'
    if decision.field.unit is UNIX_MS:
        return f"raw{wallet}(unixms)" in review
    if wallet == "Unlimited":
        return "UNLIMITEDapproval" in review
    if decision.field.unit is CHOICE:  # the review gives its number, and its name as the plan's
        shown = rf"{name}{decision.raw}plan(?:{decision.field.rule.parameter})?{wallet}:equal"
        return re.search(shown, review) is not None
    return name + re.sub(r"\s", "", wallet) in review


def _compared(files: Files, folder: str, step: str) -> Iterator[tuple[str, bool]]:
    case = _case(folder, step)
    content, metadata = _described(files, case)
    lines = [line for section in review_sections(_examined(folder, step), 1, 1) for line in section]
    review = re.sub(r"\s", "", "".join(line.lstrip("✓✗·") for line in lines))
    for field, decision in zip(content["fields"], case.decisions, strict=True):
        assert field["path"] == decision.field.path
        wallet = _by_wallet(field, decision.raw, metadata)
        yield f"{field['label']}: {wallet}", _in_review(decision, wallet, review)


@pytest.mark.parametrize(("folder", "step"), STEPS, ids=[step for _, step in STEPS])
def test_a_wallet_shows_what_the_review_screen_shows(folder: str, step: str) -> None:
    assert [shown for shown, equal in _compared(made(), folder, step) if not equal] == []


@pytest.mark.parametrize(
    ("path", "changed"),
    [
        ("_amount", {"params": {"base": "USDC", "decimals": 5}}),
        ("_openTimestamp", {"format": "raw"}),
        ("_deadline", {"format": "unit", "params": {"base": "s", "decimals": 3}}),
    ],
)
def test_another_format_than_the_review_screen_has_is_noticed(path: str, changed: dict[str, Any]) -> None:
    files = made()
    content, _ = _described(files, _case("requests", "close"))
    field = next(field for field in content["fields"] if field["path"] == path)
    field.update(changed)
    assert [shown for shown, equal in _compared(files, "requests", "close") if not equal] != []
