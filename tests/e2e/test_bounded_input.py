"""Hostile texts through the installed commands: half a character, a key without end, an item without end, a break inside."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from e2e.altering_proxy import altering
from e2e.conftest import BothMachines, refused

HALF = rb'"\ud800'


# ---- half a character, from a builder ---------------------------------------------------------------------------------


def test_half_a_character_in_what_the_venue_says_of_itself_is_refused(desk: BothMachines) -> None:
    output = desk.path("half.json")
    with altering(desk.services.builder_url) as builder:
        builder.alter = lambda body: re.sub(rb'("name": ?)"', lambda found: found[1] + HALF, body)
        ended = desk.online("deployment", "fetch", "--name", "half", "--builder", builder.url, "-o", output)
    refused(ended, 4, "DOC-UTF8", "lone surrogate")
    assert not output.exists()


# ---- TOML ---------------------------------------------------------------------------------------------------------------

DOTTED = "a" + ".a" * 20_000 + " = 1\n"
QUOTED = '"a" . ' * 7_000 + "a = 1\n"
HEADER = "[" + "a." * 20_000 + "a]\n"
INLINE = "a = {" + "b." * 20_000 + "b = 1}\n"
AFTER_TEXT = 'a = {b = """\n"", c""", ' + "b." * 20_000 + "b = 1}\n"
AFTER_LITERAL = "a = {b = '''\n\"''', " + "b." * 20_000 + "b = 1}\n"
NESTED = "a = " + "[" * 20_000 + "]" * 20_000 + "\n"
ENDLESS = {
    "dotted": DOTTED, "quoted": QUOTED, "header": HEADER, "inline": INLINE, "after a text": AFTER_TEXT,
    "after a literal": AFTER_LITERAL, "nested": NESTED, "backslashes": 'a = "' + '\\"' * 20_000 + "\n",
    "quotes": '"' * 40_000, "apostrophes": "'\"" * 20_000,
}  # fmt: skip


@pytest.mark.parametrize("text", ENDLESS.values(), ids=ENDLESS)
def test_a_plan_or_configuration_that_never_ends_is_refused_at_once(desk: BothMachines, text: str) -> None:
    plan = desk.path("endless.toml")
    plan.write_text(text)
    (desk.folder / "offline-home/config.toml").write_text("")
    begun = time.monotonic()
    assert desk.offline("completion", "--help").code == 0
    start_s = time.monotonic() - begun
    begun = time.monotonic()
    refused(desk.offline("plan", "show", plan), 2, "PLAN-FORM")
    (desk.folder / "offline-home/config.toml").write_text(text)
    refused(desk.offline("plan", "show", plan), 2, "is not TOML")
    assert time.monotonic() - begun < 2 * start_s + 2


# ---- a requests document that breaks inside ---------------------------------------------------------------------------


def _requests(desk: BothMachines) -> tuple[Path, Path]:
    plan, requests = desk.prepare("market-close")
    return plan, requests


@pytest.mark.parametrize(
    ("old", "new", "check"),
    [("\n]}\n", "", "DOC-TRUNCATED"), ('"step"', '"stop"', "DOC-FIELD"), ('"payload"', "payload", "DOC-JSON"),
     ("\n]}\n", ',\n{"step": "b"}]}', "DOC-COUNT"), ("\n]}\n", "\n]}\n1", "DOC-JSON")],
)  # fmt: skip
def test_verify_prints_one_json_document_also_when_the_requests_break_inside(
    desk: BothMachines, old: str, new: str, check: str
) -> None:
    plan, requests = _requests(desk)
    text = requests.read_text()
    assert text.count(old) == 1
    requests.write_text(text.replace(old, new))
    ended = desk.offline("verify", requests, "--plan", plan, "--json")
    told = json.loads(ended.out)
    assert (ended.code, told["ok"], told["error"]["check"], told["error"]["exit_code"]) == (4, False, check, 4)
    assert check in ended.err


# ---- a mistyped address -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("json_too", [(), ("--json",)])
def test_a_mistyped_address_is_never_answered_with_a_checksum_that_fits_it(
    desk: BothMachines, json_too: tuple[str]
) -> None:
    right = "0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D"
    wrong = "0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8C"
    plan = desk.write_plan("delegate-key")
    plan.write_text(plan.read_text().replace(right, wrong))
    for run, words in ((desk.online, ("plan", "show", plan)), (desk.offline, ("plan", "show", plan)),
                       (desk.offline, ("plan", "check", plan)), (desk.online, ("nonce", wrong, "--deployment", "rehearsal")),
                       (desk.online, ("delegation", wrong, "--deployment", "rehearsal"))):  # fmt: skip
        ended = run(*words, *json_too)
        assert ended.code, words
        said = ended.out + ended.err
        same = {found for found in re.findall(r"0x[0-9a-fA-F]{40}", said) if found.lower() == wrong.lower()}
        assert same <= {wrong}, words
