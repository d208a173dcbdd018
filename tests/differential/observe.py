"""What one state of the program says to every case: a JSON line each, for `run.py`, which holds two states side by side.

It runs in a process whose ``PYTHONPATH`` begins with the sources and tests of that state, at the vectors' own time.
The cases are the state's own vectors and honest documents, and alterations of them that a seed draws: two states whose
documents have the same structure draw the same ones.
"""

import argparse
import copy
import json
import os
import random
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from airlock_offline.cli.main import program
from airlock_rehearsal.services import server
from airlock_rehearsal.services.faults import IN_EXECUTION, Faults
from airlock_shared.errors import AirlockError
from airlock_shared.report.reexamined import judge
from airlock_shared.report.verify import report_of_artefacts
from commands import run_here
from offline.altered_requests import altered_documents
from offline.signing_world import FOLDERS, World, document
from online.online_command import APPROVAL, CLOSE, CODE, OPEN, TRIGGER, TWAP, OnlineCommand
from shared.make_payloads import NOW_MS
from shared.report.day import offline_files, online_files
from shared.strategies import at, places
from shared.world import (
    DEPLOYMENT_TEXT,
    PLAN_TEXTS,
    VECTORS,
    bad_plan,
    bad_request,
    patched,
    replaced,
    to_bytes,
    vectors,
)

Observation = dict[str, Any]
PARTS = ("sign", "verify", "plans", "digests", "deployments", "reports", "deliveries")

STEPS = {"sell": CLOSE, "buy": OPEN, "code": CODE, "stop": TWAP, "arm": TRIGGER, "allow": APPROVAL}
VALUES = {"attempts-fail": "=2", "error": "=NO_PRICE"}


