"""A signature that a service echoes, whole or in part, is on no screen and in no file; nor is one that is malformed."""

import base64
import json
import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from airlock_online import secrets
from airlock_online.cli.delivery_context import open_desk
from airlock_online.cli.main import program
from airlock_online.cli.signed_documents import keep_signatures_secret
from airlock_online.delivery.submit import submit_delivery
from airlock_online.home import OnlineHome
from airlock_online.journal import events
from airlock_online.journal.journal import open_journal
from airlock_online.journal.order_states import Anomaly, OrderEvent, OrderState
from airlock_online.report_rows import timeline_of
from airlock_online.secrets import LEFT_OUT, keep_secret, redact
from airlock_shared.cli import terminal as console
from airlock_shared.cli.program import run
from airlock_shared.errors import Refusal
from airlock_shared.report.evidence.timeline import parse_timeline
from airlock_shared.wire.strict_json import parse_json
from commands import Screen
from online.crash.orders import order
from online.delivering_machine import NOW
from online.loopback import Wire, http, reply
from online.test_http import read_request, server
from online.test_journal import DIGEST, put
from online.transaction_steps import fetched
from shared.world import VECTORS

GOOD = VECTORS / "signatures/good/every-struct.json"
MOST_SEEN = 15  # characters in a row: what is shorter than a piece cannot be told from anything else
_SIGNED = re.compile(r'"0x([0-9a-f]{130})"|"rawTransaction": ?"0x([0-9a-f]+)"')
SECRET = "0x" + "0123456789abcdef" * 8 + "1b"
ENDLESS = [{"m": "\u00e9" * 12_000}, {"m": "x" * 99_999}, parse_json(b'{"a":' * 23 + b"{}" + b"}" * 23)]


def bytes_of(body: str) -> bytes:
    """Return the bytes of the signature, or of the signed transaction, in a request's body."""
    found = _SIGNED.search(body)
    assert found, body
    return bytes.fromhex(found[1] or found[2])


def base64_forms(data: bytes) -> Iterator[str]:
    """Yield what data can be in base64, in both alphabets and wherever in a group it begins, whatever stands beside it."""
    for before in range(3):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            text = encode(bytes(before) + data).decode()
            yield text[-(-before * 4 // 3) : len(text) // 4 * 4 - (4 if (before + len(data)) % 3 else 0)]


FORMS: dict[str, Callable[[str], str]] = {
    "as it came": lambda body: body,
    "cut": lambda body: body[:-30],
    "inside a text": lambda body: json.dumps({"error": {"code": "BAD", "message": f"cannot take <{body}>!"}}),
    "as the code": lambda body: json.dumps({"error": {"code": json.loads(body).get("signature", body)[-64:]}}),
    "in url-safe base64": lambda body: json.dumps({"got": base64.urlsafe_b64encode(b"?" + bytes_of(body)).decode()}),
    "in base64 from within": lambda body: json.dumps({"sig=": base64.b64encode(b"??" + bytes_of(body)[5:]).decode()}),
    "the body in base64, later": lambda body: base64.urlsafe_b64encode(b"x" + body.encode()).decode(),
}


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    known = set(secrets._pieces)
    yield
    secrets._pieces.clear()
    secrets._pieces.update(known)


def longest_shown(secret: str, text: str) -> int:
    """Return how many characters of a secret in a row a text shows, blanks and line ends aside."""
    text = re.sub(r"[\s]", "", text.lower())
    longest = 0
    for start in range(len(secret)):
        while start + longest < len(secret) and secret[start : start + longest + 1] in text:
            longest += 1
    return longest


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("way", "status", "as_json"),
    [("twap", 400, False), ("relay", 400, True), ("batched-market", 400, True), ("relayer", 500, False)],
)
def test_an_echo_is_nowhere(tmp_path: Path, capsys: Screen, way: str, status: int, form: str, as_json: bool) -> None:
    def echo(connection: socket.socket) -> None:
        body = FORMS[form](read_request(connection).partition(b"\r\n\r\n")[2].decode()).encode()
        head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body)

    home = OnlineHome(tmp_path)
    with server(echo) as port, open_desk(home, 0, as_json=as_json, make=True) as desk:
        delivery = order(way, f"http://127.0.0.1:{port}")
        context = desk.context(delivery)._replace(clock_ms=lambda: 1_790_000_000_000)
        desk.run(delivery, lambda: submit_delivery(delivery, context))
    told = capsys.readouterr()
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir() if file.is_file()).decode("latin-1")
    secret = delivery.signature[2:]
    assert longest_shown(secret, told.out + told.err) <= MOST_SEEN
    assert longest_shown(secret, kept) <= MOST_SEEN
    for written in (secret.encode(), bytes.fromhex(secret[:64]), bytes.fromhex(secret[64:])):
        for encoded in base64_forms(written):
            assert longest_shown(encoded.lower(), told.out + told.err) <= MOST_SEEN
            assert longest_shown(encoded.lower(), kept) <= MOST_SEEN
    # of an answer the first 500 characters are kept
    assert LEFT_OUT in kept or way == "relayer" or form.startswith("the body in base64")


