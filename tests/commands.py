"""A command that ran and ended, and how an installed one is run: what every part of the tests shares."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from airlock_shared.documents.signatures import parse_signatures
from airlock_shared.errors import AirlockError
from airlock_shared.text.words import spoken

_YES = b"Type Yes to go on, anything else to stop: "
_PLACES = re.compile(r"word (\d+) and word (\d+): $")


class FinishedCommand(NamedTuple):
    """A command that ended: its exit code, and what it wrote to stdout and stderr."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """Return the one JSON document of stdout."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        """The JSON lines of stdout."""
        return [json.loads(line) for line in self.out.splitlines()]


def other_screen(words: tuple[object, ...]) -> str:
    """Return the words that the signing machine shows of the signatures to submit or export; none without any."""
    begins = next((at for at, word in enumerate(words) if word in ("submit", "export")), len(words))
    for word in words[begins:]:
        try:
            if (path := Path(str(word))).is_file():
                return spoken(parse_signatures(path.read_bytes())[2])
        except AirlockError:
            continue
    return ""


def asked_words(question: str, screen: str) -> str:
    """Return what answers a question for two words, from the other machine's screen; empty for any other question."""
    found = _PLACES.search(question)
    if found is None:
        return ""
    return " ".join(screen.split()[int(at) - 1] for at in found.groups())


def _run_typing(
    words: list[str], screen: str, typed: str, env: Mapping[str, str] | None, cwd: Path | None
) -> FinishedCommand:
    """Run a command to its end, and type the two words for which it asks, as often as it does; ``typed`` is for a Yes."""
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, env=env, cwd=cwd) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        stdout, out, err = process.stdout, bytearray(), b""
        reader = Thread(target=lambda: out.extend(stdout.read()))
        reader.start()
        answers = iter(typed.splitlines(keepends=True))
        while chunk := os.read(process.stderr.fileno(), 1 << 16):
            err += chunk
            if answer := asked_words(err.decode(errors="replace"), screen):
                process.stdin.write(f"{answer}\n".encode())
                process.stdin.flush()
            elif err.endswith(_YES):
                process.stdin.write(next(answers, "\n").encode())
                process.stdin.flush()
        reader.join()
    assert b"Traceback" not in err, err
    return FinishedCommand(process.returncode, out.decode(), err.decode(errors="replace"))


def run_command(
    *words: object,
    typed: str | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    screen: str = "",
) -> FinishedCommand:
    """Run a command to its end, with what is typed on its stdin; a stack trace on stderr is a failure of the test.

    ``screen`` are the words on the other machine's, of which two are typed at each question; `submit FILE` finds them.
    """
    if screen := screen or other_screen(words):
        return _run_typing([*map(str, words)], screen, typed or "", env, cwd)
    ended = subprocess.run(
        [*map(str, words)],
        input=typed,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=env,
        cwd=cwd,
    )
    assert "Traceback" not in ended.stderr, ended.stderr
    return FinishedCommand(ended.returncode, ended.stdout, ended.stderr)
