"""Every text of every document on the screens that show it: none acts on the terminal, and none begins a row as ours do."""

import copy
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from airlock_offline.cli.main import program
from airlock_offline.home import OfflineHome
from airlock_shared.cli.terminal import explain_error
from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.errors import AirlockError
from airlock_shared.plan.authoring import toml
from airlock_shared.text.safe import WIDTH, columns, is_visible
from airlock_shared.venue.profile import VENUE_FORMAT
from commands import FinishedCommand, run_here
from shared.make_payloads import NOW_MS
from shared.world import DEPLOYMENT_TEXT, PLAN_TEXT, VECTORS, good

LIE = "Pinned. All fingerprints are equal."
HOSTILE = (f"a\x1b[2J\r\n{LIE}\n\x1b]0;t\x07\u202e\x9b31m\u2028\x7f", "b" * 77 + f" {LIE}", f"\n{LIE}")

OWN: dict[str, Any] = {
    "format": VENUE_FORMAT,
    "structs": {
        "CancelReq": {
            "encode_type": "CancelReq(address trader,uint256 nonce,uint256 deadline,string note)",
            "leaves": {"trader": "trader", "nonce": "nonce", "deadline": "deadlineMs", "note": "raw"},
            "domain": "trading",
            "signer_rule": "trader-only",
            "route": "relayer",
            "executing": "",
            "abi_order": [],
        }
    },
    "calls": {
        "park": {"signature": "park(uint256 slot,uint256 part)", "leaves": {"slot": "raw", "part": "raw"},
                 "contract": "tradingStorage"},
    },
}  # fmt: skip
MAIL = json.loads((VECTORS / "typed-data/good/mail.json").read_text())


def _texts(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the place of each text in a document, names of members included: these end in None."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield (*place, name, None)
            yield from _texts(member, (*place, name))
    elif isinstance(value, list):
        for number, member in enumerate(value):
            yield from _texts(member, (*place, number))
    elif isinstance(value, str):
        yield place


def _changed(document: Any, place: tuple[Any, ...], text: str) -> Any:
    """Return a document with another text, or another name, at a place."""
    if not place:
        return text
    copy, (first, *rest) = document.copy(), place
    if rest == [None]:
        return {text if name == first else name: member for name, member in document.items()}
    copy[first] = _changed(document[first], tuple(rest), text)
    return copy


def _screen(home: Path, *words: str | Path) -> str:
    ended = CliRunner().invoke(program, ["--home", str(home), *map(str, words)], input="no\n")
    if isinstance(ended.exception, AirlockError):
        return ended.output + "\n" + explain_error(ended.exception)
    assert ended.exception is None or isinstance(ended.exception, SystemExit), (words, ended.exception)
    return ended.output


def _require_harmless(screen: str, place: object) -> None:
    for line in screen.split("\n"):
        assert all(map(is_visible, line.replace(" ", ""))), (place, line)
        assert columns(line) <= WIDTH, (place, line)
        assert not line.startswith(LIE), (place, line)


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{toml(name)} = {_toml(member)}" for name, member in value.items()) + " }"
    return "[" + ", ".join(map(_toml, value)) + "]" if isinstance(value, list) else toml(value)


def _written(folder: Path, kind: str, document: Any) -> tuple[str | Path, ...]:
    """Write a document, and return the command that shows it."""
    file, plan = folder / "document", folder / "plan.toml"
    if kind in ("plan show", "plan check"):
        file.write_text("\n".join(f"{toml(name)} = {_toml(member)}" for name, member in document.items()))
        return (*kind.split(), file)
    file.write_text(json.dumps(document))
    return ("verify", file, "--plan", plan) if kind == "verify" else (kind, file)


