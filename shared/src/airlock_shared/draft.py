"""A plan drafted from a request: what the payload says, written as a plan, for a person to read and correct."""

from __future__ import annotations

import json

from airlock_shared.actions import ACTIONS, Parameter
from airlock_shared.addresses import checksum_address
from airlock_shared.checks.payload import definitions
from airlock_shared.decide import choices_of
from airlock_shared.deployment import Deployment
from airlock_shared.errors import Refusal
from airlock_shared.intents import CATALOGUE, leaf
from airlock_shared.plan import FORMAT
from airlock_shared.referral import code_text
from airlock_shared.requests import Header, Request
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


def draft_plan(header: Header, items: list[Request], deployment: Deployment) -> str:
    """Return the TOML text of a plan that the requests would pass.

    Raises ``Refusal`` when a payload is not a struct of the catalogue or its message is malformed.
    """
    signers = list(dict.fromkeys((item.signer, item.path) for item in items))
    parts = [
        f'{_HEADING}\nformat = "{FORMAT}"\n',
        _CEREMONY.format(id=header.ceremony, deployment=deployment.name),
        _LIMITS,
    ]
    for number, (address, path) in enumerate(signers, start=1):
        parts.append(f"[signers.signer-{number}]\naddress = {json.dumps(address)}\npath = {json.dumps(path)}\n")
    parts += [_step(item, signers.index((item.signer, item.path)) + 1, deployment) for item in items]
    return "\n".join(parts)


def _step(item: Request, signer: int, deployment: Deployment) -> str:
    primary_type = item.payload["primaryType"]
    if primary_type not in CATALOGUE:
        raise Refusal("TYPES-KNOWN", "a struct that Airlock does not know", got=repr(primary_type)[:80])
    action = next(action for action in ACTIONS.values() if action.primary_type == primary_type)
    message = definitions(primary_type).read(primary_type, item.payload["message"])
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
