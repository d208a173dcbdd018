"""No input makes a reader raise anything outside the exception tree: a stack trace is not an answer."""

from __future__ import annotations

import copy
import json
from io import BytesIO
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from airlock_offline.signing.plan_draft import draft_plan
from airlock_shared.checks.judge import Known, judge_header
from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.documents.requests import parse_requests
from airlock_shared.documents.requests import read_item as read_request
from airlock_shared.documents.signatures import parse_signatures
from airlock_shared.documents.signatures import read_item as read_signed
from airlock_shared.documents.transcript import read_entries
from airlock_shared.errors import AirlockError
from airlock_shared.ethereum.eip712 import read_typed_data
from airlock_shared.plan.reader import parse_plan
from airlock_shared.wire.cbor import from_cbor
from airlock_shared.wire.codec import parse_json, to_cbor, to_json
from airlock_shared.wire.stream import BatchReader
from shared.strategies import json_values
from shared.world import (
    DEPLOYMENT_TEXT,
    PLAN_TEXT,
    RESULTS,
    STEPS,
    VECTORS,
    deployment,
    examined,
    good,
    situation,
    to_bytes,
)

repeatable = settings(
    derandomize=True, deadline=None, database=None, max_examples=400, suppress_health_check=list(HealthCheck)
)
SIGNED_TEXT = (VECTORS / "signatures/good/every-struct.json").read_text()
MAIL = json.loads((VECTORS / "typed-data/good/mail.json").read_text())["document"]
ANY_TEXT = st.text(st.characters(), max_size=20)  # lone surrogates too: JSON can say them
ODD = st.one_of(
    json_values(texts=ANY_TEXT),
    st.sampled_from(
        [2**64, -(2**64) - 1, 2**256, -1, "", "0x", "0x0", "\ud800", "9" * 78, "1" * 79, [], {}, [[]], {"": None}, "\n"]
    ),
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = [path] if path else []
    if isinstance(value, dict | list):
        for key, member in value.items() if isinstance(value, dict) else enumerate(value):
            found += _places(member, (*path, key))
    return found


def _mutated(document: Any, data: st.DataObject) -> Any:
    """Return a copy of a document with one to three members replaced, dropped or doubled."""
    document = copy.deepcopy(document)
    for _ in range(data.draw(st.integers(1, 3))):
        places = _places(document)
        if not places:
            break
        *parents, last = data.draw(st.sampled_from(places))
        node = document
        for part in parents:
            node = node[part]
        change = data.draw(st.sampled_from(["set", "set", "set", "drop", "add"]))
        if change == "set":
            node[last] = copy.deepcopy(data.draw(ODD))
        elif change == "drop":
            del node[last]
        elif isinstance(node, dict):
            node[data.draw(ANY_TEXT)] = copy.deepcopy(data.draw(ODD))
        else:
            node.insert(last, copy.deepcopy(node[last]))
    return document


def _file(document: Any) -> bytes:
    return json.dumps(document).encode()  # ASCII, so that lone surrogates are escapes


@repeatable
@given(st.binary(max_size=200) | st.text('{}[]",:0123456789eE+-.\\untrefalsNI \n', max_size=80).map(str.encode))
def test_no_bytes_make_a_reader_of_documents_fall(data: bytes) -> None:
    for read in (parse_json, parse_plan, parse_deployment, parse_requests, parse_signatures, _cbor, _batch):
        try:
            read(data)
        except AirlockError:
            continue


def _cbor(data: bytes) -> Any:
    return from_cbor(data, max_items=1000)


def _batch(data: bytes) -> Any:
    return list(BatchReader(BytesIO(data), format_name="f", list_name="list"))


@repeatable
@given(st.sampled_from(STEPS), st.data())
def test_no_changed_request_makes_the_checks_fall(step: str, data: st.DataObject) -> None:
    document = _mutated(good(step), data)
    try:
        header, items, _ = parse_requests(_file(document))
    except AirlockError:
        return
    judge_header(header, situation(), Known()).all()
    for item in items:
        for verdict in examined(item).verdicts.all():
            assert verdict.result in RESULTS
            str(verdict)


@repeatable
@given(st.sampled_from(STEPS), st.data())
def test_no_changed_item_makes_the_reader_of_items_fall(step: str, data: st.DataObject) -> None:
    for value in (_mutated(good(step)["requests"][0], data), data.draw(ODD)):
        try:
            read_request(value)
        except AirlockError:
            continue


@repeatable
@given(st.sampled_from(STEPS), st.data())
def test_no_changed_request_makes_the_draft_of_a_plan_fall(step: str, data: st.DataObject) -> None:
    document = good(step)
    document["requests"][0]["payload"] = _mutated(document["requests"][0]["payload"], data)
    try:
        header, items, _ = parse_requests(_file(document))
        parse_plan(draft_plan(header, items, deployment()).encode())
    except AirlockError:
        return


@repeatable
@given(st.data())
def test_no_changed_signatures_make_the_checks_fall(data: st.DataObject) -> None:
    document = _mutated(json.loads(SIGNED_TEXT), data)
    try:
        items = parse_signatures(_file(document))[1]
    except AirlockError:
        return
    for signed in items[:2]:
        examined(parse_requests(to_bytes(good("open")))[1][0], None, signed)


@repeatable
@given(st.data())
def test_no_changed_signature_item_makes_its_reader_fall(data: st.DataObject) -> None:
    for value in (_mutated(json.loads(SIGNED_TEXT)["signatures"][0], data), data.draw(ODD)):
        try:
            read_signed(value)
        except AirlockError:
            continue


@repeatable
@given(st.data())
def test_no_changed_typed_data_makes_the_hashing_fall(data: st.DataObject) -> None:
    for value in (_mutated(MAIL, data), data.draw(ODD)):
        try:
            read_typed_data(parse_json(_file(value)))
        except AirlockError:
            continue


@repeatable
@given(st.data())
def test_no_changed_deployment_makes_its_reader_fall(data: st.DataObject) -> None:
    try:
        parse_deployment(_file(_mutated(json.loads(DEPLOYMENT_TEXT), data)))
    except AirlockError:
        return


_TOML_VALUES = st.sampled_from(
    ["", "[]", "{}", "true", "1.5", "inf", "-1", "0x1F", "1_000", '"x"', "''", '"""\n"""', "[[1]]", "{ a = 1 }",
     "2026-01-01", "07:32:00", "2026-01-01T00:00:00", "2026-01-01T00:00:00Z", "9999-12-31T23:59:59+00:00",
     "99999999999999999999", '"\\u0000"', '"\\u202e"', "=", "]", "#", '{ at_least = "1" }', '{ at_most = [] }']
)  # fmt: skip


@repeatable
@given(st.integers(0), _TOML_VALUES, st.integers(0), st.sampled_from(["value", "drop", "double", "cut"]))
def test_no_changed_plan_makes_its_reader_fall(line: int, value: str, place: int, change: str) -> None:
    lines = PLAN_TEXT.splitlines()
    line %= len(lines)
    if change == "value":
        lines[line] = lines[line].partition("=")[0] + "= " + value
    elif change == "drop":
        del lines[line]
    elif change == "double":
        lines.insert(place % len(lines), lines[line])
    else:
        lines[line] = lines[line][: place % (len(lines[line]) + 1)]
    try:
        parse_plan("\n".join(lines).encode())
    except AirlockError:
        return


@repeatable
@given(json_values(texts=ANY_TEXT) | st.binary(max_size=60))
def test_no_cbor_makes_its_reader_fall_and_what_it_returns_is_json(value: Any) -> None:
    try:
        read = _cbor(value if isinstance(value, bytes) else to_cbor(value))
    except AirlockError:
        return
    assert parse_json(to_json(read)) == read


@repeatable
@given(st.lists(st.binary(max_size=40) | json_values(texts=ANY_TEXT).map(_file), max_size=3))
def test_no_lines_make_the_reader_of_transcripts_fall(lines: list[bytes]) -> None:
    try:
        read_entries(lines)
    except AirlockError:
        return
