"""A ceremony without a file: codes that one installed command shows and the other reads, on pictures and in a terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from airlock_rehearsal.camera import photograph
from airlock_shared.qr.scan import texts_in
from airlock_shared.ur.decode import Decoder
from airlock_shared.ur.envelope import unwrap
from airlock_shared.wire.strict_json import fingerprint
from e2e.conftest import OFFLINE, ONLINE, BothMachines, Ledger
from shared.world import good, to_bytes

LINE = re.compile(r"\x1b\[38;5;16;48;5;231m([ ▀▄█]+)\x1b\[0m")


# ---- every command with --qr ------------------------------------------------------------------------------------------


def codes_of(desk: BothMachines, machine: str, file: str) -> Path:
    """Show a kept document on one machine, and return bad pictures of the codes."""
    run = desk.online if machine == "online" else desk.offline
    name = Path(file).name
    assert run("show", file, "--as", "png", "-o", desk.path(f"{name}.codes")).code == 0
    photograph(desk.path(f"{name}.codes"), desk.path(f"{name}.pictures"), seed=name)
    return desk.path(f"{name}.pictures")


def prepared(desk: BothMachines, ceremony: str = "delegate-key") -> tuple[Path, Path]:
    """Prepare with --qr and without a file; return the plan's path and pictures of the requests."""
    plan = desk.write_plan(ceremony)
    ended = desk.online("prepare", plan, "--qr", "--json")
    assert ended.code == 0, ended.err
    shown = ended.json()
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
    signed = desk.offline(*words, typed="Yes\nYes\n")
    assert signed.code == 0, signed.err
    answer = signed.json()
    assert (answer["kind"], answer["steps"][0]["result"]) == ("airlock/signatures@1", "signed")
    assert Path(answer["codes"]).is_file()
    document = json.loads(Path(answer["file"]).read_bytes())
    assert fingerprint(document) == answer["fingerprint"]
    assert Path(answer["file"]).is_relative_to(desk.path("offline-home"))
    delivered = desk.online("submit", codes_of(desk, "offline", answer["file"]), "--qr", screen=answer["words"])
    assert delivered.code == 0, delivered.err
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


def test_the_wrong_document_is_refused_by_each_command(desk: BothMachines) -> None:
    plan, requests = prepared(desk)
    deployment = codes_of(desk, "online", str(desk.path("deployment.json")))
    for ended in (
        desk.online("submit", requests, "--qr", typed="Yes\n"),
        desk.offline("trust", requests, "--qr", typed="Yes\n"),
        desk.offline("verify", deployment, "--qr", "--plan", plan, typed="Yes\n"),
        desk.offline("sign", deployment, "--qr", "--plan", plan, typed="Yes\n"),
    ):
        assert ended.code == 4
        assert "QR-ENVELOPE: a document of another kind" in ended.err


# ---- in a terminal ----------------------------------------------------------------------------------------------------


class Screen:
    """An installed command in a terminal of its own; what it draws is read by the decoders."""

    def __init__(self, rows: int, columns: int, *words: object) -> None:
        self.outside, inside = pty.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process = subprocess.Popen(
            [str(word) for word in words], stdin=subprocess.DEVNULL, stdout=inside, stderr=subprocess.PIPE, text=True
        )
        os.close(inside)
        self.drawn = b""

    def more(self) -> bool:
        """Take what was drawn since; False at the end."""
        try:
            data = os.read(self.outside, 1 << 16)
        except OSError:  # the other end is closed
            return False
        self.drawn += data
        return bool(data)

    def texts(self) -> list[str]:
        """Return the texts of the codes that were drawn whole."""
        lines = LINE.findall(self.drawn.decode(errors="ignore"))
        side = len(lines[0]) if lines else 1
        height = (side + 1) // 2
        whole_codes = [lines[at : at + height] for at in range(0, len(lines) - height + 1, height)]
        return [text for code in whole_codes for text in texts_in(picture_of(code))]

    def end(self) -> str:
        """Close everything and return what was said."""
        assert self.process.stderr is not None
        said = self.process.stderr.read()
        self.process.stderr.close()
        os.close(self.outside)
        return said


def picture_of(lines: list[str]) -> Image.Image:
    """Return half blocks as a picture, four pixels a module."""
    upper = {" ": 255, "▀": 0, "▄": 255, "█": 0}
    lower = {" ": 255, "▀": 255, "▄": 0, "█": 0}
    rows = [bytes(half[character] for character in line) for line in lines for half in (upper, lower)]
    code = Image.frombytes("L", (len(rows[0]), len(rows)), b"".join(rows))
    return code.resize((4 * code.width, 4 * code.height), Image.Resampling.NEAREST)


def write(path: Path, document: Any) -> Path:
    path.write_bytes(to_bytes(document))
    return path


@pytest.mark.parametrize("program", [ONLINE, OFFLINE], ids=["online", "offline"])
def test_a_terminal_plays_until_ctrl_c_which_is_its_normal_end(program: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "requests.json", good("desk-key"))
    screen = Screen(40, 100, program, "--home", tmp_path / "home", "show", file)
    decoder = Decoder()
    while decoder.result is None:
        assert screen.more()
        for text in screen.texts():
            decoder.receive(text)
    screen.process.send_signal(signal.SIGINT)
    while screen.more():
        pass
    assert screen.process.wait(30) == 0
    assert "Ctrl-C when the other machine has them all" in screen.end()
    assert unwrap(decoder.result.cbor).fingerprint == fingerprint(good("desk-key"))
    assert list((tmp_path / "home").glob("*")) == []
