"""Reviews by groups: nothing of a step is hidden, and a page's Yes signs the rows that stood on it, and no other."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account

from airlock_offline.cli import review_pages
from airlock_offline.cli.review_pages import GroupPages
from airlock_offline.signing.review import ROWS_AT_MOST, Group, groups_of, rows_of_page, section_lines
from airlock_offline.signing.sign_item import judged, sign_item, to_sign
from airlock_shared.ceremony.sections import CEREMONY_BEGUN, CEREMONY_ENDED, PAGE_CONFIRMED, confirmed_on_pages
from airlock_shared.checks.judge import Examined, Known, judge_item
from airlock_shared.checks.model import IntentCase, Situation
from airlock_shared.checks.nonces import UsedNonces, use_of
from airlock_shared.cli.terminal import ask_yes
from airlock_shared.documents.requests import Request
from airlock_shared.errors import Declined
from airlock_shared.plan.decisions import shown_value
from airlock_shared.plan.delegate_proofs import challenge_of, registrations
from airlock_shared.plan.reader import parse_plan
from airlock_shared.text.safe import columns
from airlock_shared.units import raw_text
from airlock_shared.venue.structs import Field
from offline.test_signing import Table, ledger
from shared.make_payloads import NOW_MS
from shared.world import PLAN_TEXT, chain, deployment, good_with, request_of

LONG = str(2**256 - 1)
EXPIRY = "2027-03-31T00:00:00Z"


class Step:
    """A delegate's step: what the plan says of it, and the message that came for it."""

    def __init__(self, number: int, **message: str) -> None:
        self.id = f"desk-{number:03}"
        self.plan = {"delegate": Account.from_key(number.to_bytes(32, "big")).address, "expiry": EXPIRY}
        self.more = ""
        self.message = {"nonce": str(1000 + number), "delegate": self.plan["delegate"], **message}
        self.said: str | None = None

    def expires(self, text: str, seconds: int) -> Step:
        self.plan["expiry"], self.message["expiry"] = text, str(seconds)
        return self


def world(steps: Sequence[Step], change: Callable[[str], str] = lambda text: text) -> tuple[list[Request], Situation]:
    """Return the requests of a plan with these steps, and its situation."""
    text = PLAN_TEXT[: PLAN_TEXT.index("[[steps]]")]
    template = PLAN_TEXT[
        PLAN_TEXT.index('[[steps]]\nid = "desk-key"') : PLAN_TEXT.index('[[steps]]\nid = "desk-key-terms"')
    ]
    requests = []
    for step in steps:
        own = template.replace('"desk-key"', f'"{step.id}"').replace(EXPIRY, step.plan["expiry"])
        text += own.replace("0x70997970C51812dc3A010C7d01b50e0d17dc79C8", step.plan["delegate"]) + step.more + "\n"
        document = good_with("desk-key", **step.message)
        item = document["requests"][0]
        item["step"] = step.id
        item["fields"] |= {"delegate": step.plan["delegate"], "expirySeconds": step.message.get("expiry", "1806451200")}
        if step.said is not None:
            item["payload"]["meta"] = {"note": step.said, "kind": "delegate"}
        requests.append(request_of(document))
    return requests, Situation(parse_plan(change(text).encode()), deployment(), NOW_MS)


def proofs_of(situation: Situation) -> frozenset[str]:
    plan = situation.plan
    return frozenset(challenge_of(plan, deployment(), step).sha256() for step in registrations(plan))


def examine(requests: Sequence[Request], situation: Situation, used: UsedNonces | None = None) -> list[Examined]:
    known = Known(used=used or UsedNonces(), proofs=proofs_of(situation))
    return [judge_item(request, situation, known) for request in requests]


def groups_among(items: Sequence[Examined], used: UsedNonces | None = None, cut: str = "") -> list[Group]:
    """Return the groups; of the step that is named as cut the Ledger does not show everything."""
    notes = lambda case: ["cut"] if case.step.id == cut else []  # noqa: E731
    return list(groups_of(items, used or UsedNonces(), notes))


def grouped(steps: Sequence[Step], **more: Any) -> tuple[list[Group], list[Examined]]:
    items = examine(*world(steps, **more))
    return groups_among(items), items