def test_a_node_that_echoes_its_path_shows_no_access_key(tmp_path: Path, capsys: Screen) -> None:
    key = "abcdef0123456789abcdef0123456789"
    echo = http(404, f"Cannot POST /v2/{key}".encode(), "text/html")
    with Wire({f"POST /v2/{key}": [echo], "GET /v2/reads/referral": [reply(404, {})]}) as wire:
        fetched(tmp_path, wire.url)
        assert run(program, ["--home", str(tmp_path), "referral", "DESK", "--rpc", f"{wire.url}/v2/{key}"]) == 8
    told = capsys.readouterr()
    assert ("Cannot POST" in told.out, longest_shown(key, told.out + told.err) <= MOST_SEEN) == (True, True)


@pytest.mark.parametrize("command", ["submit", "export"])
@pytest.mark.parametrize("change", [lambda s: s[:-1], lambda s: s + "0", str.upper, lambda s: s[:60] + "g" + s[61:]])
def test_a_malformed_signature_is_not_shown(
    tmp_path: Path,
    capsys: Screen,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    change: Callable[[str], str],
) -> None:
    document = GOOD.read_text()
    signature = re.search(r'"signature": ?"(0x[0-9a-f]{130})"', document)
    assert signature
    (tmp_path / "signatures.json").write_text(document.replace(signature[1], change(signature[1])))
    words = [command, str(tmp_path / "signatures.json"), *(["-o", str(tmp_path / "p")] if command == "export" else [])]
    monkeypatch.setattr("sys.argv", ["airlock-online", "--home", str(tmp_path / "home"), *words])
    assert run(program) != 0
    told = capsys.readouterr()
    assert longest_shown(signature[1][2:].lower(), told.out + told.err) <= MOST_SEEN


@pytest.mark.parametrize(
    "text",
    [
        *("", "0x" + "0" * 64, "short", "MarketOrderAccepted_IncreasePositionRequested", "0x" + "ab" * 32, "=" * 16),
        *("https://market.example/tracking-id/0b5f6f0e-7d7c-4b0e-9f57-2f4d1c4a2a11/status", "----------/////+++++"),
    ],
)
def test_what_is_no_secret_is_left_as_it_is(text: str) -> None:
    for secret in ("0x" + "0" * 64, "0123456789abcdef0123456789abcdef", SECRET):  # zeros are everybody's
        keep_secret(secret)
    assert redact(text) == text


def test_a_document_that_is_none_is_read_for_its_signatures_and_rows_leave_them_out() -> None:
    keep_signatures_secret(b'{"signature":"0x0123456789abcdef0123456789abcdef", \xff nonsense')
    assert redact("got 0X0123456789ABCDEF0123") == f"got {LEFT_OUT}"
    keep_secret(SECRET)
    for form in (SECRET, *IN_BASE64):
        assert shown_at_most("".join(console.rows("", f"it says {form}"))) <= MOST_SEEN


SINKS: dict[str, Callable[[str], None]] = {
    "say": console.say,
    "show": console.show,
    "a document": lambda text: console.show_json({"x": text}),
    "an error": lambda text: console.say(
        console.explain_error(Refusal("SIG-FORM", text, got=text, expected=text, do=text))
    ),
}


IN_BASE64 = [form for written in (SECRET.encode(), bytes.fromhex(SECRET[2:])) for form in base64_forms(written)]


def shown_at_most(text: str) -> int:
    return max(longest_shown(form.lower(), text) for form in (SECRET[2:], *IN_BASE64))


@pytest.mark.parametrize("sink", SINKS)
def test_every_way_to_the_screen_leaves_it_out(capsys: Screen, sink: str) -> None:
    keep_secret(SECRET)
    for form in (SECRET, *IN_BASE64):
        SINKS[sink](f"it says {form} and {form[:-15].upper() if form == SECRET else form[7:]}")
        told = capsys.readouterr()
        assert shown_at_most(told.out + told.err) <= MOST_SEEN
        assert LEFT_OUT in " ".join((told.out + told.err).split())


