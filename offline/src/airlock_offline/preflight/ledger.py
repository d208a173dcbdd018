"""The Ledger's part of ``preflight``: app, version floor, settings, advice for the model, and the udev rule.

The app tells whether Blind signing is on, and does not tell whether Raw messages is: a person attests it, or a harmless
message proves it. The message names no application, no chain and no contract, and its signature is thrown away.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airlock_offline.ledger.device_errors import SettingOff, WrongAnswer
from airlock_offline.ledger.ethereum_app import MINIMUM, EthereumApp
from airlock_offline.ledger.models import MODELS
from airlock_offline.ledger.usb import LEDGER_VENDOR
from airlock_shared.cli.terminal import say
from airlock_shared.errors import DeviceError
from airlock_shared.ethereum.signatures import checksum_address, recover
from airlock_shared.ethereum.typed_document import read_typed_data
from airlock_shared.host.files import LOOK, OK, Observed
from airlock_shared.text.safe import safe
from airlock_shared.wire.strict_json import JsonObject

if TYPE_CHECKING:
    from airlock_offline.device_connection import Device

RULE_FOLDERS = ("etc/udev/rules.d", "run/udev/rules.d", "usr/lib/udev/rules.d", "lib/udev/rules.d")
RULE = "udev/70-airlock-ledger.rules"
PROVEN = "proven on"
PROOF_PATH = "m/44'/60'/0'/0/0"
PROOF: dict[str, Any] = {
    "types": {
        "EIP712Domain": [
            {"name": "name", "type": "string"},
            {"name": "version", "type": "string"},
            {"name": "chainId", "type": "uint256"},
        ],
        "AirlockSettingsTest": [{"name": "note", "type": "string"}],
    },
    "primaryType": "AirlockSettingsTest",
    "domain": {"name": "Airlock settings test", "version": "0", "chainId": "0"},
    "message": {"note": "Harmless. The signature is thrown away."},
}


def device_report(device: Device, attested: str | None = None, *, prove: bool = False) -> JsonObject:
    """Return what is known of the Ledger; of Raw messages what a person ``attested``, or what the test message proves.

    Raises ``DeviceError``, or ``Declined`` when the proof is refused on it.
    """
    app = device.app()
    found, configuration = app.app_and_version(), app.configuration()
    raw = f"attested {attested}" if attested else "not stated"
    if prove:
        raw = "not provable while Blind signing is on" if configuration.blind_signing else _prove(app)
    return {
        "app": found.name,
        "version": found.version,
        "model": device.model if device.plugged else "",
        "blind_signing": configuration.blind_signing,
        "transaction_check": configuration.transaction_check,
        "raw_messages": raw,
    }


def _prove(app: EthereumApp) -> str:
    """Have the test message signed field by field, recover the signature, and throw it away."""
    typed_data, hashes = read_typed_data(PROOF)
    say("The Ledger now shows a harmless message, `Airlock settings test`, chain 0. Approve it to prove Raw messages.")
    expected = app.address(PROOF_PATH).address
    try:
        signature = app.sign_typed_data(PROOF_PATH, typed_data)
    except SettingOff:
        return "proven off"
    signer = recover(hashes.digest, signature)
    if signer != expected:
        raise WrongAnswer(
            f"the test message was signed by {checksum_address(signer)} and not by {checksum_address(expected)}",
            do="find out why before you sign with this Ledger",
        )
    return PROVEN


def udev_rule(root: Path = Path("/"), platform: str = sys.platform) -> str | None:
    """Return the udev rule file for Ledgers that is installed, ``""`` when there is none, None where none is needed."""
    if not platform.startswith("linux"):
        return None
    for folder in RULE_FOLDERS:
        for path in sorted((root / folder).glob("*.rules")):
            try:
                lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            except OSError:  # not ours to read
                continue
            if any(f"{LEDGER_VENDOR:04x}" in line.lower() for line in lines if not line.lstrip().startswith("#")):
                return str(path)
    return ""


def udev_lines(rule: str | None) -> Iterator[Observed]:
    """Yield the line about the udev rule that :func:`udev_rule` found; nothing where none is needed."""
    if rule:
        yield Observed("Ledger", "udev rule", safe(rule))
    elif rule is not None:
        do = f"copy {RULE}, of the kit or of the sources, to /etc/udev/rules.d"
        yield Observed("Ledger", "udev rule", "none is installed", LOOK, do)


def device_lines(report: JsonObject, rule: str | None) -> Iterator[Observed]:
    """Yield what ``preflight`` shows about the Ledger; ``report`` has ``error`` instead when there is none."""
    yield from udev_lines(rule)
    if "error" in report:
        yield Observed("Ledger", "Ledger", f"not ready: {report['error']}", LOOK, report.get("do", ""))
        return
    yield Observed("Ledger", "app", f"{safe(report['app'])} {safe(report['version'])}, at least {MINIMUM}")
    if report["blind_signing"]:
        yield Observed("Ledger", "Blind signing", "ON", LOOK, "switch it off, unless a transaction needs it today")
    else:
        yield Observed("Ledger", "Blind signing", "off, as it should be for intents")
    yield _raw_messages_line(report["raw_messages"])
    if report["transaction_check"]:
        do = "switch it off: with it the first page also says `Transaction Check unavailable`, which is not listed"
        yield Observed("Ledger", "Transaction Check", "ON", LOOK, do)
    yield Observed("Ledger", "pages", "as listed while Transaction hash, Nonce and Debug contracts are off; look it up")
    if model := MODELS.get(report["model"]):
        yield Observed("Ledger", "model", f"{model.product}: {model.advice}")


def _raw_messages_line(raw: str) -> Observed:
    do = ""
    if raw == "not stated":
        do = "look in the Ledger's app, Settings: it must be on. By hand, also --raw-messages on, or --prove-raw-messages"
    elif raw.endswith(" off"):
        do = "switch it ON for intents"
    elif raw.startswith("not provable"):
        do = "switch Blind signing off, and prove it again"
    return Observed("Ledger", "Raw messages", raw, LOOK if do else OK, do)


def not_ready(error: DeviceError) -> JsonObject:
    """Return what stands in the place of :func:`device_report` when the Ledger is not ready."""
    return {"error": error.what, "do": error.do}
