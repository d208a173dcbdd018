"""The deployments of the vectors with all that is signed at their venue, and what hangs on their fingerprints.

``python tests/shared/make_deployments.py`` writes what ships into ``deployments/good/venue.json``, whose mark it renews
in the good authorizations, and into the deployments of the played ceremonies (``report``). Of those it renews
whatever names a fingerprint or the hash of an entry, and seals its transcript again. Then ``make_payloads.py`` and
``make_transactions.py`` write the good requests anew. What was signed stays: no digest of a message changes. Doing it twice
changes nothing.
"""

import json
from pathlib import Path
from typing import Any

from eth_account import Account
from eth_account.hdaccount import key_from_seed, seed_from_mnemonic
from eth_account.messages import encode_defunct

from airlock_shared.documents.requests import SIGNATURES_FORMAT as SIGNATURES
from airlock_shared.documents.transcript import Entry, next_entry, read_entries
from airlock_shared.text.safe import spoken
from airlock_shared.venue.profile_words import shipped
from airlock_shared.wire.strict_json import fingerprint, parse_json, to_json
from airlock_software_ledger.keys import TEST_SEED

VECTORS = Path(__file__).resolve().parents[1] / "vectors"
PLAYED = VECTORS / "report"


def main() -> None:
    venue = VECTORS / "deployments/good/venue.json"
    document = json.loads(venue.read_text()) | {"signed": shipped()}
    for path in (VECTORS / "authorizations/good").iterdir():
        path.write_text(path.read_text().replace(fingerprint(json.loads(venue.read_text())), fingerprint(document)))
    venue.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n")
    for deployment in sorted(PLAYED.glob("*/deployment.json")):
        _renew(deployment)


def _renew(deployment: Path) -> None:
    old = parse_json(deployment.read_bytes())
    new = old | {"signed": shipped()}
    deployment.write_bytes(to_json(new))
    mark, renewed = fingerprint(old), fingerprint(new)
    marks = {mark: renewed, _on_a_page(mark): _on_a_page(renewed)}
    whole = {path: path.read_text() for path in sorted(deployment.parent.iterdir()) if path != deployment}
    before: dict[str, str] = {}
    while before != marks:  # until nothing names a mark by its old form
        before = dict(marks)
        for path, text in whole.items():
            renewed = _with_marks(text, marks)
            if path.suffix == ".jsonl" and "transcript" in path.name:
                renewed = _chained(read_entries(text.encode().splitlines()), marks)
            elif path.name == "requests.json":
                marks |= _changed(fingerprint(json.loads(text)), fingerprint(json.loads(renewed)))
            elif path.name == "signatures.json":
                marks |= _changed(_whole(text), _whole(renewed))
                renewed = _with_marks(text, marks)
            path.write_text(renewed)


def _on_a_page(mark: str) -> str:
    return f"{mark[:32]} {mark[32:]} {' '.join(spoken(mark).split())}"


def _whole(text: str) -> str:
    """Return the fingerprint of the signatures document of which these are the ended ones: here, all."""
    value = json.loads(text)
    header = {name: member for name, member in value["header"].items() if name != "fingerprint"}
    items = [{key: each for key, each in item.items() if key != "signature_sha256"} for item in value["signatures"]]
    return fingerprint({"format": SIGNATURES, "header": {"count": len(items), **header}, "signatures": items})


def _changed(old: str, new: str) -> dict[str, str]:
    return {old: new} if old != new else {}


def _with_marks(text: str, marks: dict[str, str]) -> str:
    for old, new in marks.items():
        text = text.replace(old, new)
    return text


def _chained(entries: list[Entry], marks: dict[str, str]) -> str:
    """Return a transcript with renewed marks, chained and sealed anew; the hash of each entry becomes one of the marks."""
    made: list[Entry] = []
    for entry in entries:
        data: dict[str, Any] = json.loads(_with_marks(json.dumps(entry.data), marks))
        if entry.event == "sealed" and data != entry.data:
            text = f"Airlock transcript of {data['ceremony']}, {data['entries']} entries, head {data['head']}"
            key = key_from_seed(seed_from_mnemonic(TEST_SEED, ""), "m/44'/60'/0'/0/0")
            signed = Account.sign_message(encode_defunct(text=text), key)
            data["signature"] = "0x" + signed.signature.hex()
        made.append(next_entry(made[-1] if made else None, entry.at_ms, entry.event, data))
        marks |= _changed(entry.hash, made[-1].hash)
    return b"".join(entry.line() + b"\n" for entry in made).decode()


if __name__ == "__main__":
    main()
