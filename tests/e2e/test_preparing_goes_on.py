"""Preparing many steps of a builder that limits its callers: nothing that it answered is asked for twice."""

import json
import re
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from airlock_rehearsal.scenarios import TRADER
from airlock_rehearsal.services.runtime import RehearsalSettings
from airlock_rehearsal.services.server import RehearsalServices
from airlock_shared.documents.requests import parse_requests
from airlock_shared.wire.strict_json import fingerprint
from e2e.conftest import ONLINE, Machines
from e2e.terminal import Terminal
from plans import plan_head
from serving import QuietHandler, serving

LIMITS = {"deadline_at_most": "30m", "slippage_percent_at_most": "1", "remaining_at_least": "3m"}


class LimitedBuilder(ThreadingHTTPServer):
    """The builder behind a limit: so many builds, then 429 until a time after the first refusal.

    The limit is met by counting alone, so that a busy machine meets it as often as a fast one.
    """

    daemon_threads = True

    def __init__(self, to: str, most: int, window_s: float) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.to, self.most, self.window_s = to, most, window_s
        self.retry_after_s: int | None = None
        self.answered: Counter[int] = Counter()
        self.asked = self.limited = self._let_through = 0
        self._refused_from_s: float | None = None
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def to_wait_s(self) -> int | None:
        """Return in how many seconds a build may come again; None if it is let through."""
        with self._lock:
            self.asked += 1
            now = time.monotonic()
            if self._refused_from_s is not None and now - self._refused_from_s > self.window_s:
                self._refused_from_s, self._let_through = None, 0
            if self._let_through < self.most:
                self._let_through += 1
                return None
            self.limited += 1
            self._refused_from_s = self._refused_from_s or now
            return self.retry_after_s or int(self._refused_from_s + self.window_s - now) + 1


class _Handler(QuietHandler):
    server: LimitedBuilder

    def answer(self) -> None:
        body = None if self.command == "GET" else self.body()
        if body is not None:
            if wait_s := self.server.to_wait_s():
                self.reply(429, "text/plain", b"slow down", {"retry-after": str(wait_s)})
                return
            self.server.answered[json.loads(body)["twapId"]] += 1
        asked = Request(self.server.to + self.path, data=body, headers={"content-type": "application/json"})
        with urlopen(asked) as answer:
            self.reply(answer.status, answer.headers["content-type"], answer.read())


@pytest.fixture
def builder() -> Iterator[LimitedBuilder]:
    settings = RehearsalSettings(pacing_s=0.0)
    with RehearsalServices(trader=TRADER, settings=settings) as services:
        server = LimitedBuilder(services.builder_url, 40, 1.0)
        with serving(server):
            yield server


