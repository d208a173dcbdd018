"""The connections of a command, as the configuration says; what it permits beside the rule is repeated every time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from airlock_online.clients.http import Http, Timeouts
from airlock_online.home import OnlineHome
from airlock_shared.cli.progress import working
from airlock_shared.cli.terminal import say
from airlock_shared.text.safe import safe

_PLAIN = "NOTE: [http] plain_http = true: what goes to an http:// address can be read and changed on its way."


@contextmanager
def connections(
    home: OnlineHome,
    timeouts: Timeouts = Timeouts(),  # noqa: B008 (frozen)
    waiting: Callable[[str], AbstractContextManager[None]] = lambda host: working(
        f"Waiting for {safe(host, limit=60)}"
    ),
) -> Iterator[Http]:
    """Yield a command's connections; people are told what each waits for.

    Raises ``UsageError`` for a wrong configuration.
    """
    settings = home.config().http
    if settings.plain_http:
        say(_PLAIN)
    with Http(timeouts, **settings._asdict(), api_key=home.api_key(), waiting=waiting) as http:
        yield http
