"""The venue by another hand (``public_venue``), for a test that looks at what it was asked, and at what its relayer says."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx

FILES = Path(__file__).parents[1] / "public_venue"
SERVICES = (FILES / "services.toml").read_text()
PROFILE: dict[str, Any] = json.loads((FILES / "profile.json").read_text())
BUSY_WORD = "RELAYER_BUSY"


class Asked(NamedTuple):
    method: str
    service: str
    path: str
    fields: Any


class ThirdVenue:
    """The venue's process, and what it says of itself: the address of each service and of its node."""

    def __init__(self, *words: str) -> None:
        line, null = [sys.executable, "-m", "public_venue.venue", *words], subprocess.DEVNULL
        self.process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=null, text=True, cwd=FILES.parent)
        assert self.process.stdout is not None
        with self.process.stdout as told:
            self.told: dict[str, str] = json.loads(told.readline())
        self.url = self.told["url"]

    def address(self, service: str) -> str:
        return self.told[service.replace("node", "rpc")]

    def tell(self, **said: object) -> list[Asked]:
        """Say which contracts the relayer takes calls of (``relay_type2``), and return what was asked until now."""
        told = httpx.post(f"{self.url}/_venue/set", json=said, timeout=30).json()
        return [Asked(*each) for each in told["asked"]]

    @property
    def asked(self) -> list[Asked]:
        return self.tell()

    def read(self, path: str, **asked: str) -> Any:
        return httpx.get(f"{self.url}/builder{path}", params=asked, timeout=30).json()["data"]

    def rpc(self, method: str, *params: object) -> Any:
        asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return httpx.post(self.address("node"), json=asked, timeout=30).json()["result"]

    @property
    def delegates(self) -> set[str]:
        """The delegates that are registered, of those for whom an intent was built."""
        built = [each.fields for each in self.asked if each.path == "/v2/intents/delegate-set"]
        told = {
            each["delegate"]: self.read("/v2/delegation", **{n: each[n] for n in ("trader", "delegate")})
            for each in built
        }
        return {delegate for delegate, found in told.items() if found["isEnabled"]}


@contextmanager
def third_venue(*words: str) -> Iterator[ThirdVenue]:
    """Yield the venue, listening on loopback until the end."""
    venue = ThirdVenue(*words)
    yield venue
    venue.process.terminate()
    venue.process.wait(20)