class PreparingDesk(Machines):
    """An online machine that has fetched the limited builder's deployment, and a plan of so many steps."""

    def __init__(self, folder: Path, builder: LimitedBuilder, steps: int, **limits: str) -> None:
        super().__init__(folder)
        words = ("--name", "rehearsal", "--builder", builder.url, "-o", self.path("deployment.json"))
        assert self.online("deployment", "fetch", *words).code == 0
        self.plan, self.requests = self.path("plan.toml"), self.path("requests.json")
        text = plan_head("many", roles='["signer"]', **LIMITS | limits)
        for number in range(steps):
            fields = f'{{ trader = "{TRADER}", twapId = {number} }}'
            text += (
                f'[[steps]]\nid = "cancel-{number}"\naction = "twap-cancel"\nsigner = "treasury"\nfields = {fields}\n'
            )
        self.plan.write_text(text)

    @property
    def words(self) -> list[str]:
        home = self.folder / "online-home"
        return [str(ONLINE), "--home", str(home), "prepare", str(self.plan), "-o", str(self.requests)]

    def kept(self) -> list[Path]:
        return sorted((self.folder / "online-home/prepared").glob("*/*.json"))

    def killed_after(self, count: int) -> int:
        """Prepare until so many payloads are kept, kill the process, and return how it ended."""
        with subprocess.Popen(self.words, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
            until = time.monotonic() + 60
            while len(self.kept()) < count:
                assert time.monotonic() < until
                assert process.poll() is None
                time.sleep(0.002)
            process.kill()
            return process.wait(30)


def test_100_steps_under_a_limit_and_a_kill_are_asked_for_once_each(tmp_path: Path, builder: LimitedBuilder) -> None:
    desk = PreparingDesk(tmp_path, builder, 100)
    assert desk.killed_after(50) == -signal.SIGKILL
    kept = {path.name: path.read_bytes() for path in desk.kept()}
    assert not desk.requests.exists()
    ended = desk.online("prepare", desk.plan, "-o", desk.requests).done()
    items = parse_requests(desk.requests.read_bytes())[1]
    assert [item.step for item in items] == [f"cancel-{number}" for number in range(100)]
    for item in items:
        if f"{item.step}.json" in kept:
            assert json.loads(kept[f"{item.step}.json"])["payload"] == item.payload
    assert len(builder.answered) == 100
    twice = [twap for twap, times in builder.answered.items() if times > 1]
    assert len(twice) <= 1  # the one whose answer was on its way when the process was killed
    assert builder.limited >= 2  # after each 40 builds
    assert "goes on" not in ended.err  # nothing of a wait reaches a pipe
    assert desk.kept() == []


def test_another_terminal_waits_for_none_and_after_ctrl_c_the_same_command_asks_for_the_rest_alone(
    tmp_path: Path, builder: LimitedBuilder
) -> None:
    desk = PreparingDesk(tmp_path, builder, 12)
    builder.most, builder.window_s = 8, 60.0
    terminal = Terminal(*desk.words)
    while not re.search(r"It goes on in \d+ s", terminal.shown):
        assert terminal.more()
    ended = desk.online("prepare", desk.plan, "-o", desk.path("other.json"))
    assert (ended.code, "another terminal is preparing this plan" in ended.err) == (2, True)
    terminal.press("\x03")
    assert terminal.end() == 130
    assert "8 of 12 payloads are kept. The same command goes on from there." in terminal.shown
    assert len(desk.kept()) == 8
    builder.most = 1000
    ended = desk.online("prepare", desk.plan, "-o", desk.requests).done()
    assert set(builder.answered.values()) == {1}
    assert ended.err.count("is kept since") == 8


def test_a_wait_that_a_kept_deadline_does_not_allow_ends_with_8_and_goes_on_later(
    tmp_path: Path, builder: LimitedBuilder
) -> None:
    desk = PreparingDesk(tmp_path, builder, 6, deadline_at_most="5m", remaining_at_least="3m")
    builder.most, builder.window_s, builder.retry_after_s = 4, 600.0, 150
    begun = time.monotonic()
    ended = desk.online("prepare", desk.plan, "-o", desk.requests, "--json")
    assert time.monotonic() - begun < 60
    assert ended.code == 8, ended.err
    error = ended.json()["error"]
    assert "too little would be left of a deadline" in error["what"]
    assert "4 of 6 payloads are kept" in ended.err
    builder.most = 1000
    other = desk.path("other.toml")
    other.write_text(desk.plan.read_text().replace("The ceremony many", "Another"))
    ended = desk.online("prepare", other, "-o", desk.path("other.json"))
    assert (ended.code, "is kept since" in ended.err) == (0, False)
    assert desk.online("prepare", desk.plan, "-o", desk.requests).code == 0
    assert set(builder.answered.values()) == {2}  # once for each plan


def cut(text: str) -> str:
    return text[: len(text) // 2]


def built_at_another_time(text: str) -> str:
    return re.sub(r'"built_ms": ?\d', '"built_ms": 9', text)


def altered_and_sealed_anew(text: str) -> str:
    entry = json.loads(text)
    del entry["seal"]
    entry["payload"]["message"]["twapId"] = "7"
    return json.dumps({**entry, "seal": fingerprint(entry)})


@pytest.mark.parametrize("damage", [cut, built_at_another_time, altered_and_sealed_anew])
def test_what_is_kept_and_was_damaged_is_asked_for_again(
    tmp_path: Path, builder: LimitedBuilder, damage: Callable[[str], str]
) -> None:
    desk = PreparingDesk(tmp_path, builder, 3)
    builder.most, builder.window_s, builder.retry_after_s = 2, 600.0, 901
    assert desk.online("prepare", desk.plan, "-o", desk.requests).code == 8
    first = desk.kept()[0]
    first.write_text(damage(first.read_text()))
    builder.most = 1000
    ended = desk.online("prepare", desk.plan, "-o", desk.requests).done()
    assert "The kept payload of cancel-0 can no longer be used" in ended.err
    assert sorted(builder.answered.values()) == [1, 1, 2]
    assert len(parse_requests(desk.requests.read_bytes())[1]) == 3


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        (40, "WARNING: 40 steps have a deadline; the nearest leaves 27 min to sign and submit them all"),
        (3, "3 steps have a deadline; the nearest leaves 27 min to sign and submit them all: a signature every 9 min"),
    ],
)
def test_whether_people_can_keep_up_is_said_before_anything_is_asked(
    tmp_path: Path, builder: LimitedBuilder, steps: int, said: str
) -> None:
    desk = PreparingDesk(tmp_path, builder, steps)
    builder.most, builder.retry_after_s = 0, 901
    ended = desk.online("prepare", desk.plan, "-o", desk.requests)
    told = " ".join(ended.err.split())
    assert said in told
    assert told.index(said) < told.index("building cancel-0")


