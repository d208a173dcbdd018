"""Both programs as a shell meets them: a terminal and its keys, completion, streams that fail, folders of no use."""

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from airlock_shared.plan.reader import parse_plan
from airlock_shared.start import CONTINUE
from e2e.conftest import OFFLINE, ONLINE, ROOT
from e2e.terminal import Terminal

HALVES = {"online": ONLINE, "offline": OFFLINE}
PLAN = ROOT / "tests/vectors/plans/good/every-struct.toml"
TREASURY = "0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D"
DESK = "0x52908400098527886E0F7030069857D2E4169EE7"
QUESTIONS = {
    "id": "desk-2027",
    "title": "Delegate keys",
    "deployment": "mainnet",
    "action": "delegate",
    "signer": "treasury",
    "treasury: address": TREASURY,
    "delegate": DESK,
    "expiry (a time in UTC)": "2027-03-31T00:00:00Z",
}

half = pytest.mark.parametrize("program", HALVES.values(), ids=HALVES)


def _answer(question: str) -> str:
    return "Yes" if question.startswith("Type Yes") else QUESTIONS.get(question, "")


@half
def test_a_plan_is_written_by_answering_in_a_terminal(program: Path, tmp_path: Path) -> None:
    terminal = Terminal(program, "plan", "new", "-o", tmp_path / "plan.toml")
    while (question := terminal.until_question()) is not None:
        terminal.press(f"{_answer(question)}\n")
    assert terminal.end() == 0, terminal.shown
    plan = parse_plan((tmp_path / "plan.toml").read_bytes())
    assert (plan.id, list(plan.steps)) == ("desk-2027", ["delegate"])
    assert max(len(line.rstrip("\r")) for line in terminal.shown.split("\n") if "Wrote" not in line) <= 80


@pytest.mark.parametrize(
    ("program", "library", "told"),
    [(ONLINE, "click", "Nothing was begun."), (OFFLINE, "click", "Nothing was begun."), (ONLINE, "ssl", CONTINUE)],
)
def test_ctrl_c_while_modules_load_ends_a_program_with_a_sentence(
    program: Path, library: str, told: str, tmp_path: Path
) -> None:
    pressed = "import os, signal\nsignal.signal(2, signal.default_int_handler)\ntry: os.kill(os.getpid(), 2)\n"
    (tmp_path / f"{library}.py").write_text(f"{pressed}except KeyboardInterrupt: raise ImportError('said by C code')")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    ended = _run(program, "submit", env=os.environ | {"PYTHONPATH": path})
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", f"\nInterrupted. {told}\n")


@half
@pytest.mark.parametrize("answered", [0, 100])
def test_ctrl_c_leaves_nothing_behind(program: Path, tmp_path: Path, answered: int) -> None:
    terminal = Terminal(program, "plan", "new", "-o", tmp_path / "plan.toml")
    while (question := terminal.until_question()) is not None:
        if not answered or question.startswith("Type Yes"):
            terminal.press("\x03")
            break
        answered -= 1
        terminal.press(f"{_answer(question)}\n")
    assert terminal.end() == 130
    assert "Nothing was written." in terminal.shown
    assert "Traceback" not in terminal.shown
    assert list(tmp_path.iterdir()) == []


# ---- colour -----------------------------------------------------------------------------------------------------------


@half
@pytest.mark.parametrize("words", [["plan", "check", ROOT / "README.md"], ["--help"]])
def test_nothing_is_coloured_in_a_terminal_with_no_color_or_without(
    program: Path, words: list[Any], tmp_path: Path
) -> None:
    shown = []
    for environment in ({"NO_COLOR": "1"}, {"FORCE_COLOR": "1", "CLICOLOR_FORCE": "1", "TERM": "xterm-256color"}):
        terminal = Terminal(program, "--home", tmp_path, *words, **environment)
        terminal.end()
        shown.append(terminal.shown)
    assert shown[0] == shown[1]
    assert len(shown[0]) > 100
    assert "\x1b" not in shown[0]


# ---- completion -------------------------------------------------------------------------------------------------------


