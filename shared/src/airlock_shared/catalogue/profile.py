"""What is signed at one venue: its structs and calls, where they differ from the shipped catalogue, as people pinned them.

A venue's profile (``airlock/venue-signed@1``) chooses for every leaf one of the closed list of kinds
(:mod:`airlock_shared.catalogue.kinds`). It is resolved against the shipped catalogue once, on the online machine, and the
whole result is pinned with the deployment: what a later release ships changes nothing of it. Who may sign a shipped struct,
under which domain, where it is sent, and which checks judge it is code, and in no profile. The specification leaves these
shapes open: "Intent message structs" and "Builder: unsigned transactions" show members and names, not types.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from airlock_shared.catalogue.calls import (
    CALLS,
    DELEGATED_SIGNATURE,
    Argument,
    Call,
    Calls,
    arguments_of,
    canonical,
    indexed,
    selector_of,
)
from airlock_shared.catalogue.encode_types import leaves_of, types_of_text
from airlock_shared.catalogue.intents import CATALOGUE, Intent
from airlock_shared.catalogue.kinds import (
    DEADLINE,
    KINDS,
    MAY_BE_LEFT_OUT,
    NONCE_KIND,
    SEVERAL,
    SIGNED_AT,
    SLIPPAGE,
    ZERO,
    Field,
    Rule,
    field,
    one_of,
    path_of,
)
from airlock_shared.catalogue.services import PINNABLE
from airlock_shared.errors import DocumentError, Refusal
from airlock_shared.ethereum.eip712 import DOMAIN_TYPE, read_types
from airlock_shared.ethereum.eip712_types import atomic_kind
from airlock_shared.wire.members import format_of, read_members

FORMAT = "airlock/venue-signed@1"
MAX_OF_EACH, MAX_CHARACTERS, MAX_LEAVES = 64, 3000, 200
"""Structs and calls of a profile, the text of one, and a struct's leaves: what people are still shown whole."""

FEE = "fee"
"""The one thing that native currency may be sent with a call as: the plan bounds it."""

DOMAINS = ("trading", "referral")
SIGNER_RULES = ("trader-only", "trader-or-delegate")

NEVER = (
    "approve(address a,uint256 b)", "increaseAllowance(address a,uint256 b)", "transfer(address a,uint256 b)",
    "transferFrom(address a,address b,uint256 c)", "setApprovalForAll(address a,bool b)",
    "permit(address a,address b,uint256 c,uint256 d,uint8 e,bytes32 f,bytes32 g)", "upgradeTo(address a)",
    "upgradeToAndCall(address a,bytes b)", "transferOwnership(address a)", "multicall(bytes[] a)",
    "multicall(uint256 a,bytes[] b)", DELEGATED_SIGNATURE,
)  # fmt: skip
"""Functions that no profile may reach, by their names or by a signature that has the same selector."""

ENCODE_TYPE = re.compile(r"(?:[A-Za-z_]\w{0,63}\(\w+ \w+(?:,\w+ \w+)*\)){1,16}", re.ASCII)
_ARGUMENT = r"(?:\w+|\(\w+ \w+(?:,\w+ \w+)*\)) \w+"
_SIGNATURE = re.compile(rf"[A-Za-z_]\w{{0,63}}\((?:{_ARGUMENT}(?:,{_ARGUMENT})*)?\)", re.ASCII)
_LABEL = re.compile(r"[!#-\[\]-~](?:[ !#-\[\]-~]{0,58}[!#-\[\]-~])?", re.ASCII)
FIXED = ("domain", "signer_rule", "route")
"""What the specification says of a shipped struct, and no profile changes."""

_MEANT = {name.lower() for name in (DOMAIN_TYPE, *CATALOGUE)}
"""The names of primary types that mean something here, in small letters: no other struct has one in any case."""

_TOKEN, _CONTRACT = "usdc", re.compile(r"[A-Za-z][A-Za-z0-9]{0,63}", re.ASCII)

_ACCOUNTS = ("trader", "referee", "referrer")


class Venue(NamedTuple):
    """What is signed at a venue: its structs by primary type, and its calls."""

    structs: Mapping[str, Intent]
    calls: Calls


