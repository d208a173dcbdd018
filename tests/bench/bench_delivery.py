"""``make bench``: delay to the screen and speed of decoding of events, for docs/reference/benchmarks.md.

A plain script, never a timed test: nothing fails here when the machine is slow.
"""

from __future__ import annotations

import codecs
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bench.page import machine, write_section

ORDERS = 60  # at each pace
PACES_S = (0.0, 0.02)  # after the last event is on the screen: at once; after a pause that lets the machine cool down
HEAD_READ_S = 0.02  # until both programs wait for their first event
PATIENCE_S = 30.0  # then a program that is timed has died
AIM_MS = 0.5
DECODED = 20_000  # events, for the decoders
RUNS = 5
PIECES = (150, 1_460, 65_536)  # an event at a time; a segment of Ethernet; what a socket gives when one is late
ROOT = Path(__file__).resolve().parents[2]
PARSER = ROOT / ".tools" / "node" / "node_modules" / "eventsource-parser" / "dist" / "index.js"
PEER = ROOT / "tests" / "online" / "eventsource_peer.mjs"
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
LIFE: tuple[tuple[str, dict[str, object]], ...] = (
    ("MarketOrderAccepted", {}),
    ("MarketOrderInitiated", {"orderId": 9}),
    ("AttemptFailed", {"attempt": 1, "code": "PRICE_STALE", "message": "price is stale", "willRetry": True}),
    ("AttemptFailed", {"attempt": 2, "code": "PRICE_STALE", "message": "price is stale", "willRetry": True}),
    ("MarketOrderExecuted", {"orderId": 9, "price": "30000000000000", "transactionHash": "0x" + "ee" * 32}),
)


class Screen(NamedTuple):
    """A program, its stdout, and how long after the sending each of its events was there, in ms, by type."""

    process: subprocess.Popen[bytes]
    listener: socket.socket
    delays_ms: dict[tuple[float, str], list[float]]


def frame(number: int, order: int) -> bytes:
    """Return an event of an order's life as it is on the wire."""
    kind, payload = LIFE[number]
    data = json.dumps({"trackingId": f"t-{order}", **payload})
    return f"id: {number}\nevent: {kind}\ndata: {data}\n\n".encode()


