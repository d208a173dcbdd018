"""``plan``: show, check, write by asking, or draft from a request."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import click

from airlock_offline.home import OfflineHome, now_ms
from airlock_offline.ledger.typed_data import BY_HASHES_DO, EXPECTED, WIDTHS, refused_integers, type_faults
from airlock_shared.checks.foreseen import foreseen
from airlock_shared.checks.intent import definitions
from airlock_shared.checks.model import Situation
from airlock_shared.cli.plan import plan_group
from airlock_shared.cli.qr.file_or_qr import require_output
from airlock_shared.cli.terminal import INPUT, json_option, output_option, say, say_all, show_json
from airlock_shared.documents.deployment import Deployment
from airlock_shared.documents.requests import Header, Request, parse_requests
from airlock_shared.errors import PlanError, Refusal, quoted
from airlock_shared.ethereum.eip712 import StructValues
from airlock_shared.ethereum.signatures import checksum_address, parse_address
from airlock_shared.host.files import read_input, write_new
from airlock_shared.plan.decisions import choices_of
from airlock_shared.plan.model import CUSTOM, Plan
from airlock_shared.plan.reader import PLAN_FORMAT
from airlock_shared.plan.toml_positions import parse_written_plan
from airlock_shared.plan.values import TRIGGERS, plan_error
from airlock_shared.text.safe import fingerprint_lines, safe
from airlock_shared.units import (
    ADDRESS,
    CHOICE,
    CODE,
    GWEI,
    PERCENT,
    UNIX_MS,
    UNIX_S,
    UNLIMITED,
    to_human,
    to_raw,
    utc_text,
)
from airlock_shared.venue.actions import ACTIONS, Action, Parameter
from airlock_shared.venue.calls import decode_call
from airlock_shared.venue.referral_code import code_bytes, code_text
from airlock_shared.venue.structs import AUTHORIZATION, Field, is_custom, leaf

# ---- plan draft -----------------------------------------------------------------------------------------------------
# A plan drafted from a requests document: what the payloads say, written as a plan, for a person to read and correct.
# The drafted plan is one under which the very payloads pass. Where the document says in which words a value was asked
# for, and these words mean what the payload says, they are kept; where the builder chose, the plan bounds the choice
# to what it chose.


_HEADING = "# Drafted from a requests document: it repeats what the payload says. Read and correct every line."
_CEREMONY = """[ceremony]
id = "{id}"
title = "Drafted, to be read and corrected"
deployment = "{deployment}"
roles = ["signer"]
"""
_DEADLINE_MINUTES, _SLIPPAGE_RAW = 30, to_raw("1", PERCENT)
"""The limits of a draft, unless a payload needs wider ones."""

_ACCOUNTS = ("trader", "caller")  # of a transaction: the account for which it is made
_HEX_PREFIX = "0x"


class _Drafted(NamedTuple):
    """A request, its action, the leaves of its message, and the account for which it is signed (20 bytes)."""

    item: Request
    action: Action
    fields: tuple[Field, ...]
    message: StructValues
    account: bytes


class _Key(NamedTuple):
    """A key that signs, and the account whose delegate it is, None when it signs for itself alone."""

    address: str
    path: str
    delegate_of: bytes | None


def draft_plan(header: Header, items: list[Request], deployment: Deployment) -> str:
    """Return the TOML text of a plan under which the requests would pass.

    Raises ``Refusal`` when a payload is neither a struct nor a call that Airlock knows, is malformed, or its signer is no
    address.
    """
    drafted = [(_intent if item.transaction is None else _transaction)(item, deployment) for item in items]
    pairs = [(each.item.signer, each.item.path) for each in drafted]
    others = [each.account if each.account != parse_address(each.item.signer) else None for each in drafted]
    served = {pair: {other for at, other in zip(pairs, others, strict=True) if at == pair and other} for pair in pairs}
    keys = [
        _Key(*pair, other if other or len(served[pair]) != 1 else next(iter(served[pair])))
        for pair, other in zip(pairs, others, strict=True)
    ]
    signers = list(dict.fromkeys(keys))
    names = [header.signer] if header.signer and len(signers) == 1 else [f"signer-{n + 1}" for n in range(len(signers))]
    deadlines_ms = _chosen(drafted, "deadline")
    minutes = max([_DEADLINE_MINUTES, *(-((header.created_ms - at_ms) // 60_000) for at_ms in deadlines_ms)])
    slippage = max([_SLIPPAGE_RAW, *_chosen(drafted, "slippage")])
    lines = [
        "[limits]",
        f'deadline_at_most = "{minutes}m"',
        f'slippage_percent_at_most = "{to_human(slippage, PERCENT)}"',
    ]
    fees_wei = [each.item.transaction.maxFeePerGas for each in drafted if each.item.transaction is not None]
    lines += [f'max_fee_gwei_at_most = "{to_human(max(fees_wei), GWEI)}"'] if fees_wei else []
    parts = [
        f'{_HEADING}\nformat = "{PLAN_FORMAT}"\n',
        _CEREMONY.format(id=header.ceremony, deployment=deployment.name),
        "\n".join([*lines, 'remaining_at_least = "3m"', ""]),
    ]
    parts += [_signer(name, key) for name, key in zip(names, signers, strict=True)]
    parts += [_step(each, names[signers.index(key)], deployment) for each, key in zip(drafted, keys, strict=True)]
    return "\n".join(parts)


def _intent(item: Request, deployment: Deployment) -> _Drafted:
    if item.action == AUTHORIZATION:
        raise Refusal("AUTH-FORM", "no plan is drafted for an authorization: people agree on it first", got=item.step)
    primary_type = item.payload["primaryType"]
    intent = deployment.structs.get(primary_type)
    if intent is None or is_custom(intent):
        raise Refusal("TYPES-KNOWN", "a struct that Airlock does not know", got=quoted(primary_type))
    action = next(action for action in ACTIONS.values() if action.primary_type == primary_type)
    message = definitions(intent).read(primary_type, item.payload["message"])
    trader = leaf(message, intent.trader)
    own = parse_address(item.signer)
    return _Drafted(item, action, intent.fields, message, trader if isinstance(trader, bytes) else own)


def _transaction(item: Request, deployment: Deployment) -> _Drafted:
    text = item.payload["data"]
    try:
        decoded = decode_call(bytes.fromhex(text.removeprefix(_HEX_PREFIX)), deployment.calls)
    except ValueError as error:
        raise Refusal("TX-HEX", "calldata is not hex", got=quoted(text), expected="0x and bytes in hex") from error
    if decoded.call.is_own:
        raise Refusal("TX-SELECTOR", "a call whose meaning Airlock does not know", got=decoded.call.name)
    action = next(action for action in ACTIONS.values() if action.call == decoded.call.name)
    account = decoded.delegated_for or parse_address(item.signer)
    return _Drafted(item, action, decoded.call.fields, decoded.message, account)


def _chosen(drafted: list[_Drafted], limit: str) -> list[int]:
    """Return what the builder chose where a limit of the plan bounds it."""
    values = [leaf(each.message, field.path) for each in drafted for field in each.fields if field.rule.limit == limit]
    return [value for value in values if type(value) is int]


def _signer(name: str, key: _Key) -> str:
    lines = [f"[signers.{name}]", f"address = {json.dumps(key.address)}", f"path = {json.dumps(key.path)}"]
    if key.delegate_of is not None:
        lines.append(f'delegate_of = "{checksum_address(key.delegate_of)}"')
    return "\n".join(lines) + "\n"


def _step(drafted: _Drafted, signer: str, deployment: Deployment) -> str:
    item, action = drafted.item, drafted.action
    lines = []
    for parameter in action.parameters:
        value = _field(parameter, drafted, deployment)
        if value:
            lines.append(f"{parameter.name} = {value}")
    fields = "\n".join(lines)
    return f'[[steps]]\nid = "{item.step}"\naction = "{action.name}"\nsigner = "{signer}"\n[steps.fields]\n{fields}\n'


def _field(parameter: Parameter, drafted: _Drafted, deployment: Deployment) -> str:
    """Return a parameter's value in TOML, empty when the plan leaves it out."""
    field = next((field for field in drafted.fields if field.rule.parameter == parameter.name), None)
    if field is None:
        if parameter.name in _ACCOUNTS:
            return f'"{checksum_address(drafted.account)}"'
        return json.dumps(drafted.item.replaces) if parameter.name == "replaces" and drafted.item.replaces else ""
    raw, asked = leaf(drafted.message, field.path), drafted.item.fields.get(parameter.sent)
    if asked is not None and parameter.unit is not UNIX_MS and _means(parameter, asked, deployment) == raw:
        return _value(parameter, raw, deployment, asked)
    if not parameter.required and (
        field.rule.decider == "builder" or (field.rule.decider == "plan-or-zero" and raw == 0)
    ):
        return ""
    value = _value(parameter, raw, deployment)
    by_the_builder = (
        asked is None and not parameter.required and parameter.unit.is_amount and parameter.name not in TRIGGERS
    )
    return f"{{ at_least = {value}, at_most = {value} }}" if by_the_builder else value


