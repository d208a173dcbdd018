"""The workflow of a ceremony: what is done, what comes next on each machine, and which command does it."""

from pathlib import Path
from typing import Any

import pytest

from airlock_shared.ceremony import workflow
from airlock_shared.ceremony.roles import CHECKPOINTS, Half
from airlock_shared.ceremony.workflow import DEPLOYMENT, EVIDENCE_FILES, PEOPLE, READY, WAS_READY, Task
from airlock_shared.cli.ceremony.lead import Lead
from airlock_shared.cli.ceremony.workflow import made_here
from airlock_shared.documents.transcript import next_entry
from airlock_shared.errors import DocumentError
from airlock_shared.plan.model import Plan
from airlock_shared.plan.reader import parse_plan
from shared.test_roles import ALL, FIRST, SECOND, written

D, R, S, CHALLENGE = "dd" * 32, "aa" * 32, "bb" * 32, "cc" * 32
LEAD = Lead((), "/c/plan.toml", Path("/c/plan.ceremony"), None, False, "", ("--emulator", "9"), ("--model", "flex"))


FIELDS = {
    "delegate": f'trader = "{FIRST}", delegate = "{SECOND}", expiry = 2027-03-31T00:00:00Z',
    "referral-set-code": f'referee = "{FIRST}", code = "TREASURY"',
}


def make_plan(action: str = "delegate", roles: str = ALL) -> Plan:
    head = written(roles).decode().partition("[signers.second]")[0]
    step = f'[[steps]]\nid = "key"\naction = "{action}"\nsigner = "first"\nfields = {{ {FIELDS[action]} }}\n'
    return parse_plan((head + step).encode())


PLAN = make_plan()
NAMES_HELD = {"signer": "Ada", "facilitator": "Grace", "witness": "Mary"}


class Machine:
    """A machine whose workflow is done: what is on record, and what stands in its folder.

    What happens on it returns what comes next: the task, and what it is about.
    """

    def __init__(self, half: Half, plan: Plan = PLAN) -> None:
        self.half, self.plan = half, plan
        self.entries: list[Any] = []
        self.facts = workflow.Facts()

    def record(self, event: str, **data: Any) -> str:
        last = self.entries[-1] if self.entries else None
        self.entries.append(next_entry(last, 1_790_000_000_000 + len(self.entries), event, data))
        return self.next()

    def have(self, *files: str, **facts: Any) -> str:
        self.facts = self.facts._replace(files=self.facts.files | set(files), **facts)
        return self.next()

    def hand(self, *names: str) -> str:
        self.facts = self.facts._replace(given=self.facts.given | set(names))
        return self.next()

    def begin(self, plan: str = "") -> str:
        return self.record("ceremony-begun", ceremony="demo", plan=plan or self.plan.fingerprint, roles=NAMES_HELD)

    def end(self, *missing: str) -> str:
        return self.record("ceremony-ended", ceremony="demo", complete=not missing, missing=list(missing))

    def confirm(self, checkpoint: str, compared: str, *roles: str) -> str:
        for role in roles or CHECKPOINTS[checkpoint].needs(self.half, self.plan):
            self.record("checkpoint-confirmed", ceremony="demo", checkpoint=checkpoint, by=[role], compared=compared)
        return self.next()

    def tasks(self) -> list[Task]:
        return workflow.workflow_tasks(self.plan, self.half, self.entries, self.facts)

    def task(self, name: str, of: str = "") -> Task:
        return next(task for task in self.tasks() if (task.name, of in ("", task.of)) == (name, True))

    def next(self) -> str:
        task = workflow.next_task(self.tasks())
        return "" if task is None else f"{task.name} {task.of or ' '.join(task.brings)}".strip()


