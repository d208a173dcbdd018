"""The two programs whose screens are timed: Airlock submitting orders, and a bare reader of the same sockets.

Arguments: "airlock" or "bare", the port, how many orders, and for Airlock the journal. Each order is one connection.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from pathlib import Path


def bare(port: int, count: int) -> None:
    """Write whatever comes to stdout, as it comes."""
    request = b"POST /market/execute-batched HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 2\r\n\r\n{}"
    for _ in range(count):
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(request)
            came = b""
            while b"\r\n\r\n" not in came:
                came += connection.recv(65536)
            os.write(1, came.partition(b"\r\n\r\n")[2])
            while came := connection.recv(65536):
                os.write(1, came)


def airlock(port: int, count: int, journal_file: Path) -> None:
    """Submit as the command does: the same journal, connections, timeline and output."""
    from airlock_online.clients.http import Http
    from airlock_online.delivery.event_lines import event_lines
    from airlock_online.delivery.routes.context import DeliveryContext
    from airlock_online.delivery.submit import submit_delivery
    from airlock_online.journal.journal import open_journal
    from airlock_online.journal.order_states import OrderEvent
    from airlock_shared.cli.terminal import show
    from online.concurrency.many import orders
    from online.delivering_machine import NOW

    def on_event(event: OrderEvent) -> None:
        show("\n".join(event_lines(event, now_ms=NOW)))

    with open_journal(str(journal_file), lambda: NOW) as journal, Http() as http:
        world = DeliveryContext(journal, http, lambda: NOW, time.sleep, on_event)
        for order in orders(f"http://127.0.0.1:{port}", count):
            submit_delivery(order, world)


if __name__ == "__main__":
    if sys.argv[1] == "bare":
        bare(int(sys.argv[2]), int(sys.argv[3]))
    else:
        airlock(int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
