"""What is signed at one venue: its structs and calls, where they differ from the shipped catalogue, as people pinned them.

A venue's profile (``airlock/venue-signed@1``) chooses for every leaf one of the closed list of kinds
(:mod:`airlock_shared.venue.structs`). It is resolved against the shipped catalogue once, on the online machine, and the
whole result is pinned with the deployment: what a later release ships changes nothing of it. Who may sign a shipped struct,
under which domain, where it is sent, and which checks judge it is code, and in no profile. The specification leaves these
shapes open: "Intent message structs" and "Builder: unsigned transactions" show members and names, not types.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeVar

from airlock_shared.errors import DocumentError, Refusal, quoted
from airlock_shared.ethereum.eip712 import Definitions, atomic_kind
from airlock_shared.ethereum.struct_types import DOMAIN_TYPE, Structs, leaves_of, structs_of
from airlock_shared.venue.calls import (
    CALLS,
    DELEGATED_SIGNATURE,
    Call,
    Calls,
    canonical,
    function_of,
    selector_of,
    structs_of_call,
)
from airlock_shared.venue.structs import (
    ACCOUNT_KINDS,
    CATALOGUE,
    DEADLINE,
    LEAF_KINDS,
    MAY_BE_LEFT_OUT,
    NONCE_KIND,
    PINNABLE,
    SEVERAL,
    SIGNED_AT,
    SLIPPAGE,
    ZERO,
    Field,
    Intent,
    Rule,
    checked_kind,
    field,
    path_of,
)
from airlock_shared.wire.strict_json import LABEL, error_at, format_of, raise_first, read_members

VENUE_FORMAT = "airlock/venue-signed@1"
MAX_OF_EACH, _MAX_CHARACTERS, _MAX_LEAVES = 64, 3000, 200
"""Structs and calls of a profile, the text of one, and a struct's leaves: what people are still shown whole."""

_SHOWN = 200

FEE = "fee"
"""The only reason for which native currency may be sent with a call; the plan bounds it."""

NEVER = (
    "approve(address a,uint256 b)", "increaseAllowance(address a,uint256 b)", "transfer(address a,uint256 b)",
    "transferFrom(address a,address b,uint256 c)", "setApprovalForAll(address a,bool b)",
    "permit(address a,address b,uint256 c,uint256 d,uint8 e,bytes32 f,bytes32 g)", "upgradeTo(address a)",
    "safeTransferFrom(address a,address b,uint256 c)", "upgradeToAndCall(address a,bytes b)",
    "transferOwnership(address a)", "renounceOwnership()", "grantRole(bytes32 a,address b)", "multicall(bytes[] a)",
    "multicall(uint256 a,bytes[] b)", "execute(address a,uint256 b,bytes c)", DELEGATED_SIGNATURE,
)  # fmt: skip
"""Functions that no profile may reach, by their names or by a signature that has the same selector."""

ENCODE_TYPE = re.compile(r"(?:[A-Za-z_]\w{0,63}\(\w+ \w+(?:,\w+ \w+)*\)){1,16}", re.ASCII)
_ARGUMENT = r"(?:\w+|\(\w+ \w+(?:,\w+ \w+)*\)) \w+"
_SIGNATURE = re.compile(rf"[A-Za-z_]\w{{0,63}}\((?:{_ARGUMENT}(?:,{_ARGUMENT})*)?\)", re.ASCII)
_EXECUTING = re.compile(r"(?:[A-Za-z_]\w{0,63}\(bytes (?:signature,bytes intent|intent,bytes signature)\))?", re.ASCII)
FIXED = {"domain": ("trading", "referral"), "signer_rule": ("trader-only", "trader-or-delegate"), "route": PINNABLE}
"""What the specification says of a shipped struct, and no profile changes; what a struct of the venue alone may have."""

_MEANT = {name.lower() for name in (DOMAIN_TYPE, *CATALOGUE)}
"""The names of primary types that mean something here, in small letters: no other struct has one in any case."""

_TOKEN, _CONTRACT = "usdc", re.compile(r"[A-Za-z][A-Za-z0-9]{0,63}", re.ASCII)

_Read = TypeVar("_Read")


