"""The end of a long run says what needs a person."""

from __future__ import annotations

from airlock_online.cli.delivery_context import OutcomeSummary, tally_lines
from airlock_rehearsal.services.faults import Faults
from airlock_shared.cli.terminal import worst
from airlock_shared.errors import ExitCode
from online.online_command import CLOSE, CODE, OnlineCommand

DONE, UNKNOWN = ExitCode.DONE, ExitCode.UNKNOWN


def test_what_is_open_wrong_or_odd_is_named() -> None:
    told = [
        OutcomeSummary("a", "FILLED", 1, DONE),
        OutcomeSummary("b", "UNKNOWN", 0, UNKNOWN),
        OutcomeSummary("c\x1b[2J", "", 0, ExitCode.SERVICE),
        OutcomeSummary("d", "FILLED", 0, DONE),
    ]
    first, second, *rest = tally_lines(told)
    assert first == "4 orders: 2 FILLED, 1 UNKNOWN, 1 stopped by an error."
    assert second.startswith("3 need a person: airlock-online resolve")
    assert rest[:2] == ["  a: FILLED, 1 anomaly", "  b: UNKNOWN"]
    assert "\x1b" not in rest[2]
    assert rest[2].endswith(": stopped by an error")


def test_an_outcome_that_nobody_knows_is_worse_than_a_refusal() -> None:
    assert worst([DONE, ExitCode.REFUSED, UNKNOWN, ExitCode.EXECUTION_FAILED]) is UNKNOWN
    assert worst([DONE, ExitCode.REFUSED, ExitCode.SERVICE]) is ExitCode.REFUSED


def test_a_long_list_is_cut_and_says_so() -> None:
    lines = list(tally_lines([OutcomeSummary(f"s{number}", "UNKNOWN", 0, UNKNOWN) for number in range(25)]))
    assert (len(lines), lines[-1]) == (23, "  and 5 more: airlock-online status")


def test_submit_and_follow_end_with_it_and_json_stays_as_it_is(machine: OnlineCommand) -> None:
    signatures = machine.signatures(sell=CLOSE, code=CODE)
    machine.services.faults = Faults.of("drop-before-accepted@batched", "drop-before-accepted@relayer")
    (machine.home / "config.toml").write_text("")
    ended = machine("submit", signatures, "--patience", 0)
    assert "2 orders: " in ended.err
    assert "2 need a person" in ended.err
    assert "need a person" not in ended.out
    followed = machine("follow", "--patience", 0, "--json")
    assert "2 need a person" in followed.err
    assert "need a person" not in followed.out
