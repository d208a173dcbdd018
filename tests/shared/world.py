"""What the tests of the core share: the vectors, a plan, a deployment and a Situation at a fixed time."""

import copy
import json
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

from airlock_offline.signing.second_opinion import compare_opinion, opinion_question
from airlock_shared.checks.document import Steps, part_of, steps_are_planned
from airlock_shared.checks.judge import Examined, Known, judge_header, judge_item
from airlock_shared.checks.model import CallCase, Case, IntentCase, Situation, Verdict
from airlock_shared.documents.deployment import Deployment, parse_deployment
from airlock_shared.documents.requests import Answer, Request, parse_requests
from airlock_shared.documents.transcript import Entry, next_entry
from airlock_shared.errors import Refusal
from airlock_shared.ethereum.library_opinion import opinion_on
from airlock_shared.ethereum.signatures import CURVE_ORDER
from airlock_shared.plan.delegate_proofs import Challenge, challenge_of, registrations
from airlock_shared.plan.model import Plan
from airlock_shared.plan.reader import parse_plan
from airlock_shared.venue.calls import CALLS, DELEGATED_ACTION, DELEGATED_SIGNATURE, selector_of
from airlock_shared.venue.profile_words import resolve_profile
from shared.make_payloads import NOW_MS, fingerprint, plan_fingerprint, seal
from shared.make_payloads import VECTORS as VECTORS
from shared.make_transactions import called_otherwise

PLAN_TEXT = (VECTORS / "plans/good/every-struct.toml").read_text()
PLAN_TEXTS = {"requests": PLAN_TEXT} | {
    folder: (VECTORS / folder / "plan.toml").read_text() for folder in ("transactions", "authorizations")
}
DEPLOYMENT_TEXT = (VECTORS / "deployments/good/venue.json").read_text()
STEPS = tuple(path.stem for path in sorted((VECTORS / "requests/good").glob("*")))


class Vector(NamedTuple):
    """A bad case: its file's name, the check id it must get, the rest of the file, and the folder that its base is from."""

    name: str
    refusal: str
    content: dict[str, Any]
    folder: str

    @property
    def all_refusals(self) -> set[str]:
        """The ids that refuse it: the one it is about, and those that cannot help refusing it too."""
        return {self.refusal, *self.content.get("also", [])}


def vectors(folder: str) -> Iterator[Vector]:
    """Yield the bad cases of a folder below ``tests/vectors``; each must say why it is bad."""
    paths = sorted((VECTORS / folder).glob("*.json"))
    assert paths, f"no vectors in {folder}"
    for path in paths:
        content = json.loads(path.read_text())
        assert content["why"], f"{path} does not say why"
        yield Vector(path.stem, content["refusal"], content, folder.partition("/")[0])


def names(cases: Iterable[Vector]) -> list[str]:
    return [case.name for case in cases]


@cache
def plan(folder: str = "requests") -> Plan:
    """Return the plan with a step for every struct, or for every one of the ``transactions``."""
    return parse_plan(PLAN_TEXTS[folder].encode())


@cache
def plan_text_of(*steps: str, folder: str = "requests") -> str:
    """Return the text of a folder's plan with these steps alone, in this order."""
    head, *texts = PLAN_TEXTS[folder].split("[[steps]]\n")
    by_id = {text.split('"')[1]: text for text in texts}
    return "[[steps]]\n".join([head, *(by_id[step] for step in steps)])


@cache
def deployment() -> Deployment:
    return parse_deployment(DEPLOYMENT_TEXT.encode())


def deployed(profile: dict[str, Any]) -> Deployment:
    """Return the deployment of the vectors with a venue's profile, as it is read from its file."""
    return parse_deployment(to_bytes(json.loads(DEPLOYMENT_TEXT) | {"signed": resolve_profile(profile)}))


@cache
def situation(folder: str = "requests") -> Situation:
    return Situation(plan(folder), deployment(), NOW_MS)


def good_challenges(folder: str = "requests") -> list[Challenge]:
    """Return what the delegate keys of the plan's registrations have to sign."""
    return [challenge_of(plan(folder), deployment(), step) for step in registrations(plan(folder))]


def rehearsal_deployment() -> dict[str, Any]:
    """Return the deployment of the vectors as a rehearsal's, as parsed JSON."""
    document: dict[str, Any] = json.loads(DEPLOYMENT_TEXT) | {"rehearsal": True}
    return document


