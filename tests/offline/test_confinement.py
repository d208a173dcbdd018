"""The kernel refuses, past Python: native code, children, foreign ABIs, threads, files; and a command still works."""

import ctypes
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from airlock_shared.ceremony.roles import write_people
from airlock_shared.host.picture_sources import SONAME, why_left_out
from airlock_shared.plan.reader import parse_plan
from offline.confined import confined, require_landlock, require_seccomp
from shared.world import DEPLOYMENT_TEXT, plan_text_of

SH = 'import subprocess; print(subprocess.run(["sh", "-c", {line!r}], capture_output=True, text=True).stdout, end="")'
FILE = "document.json"


@pytest.fixture
def words(tmp_path: Path) -> tuple[str, ...]:
    (tmp_path / FILE).write_text("{}")
    return ("--home", str(tmp_path / "home"), "digest", str(tmp_path / FILE))


@pytest.mark.parametrize(
    ("attempt", "expected"),
    [
        ("libc.socket(2, 1, 0)", "EPERM"),
        ("libc.socket(1, 1, 0)", "EPERM"),
        ("libc.socket(16, 3, 0)", "EPERM"),
        ("libc.socket(17, 3, 0)", "EPERM"),
        ("libc.socketpair(1, 1, 0, (ctypes.c_int * 2)())", "EPERM"),
        ("libc.connect(0, None, 0)", "EPERM"),
        ("libc.ptrace(0, 0, 0, 0)", "EPERM"),
        ("libc.unshare(0x40000000)", "EPERM"),
        ("libc.syscall(425, 8, None)", "EPERM"),  # io_uring_setup
        ("libc.syscall(438, 3, 0, 0)", "EPERM"),  # pidfd_getfd
        ("libc.ioctl(0, 0x5412, b'x')", "EPERM"),  # TIOCSTI
        ("libc.syscall(435, None, 0)", "ENOSYS"),  # clone3
        ("libc.getppid()", "done"),
        ("os.close(os.open('/dev/null', os.O_RDWR))", "done"),
    ],
)
def test_native_code_is_refused_by_the_kernel(words: tuple[str, ...], attempt: str, expected: str) -> None:
    require_seccomp()
    ended = confined(f"print(said(lambda: {attempt}))", *words)
    assert ended.stdout == f"{expected}\n", ended.stderr


def test_a_child_reaches_no_listening_port(words: tuple[str, ...]) -> None:
    require_seccomp()
    reach = 'python3 -c \'import socket; socket.create_connection(("127.0.0.1", {})); print("reached")\' 2>&-; true'
    with socket.create_server(("127.0.0.1", 0)) as server:
        line = reach.format(server.getsockname()[1])
        ended = confined(SH.format(line=line) + "\nprint('ran')", *words)
        assert ended.stdout == "ran\n", ended.stderr
        assert subprocess.run(["sh", "-c", line], capture_output=True, check=True).stdout == b"reached\n"


def test_a_thread_that_ran_before_is_refused_too(words: tuple[str, ...]) -> None:
    """A library may begin one when it is imported: before the command's words are read."""
    require_seccomp()
    before = (
        "import threading\n"
        "go = threading.Event()\n"
        "def wait():\n"
        "    go.wait()\n"
        "    print(said(lambda: libc.socket(2, 1, 0)), flush=True)\n"
        "thread = threading.Thread(target=wait)\n"
        "thread.start()"
    )
    ended = confined("go.set()\nthread.join()", *words, before=before)
    assert ended.stdout == "EPERM\n", ended.stderr


def test_a_thread_that_ran_before_makes_landlock_a_thing_that_is_not_claimed(words: tuple[str, ...]) -> None:
    require_landlock()
    before = "import threading, time\nthreading.Thread(target=time.sleep, args=(3,), daemon=True).start()"
    script = "import click\nprint(click.get_current_context().find_root().obj.confinement)"
    ended = confined(script, *words, before=before)
    assert "landlock=0, landlock_why='2 threads run already" in ended.stdout
    assert "seccomp=True" in ended.stdout


def test_a_rehearsal_reaches_its_port_and_with_landlock_no_other(tmp_path: Path) -> None:
    require_seccomp()
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_server(("127.0.0.1", 0)) as other:
        ports = [each.getsockname()[1] for each in (server, other)]
        script = (
            "import socket\n"
            f"for port in {ports}:\n"
            "    print(said(lambda: socket.create_connection(('127.0.0.1', port)).close()))\n"
            "print(said(lambda: libc.socket(1, 1, 0)), said(lambda: libc.socket(2, 2, 0)))"
        )
        words = ("--home", tmp_path / "home", "address", "--path", "m/44'/60'/0'/0/0", "--emulator", ports[0])
        said = confined(script, *words, name="address").stdout.split()
    assert (said[0], said[2:]) == ("done", ["EPERM", "EPERM"])
    require_landlock(4)
    assert said[1] == "EACCES"


