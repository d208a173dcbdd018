"""A trading desk at the rehearsal services: keys, a clock to set, and requests over real HTTP."""

import json
from typing import Any, NamedTuple

import httpx
from eth_account import Account
from eth_utils.crypto import keccak

from airlock_rehearsal.services.runtime import RehearsalSettings, signing_domain
from airlock_rehearsal.services.server import RehearsalServices
from airlock_rehearsal.services.venue.eip712_peer import digest_of, encode, types_of

START_MS = 1_800_000_000_000
TRADER = Account.from_key(keccak(b"the rehearsal's trader"))
DELEGATE = Account.from_key(keccak(b"the rehearsal's delegate"))
STRANGER = Account.from_key(keccak(b"the rehearsal's stranger"))
PROMPT = RehearsalSettings(pacing_s=0, slow_s=0)
"""Settings of a rehearsal that does not wait."""

Json = dict[str, Any]


class Clock:
    """The services' clock, which stands still until it is set."""

    def __init__(self) -> None:
        self.ms = START_MS

    def __call__(self) -> int:
        return self.ms


class SseEvent(NamedTuple):
    """An event as it was on the wire; ``id`` is empty when it had none."""

    type: str
    id: str
    data: Json


class ServicesClient:
    def __init__(self, services: RehearsalServices, clock: Clock) -> None:
        self.services = services
        self.state = services.state
        self.clock = clock
        self.http = httpx.Client(timeout=10)

    def read(self, path: str, **fields: Any) -> Any:
        reply = self.http.get(self.services.builder_url + path, params=fields)
        assert reply.status_code == 200, reply.text
        return reply.json()["data"]

    def ask(self, name: str, fields: Json, method: str = "POST") -> httpx.Response:
        url = f"{self.services.builder_url}/v2/intents/{name}"
        return self.http.get(url, params=fields) if method == "GET" else self.http.post(url, json=fields)

    def build(self, name: str, **fields: Any) -> Json:
        reply = self.ask(name, fields)
        assert reply.status_code == 200, reply.text
        data: Json = reply.json()["data"]
        return data

    def close_payload(self, **fields: Any) -> Json:
        asked = {"trader": TRADER.address, "tradeIndex": 0, "pairIndex": 0, "collateralToCloseUsdc": "1000"}
        return self.build("close", **(asked | fields))

    def order(self, order_type: int, payload: Json, key: Any = TRADER) -> Json:
        erc712 = {"userIntent": payload["encodedIntent"], "userSignature": signature(payload, key)}
        return {"orderType": order_type, "erc712": erc712}

    def post_order(self, body: Json) -> httpx.Response:
        return self.http.post(self.services.batched_url + "/market/execute-batched", json=body)

    def execute(self, order_type: int, payload: Json, key: Any = TRADER) -> list[SseEvent]:
        reply = self.post_order(self.order(order_type, payload, key))
        assert reply.status_code == 200, reply.text
        return events_in(reply.text)

    def relay(self, payload: Json, key: Any = TRADER, **other: Any) -> httpx.Response:
        body = {"primaryType": payload["primaryType"], "userIntent": payload["encodedIntent"]}
        body |= {"userSignature": signature(payload, key)} | other
        return self.http.post(self.services.relayer_url + "/intents", json=body)

    def relayed(self, intent_id: str) -> Json:
        for _ in range(500):
            data: Json = self.http.get(f"{self.services.relayer_url}/intents/{intent_id}").json()["data"]
            if data["status"] != "pending":
                return data
        raise AssertionError("the intent stayed pending")

    def register_delegate(self, expiry_s: int = START_MS // 1000 + 3600) -> None:
        payload = self.build("delegate", trader=TRADER.address, delegate=DELEGATE.address, expirySeconds=expiry_s)
        assert self.relayed(self.relay(payload).json()["data"]["id"])["status"] == "confirmed"

    def nonce_used(self, payload: Json, space: str = "trading") -> bool:
        message = payload["message"]
        check = message.get("_nonce", message.get("nonce"))
        used: bool = self.read("/v2/nonce", trader=TRADER.address, check=check, space=space)["used"]
        return used


def signature(payload: Json, key: Any = TRADER) -> str:
    """Sign a payload, whatever it says."""
    document = {name: payload[name] for name in ("types", "primaryType", "domain", "message")}
    return "0x" + bytes(Account.sign_typed_data(key.key, full_message=document).signature).hex()


def handmade(primary: str, message: Json) -> Json:
    """Return a payload that no builder endpoint builds."""
    domain, types = signing_domain("trading"), types_of(primary)
    digest = "0x" + digest_of(types, primary, domain, message).hex()
    return {
        "primaryType": primary, "types": types, "domain": domain, "message": message, "digest": digest,
        "encodedIntent": "0x" + encode(primary, message).hex(),
    }  # fmt: skip


def events_in(text: str) -> list[SseEvent]:
    events = []
    for block in text.split("\n\n")[:-1]:
        lines = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith(":"))
        if lines:
            events.append(SseEvent(lines["event"], lines.get("id", ""), json.loads(lines["data"])))
    return events
