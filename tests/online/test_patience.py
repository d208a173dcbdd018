"""How long preparing waits for what was not answered, and what it never asks for again."""

import sys
from collections.abc import Callable

import pytest

from airlock_online.cli import prepare_steps
from airlock_online.clients.connection import NotSent
from airlock_online.preparing.patience import MAX_BUILDS, WAIT_AT_MOST_S, Patience
from airlock_shared.errors import Refusal, ServiceError, UsageError

NOW_MS = 1_800_000_000_000


def failure(status: int | None = None, *, retry_after_s: int | None = None, unanswered: bool = False) -> ServiceError:
    error = ServiceError("no", code="CODE", status=status)
    error.retry_after_s, error.unanswered = retry_after_s, unanswered
    return error


class Waiting:
    """A clock that only waiting moves, and a service that fails as told before it answers."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.waits: list[int] = []
        self.asked = 0
        self.patience = Patience(lambda seconds, _: self.waits.append(seconds), self.now_ms)

    def now_ms(self) -> int:
        return NOW_MS + 1000 * sum(self.waits)

    def answer(self) -> str:
        self.asked += 1
        if self.failures:
            raise self.failures.pop(0)
        return "answered"

    def __call__(self) -> str:
        return self.patience.ask(self.answer)


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_what_says_nothing_of_the_question_is_asked_again(status: int) -> None:
    waiting = Waiting(
        failure(status), failure(status, retry_after_s=7), NotSent("no connection"), failure(unanswered=True)
    )
    assert waiting() == "answered"
    assert waiting.waits == [1, 7, 4, 8]


@pytest.mark.parametrize(
    "error",
    [failure(status) for status in (None, 200, 400, 401, 403, 404, 409, 422, 500, 501)]
    + [failure(400, retry_after_s=1), Refusal("CHECK", "no"), UsageError("no"), ValueError("no"), KeyboardInterrupt()],
)
def test_an_answer_is_an_answer(error: Exception) -> None:
    waiting = Waiting(error)
    with pytest.raises(type(error)):
        waiting()
    assert (waiting.asked, waiting.waits) == (1, [])


def test_what_fails_without_a_word_and_a_wait_of_more_than_a_quarter_of_an_hour_are_given_up() -> None:
    waiting = Waiting(*(failure(502) for _ in range(100)))
    with pytest.raises(ServiceError, match=r"^no$"):
        waiting()
    assert waiting.asked == MAX_BUILDS
    assert waiting.waits == [1, 2, 4, 8, 16]
    waiting = Waiting(failure(429, retry_after_s=WAIT_AT_MOST_S + 1))
    with pytest.raises(ServiceError, match="too long to wait here"):
        waiting()
    assert waiting.waits == []


@pytest.mark.parametrize("seconds", [0, 1, 100, WAIT_AT_MOST_S])
def test_a_service_that_always_says_to_come_again_is_not_asked_for_ever(seconds: int) -> None:
    waiting = Waiting(*(failure(429, retry_after_s=seconds) for _ in range(2000)))
    with pytest.raises(ServiceError, match=r"waited for .* already"):
        waiting()
    assert 0 < sum(waiting.waits) <= WAIT_AT_MOST_S


@pytest.mark.parametrize(
    ("until_ms", "waits"),
    [((), True), ((None,), True), ((NOW_MS + 10_000,), True), ((NOW_MS + 9_999,), False),
     ((NOW_MS + 99_000, NOW_MS + 9_000, None, NOW_MS + 50_000), False)],
)  # fmt: skip
def test_it_waits_as_long_as_the_nearest_deadline_allows(until_ms: tuple[int | None, ...], waits: bool) -> None:
    waiting = Waiting(failure(429, retry_after_s=10))
    for each in until_ms:
        waiting.patience.bound(each)
    run: Callable[[], str] = waiting
    if waits:
        assert run() == "answered"
        return
    with pytest.raises(ServiceError, match="too little would be left") as raised:
        run()
    assert (raised.value.status, raised.value.code, waiting.waits) == (429, "CODE", [])


@pytest.mark.parametrize("terminal", [True, False])
def test_a_count_down_says_why_and_how_long_at_a_terminal_and_nothing_in_a_pipe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], terminal: bool
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(prepare_steps, "sleep", slept.append)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    prepare_steps.count_down(2, "The builder is busy.")
    told = capsys.readouterr()
    assert (told.err.startswith("The builder is busy."), told.err.count("It goes on in ")) == (terminal, 2 * terminal)
    assert (told.out, sum(slept)) == ("", 2)