def rehearsed(document: dict[str, Any], plan: str) -> dict[str, Any]:
    """Return a requests document of a rehearsal: for the text of a plan, under the deployment of the vectors as one."""
    header = {"plan": plan_fingerprint(plan), "deployment": fingerprint(rehearsal_deployment()), "rehearsal": True}
    return {**document, "header": document["header"] | header}


def renonce(item: dict[str, Any], nonce: str) -> None:
    """Give an item another nonce, and what belongs to it."""
    message = item["payload"]["message"]
    message["_nonce" if "_nonce" in message else "nonce"] = nonce
    seal(item["payload"])


def good(step: str, folder: str = "requests") -> dict[str, Any]:
    """Return the good requests document of one step, as parsed JSON that the caller may change."""
    document: dict[str, Any] = json.loads((VECTORS / f"{folder}/good/{step}.json").read_text())
    return document


def good_with(step: str, **message: Any) -> dict[str, Any]:
    """Return the good requests document of an intent with other members in its message, sealed anew."""
    document = good(step)
    payload = document["requests"][0]["payload"]
    payload["message"] |= message
    seal(payload)
    return document


def whole(folder: str = "requests") -> dict[str, Any]:
    documents = [good(step, folder) for step in plan(folder).steps]
    items = [document["requests"][0] for document in documents]
    return documents[0] | {"header": documents[0]["header"] | {"count": len(items)}, "requests": items}


def to_bytes(document: Any) -> bytes:
    """Return a document's file form, written by the standard library alone."""
    return json.dumps(document, ensure_ascii=False).encode()


def high_s(signature: bytes) -> bytes:
    """Return the second valid form of a signature."""
    s = CURVE_ORDER - int.from_bytes(signature[32:64], "big")
    return signature[:32] + s.to_bytes(32, "big") + bytes([55 - signature[64]])


def chain(*events: tuple[str, dict[str, Any]], at_ms: int = NOW_MS) -> list[Entry]:
    entries: list[Entry] = []
    for event, data in events:
        entries.append(next_entry(entries[-1] if entries else None, at_ms, event, data))
    return entries


NOTHING = Known()
RESULTS = {"pass", "refused", "not-applicable", "not-reached", "not-judged"}


def examined(
    request: Request, where: Situation | None = None, signed: Answer | None = None, known: Known = NOTHING
) -> Examined:
    """Return an item with the verdicts of every check, by somebody who knows nothing beside plan and deployment."""
    return judge_item(request, where or situation(), known, signed)


def examined_of(document: dict[str, Any], where: Situation | None = None, position: int = 0) -> Examined:
    return examined(request_of(document, position), where)


def case_of(document: dict[str, Any], where: Situation | None = None, position: int = 0) -> Case:
    """Return one item of a document as it can be shown and signed."""
    found = examined_of(document, where, position).case
    assert found is not None
    return found


def intent_case(step: str) -> IntentCase:
    """Return the good intent of a step as it can be shown and signed."""
    case = case_of(good(step))
    assert isinstance(case, IntentCase)
    return case


def call_case(step: str, folder: str = "transactions") -> CallCase:
    """Return the good transaction or authorization of a step as it can be shown and signed."""
    case = case_of(good(step, folder), situation(folder))
    assert isinstance(case, CallCase)
    return case


def request_of(document: dict[str, Any], position: int = 0) -> Request:
    """Return one item of a document, read as a command reads it."""
    return parse_requests(to_bytes(document))[1][position]


def refusals(verdicts: Iterable[Verdict]) -> set[str]:
    return {verdict.check for verdict in verdicts if verdict.result == "refused"}


def judge(
    document: dict[str, Any], where: Situation | None = None, *, steps: tuple[str, ...] | None = None
) -> set[str]:
    """Return the ids that refuse a requests document: reading it, its header, each item, and its steps when given."""
    where = where or situation()
    try:
        header, items, _ = parse_requests(to_bytes(document))
    except Refusal as refusal:
        return {refusal.check}
    found = refusals(judge_header(header, where, Known()).found)
    for item in items:
        found |= refusals(examined(item, where).verdicts.found)
    if steps is not None:
        part = part_of(where.plan, header.signer)
        told = steps_are_planned.run(Steps([item.step for item in items], [step for step in steps if step in part]))
        found |= set() if told.result == "pass" else {steps_are_planned.id}
    return found


# ---- making bad ones from good ones ---------------------------------------------------------------------------------


_plan_of, _deployment_of, _fingerprint_of_plan = cache(parse_plan), cache(parse_deployment), cache(plan_fingerprint)


