"""The hardware record: which Ledger showed which pages, as a small file that people can send.

It holds USB ids, versions, settings and a person's answers. It has no address, no path, no serial number, nothing of a
ceremony, and no name of a machine or a person, so that sending it tells nobody who holds what.
"""

from __future__ import annotations

import json
import platform
import re
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from airlock_offline.clock import now_ms
from airlock_offline.ledger.models import DEFAULT_MODEL, shown_models
from airlock_offline.ledger.typed_data_screens import coming_screens
from airlock_offline.preflight.ledger import PROOF, device_report, not_ready
from airlock_offline.signing.review import screen_lines
from airlock_shared.cli.console import ask, say
from airlock_shared.errors import DeviceError
from airlock_shared.ethereum.eip712 import read_typed_data
from airlock_shared.host.machine import installed
from airlock_shared.text.safe import safe

if TYPE_CHECKING:
    from airlock_offline.device_connection import Device

FORMAT = "airlock/hardware-record@1"
LEDGER_VENDOR_ID = "2c97"
PROVEN = "proven on"


def recorded(device: Device, *, software: bool) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Have the harmless message shown and signed; return the report of ``preflight``, and the record.

    There is no record of a Ledger that is not ready. Pages are asked about where they can be listed: of a known model, and
    when the message was shown field by field. Raises ``Declined`` when the message is rejected or nobody answers.
    """
    try:
        device.app()
        model = device.model or (DEFAULT_MODEL if software else "")
        pages = _pages(model)
        report = device_report(device, prove=True)
    except DeviceError as error:
        return not_ready(error), None
    answers = _confirmed(pages, piped=software) if report["raw_messages"] == PROVEN else []
    return report, _record(device, report, model, answers, software=software)


def canonical(record: dict[str, Any]) -> bytes:
    """Return the record as it is written: JSON that a person can read before it is sent."""
    return (json.dumps(record, indent=2, ensure_ascii=True) + "\n").encode()


def _pages(model: str) -> list[list[str]]:
    """Return the pages of the harmless message and list them on the screen; none for a model that is not known."""
    if model not in shown_models():
        say("The pages of this model are not known: the record holds its USB ids and versions alone.")
        return []
    pages = [list(page) for page in coming_screens(*read_typed_data(PROOF), model, by_hashes=False)]
    for line in ("", *screen_lines(pages, model)):
        say(line)
    say("Compare each page with this list while the Ledger shows it. You will be asked about each.")
    return pages


def _confirmed(pages: list[list[str]], *, piped: bool) -> list[dict[str, Any]]:
    """Ask of each page whether the Ledger showed it so, until the answer is Yes or No."""
    answers = []
    for number, page in enumerate(pages, start=1):
        answer = ""
        while answer not in ("Yes", "No"):
            shown = " | ".join(safe(line.strip()) for line in page)
            say(f"Page {number} of {len(pages)}: {shown}")
            answer = ask("Did the Ledger show this page exactly so? Type Yes or No: ", piped=piped)
        answers.append({"page": number, "lines": page, "shown": answer == "Yes"})
    return answers


def _record(
    device: Device, report: dict[str, Any], model: str, answers: list[dict[str, Any]], *, software: bool
) -> dict[str, Any]:
    plugged = device.plugged
    usb = plugged and {
        "vendor_id": LEDGER_VENDOR_ID,
        "product_id": f"{plugged.product_id:04x}",
        "release": f"{plugged.release:04x}",
    }
    return {
        "format": FORMAT,
        "simulator": software,
        "date": datetime.fromtimestamp(now_ms() / 1000, UTC).date().isoformat(),
        "model": model,
        "usb": usb,
        "app": {"name": safe(report["app"], limit=40), "version": safe(report["version"], limit=40)},
        "settings": {"blind_signing": report["blind_signing"], "raw_messages": report["raw_messages"]},
        "system": {
            "airlock": version("airlock-offline"),
            "system": platform.system(),
            "kernel": _digits(platform.release()),  # what follows the digits may name a machine
            "machine": platform.machine(),
            "python": platform.python_version(),
            "hidapi": installed("hidapi"),
        },
        "pages": answers,
    }


def _digits(release: str) -> str:
    found = re.match(r"\d+(\.\d+)*", release)
    return found[0] if found else ""
