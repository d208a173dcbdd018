"""A person at a touch screen: where a finger goes on each model, and what it does there."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from speculos.device import Page, RealApp

SWITCHES = {"raw_messages": "Raw messages", "blind_signing": "Blind signing", "smart_accounts": "Smart account upgrade"}
_HOME = "Quit app"
_CONTINUE = ("Continue anyway", "Accept risk and continue")
_OF = re.compile(r"([0-9]+) of ([0-9]+)")
_HOLD_S = 2.2


class Places(NamedTuple):
    """Where a finger goes, in pixels: seen on the screen, and nothing that is tested follows from them."""

    settings: tuple[int, int]
    next: tuple[int, int]
    back: tuple[int, int]
    switch_x: int
    middle: tuple[int, int]


PLACES = {
    "flex": Places((404, 76), (430, 552), (50, 47), 418, (240, 300)),
    "stax": Places((342, 55), (360, 626), (44, 44), 346, (200, 320)),
    "apexp": Places((266, 46), (272, 370), (27, 30), 264, (150, 200)),
}


class Touching:
    """The hands of a person at a touch screen."""

    def __init__(self, app: RealApp, places: Places) -> None:
        self._app = app
        self._places = places

    def is_home(self, page: Page) -> bool:
        return _HOME in page

    def switch(self, wanted: dict[str, bool]) -> None:
        app = self._app
        if not self.is_home(app.page_now()):
            app.tap(*self._places.middle)
        app.wait_until(self.is_home)
        while self.is_home(home := app.page()):  # a touch that comes while a page is drawn is lost
            app.tap(*self._places.settings)
            app.wait_for_another(home)
        app.wait_until(lambda page: SWITCHES["blind_signing"] in page)
        left = {SWITCHES[name] for name in wanted}
        seen: list[Page] = []
        while left:
            page = app.page()
            if page in seen:
                message = f"no switch for {sorted(left)} on the settings pages {seen}"
                raise RuntimeError(message)
            seen.append(page)
            for event in app.events():
                if (name := event["text"].strip()) in left:
                    left.remove(name)
                    app.tap(self._places.switch_x, event["y"] + event["h"] // 2)
                    seen[-1] = app.page()
            app.tap(*self._places.next)
            app.wait_for_another(seen[-1])
        app.tap(*self._places.back)
        app.wait_until(self.is_home)

    def act(self, page: Page, manner: str) -> Callable[[], None] | None:
        app, texts = self._app, [text.strip() for text in page]
        for answer in ("Yes, reject", "Yes, skip"):
            if answer in texts:
                return lambda: app.tap_text(answer)
        if "Go to settings" in texts:
            return None
        if goes_on := [text for text in _CONTINUE if text in texts]:
            return lambda: app.tap_text("Back to safety" if manner == "reject-at-warning" else goes_on[0])
        number = next((match for text in texts if (match := _OF.fullmatch(text))), None)
        if number is None:
            return None
        if number[1] == number[2]:
            return self._last(texts, manner)
        if manner == "approve-skip" and "Skip" in texts:
            return lambda: app.tap_text("Skip")
        return lambda: app.tap(*self._places.next)

    def _last(self, texts: Page, manner: str) -> Callable[[], None]:
        app = self._app
        if manner == "reject-at-end":
            return lambda: app.tap_text("Cancel" if "Cancel" in texts else "Reject")
        if "Confirm" in texts:
            return lambda: app.tap_text("Confirm")
        return lambda: app.tap_text("Hold to sign", _HOLD_S)

    def dismiss(self, page: Page) -> None:
        """Do away with a page that only reports: with two buttons, by the one that does not go to the settings."""
        texts = [text.strip() for text in page]
        if "Go to settings" in texts:
            self._app.tap_text(texts[texts.index("Go to settings") - 1])
        elif "Back to safety" in texts:
            self._app.tap_text("Back to safety")
        elif len(page) == 1:  # "Message signed": it goes by itself in three seconds, or with a touch
            self._app.tap(*self._places.middle)