def _means(parameter: Parameter, text: str, deployment: Deployment) -> object:
    """Return the raw value of a request field's text; None for what is no value of its unit."""
    unit = parameter.unit
    try:
        if unit is ADDRESS:
            return parse_address(text)
        if unit is CODE:
            return code_bytes(text)
        if unit is CHOICE:
            return choices_of(parameter.name, deployment).get(text)
        return to_raw(text, unit) if unit.is_amount else int(text)
    except (Refusal, ValueError):
        return None


def _value(parameter: Parameter, raw: object, deployment: Deployment, asked: str = "") -> str:
    """Return a raw value in TOML, in the words ``asked`` when there are any."""
    unit = parameter.unit
    if unit is UNIX_S and isinstance(raw, int):
        return utc_text(raw * 1000).removesuffix(" UTC").replace(" ", "T") + "Z"
    if asked:
        return json.dumps(asked)
    if unit is ADDRESS and isinstance(raw, bytes):
        return f'"{checksum_address(raw)}"'
    if unit is CODE and isinstance(raw, bytes):
        return json.dumps(code_text(raw))
    if unit is CHOICE:
        return json.dumps(
            next((text for text, number in choices_of(parameter.name, deployment).items() if number == raw), "unknown")
        )
    if parameter.name == "amountUsdc" and raw == UNLIMITED:
        return '"unlimited"'
    return f'"{to_human(raw, unit)}"' if isinstance(raw, int) else json.dumps(str(raw))