def start(program: str, *arguments: str) -> Screen:
    """Start one of the two programs against a listener of its own."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(PATIENCE_S)
    count = str(ORDERS * len(PACES_S))
    command = [sys.executable, "-m", "bench.screen", program, str(listener.getsockname()[1]), count, *arguments]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT / "tests"), "PYTHONUNBUFFERED": "1"}
    )
    return Screen(process, listener, {(pace_s, kind): [] for pace_s in PACES_S for kind, _ in LIFE})


def live(screen: Screen, order: int, pace_s: float) -> None:
    """Play one order's life, and note for each event when the program's stdout had it."""
    assert screen.process.stdout
    out = screen.process.stdout.fileno()
    connection, _ = screen.listener.accept()
    with connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _read_request(connection)
        connection.sendall(HEAD)
        time.sleep(HEAD_READ_S)
        for number, (kind, _) in enumerate(LIFE):
            time.sleep(pace_s)
            sent = frame(number, order)
            started = time.perf_counter()
            connection.sendall(sent)
            shown = os.read(out, 65536)
            screen.delays_ms[pace_s, kind].append(1e3 * (time.perf_counter() - started))
            if kind.encode() not in shown:
                raise RuntimeError(f"{kind} is not in {shown!r}")


def _read_request(connection: socket.socket) -> None:
    request = b""
    while b"\r\n\r\n" not in request:
        request += connection.recv(65536)
    head, _, body = request.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
    while len(body) < length:
        body += connection.recv(65536)


def latency(folder: Path) -> tuple[list[str], str]:
    """Return the table of delays, and what it means. The two programs take turns, an order each."""
    screens = {"bare": start("bare"), "airlock": start("airlock", str(folder / "journal.sqlite"))}
    for order in range(ORDERS * len(PACES_S)):
        for screen in screens.values():
            live(screen, order, PACES_S[order % len(PACES_S)])
    for screen in screens.values():
        screen.process.communicate()
        screen.listener.close()
    ours, theirs = (screens[name].delays_ms for name in ("airlock", "bare"))
    rows, told = [], []
    for pace_s in PACES_S:
        paced = [key for key in ours if key[0] == pace_s]
        when = f"after {1e3 * pace_s:.0f} ms of silence" if pace_s else "one after another"
        rows += [_delay_row(f"{when}, `{key[1]}`", ours[key], theirs[key]) for key in paced]
        every, bare = ([ms for key in paced for ms in found[key]] for found in (ours, theirs))
        rows.append(_delay_row(f"**{when}, all**", every, bare))
        above = median(every) - median(bare)
        told.append(f"{above:.2f} ms above for events {when} ({'aim met' if above <= AIM_MS else 'aim not met'})")
    reading = (
        f"- From an event leaving the service to its line on the screen, aim at most {AIM_MS} ms above a bare socket reader "
        f"in the median: {', and '.join(told)}."
    )
    return rows, reading


def _delay_row(name: str, ours: list[float], theirs: list[float]) -> str:
    late = quantiles(ours, n=10)[-1]
    return (
        f"| {name} | {len(ours)} | {median(theirs):.2f} ms | {median(ours):.2f} ms | {late:.2f} ms "
        f"| {median(ours) - median(theirs):+.2f} ms |"
    )


# ---- decoders -------------------------------------------------------------------------------------------------------


def _airlock(stream: bytes, size: int) -> int:
    from airlock_online.clients.sse import Caps, SseDecoder

    decoder, count = SseDecoder(Caps(total=1 << 40)), 0
    for at in range(0, len(stream), size):
        count += len(decoder.feed(stream[at : at + size]))
    return count


def _httpx_sse(stream: bytes, size: int) -> int:
    from httpx_sse._decoders import SSEDecoder, SSELineDecoder

    text, lines, decoder, count = codecs.getincrementaldecoder("utf-8")("replace"), SSELineDecoder(), SSEDecoder(), 0
    for at in range(0, len(stream), size):
        for line in lines.decode(text.decode(stream[at : at + size])):
            count += decoder.decode(line) is not None
    return count


def _rate(decode: Callable[[bytes, int], int], stream: bytes, size: int) -> float:
    started = time.perf_counter()
    count = decode(stream, size)
    if count != DECODED:
        raise RuntimeError(f"{count} events of {DECODED}")
    return count / (time.perf_counter() - started)


def _node_rates(file: Path, size: int) -> list[float]:
    if not shutil.which("node") or not PARSER.exists():
        return []
    command = ["node", str(PEER), str(PARSER), "bench", str(file), str(size), str(RUNS + 1)]
    runs = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    if any(run["count"] != DECODED for run in runs):
        raise RuntimeError("Node's parser found another number of events")
    return [run["count"] / run["seconds"] for run in runs[1:]]  # the first run compiles


def decoders(folder: Path) -> tuple[list[str], str]:
    """Return the table of events a second, and what it means. The decoders in Python take turns, in one process."""
    stream = b"".join(frame(2, order) for order in range(DECODED))
    file = folder / "stream"
    file.write_bytes(stream)
    rows, ratios = [], []
    for size in PIECES:
        rates: dict[str, list[float]] = {"airlock": [], "httpx-sse": []}
        for _ in range(RUNS):
            rates["airlock"].append(_rate(_airlock, stream, size))
            rates["httpx-sse"].append(_rate(_httpx_sse, stream, size))
        ours, theirs, node = median(rates["airlock"]), median(rates["httpx-sse"]), _node_rates(file, size)
        ratios.append(ours / theirs)
        shown = f"{median(node):,.0f}" if node else "not measured: no Node here"
        rows.append(f"| {size:,} | {ours:,.0f} | {theirs:,.0f} | {shown} |")
    reading = (
        f"- Decoding, events a second over httpx-sse's: {', '.join(f'{ratio:.2f}' for ratio in ratios)} times for pieces "
        f"of {', '.join(f'{size:,}' for size in PIECES)} bytes. Node's parser is compiled code and several times as fast as "
        "both; a market sends a handful of events a second."
    )
    return rows, reading


def differences() -> list[str]:
    """Return, from the vectors, how many cases there are and where the other decoders differ from the standard."""
    folder = ROOT / "tests" / "vectors" / "sse"
    cases = [case for file in sorted(folder.glob("*.json")) for case in json.loads(file.read_text())["cases"]]
    rows = [f"| Airlock | {len(cases)} of {len(cases)} | |"]
    for peer in ("httpx-sse", "eventsource-parser"):
        whys = [case["differs"][peer] for case in cases if peer in case.get("differs", {})]
        told = "; ".join(f"{why} ({whys.count(why)})" for why in dict.fromkeys(whys))
        rows.append(f"| {peer} | {len(cases) - len(whys)} of {len(cases)} | {told} |")
    return rows


def main() -> None:
    """Measure, and write the section."""
    with TemporaryDirectory() as name:
        delay_rows, delay_reading = latency(Path(name))
        decoder_rows, decoder_reading = decoders(Path(name))
    section = SECTION.format(
        reading="\n".join((delay_reading, decoder_reading)),
        machine="\n".join(machine("shared by both ends of each connection", "httpx", "httpx-sse", "sqlalchemy")),
        orders=ORDERS,
        runs=RUNS,
        events=f"{DECODED:,}",
        delays="\n".join(delay_rows),
        decoders="\n".join(decoder_rows),
        cases="\n".join(differences()),
    )
    write_section("delivery", section)
    print(section)


SECTION = """## Delivery against its aims

Written by `tests/bench/bench_delivery.py`.

{reading}

### Machine and method

{machine}
- Delay: a service on loopback sends one event and waits for the program's stdout, a pipe, to have its line; the same clock
  at both ends. {orders} orders of five events at each of two paces, in turn with the bare reader: `recv`, and `write` of
  the same bytes to its stdout. After a silence the processor's caches have gone to others, which costs the longer program
  more. Airlock's way is the command's: connection, decoder, merging, journal (SQLite, the event
  committed before it is shown), timeline, output.
- Decoders: {events} events of the market's kind, in memory, given in pieces of one size; median of {runs} runs in turn.
  httpx-sse gets text, as it does in its own use, and the decoding of UTF-8 is counted for all.

### From the service to the screen

| event | count | bare reader, median | Airlock, median | Airlock, 9 of 10 | above the bare reader |
|---|---|---|---|---|---|
{delays}

### Event-stream decoders, events a second

| bytes a piece | Airlock | httpx-sse | eventsource-parser (Node) |
|---|---|---|---|
{decoders}

### Event-stream decoders against the standard

The cases are `tests/vectors/sse`, from the WHATWG standard, "Server-sent events". A test compares all three on the same
bytes.

| decoder | cases as the standard says | where it differs (cases) |
|---|---|---|
{cases}
"""


if __name__ == "__main__":
    main()