class Observer:
    """The machine on which the commands run, and what they are given."""

    def __init__(self, folder: Path, count: int, seed: str) -> None:
        self.folder, self.count, self.seed = folder, count, seed
        self.patches = pytest.MonkeyPatch()
        self.world = World(folder, self.patches)
        self.patches.setattr(time, "time_ns", lambda: NOW_MS * 1_000_000)
        self.patches.setattr("airlock_offline.cli.verify.uptime", lambda: None)

    def command(self, *words: object, typed: str = "") -> Observation:
        """Run a command of the air-gapped half, and return its exit code and both its outputs; JSON in one layout."""
        told = run_here(program, "--home", self.folder / "fresh", *words, typed=typed)
        try:
            out = json.dumps(json.loads(told.out), indent=1)
        except ValueError:
            out = told.out
        return {"code": told.code, "out": out, "err": told.err}

    def draw(self, part: str) -> random.Random:
        return random.Random(f"{self.seed} {part}")

    def write(self, name: str, data: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(data)
        return path

    def sign(self) -> Iterator[tuple[str, Observation]]:
        """Yield honest and altered requests under ``sign``: the review, the record, and what was signed."""
        for name, data, folder in self._requests():
            ended = self.world.sign(data, folder)
            output = self.folder / "out.json"
            signed = json.loads(output.read_text())["signatures"] if output.exists() else None
            yield name, {"code": ended.code, "err": ended.err, "events": ended.events, "signed": signed}

    def verify(self) -> Iterator[tuple[str, Observation]]:
        """Yield the same requests and the bad ones under ``verify``: every verdict of every check, as JSON and as text."""
        for number, (name, data, folder) in enumerate(self._requests()):
            path, plan = self.write("requests.json", data), self.folder / f"{folder}.toml"
            yield name, self.command("verify", path, "--plan", plan, *(["--json"] if number % 2 else []))
        for folder in FOLDERS:
            for vector in vectors(f"{folder}/bad"):
                made, _situation, _steps = bad_request(vector)
                pinned = patched(json.loads(DEPLOYMENT_TEXT), vector.content.get("deployment", []))
                plan_text = replaced(PLAN_TEXTS[folder], vector.content.get("plan", []))
                path, plan = self.write("requests.json", to_bytes(made)), self.write("plan.toml", plan_text.encode())
                words = ("--plan", plan, "--deployment", self.write("deployment.json", to_bytes(pinned)))
                yield f"{folder} {vector.name}", self.command("verify", path, *words, "--json")

    def _requests(self) -> Iterator[tuple[str, bytes, str]]:
        for folder in FOLDERS:
            yield f"honest {folder}", json.dumps(document(folder)).encode(), folder
        honest = {folder: document(folder) for folder in FOLDERS}
        for number, made in enumerate(altered_documents(self.draw("requests"), self.count, honest)):
            yield f"altered {number}", made.data, made.folder

    def plans(self) -> Iterator[tuple[str, Observation]]:
        """Yield plans, bad plans and altered lines of plans under ``plan check`` and ``plan show``."""
        texts = PLAN_TEXTS | {vector.name: bad_plan(vector) for vector in vectors("plans/bad")}
        pick = self.draw("plans")
        for number in range(self.count // 10):
            texts[f"altered {number}"] = _altered_lines(pick.choice(list(PLAN_TEXTS.values())), pick)
        for name, text in texts.items():
            path = self.write("plan.toml", text.encode())
            yield f"check {name}", self.command("plan", "check", path, "--json")
            yield f"show {name}", self.command("plan", "show", path)

    def digests(self) -> Iterator[tuple[str, Observation]]:
        """Yield EIP-712 documents, good, bad and altered, under ``digest``."""
        good = {
            path.stem: json.loads(path.read_text())["document"]
            for path in sorted((VECTORS / "typed-data/good").glob("*"))
        }
        texts = {name: to_bytes(made) for name, made in good.items()}
        for vector in vectors("typed-data/bad"):
            text = vector.content.get("text")
            texts[vector.name] = text.encode() if text is not None else to_bytes(vector.content["document"])
        pick = self.draw("digests")
        for number in range(self.count // 5):
            texts[f"altered {number}"] = to_bytes(_altered(pick.choice(list(good.values())), pick))
        for name, data in texts.items():
            yield name, self.command("digest", self.write("typed-data.json", data), "--json")

    def deployments(self) -> Iterator[tuple[str, Observation]]:
        """Yield deployments under ``trust``: what is shown before the ``Yes``."""
        good = json.loads(DEPLOYMENT_TEXT)
        made = {"good": good}
        made |= {vector.name: patched(good, vector.content["patch"]) for vector in vectors("deployments/bad")}
        pick = self.draw("deployments")
        made |= {f"altered {number}": _altered(good, pick) for number in range(self.count // 25)}
        for name, value in made.items():
            yield name, self.command("trust", self.write("other.json", to_bytes(value)), typed="no\n")

    def reports(self) -> Iterator[tuple[str, Observation]]:
        """Yield the artefacts of a day, whole and altered: the report as JSON and as a page, or why there is none."""
        days = {"offline": offline_files(), "online": online_files()}
        for name, files in days.items():
            yield name, _report(files)
            for left in files:
                yield f"{name} without {left}", _report({file: data for file, data in files.items() if file != left})
        pick = self.draw("reports")
        for number in range(self.count // 25):
            day = pick.choice(list(days))
            yield f"altered {number}", _report(_altered_files(days[day], pick))

    def deliveries(self) -> Iterator[tuple[str, Observation]]:
        """Yield lives of signatures at services that misbehave and recover: how each ends, and how the last look does."""
        self.patches.undo()  # this half has a clock of its own, and waits
        for fault in ("", *(name for name in IN_EXECUTION if not name.startswith("silent"))):
            settings = server.RehearsalSettings(pacing_s=0.002, slow_s=0.01)  # type: ignore[attr-defined]  # in both states
            with TemporaryDirectory() as folder, server.RehearsalServices(settings=settings) as services:
                machine = OnlineCommand(Path(folder), services)
                signatures = machine.signatures(**STEPS)
                services.faults = Faults.of(fault + VALUES.get(fault, "")) if fault else Faults()
                machine("submit", signatures, "--patience", 0)
                services.faults = Faults()
                machine("follow", "--patience", 5)
                ended = machine("submit", signatures, "--json")
                told = [line for line in map(json.loads, ended.out.splitlines()) if "state" in line]
                outcomes = sorted((line["step"], line["state"], line["code"]) for line in told)
                yield fault or "none", {"code": ended.code, "outcomes": outcomes, "states": machine.states()}


def _report(files: Mapping[str, bytes]) -> Observation:
    try:
        made = report_of_artefacts(dict(files), judge)
    except AirlockError as error:
        return {"code": int(error.exit_code), "err": str(error)}
    return {"code": 0, "json": made.json.decode(), "html": made.html.decode()}


# ---- alterations ----------------------------------------------------------------------------------------------------------


def _altered(value: Any, pick: random.Random) -> Any:
    """Return a copy of a document with one to three of its places altered."""
    value = copy.deepcopy(value)
    for _ in range(pick.choice((1, 1, 2, 3))):
        found = places(value)
        if not found:
            return value
        *parents, key = pick.choice(found)
        node = at(value, parents)
        strange: list[Any] = [None, True, "", "0", "x" * 300, "\x1b[2J", "\u202e", -1, 2**256, 1.5, [], {}]
        strange += [[node[key]], str(node[key])]
        change = pick.randrange(4)
        if change == 0 and isinstance(node, dict):
            node[f"{key}2"] = node.pop(key)
        elif change == 1:
            del node[key]
        elif change == 2:
            node[key] = copy.deepcopy(at(value, pick.choice(found)))
        else:
            node[key] = pick.choice(strange)
    return value


def _altered_lines(text: str, pick: random.Random) -> str:
    """Return a text with one line altered, left out, doubled or moved."""
    lines = text.splitlines()
    place, change = pick.randrange(len(lines)), pick.randrange(5)
    line = lines[place]
    if change == 0:
        del lines[place]
    elif change == 1:
        lines.insert(place, line)
    elif change == 2:
        lines.insert(pick.randrange(len(lines)), lines.pop(place))
    elif line:
        at = pick.randrange(len(line))
        lines[place] = line[:at] + pick.choice('"0-ax{}[]=#.,\u202e') + line[at + (change == 3) :]
    return "\n".join(lines) + "\n"


def _altered_files(files: dict[str, bytes], pick: random.Random) -> dict[str, bytes]:
    """Return artefacts of which one has a byte, a member or a line altered."""
    name = pick.choice(sorted(files))
    if name.endswith(".json"):
        return files | {name: to_bytes(_altered(json.loads(files[name]), pick))}
    return files | {name: _altered_lines(files[name].decode(), pick).encode()}


def main() -> None:
    """Write an observation a line to the file that is named, the state's own case names first."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("output", type=Path)
    arguments.add_argument("--count", type=int, required=True)
    arguments.add_argument("--seed", required=True)
    arguments.add_argument("--part", action="append", choices=PARTS)
    given = arguments.parse_args()
    os.environ["TZ"] = "UTC"
    with TemporaryDirectory() as name, given.output.open("w") as output:
        os.environ["TMPDIR"] = name
        os.chdir(name)  # the same relative names in each state's sentences
        observer = Observer(Path(), given.count, given.seed)
        for part in given.part or PARTS:
            for case, seen in getattr(observer, part)():
                output.write(json.dumps({"case": f"{part}: {case}", **seen}) + "\n")
        observer.patches.undo()
        os.chdir("/")
        shutil.rmtree(name, ignore_errors=True)
    sys.exit(0)


if __name__ == "__main__":
    main()
