"""The real Ethereum app in the Speculos emulator, and a person who reads its screen and presses, over the REST API.

The ELF is given by its path and is never part of this repository. Speculos is a program of its own environment
(``.venvs/speculos``): nothing of it is imported here. Screens are the text events of its REST API.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.request import Request, urlopen

SPECULOS = Path(__file__).resolve().parents[2] / ".venvs/speculos/bin/speculos"
Page = list[str]

SETTINGS_ICON = (404, 76)  # pixels on a Flex: where a finger goes
NEXT = (430, 552)
BACK = (50, 47)
SWITCH_X = 418
HOME = "Quit app"
SWITCHES = {"raw_messages": "Raw messages", "blind_signing": "Blind signing", "smart_accounts": "Smart account upgrade"}

_CONTINUE = ("Continue anyway", "Accept risk and continue")
_OF = re.compile(r"([0-9]+) of ([0-9]+)")
_HOLD_S = 2.2
_REQUEST_S = 90  # for all pages of one request
_POLL_S = 0.06
_REDRAW_S = 3  # for the next page to come after a touch


def free_port() -> int:
    """Return a loopback port that nobody uses at the moment."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


class RealApp:
    """A Flex with the Ethereum app open, factory settings, and Speculos' default seed."""

    def __init__(self, elf: Path, folder: Path) -> None:
        self.port, self._api = free_port(), free_port()
        words = [
            "--model",
            "flex",
            "--display",
            "headless",
            "--apdu-port",
            str(self.port),
            "--api-port",
            str(self._api),
        ]
        self._log = (folder / f"speculos-{self.port}.log").open("wb")
        environment = os.environ | {"PATH": f"{SPECULOS.parent}:{os.environ['PATH']}"}
        self._process = subprocess.Popen(
            [str(SPECULOS), *words, str(elf)], stdout=self._log, stderr=self._log, stdin=subprocess.DEVNULL,
            env=environment, start_new_session=True,
        )  # fmt: skip
        self._wait_for(HOME)
        self.settings = dict.fromkeys(SWITCHES, False)

    def close(self) -> None:
        """Switch it off."""
        self._process.terminate()
        self._process.wait(20)
        self._log.close()

    # ---- the REST API

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = Request(f"http://127.0.0.1:{self._api}{path}", data=data, method=method)
        with urlopen(request, timeout=20) as reply:
            return json.loads(reply.read() or b"null")

    def events(self) -> list[dict[str, Any]]:
        """Return the texts on the screen with their places, in the order in which they were drawn."""
        found: list[dict[str, Any]] = self._call("GET", "/events?currentscreenonly=true")["events"]
        return found

    def page(self) -> Page:
        """Return the page once it holds still."""
        before: Page = []
        while True:
            page = [event["text"] for event in self.events()]
            if page and page == before:
                return page
            before = page
            time.sleep(_POLL_S)

    def tap(self, x: int, y: int, seconds: float = 0.1) -> None:
        """Touch the screen."""
        self._call("POST", "/finger", {"action": "press-and-release", "x": x, "y": y, "delay": seconds})

    def tap_text(self, text: str, seconds: float = 0.1) -> None:
        """Touch a text that is on the screen."""
        place = next(event for event in self.events() if event["text"].strip() == text)
        self.tap(place["x"] + place["w"] // 2, place["y"] + place["h"] // 2, seconds)

    def _wait_for(self, text: str, seconds: float = 30) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self._process.poll() is not None:
                message = f"Speculos ended: see {self._log.name}"
                raise RuntimeError(message)
            try:
                if text in self.page_now():
                    return
            except OSError:  # the API is not up yet
                pass
            time.sleep(_POLL_S)
        message = f"no {text!r} on the screen within {seconds} s"
        raise TimeoutError(message)

    def page_now(self) -> Page:
        """Return what is on the screen at this moment."""
        return [event["text"].strip() for event in self.events()]

    def wait_for_another(self, page: Page) -> None:
        """Wait until the screen has changed, so that nothing is pressed twice on one page."""
        end = time.monotonic() + _REDRAW_S
        while time.monotonic() < end and self.page_now() == [text.strip() for text in page]:
            time.sleep(_POLL_S)

    # ---- settings

    def configure(self, **wanted: bool) -> None:
        """Set the app's switches as a person does: through its settings pages."""
        if all(self.settings[name] == value for name, value in wanted.items()):
            return
        self._go_home()
        self.tap(*SETTINGS_ICON)
        self._wait_for(SWITCHES["blind_signing"])
        left = {SWITCHES[name]: name for name, value in wanted.items() if value != self.settings[name]}
        seen: list[Page] = []
        while left:
            page = self.page()
            if page in seen:
                message = f"no switch for {sorted(left)} on the settings pages {seen}"
                raise RuntimeError(message)
            seen.append(page)
            for event in self.events():
                name = left.pop(event["text"].strip(), "")
                if name:
                    self.tap(SWITCH_X, event["y"] + event["h"] // 2)
                    self.settings[name] = wanted[name]
                    seen[-1] = self.page()
            self.tap(*NEXT)
            self.wait_for_another(seen[-1])
        self.tap(*BACK)
        self._wait_for(HOME)

    def _go_home(self) -> None:
        if HOME not in self.page_now():
            self.tap(240, 300)
        self._wait_for(HOME)


class Person:
    """Somebody at the device for the length of one request, who approves or refuses and notes each page."""

    def __init__(self, app: RealApp, manner: str = "approve") -> None:
        """``manner`` is the ``user`` of a recording: approve, approve-skip, reject-at-warning or reject-at-end."""
        self.pages: list[Page] = []
        self.after: list[Page] = []
        self._app = app
        self._manner = manner
        self._gone = Event()
        self._thread = Thread(target=self._watch)

    def __enter__(self) -> Person:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._gone.set()
        self._thread.join()

    def _watch(self) -> None:
        end = time.monotonic() + _REQUEST_S
        while not self._gone.is_set() or HOME not in self._app.page_now():
            page = self._app.page()
            if HOME in page:
                end = time.monotonic() + _REQUEST_S
                time.sleep(_POLL_S)
                continue
            act = self._act(page)
            pages = self.after if act is None else self.pages
            if not pages or pages[-1] != page:
                pages.append(page)
            if act is not None:
                act()
            elif len(page) == 1:  # "Message signed": it goes by itself in three seconds, or with a touch
                self._app.tap(240, 300)
            self._app.wait_for_another(page)
            if time.monotonic() > end:
                message = f"the request did not end; the screen shows {page}"
                raise TimeoutError(message)

    def _act(self, page: Page) -> Callable[[], None] | None:
        """Return what to press on a page of a request; None on one that only reports."""
        app, texts = self._app, [text.strip() for text in page]
        for answer in ("Yes, reject", "Yes, skip"):
            if answer in texts:
                return lambda: app.tap_text(answer)
        if "Go to settings" in texts:  # a report with two buttons: the one that does not go there
            app.tap_text(texts[texts.index("Go to settings") - 1])
            return None
        if goes_on := [text for text in _CONTINUE if text in texts]:
            return lambda: app.tap_text("Back to safety" if self._manner == "reject-at-warning" else goes_on[0])
        if "Back to safety" in texts:  # a report too: nothing can be continued
            app.tap_text("Back to safety")
            return None
        number = next((match for text in texts if (match := _OF.fullmatch(text))), None)
        if number is None:
            return None
        if number[1] != number[2]:
            if self._manner == "approve-skip" and "Skip" in texts:
                return lambda: app.tap_text("Skip")
            return lambda: app.tap(*NEXT)
        return self._last(texts)

    def _last(self, texts: Page) -> Callable[[], None]:
        app = self._app
        if self._manner == "reject-at-end":
            return lambda: app.tap_text("Cancel" if "Cancel" in texts else "Reject")
        if "Confirm" in texts:
            return lambda: app.tap_text("Confirm")
        return lambda: app.tap_text("Hold to sign", _HOLD_S)