def test_the_online_machine_is_led_from_the_names_to_the_report() -> None:
    here = Machine("online")
    assert here.begin(plan="00" * 32) == "begin"  # it was another plan's
    assert here.begin() == "gather"
    assert here.have(DEPLOYMENT, PEOPLE, "proofs.json", deployment=D) == "gather"  # the names there are others
    assert here.have(names=NAMES_HELD) == "ready rehearsal"
    assert here.hand(WAS_READY) == f"hand {DEPLOYMENT} {PEOPLE} proofs.json"
    assert here.hand(DEPLOYMENT, PEOPLE, "proofs.json") == f"take {READY}"
    here.have(brought=frozenset({DEPLOYMENT, PEOPLE}))  # the stick was lost, or another one is there
    assert here.next() == "hand proofs.json"
    assert here.have(READY, brought=frozenset()) == "prepare"
    here.have("requests.json", requests=R)
    assert here.record("prepared", ceremony="demo", plan=PLAN.fingerprint, requests=R) == "hand requests.json"
    assert here.hand("requests.json") == "take signatures.json"
    assert here.have("signatures.json", signatures=S, digests=("0x1", "0x2")) == "compare signatures"
    assert here.confirm("signatures", S) == "submit signatures.json"
    here.record("submit-begun", ceremony="demo", requests=R, signatures=S)
    for digest in ("0x1", "0x2"):
        here.record("outcome", step="key", digest=digest, error="x", too_late=True)
    assert here.next() == "submit signatures.json"  # nothing was sent: they are prepared again
    for digest, state, then in (
        ("0x1", "CONFIRMED", "compare outcome"),
        ("0x2", "ACCEPTED", "submit signatures.json"),  # it has no outcome yet: it is followed
        ("0x2", "FAILED", "compare outcome"),
    ):
        assert here.record("outcome", step="key", digest=digest, state=state) == then
    assert here.record("outcome", step="key", digest="0x2", error="0x2 is FAILED already") == "compare outcome"
    assert here.confirm("outcome", here.entries[-1].hash) == f"take {' '.join(EVIDENCE_FILES)}"
    assert here.have(*EVIDENCE_FILES) == "end"
    assert here.end() == f"report signatures.json {' '.join(EVIDENCE_FILES)}"
    assert here.have("evidence") == ""


def test_a_proof_that_comes_late_is_handed_over_alone() -> None:
    here = Machine("online")
    here.begin()
    here.have(DEPLOYMENT, PEOPLE, deployment=D, names=NAMES_HELD)
    assert here.hand(WAS_READY, DEPLOYMENT, PEOPLE) == f"take {READY}"
    assert here.have("proofs.json") == "hand proofs.json"
    assert here.hand("proofs.json") == f"take {READY}"


def test_the_air_gapped_machine_is_led_from_the_deployment_to_its_evidence() -> None:
    here = Machine("offline")
    assert here.next() == f"take {DEPLOYMENT} {PEOPLE}"
    assert here.have(DEPLOYMENT, PEOPLE, deployment=D, challenges={"key": CHALLENGE}) == f"begin {PEOPLE}"
    here.begin()
    for checkpoint, compared in (("plan", PLAN.fingerprint), ("deployment", D)):
        assert here.next() == f"compare {checkpoint}"
        here.confirm(checkpoint, compared)
    assert here.next() == "trust"
    here.record("deployment-pinned", name="rehearsal", fingerprint=D)
    assert here.have(pinned=D) == "preflight"
    assert here.record("preflight", refused=[], device={}) == "preflight"  # and nobody stated the time
    assert here.have(clock_stated=True) == "compare preflight"
    assert here.confirm("preflight", here.entries[-1].hash) == "address first"
    assert here.record("address", path="m", address=FIRST, confirmed=True) == "compare address"
    assert here.confirm("address", FIRST) == "take proofs"
    here.have("proofs-desk.json", proofs={"proofs-desk.json": frozenset({"other"})})  # another step's
    assert here.next() == "take proofs"
    assert here.have("proofs.json", proofs={"proofs.json": frozenset({"key", "other"})}) == "proof proofs"
    assert workflow.next_task(here.tasks()).brings == ("proofs.json",)  # type: ignore[union-attr]
    assert here.record("delegate-proved", ceremony="demo", step="key", delegate="0x", challenge=CHALLENGE) == "gather"
    assert here.have(READY) == f"hand {READY}"
    assert here.hand(READY) == "take requests.json"
    assert here.have("requests.json", requests=R) == "compare requests"
    assert here.confirm("requests", R) == "sign requests.json"
    here.record("sign-begun", ceremony="demo", plan=PLAN.fingerprint, requests=R)
    here.record("signatures-written", requests=R, signatures=S)
    assert here.have("signatures.json", signatures=S, digests=("0x1",)) == "compare review"
    assert here.record("preflight", refused=[], device={}) == "compare review"  # of another ceremony on this machine
    assert here.confirm("review", S) == "hand signatures.json"
    assert here.hand("signatures.json") == "seal first"
    sealed = {"entries": 1, "head": "ee" * 32, "address": FIRST, "signature": "0x"}
    assert here.record("sealed", ceremony="another", **sealed) == "seal first"
    assert here.record("sealed", ceremony="demo", **sealed) == "compare seal"
    assert here.confirm("seal", "ee" * 32) == "end"
    assert here.end() == "report requests.json signatures.json"
    assert here.have("evidence").startswith("hand evidence/artefacts/")
    assert here.hand(*EVIDENCE_FILES) == ""


