"""Reads in pages: a mark of any name is followed to its end, and a page is never silently left out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from airlock_online.cli.main import program
from airlock_online.clients import builder
from airlock_online.clients.builder import BuilderClient
from airlock_online.clients.http import Http
from airlock_online.clients.pages import PAGES_AT_MOST, read_pairs
from airlock_online.speech.forms import resolve_services
from airlock_online.speech.sections import SERVICES_FORMAT, SHIPPED, Speech
from airlock_shared.errors import ServiceError, UsageError
from commands import FinishedCommand, run_here
from online import transaction_steps as steps
from online.loopback import Wire, reply
from online.test_reads import positions
from shared.make_payloads import DESK, TREASURY

SERVICES = f"""\
format = "{SERVICES_FORMAT}"

[requests.positions]
startingAfter = "$next.paging.after"
"""
BY_MARK = resolve_services({"format": SERVICES_FORMAT, "requests": {"all": {"startingAfter": "$next.paging.after"}}})


def paged(data: dict[str, Any], mark: object) -> dict[str, Any]:
    return data | {"paging": {"after": mark}}


def read(
    path: Path, *pages: object, services: str = SERVICES, words: Sequence[str] = ()
) -> tuple[FinishedCommand, list[str]]:
    """Read the positions at a builder that answers by these pages, the last of them for ever."""
    script = {"GET /b/v2/positions": [reply(200, {"ok": True, "data": page}) for page in pages]}
    with Wire(script) as wire:
        steps.fetched(path, wire.url + "/b")
        (path / "services.toml").write_text(services)
        with (path / "config.toml").open("a") as config:
            config.write('\n[venue]\nservices = "services.toml"\n')
        ended = run_here(program, "--home", path, "positions", TREASURY, *words)
        return ended, [seen.target for seen in wire.seen]


def pairs_of(speech: Speech, *pages: object) -> list[Any]:
    script = {"GET /v2/pairs": [reply(200, {"ok": True, "data": page}) for page in pages]}
    with Wire(script) as wire, Http() as client:
        return read_pairs(BuilderClient(wire.url, client, speech))


def test_positions_are_read_to_their_end_by_the_venue_s_own_mark(tmp_path: Path) -> None:
    whole = positions()
    first, second = {"trades": whole["trades"][:1], "orders": []}, {"trades": whole["trades"][1:]}
    third = {"orders": whole["orders"], "trades": None}
    ended, asked = read(tmp_path, paged(first, "a/b&c"), paged(second, 7), paged(third, None), words=["--json"])
    told = ended.json()
    assert (ended.code, len(told["positions"]), len(told["orders"])) == (0, 3, 1)
    assert {name: told["reply"][name] for name in whole} == whole
    path = f"/b/v2/positions?trader={TREASURY}"
    assert asked == [path, f"{path}&startingAfter=a%2Fb%26c", f"{path}&startingAfter=7"]


@pytest.mark.parametrize(
    ("pages", "why"),
    [
        ([paged({"trades": []}, "a"), paged({"trades": []}, "b"), paged({"trades": []}, "a")], "came twice"),
        ([paged({"trades": []}, {"id": 1})], "cannot be asked for"),
        ([paged({"trades": []}, "a"), []], "no object"),
        ([paged({"trades": []}, "a"), {"trades": [], "nextCursor": "b"}], "'nextCursor' says that there is more"),
        ([paged({"trades": [], "total": 1}, "a"), {"trades": []}], "counts 1 entries and told 0"),
        ([{"trades": [], "pages": 2}], "'pages' says that there is more"),
        ([paged({"trades": []}, "a"), {"trades": [], "trader": DESK}], DESK),
    ],
)
def test_where_a_page_is_missing_it_is_refused(tmp_path: Path, pages: list[object], why: str) -> None:
    ended, _ = read(tmp_path, *pages)
    assert (ended.code, why in " ".join(ended.err.split()), ended.out) == (8, True, ""), ended.err


def test_marks_that_do_not_end_and_pages_that_are_too_much_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = [paged({"pairs": [steps.meta()]}, number + 1) for number in range(PAGES_AT_MOST + 1)]
    with pytest.raises(ServiceError, match=f"at most {PAGES_AT_MOST} pages"):
        pairs_of(BY_MARK, *pages)
    monkeypatch.setattr(builder, "PAGES_BYTES", 1000)
    pages = [paged({"pairs": [steps.meta()], "x": "x" * 400}, number) for number in (1, 2, None)]
    with pytest.raises(ServiceError, match="has more than 1000 bytes"):
        pairs_of(BY_MARK, *pages)


@pytest.mark.parametrize(
    "sign",
    [
        {"nextCursor": "b"}, {"cursor": "b"}, {"next": "b"}, {"next_cursor": "b"}, {"has_more": True}, {"nextPage": 2},
        {"nextPageToken": "b"}, {"Truncated": True}, {"pagination": {"hasMore": True}}, {"links": {"next": "/?page=2"}},
        {"_links": {"next": {"href": "/"}}}, {"meta": {"page": 1, "pages": 9}}, {"total_pages": 3}, {"total_count": 90},
        {"page_info": {"total": 90}},
    ],
)  # fmt: skip
def test_no_next_page_is_left_out(tmp_path: Path, sign: dict[str, Any]) -> None:
    ended, asked = read(tmp_path, positions() | sign, services=f'format = "{SERVICES_FORMAT}"\n')
    assert (ended.code, len(asked), "may not be whole" in " ".join(ended.err.split())) == (8, 1, True)


def test_positions_in_counted_pages_are_read_whole(tmp_path: Path) -> None:
    whole = positions()
    pages: list[dict[str, Any]] = [
        {"trades": [each], "orders": [], "page": number, "pages": 3} for number, each in enumerate(whole["trades"], 1)
    ]
    pages[-1] |= {"links": {"next": None, "self": "/"}, "has_more": False, "meta": {"page": 1, "pages": 1}}
    ended, asked = read(tmp_path, *pages, services=f'format = "{SERVICES_FORMAT}"\n', words=["--json"])
    assert (ended.code, ended.json()["reply"]["trades"]) == (0, whole["trades"])
    assert [target.partition("&")[2] for target in asked] == ["", "page=2", "page=3"]


def test_the_pairs_are_read_by_a_mark_and_one_that_was_asked_for_may_be_named_again() -> None:
    pages = [{"pairs": [{"index": n}], "cursor": n or None, "paging": {"after": (n + 1) % 3}} for n in range(3)]
    assert [pair["index"] for pair in pairs_of(BY_MARK, *pages)] == [0, 1, 2]
    with pytest.raises(ServiceError, match="pair catalogue"):
        pairs_of(SHIPPED, *pages[1:])


@pytest.mark.parametrize(
    ("name", "request_"),
    [
        ("positions", {"after": "$next"}),
        ("positions", {"after": "$next.a..b"}),
        ("positions", {"after": "$next.a", "before": "$next.b"}),
        ("positions", {"after": "$next.a", "number": "$page"}),
        ("positions", {"trader": "$next.a"}),
        ("nonce", {"after": "$next.a"}),
    ],
)
def test_a_mark_that_cannot_be_meant_is_refused(name: str, request_: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="mistake"):
        resolve_services({"format": SERVICES_FORMAT, "requests": {name: request_}})
