"""A process that submits many orders when it is told to, on a journal that others may use too. Prints JSON.

Arguments: the journal, the venue's address, how many orders. It says "ready" when all is imported and open, and begins at
the line that it then reads.
"""

import json
import sys
from collections import Counter

from airlock_online.clients.http import Http
from airlock_online.delivery.routes.context import DeliveryContext
from airlock_online.delivery.submit import submit_delivery
from airlock_online.journal.journal import open_journal
from online.concurrency.followed import orders
from online.delivering_machine import NOW


def main(where: str, base_url: str, count: int) -> None:
    states: Counter[str] = Counter()
    told: list[tuple[str, int | None]] = []
    with open_journal(where, lambda: NOW) as journal, Http() as http:
        world = DeliveryContext(
            journal, http, lambda: NOW, lambda _: None, on_event=lambda e: told.append((e.tracking_id, e.seq))
        )
        print("ready", flush=True)
        sys.stdin.readline()
        for order in orders(base_url, count):
            states[submit_delivery(order, world).state.value] += 1
    print(json.dumps({"states": states, "told": told}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