@lru_cache(maxsize=64)
def venue_of(signed: str) -> Venue:
    """Return the venue that a deployment's ``signed`` text describes.

    Raises ``DocumentError("DOC-VENUE")`` for a profile that Airlock does not take, and what the readers of types raise.
    """
    value = _read(json.loads(signed))
    structs = {name: intent_of(name, entry) for name, entry in _in_order(value["structs"], CATALOGUE)}
    calls = {name: _call(name, entry) for name, entry in _in_order(value["calls"], CALLS)}
    found: dict[bytes, str] = {}
    for name, call in calls.items():
        other = found.setdefault(selector_of(call.signature), name)
        if other != name:
            raise wrong_profile(f"calls.{name}", "one selector twice", call.signature, f"another than that of {other}")
    return Venue(structs, indexed(calls))


def _in_order(given: Mapping[str, Any], shipped: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the entries in the order in which they ship, and then the venue's own."""
    return [(name, given[name]) for name in {**shipped, **given} if name in given]


def venue_at(signed: str, contracts: Mapping[str, bytes]) -> Venue:
    """Return the venue of a deployment's ``signed`` text, whose own calls go to a contract that it pins, never to the token.

    A contract is told by its address: the token under another name is the token. Raises as :func:`venue_of`.
    """
    venue = venue_of(signed)
    for name, call in venue.calls.by_name.items():
        to = contracts.get(call.contract)
        if call.is_own and (to is None or to == contracts.get(_TOKEN)):
            what = "no contract of this deployment" if to is None else "this is the token, under another name"
            expected = ", ".join(sorted(each for each, at in contracts.items() if at != contracts.get(_TOKEN)))
            raise wrong_profile(f"calls.{name}.contract", what, call.contract, f"one of {expected}")
    return venue


def shipped() -> dict[str, Any]:
    """Return everything that ships, as a deployment has it."""
    return {"format": FORMAT, "structs": signed_of(CATALOGUE), "calls": _calls_signed(CALLS)}


def text_of(signed: Mapping[str, Any]) -> str:
    """Return a deployment's ``signed`` member as the text by which a venue is known within a process."""
    return json.dumps(signed, sort_keys=True, separators=(",", ":"))


def signed_of(structs: Mapping[str, Intent]) -> dict[str, Any]:
    """Return structs as a deployment has them."""
    return {
        name: {
            "encode_type": intent.encode_type,
            "abi_order": list(intent.abi_order),
            "leaves": {each.path: each.kind for each in intent.fields},
            **{member: getattr(intent, member) for member in FIXED},
        }
        for name, intent in structs.items()
    }


def _calls_signed(calls: Mapping[str, Call]) -> dict[str, Any]:
    return {
        name: {"signature": call.signature, "leaves": {each.path: each.kind for each in call.fields}}
        for name, call in calls.items()
    }


# ---- reading --------------------------------------------------------------------------------------------------------


def _read(value: Any) -> dict[str, Any]:
    require_form(value)
    read_members(value, "signed", {"format": str, "structs": dict, "calls": dict})
    needed: dict[str, type] = {"encode_type": str, "leaves": dict, **dict.fromkeys(FIXED, str), "abi_order": list}
    for name, entry in value["structs"].items():
        read_members(entry, f"structs.{name}", needed)
    for name, entry in value["calls"].items():
        read_members(entry, f"calls.{name}", {"signature": str, "leaves": dict}, {"value": str, "contract": str})
    for part in ("structs", "calls"):
        if len(value[part]) > MAX_OF_EACH:
            raise wrong_profile(part, "too many", str(len(value[part])), f"at most {MAX_OF_EACH}")
    return value  # type: ignore[no-any-return]


def require_form(value: Any) -> None:
    """Raise ``DocumentError("DOC-VENUE")`` for what is no profile of this format."""
    if type(value) is not dict or value.get("format") != FORMAT:
        raise wrong_profile("format", "not a profile of what a venue signs", repr(format_of(value))[:80], FORMAT)


def intent_of(name: str, entry: Mapping[str, Any]) -> Intent:
    """Return the struct that an entry of ``structs`` describes. Raises ``DocumentError("DOC-VENUE")``."""
    where, text = f"structs.{name}", entry["encode_type"]
    types = struct_types(where, name, text)
    leaves = dict(leaves_of(types, name))
    fields = _fields(where, entry["leaves"], leaves)
    order = tuple(entry["abi_order"])
    members = [member["name"] for member in types[name]]
    if order and sorted(map(str, order)) != sorted(members):
        raise wrong_profile(f"{where}.abi_order", "not the struct's members", str(list(order))[:200], str(members))
    order = () if list(order) == members else order
    shipped = CATALOGUE.get(name)
    if shipped is None:
        return _own_intent(where, name, entry, fields, order)
    for member in FIXED:
        if entry[member] != getattr(shipped, member):
            raise wrong_profile(f"{where}.{member}", "no profile changes this", entry[member], getattr(shipped, member))
    fields = _as_shipped(where, fields, shipped.fields, {ZERO, DEADLINE})
    account = next(each.kind for each in shipped.fields if each.path == shipped.trader)
    return shipped._replace(
        encode_type=text,
        trader=path_of(fields, account),
        nonce=path_of(fields, NONCE_KIND),
        deadline=path_of(fields, DEADLINE),
        fields=fields,
        abi_order=order,
    )


def struct_types(where: str, name: str, text: str) -> dict[str, list[dict[str, str]]]:
    """Return the types of an ``encodeType`` text that is one, letter by letter, and whose names mean nothing else.

    Raises ``DocumentError("DOC-VENUE")``.
    """
    if not ENCODE_TYPE.fullmatch(text) or len(text) > MAX_CHARACTERS:
        raise wrong_profile(
            where, "not an encodeType without arrays", text[:200], "such as CancelReq(address trader,uint256 nonce)"
        )
    types = types_of_text(text)
    try:
        same = next(iter(types)) == name and read_types(types).encode_type(name) == text
    except Refusal as refusal:
        raise wrong_profile(where, refusal.what, text[:200], refusal.expected) from refusal
    if not same:
        raise wrong_profile(
            where, "not an encodeType", text[:200], f"{name} first, then what it refers to, by name, each once"
        )
    own = {name} & CATALOGUE.keys()
    if taken := [other for other in types if other not in own and other.lower() in _MEANT]:
        raise wrong_profile(where, "the name of another struct, or nearly that", taken[0], "another name")
    _require_end(where, types)
    return types


def _require_end(where: str, types: Mapping[str, list[dict[str, str]]]) -> None:
    """Refuse structs within themselves, of which there is no value, and more leaves than people are shown.

    A text of 3,000 characters can have more leaves than any machine has memory for: each struct several times in the next.
    """
    leaves: dict[str, int] = {}
    while ready := [
        name
        for name, members in types.items()
        if name not in leaves and all(member["type"] in leaves or member["type"] not in types for member in members)
    ]:
        for name in ready:
            leaves[name] = sum(leaves.get(member["type"], 1) for member in types[name])
    if endless := sorted(types.keys() - leaves.keys()):
        raise wrong_profile(where, "a struct within itself", ", ".join(endless)[:200], "structs that end")
    if max(leaves.values()) > MAX_LEAVES:
        raise wrong_profile(where, "too many leaves", str(max(leaves.values()))[:80], f"at most {MAX_LEAVES}")


def _fields(where: str, kinds: Mapping[str, Any], leaves: Mapping[str, str]) -> tuple[Field, ...]:
    """Return a leaf's field for each path, in the struct's own order."""
    if set(kinds) != set(leaves):
        missing, unknown = sorted(set(leaves) - set(kinds)), sorted(set(kinds) - set(leaves))
        raise wrong_profile(
            f"{where}.leaves", "not every leaf once", f"missing {missing}, unknown {unknown}"[:200], "each leaf"
        )
    fields, seen = [], set()
    for path, solidity in leaves.items():
        kind, label = _kind_and_label(f"{where}.leaves.{path}", kinds[path])
        if type(kind) is not str or kind not in KINDS:
            raise wrong_profile(
                f"{where}.leaves.{path}", "no kind of the list", repr(kind)[:80], "see docs/reference/venue-profile.md"
            )
        if not holds(kind, solidity):
            raise wrong_profile(
                f"{where}.leaves.{path}", f"a {kind} is not of this type", solidity, KINDS[kind].solidity
            )
        if one_of(kind) in seen and kind not in SEVERAL:
            raise wrong_profile(f"{where}.leaves.{path}", "this kind twice", kind, "each once")
        seen.add(one_of(kind))
        fields.append(field(path, kind)._replace(label=label))
    return tuple(fields)


def _kind_and_label(where: str, entry: Any) -> tuple[Any, str]:
    """Return what a leaf is, which may be no kind, and the label that stands beside its name; empty without one."""
    if type(entry) is not dict:
        return entry, ""
    read_members(entry, where, {"kind": str, "label": str})
    if not _LABEL.fullmatch(entry["label"]):
        expected = "1 to 60 printable ASCII characters without quotation marks and backslashes, no space at an end"
        raise wrong_profile(where, "not a label", repr(entry["label"])[:80], expected)
    return entry["kind"], entry["label"]


def holds(kind: str, solidity: str) -> bool:
    """Tell whether a Solidity type can hold a leaf of this kind."""
    found, wanted = atomic_kind(solidity), KINDS[kind].solidity
    return found is not None and (wanted == "any" or solidity == wanted or found[0] == wanted)


def _as_shipped(where: str, fields: tuple[Field, ...], shipped: tuple[Field, ...], more: set[str]) -> tuple[Field, ...]:
    """Return the fields with the meanings that ship. Raises ``DocumentError`` for too few kinds, or too many."""
    own = {(each.path, each.kind): each.meaning for each in shipped}
    usual = {each.kind: each.meaning for each in shipped if each.kind not in SEVERAL}
    have, known = {one_of(each.kind) for each in fields}, {one_of(each.kind) for each in shipped}
    if missing := sorted(known - have - MAY_BE_LEFT_OUT):
        raise wrong_profile(
            f"{where}.leaves", "a leaf that Airlock judges is left out", "no " + ", ".join(missing), "each of them"
        )
    if unknown := sorted(have - known - more):
        raise wrong_profile(
            f"{where}.leaves", "a leaf that nothing here decides", ", ".join(unknown), "the kinds that ship for it"
        )
    return tuple(
        each._replace(meaning=own.get((each.path, each.kind)) or usual.get(each.kind) or each.meaning)
        for each in fields
    )


def _own_intent(
    where: str, name: str, entry: Mapping[str, Any], fields: tuple[Field, ...], order: tuple[str, ...]
) -> Intent:
    """Return a struct that does not ship: the plan decides every leaf by its raw value, but for times and nonce."""
    for member, choices in (("domain", DOMAINS), ("signer_rule", SIGNER_RULES), ("route", PINNABLE)):
        if entry[member] not in choices:
            raise wrong_profile(f"{where}.{member}", "not one of these", entry[member][:80], ", ".join(choices))
    accounts = [each.path for each in fields if each.kind in _ACCOUNTS]
    if len(accounts) != 1 or not path_of(fields, NONCE_KIND):
        raise wrong_profile(
            f"{where}.leaves", "whom it speaks for, and its nonce", str(accounts), "one account and one nonce"
        )
    own = tuple(each._replace(rule=_own_rule(each)) for each in fields)
    return Intent(
        name, entry["encode_type"], f"{name}, a struct of this venue's profile", entry["domain"], entry["signer_rule"],
        entry["route"], accounts[0], path_of(fields, NONCE_KIND), path_of(fields, DEADLINE), own, order,
    )  # fmt: skip


def _own_rule(leaf: Field) -> Rule:
    if leaf.kind in (DEADLINE, NONCE_KIND):
        return leaf.rule._replace(parameter=leaf.path)
    return leaf.rule if leaf.kind == SIGNED_AT else _raw_rule(leaf)


def _raw_rule(leaf: Field) -> Rule:
    """Return the rule of a leaf that the plan gives as it is signed; of a slippage its limit goes on to bind."""
    if leaf.kind == ZERO:
        return leaf.rule
    return Rule("plan", leaf.path, leaf.rule.limit if leaf.kind == SLIPPAGE else "")


def _call(name: str, entry: Mapping[str, Any]) -> Call:
    where, signature, shipped = f"calls.{name}", entry["signature"], CALLS.get(name)
    fee = "value" in entry
    if fee and entry["value"] != FEE:
        raise wrong_profile(f"{where}.value", "what is sent with a call is a fee, or nothing", entry["value"][:80], FEE)
    if shipped is not None and "contract" in entry:
        raise wrong_profile(f"{where}.contract", "no profile changes this", entry["contract"][:80], shipped.contract)
    if shipped is None or fee or signature != shipped.signature:
        require_harmless(where, signature, shipped)
    arguments = arguments_of(signature)
    names = [[argument.name for argument in arguments], *([name for name, _ in each.members] for each in arguments)]
    if any(len(set(each)) < len(each) for each in names):
        raise wrong_profile(
            where, "two arguments of one name, of which one would be shown", signature[:200], "a name for each"
        )
    leaves = {path: solidity for argument in arguments for path, solidity in argument_leaves(argument)}
    fields = _fields(where, entry["leaves"], leaves)
    if shipped is None:
        return _own_call(where, name, entry, fields)._replace(fee=fee)
    fields = _as_shipped(where, fields, shipped.fields, {ZERO})
    return shipped._replace(signature=signature, fields=fields, known_as=name, fee=fee)


def _own_call(where: str, name: str, entry: Mapping[str, Any], fields: tuple[Field, ...]) -> Call:
    """Return a call that does not ship: the plan decides every argument by its raw value, and no delegate makes it."""
    function, contract = entry["signature"].partition("(")[0], entry.get("contract", "")
    if name != function:
        raise wrong_profile(where, "a call that does not ship has its function's name", name[:80], function)
    if not _CONTRACT.fullmatch(contract):
        expected = f"one that is pinned, but for {_TOKEN}"
        raise wrong_profile(f"{where}.contract", "not a contract of the venue", contract[:80], expected)
    if taken := sorted({each.path.partition(".")[0] for each in fields} & {"call", "struct"}):
        raise wrong_profile(
            f"{where}.leaves", "a name that a plan's step has for something else", taken[0], "another name"
        )
    if any(solidity == "bytes" for each in arguments_of(entry["signature"]) for _, solidity in argument_leaves(each)):
        raise wrong_profile(
            where, "bytes can hide another call", entry["signature"][:200], "arguments that can be shown"
        )
    own = tuple(each._replace(rule=_raw_rule(each)) for each in fields)
    return Call(entry["signature"], f"{name}, a call of this venue's profile", contract, own)


def argument_leaves(argument: Argument) -> list[tuple[str, str]]:
    """Return the path and the type of each leaf of an argument."""
    if not argument.members:
        return [(argument.name, argument.type)]
    return [(f"{argument.name}.{member}", solidity) for member, solidity in argument.members]


def require_harmless(where: str, signature: str, shipped: Call | None) -> None:
    """Refuse a signature that could be another function's: by its name, or by a selector that somebody searched for."""
    if not _SIGNATURE.fullmatch(signature) or len(signature) > MAX_CHARACTERS:
        raise wrong_profile(
            where, "not a signature with argument names", signature[:200], f"such as {CALLS['setDelegate'].signature}"
        )
    if shipped is not None and shipped.name == "approve":
        raise wrong_profile(where, "approve is the token's, and not the venue's", signature[:200], shipped.signature)
    own = (shipped.signature, canonical(signature)) if shipped is not None else ("", "")
    others = [each.signature for each in CALLS.values() if (each.signature, canonical(each.signature)) != own]
    names = {other.partition("(")[0].lower() for other in (*NEVER, *others) if other != own[0]}
    if signature.partition("(")[0].lower() in names:
        raise wrong_profile(where, "the name of another function", signature[:200], "the venue's own function")
    for other in (*NEVER, *others):
        if selector_of(other) == selector_of(signature):
            raise wrong_profile(
                where, "it has the selector of another function", signature[:200], f"not that of {canonical(other)}"
            )


def wrong_profile(where: str, what: str, got: str, expected: str) -> DocumentError:
    """Return the error of a profile that Airlock does not take, with its place."""
    do = "correct the profile, or compare it with the venue's contract; docs/reference/venue-profile.md has its rules"
    error = DocumentError("DOC-VENUE", what, got=got, expected=expected, do=do)
    error.where = where
    return error