class Venue(NamedTuple):
    """What is signed at a venue: its structs by primary type, and its calls."""

    structs: Mapping[str, Intent]
    calls: Calls


def venue_of(signed: Any) -> Venue:
    """Return the venue that a deployment's member ``signed`` describes.

    Raises ``DocumentError("DOC-VENUE")`` for a profile that Airlock does not take, with every other mistake as its
    ``more``, and what the readers of types raise.
    """
    wrong: list[DocumentError] = []
    require_form(signed)
    read_members(signed, "signed", {"format": str, "structs": dict, "calls": dict})
    for part in ("structs", "calls"):
        if len(signed[part]) > MAX_OF_EACH:
            raise wrong_profile(part, "too many", str(len(signed[part])), f"at most {MAX_OF_EACH}")
    structs = read_each(_in_order(signed["structs"], CATALOGUE), _intent, wrong)
    calls = read_each(_in_order(signed["calls"], CALLS), _call, wrong)
    found: dict[bytes, str] = {}
    for name, call in calls.items():
        other = found.setdefault(selector_of(call.signature), name)
        if other != name:
            wrong += [
                wrong_profile(f"calls.{name}", "one selector twice", call.signature, f"another than that of {other}")
            ]
    raise_first(wrong)
    return Venue(structs, calls)


def read_each(
    entries: Iterable[tuple[str, Any]], read: Callable[[str, Any], _Read], wrong: list[DocumentError]
) -> dict[str, _Read]:
    """Return what each entry is read as, by its name. A ``DocumentError`` of one goes to ``wrong``, and hides no other."""
    found = {}
    for name, entry in entries:
        try:
            found[name] = read(name, entry)
        except DocumentError as error:
            wrong += (error, *error.more)
    return found


