"""What was promised of delegates, read back from the builder's read of a delegation, and from the chain beside it."""

from __future__ import annotations

from airlock_online.clients.reply_values import delegation_read, reply_names, whole
from airlock_online.clients.rpc import ContractViews, RpcClient
from airlock_online.readback.expectations import BY_THE_CHAIN, Expectation, JudgedRead, ReadBack, Scene, read_of
from airlock_shared.documents.deployment import Deployment
from airlock_shared.errors import ServiceError
from airlock_shared.ethereum.signatures import parse_address
from airlock_shared.text.safe import safe
from airlock_shared.units import looks_like_seconds, span_text, utc_text

_PERMISSIONS = {"may sign intents": "canSignIntents", "may send calls": "canDelegatedAction"}
_REMOVED_S = 0
"""The expiry of no delegate, by the chain and of what was promised."""


def able_now(read: object, on_chain_s: int | None, now_ms: int) -> dict[str, tuple[bool | None, str]]:
    """Return what a delegate can do now, by a read of its delegation: whether, and why not; None where that is not known.

    ``on_chain_s`` is its expiry by the operator's node, which goes before the read; None where no node tells it.
    Keys are ``can sign intents now`` and ``can send calls now``. An expiry with the magnitude of milliseconds is none.
    """
    told = read if type(read) is dict else {}
    enabled, until = told.get("isEnabled"), whole(told.get("expiry"))
    if type(enabled) is not bool:
        standing: tuple[bool | None, str] = None, "nobody told whether it is enabled"
    elif not enabled:
        standing = False, "it is not enabled"
    elif until is None:
        standing = None, "nobody told when it expires"
    elif not looks_like_seconds(until):
        standing = None, f"its expiry, {until}, is in milliseconds, not seconds: remove it, and register it anew"
    elif until * 1000 <= now_ms:
        standing = False, f"it expired {span_text(now_ms // 1000 - until)} ago"
    else:
        standing = True, ""
    if on_chain_s is not None and on_chain_s * 1000 <= now_ms:
        standing = False, "by the chain it is not enabled"
    elif on_chain_s is not None and not standing[0]:
        standing = None, f"{standing[1]}; by the chain it is enabled"
    able: dict[str, tuple[bool | None, str]] = {}
    for label, name in _PERMISSIONS.items():
        may = told.get(name)
        lacking = (None, "nobody told whether it may") if type(may) is not bool else (may, "" if may else "it may not")
        able[f"{label.replace('may', 'can')} now"] = standing if standing[0] is not True else lacking
    return able


def _registered(scene: Scene) -> list[Expectation]:
    """Expect that the delegate is enabled until the moment that was signed, may sign intents, and may send calls."""
    return _read(scene, whole(scene.request.fields["expirySeconds"]))


def removed(scene: Scene) -> list[Expectation]:
    """Expect that a delegate that was removed is not enabled, and that no permission of it is told to be left."""
    return _read(scene, _REMOVED_S)


def _read(scene: Scene, expiry: int | None) -> list[Expectation]:
    """Return what is expected of a delegation, as the builder reads it, and by the chain where that tells it."""
    fields = {name: scene.request.fields[name] for name in ("trader", "delegate")}
    what = f"delegate {safe(fields['delegate'])} of {safe(fields['trader'])}"
    promised, on_chain = _standing_text(expiry != _REMOVED_S, expiry, scene.now_ms), []
    until = delegation_on_chain(scene.node, scene.deployment, **fields)[0] if scene.node else None
    if until is not None:
        found = _standing_text(until, until, scene.now_ms)
        on_chain = [Expectation(what + BY_THE_CHAIN, promised, found, until == expiry)]
    told = scene.builder.read_or_error("delegation", fields)
    told = delegation_read(told, scene.config.speech.replies["delegation"])
    read = read_of(told, reply_names(told, **fields), ", ".join(fields))
    may = {label: read.members.get(name) for label, name in _PERMISSIONS.items()}
    enabled = read.members.get("isEnabled")
    if type(enabled) is not bool:
        return [read.expect(what, promised, None), *on_chain]
    if expiry == _REMOVED_S:
        left = [label for label, told in may.items() if told is True]
        found = "enabled" if enabled else f"not enabled, but it {' and '.join(left)}" if left else "not enabled"
        return [read.expect(what, promised, (found, not enabled and not left)), *on_chain]
    until = whole(read.members.get("expiry"))
    found = _standing_text(enabled, until, scene.now_ms)
    kept = False if not enabled else None if until is None else until == expiry
    permissions = [read.expect(what, label, _permission(label, told)) for label, told in may.items()]
    return [read.expect(what, promised, (found, kept)), *permissions, *on_chain]


def _permission(promised: str, may: object) -> JudgedRead:
    if type(may) is not bool:
        return "not told", None
    return promised if may else f"may not {promised.removeprefix('may ')}", may


def _standing_text(enabled: object, until_s: int | None, now_ms: int) -> str:
    """Return for a person whether a delegate is enabled, and until when."""
    if not enabled:
        return "not enabled"
    if until_s is None:
        return "enabled until an unknown time"
    span = span_text(abs(until_s - now_ms // 1000))
    away = f"in {span}" if until_s * 1000 > now_ms else f"{span} ago"
    return f"enabled until {utc_text(until_s * 1000)} ({away}; raw {until_s})"


DELEGATE_READS: ReadBack = {"delegate": _registered, "delegate-set": _registered, "delegate-remove": removed}
"""By action."""

# ---- contract views -------------------------------------------------------------------------------------------------
# What the pinned contracts tell a node by their own views, each of which takes words and returns one.
# Nothing is raised for what a node answers: what cannot be read is not told, and why.


DELEGATIONS = "multipleDelegations(address,address)"  # 0x21ae831b: until when (unix s), 0 for none


def delegation_on_chain(node: RpcClient, deployment: Deployment, trader: str, delegate: str) -> tuple[int | None, str]:
    """Return until when the pinned trading contract has a delegate (unix s, 0 for not at all); None: not told, and why."""
    return _number(node, deployment, deployment.domains["trading"].contract, DELEGATIONS, trader, delegate)


def allowance_on_chain(node: RpcClient, deployment: Deployment, owner: str, spender: str) -> int | None:
    """Return how much a spender may take by the pinned token (ERC-20, ``allowance``), raw; None where that is not told."""
    return _number(node, deployment, deployment.contracts["usdc"], "allowance(address,address)", owner, spender)[0]


def _number(
    node: RpcClient, deployment: Deployment, contract: bytes, view: str, *accounts: str
) -> tuple[int | None, str]:
    """Return the number that a contract's view of two accounts tells a node; None is "not told", and why."""
    try:
        views = ContractViews(node, deployment, contract)
        word = views.word(view, *map(parse_address, accounts))
    except ServiceError as error:
        return None, error.what
    return int.from_bytes(word, "big") if word else None, "; ".join(views.troubles)
