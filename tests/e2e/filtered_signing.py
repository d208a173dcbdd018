"""A message with filters through the installed command: the documents written, the deployment pinned, the step signed."""

import json
import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from airlock_offline.home import OfflineHome
from airlock_offline.ledger.transport import parse_path
from airlock_shared.documents.deployment import parse_deployment
from airlock_software_ledger.keys import TEST_SEED, derive
from commands import FinishedCommand, run_command
from e2e.conftest import OFFLINE
from plans import PATH, plan_head
from shared.filtered_venues import FilteredVenue, filtered_document, typed
from shared.make_payloads import TREASURY, fingerprint, plan_fingerprint, seal
from shared.world import good, to_bytes

SIGNER = derive(TEST_SEED, parse_path(PATH)).address


class Desk:
    """The offline machine's folder, and what is signed on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {**os.environ, "TMPDIR": str(folder)}  # nobody else signs with the account there

    def write(self, name: str, data: bytes) -> None:
        (self.folder / name).write_bytes(data)

    def run(self, *words: object, typed: str = "", started: bool = False) -> FinishedCommand:
        """Run the installed command in the folder."""
        words = (OFFLINE, "--home", "home", *words)
        return run_command(*words, typed=typed, env=self.env, cwd=self.folder, started=started)

    def pin(self, port: int) -> FinishedCommand:
        """Pin the deployment and state the time; return what ``trust`` shows of it.

        Filters are published for real chains, on which no rehearsal is pinned by ``trust``: it is pinned for the software
        Ledger, and shown as one of production.
        """
        data, now_ms = (self.folder / "deployment.json").read_bytes(), time.time_ns() // 1_000_000
        OfflineHome(self.folder / "home").pin(parse_deployment(data), data, now_ms)
        self.write("production.json", to_bytes(json.loads(data) | {"rehearsal": False}))
        pinned = self.run("--home", "another-home", "trust", "production.json")
        watch = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.run("preflight", "--time", watch, "--uncertainty", "60", "--emulator", port).done()
        return pinned

    def sign(self, port: int, *more: str, started: bool = False) -> FinishedCommand:
        """Sign the step, answering Yes to every question."""
        words = ("sign", "requests.json", "--plan", "plan.toml", "-o", "signatures.json", "--emulator", port)
        return self.run(*words, *more, typed="Yes\n" * 3, started=started)

    def signed(self) -> dict[str, Any]:
        """Return what was signed."""
        found: dict[str, Any] = json.loads((self.folder / "signatures.json").read_text())["signatures"][0]
        return found


class FilteredDesk(Desk):
    """A desk with a message of one venue, whose struct has filters."""

    def __init__(self, folder: Path, venue: FilteredVenue, show: str = "fields", **values: str) -> None:
        super().__init__(folder)
        document = filtered_document(venue)
        self.document = typed(venue, **{venue.account: SIGNER} | values)
        plan = plan_head("filtered", deployment="filtered", signer=SIGNER, show=show)
        plan += '[[steps]]\nid = "sign"\naction = "custom"\nsigner = "treasury"\n[steps.fields]\n'
        plan += f'struct = "{venue.struct}"\n'
        asked = {name: value for name, value in self.document["message"].items() if name != venue.nonce}
        plan += "".join(f'{name} = "{value}"\n' for name, value in asked.items())
        self.write("deployment.json", to_bytes(document))
        self.write("plan.toml", plan.encode())
        self.write("requests.json", to_bytes(self._requests(venue, document, plan)))

    def _requests(self, venue: FilteredVenue, deployment: dict[str, Any], plan: str) -> dict[str, Any]:
        made: dict[str, Any] = json.loads(json.dumps(good("close")).replace(TREASURY, SIGNER))
        types = {name: members for name, members in self.document["types"].items() if name != "EIP712Domain"}
        payload = {
            "intent": venue.struct, "signerRule": "trader-only", "domain": self.document["domain"],
            "primaryType": venue.struct, "types": types, "message": self.document["message"],
        }  # fmt: skip
        seal(payload)
        made["requests"][0] |= {
            "step": "sign", "action": "custom", "endpoint": "/v2/other", "fields": {}, "payload": payload,
            "route": {"to": "relayer"},
        }  # fmt: skip
        made["header"] |= {
            "ceremony": "filtered", "plan": plan_fingerprint(plan), "deployment": fingerprint(deployment),
            "deployment_name": "filtered", "rehearsal": True, "created_ms": time.time_ns() // 1_000_000,
        }  # fmt: skip
        return made
