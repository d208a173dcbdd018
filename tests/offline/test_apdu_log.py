"""The APDU log: every exchange is in it, and nothing of what was signed, by whom, or with what result."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from airlock_offline.ledger import transport
from airlock_offline.ledger.ethereum_app import open_app
from airlock_offline.ledger.transport import LoggedTransport
from airlock_shared.errors import UsageError
from airlock_software_ledger.answers import AppSettings
from airlock_software_ledger.app import SoftwareLedger
from offline.recordings import FOLDER, Recording

DELEGATE = Recording(FOLDER / "a-nanosp-full-delegate.json")
TRANSACTION = Recording(FOLDER / "a-nanosp-tx-delegated.json")


def rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def logged(path: Path, **ledger: frozenset[str]) -> LoggedTransport:
    return LoggedTransport(SoftwareLedger(settings=AppSettings(blind_signing=True), **ledger), path)  # type: ignore[arg-type]


def test_every_exchange_is_logged_with_its_header_and_status_word(tmp_path: Path) -> None:
    path = tmp_path / "apdu.log"
    open_app(logged(path)).sign_typed_data(DELEGATE.path, DELEGATE.typed_data()[0])
    exchanges = rows(path)[1:]
    assert len(exchanges) == 1 + len(DELEGATE.exchanges)
    for row, exchange in zip(exchanges[1:], DELEGATE.exchanges, strict=True):
        assert str(row["command"])[:10] == exchange.apdu[:5].hex()
        assert row["sw"] == "9000"
    assert exchanges[0]["answer"] == DELEGATE.json["app"].get("answer", exchanges[0]["answer"])


def test_no_value_address_or_signature_is_in_the_log(tmp_path: Path) -> None:
    path = tmp_path / "apdu.log"
    app = open_app(logged(path))
    app.address(DELEGATE.path)
    signature = app.sign_typed_data(DELEGATE.path, DELEGATE.typed_data()[0])
    app.sign_hashes(DELEGATE.path, DELEGATE.raw("domain_hash"), DELEGATE.raw("message_hash"))
    app.sign_transaction(TRANSACTION.path, TRANSACTION.payload())
    app.sign_personal_message(DELEGATE.path, b"a secret")
    text = path.read_text().lower()
    values = [
        e.apdu[7:].hex() for e in DELEGATE.exchanges if e.apdu[1] == 0x1C and e.apdu[3] == 0xFF and len(e.apdu) > 12
    ]
    secrets = [*values, signature.r.hex(), signature.s.hex(), DELEGATE.json["signer"][2:].lower(), b"a secret".hex()]
    secrets += [DELEGATE.raw("domain_hash").hex(), DELEGATE.raw("message_hash").hex(), "8000002c"]
    assert len(values) > 5
    assert [secret for secret in secrets if secret in text] == []
    assert "<65 bytes>" in text


def test_the_log_is_private_and_never_overwrites(tmp_path: Path) -> None:
    path = tmp_path / "apdu.log"
    logged(path).close()
    assert path.stat().st_mode & 0o777 == 0o600
    before = path.read_bytes()
    with pytest.raises(UsageError, match="exists already"):
        logged(path)
    assert path.read_bytes() == before


def test_an_answer_is_not_lost_with_a_log_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_app(log := logged(tmp_path / "apdu.log"))

    def full(*_: object) -> None:
        raise UsageError("no space left")

    monkeypatch.setattr(transport, "append_line", full)
    assert app.sign_hashes(DELEGATE.path, DELEGATE.raw("domain_hash"), DELEGATE.raw("message_hash")).r
    with pytest.raises(UsageError, match="no space left"):
        log.exchange(DELEGATE.exchanges[0].apdu, person=False)
