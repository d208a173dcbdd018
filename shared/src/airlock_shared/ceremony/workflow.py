"""The workflow of a ceremony on one machine: its tasks in the order of the day, what is done, and what comes next.

Pure: it is decided from the plan, this machine's transcript, and the names and fingerprints of the documents in the
ceremony's folder. Nothing else is kept anywhere, so a ceremony that was interrupted goes on where it stood. A task is done
by a command that exists: ``Lead.words`` says which, from names alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import takewhile
from typing import Any, NamedTuple

from airlock_shared.ceremony.roles import CHECKPOINTS, Half, Standing, last_on_record, standing
from airlock_shared.ceremony.sections import section_of
from airlock_shared.documents.transcript import PROVED, TOO_LATE, Entry
from airlock_shared.ethereum.signatures import checksum_address
from airlock_shared.plan.delegate_proofs import is_waived, registrations
from airlock_shared.plan.model import Plan
from airlock_shared.wire.strict_json import NAME, read_list, read_matching, read_members

ATTEMPTS = 99
TASKS_AT_MOST = 2000  # more than a plan has steps, and so signers
_FILES_AT_MOST = 1000  # as many names as are looked at in a folder
DEPLOYMENT, PEOPLE, READY = "deployment.json", "people.json", "ready.json"
GIVEN = "handed-over"
"""In the ceremony's folder: an empty file for each document that was handed over."""
PROOFS = "proofs"
PROOFS_FILE = re.compile(r"proofs[a-z0-9-]{0,63}\.json", re.ASCII)
WAS_READY = "builder-was-ready"  # among what was handed over: nothing else records that the builder was asked
EVIDENCE_FILES = ("offline-transcript.jsonl", "screens.json")
_ARTEFACTS = "evidence/artefacts/"
_BROUGHT = re.compile(
    rf"(?:{_ARTEFACTS})?(?:(?:deployment|people|ready|screens|(?:proofs|requests|signatures)[a-z0-9-]{{0,63}})\.json"
    r"|offline-transcript\.jsonl)",
    re.ASCII,
)
_OUTCOMES = frozenset({"FILLED", "CONFIRMED", "MARKET_DECLINED", "FAILED", "EXPIRED_UNUSED", "VOIDED"})


class Task(NamedTuple):
    """One thing to do: its name, the roles that act (none: the machine alone), what is said, whether it is done.

    ``of`` is the checkpoint, signer, step or deployment that it is about; ``attempt`` counts documents that had to be made
    again; ``brings`` holds the files that are handed over or come.
    """

    name: str
    by: tuple[str, ...]
    says: str
    done: bool
    of: str = ""
    attempt: int = 1
    brings: tuple[str, ...] = ()


class Facts(NamedTuple):
    """What stands beside the transcript: names of files in the ceremony's folder, handed over, and brought from elsewhere.

    On the air-gapped machine requests among ``given`` are to be signed in the place of those that came too late.

    Fingerprints (64 hex digits, empty for none) of the newest documents in the folder; ``pinned`` is the deployment's on
    this machine. ``names`` are those in the folder that are handed over. ``digests`` are those that the newest signatures
    sign, and ``answers`` is the fingerprint of the requests that they answer. ``challenges`` has the SHA-256 of what each
    step's delegate key signs, ``proofs`` the steps whose keys prove themselves in each file of proofs, as it says.
    ``clock_stated`` says that a watch was compared less than a day ago; ``sign_by_ms`` until when the newest requests can be
    signed (unix ms, 0 where none has an end), to be shown.
    """

    files: frozenset[str] = frozenset()
    given: frozenset[str] = frozenset()
    brought: frozenset[str] = frozenset()
    deployment: str = ""
    pinned: str = ""
    names: Mapping[str, str] = {}
    requests: str = ""
    signatures: str = ""
    digests: tuple[str, ...] = ()
    answers: str = ""
    challenges: Mapping[str, str] = {}
    proofs: Mapping[str, frozenset[str]] = {}
    clock_stated: bool = False
    sign_by_ms: int = 0


WORKFLOW_PARTS = ("prepare", "compare", "sign", "submit", "record")
"""The parts of the day, as people call them."""
_LAST_PARTS: Mapping[Half, tuple[tuple[str, int], ...]] = {
    "online": (("record", 2), ("submit", 5), ("sign", 6)),
    "offline": (("record", 4), ("sign", 7), ("compare", 8)),
}
"""How many tasks are left at most while a machine is in a part; before them it is in the first one."""


