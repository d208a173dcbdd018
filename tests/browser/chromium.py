"""A real headless Chromium for tests, driven over two pipes with the DevTools protocol: no port is opened.

The browser reads commands from its descriptor 3 and answers on 4, as JSON texts that end with a zero byte.
"""

import base64
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from airlock_shared.host.print_pdf import browser

ANSWER_S = 60  # far beyond what an answer takes on a loaded machine: only a dead browser reaches it
ARGUMENTS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--disable-extensions",
    "--disable-default-apps", "--no-default-browser-check", "--mute-audio", "--remote-debugging-pipe",
)  # fmt: skip

WIRING = """
import fcntl, os, sys
high = [fcntl.fcntl(int(each), fcntl.F_DUPFD, 10) for each in sys.argv[1:3]]  # out of the way of 3 and 4
for each, place in zip(high, (3, 4)):
    os.dup2(each, place)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Page:
    """One tab."""

    def __init__(self, process: subprocess.Popen[bytes], to_browser: int, from_browser: int) -> None:
        self._process = process
        self._to, self._from = to_browser, from_browser
        self._buffer = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []
        self._session = ""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and return its result; events that come before it are kept in ``events``."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._to, data) :]
        while (answer := self._receive()).get("id") != self._number:
            self.events.append(answer)
        assert "error" not in answer, f"{method}: {answer['error']}"
        result: dict[str, Any] = answer["result"]
        return result

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._from], [], [], ANSWER_S)
            assert ready, "Chromium does not answer"
            read = os.read(self._from, 1 << 20)
            assert read, f"Chromium has ended with {self._process.poll()}"
            self._buffer += read
        message, self._buffer = self._buffer.split(b"\0", 1)
        value: dict[str, Any] = json.loads(message)
        return value

    def open(self, path: Path) -> None:
        """Open a file and wait until it is loaded."""
        self.send("Page.navigate", url=path.absolute().as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._receive())

    def forget(self) -> None:
        """Go back to an empty page of the default size and theme, and forget what happened before."""
        self.send("Page.navigate", url="about:blank")
        self.send("Emulation.clearDeviceMetricsOverride")
        self.send("Emulation.setEmulatedMedia", features=[])
        self.evaluate("1")
        self.events.clear()

    def evaluate(self, expression: str) -> Any:
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def resize(self, width: int, height: int) -> None:
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def use_theme(self, theme: str) -> None:
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])

    def screenshot(self) -> Image.Image:
        data = base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"])
        return Image.open(BytesIO(data))

    def requests(self) -> list[str]:
        """Return the address of everything that the page has asked for."""
        self.evaluate("1")  # an answer comes after the events before it
        return [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]

    def complaints(self) -> list[str]:
        """Return what the page's console has: errors, and refusals of its policy."""
        self.evaluate("1")
        thrown = [json.dumps(e["params"]) for e in self.events if e.get("method") == "Runtime.exceptionThrown"]
        logged = [e["params"]["entry"]["text"] for e in self.events if e.get("method") == "Log.entryAdded"]
        return thrown + logged


@contextmanager
def chromium(profile: Path, *more: str) -> Iterator[Page]:
    """Start a browser with a new profile in ``profile``, give its page, and end it. Without Chromium the test is skipped."""
    program = browser()
    if program is None:
        pytest.skip("Chromium is not installed: on Debian, apt-get install chromium")
    commands_out, commands_in = os.pipe()
    answers_out, answers_in = os.pipe()
    words = [program, *ARGUMENTS, *more, f"--user-data-dir={profile}"]
    nothing = subprocess.DEVNULL
    process = subprocess.Popen(  # in a group of its own, with the pipes as its descriptors 3 and 4
        [sys.executable, "-c", WIRING, str(commands_out), str(answers_in), *words],
        pass_fds=(commands_out, answers_in), stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True,
    )  # fmt: skip
    os.close(commands_out)
    os.close(answers_in)
    try:
        yield Page(process, commands_in, answers_out)
    finally:
        os.close(commands_in)
        os.close(answers_out)
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the browser and its children, which are its group, and wait until the profile is let go of."""
    try:
        process.wait(timeout=10)  # it ends by itself when its pipe is closed
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