def digest_of(item: Examined) -> str:
    return "0x" + item.digest.hex()


def steps(count: int = 8, **message: str) -> list[Step]:
    return [Step(number, **message) for number in range(1, count + 1)]


def ids(groups: Sequence[Group], items: Sequence[Examined]) -> list[list[str]]:
    name = {digest_of(item): item.received.request.step for item in items}
    return [[name[digest] for digest in group.rows] for group in groups]


def require_nothing_hidden(groups: Sequence[Group], items: Sequence[Examined]) -> None:
    """Assert that each value of each step of a group is in the group's form or in the step's row."""
    for group in groups:
        form = " ".join(" ".join(section_lines(group.form)).split())
        for item in items:
            if (row := group.rows.get(digest_of(item))) is None:
                continue
            case = item.case
            assert isinstance(case, IntentCase)
            text = " ".join(row)
            assert case.step.id in text
            for decision in case.decisions:
                shown = shown_value(decision.field, decision.raw)
                assert shown in text or shown in form, (case.step.id, decision.field.path)
                signed = raw_text(decision.raw)
                assert type(decision.raw) is bytes or signed in text or signed in form, (case.step.id, signed)


def test_alike_steps_are_a_group_with_a_form_and_a_row_for_each() -> None:
    groups, items = grouped(steps())
    assert ids(groups, items) == [[f"desk-{number:03}" for number in range(1, 9)]]
    require_nothing_hidden(groups, items)
    (group,) = groups
    form = "\n".join(section_lines(group.form))
    assert "STEP 0" not in form
    assert not any(step.plan["delegate"] in form for step in steps())
    assert all(len(row) == 2 and max(map(columns, row)) <= 80 for row in group.rows.values())
    assert "CHECKS: " in form
    named, row = group.heading[0], group.rows[digest_of(items[0])][0]
    assert (named.index("step"), named.index("delegate")) == (row.index("desk-001"), row.index("0x"))


ALTERED: dict[str, Callable[[Step], object]] = {
    "nonce": lambda step: step.message.update(nonce=LONG),
    "deadline": lambda step: step.message.update(deadline="1790000900001"),
    "terms": lambda step: step.message.update(tnc="Other terms."),
    "expiry": lambda step: step.expires("2027-03-31T00:00:01Z", 1806451201),
    "delegate": lambda step: [each.update(delegate="0x" + "12" * 20) for each in (step.plan, step.message)],
    "what the builder says": lambda step: setattr(step, "said", "Registers a key."),
}


@pytest.mark.parametrize("at", [0, 3, 7])
@pytest.mark.parametrize("altered", ALTERED)
def test_a_step_with_any_other_value_shows_it_in_its_row_or_leaves_the_group(altered: str, at: int) -> None:
    many = steps(12)
    ALTERED[altered](many[at])
    groups, items = grouped(many)
    assert not any(item.verdicts.blocking() for item in items)
    require_nothing_hidden(groups, items)
    assert all(len(row) == 2 and max(map(columns, row)) <= 80 for group in groups for row in group.rows.values())
    inside = [each for group in ids(groups, items) for each in group]
    assert (many[at].id in inside) == (altered not in ("terms", "expiry"))


def test_a_row_with_another_expiry_parts_the_group_and_is_reviewed_by_itself() -> None:
    many = steps(15)
    many[6].expires("2028-03-31T00:00:00Z", 1838073600)
    groups, items = grouped(many)
    assert ids(groups, items) == [[s.id for s in many[:6]], [s.id for s in many[7:]]]
    for group in groups:  # each form names the other steps of the account that are not on its own pages
        form = "\n".join(section_lines(group.form))
        assert many[6].plan["delegate"] in form
        outside = many[7:] if many[0].id in ids([group], items)[0] else many[:6]
        assert all(step.plan["delegate"] in form for step in outside)


WARNED: dict[str, Callable[[Step], object]] = {
    "waived": lambda step: setattr(step, "more", 'possession = "waived"\n'),
    "letters that look like others": lambda step: setattr(step, "said", "p\u0430y"),
    "a refused value": lambda step: step.message.update(deadline="1"),
    "the nonce of another": lambda step: step.message.update(nonce="1001"),
}


