"""A whole rehearsal on the real Ethereum app, with its sealed transcripts, and a transaction that is signed blind.

    python tests/speculos/rehearse.py ELF FOLDER

The services are the rehearsal's, both halves are the installed commands, and a script presses on the emulated Ledger.
"""

import json
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from eth_account import Account  # noqa: E402

from airlock_online.delivery.deliveries import raw_transaction  # noqa: E402
from airlock_rehearsal.machines import Play  # noqa: E402
from airlock_rehearsal.play import rehearse, summary_lines  # noqa: E402
from airlock_rehearsal.scenarios import TRADER  # noqa: E402
from airlock_rehearsal.services.server import RehearsalServices  # noqa: E402
from airlock_shared.ethereum.signatures import Transaction  # noqa: E402
from e2e.transaction_requests import FILLED, write_transaction  # noqa: E402
from speculos.app_file import read_app_file  # noqa: E402
from speculos.device import Person, RealApp  # noqa: E402

OFFLINE = ROOT / ".venvs/offline/bin/airlock-offline"
ONLINE = Path(sys.executable).parent / "airlock-online"


def main(elf: Path, folder: Path) -> int:
    """Play everything and return 0 when all of it went as it should."""
    began = time.monotonic()
    folder.parent.mkdir(parents=True, exist_ok=True)
    app = RealApp(read_app_file(elf), folder.parent)
    with closing(app):

        def port(blind_signing: bool) -> int:
            app.configure(raw_messages=True, blind_signing=blind_signing)
            return app.port

        with Person(app), RehearsalServices(trader=TRADER) as services:
            stage = Play(folder, ONLINE, OFFLINE, services.urls, port, app.file.model, "file")
            rows = rehearse(stage)
        app.configure(raw_messages=True, blind_signing=True)
        signer = _transaction(app, folder)
    for line in summary_lines(rows, folder):
        print(line)
    print(f"transaction with calldata, Blind signing on: recovered {signer}")
    print(f"{len(rows)} ceremonies and a transaction on the real app in {time.monotonic() - began:.0f} s")
    return 0 if signer == TRADER else 1


def _transaction(app: RealApp, folder: Path) -> str:
    """Sign a transaction with calldata through the installed command, and return who signed it."""
    machine = folder / "offline"
    plan, requests, unsigned = write_transaction(machine, machine / "deployment.json")
    signatures = machine / "keeper.signatures.json"
    words = ["sign", str(requests), "--plan", str(plan), "-o", str(signatures), "--model", app.file.model]
    command = [str(OFFLINE), "--home", str(machine / "home"), *words, "--emulator", str(app.port)]
    with Person(app):
        subprocess.run(command, input=b"Yes\n" * 3, check=True)
    signature = bytes.fromhex(json.loads(signatures.read_text())["signatures"][0]["signature"][2:])
    raw = raw_transaction(unsigned, Transaction(**FILLED), signature)
    return str(Account.recover_transaction(raw))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