def workflow_part(half: Half, number: int, total: int) -> str:
    """Return the part of the day of a machine that is at a task of this number of so many."""
    return next((part for part, most in _LAST_PARTS[half] if total - number <= most), WORKFLOW_PARTS[0])


def numbered(name: str, attempt: int) -> str:
    """Return the file of an attempt: ``requests.json``, then ``requests-2.json``."""
    return f"{name}.json" if attempt == 1 else f"{name}-{attempt}.json"


def newest(name: str, files: Iterable[str]) -> int:
    """Return the highest attempt among files, 0 when there is none."""
    there = frozenset(files)
    return max((attempt for attempt in range(1, ATTEMPTS + 1) if numbered(name, attempt) in there), default=0)


def workflow_tasks(plan: Plan, half: Half, entries: Iterable[Entry], facts: Facts) -> list[Task]:
    """Return the tasks of a machine in the order of the day. The first that is not done comes next."""
    whole = list(entries)
    stands = standing(whole, plan, half)
    tasks = _Workflow(plan, half, facts, stands, section_of(whole, plan)[0]).tasks()
    before_the_end = takewhile(lambda task: task.name != "end", tasks)
    if stands.ended_ms is not None and not facts.signatures and not all(task.done for task in before_the_end):
        return _Workflow(plan, half, facts, standing((), plan, half), []).tasks()  # it was given up: another one begins
    return tasks


def next_task(tasks: Iterable[Task]) -> Task | None:
    """Return the first task that is not done; None at the end."""
    return next((task for task in tasks if not task.done), None)


# ---- tasks from another process ------------------------------------------------------------------------------------


NAMES = {
    "begin": "names", "gather": "documents", "hand": "hand-over", "take": "", "ready": "the builder",
    "prepare": "requests", "compare": "comparison", "submit": "sending", "end": "the end", "report": "report",
    "trust": "the pin", "preflight": "preflight", "address": "address", "proof": "proof of a key", "sign": "signing",
    "seal": "the seal",
}  # fmt: skip
"""The name of each task, and what a machine is about there, as the people of the other one are told."""


def read_task(value: Any) -> Task:
    """Read a task from another process: names of a closed list, and nothing that could name another file.

    Raises ``DocumentError("DOC-FIELD")``.
    """
    form = {"name": str, "by": list, "says": str, "done": bool, "of": str, "attempt": int, "brings": list}
    read_members(value, "task", form)
    read_matching(value["name"], "task.name", re.compile("|".join(NAMES)), "a task of the workflow")
    if value["of"]:
        read_matching(value["of"], "task.of", NAME, "a name in lower case")
    read_matching(str(value["attempt"]), "task.attempt", re.compile("[1-9][0-9]?"), "a number from 1 to 99")
    for role in read_list(value["by"], "task.by", 16):
        read_matching(role, "task.by", NAME, "a role")
    for name in read_list(value["brings"], "task.brings", _FILES_AT_MOST):
        read_matching(name, "task.brings", _BROUGHT, "a document of the ceremony")
    return Task(**{**value, "by": tuple(value["by"]), "brings": tuple(value["brings"])})


# ---- where it stands ------------------------------------------------------------------------------------------------


_hand, _take = partial(Task, "hand", ()), partial(Task, "take", ())
"""How documents cross: the machine's part alone."""


