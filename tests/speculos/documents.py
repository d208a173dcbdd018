"""Random typed data to compare pages with, seeded: what is looked at while building stays apart from what is kept back."""

import random
import string
from typing import Any

BUILT_WITH, KEPT_BACK = range(150), range(150, 300)
"""The seeds that may be looked at while the rules are built, and those that are run at the end alone."""
_WORDS = [*"desk treasury may-not a_b limit USDC 0x withdraw - _ close".split(), "By signing", "WWW", "iiii"]
_WIDTHS = (8, 16, 32, 64, 128, 256)


def member(name: str, kind: str) -> dict[str, str]:
    return {"name": name, "type": kind}


def document(seed: int) -> dict[str, Any]:
    """Return the typed data of a seed: some members of the domain, one to nine leaves, sometimes a struct."""
    draw = random.Random(f"airlock {seed}")
    members = [_member(draw, number) for number in range(draw.randrange(1, 10))]
    inner = [_member(draw, number) for number in range(draw.randrange(1, 4))]
    types = {"EIP712Domain": _domain(draw), _PRIMARY: [{"name": name, "type": kind} for name, kind in members]}
    message: dict[str, Any] = {name: value(draw, kind) for name, kind in members}
    if draw.random() < 0.3:
        types["Inner"] = [{"name": name, "type": kind} for name, kind in inner]
        types[_PRIMARY].append({"name": "inner", "type": "Inner"})
        message["inner"] = {name: value(draw, kind) for name, kind in inner}
    values = {"name": _text(draw, 30), "version": "1", "chainId": draw.choice((1, 8453, 31337)),
              "verifyingContract": "0x" + draw.randbytes(20).hex(), "salt": "0x" + draw.randbytes(32).hex()}  # fmt: skip
    domain = {row["name"]: values[row["name"]] for row in types["EIP712Domain"]}
    return {"types": types, "primaryType": _PRIMARY, "domain": domain, "message": message}


def odd_document(seed: int) -> dict[str, Any]:
    """Return the typed data of a seed with what is rare: line feeds, and names of 36 to 60 letters."""
    draw = random.Random(f"airlock odd {seed}")
    members, message = [{"name": "first", "type": "string"}], {"first": _lines(draw)}
    for number in range(draw.randrange(1, 5)):
        name = "".join(draw.choices(string.ascii_letters, k=draw.choice((5, 20, 36, 47, 60)))) + str(number)
        kind = draw.choice(("string", "bytes", "Inner"))
        members.append({"name": name, "type": kind})
        message[name] = _odd_value(draw, kind)
    inner = [{"name": "text", "type": "string"}, {"name": "number", "type": "uint256"}]
    types = {"EIP712Domain": _domain(draw)[:1], _PRIMARY: members, "Inner": inner}
    domain = {row["name"]: _ODD[row["name"]] for row in types["EIP712Domain"]}
    return {"types": types, "primaryType": _PRIMARY, "domain": domain, "message": message}


def _odd_value(draw: random.Random, kind: str) -> Any:
    if kind == "Inner":
        return {"text": _lines(draw), "number": value(draw, "uint256")}
    return _lines(draw) if kind == "string" else value(draw, kind)


def _lines(draw: random.Random) -> str:
    lines = [_text(draw, draw.choice((4, 12, 40))) for _ in range(draw.randrange(1, 16))]
    return draw.choice(("\n", "\n\n", "\n", " ")).join(lines)


_PRIMARY = "Held"
_ODD = {"name": "odd", "version": "1", "chainId": 1, "verifyingContract": "0x" + "11" * 20}


def _domain(draw: random.Random) -> list[dict[str, str]]:
    rows = [("name", "string"), ("version", "string"), ("chainId", "uint256"), ("verifyingContract", "address")]
    kept = [row for row in rows if draw.random() < 0.8] or rows[:1]
    return [{"name": name, "type": kind} for name, kind in kept]


def _member(draw: random.Random, number: int) -> tuple[str, str]:
    name = f"{draw.choice(('amount', 'to', '_deadline', 'pairIndex', 'aMemberWithALongName', 'x', 'terms'))}{number}"
    kind = draw.choice(("address", "bool", "string", "string", "bytes", "int", "uint", "uint", "fixed"))
    if kind in ("int", "uint"):
        kind += str(draw.choice(_WIDTHS))
    return name, f"bytes{draw.randrange(1, 33)}" if kind == "fixed" else kind


def _text(draw: random.Random, most: int) -> str:
    kind = draw.randrange(4)
    if kind == 0:
        return "".join(draw.choices(string.ascii_letters + string.digits + "-_ .,", k=draw.randrange(1, most)))
    if kind == 1:
        return "".join(draw.choices([chr(code) for code in range(0x21, 0x7F)], k=draw.randrange(1, most)))
    return " ".join(draw.choices(_WORDS, k=draw.randrange(1, max(2, most // 6))))[:most]


def value(draw: random.Random, kind: str) -> Any:
    """Return a random value of an elementary type, as JSON has it."""
    if kind == "address":
        return "0x" + draw.randbytes(20).hex()
    if kind == "bool":
        return draw.random() < 0.5
    if kind == "string":
        return _text(draw, draw.choice((12, 40, 120, 300)))
    if kind == "bytes":
        return "0x" + draw.randbytes(draw.choice((0, 1, 20, 60, 150))).hex()
    if kind.startswith("bytes"):
        return "0x" + draw.randbytes(int(kind[5:])).hex()
    bits = int(kind.lstrip("uint"))
    bits = draw.randrange(1, bits + 1)
    number = draw.getrandbits(bits)
    return str(number) if kind.startswith("u") else str(number - (1 << (bits - 1)))