@pytest.mark.parametrize("warned", WARNED)
def test_a_step_with_a_warning_or_a_refusal_is_reviewed_by_itself(warned: str) -> None:
    many = steps(13)
    WARNED[warned](many[6])
    groups, items = grouped(many)
    assert many[6].id not in [each for group in ids(groups, items) for each in group]
    assert len(groups) == 2


def test_where_every_step_has_the_same_warning_each_is_reviewed_by_itself() -> None:
    many = steps(8)
    for step in many:
        WARNED["waived"](step)
    assert grouped(many)[0] == []


def test_what_is_shown_as_hashes_was_signed_before_replaces_or_has_a_note_is_reviewed_by_itself() -> None:
    by_hashes = lambda text: text.replace('path = "m/44', 'show = "hashes"\npath = "m/44', 1)  # noqa: E731
    assert grouped(steps(), change=by_hashes)[0] == []
    requests, situation = world(steps(12))
    items = examine(requests, situation)
    case = items[5].case
    assert isinstance(case, IntentCase)
    used = UsedNonces([use_of(case)._replace(digest="0x" + "ee" * 32, nonce=5, deadline_ms=1)])
    replacing = list(items)
    replacing[5] = items[5]._replace(case=case._replace(step=case.step._replace(replaced_digest="0x" + "ee" * 32)))
    parted = [[f"desk-{n:03}" for n in range(1, 6)], [f"desk-{n:03}" for n in range(7, 13)]]
    assert ids(groups_among(examine(requests, situation, used), used), items) == parted
    assert ids(groups_among(replacing), items) == parted
    assert ids(groups_among(items, cut="desk-006"), items) == parted


def called(otherwise: Callable[[Field], Field], **other: Any) -> list[Group]:
    items = []
    for item in examine(*world(steps())):
        if isinstance(case := item.case, IntentCase):
            decisions = [each._replace(field=otherwise(each.field), **other) for each in case.decisions]
            items.append(item._replace(case=case._replace(decisions=decisions)))
    return groups_among(items)


def test_a_value_that_the_profile_calls_otherwise_stands_in_no_row() -> None:
    assert called(lambda field: field._replace(label="Called so")) == []
    (group,) = called(lambda field: field._replace(path=field.path.replace("delegate", "key")))
    assert any("key " in line and "equal to the plan's delegate" in line for line in section_lines(group.form))
    (group,) = called(lambda field: field, expected="the desk's key")  # the plan's own text, written otherwise
    assert all(any("plan the desk's key" in line for line in row) for row in group.rows.values())


def test_steps_of_another_signer_are_another_group() -> None:
    def two_signers(text: str) -> str:
        at = text.index("[[steps]]")
        signer = text[text.index("[signers.treasury]") :].split("\n\n")[0]
        other = signer.replace("[signers.treasury]", "[signers.other]").replace("/0'/0/0", "/7'/0/0")
        head, *parts = (text[:at] + other + "\n\n" + text[at:]).split("[[steps]]")
        parts[6:] = [part.replace('signer = "treasury"', 'signer = "other"') for part in parts[6:]]
        return "[[steps]]".join([head, *parts])

    requests, situation = world(steps(12), two_signers)
    requests[6:] = [request._replace(path="m/44'/60'/7'/0/0") for request in requests[6:]]
    items = examine(requests, situation)
    groups = groups_among(items)
    assert not any(item.verdicts.blocking() for item in items)
    assert ids(groups, items) == [[f"desk-{n:03}" for n in range(1, 7)], [f"desk-{n:03}" for n in range(7, 13)]]


@pytest.mark.parametrize(("rows", "count"), [(24, 10), (60, 20), (200, 20), (3, 1), (1, 1)])
def test_a_page_stands_above_its_question_with_twenty_rows_at_most(rows: int, count: int) -> None:
    (group,), _ = grouped(steps(45))
    assert rows_of_page(group, list(group.rows), rows) == count <= ROWS_AT_MOST
    assert rows_of_page(group, list(group.rows)[:2], 60) == 2


