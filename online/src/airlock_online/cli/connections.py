"""The connections of a command, as the configuration says; what it permits beside the rule is repeated every time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from airlock_online.clients.http import Http, Timeouts
from airlock_online.home import OnlineHome
from airlock_shared.cli.console import say

PLAIN = "NOTE: [http] plain_http = true: what goes to an http:// address can be read and changed on its way."


@contextmanager
def connections(home: OnlineHome, timeouts: Timeouts = Timeouts()) -> Iterator[Http]:  # noqa: B008 (frozen)
    """Yield a command's connections. Raises ``UsageError`` for a wrong configuration."""
    settings = home.config().http
    if settings.plain_http:
        say(PLAIN)
    with Http(timeouts, **settings._asdict(), api_key=home.api_key()) as http:
        yield http
