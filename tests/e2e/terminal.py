"""An installed command in a terminal of its own, as a person meets it."""

from __future__ import annotations

import os
import pty
import re
import select

PATIENCE_S = 60


class Terminal:
    """A command in a terminal of its own: what it shows is read, keys are typed."""

    def __init__(self, *words: object, **environment: str) -> None:
        self.shown = ""
        self.pid, self.outside = pty.fork()
        if not self.pid:  # pragma: no cover
            try:
                os.execve(str(words[0]), [str(word) for word in words], {**os.environ, "COLUMNS": "80", **environment})
            finally:
                os._exit(127)  # never go on as a second run of the tests

    def more(self) -> bool:
        """Take what is shown next; False at the end."""
        ready, _, _ = select.select([self.outside], [], [], PATIENCE_S)
        assert ready, f"nothing more after: {self.shown[-400:]}"
        try:
            data = os.read(self.outside, 1 << 16)
        except OSError:  # the command has ended
            return False
        self.shown += data.decode(errors="replace")
        return bool(data)

    def until_question(self) -> str | None:
        """Wait for a question, and return it; None when the command ended."""
        start = len(self.shown)
        while self.more():
            if re.search(r"\n[^\n]*: $", self.shown[start:]) or ("\n" not in self.shown and self.shown.endswith(": ")):
                return self.shown.rsplit("\n", 1)[-1].removesuffix(": ")
        return None

    def press(self, keys: str) -> None:
        os.write(self.outside, keys.encode())

    def end(self) -> int:
        """Wait for the command's end, and return its exit code."""
        while self.more():
            pass
        os.close(self.outside)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