def _in_order(given: Mapping[str, Any], shipped: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the entries as they ship, and then the venue's own by name, in whatever order the document has them."""
    return [(name, given[name]) for name in [*shipped, *sorted(given.keys() - shipped)] if name in given]


def venue_at(signed: Any, contracts: Mapping[str, bytes]) -> Venue:
    """Return the venue of a deployment's ``signed``, whose own calls go to a contract that it pins, not to the token.

    A contract is told by its address: the token under another name is the token. Raises as :func:`venue_of`.
    """
    venue = venue_of(signed)
    for name, call in venue.calls.items():
        if call.is_own or call.contract != CALLS[name].contract:
            require_contract(name, call.contract, contracts)
    return venue


def require_contract(name: str, contract: str, contracts: Mapping[str, bytes | str]) -> None:
    """Raise ``DocumentError("DOC-VENUE")`` for a contract of a profile that is none of these, or is the token."""
    known = sorted(each for each, at in contracts.items() if at != contracts.get(_TOKEN))
    if contract not in known:
        what = "this is the token, under another name" if contract in contracts else "no contract of this deployment"
        raise wrong_profile(f"calls.{name}.contract", what, contract, f"one of {', '.join(known)}", known)


# ---- reading --------------------------------------------------------------------------------------------------------


def require_form(value: Any) -> None:
    """Raise ``DocumentError("DOC-VENUE")`` for what is no profile of this format."""
    if type(value) is not dict or value.get("format") != VENUE_FORMAT:
        raise wrong_profile("format", "not a profile of what a venue signs", quoted(format_of(value)), VENUE_FORMAT)


def _intent(name: str, entry: Any) -> Intent:
    """Return the struct that an entry of ``structs`` describes. Raises ``DocumentError``, with its other mistakes."""
    where, shipped = f"structs.{name}", CATALOGUE.get(name)
    texts = dict.fromkeys(("encode_type", "executing", *FIXED), str)
    read_members(entry, where, {**texts, "leaves": dict, "abi_order": list})
    structs = struct_types(where, name, entry["encode_type"])
    leaves, members = dict(leaves_of(structs, name)), list(dict(structs[name]))
    order = () if entry["abi_order"] == members else tuple(entry["abi_order"])
    wrong = [*_in_struct(where, entry, members, shipped)]
    fields = _fields(f"{where}.leaves", entry["leaves"], leaves, wrong)
    raise_first(wrong)
    accounts = [each.path for each in fields if each.kind in ACCOUNT_KINDS]
    if shipped is not None:
        fields, title = _as_shipped(where, fields, shipped.fields, {ZERO, DEADLINE}), shipped.title
    elif len(accounts) != 1 or not path_of(fields, NONCE_KIND):
        raise wrong_profile(
            f"{where}.leaves", "whom it speaks for, and its nonce", str(accounts), "one account and one nonce"
        )
    else:
        fields = tuple(_own_rule(each, of_struct=True) for each in fields)
        title = f"{name}, a struct of this venue's profile"
    return Intent(
        name,
        entry["encode_type"],
        title,
        entry["domain"],
        entry["signer_rule"],
        entry["route"],
        fields,
        order,
        shipped.order_types if shipped else None,
        entry["executing"],
    )


def _in_struct(
    where: str, entry: Mapping[str, Any], members: list[str], shipped: Intent | None
) -> Iterator[DocumentError]:
    """Yield what is wrong with an entry beside its leaves."""
    if entry["abi_order"] and sorted(map(repr, entry["abi_order"])) != sorted(map(repr, members)):
        yield wrong_profile(f"{where}.abi_order", "not the struct's members", str(entry["abi_order"]), str(members))
    if not _EXECUTING.fullmatch(entry["executing"]):
        yield wrong_profile(
            f"{where}.executing",
            "not the call that executes it",
            entry["executing"],
            "such as setDelegateWithSig(bytes signature,bytes intent), these two in either order",
        )
    for member, choices in FIXED.items():
        may = choices if shipped is None else (getattr(shipped, member),)
        if entry[member] not in may:
            what = "not one of these" if shipped is None else "no profile changes this"
            yield wrong_profile(
                f"{where}.{member}", what, entry[member][:80], ", ".join(may), () if shipped else choices
            )


def struct_types(where: str, name: str, text: str) -> Structs:
    """Return the struct types of an ``encodeType`` text that is one, letter by letter, and whose names mean nothing else.

    Raises ``DocumentError("DOC-VENUE")``.
    """
    if not ENCODE_TYPE.fullmatch(text) or len(text) > _MAX_CHARACTERS:
        raise wrong_profile(
            where, "not an encodeType without arrays", text, "such as CancelReq(address trader,uint256 nonce)"
        )
    structs = structs_of(text)
    try:
        same = next(iter(structs)) == name and Definitions(structs).encode_type(name) == text
    except Refusal as refusal:
        raise wrong_profile(where, refusal.what, text, refusal.expected) from refusal
    if not same:
        raise wrong_profile(
            where, "not an encodeType", text, f"{name} first, then what it refers to, by name, each once"
        )
    own = {name} & CATALOGUE.keys()
    if taken := [other for other in structs if other not in own and other.lower() in _MEANT]:
        raise wrong_profile(where, "the name of another struct, or nearly that", taken[0], "another name")
    # a text of 3,000 characters can have more leaves than any machine has memory for: each struct several times in the next
    leaves: dict[str, int] = {}
    for _ in structs:  # each time round, what refers to nothing that is not counted yet
        leaves |= {
            name: sum(leaves.get(member.type, 1) for member in members)
            for name, members in structs.items()
            if all(member.type in leaves or member.type not in structs for member in members)
        }
    if endless := sorted(structs.keys() - leaves.keys()):
        raise wrong_profile(where, "a struct within itself", ", ".join(endless), "structs that end")
    if max(leaves.values()) > _MAX_LEAVES:
        raise wrong_profile(where, "too many leaves", str(max(leaves.values()))[:80], f"at most {_MAX_LEAVES}")
    return structs


def _fields(
    where: str, kinds: Mapping[str, Any], leaves: Mapping[str, str], wrong: list[DocumentError]
) -> tuple[Field, ...]:
    """Return a leaf's field for each path, in the struct's own order; what is wrong with a leaf goes to ``wrong``."""
    missing, unknown = sorted(leaves.keys() - kinds.keys()), sorted(kinds.keys() - leaves.keys())
    if missing or unknown:
        got = f"missing {missing}, unknown {unknown}"
        wrong.append(wrong_profile(where, "not every leaf once", got, "each leaf", leaves, unknown))
    given = [(path, kinds[path]) for path in leaves if path in kinds]
    fields = read_each(given, partial(_field, where, leaves), wrong)
    seen = set()
    for path, each in fields.items():
        kind = checked_kind(each.kind)
        if kind in seen and kind not in SEVERAL:
            wrong.append(wrong_profile(f"{where}.{path}", "this kind twice", each.kind, "each once"))
        seen.add(kind)
    return tuple(fields.values())


def _field(where: str, leaves: Mapping[str, str], path: str, entry: Any) -> Field:
    """Return a leaf of the kind, and with the label beside its name, that an entry of ``leaves`` gives."""
    where, kind, label = f"{where}.{path}", entry, ""
    if type(entry) is dict:
        read_members(entry, where, {"kind": str, "label": str})
        kind, label = entry["kind"], entry["label"]
        if not LABEL.pattern.fullmatch(label):
            raise wrong_profile(where, "not a label", quoted(label), LABEL.what)
    if type(kind) is not str or kind not in LEAF_KINDS:
        raise wrong_profile(
            where,
            "no kind of the list",
            str(kind)[:80],
            "a plan's member, or opened-ms, signed-at, terms, zero or raw",
            LEAF_KINDS,
        )
    if not holds(kind, leaves[path]):
        raise wrong_profile(where, f"a {kind} is not of this type", leaves[path], LEAF_KINDS[kind].solidity)
    return field(path, kind)._replace(label=label)


def holds(kind: str, solidity: str) -> bool:
    """Tell whether a Solidity type can hold a leaf of this kind."""
    found, wanted = atomic_kind(solidity), LEAF_KINDS[kind].solidity
    return found is not None and (wanted == "any" or solidity == wanted or found[0] == wanted)


def _as_shipped(where: str, fields: tuple[Field, ...], shipped: tuple[Field, ...], more: set[str]) -> tuple[Field, ...]:
    """Return the fields with the meanings that ship. Raises ``DocumentError`` for another kind at a path, or of too few."""
    own = {each.path: each for each in shipped}
    usual = {each.kind: each.meaning for each in shipped if each.kind not in SEVERAL}
    have, known = {checked_kind(each.kind) for each in fields}, {checked_kind(each.kind) for each in shipped}
    for each in fields:
        if checked_kind(each.kind) != (ships := checked_kind(own.get(each.path, each).kind)):
            raise wrong_profile(f"{where}.leaves.{each.path}", "it ships with another meaning", each.kind, ships)
    if missing := sorted(known - have - MAY_BE_LEFT_OUT):
        raise wrong_profile(
            f"{where}.leaves", "a leaf that Airlock judges is left out", "no " + ", ".join(missing), "each of them"
        )
    if unknown := sorted(have - known - more):
        raise wrong_profile(
            f"{where}.leaves",
            "a leaf that nothing here decides",
            ", ".join(unknown),
            "the kinds that ship for it",
            known,
        )
    return tuple(
        each._replace(meaning=own[each.path].meaning if each.path in own else usual.get(each.kind, each.meaning))
        for each in fields
    )


def _own_rule(leaf: Field, *, of_struct: bool) -> Field:
    """Return a leaf of what this venue alone has, with who decides it.

        leaf             of a struct                         of a call
        zero             nobody: it is 0                     nobody: it is 0
        signed-at        the builder                         the plan
        nonce, deadline  the plan, else the builder          the plan
        any other        the plan, as it is signed           the plan, as it is signed

    The plan's member has the leaf's own path for a name. Of a slippage the plan's limit goes on to bind. In what ships, its
    kind's rule decides a leaf (``LEAF_KINDS``).
    """
    if leaf.kind == ZERO or (of_struct and leaf.kind == SIGNED_AT):
        return leaf
    if of_struct and leaf.kind in (DEADLINE, NONCE_KIND):
        return leaf._replace(rule=leaf.rule._replace(parameter=leaf.path))
    return leaf._replace(rule=Rule("plan", leaf.path, leaf.rule.limit if leaf.kind == SLIPPAGE else ""))


def _call(name: str, entry: Any) -> Call:
    where, shipped = f"calls.{name}", CALLS.get(name)
    read_members(entry, where, {"signature": str, "leaves": dict}, {"value": str, "contract": str})
    signature, fee = entry["signature"], "value" in entry
    if shipped is None or fee or signature != shipped.signature:
        require_harmless(where, signature, shipped)
    leaves = dict(leaves_of(structs_of_call(signature), ""))
    wrong = [*_in_call(where, name, entry, leaves)]
    fields = _fields(f"{where}.leaves", entry["leaves"], leaves, wrong)
    raise_first(wrong)
    if shipped is None:  # the plan decides every argument by its raw value, and no delegate makes it
        own = tuple(_own_rule(each, of_struct=False) for each in fields)
        return Call(signature, f"{name}, a call of this venue's profile", entry["contract"], own, fee=fee)
    fields = _as_shipped(where, fields, shipped.fields, {ZERO})
    to = entry.get("contract", shipped.contract)
    return shipped._replace(signature=signature, contract=to, fields=fields, known_as=name, fee=fee)


def _in_call(where: str, name: str, entry: Mapping[str, Any], leaves: Mapping[str, str]) -> Iterator[DocumentError]:
    """Yield what is wrong with an entry of ``calls`` beside its leaves."""
    signature, shipped = entry["signature"], CALLS.get(name)
    contract = entry.get("contract", shipped.contract if shipped else "")
    if entry.get("value", FEE) != FEE:
        yield wrong_profile(f"{where}.value", "what is sent with a call is a fee, or nothing", entry["value"][:80], FEE)
    if any(len(dict(members)) < len(members) for members in structs_of_call(signature).values()):
        yield wrong_profile(
            where, "two arguments of one name, of which one would be shown", signature, "a name for each"
        )
    if shipped is not None and shipped.fields and "contract" in entry:
        yield wrong_profile(f"{where}.contract", "no profile changes this", contract[:80], shipped.contract)
    if not _CONTRACT.fullmatch(contract):
        yield wrong_profile(
            f"{where}.contract", "not a contract of the venue", contract[:80], f"one that is pinned, but for {_TOKEN}"
        )
    if shipped is not None:
        return
    function = function_of(signature)
    if name != function:
        yield wrong_profile(where, "a call that does not ship has its function's name", name[:80], function)
    if taken := sorted({path.partition(".")[0] for path in leaves} & {"call", "struct"}):
        yield wrong_profile(
            f"{where}.leaves", "a name that a plan's step has for something else", taken[0], "another name"
        )
    if "bytes" in leaves.values():
        yield wrong_profile(where, "bytes can hide another call", signature, "arguments that can be shown")


def require_harmless(where: str, signature: str, shipped: Call | None) -> None:
    """Raise ``DocumentError("DOC-VENUE")`` for a signature that could be another function's.

    By its name, or by a selector that somebody searched for until it was the same.
    """
    if not _SIGNATURE.fullmatch(signature) or len(signature) > _MAX_CHARACTERS:
        raise wrong_profile(
            where,
            "not a signature with argument names and without arrays, whose entries nobody could be shown",
            signature,
            f"such as {CALLS['setDelegate'].signature}",
        )
    if shipped is not None and shipped.name == "approve":
        raise wrong_profile(where, "approve is the token's, and not the venue's", signature, shipped.signature)
    own = (shipped.signature, canonical(signature)) if shipped is not None else ("", "")
    others = [each.signature for each in CALLS.values() if (each.signature, canonical(each.signature)) != own]
    names = {function_of(other).lower() for other in (*NEVER, *others) if other != own[0]}
    if function_of(signature).lower() in names:
        raise wrong_profile(where, "the name of another function", signature, "the venue's own function")
    for other in (*NEVER, *others):
        if selector_of(other) == selector_of(signature):
            raise wrong_profile(
                where, "it has the selector of another function", signature, f"not that of {canonical(other)}"
            )


def wrong_profile(
    where: str, what: str, got: str, expected: str, known: Collection[str] = (), unknown: Collection[str] = ()
) -> DocumentError:
    """Return the error of a profile that Airlock does not take, with its place.

    Where names are known, ``got`` is none of them, or what it tells of are the ``unknown``.
    """
    do = "correct the profile, or compare it with the venue's contract; docs/reference/venue-profile.md has its rules"
    error = error_at("DOC-VENUE", do, where, what, got[:_SHOWN], expected)
    error.known, error.unknown = known, unknown or [error.got]
    return error
