"""A signature that a service echoes, whole or in part, is on no screen and in no file; nor is one that is malformed."""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from airlock_online.cli.delivery_context import keep_signatures_secret, open_desk
from airlock_online.cli.main import program
from airlock_online.delivery.routes.polling import to_the_end
from airlock_online.delivery.submit import submitting
from airlock_online.home import OnlineHome
from airlock_shared.cli import console
from airlock_shared.cli.program import run
from airlock_shared.errors import Refusal
from airlock_shared.text import secrets
from airlock_shared.text.secrets import LEFT_OUT, keep_secret, redact
from online.crash.orders import order
from online.test_http import read_request, server
from shared.world import VECTORS

GOOD = VECTORS / "signatures/good/every-struct.json"
MOST_SEEN = 15  # characters in a row: what is shorter than a piece cannot be told from anything else
FORMS: dict[str, Callable[[str], str]] = {
    "as it came": lambda body: body,
    "in capitals": str.upper,
    "cut": lambda body: body[:-30],
    "inside a text": lambda body: json.dumps({"error": {"code": "BAD", "message": f"cannot take <{body}>!"}}),
    "as the code": lambda body: json.dumps({"error": {"code": json.loads(body).get("signature", body)[-64:]}}),
    "inside words": lambda body: f"xx{body}yy",
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
    sizes = range(len(secret), 0, -1)
    return next((n for n in sizes if any(secret[i : i + n] in text for i in range(len(secret) - n + 1))), 0)


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("way", "status"), [("twap", 400), ("relay", 400), ("batched-market", 400), ("relayer", 500)])
def test_what_a_service_echoes_is_nowhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], way: str, status: int, form: str, as_json: bool
) -> None:
    def echo(connection: socket.socket) -> None:
        body = FORMS[form](read_request(connection).partition(b"\r\n\r\n")[2].decode()).encode()
        head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body)

    home = OnlineHome(tmp_path)
    with server(echo) as port, open_desk(home, 0, as_json=as_json) as desk:
        delivery = order(way, f"http://127.0.0.1:{port}")
        context = desk.context(delivery.step, delivery.digest)._replace(clock_ms=lambda: 1_790_000_000_000)
        to_the_end(desk.run(delivery.step, delivery.digest, submitting(delivery, context)), time.sleep)
    told = capsys.readouterr()
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir() if file.is_file()).decode("latin-1")
    secret = delivery.signature[2:]
    assert longest_shown(secret, told.out + told.err) <= MOST_SEEN
    assert longest_shown(secret, kept) <= MOST_SEEN
    assert LEFT_OUT in kept or way == "relayer"  # of whose answer the first 500 characters are kept


@pytest.mark.parametrize("command", ["submit", "export"])
@pytest.mark.parametrize(
    "change",
    [lambda s: s[:-1], lambda s: s + "0", lambda s: s.upper(), lambda s: s[:60] + "g" + s[61:], lambda s: s[2:]],
)
def test_a_malformed_signature_is_not_shown(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
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


@pytest.mark.parametrize("text", ["", "0x" + "0" * 64, "short", "MarketOrderAccepted", "0x" + "ab" * 32])
def test_what_is_no_secret_is_left_as_it_is(text: str) -> None:
    keep_secret("0x" + "0" * 64)  # zeros are everybody's
    keep_secret("0123456789abcdef0123456789abcdef")
    assert redact(text) == text


def test_a_document_that_is_none_is_read_for_its_signatures_all_the_same() -> None:
    keep_signatures_secret(b'{"signature":"0x0123456789abcdef0123456789abcdef", \xff nonsense')
    assert redact("got 0X0123456789ABCDEF0123") == f"got {LEFT_OUT}"


SECRET = "0x" + "0123456789abcdef" * 8 + "1b"
SINKS: dict[str, Callable[[str], None]] = {
    "say": console.say,
    "show": console.show,
    "a document": lambda text: console.show_json({"x": text}),
    "rows": lambda text: console.show("\n".join(console.rows("label: ", text))),
    "an error": lambda text: console.say(console.explain(Refusal("SIG-FORM", text, got=text, expected=text, do=text))),
}


@pytest.mark.parametrize("sink", SINKS)
def test_every_way_to_the_screen_leaves_it_out(capsys: pytest.CaptureFixture[str], sink: str) -> None:
    keep_secret(SECRET)
    SINKS[sink](f"it says {SECRET} and {SECRET[:-15].upper()}")
    told = capsys.readouterr()
    assert longest_shown(SECRET[2:], told.out + told.err) <= MOST_SEEN


def test_rows_leave_it_out_before_they_break_it_into_lines() -> None:
    keep_secret(SECRET)
    assert longest_shown(SECRET[2:], "".join(console.rows("", f"it says {SECRET}"))) <= MOST_SEEN


def test_the_transcript_leaves_it_out(tmp_path: Path) -> None:
    keep_secret(SECRET)
    OnlineHome(tmp_path).transcript.record("outcome", {"error": f"no {SECRET}"}, 1)
    assert longest_shown(SECRET[2:], (tmp_path / "transcript.jsonl").read_text()) <= MOST_SEEN