@pytest.mark.parametrize("indent", [2, None])
def test_a_number_with_a_piece_of_a_secret_leaves_a_document_that_is_one(capsys: Screen, indent: int | None) -> None:
    keep_secret("1234567890123456789")
    console.show_json({"a": [12345678901234567, -12345678901234567, 7, True, None], "1234567890123456": 1.5}, indent)
    assert json.loads(capsys.readouterr().out) == {"a": [LEFT_OUT, LEFT_OUT, 7, True, None], LEFT_OUT: 1.5}


@pytest.mark.parametrize("form", [SECRET, *IN_BASE64])
def test_the_journal_the_transcript_and_the_report_s_timeline_leave_it_out(tmp_path: Path, form: str) -> None:
    keep_secret(SECRET)
    keep_secret("1234567890123456789")
    numbers = [12345678901234567, 0.1234567890123456]  # in a number: what is written stays JSON
    OnlineHome(tmp_path).transcript.record("outcome", {"error": f"no\n{form}", "numbers": numbers}, 1)
    assert OnlineHome(tmp_path).transcript.entries()[0].data["numbers"] == [LEFT_OUT, f"0.{LEFT_OUT}"]
    assert LEFT_OUT in (tmp_path / "transcript.jsonl").read_text()
    with open_journal(str(tmp_path / "journal.sqlite3"), lambda: NOW) as journal:
        put(journal, OrderState.SENDING)
        journal.keep_unusable(DIGEST, f"entityId: {form}")
        echo = [form, f"\n{form}", f"\u00e9{form}", 123456789012345678]
        journal.record(DIGEST, OrderEvent(0, "MarketOrderAccepted", {"echo": echo[:3]}))
        keep_secret(str(echo[3]))
        journal.record(DIGEST, OrderEvent(1, "AttemptFailed", {"attempt": echo[3]}))
        journal.note(DIGEST, f"it says {form}", by=form)
        journal.reject(DIGEST, 400, f"no {form}")
        timeline, _ = timeline_of(journal, journal.get(DIGEST).record.ceremony, {DIGEST}, NOW)
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir() if file.is_file()).decode("latin-1")
    assert shown_at_most(kept) <= MOST_SEEN
    assert shown_at_most(timeline.decode()) <= MOST_SEEN
    assert timeline.decode().count(LEFT_OUT) == 9  # the refusal's reason is also the submission's note


@pytest.mark.parametrize("payload", ENDLESS)
def test_what_a_service_tells_without_end_is_cut_and_the_report_can_be_made(tmp_path: Path, payload: Any) -> None:
    with open_journal(str(tmp_path / "journal.sqlite3"), lambda: NOW) as journal:
        put(journal, OrderState.ACCEPTED)
        journal.record(DIGEST, OrderEvent(0, "Told", payload))
        assert journal.move(DIGEST, OrderState.FAILED, note="\a" * (1 << 20), code="x" * (1 << 20))
        timeline, _ = timeline_of(journal, journal.get(DIGEST).record.ceremony, {DIGEST}, NOW)
    [told] = parse_timeline(timeline)[DIGEST].events
    assert len(told["payload"]["value"]) <= 16 << 10


def test_endless_wrongs_of_a_service_do_not_fill_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "_ANOMALIES_AT_MOST", 3)
    with open_journal(str(tmp_path / "journal.sqlite3"), lambda: NOW) as journal:
        put(journal, OrderState.SENDING)
        new = [journal.record_anomaly(DIGEST, Anomaly("seq-gap", OrderEvent(n, "gap", {})), "") for n in range(5)]
        assert (sum(new), journal.record(DIGEST, OrderEvent(0, "Told", {}))) == (4, True)


@pytest.mark.parametrize("at", range(4))
@pytest.mark.parametrize("wrap", ["sig={}==", "https://x/{}/y", "a-b_{}"])
def test_base64_is_found_within_whatever_surrounds_it(wrap: str, at: int) -> None:
    keep_secret(SECRET)
    for form in IN_BASE64:
        assert longest_shown(form.lower(), redact(wrap.format("Zz9"[:at] + form[at:]))) <= MOST_SEEN
        assert LEFT_OUT in redact(wrap.format("Zz9"[:at] + form[at : at + 24]))
