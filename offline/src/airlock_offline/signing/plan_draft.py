"""A plan drafted from a request: what the payload says, written as a plan, for a person to read and correct."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from airlock_shared.catalogue.actions import ACTIONS, Parameter
from airlock_shared.catalogue.intents import CATALOGUE, leaf
from airlock_shared.catalogue.referral_code import code_text
from airlock_shared.checks.payload import definitions
from airlock_shared.documents.deployment import Deployment
from airlock_shared.documents.requests import Header, Request
from airlock_shared.errors import Refusal
from airlock_shared.ethereum.addresses import checksum_address, parse_address
from airlock_shared.plan.decisions import choices_of
from airlock_shared.plan.reader import FORMAT
from airlock_shared.units import ADDRESS, CHOICE, CODE, UNIX_S, to_human, utc_text

_HEADING = "# Drafted from a requests document: it repeats what the payload says. Read and correct every line."
_CEREMONY = """[ceremony]
id = "{id}"
title = "Drafted, to be read and corrected"
deployment = "{deployment}"
roles = ["signer"]
"""
_LIMITS = """[limits]
deadline_at_most = "30m"
slippage_percent_at_most = "1"
remaining_at_least = "3m"
"""


class _Key(NamedTuple):
    """A key that signs; ``delegate_of`` is the message's trader when that is another account, else None."""

    address: str
    path: str
    delegate_of: bytes | None


def draft_plan(header: Header, items: list[Request], deployment: Deployment) -> str:
    """Return the TOML text of a plan that the requests would pass.

    Raises ``Refusal`` when a payload is not a struct of the catalogue, its message is malformed, or its signer no address.
    """
    messages = [_message(item) for item in items]
    keys = [_key(item, message) for item, message in zip(items, messages, strict=True)]
    signers = list(dict.fromkeys(keys))
    parts = [
        f'{_HEADING}\nformat = "{FORMAT}"\n',
        _CEREMONY.format(id=header.ceremony, deployment=deployment.name),
        _LIMITS,
    ]
    parts += [_signer(number, key) for number, key in enumerate(signers, start=1)]
    for item, message, key in zip(items, messages, keys, strict=True):
        parts.append(_step(item, message, signers.index(key) + 1, deployment))
    return "\n".join(parts)


def _message(item: Request) -> dict[str, Any]:
    primary_type = item.payload["primaryType"] if item.transaction is None else "a transaction"
    if primary_type not in CATALOGUE:
        raise Refusal("TYPES-KNOWN", "a struct that Airlock does not know", got=repr(primary_type)[:80])
    return definitions(CATALOGUE[primary_type]).read(primary_type, item.payload["message"])


def _key(item: Request, message: dict[str, Any]) -> _Key:
    trader = leaf(message, CATALOGUE[item.payload["primaryType"]].trader)
    own = trader == parse_address(item.signer)
    return _Key(item.signer, item.path, trader if isinstance(trader, bytes) and not own else None)


def _signer(number: int, key: _Key) -> str:
    lines = [f"[signers.signer-{number}]", f"address = {json.dumps(key.address)}", f"path = {json.dumps(key.path)}"]
    if key.delegate_of is not None:
        lines.append(f'delegate_of = "{checksum_address(key.delegate_of)}"')
    return "\n".join(lines) + "\n"


def _step(item: Request, message: dict[str, Any], signer: int, deployment: Deployment) -> str:
    primary_type = item.payload["primaryType"]
    action = next(action for action in ACTIONS.values() if action.primary_type == primary_type)
    lines = []
    for field in CATALOGUE[primary_type].fields:
        parameter = action.parameter(field.rule.parameter)
        if parameter and field.rule.kind != "builder":
            value = leaf(message, field.path)
            if field.rule.kind == "plan" or value != 0:
                lines.append(f"{parameter.name} = {_value(parameter, value, deployment)}")
    fields = "\n".join(lines)
    return f'[[steps]]\nid = "{item.step}"\naction = "{action.name}"\nsigner = "signer-{signer}"\n[steps.fields]\n{fields}\n'


def _value(parameter: Parameter, raw: object, deployment: Deployment) -> str:
    unit = parameter.unit
    if unit is ADDRESS and isinstance(raw, bytes):
        return f'"{checksum_address(raw)}"'
    if unit is CODE and isinstance(raw, bytes):
        return json.dumps(code_text(raw))
    if unit is UNIX_S and isinstance(raw, int):
        return utc_text(raw * 1000).removesuffix(" UTC").replace(" ", "T") + "Z"
    if unit is CHOICE:
        return json.dumps(_choice(parameter.name, raw, deployment))
    return f'"{to_human(raw, unit)}"' if isinstance(raw, int) else json.dumps(str(raw))


def _choice(name: str, raw: object, deployment: Deployment) -> str:
    return next((text for text, number in choices_of(name, deployment).items() if number == raw), "unknown")