# ---- plan -----------------------------------------------------------------------------------------------------------


def _machine_faults(state: OfflineHome, agreed: Plan) -> list[PlanError] | None:
    """Return what this machine refuses in a plan whatever comes; None when its deployment is not pinned."""
    deployment = state.pinned(agreed.deployment)
    if deployment is None:
        return None
    situation = Situation(agreed, deployment, now_ms())
    return [*foreseen(situation), *ledger_faults(situation)]


def ledger_faults(known: Situation) -> list[PlanError]:
    """Return the steps whose struct the Ethereum app refuses field by field, or signs over another digest."""
    errors = []
    for position, step in enumerate(known.plan.steps.values()):
        intent = known.deployment.structs.get(step.action.primary_type)
        if intent is None or step.signer.show != "fields":
            continue
        structs = definitions(intent).structs
        where = f"steps[{position}].{'fields.struct' if step.action.name == CUSTOM else 'action'}"
        another = "the Ledger's app signs another digest for this struct"
        for check, what, got, expected in (
            ("PLAN-WIDTH", "the Ledger takes no integers of this width", ", ".join(refused_integers(structs)), WIDTHS),
            ("DIGEST-LEDGER", another, "; ".join(type_faults(structs, intent.name)), EXPECTED),
        ):
            if got:
                errors.append(plan_error(check, what, where, got=got, expected=expected, do=BY_HASHES_DO))
    return errors


plan = plan_group(
    "Write, check or show a ceremony plan, or draft one from a request.", lambda home: home.pins(), _machine_faults
)


@plan.command("draft")
@click.argument("file", type=INPUT)
@output_option("The plan to write.")
@json_option
@click.pass_obj
def draft(state: OfflineHome, file: Path, output: Path, as_json: bool) -> None:
    r"""Write a plan from the requests document FILE, for a person to read, correct and agree on.

    The draft repeats what the payload says. It checks nothing, so read every line.

    \b
    Example:
      airlock-offline plan draft requests.json -o plan.toml
    """
    require_output(output)
    header, items, fingerprint = parse_requests(read_input(file))
    deployment = state.require_pinned(header.deployment_name)
    text = draft_plan(header, items, deployment)
    drafted = parse_written_plan(text.encode())
    write_new(output, text.encode())
    say_all(fingerprint_lines("requests", fingerprint))
    say(
        f"Wrote {safe(str(output))}. It repeats what the payload says: read and correct every line, then use it as the plan."
    )
    if as_json:
        show_json({"ok": True, "file": str(output), "requests": fingerprint, "plan": drafted.fingerprint})
