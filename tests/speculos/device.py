"""The real Ethereum app in the Speculos emulator, and a person who reads its screen and presses, over the REST API.

The ELF is given by its path and is never part of this repository. Speculos is a program of its own environment
(``.venvs/speculos``): nothing of it is imported here. Screens are the text events of its REST API. Where a person presses
is a matter of the model: ``buttons.py`` for a Nano, ``touching.py`` for a touch screen.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any, Protocol
from urllib.request import Request, urlopen

from speculos.app_file import AppFile
from speculos.buttons import Buttons
from speculos.touching import PLACES, Touching

SPECULOS = Path(__file__).resolve().parents[2] / ".venvs/speculos/bin/speculos"
Page = list[str]
SETTINGS = ("raw_messages", "blind_signing", "smart_accounts")

_ON_LOOPBACK = """
import socket, sys
class Loopback(socket.socket):
    def bind(self, place):
        super().bind(("127.0.0.1", place[1]) if self.family == socket.AF_INET else place)
socket.socket = Loopback
sys.argv[0] = "speculos"
from speculos.main import main
main()
"""
"""Speculos listens on every address of the machine, and has no option for another: here it has this one."""

_REQUEST_S = 90  # for all pages of one request, from the last one that was new
_POLL_S = 0.04
_WORD_GAP_PX = 12  # as Speculos has it for the small screens
_KERNING_PX = 2  # a letter may begin before the one in front of it ends
_BELOW_PX = 4  # a descender's room
_REDRAW_S = 3  # for the next page to come after a touch


def free_port() -> int:
    """Return a loopback port that nobody uses at the moment."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def joined(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Join what Speculos takes apart: a line goes on where a character lies below the letters before it, such as ``_``.

    It reads characters by their places. One that begins at the end of the one before, and not a line lower, is of its line;
    a line that is centred or set to the left never begins there.
    """
    result: list[dict[str, Any]] = []
    for event in events:
        before = result[-1] if result else None
        if (
            before is not None
            and -_KERNING_PX <= event["x"] - before["x"] - before["w"] < _WORD_GAP_PX
            and before["y"] - event["h"] < event["y"] < before["y"] + before["h"] + _BELOW_PX
        ):
            before["text"] += event["text"]
            before["w"] = event["x"] + event["w"] - before["x"]
            before["h"] = max(before["y"] + before["h"], event["y"] + event["h"]) - before["y"]
        else:
            result.append(dict(event))
    return result


class Hands(Protocol):
    """What a person does on one kind of Ledger."""

    def is_home(self, page: Page) -> bool:
        """Whether the app waits, and shows no request."""

    def switch(self, wanted: dict[str, bool]) -> None:
        """Turn these settings of the app over: they stand the other way now."""

    def act(self, page: Page, manner: str) -> Callable[[], None] | None:
        """Return what to press on a page of a request; None on one that only reports."""

    def dismiss(self, page: Page) -> None:
        """Do away with a page that only reports."""


class RealApp:
    """A Ledger with the Ethereum app open, factory settings, and Speculos' default seed."""

    def __init__(self, app: AppFile, folder: Path) -> None:
        self.port, self._api = self.ports = free_port(), free_port()
        words = ["-c", _ON_LOOPBACK, "--model", app.emulated, "--display", "headless"]
        words += ["--apdu-port", str(self.port), "--api-port", str(self._api)]
        self._log = (folder / f"speculos-{self.port}.log").open("wb")
        environment = os.environ | {"PATH": f"{SPECULOS.parent}:{os.environ['PATH']}"}
        self._process = subprocess.Popen(
            [str(SPECULOS.with_name("python")), *words, str(app.path)], stdout=self._log, stderr=self._log,
            stdin=subprocess.DEVNULL, env=environment, start_new_session=True,
        )  # fmt: skip
        self.file = app
        places = PLACES.get(app.model)
        self.hands: Hands = Buttons(self) if places is None else Touching(self, places)
        self.settings = dict.fromkeys(SETTINGS, False)
        self.wait_until(self.hands.is_home)

    def close(self) -> None:
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
        return joined(found)

    def page(self) -> Page:
        """Return the page once it holds still. Raises ``TimeoutError`` when nothing comes."""
        before: Page = []
        end = time.monotonic() + _REQUEST_S
        while time.monotonic() < end:
            page = [event["text"] for event in self.events()]
            if page and page == before:
                return page
            before = page
            time.sleep(_POLL_S)
        message = "the screen shows nothing that holds still"
        raise TimeoutError(message)

    def page_now(self) -> Page:
        """Return what is on the screen at this moment."""
        return [event["text"].strip() for event in self.events()]

    def tap(self, x: int, y: int, seconds: float = 0.1) -> None:
        self._call("POST", "/finger", {"action": "press-and-release", "x": x, "y": y, "delay": seconds})

    def tap_text(self, text: str, seconds: float = 0.1) -> None:
        place = next(event for event in self.events() if event["text"].strip() == text)
        self.tap(place["x"] + place["w"] // 2, place["y"] + place["h"] // 2, seconds)

    def press(self, button: str) -> None:
        """Press ``left``, ``right`` or ``both`` of a Nano's buttons."""
        self._call("POST", f"/button/{button}", {"action": "press-and-release"})

    def wait_until(self, arrived: Callable[[Page], bool], seconds: float = 30) -> None:
        """Wait until the screen is as somebody expects it."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self._process.poll() is not None:
                message = f"Speculos ended: see {self._log.name}"
                raise RuntimeError(message)
            try:
                if arrived(self.page_now()):
                    return
            except OSError:  # the API is not up yet
                pass
            time.sleep(_POLL_S)
        message = f"the expected page did not come within {seconds} s; the screen shows {self.page_now()}"
        raise TimeoutError(message)

    def wait_for_another(self, page: Page) -> None:
        """Wait until the screen has changed, so that nothing is pressed twice on one page."""
        end = time.monotonic() + _REDRAW_S
        while time.monotonic() < end and self.page_now() == [text.strip() for text in page]:
            time.sleep(_POLL_S)

    def configure(self, **wanted: bool) -> None:
        """Set the app's switches as a person does: through its settings pages."""
        left = {name: value for name, value in wanted.items() if value != self.settings[name]}
        if left:
            self.hands.switch(left)
            self.settings |= left


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
        app, hands = self._app, self._app.hands
        end = time.monotonic() + _REQUEST_S
        while not self._gone.is_set() or not hands.is_home(app.page_now()):
            page = app.page()
            if hands.is_home(page):
                end = time.monotonic() + _REQUEST_S
                time.sleep(_POLL_S)
                continue
            act = hands.act(page, self._manner)
            pages = self.after if act is None else self.pages
            if not pages or pages[-1] != page:
                pages.append(page)
                end = time.monotonic() + _REQUEST_S
            if act is not None:
                act()
            else:
                hands.dismiss(page)
            app.wait_for_another(page)
            if time.monotonic() > end:
                message = f"the request did not end; the screen shows {page}"
                raise TimeoutError(message)
