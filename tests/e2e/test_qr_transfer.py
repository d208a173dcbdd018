"""A ceremony without a file: codes that one installed command shows and the other reads, on pictures and in a terminal."""

import json
import re
from pathlib import Path
from random import Random

import pytest
from PIL import Image

from airlock_rehearsal.machines import photograph
from airlock_shared.wire.strict_json import fingerprint
from bench.picture_faults import DEGRADATIONS, captured
from e2e.conftest import OFFLINE, ONLINE, BothMachines, Ledger
from e2e.terminal import Terminal
from shared.world import good, to_bytes

CODE_LINE = re.compile(r"\x1b\[38;5;16;48;5;231m[ ▀▄█]+\x1b\[0m")


# ---- every command with --qr ------------------------------------------------------------------------------------------


def codes_of(desk: BothMachines, machine: str, file: str) -> Path:
    """Show a kept document on one machine, and return bad pictures of the codes."""
    run = desk.online if machine == "online" else desk.offline
    name = Path(file).name
    assert run("show", file, "--as", "png", "-o", desk.path(f"{name}.codes")).code == 0
    pictures = desk.path(f"{name}.pictures")
    photograph(desk.path(f"{name}.codes"), pictures, seed=name)
    seed = Random(name)
    for picture in sorted(pictures.iterdir()):
        with Image.open(picture) as code:
            seed.choice([*DEGRADATIONS.values()]).apply(captured(code), seed, level=0).save(picture, compress_level=1)
    return pictures


def prepared(desk: BothMachines, ceremony: str = "delegate-key") -> tuple[Path, Path]:
    """Prepare with --qr and without a file; return the plan's path and pictures of the requests."""
    plan = desk.write_plan(ceremony)
    shown = desk.online("prepare", plan, "--qr", "--json").done().json()
    assert (shown["as"], shown["kind"]) == ("page", "airlock/requests@1")
    words = r"\s+".join(f"{number} {word}" for number, word in enumerate(shown["words"].split(), start=1))
    assert len(re.findall(words, Path(shown["codes"]).read_text().replace("\\n", "\n"))) == 1
    assert Path(shown["file"]).is_relative_to(desk.path("online-home"))
    return plan, codes_of(desk, "online", shown["file"])


def test_a_ceremony_needs_no_file(desk: BothMachines, ledger: Ledger) -> None:
    plan, pictures = prepared(desk)
    desk.prove(plan)
    checked = desk.offline("verify", pictures, "--qr", "--plan", plan, "--json", typed="Yes\n")
    assert (checked.code, checked.json()["ok"]) == (0, True)
    words = ("sign", pictures, "--qr", "--plan", plan, "--emulator", ledger.port, "--json")
    answer = desk.offline(*words, typed="Yes\nYes\n").done().json()
    assert (answer["kind"], answer["steps"][0]["result"]) == ("airlock/signatures@1", "signed")
    assert Path(answer["codes"]).is_file()
    document = json.loads(Path(answer["file"]).read_bytes())
    assert fingerprint(document) == answer["fingerprint"]
    assert Path(answer["file"]).is_relative_to(desk.path("offline-home"))
    delivered = desk.online("submit", codes_of(desk, "offline", answer["file"]), "--qr", screen=answer["words"]).done()
    assert "outcome: CONFIRMED" in delivered.out + delivered.err


def test_a_deployment_is_pinned_by_qr(desk: BothMachines) -> None:
    pictures = codes_of(desk, "online", str(desk.path("deployment.json")))
    desk.path("offline-home/pins/rehearsal.json").unlink()
    for typed in ("", "Yes\nno\n"):
        assert desk.offline("trust", pictures, "--qr", typed=typed).code == 6
    assert not desk.path("offline-home/pins/rehearsal.json").exists()
    assert desk.offline("trust", pictures, "--qr", typed="Yes\nYes\n").code == 0
    pinned = json.loads(desk.path("offline-home/pins/rehearsal.json").read_bytes())
    assert fingerprint(pinned) == fingerprint(json.loads(desk.path("deployment.json").read_bytes()))


# ---- in a terminal ----------------------------------------------------------------------------------------------------


class TallTerminal(Terminal):
    """A terminal with room for a code."""

    ROWS = 40


@pytest.mark.parametrize("program", [ONLINE, OFFLINE], ids=["online", "offline"])
def test_a_terminal_plays_until_ctrl_c_which_is_its_normal_end(program: Path, tmp_path: Path) -> None:
    file = tmp_path / "requests.json"
    file.write_bytes(to_bytes(good("desk-key")))
    terminal = TallTerminal(program, "--home", tmp_path / "home", "show", file)
    while len(CODE_LINE.findall(terminal.shown)) < TallTerminal.ROWS:
        assert terminal.more(), terminal.shown
    terminal.press("\x03")
    assert terminal.end() == 0
    assert "Ctrl-C when the other machine has them all" in terminal.shown
    assert list((tmp_path / "home").glob("*")) == []