def test_a_document_that_was_written_and_not_recorded_is_made_again_under_another_name() -> None:
    online, offline = Machine("online"), Machine("offline")
    for here in (online, offline):
        here.begin()
        here.have("requests.json", "signatures.json", requests=R, signatures=S, digests=("0x1",))
    made, signed = online.task("prepare"), offline.task("sign")
    assert (made.done, made.attempt, signed.done, signed.attempt) == (False, 2, False, 2)
    assert LEAD.words(signed)[4:6] == ("-o", "/c/plan.ceremony/signatures-2.json")
    online.record("prepared", ceremony="demo", plan=PLAN.fingerprint, requests=R)
    offline.record("signatures-written", requests=R, signatures=S)
    assert online.task("prepare").done
    assert offline.task("sign").done


def test_what_was_signed_and_came_too_late_is_signed_again_on_both_machines() -> None:
    online, offline, later = Machine("online"), Machine("offline"), "a2" * 32
    for here in (online, offline):
        here.begin()
        here.have(DEPLOYMENT, PEOPLE, READY, "requests.json", deployment=D, names=NAMES_HELD, requests=R, pinned=D)
        here.have("signatures.json", signatures=S, digests=("0x1",), answers=R)
    online.hand(WAS_READY, DEPLOYMENT, PEOPLE, "requests.json")
    online.record("prepared", ceremony="demo", plan=PLAN.fingerprint, requests=R)
    assert online.confirm("signatures", S) == "submit signatures.json"
    online.record("submit-begun", ceremony="demo", requests=R, signatures=S)
    online.have("requests-2.json", requests=later)
    assert online.record("prepared", ceremony="demo", plan=PLAN.fingerprint, requests=later) == "hand requests-2.json"
    assert online.hand("requests-2.json") == "take signatures-2.json"

    def signs() -> tuple[bool, tuple[str, ...], int]:
        task = offline.task("sign")
        return task.done, task.brings, task.attempt

    offline.record("signatures-written", requests=R, signatures=S)
    offline.have(brought=frozenset({"requests-2.json"}))
    assert signs() == (True, ("requests.json",), 1)  # on the stick alone: what was signed is compared and reported
    offline.have("requests-2.json", requests=later)
    assert signs() == (True, ("requests-2.json",), 1)  # they came, and nobody said that it was too late
    offline.hand("requests-2.json")
    assert signs() == (False, ("requests-2.json",), 2)
    offline.record("preflight", refused=[], device={})
    offline.confirm("preflight", offline.entries[-1].hash)
    offline.record("sign-begun", ceremony="demo", plan=PLAN.fingerprint, requests=R)
    offline.record("preflight", refused=[], device={})  # another day's, before it is signed again
    assert not offline.task("compare", "preflight").done
    offline.have("signatures-2.json", signatures="b2" * 32, answers=later)
    offline.record("signatures-written", requests=later, signatures="b2" * 32)
    assert signs() == (True, ("requests-2.json",), 2)


