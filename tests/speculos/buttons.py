"""A person at a Nano: the right button turns pages, both together take what is shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from speculos.device import Page, RealApp

SWITCHES = {"raw_messages": "Raw messages", "blind_signing": "Blind signing", "smart_accounts": "Smart accounts"}
_HOME, _SETTINGS, _BACK = "app is ready", "App settings", "Back"
_WARNING, _PAUSE = "Blind signing ahead", "press both to skip"
_REPORT = re.compile(
    r"(?:Message|Transaction|Operation|Address)(?: verification)? (?:signed|rejected|verified|cancelled)"
)
_REFUSED = "Blind signing must"
_TAKES = ("Sign ", "Accept risk and", "Confirm")
_PUTS_BACK = ("Reject", "Cancel")
_BACK_TO_SAFETY = "Back to safety"


def is_report(texts: Page) -> bool:
    """Tell whether a page only reports; it may stand over the home screen, of which Speculos still tells."""
    over = texts[texts.index(_HOME) + 1 :] if _HOME in texts else texts
    return _REPORT.fullmatch(" ".join(over)) is not None


class Buttons:
    """The hands of a person at a Nano."""

    def __init__(self, app: RealApp) -> None:
        self._app = app

    def is_home(self, page: Page) -> bool:
        return page[-1:] == [_HOME]

    def switch(self, wanted: dict[str, bool]) -> None:
        app = self._app
        app.wait_until(self.is_home)
        self._turn_to(_SETTINGS)
        app.press("both")
        app.wait_until(lambda page: page != [_SETTINGS])
        left = {SWITCHES[name] for name in wanted}
        while (page := app.page()) != [_BACK]:
            if page[0] in left:
                left.remove(page[0])
                while (turned := app.page()) == page:  # a press that comes while a page is drawn is lost
                    app.press("both")
                    app.wait_for_another(page)
                page = turned
            app.press("right")
            app.wait_for_another(page)
        if left:
            message = f"no switch for {sorted(left)} among the settings"
            raise RuntimeError(message)
        app.press("both")
        app.wait_for_another([_BACK])
        while not self.is_home(page := app.page()):
            app.press("left")
            app.wait_for_another(page)

    def _turn_to(self, text: str) -> None:
        while (page := self._app.page()) != [text]:
            self._app.press("right")
            self._app.wait_for_another(page)

    def act(self, page: Page, manner: str) -> Callable[[], None] | None:
        texts = [text.strip() for text in page]
        if _REFUSED in texts or is_report(texts):
            return None
        both, right = (lambda: self._app.press("both")), (lambda: self._app.press("right"))
        if texts[0] == _WARNING:
            return right if manner == "reject-at-warning" else both
        if texts == [_BACK_TO_SAFETY] or (len(texts) <= 2 and texts[0].startswith(_PUTS_BACK)):
            return both
        if texts[-1] == _PAUSE:
            return both if manner == "approve-skip" else right
        if len(texts) < 3 and page[0].startswith(_TAKES):
            return right if manner == "reject-at-end" else both
        return right

    def dismiss(self, page: Page) -> None:
        self._app.press("both")