def test_a_long_plan_is_built_in_ranges_and_written_once_with_nothing_asked_for_twice(
    tmp_path: Path, builder: LimitedBuilder
) -> None:
    desk = PreparingDesk(tmp_path, builder, 9)
    ended = desk.online("prepare", desk.plan, "--steps", "4-6", "--json")
    assert (ended.code, ended.json()["kept"]) == (0, ["cancel-3", "cancel-4", "cancel-5"]), ended.err
    assert ended.json()["missing"] == [f"cancel-{number}" for number in (0, 1, 2, 6, 7, 8)]
    assert (set(builder.answered), desk.requests.exists()) == ({3, 4, 5}, False)
    ended = desk.online("prepare", desk.plan, "--steps", "6")
    assert (ended.code, "cancel-5 (twap-cancel) is kept since" in " ".join(ended.err.split())) == (0, True), ended.err
    assert "Not kept yet: 6 of 9 steps, the first of them cancel-0" in " ".join(ended.err.split())
    assert desk.online("prepare", desk.plan, "-o", desk.requests).code == 0
    assert [item.step for item in parse_requests(desk.requests.read_bytes())[1]] == [f"cancel-{n}" for n in range(9)]
    assert set(builder.answered.values()) == {1}
    assert desk.kept() == []


def test_what_is_no_range_of_the_plan_is_refused_before_anything_is_asked_and_a_range_writes_no_requests(
    tmp_path: Path, builder: LimitedBuilder
) -> None:
    desk = PreparingDesk(tmp_path, builder, 3)
    no_range, keeps = "is no range of the plan's steps", "keeps them"
    for said, *words in (
        (no_range, "--steps=0"),
        (no_range, "--steps=2-1"),
        (no_range, "--steps=1-4"),
        (no_range, "--steps=\u0661"),
        (keeps, "--steps=1-2", "-o", "x.json"),
        (keeps, "--steps=1-2", "--signer", "treasury"),
    ):
        ended = desk.online("prepare", desk.plan, *words)
        assert (ended.code, said in " ".join(ended.err.split())) == (2, True), ended.err
    assert (builder.asked, desk.kept()) == (0, [])
