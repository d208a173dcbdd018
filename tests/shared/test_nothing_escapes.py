"""No input makes a reader raise anything outside the exception tree: a stack trace is not an answer."""

import json
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from airlock_shared.checks.judge import Known, judge_header
from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.documents.requests import parse_requests, parse_signatures
from airlock_shared.errors import AirlockError
from airlock_shared.ethereum.typed_document import read_typed_data
from airlock_shared.plan.reader import parse_plan
from airlock_shared.wire.cbor import from_cbor
from airlock_shared.wire.strict_json import parse_json, read_batch
from draws import draws, repeatable
from shared.strategies import ODD, READABLE_TEXT, changed_inside, digits_of, mutated, of_its_kind
from shared.world import DEPLOYMENT_TEXT, PLAN_TEXT, RESULTS, STEPS, VECTORS, examined, good, situation, to_bytes

SIGNED_TEXT = (VECTORS / "signatures/good/every-struct.json").read_text()
MAIL = json.loads((VECTORS / "typed-data/good/mail.json").read_text())["document"]


def _file(document: Any) -> bytes:
    return json.dumps(document).encode()  # ASCII, so that lone surrogates are escapes


@repeatable
@given(st.binary(max_size=200) | st.text('{}[]",:0123456789eE+-.\\untrefalsNI \n', max_size=80).map(str.encode))
def test_no_bytes_make_a_reader_of_documents_fall(data: bytes) -> None:
    batch, cbor = partial(read_batch, format_name="f", list_name="list"), partial(from_cbor, max_items=1000)
    readers = (parse_json, parse_plan, parse_deployment, parse_requests, parse_signatures, cbor, batch)
    for read in cast("tuple[Callable[[bytes], object], ...]", readers):
        with suppress(AirlockError):
            read(data)


def test_no_request_that_lies_inside_its_form_makes_the_checks_fall() -> None:
    """Nearly every input is read, and its checks run; half of them as far as the hashes, which the builder made anew."""
    seen: Counter[str] = Counter()

    @repeatable
    @given(st.sampled_from(STEPS), st.data())
    def judged(step: str, data: st.DataObject) -> None:
        document = good(step)
        changed_inside(document, data)
        seen["tried"] += 1
        try:
            header, [item], _ = parse_requests(_file(document))
        except AirlockError:
            return
        verdicts = [*judge_header(header, situation(), Known()).found, *examined(item).verdicts.found]
        assert {verdict.result for verdict in verdicts} <= RESULTS
        assert all(str(verdict) for verdict in verdicts)
        results = {verdict.check: verdict.result for verdict in verdicts}
        seen["examined"] += 1
        seen["hashed"] += results["DIGEST-MATCH"] in ("pass", "refused")
        seen["refused"] += "refused" in results.values()

    judged()
    assert seen["tried"] >= draws(90, 450)
    assert seen["examined"] >= 0.97 * seen["tried"], seen
    assert seen["hashed"] >= 0.5 * seen["tried"], seen
    assert seen["refused"] >= 0.8 * seen["tried"], seen


def test_no_signature_that_lies_inside_its_form_makes_the_checks_fall() -> None:
    seen: Counter[str] = Counter()
    [request] = parse_requests(to_bytes(good("open")))[1]

    @repeatable
    @given(st.data())
    def judged(data: st.DataObject) -> None:
        document = json.loads(SIGNED_TEXT)
        signed = next(item for item in document["signatures"] if item["step"] == "open")
        name = data.draw(st.sampled_from(["digest", "signature", "signature", "signer", "shown", "app"]))
        if name in ("digest", "signature"):
            body = data.draw(digits_of(signed[name][2:]) | st.binary(min_size=32, max_size=32).map(bytes.hex))
            cut = data.draw(st.sampled_from([64, len(body)]))  # other lengths of a signature are in its form too
            signed[name] = "0x" + body[:cut]
        else:
            signed[name] = data.draw(of_its_kind(signed[name], READABLE_TEXT))
        seen["tried"] += 1
        try:
            items = parse_signatures(_file(document))[1]
        except AirlockError:
            return
        [mine] = [item for item in items if item.step == "open"]
        found = examined(request, None, mine)
        seen["examined"] += 1
        seen["refused"] += bool(found.verdicts.blocking())

    judged()
    assert seen["tried"] >= draws(90, 450)
    assert seen["examined"] >= 0.97 * seen["tried"], seen
    assert seen["refused"] >= 0.4 * seen["tried"], seen


@repeatable
@given(st.data())
def test_no_changed_typed_data_and_no_changed_deployment_makes_its_reader_fall(data: st.DataObject) -> None:
    deployment = mutated(json.loads(DEPLOYMENT_TEXT), data)
    for value in (mutated(MAIL, data), data.draw(ODD)):
        with suppress(AirlockError):
            read_typed_data(parse_json(_file(value)))
    with suppress(AirlockError):
        parse_deployment(_file(deployment))


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
    with suppress(AirlockError):
        parse_plan("\n".join(lines).encode())