DEPLOYED = json.loads(DEPLOYMENT_TEXT)
WITH_OWN = DEPLOYED | {"signed": DEPLOYED["signed"] | {"structs": DEPLOYED["signed"]["structs"] | OWN["structs"]}}
PLAN = tomllib.loads(PLAN_TEXT)
PLAN["steps"].append(
    {
        "id": "note", "action": "custom", "signer": "treasury",
        "fields": {"struct": "CancelReq", "note": "by hand", "trader": PLAN["signers"]["treasury"]["address"]},
    }
)  # fmt: skip
DOCUMENTS: dict[str, tuple[Any, str]] = {  # with what their screen says of a good one
    "trust": (DEPLOYED | {"signed": OWN}, "deployment fingerprint"),
    "verify": (good("open"), "checks passed, 0 refused"),
    "digest": (MAIL["document"], "digest"),
    "plan show": (PLAN, "by hand"),
    "plan check": (PLAN, "plan fingerprint"),
}


@pytest.mark.parametrize("kind", DOCUMENTS)
@pytest.mark.parametrize("first", range(len(HOSTILE)))
def test_no_text_of_a_document_acts_on_the_screen_that_shows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, first: int
) -> None:
    """Every third text of a document in a run, each with the next hostile one; in the three runs all have their turn."""
    for command in ("plan", "verify"):
        monkeypatch.setattr(f"airlock_offline.cli.{command}.now_ms", lambda: NOW_MS)
    home, lied = tmp_path / "home", 0
    pinned = json.dumps(WITH_OWN if kind == "plan check" else DEPLOYED).encode()
    OfflineHome(home).pin(parse_deployment(pinned), pinned, 0)
    (tmp_path / "plan.toml").write_text(PLAN_TEXT)
    document, said = DOCUMENTS[kind]
    assert said in _screen(home, *_written(tmp_path, kind, document))
    places = list(_texts(document))[first :: len(HOSTILE)]
    assert len(places) > 6
    for number, place in enumerate(places):
        text = HOSTILE[number % len(HOSTILE)]
        screen = _screen(home, *_written(tmp_path, kind, _changed(document, place, text)))
        _require_harmless(screen, place)
        lied += LIE.split()[0] in screen
    assert lied > 0  # it does come to the screen


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("words", [("explain",), ("address", "--model"), ("address", "--path")], ids=" ".join)
def test_no_word_of_a_command_does(tmp_path: Path, words: tuple[str, ...], text: str) -> None:
    _require_harmless(_screen(tmp_path / "home", *words, text), words)


# ---- ``digest``: what no signature covers is named, and a document that cannot be hashed is not called an attack ------


def _digest(folder: Path, document: dict[str, Any], *more: str) -> FinishedCommand:
    (folder / "typed.json").write_text(json.dumps(document))
    return run_here(program, "--home", folder / "home", "digest", folder / "typed.json", *more)


def test_what_stands_beside_is_left_out_and_named_and_begins_no_line(tmp_path: Path) -> None:
    document = copy.deepcopy(MAIL["document"]) | {"account": "0x\x1b[2Jdigest 00"}
    document["types"]["Mail"][0]["internalType"] = "struct Person"
    told = _digest(tmp_path, document, "--json").json()
    named = ["account", "types.Mail[0].internalType"]
    assert (told["digest"], told["ignored"]) == (MAIL["expected"]["digest"], named)
    ended = _digest(tmp_path, document)
    assert f"ignored           {', '.join(named)}: no signature covers it" in ended.out
    assert ended.code == 0
    shown = _digest(tmp_path, document | {"x\ndigest            0000 0000": 1}).out
    begun = [line.split()[0] for line in shown.splitlines() if line[:1].strip()]
    assert begun == ["primary", "domain", "struct", "digest", "ignored"]


@pytest.mark.parametrize("change", [{"types": 1}, {"primaryType": "No"}, {"message": []}, {"domain": {}}], ids=repr)
def test_a_refusal_speaks_of_a_document_and_of_no_attack(tmp_path: Path, change: dict[str, Any]) -> None:
    ended = _digest(tmp_path, MAIL["document"] | change)
    assert (ended.code, ended.out, "altered" in ended.err, "nothing was hashed" in ended.err) == (3, "", False, True)
