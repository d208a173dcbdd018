"""``config show`` and ``doctor``, as both machines have them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from airlock_shared.cli.program import completion_variable
from airlock_shared.cli.terminal import finish, json_option, paint, say, show, show_all, show_json, worst
from airlock_shared.documents.deployment import Deployment, parse_deployment
from airlock_shared.errors import AirlockError, ExitCode, Refusal
from airlock_shared.host.files import DAMAGED_DO, LOOK, REFUSED, C, Observed, TranscriptFile, read_document, read_table
from airlock_shared.host.machine import fingerprint_text, page_lines
from airlock_shared.text.safe import safe

# ---- config ---------------------------------------------------------------------------------------------------------
# ``config show``: every setting, its value, and where that comes from; the same on both machines.


DEFAULT, IN_FILE, ENVIRONMENT = "default", "file", "environment"


class Setting(NamedTuple):
    """A setting as it stands: its section and name, its value, and where that comes from (``default``, ``file`` …)."""

    section: str
    name: str
    value: Any
    origin: str


def settings_of(path: Path, settings: C, environment: Mapping[tuple[str, str], str]) -> Iterator[Setting]:
    """Yield every setting, with where its value comes from.

    ``environment`` names the variables that stand in for a setting, by section and name, as far as they are set.
    """
    table = read_table(path)
    for section, values in settings._asdict().items():  # type: ignore[attr-defined]
        for name, value in values._asdict().items():
            variable = environment.get((section, name))
            origin = IN_FILE if name in table.get(section, {}) else DEFAULT
            yield Setting(section, name, value, f"{ENVIRONMENT} {variable}" if variable else origin)


def show_settings(file: Path, home: Setting, settings: Iterable[Setting], *, as_json: bool) -> None:
    """Show the settings; secrets were taken out of their values before."""
    told = [home, *settings]
    if as_json:
        rows = [{"section": s.section, "name": s.name, "value": s.value, "from": s.origin} for s in told]
        show_json({"ok": True, "file": str(file), "exists": file.exists(), "settings": rows})
        return
    show(f"{safe(str(file))}" + ("" if file.exists() else "  (no such file: every value is a default)"))
    section = ""
    for setting in told:
        if setting.section != section:
            section = setting.section
            show(f"[{section}]")
        values = setting.value.items() if isinstance(setting.value, dict) else [("", setting.value)]
        for member, value in values:
            name = f"{setting.name}.{member}".rstrip(".")
            show(f"  {name} = {_written(value)}")
            show(f"    from: {setting.origin}")


def _written(value: object) -> str:
    return f'"{safe(value, limit=200)}"' if isinstance(value, str) else str(value)


def home_setting(folder: Path, default: Path, variable: str) -> Setting:
    """Return a half's folder as a setting; ``default`` is what the environment's ``variable`` gives, or nothing does."""
    named = f"{ENVIRONMENT} {variable}" if os.environ.get(variable) else DEFAULT
    return Setting("machine", "home", str(folder), named if folder == default else "--home")


# ---- doctor ---------------------------------------------------------------------------------------------------------
# What both halves say of the records that they keep, and how ``doctor`` ends: its page or JSON, and an exit code.


def read_deployments(paths: Iterable[Path], *, first: str) -> tuple[list[Deployment], list[Observed]]:
    """Return the deployments in files, and a line for each, refused when it is damaged; ``first`` is done without any."""
    found, lines = [], []
    for path in paths:
        try:
            one = read_document(path, parse_deployment, DAMAGED_DO)
        except AirlockError as error:
            lines.append(_refused("deployments", path.stem, error, f"damaged: {error.what}"))
            continue
        found.append(one)
        kind = "REHEARSAL" if one.rehearsal else one.test_mark or "production"
        lines.append(Observed("deployments", one.name, f"{kind}, {fingerprint_text(one.fingerprint)}"))
    return found, lines or [Observed("deployments", "deployments", "none yet", LOOK, first)]


def transcript_line(transcript: TranscriptFile) -> Observed:
    """Read the transcript whole, and give its length and head, to compare with what was written down."""
    try:
        entries = transcript.entries()
    except AirlockError as error:
        return _refused("transcript", "transcript", error, error.what)
    if not entries:
        return Observed("transcript", "transcript", "nothing is recorded yet")
    found = f"entries: {len(entries)}, the chain holds; head {fingerprint_text(entries[-1].hash)}"
    return Observed("transcript", "transcript", found)


def _refused(group: str, what: str, error: AirlockError, found: str) -> Observed:
    check = error.check if isinstance(error, Refusal) else ""
    return Observed(group, what, found, REFUSED, error.do, check, error.exit_code)


def finish_doctor(lines: Sequence[Observed], *, as_json: bool) -> None:
    """Show the lines and end the command: 0 when nothing is wrong, else the worst of their exit codes."""
    wrong = [line for line in lines if line.code is not ExitCode.DONE]
    if as_json:
        show_json({"ok": not wrong, "lines": [line.as_json() for line in lines]})
    else:
        show_all(page_lines(lines))
    say(f"{len(wrong)} of {len(lines)} lines need something done." if wrong else "Nothing is wrong.")
    finish(worst([line.code for line in wrong]))


# ---- completion -----------------------------------------------------------------------------------------------------
# ``completion``: the lines that make a shell complete a program's command lines.


SHELLS = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}


@click.command("completion")
@click.argument("shell", type=click.Choice(list(SHELLS)))
@json_option
@click.pass_context
def completion(context: click.Context, shell: str, as_json: bool) -> None:
    r"""Print the lines that make a shell complete this program's commands, options and file names.

    \b
    Example for bash, in this terminal (in each: the same line in ~/.bashrc):
      eval "$(PROGRAM completion bash)"
    zsh: the same with zsh; fish: PROGRAM completion fish | source
    """
    program = context.find_root().command_path
    script = ShellComplete.source(SHELLS[shell](context.find_root().command, {}, program, completion_variable(program)))
    if as_json:
        show_json({"ok": True, "shell": shell, "script": script})
    else:
        paint(script, end="")