def in_sign(tmp_path: Path, script: str) -> list[str]:
    """Return what a script says in place of ``sign``, whose plan, requests and output have folders of their own."""
    for name in ("in", "out", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("{}")
    read, written = tmp_path / "in", tmp_path / "out"
    words = (read / "requests.json", "--plan", read / "file", "-o", written / "signatures.json")
    ended = confined(script, "--home", tmp_path / "home", "sign", *words, name="sign")
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.splitlines()


def test_files_are_written_in_the_state_folder_and_beside_the_output_and_nowhere_else(tmp_path: Path) -> None:
    require_landlock(3)
    script = (
        f"for name in ('home', 'out', 'other', 'in', '.'):\n"
        f"    path = os.path.join({str(tmp_path)!r}, name)\n"
        f"    print(name, said(lambda: open(path + '/new', 'x').close()),"
        f" said(lambda: os.truncate(path + '/file', 0)) if name not in ('home', '.') else '',"
        f" said(lambda: os.rename(path + '/new', path + '/newer')) if name in ('home', 'out') else '')\n"
        f"print(said(lambda: os.symlink('/', {str(tmp_path)!r} + '/out/link')),"
        f" said(lambda: os.mkfifo({str(tmp_path)!r} + '/out/pipe')),"
        f" said(lambda: os.link({str(tmp_path)!r} + '/in/file', {str(tmp_path)!r} + '/out/hard')))"
    )
    assert in_sign(tmp_path, script) == [
        "home done  done", "out done done done", "other EACCES EACCES ", "in EACCES EACCES ", ". EACCES  ",
        "EACCES EACCES EXDEV",
    ]  # fmt: skip


@pytest.mark.parametrize("command", ["digest", "verify", "explain"])
def test_a_command_that_only_reads_may_write_nothing_in_the_state_folder(tmp_path: Path, command: str) -> None:
    require_landlock(3)
    home, file = tmp_path / "home", tmp_path / FILE
    home.mkdir()
    (home / "pin").write_text("theirs")
    file.write_text("{}")
    script = (
        f"path = {str(home / 'pin')!r}\n"
        "print(said(lambda: os.close(os.open(path, os.O_RDONLY))), said(lambda: os.close(os.open(path, os.O_WRONLY))),\n"
        "      said(lambda: os.truncate(path, 0)), said(lambda: os.unlink(path)), said(lambda: open(path + 'new', 'x')))"
    )
    words = {"digest": (file,), "verify": (file, "--plan", file), "explain": ("DOC-JSON",)}[command]
    ended = confined(script, "--home", home, command, *words, name=command)
    assert (ended.returncode, ended.stdout.split()) == (0, ["done", *4 * ["EACCES"]]), ended.stderr


def test_of_files_those_named_are_read_and_what_python_and_the_system_need(tmp_path: Path) -> None:
    require_landlock()
    script = (
        f"for path in ({str(tmp_path / 'in/file')!r}, {str(tmp_path / 'other/file')!r}, os.path.expanduser('~'), '/',\n"
        f"             '/etc/passwd', '/sys/class', '/proc/self/status', os.__file__):\n"
        f"    print(said(lambda: os.close(os.open(path, os.O_RDONLY))))"
    )
    assert in_sign(tmp_path, script) == ["done", "EACCES", "EACCES", "EACCES", "done", "done", "done", "done"]


def test_nothing_that_was_written_is_run_and_no_other_process_is_read(tmp_path: Path) -> None:
    require_landlock()
    with subprocess.Popen(["sleep", "60"]) as other:
        script = (
            f"path = {str(tmp_path / 'out/program')!r}\n"
            "with open(path, 'w') as file: file.write('#!/bin/sh\\ntrue\\n')\n"
            "os.chmod(path, 0o700)\n"
            "import subprocess\n"
            "print(said(lambda: subprocess.call([path])), subprocess.call(['true']))\n"
            f"print(said(lambda: os.close(os.open('/proc/{other.pid}/mem', os.O_RDWR))), "
            f"said(lambda: len(os.readlink('/proc/{other.pid}/fd/0'))))"
        )
        said = in_sign(tmp_path, script)
        other.kill()
    assert said == ["EACCES 0", "EACCES EACCES"]


def test_a_device_that_is_plugged_in_after_the_filter_is_opened_and_told_things(tmp_path: Path) -> None:
    """/dev is allowed as a folder: a file that was not there when the filter was made, and ioctl on a real device."""
    require_landlock()
    script = (
        "import fcntl, array, pty\n"
        "ours, theirs = pty.openpty()\n"  # a device file that appears now, as hidraw does for a Ledger
        "device = os.open(os.ttyname(theirs), os.O_RDWR | os.O_NOCTTY)\n"
        "print(os.write(device, b'hello'), os.read(ours, 5).decode())\n"
        "random = os.open('/dev/random', os.O_RDWR)\n"
        "print(said(lambda: fcntl.ioctl(random, 0x80045200, array.array('i', [0]), True)))"  # RNDGETENTCNT
    )
    assert in_sign(tmp_path, script) == ["5 hello", "done"]


def test_hidapi_looks_for_ledgers_under_the_filter_without_a_socket_or_a_thread(tmp_path: Path) -> None:
    require_seccomp()
    script = (
        "from airlock_offline.ledger.usb import hidapi, plugged_ledgers\n"
        "print(hidapi().__name__, [plugged_ledgers() for _ in range(3)] == [[]] * 3, len(os.listdir('/proc/self/task')))"
    )
    assert in_sign(tmp_path, script) == ["hidraw True 1"]


def test_a_file_that_another_account_put_in_the_way_of_ours_is_named(tmp_path: Path) -> None:
    words = ("--home", tmp_path / "home", "address", "--path", "m/44'/60'/0'/0/0")
    (tmp_path / f"airlock-{os.getuid()}").symlink_to("/etc")
    before = f"import tempfile\ntempfile.tempdir = {str(tmp_path)!r}"
    ended = confined("print('ran')", *words, name="address", before=before)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "this account's own folder" in ended.stderr


def test_of_the_devices_a_child_uses_the_camera_that_it_was_named_alone() -> None:
    require_landlock()
    script = (
        "import os, pty\n"
        "from pathlib import Path\n"
        "from airlock_offline.confinement.command import ALONE, confine\n"
        "named, other = (os.ttyname(pty.openpty()[1]) for _ in range(2))\n"
        "confine(ALONE._replace(devices=(Path(named),)))\n"
        "def said(path):\n"
        "    try: os.close(os.open(path, os.O_RDWR | os.O_NOCTTY))\n"
        "    except OSError as error: return error.errno\n"
        "print(said(named), said(other), said('/dev/zero'))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["None", "13", "13"]


@pytest.mark.parametrize(
    "words",
    [("plan", "show", FILE), ("plan", "check", FILE), ("digest", FILE), ("verify", FILE, "--plan", FILE),
     ("explain", "DOC-JSON"), ("transcript", "show"), ("transcript", "verify", FILE),
     ("delegate", "challenge", "--plan", FILE), ("config", "show"),
     ("doctor",), ("report", "verify", FILE), ("ceremony", "show"), ("ceremony", "workflow", FILE),
     ("forget", "--transcript", FILE)],
)  # fmt: skip
def test_a_read_makes_no_state_folder(tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / FILE).write_text("{}")
    line = [str(Path(sys.executable).with_name("airlock-offline")), "--home", str(tmp_path / "home"), *words]
    subprocess.run(line, cwd=tmp_path, capture_output=True, check=False, timeout=60)
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_where_a_ceremony_stands_is_read_from_the_folder_beside_its_plan(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(plan_text_of("open"))
    (folder := tmp_path / "plan.ceremony").mkdir()
    (folder / "deployment.json").write_text(DEPLOYMENT_TEXT)
    (folder / "people.json").write_bytes(write_people(parse_plan(plan_text_of("open").encode()), {}))
    command = str(Path(sys.executable).with_name("airlock-offline"))
    line = [command, "--home", str(tmp_path / "home"), "ceremony", "workflow", str(tmp_path / "plan.toml")]
    ended = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
    assert (ended.returncode, "  1  done   " in ended.stdout) == (0, True), ended


PICTURES_CHILD = (
    "import io, sys\n"
    "from airlock_offline.scanning import scan_child\n"
    "from airlock_shared.qr.scan import second_decoder_hint\n"
    "class Given: buffer = io.BytesIO(b'[]')\n"
    "sys.stdin = Given\n"
    "scan_child.main()\n"
    "print('', second_decoder_hint(), sep='|')"
)


@pytest.mark.parametrize("words", [("doctor", "--json"), ("preflight", "--json")], ids=lambda words: words[0])
def test_the_second_decoder_is_judged_alike_and_used_by_the_child_that_reads_pictures(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    try:
        sound = not why_left_out(ctypes.CDLL(SONAME))
    except OSError:
        pytest.skip("zbar is not installed: on Debian, apt-get install libzbar0")
    line = [str(Path(sys.executable).with_name("airlock-offline")), "--home", str(tmp_path / "home"), *words]
    told = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60).stdout
    assert sound is ("a hostile code may overflow" not in told), told
    ended = subprocess.run([sys.executable, "-c", PICTURES_CHILD], capture_output=True, text=True, check=True)
    assert sound is (ended.stdout.rpartition("|")[2] == "\n"), ended.stdout