@pytest.mark.parametrize(("rows", "width"), [(24, 80), (60, 200), (23, 80), (24, 79)])
def test_nobody_is_asked_about_a_page_that_the_screen_cannot_hold(
    rows: int, width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fits = rows >= 24 and width >= 80
    sizes = [(rows, width)] * (1 if fits else 3) + [(24, 80)]
    waited: list[list[list[str]]] = []
    monkeypatch.setattr(review_pages, "_size", lambda: sizes.pop(0))
    monkeypatch.setattr(review_pages, "LOOK_S", 0)
    lines = [f"row {number}" for number in range(22)]
    screen = review_pages.ReviewPages(lambda _question: None)
    monkeypatch.setattr(screen, "_turn_all", waited.append)
    screen.show_group_page(lines, 2)
    shown = capsys.readouterr().err.splitlines()
    assert (shown[:22], len(shown)) == (lines, (rows if fits else 24) - 2)
    assert len(waited) == (0 if fits else 3)
    assert all("needs 24 rows and 80 columns" in page[0][0] for page in waited)


class Desk:
    """A desk at which groups are signed: what was asked is kept, of a page and of a step by itself."""

    def __init__(self, folder: Path, many: Sequence[Step], *, yes: bool = True) -> None:
        self.requests, self.situation = world(many)
        self.table = Table(folder, ledger())
        self.signing = self.table.desk._replace(proofs=proofs_of(self.situation))
        self.asked: list[str] = []
        self.recorded: list[list[str]] = []
        self.yes = yes
        self.pages = self.begin([])

    def begin(self, confirmed: Sequence[str]) -> GroupPages:
        groups = groups_among(examine(self.requests, self.situation))
        return GroupPages(groups, confirmed, None, self._ask, self._record)

    def _record(self, digests: list[str]) -> None:
        assert not self.table.asked_of_the_device or self.recorded
        self.recorded.append(digests)

    def _ask(self, question: str, **_asking: object) -> None:
        self.asked.append(question)
        if not self.yes:
            raise Declined("no")

    def show_from(self, at: int) -> None:
        items = {digest_of(each): each.received.request for each in examine(self.requests, self.situation)}

        def waiting(digest: str) -> bool:
            return to_sign(judged(items[digest], self.situation, self.signing), self.table.state) is not None

        self.pages.show_from(list(items)[at], waiting)

    def sign(self, at: int) -> str:
        self.show_from(at)
        result = sign_item(self.requests[at], self.situation, self.signing, self.pages.confirmed)
        return result.answer.result


def test_one_yes_signs_the_rows_of_its_page_and_is_on_record_before(tmp_path: Path) -> None:
    desk = Desk(tmp_path, steps(13))
    assert [desk.sign(at) for at in range(13)] == ["signed"] * 13
    assert (len(desk.asked), desk.table.asked) == (2, [])
    assert [len(digests) for digests in desk.recorded] == [10, 3]
    signed = [entry.data["digest"] for entry in desk.table.state.transcript.entries() if entry.event == "signed"]
    assert signed == [digest for digests in desk.recorded for digest in digests]


def test_what_opens_a_section_elsewhere_shows_the_form_and_the_page_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = Desk(tmp_path, steps(8))
    monkeypatch.setattr("sys.stdin", StringIO("?\n2\nYes\n"))
    monkeypatch.setattr(desk, "_ask", partial(ask_yes, piped=True))
    desk.pages = desk.begin([])
    desk.show_from(0)
    assert [len(digests) for digests in desk.recorded] == [8]
    said = capsys.readouterr().err
    assert (said.count("DECIDED BY THE PLAN"), said.count("desk-008")) == (3, 3)


def test_a_page_that_is_declined_signs_nothing_of_it_and_the_next_is_asked(tmp_path: Path) -> None:
    desk = Desk(tmp_path, steps(13), yes=False)
    looked: list[object] = []
    desk.signing = desk.signing._replace(probe=looked.append)
    assert [desk.sign(at) for at in range(10)] == ["declined"] * 10
    assert looked == []
    assert (desk.table.asked_of_the_device, desk.recorded, len(desk.asked)) == ([], [], 1)
    desk.yes = True
    assert desk.sign(10) == "signed"
    assert desk.table.events.count("declined") == 10


def test_after_an_interruption_nothing_is_asked_again_and_nothing_is_signed_twice(tmp_path: Path) -> None:
    desk = Desk(tmp_path, steps(13))
    assert [desk.sign(at) for at in range(4)] == ["signed"] * 4
    desk.pages = desk.begin([digest for digests in desk.recorded for digest in digests])
    assert [desk.sign(at) for at in range(13)] == ["signed"] * 13
    assert (len(desk.asked), [len(digests) for digests in desk.recorded]) == (2, [10, 3])
    assert desk.table.events.count("signed") == 13


@pytest.mark.parametrize("other", ["nonce", "deadline"])
def test_a_row_that_was_altered_after_its_page_is_asked_about_by_itself(tmp_path: Path, other: str) -> None:
    desk = Desk(tmp_path, steps(8))
    desk.show_from(0)
    altered = steps(8)
    ALTERED[other](altered[3])
    desk.requests = world(altered)[0]
    item = desk.requests[3]
    shown: list[str] = []
    signing = desk.signing._replace(show=lambda each: shown.append(each.received.request.step))
    result = sign_item(item, desk.situation, signing, desk.pages.confirmed).answer.result
    asked = len(desk.table.asked)
    # with the nonce of the row that stood there, the document has it twice
    assert (shown, result, asked) == (["desk-004"], *(("signed", 1) if other == "nonce" else ("refused", 0)))


def test_an_item_that_is_slipped_in_after_its_page_is_asked_about_by_itself(tmp_path: Path) -> None:
    many = steps(9)
    desk = Desk(tmp_path, many)
    groups = groups_among(examine(desk.requests[:8], desk.situation))
    desk.pages = GroupPages(groups, [], None, desk._ask, desk._record)
    desk.show_from(0)
    assert len(desk.recorded[0]) == 8
    sign_item(desk.requests[8], desk.situation, desk.signing, desk.pages.confirmed)
    assert len(desk.table.asked) == 1


def test_a_step_that_somebody_signed_otherwise_since_its_page_is_asked_about_by_itself(tmp_path: Path) -> None:
    desk = Desk(tmp_path, steps(8))
    desk.show_from(0)
    case = examine(desk.requests, desk.situation)[2].case
    assert isinstance(case, IntentCase)
    desk.signing.used.add(use_of(case)._replace(digest="0x" + "ee" * 32, nonce=5, deadline_ms=1))
    sign_item(desk.requests[2], desk.situation, desk.signing, desk.pages.confirmed)
    assert len(desk.table.asked) == 1


def test_what_was_refused_meanwhile_is_on_no_page(tmp_path: Path) -> None:
    desk = Desk(tmp_path, steps(8))
    desk.situation = desk.situation._replace(now_ms=1790000900000)
    desk.show_from(0)
    assert (desk.asked, desk.recorded) == ([], [])


REQUESTS = "aa" * 32


def test_pages_count_for_their_requests_their_plan_and_the_people_of_now() -> None:
    plan = parse_plan(PLAN_TEXT.encode())
    begun = (CEREMONY_BEGUN, {"ceremony": plan.id, "plan": plan.fingerprint, "roles": {"signer": "Ada"}})
    of = {"ceremony": plan.id, "requests": REQUESTS, "plan": plan.fingerprint}
    page = (PAGE_CONFIRMED, of | {"digests": ["0x1", "0x2"]})
    ended = (CEREMONY_ENDED, {"ceremony": plan.id, "complete": False, "missing": []})
    other_plan = (PAGE_CONFIRMED, page[1] | {"plan": "bb" * 32})

    def counted(*events: tuple[str, dict[str, Any]], requests: str = REQUESTS) -> frozenset[str]:
        return confirmed_on_pages(chain(*events), plan, requests)

    assert counted(begun, page) == {"0x1", "0x2"}
    assert counted(begun, page, requests="cc" * 32) == frozenset()
    assert counted(begun, other_plan) == frozenset()
    assert counted(page) == frozenset()
    assert counted(begun, page, ended) == frozenset()
    assert counted(begun, page, ended, begun) == frozenset()
    nobody = parse_plan(re.sub("(?m)^roles = .*$", "roles = []", PLAN_TEXT).encode())
    own = (PAGE_CONFIRMED, page[1] | {"plan": nobody.fingerprint})
    assert confirmed_on_pages(chain(own), nobody, REQUESTS) == {"0x1", "0x2"}
