"""A venue in a process of its own whose orders have events at moments that are planned beforehand.

Arguments: how many orders, and a JSON file: ``at`` gives the moments of an order's events by its number, in seconds of the
system's monotonic clock; ``hanging`` the numbers of those whose status is never answered, though the connection is taken.
It prints its port, and for each line on stdin how many questions it has answered, how many connections it has seen in all,
and how many it has seen at once. It ends with its stdin.
"""

import asyncio
import json
import sys
import time
from pathlib import Path

from online.crash.venue import EVENTS


class Venue:
    """What all connections share."""

    def __init__(self, moments: dict[str, list[float]], hanging: set[str]) -> None:
        self.moments, self.hanging = moments, hanging
        self.answered = self.connections = self.open = self.most_open = 0

    def status(self, order: str, after: int) -> bytes:
        """Return the reply to a question about an order."""
        now = time.monotonic()
        happened = [0.0, *self.moments.get(order, [])]
        events = [
            {"seq": seq, "type": EVENTS[seq][0], "payload": {"trackingId": order, **EVENTS[seq][1]}, "at": 1}
            for seq, moment in enumerate(happened)
            if seq > after and moment <= now
        ]
        body = json.dumps({"trackingId": order, "events": events}).encode()
        self.answered += 1
        return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)


class Connection(asyncio.Protocol):
    """One connection, for any number of questions."""

    def __init__(self, venue: Venue) -> None:
        self._venue = venue
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._venue.connections += 1
        self._venue.open += 1
        self._venue.most_open = max(self._venue.most_open, self._venue.open)

    def connection_lost(self, exc: Exception | None) -> None:
        self._venue.open -= 1

    def data_received(self, data: bytes) -> None:
        self._rest += data
        while b"\r\n\r\n" in self._rest:
            head, _, self._rest = self._rest.partition(b"\r\n\r\n")
            path, _, query = head.split(b" ", 2)[1].decode().partition("?")
            order = path.split("/")[2]
            if order not in self._venue.hanging:
                self._transport.write(self._venue.status(order, int(query.removeprefix("afterSeq=") or -1)))


async def serve(moments: dict[str, list[float]], hanging: set[str]) -> None:
    venue = Venue(moments, hanging)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(venue), "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    ended = loop.create_future()

    def told() -> None:
        if sys.stdin.readline():
            print(json.dumps([venue.answered, venue.connections, venue.most_open]), flush=True)
        else:
            loop.remove_reader(sys.stdin)
            ended.set_result(None)

    loop.add_reader(sys.stdin, told)
    await ended


if __name__ == "__main__":
    plan = json.loads(Path(sys.argv[1]).read_text())
    asyncio.run(serve(plan["at"], set(plan["hanging"])))