def _completed(program: Path, *typed: str) -> list[str]:
    """Return what bash itself would offer for a line, its last word unfinished."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not here")
    name = program.name
    words = " ".join(f"'{word}'" for word in (name, *typed))
    lines = (
        f'eval "$({name} completion bash)"',
        f"COMP_WORDS=({words}); COMP_CWORD={len(typed)}",
        f"$(complete -p {name} | sed 's/.*-F \\([^ ]*\\).*/\\1/') {name}",
        'printf "%s\\n" "${COMPREPLY[@]}"',
    )
    environment = {**os.environ, "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}
    ended = _run(Path(bash), "--norc", "-c", "\n".join(lines), env=environment)
    assert ended.stderr == ""
    return ended.stdout.split()


@half
def test_bash_completes_commands_members_options_and_choices(program: Path) -> None:
    assert _completed(program, "pl") == ["plan"]
    assert {"show", "check", "new"} <= set(_completed(program, "plan", ""))
    assert "--output" in _completed(program, "plan", "new", "--o")
    assert _completed(program, "completion", "") == ["bash", "zsh", "fish"]
    assert _completed(program, "nothing-like-this") == []


# ---- what a machine does wrong ----------------------------------------------------------------------------------------


def _run(program: Path, *words: Any, **more: Any) -> subprocess.CompletedProcess[str]:
    ended = subprocess.run(
        [str(program), *map(os.fsdecode, words)], text=True, check=False, timeout=60,
        **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more},
    )  # fmt: skip
    assert "Traceback" not in (ended.stderr or "")
    return ended


def _shell(program: Path, line: str) -> subprocess.CompletedProcess[str]:
    ended = subprocess.run(
        ["sh", "-c", line.replace("PROGRAM", str(program)).replace("PLAN", str(PLAN))],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert "Traceback" not in ended.stderr
    assert "Exception ignored" not in ended.stderr
    return ended


@half
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("PROGRAM plan show --json PLAN > /dev/full", "No space left on device"),
        ("PROGRAM --help > /dev/full", "No space left on device"),
        ("PROGRAM plan show PLAN >&-", "no stdout"),
        ("PROGRAM --home $(printf /%0300d) doctor --json | grep '\"ok\": false' && exit 2", "name too long"),
    ],
)
def test_a_full_disk_or_nothing_behind_stdout_is_said(program: Path, line: str, said: str) -> None:
    ended = _shell(program, line)
    assert (ended.returncode, said in ended.stderr, "  do:       " in ended.stderr) == (2, True, True), ended.stderr


@half
@pytest.mark.parametrize(("words", "code"), [("plan show PLAN", 2), ("plan show --json /nothing/here", 2)])
def test_a_full_disk_behind_everything_that_is_said_changes_no_exit_code(program: Path, words: str, code: int) -> None:
    assert _shell(program, f"PROGRAM {words} > /dev/full 2> /dev/full").returncode == code


@pytest.mark.parametrize(("program", "command"), [(ONLINE, "doctor"), (OFFLINE, "preflight")])
def test_a_closed_stderr_changes_no_exit_code(program: Path, command: str, tmp_path: Path) -> None:
    line = f"PROGRAM --home {tmp_path} {command} 2>"
    assert _shell(program, f"{line}&-").returncode == _shell(program, f"{line}/dev/null").returncode != 1


@pytest.mark.parametrize("closed", ["2>&-", "<&- 2>&-"])
def test_no_file_that_is_opened_comes_in_the_place_of_a_closed_stream(closed: str) -> None:
    program = "import os, click; from airlock_shared.cli.program import run\n"
    program += "run(click.Command('x', callback=lambda: os.write(1, b'%d' % os.open('/dev/null', os.O_RDWR))))"
    ended = _shell(Path(sys.executable), f'PROGRAM -c "{program}" {closed}')
    assert (ended.returncode, int(ended.stdout) > 2) == (0, True)


@half
@pytest.mark.parametrize("line", ["PROGRAM plan new -o never.toml <&-", "yes | PROGRAM plan new -o never.toml"])
def test_without_a_terminal_nobody_is_asked(program: Path, line: str) -> None:
    ended = _shell(program, line)
    assert (ended.returncode, "answers come from a terminal" in ended.stderr) == (6, True)
    assert not Path("never.toml").exists()


@half
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["plan", "show", b"\xff\xfe.toml"], "cannot be opened"),
        ([b"\xff\x1b[2J"], "there is no command"),
        (["plan", "show", str(PLAN), "--force"], "No such option"),
        (["--home", str(PLAN), "plan", "show", str(PLAN)], "is a file"),
    ],
)
def test_a_wrong_command_line_is_explained_in_80_columns(program: Path, words: list[Any], said: str) -> None:
    ended = _run(program, *words)
    assert ended.returncode == 2, ended.stderr
    assert said in ended.stderr.replace("\n", " ")
    assert "do:" in ended.stderr
    assert max(map(len, ended.stderr.splitlines())) <= 80
    assert ended.stderr.replace("\n", "").isprintable()
    assert ended.stdout == ""


# ---- waits ------------------------------------------------------------------------------------------------------------


def _waited_for(told: str, *words: object) -> int:
    """Start a command that waits for a silent address, until it is told; return how it ends."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = str(silent.getsockname()[1])
        terminal = Terminal(*(str(word).replace("PORT", port) for word in words))
        asked, _ = silent.accept()
        while told not in terminal.shown:
            assert terminal.more(), terminal.shown
        asked.close()
    return terminal.end()


def test_a_service_that_does_not_answer_is_told_while_it_is_waited_for() -> None:
    assert _waited_for("Waiting for 127.0.0.1 ... (1 s)", ONLINE, "ready", "--builder", "http://127.0.0.1:PORT/b") == 8


def test_a_person_is_told_that_the_ledger_waits_for_them(tmp_path: Path) -> None:
    words = (OFFLINE, "--home", tmp_path / "home", "address", "--emulator", "PORT")
    assert _waited_for("Waiting for the Ledger ... (1 s)", *words) == 5