def test_words_are_shown_as_long_as_the_other_machine_may_ask_for_them() -> None:
    online, offline = Machine("online"), Machine("offline")
    for here in (online, offline):
        here.begin()
        here.have("requests.json", requests=R)
    assert made_here("online", online.facts, online.tasks()) == {"requests": R}
    for here in (online, offline):
        here.have("signatures.json", signatures=S, answers=R)
    assert made_here("online", online.facts, online.tasks()) == {}  # who has signed has compared them
    online.have("requests-2.json", requests="a2" * 32)  # and nobody waits for them
    assert made_here("online", online.facts, online.tasks()) == {}
    assert made_here("offline", offline.facts, offline.tasks()) == {"signatures": S}


@pytest.mark.parametrize("half", ["online", "offline"])
def test_a_ceremony_that_was_given_up_begins_anew(half: Half) -> None:
    here = Machine(half)
    here.have(DEPLOYMENT, PEOPLE, deployment=D, names=NAMES_HELD)
    here.begin()
    assert not here.confirm("plan", PLAN.fingerprint).startswith("begin")
    assert here.end("a").startswith("begin")
    here.begin()
    assert not here.task("compare").done  # what was confirmed before is void
    here.end("a")
    here.have("signatures.json", signatures=S)  # where something was signed it does not begin by itself
    assert not here.next().startswith("begin")


@pytest.mark.parametrize("half", ["online", "offline"])
def test_each_stop_has_a_command_and_survives_another_process(half: Half) -> None:
    tasks = Machine(half).tasks()
    parts = [workflow.workflow_part(half, number, len(tasks)) for number in range(1, len(tasks) + 1)]
    assert parts == sorted(parts, key=workflow.WORKFLOW_PARTS.index)
    first = [tasks[parts.index(part)].name for part in dict.fromkeys(parts)]
    assert first == (["begin", "take", "compare", "take"] if half == "online" else ["take", "compare", "sign", "seal"])
    for task in tasks:
        assert workflow.read_task(task._asdict() | {"by": list(task.by), "brings": list(task.brings)}) == task
        assert (task.name in workflow.NAMES, all(LEAD.words(task))) == (True, True)


GOOD = Task("hand", (), "Hand it over.", False, "", 1)._asdict() | {"by": ["signer"], "brings": ["requests-2.json"]}


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "forget"},
        {"name": "hand\n"},
        {"of": "--home"},
        {"attempt": 0},
        {"attempt": 100},
        {"attempt": True},
        {"by": ["--by"]},
        {"brings": ["../../etc/passwd"]},
        {"brings": ["evidence/artefacts/../../x.json"]},
        {"brings": ["config.toml"]},
        {"brings": ["requests.json"] * 1001},
        {"done": "no"},
        {"more": 1},
    ],
)
def test_an_answer_that_could_name_something_else_is_refused(wrong: dict[str, Any]) -> None:
    assert workflow.read_task(GOOD).brings == ("requests-2.json",)
    with pytest.raises(DocumentError):
        workflow.read_task(GOOD | wrong)


def test_one_role_that_did_not_answer_is_asked() -> None:
    here = Machine("online")
    here.begin()
    here.have("requests.json", "signatures.json", signatures=S)
    here.confirm("signatures", S, "facilitator")
    assert not here.task("compare", "signatures").done
    here.confirm("signatures", "ff" * 32, "witness")  # of another document
    assert not here.task("compare", "signatures").done
    here.confirm("signatures", S, "witness")
    assert here.task("compare", "signatures").done


def test_a_page_that_refused_something_is_looked_at_again() -> None:
    here = Machine("offline")
    here.begin()
    here.have(clock_stated=True)
    for told in ({"refused": ["AIRGAP-ROUTE"], "device": {}}, {"refused": [], "device": {"error": "locked"}}):
        here.record("preflight", **told)
        assert not here.task("preflight").done
    here.record("preflight", refused=[], device={})
    assert here.task("preflight").done


def test_a_plan_that_registers_nobody_needs_no_proof_and_other_roles_compare() -> None:
    assert "proof" not in [task.name for task in Machine("offline", make_plan("referral-set-code")).tasks()]
    other = Machine("offline", make_plan("referral-set-code", '"officer"'))
    assert {task.by for task in other.tasks() if task.name == "compare"} == {("officer",)}
