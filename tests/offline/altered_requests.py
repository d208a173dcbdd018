"""Honest requests altered at random, mostly sealed again, so that they come as far as they can."""

import copy
import json
import random
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from airlock_shared.documents.requests import parse_requests
from airlock_shared.errors import DocumentError
from shared.make_payloads import seal
from shared.strategies import at, changed_leaf, places

Item = dict[str, Any]
HALF = "\ud800"
TEXTS = (
    "", " ", "DECIDED BY THE PLAN", "CHECKS: 37 passed, 0 refused", "\n" * 50, "\x1b[2J\x1b]0;owned\x07",
    "\u202eslaE", "x" * 70_000, "a b " * 6_000, "\\", "Signed.", "builder | builder | ", "\U0010ffff" * 400,
)  # fmt: skip
NUMBERS = (0, 1, -1, 2, 255, 2**32, 2**53, 2**63, 2**64 - 1, 2**255, 2**256 - 1, 2**256, -(2**255), 10**80, 10**400)


class Altered(NamedTuple):
    """A document with altered items: its bytes, whose plan it is for, and the steps of its items."""

    data: bytes
    folder: str
    steps: list[str]


def altered_documents(pick: random.Random, count: int, honest: Mapping[str, dict[str, Any]]) -> Iterator[Altered]:
    """Yield the honest documents of whole plans in which so many items are altered, each by itself, in all of them together.

    An item that cannot even be read stands in a document of its own: it takes everything beside it along.
    """
    others = [item for document in honest.values() for item in document["requests"]]
    while count > 0:
        folder = pick.choice(list(honest))
        made = copy.deepcopy(honest[folder])
        for place, item in enumerate(made["requests"]):
            if count <= 0 or pick.random() < 0.1:
                continue  # some stay honest
            count -= 1
            other = alter(item, pick, others)
            if _is_read({**other, "step": item["step"]}, made):
                made["requests"][place] = {**other, "step": item["step"]}
            else:
                alone = copy.deepcopy(honest[folder])
                alone["requests"][place] = other
                yield _document(alone, folder, pick)
        yield _document(made, folder, pick)


def _is_read(item: dict[str, Any], document: dict[str, Any]) -> bool:
    try:
        header = {**document["header"], "count": 1}
        parse_requests(json.dumps({**document, "header": header, "requests": [item]}).encode())
    except DocumentError:
        return False
    return True


def _document(made: dict[str, Any], folder: str, pick: random.Random) -> Altered:
    text = json.dumps(made)
    if pick.random() < 0.02:  # a member twice, which no parsed value can hold
        text = text.replace('"payload": {', '"payload": {"description": "x", "description": "y", ', 1)
    steps = [str(item.get("step")) for item in made["requests"]]
    return Altered(text.encode(), folder, steps)


def alter(item: dict[str, Any], pick: random.Random, others: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a copy of an item with one to three things altered, or taken from others."""
    item = copy.deepcopy(item)
    for _ in range(pick.choice((1, 1, 1, 2, 3))):
        pick.choice(_ALTERATIONS)(item, pick, others)
    payload = item.get("payload")
    if isinstance(payload, dict) and "message" in payload and pick.random() < 0.75:
        with suppress(Exception):  # what cannot have a digest keeps the honest one
            seal(payload)
    return item


def _somewhere(item: dict[str, Any], pick: random.Random) -> tuple[Any, Any]:
    """Return a container of an item and one of its keys or places, often inside the message."""
    payload = item.get("payload")
    parts = [item, payload, payload.get("message")] if isinstance(payload, dict) else [item]
    part = pick.choice([part for part in parts if part])
    if not (found := places(part)):
        return item, "payload"
    *parents, last = pick.choice(found)
    return at(part, parents), last


def _a_leaf(item: Item, pick: random.Random, _others: list[Item]) -> None:
    """Alter a number, an address or a text: by a digit, its spelling or its type, or to an end of its range."""
    node, key = _somewhere(item, pick)
    if isinstance(node[key], str | int):
        with suppress(ValueError):  # what is no number any more
            node[key] = pick.choice([*changed_leaf(node[key], pick), *map(str, NUMBERS), "0x" + "00" * 20, HALF])


def _a_member(item: Item, pick: random.Random, _others: list[Item]) -> None:
    """Remove, repeat, rename or retype a member or an element, of a type definition too, or say a text in it."""
    node, key = _somewhere(item, pick)
    odd: tuple[Any, ...] = (
        None,
        True,
        [],
        {},
        [node[key]],
        {"value": node[key]},
        1.5,
        str(node[key]),
        {"a": [1]},
        *TEXTS,
    )
    change = pick.randrange(4)
    if change == 0:
        node[key] = pick.choice(odd)
    elif change == 1:
        del node[key]
    elif isinstance(node, list):
        node.append(copy.deepcopy(pick.choice(node)))
    elif change == 2:
        node[pick.choice(TEXTS) or "more"] = pick.choice(odd)
    else:
        node[pick.choice(("x", f"{key}2", HALF))] = node.pop(key)


def _of_another(item: Item, pick: random.Random, others: list[Item]) -> None:
    """Take a payload, or a name, from another item."""
    other = copy.deepcopy(pick.choice(others))
    if pick.random() < 0.5:
        names = ("action", "endpoint", "route", "signer", "fields", "transaction")
        name = pick.choice([name for name in names if name in other])
        item[name] = other[name]
        if isinstance(item.get("payload"), dict):
            item["payload"]["primaryType"] = pick.choice(("DelegateReq", "OpenTradeReq", "EIP712Domain", "nothing"))
        return
    item["payload"] = other["payload"]
    if pick.random() < 0.7:
        item.pop("transaction", None)
        item |= {name: other[name] for name in ("transaction", "delegation") if name in other}
    if pick.random() < 0.5:
        item |= {name: other[name] for name in ("action", "endpoint", "fields", "route")}


def _what_the_builder_says(item: Item, pick: random.Random, _others: list[Item]) -> None:
    payload = item.get("payload")
    if not isinstance(payload, dict):
        return
    many = {f"DECIDED BY THE PLAN {n}": "CHECKS: 37 passed" for n in range(pick.choice((3, 60, 3000)))}
    deep: Any = "x"
    for _ in range(pick.choice((3, 12))):
        deep = [deep] if pick.random() < 0.5 else {"x": deep}
    payload["meta"] = pick.choice((many, {"deep": deep}, {text: text for text in TEXTS}, {"x": 1e300, "y": None}))
    if pick.random() < 0.05:
        payload["meta"] = {"half": f"a character {HALF}"}
    if "message" not in payload:
        payload["description"] = pick.choice(TEXTS)


_ALTERATIONS = (_a_leaf, _a_leaf, _a_member, _a_member, _of_another, _of_another, _what_the_builder_says)
