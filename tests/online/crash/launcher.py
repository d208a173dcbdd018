"""A process that has imported everything, and forks a child for each run of `submit` and `follow` that it is told of.

It reads one JSON run a line, and answers with what became of it: the child's exit status (negative: the signal), the names
of the places that it passed, and its outcome. The child is a process of its own, with its own journal connections and
sockets; only the imports are shared.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from airlock_online.clients.connection import HttpCall, json_of
from airlock_online.clients.http import Http, Timeouts
from airlock_online.clients.rpc import RpcClient
from airlock_online.delivery.routes.context import Delivery, DeliveryContext
from airlock_online.delivery.submit import follow_submission, submit_delivery
from airlock_online.journal.journal import Journal, open_journal
from airlock_online.journal.order_states import OrderEvent
from airlock_online.journal.schema import Record
from airlock_shared.errors import AirlockError
from airlock_shared.venue.structs import CATALOGUE
from loaded import load
from online.crash.points import Points


def play(run: dict[str, Any], http: Http) -> dict[str, Any]:
    """Do the acts of a run in this process, and return what came of them and what the journal has then."""
    journal_file = Path(run["folder"]) / "journal.sqlite"
    points = Points(die_at=run["die_at"], full_at=run["full_at"], journal=journal_file)
    points.watch()
    told = run["delivery"]
    delivery = Delivery(**told | {"intent": CATALOGUE.get(told["primary_type"])})
    try:
        with open_journal(str(journal_file), lambda: int(run["now_ms"])) as journal:
            world = _world(run, journal, http, points)
            reason = ""
            for act in run["acts"]:
                if act == "submit":
                    reason = submit_delivery(delivery, world).reason
                elif journal.find(delivery.digest):  # else there is nothing to follow
                    reason = follow_submission(delivery.digest, world).reason
            known = journal.find(delivery.digest)
            facts = {
                "state": known.state.value if known else "",
                "tracking_id": known.tracking_id if known else "",
                "reason": reason,
                "events": [[event.seq, event.type] for event in journal.events(delivery.digest)],
            }
        return {"names": points.names, **facts}
    except AirlockError as error:
        return {"names": points.names, "error": type(error).__name__, "reason": f"{error.what} {error.do}"}
    finally:
        points.release()


def _world(run: dict[str, Any], journal: Journal, http: Http, points: Points) -> DeliveryContext:
    told, slept = Path(run["folder"]) / "told", [0.0]

    def sleep(seconds: float) -> None:
        slept[0] += seconds

    def on_event(event: OrderEvent) -> None:
        points.reach("tell-before")
        with told.open("a") as screen:
            screen.write(json.dumps([event.seq, event.type]) + "\n")
        points.reach("tell-after")

    def nonce_used(_record: Record, _account: str) -> bool:
        url = run["venue"] + "/nonce?check=7"
        return bool(json_of(http.exchange(HttpCall("GET", url)), url)["data"]["used"])

    return DeliveryContext(
        journal=journal,
        http=http,
        clock_ms=lambda: int(run["now_ms"] + 1000 * slept[0]),
        sleep=sleep,
        on_event=on_event,
        nonce_used=nonce_used,
        patience_s=15,
        node=RpcClient(run["venue"] + "/rpc", http),
        confirmations=2,
    )


def main() -> None:
    """Fork for each run, one after another."""
    load("airlock-online")
    with Http(Timeouts(connect=5, silence=5, total=10, stream_silence=5, stream_total=10)) as http:
        for line in sys.stdin:
            run = json.loads(line)
            answer = Path(run["folder"]) / "answer"
            answer.unlink(missing_ok=True)
            child = os.fork()
            if not child:
                code = 70  # an exception that nobody expected
                try:
                    answer.write_text(json.dumps(play(run, http)))
                    code = 0
                finally:
                    sys.stderr.flush()
                    os._exit(code)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            known = json.loads(answer.read_text()) if status == 0 else {}
            print(json.dumps({"status": status, **known}), flush=True)


if __name__ == "__main__":
    main()