def bad_request(vector: Vector) -> tuple[dict[str, Any], Situation, tuple[str, ...] | None]:
    """Return a vector's document, the situation it is judged in, and the steps it must have (None: not judged)."""
    content = vector.content
    plan_text = replaced(PLAN_TEXTS[vector.folder], content.get("plan", []))
    pinned = patched(json.loads(DEPLOYMENT_TEXT), content.get("deployment", []))
    where = Situation(_plan_of(plan_text.encode()), _deployment_of(to_bytes(pinned)), content.get("now_ms", NOW_MS))
    document = whole(vector.folder) if content["base"] == "*" else good(content["base"], vector.folder)
    if "call" in content:
        document["requests"][0]["payload"]["data"] = called_otherwise(content["base"], content["call"])
    document["header"] |= {"plan": _fingerprint_of_plan(plan_text), "deployment": fingerprint(pinned)}
    document = patched(document, content["patch"])
    if not any(operation["at"].startswith("header") for operation in content["patch"]):
        document["header"]["count"] = len(document["requests"])
    if content.get("resealed"):
        for item in document["requests"]:
            seal(item["payload"])
    return document, where, tuple(where.plan.steps) if content["base"] == "*" else None


def bad_plan(vector: Vector) -> str:
    """Return the text of a bad plan: one of its own, or the good one cut off or changed."""
    content = vector.content
    if "cut" in content:
        return PLAN_TEXT.partition(content["cut"])[0]
    return str(content["text"]) if "text" in content else replaced(PLAN_TEXT, content["replace"])


def replaced(text: str, replacements: Iterable[tuple[str, str]]) -> str:
    """Return a text with each old part, which must occur, replaced at its first place."""
    for old, new in replacements:
        assert old in text, f"{old!r} is not in the good text"
        text = text.replace(old, new, 1)
    return text


def patched(document: Any, operations: Iterable[dict[str, Any]]) -> Any:
    """Return a copy of a document with the operations of a vector applied, in order; each must change something."""
    document = copy.deepcopy(document)
    for operation in operations:
        before = json.dumps(document)
        *parents, last = [int(part) if part.isdigit() else part for part in operation["at"].split(".")]
        node = document
        for part in parents:
            node = node[part]
        _apply(node, last, operation, document)
        assert json.dumps(document) != before, f"{operation} changes nothing"
    return document


def _apply(node: Any, last: int | str, operation: dict[str, Any], document: Any) -> None:
    if "set" in operation:
        node[last] = operation["set"]
    elif "drop" in operation:
        del node[last]
    elif "count" in operation:  # of a list of the document
        node[last] = len(document[operation["count"]])
    elif "insert" in operation:
        node.insert(last, operation["insert"])
    elif "copy" in operation:
        value = document
        for part in operation["copy"].split("."):
            value = value[int(part) if part.isdigit() else part]
        node[last] = copy.deepcopy(value)
    elif "rename" in operation:
        members = {operation["rename"] if name == last else name: value for name, value in node.items()}
        node.clear()
        node.update(members)
    elif "swap" in operation:
        first, second = operation["swap"]
        node[last][first], node[last][second] = node[last][second], node[last][first]
    elif "flip" in operation:  # the last bit of one hex digit, by its place in the text
        text, place = node[last], operation["flip"] % len(node[last])
        node[last] = text[:place] + f"{int(text[place], 16) ^ 1:x}" + text[place + 1 :]
    elif "splice" in operation:  # some bytes of a hex text, from one place to another, in place of others
        start, end, text = operation["splice"]
        node[last] = node[last][: 2 + 2 * start] + text + node[last][2 + 2 * end :]
    elif "repeat" in operation:  # a long text, which a file need not hold
        node[last] = operation["repeat"] * operation["times"]
    elif "replace" in operation:
        old, new = operation["replace"]
        node[last] = node[last].replace(old, new)
    else:
        raise AssertionError(operation)


def confirm(case: Case) -> None:
    """Compare an examined item with the second opinion, which here runs in the same process."""
    compare_opinion(case, opinion_on(json.loads(json.dumps(opinion_question(case)))))


@cache
def selectors() -> dict[bytes, str]:
    """Return the name of each selector that ships, ``delegatedAction`` among them."""
    known = {selector_of(call.signature): name for name, call in CALLS.items()}
    return known | {selector_of(DELEGATED_SIGNATURE): DELEGATED_ACTION}
