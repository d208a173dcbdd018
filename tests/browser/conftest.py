"""One Chromium for the tests of a module, without what an earlier page did."""

from collections.abc import Iterator

import pytest

from browser.chromium import Page, chromium


@pytest.fixture(scope="module")
def one_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with chromium(tmp_path_factory.mktemp("browser") / "profile") as opened:
        yield opened


@pytest.fixture
def browser(one_browser: Page) -> Page:
    one_browser.forget()
    return one_browser
