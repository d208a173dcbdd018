"""The page as a file: self-contained, and with a policy that names its one script and one style."""

from __future__ import annotations

import base64
import hashlib
import json
import re

import pytest

from airlock_shared.errors import UsageError
from airlock_shared.qr.documents import Transfer, cycle_texts, densities_of
from airlock_shared.qr.pictures import qr_page
from airlock_shared.text.words import grouped, spoken
from shared.qr.transfers import batch, one_intent, whole_plan

POLICY = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]+)"')
DATA = re.compile(r'<script id="transfer" type="application/json">(.*?)</script>', re.DOTALL)


def source_hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def parts(made: str) -> tuple[str, str, str]:
    (style,) = re.findall(r"<style>(.*?)</style>", made, re.DOTALL)
    (script,) = re.findall(r"<script>(.*?)</script>", made, re.DOTALL)
    (policy,) = POLICY.findall(made)
    return style, script, policy


def test_the_policy_allows_its_own_script_and_style_and_nothing_else() -> None:
    style, script, policy = parts(qr_page(one_intent()).decode())
    assert policy.split("; ") == [
        "default-src 'none'",
        f"script-src {source_hash(script)}",
        f"style-src {source_hash(style)}",
        "base-uri 'none'",
        "form-action 'none'",
    ]


def test_it_names_no_address_and_no_other_file() -> None:
    made = qr_page(one_intent()).decode()
    assert not re.search(r"https?:|//[a-z]|\bsrc\s*=|\bhref\s*=|@import|url\(|import\(|fetch\(|XMLHttp|WebSocket", made)


@pytest.mark.parametrize(
    "word", ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("]
)
def test_its_script_makes_no_markup_and_no_code_of_texts(word: str) -> None:
    assert word not in parts(qr_page(one_intent()).decode())[1]


def test_it_holds_the_texts_of_every_density_and_the_names_to_compare() -> None:
    (data,) = DATA.findall(qr_page(whole_plan()).decode())
    value = json.loads(data)
    assert {each["version"]: each["texts"] for each in value["densities"]} == {
        version: cycle_texts(whole_plan(), version) for version in (10, 15, 20, 27)
    }
    assert value["densities"][value["density"]]["version"] == 20
    assert value["pause_ms"] == 200
    assert value["words"] == spoken(whole_plan().fingerprint)
    assert value["fingerprint"] == grouped(whole_plan().fingerprint)


def test_a_still_code_is_there_once() -> None:
    (data,) = DATA.findall(qr_page(batch(1)[1]).decode())
    value = json.loads(data)
    offered = [(each["version"], len(each["texts"])) for each in value["densities"]]
    assert offered == [(version, len(cycle_texts(batch(1)[1], version))) for version in densities_of(batch(1)[1])]
    assert [count for _, count in offered].count(1) == 1
    assert offered[value["density"]][1] == 1


@pytest.mark.parametrize(
    "text", ["</script>", "<!--", "\u2028\u2029", "a & b", "\x00\x1b[31m", "@SCRIPT@", "@TRANSFER@"]
)
def test_a_name_cannot_leave_its_element(text: str) -> None:
    made = qr_page(one_intent()._replace(kind=text, ceremony=text)).decode()
    (data,) = DATA.findall(made)
    assert not set("<>&\u2028\u2029\x00\x1b") & set(data)
    assert parts(made) == parts(qr_page(one_intent()).decode())


def test_a_message_too_long_for_codes_has_no_page() -> None:
    with pytest.raises(UsageError, match="too many for codes"):
        qr_page(Transfer("bytes", bytes((2 << 20) + 1), "x", "y", "00" * 32))
