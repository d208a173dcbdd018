"""A venue's profile, read from a file and resolved into a deployment: what is signed there, pinned as a whole."""

from __future__ import annotations

from typing import Any

from airlock_online.speech.forms import OF_STRUCT, meant, mistakes_text
from airlock_online.speech.sections import Speech
from airlock_shared.checks.model import STOP, Verdict
from airlock_shared.documents.deployment import Deployment
from airlock_shared.errors import DocumentError, UsageError
from airlock_shared.ethereum.struct_types import DOMAIN_TYPE, types_of
from airlock_shared.text.safe import safe
from airlock_shared.venue.profile_words import resolve_profile
from airlock_shared.venue.structs import CATALOGUE, CORE_API, TWAP
from airlock_shared.wire.strict_json import JsonObject, parse_json, refuse_floats

MAX_PROFILE_BYTES = 1 << 20


def add_venue_profile(document: JsonObject, data: bytes, file: str) -> JsonObject:
    """Return a deployment's document with a profile's result in it; ``file`` is the profile's name, safe to show.

    Raises ``DocumentError`` that names every mistake at once: ``DOC-VENUE`` for a profile that Airlock does not take, and
    what the codec raises.
    """
    try:
        profile = parse_json(data, max_bytes=MAX_PROFILE_BYTES)
        refuse_floats(profile)
        return {**document, "signed": resolve_profile(profile, document.get("contracts"))}
    except DocumentError as error:
        what = mistakes_text(file, [_mistake(each) for each in (error, *error.more)])
        do = "correct the file; docs/reference/venue-profile.md has its members and kinds"
        raise DocumentError(error.check, what, do=do) from error


def _mistake(error: DocumentError) -> str:
    what = f"{error.what}: {error.got}; expected {error.expected}" if error.expected else error.what
    meant_by = "".join(f"; {meant(name, error.known)}" for name in error.unknown if error.known)
    return f"{error.where}: {what}{meant_by}".removeprefix(": ")


_OF_PROFILES = ("TYPES-KNOWN", "TYPES-PINNED", "ENC-MATCH", "ENC-CANONICAL", "TX-SELECTOR")
_COMPARE = (
    "Compare both with the contract. Where it has it as the builder sends it, correct the profile, and fetch "
    "and pin the deployment again. Where it has not, sign nothing, and ask the venue."
)


def by_the_profile(verdict: Verdict) -> Verdict:
    """Return a refusal of what the builder just sent with the profile named as what may be wrong, where it may be.

    Nothing is altered yet on the way to here: that is the signing machine's to say, of what crossed the gap.
    """
    if verdict.check not in _OF_PROFILES or verdict.do != STOP:
        return verdict
    what = f"{verdict.what}{_differences(verdict)}" if verdict.check == "TYPES-PINNED" else verdict.what
    return verdict._replace(what=what, do=_COMPARE)


def _differences(verdict: Verdict) -> str:
    """Return which members the builder and the pinned profile have otherwise; empty for what is no type definition."""
    try:
        sent, pinned = (_members(types) for types in (verdict.got, types_of(str(verdict.expected))))
    except (AttributeError, KeyError, TypeError):
        return ""
    told = [
        f"{name} is {sent.get(name, 'nothing')} at the builder, and {pinned.get(name, 'nothing')} in the profile"
        for name in sent | pinned
        if sent.get(name) != pinned.get(name)
    ]
    return f": {safe('; '.join(told or ['the members are in another order']), limit=400)}"


def _members(types: Any) -> dict[str, str]:
    return {
        f"{struct}.{member['name']}": member["type"]
        for struct, members in types.items()
        for member in members
        if struct != DOMAIN_TYPE
    }


def require_deliverable(deployment: Deployment, speech: Speech) -> None:
    """Raise ``UsageError`` before anybody signs a struct of the venue's own that ``submit`` could not send.

    And for what the services file says of a struct that is not signed here by that route: its name is misspelt.
    """
    for name, intent in deployment.structs.items():
        if name not in CATALOGUE and intent.route in (TWAP, CORE_API) and f"{intent.route}-{name}" not in speech.bodies:
            raise UsageError(
                f"{name} could not be delivered: no body of it is known for the route {intent.route}",
                do=f"say how it is sent in the services file, [bodies.{intent.route}-{name}], or correct the profile",
            )
    sent = {f"{intent.route}-{name}" for name, intent in deployment.structs.items()}
    for name in (*speech.paths, *speech.bodies, *speech.replies):
        if OF_STRUCT.fullmatch(name) and name not in sent:
            told = f"no struct is signed at this venue that goes as {name}; {meant(name, sent)}"
            raise UsageError(f"the services file: {told}", do="correct the file")
