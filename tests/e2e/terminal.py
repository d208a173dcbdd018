"""An installed command in a terminal of its own, as a person meets it."""

import fcntl
import os
import pty
import re
import select
import struct
import termios
import time

from commands import begin

PATIENCE_S = 60


class Terminal:
    """A command in a terminal of its own: what it shows is read, keys are typed."""

    ROWS = 0  # as many as it likes

    def __init__(self, *words: object, **environment: str) -> None:
        self.shown = ""
        self.outside, inside = pty.openpty()
        if self.ROWS:
            fcntl.ioctl(self.outside, termios.TIOCSWINSZ, struct.pack("HHHH", self.ROWS, 80, 0, 0))
        env = {**os.environ, "COLUMNS": "80", **environment}
        self.command = begin([*map(str, words)], (inside, inside, inside), env, terminal=True)
        self.pid = self.command.pid
        os.close(inside)

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
        if keys == "\x03":
            time.sleep(0.05)  # Python keeps a signal of the instant before it waits for keys until the next key
        os.write(self.outside, keys.encode())

    def end(self) -> int:
        """Wait for the command's end, and return its exit code."""
        while self.more():
            pass
        os.close(self.outside)
        return self.command.wait(PATIENCE_S)