class _Workflow(NamedTuple):
    """What a workflow is decided from."""

    plan: Plan
    half: Half
    facts: Facts
    stands: Standing
    section: list[Entry]

    def tasks(self) -> list[Task]:
        """Return the tasks of the machine."""
        return self.online() if self.half == "online" else self.offline()

    def online(self) -> list[Task]:
        """Return the tasks of the online machine."""
        facts = self.facts
        requests = newest("requests", facts.files)
        signatures = newest("signatures", facts.files) + self.came_too_late()
        signatures = max(signatures, newest("signatures", facts.brought))
        prepared = bool(facts.requests) and facts.requests in self.record("requests").split()
        answered = numbered("signatures", signatures) in facts.files
        attempt = requests if prepared else requests + 1
        asked, answer = numbered("requests", max(requests, 1)), numbered("signatures", max(signatures, 1))
        proofs = tuple(sorted(name for name in facts.files if PROOFS_FILE.fullmatch(name)))
        first = (DEPLOYMENT, PEOPLE, *proofs)
        owed = tuple(name for name in first if not self.handed((name,)))  # a proof may come late
        return [
            Task("begin", self.plan.roles, "Say who holds each role.", self.begun),
            Task("gather", (), "Put the deployment and the names together.",
                 {DEPLOYMENT, PEOPLE} <= facts.files and (prepared or facts.names == self.stands.names)),
            Task("ready", (), "Ask the builder whether it is ready.", prepared or WAS_READY in facts.given,
                 self.plan.deployment),
            _hand("Hand the deployment and the names over.",
                 prepared or not owed, brings=owed or first),
            _take("Wait until the air-gapped machine is ready for the requests.",
                 prepared or READY in facts.files, brings=(READY,)),
            Task("prepare", (), "Build and check the payloads.", prepared, attempt=attempt),
            _hand("Hand the requests over.", answered or self.handed((asked,)), brings=(asked,)),
            _take("Wait for the signatures.", answered, brings=(answer,)),
            self.compare("signatures", facts.signatures, answer)._replace(
                says=f"{CHECKPOINTS['signatures'].compares} After the last word they are submitted."
            ),
            Task("submit", (), "Submit the signatures, and follow them to their outcome.", self.submitted(),
                 brings=(answer,)),
            self.compare("outcome", self.record("outcome")),
            _take("Wait for the air-gapped machine's evidence.",
                 facts.files >= set(EVIDENCE_FILES), brings=EVIDENCE_FILES),
            Task("end", (), "End the ceremony here.", self.stands.ended_ms is not None),
            Task("report", (), "Make the report.", "evidence" in facts.files, brings=(answer, *EVIDENCE_FILES)),
        ]  # fmt: skip

    def offline(self) -> list[Task]:
        """Return the tasks of the air-gapped machine."""
        facts = self.facts
        signatures = newest("signatures", facts.files)
        brought = facts.brought & facts.given if facts.answers else facts.brought
        requests = max(newest("requests", facts.files | brought), 1)
        asked = numbered("requests", requests)
        again = asked in facts.given and facts.answers != facts.requests  # somebody said that it was too late
        signed = bool(facts.digests) and self.has_written() and not again
        attempt = max(signatures, 1) if signed or not signatures else signatures + 1
        answer, sealed = numbered("signatures", attempt), self.record("seal")
        addresses = {name: checksum_address(signer.address) for name, signer in self.plan.signers.items()}
        shown = self.record("address").split()
        looked_at = [each.compared for each in self.stands.checkpoints["preflight"] if signed and each.holds]
        signer, first_signer = self.held("signer"), next(iter(self.plan.signers), "")
        first = (DEPLOYMENT, PEOPLE)
        evidence = tuple(f"{_ARTEFACTS}{name}" for name in EVIDENCE_FILES)
        return [
            _take("Wait for the deployment and the names.",
                 facts.files >= set(first), brings=first),
            Task("begin", (), "Begin the ceremony here.", self.begun, brings=(PEOPLE,)),
            self.compare("plan", self.plan.fingerprint),
            self.compare("deployment", facts.deployment, DEPLOYMENT),
            Task("trust", signer, "Pin the deployment.",
                 bool(facts.deployment) and facts.pinned == facts.deployment),
            Task("preflight", self.held("facilitator"), "State the time from a watch, and look at this machine.",
                 signed or (facts.clock_stated and self.is_fit())),
            self.compare("preflight", looked_at[-1] if looked_at else self.record("preflight")),
            *(Task("address", signer, f"All look at {name}'s address on the Ledger, then confirm it.",
                   address in shown, name) for name, address in addresses.items()),
            self.compare("address", self.record("address") if set(addresses.values()) <= set(shown) else ""),
            *self.proofs(),
            Task("gather", (), "Tell the online machine that this one is ready.", READY in facts.files),
            _hand("Hand over that this machine is ready.",
                 asked in facts.files or self.handed((READY,)), brings=(READY,)),
            _take("Wait for the requests.", asked in facts.files, brings=(asked,)),
            self.compare("requests", facts.requests, asked),
            Task("sign", signer, "Review each step. All look at the Ledger: sign it there.", signed,
                 attempt=attempt, brings=(asked,)),
            self.compare("review", self.record("review") if signed else ""),
            _hand("Hand the signatures over: secret until submitted.",
                 self.handed((answer,)), brings=(answer,)),
            Task("seal", signer, "When the outcome was read on the other machine: seal.",
                 bool(sealed), first_signer),
            self.compare("seal", sealed),
            Task("end", (), "End the ceremony here.", self.stands.ended_ms is not None),
            Task("report", (), "Make this machine's report.", "evidence" in facts.files, brings=(asked, answer)),
            _hand("Hand this machine's evidence over.",
                 self.handed(evidence), brings=evidence),
        ]  # fmt: skip

    @property
    def begun(self) -> bool:
        """Whether it began here, and was not begun again with another plan."""
        return self.stands.is_open or self.stands.ended_ms is not None

    def held(self, role: str) -> tuple[str, ...]:
        """Return a role as who acts, where the plan names it; else the plan's first."""
        return (role,) if role in self.plan.roles else self.plan.roles[:1]

    def handed(self, names: tuple[str, ...]) -> bool:
        """Tell whether all of these files were handed over, and none of them is lost from the stick that is there."""
        facts = self.facts
        return {name.rpartition("/")[2] for name in names} <= facts.given & (facts.brought or facts.given)

    def record(self, checkpoint: str) -> str:
        """Return what stands on record for a checkpoint, empty when nothing does."""
        return last_on_record(self.section, self.plan, CHECKPOINTS[checkpoint]) or ""

    def compare(self, checkpoint: str, compared: str, file: str = "") -> Task:
        """Return the task at which each role compares; done when every one of them confirmed what is there now."""
        roles = CHECKPOINTS[checkpoint].needs(self.half, self.plan)
        done = bool(compared) and self.stands.confirmed_by(checkpoint, compared).issuperset(roles)
        return Task(
            "compare", roles, CHECKPOINTS[checkpoint].compares, done, checkpoint, brings=(file,) if file else ()
        )

    def submitted(self) -> bool:
        """Tell whether every signature has an outcome on record that is certain, or was not sent because it came too late.

        Where all came too late they are prepared again.
        """
        last = {}
        for entry in self.section:
            if entry.event == "outcome" and (
                state := TOO_LATE if entry.data.get(TOO_LATE) else entry.data.get("state")
            ):
                last[entry.data.get("digest")] = state
        ends = {last.get(digest) for digest in self.facts.digests}
        return bool(self.since_submission()) and not ends.isdisjoint(_OUTCOMES) and ends <= {TOO_LATE, *_OUTCOMES}

    def has_written(self) -> bool:
        """Tell whether the newest signatures are on record: a kill between the file and its record leaves the file alone."""
        written = [entry.data.get("signatures") for entry in self.section if entry.event == "signatures-written"]
        return self.facts.signatures in written

    def came_too_late(self) -> bool:
        """Tell whether the newest signatures were to be submitted, and the newest requests were prepared after that."""
        prepared = (entry for entry in self.since_submission() if entry.event == "prepared")
        return any(entry.data.get("requests") == self.facts.requests for entry in prepared)

    def since_submission(self) -> list[Entry]:
        """Return the entries since the newest signatures were first to be submitted; none before."""
        for place, entry in enumerate(self.section):
            if entry.event == "submit-begun" and entry.data.get("signatures") == self.facts.signatures:
                return self.section[place:]
        return []

    def is_fit(self) -> bool:
        """Tell whether the last preflight refused nothing and found the Ledger ready."""
        last = next((entry.data for entry in reversed(self.section) if entry.event == "preflight"), None)
        return last is not None and not last.get("refused") and "error" not in (last.get("device") or {})

    def proofs(self) -> Iterator[Task]:
        """Yield how the delegate keys prove themselves: their proofs come or are there, and are checked here."""
        checked = {entry.data.get("challenge") for entry in self.section if entry.event == PROVED}
        needed = [step.id for step in registrations(self.plan) if not is_waived(step)]
        owed = {step for step in needed if self.facts.challenges.get(step) not in checked}
        there = {file: steps & owed for file, steps in self.facts.proofs.items() if steps & owed}
        absent = [step for step in needed if step in owed.difference(*there.values())]
        file = numbered(PROOFS, newest(PROOFS, self.facts.files) + 1)
        if not needed:
            return

        def named(steps: list[str]) -> str:
            return ", ".join(steps[:3]) + (f" and {len(steps) - 3} more" if steps[3:] else "")

        says = (
            f"Wait for {file}. The desk signs the challenge of step {named(absent or needed)}: on a Ledger by "
            "airlock-offline delegate prove; else its answer becomes the file by airlock-online delegate proof. It "
            "belongs into the ceremony's folder of that machine or of this one."
        )
        yield _take(says, not absent, PROOFS, brings=(file,))
        yield Task(
            "proof",
            (),
            f"Check the proof of the delegate key of step {named(needed)}.",
            not owed,
            PROOFS,
            brings=tuple(sorted(there)),
        )
