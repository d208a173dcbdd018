"""The venue by another hand (``public_venue``), for a test that looks at what it was asked, and at what its relayer says."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from serving import serving

FILES = Path(__file__).parents[1] / "public_venue"
SERVICES = (FILES / "services.toml").read_text()
PROFILE: dict[str, Any] = json.loads((FILES / "profile.json").read_text())
BUSY_WORD = "RELAYER_BUSY"


class ThirdVenue(NamedTuple):
    """The venue: its own module, whose names are its state, and its address."""

    module: Any
    url: str

    def address(self, service: str) -> str:
        return f"{self.url}/{service.replace('node', 'rpc')}"

    @property
    def delegates(self) -> set[str]:
        return {delegate for _, delegate in self.module.CHAIN.state.delegations}

    def read(self, path: str, **asked: str) -> Any:
        return httpx.get(f"{self.url}/builder{path}", params=asked, timeout=30).json()["data"]


@contextmanager
def third_venue(**how: Any) -> Iterator[ThirdVenue]:
    """Yield the venue, with a module of its own, listening on loopback until the end."""
    found = spec_from_file_location("public_venue.venue", FILES / "venue.py")
    assert found is not None
    assert found.loader is not None
    module = module_from_spec(found)
    found.loader.exec_module(module)
    with serving(module.server(**how)) as url:
        yield ThirdVenue(module, url)
