"""The network guard, each case in a process of its own: the guard cannot be taken out again."""

import os
import subprocess
import sys

import pytest

GUARD = "import socket\nfrom airlock_offline import airgap\nairgap.install_airgap()\n"


def _run(script: str) -> subprocess.CompletedProcess[str]:
    return _python(GUARD + script)


def _python(script: str) -> subprocess.CompletedProcess[str]:
    """Run a script that imports what this process imports."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    words = [sys.executable, "-c", script]
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "attempt",
    [
        "socket.socket()",
        "socket.getaddrinfo('localhost', 80)",
        "socket.socket(socket.AF_UNIX)",
        "import urllib.request; urllib.request.urlopen('http://127.0.0.1/')",
        "import asyncio; asyncio.run(asyncio.sleep(0))",
        "socket.sethostname('other')",
    ],
)
def test_every_way_to_a_socket_is_refused(attempt: str) -> None:
    ended = _run(attempt)
    assert ended.returncode != 0
    assert "AIRGAP-SOCKET" in ended.stderr


@pytest.mark.parametrize(
    "attempt",
    [
        "socket.create_connection(('127.0.0.1', 65001))",
        "socket.socket().connect(('127.0.0.2', 65000))",
        "socket.socket().bind(('127.0.0.1', 65000))",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
        "socket.socket(socket.AF_INET6)",
        "socket.getaddrinfo('localhost', 65000)",
    ],
)
def test_a_rehearsal_is_allowed_one_loopback_port_and_nothing_else(attempt: str) -> None:
    ended = _run(f"airgap.allow_loopback(65000)\n{attempt}")
    assert ended.returncode != 0
    assert "AIRGAP-SOCKET" in ended.stderr


def test_a_rehearsal_reaches_its_loopback_port() -> None:
    ended = _run(
        "airgap.allow_loopback(65000)\n"
        "try:\n    socket.create_connection(('127.0.0.1', 65000), timeout=5)\n"
        "except ConnectionRefusedError:\n    print('tried')"
    )
    assert ended.stdout == "tried\n"


def test_the_program_installs_the_guard_before_anything_else() -> None:
    script = (
        "import sys, socket\nfrom airlock_offline.cli import main\n"
        "sys.argv = ['airlock-offline', '--version']\n"
        "try:\n    main.main()\nexcept SystemExit:\n    pass\nsocket.socket()"
    )
    assert "AIRGAP-SOCKET" in _python(script).stderr
