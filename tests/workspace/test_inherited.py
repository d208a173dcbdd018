"""The tests set what they would inherit: signals that are ignored, a umask."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from shared.world import VECTORS

CONFTEST = VECTORS.parent / "conftest.py"
INNER = """
import os, signal, subprocess, sys

def test_inner():
    told = "import signal, os; print([signal.getsignal(n).name for n in (1, 2, 3, 15) if n != 2], os.umask(0))"
    ended = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True)
    assert ended.stdout.strip() == "['SIG_DFL', 'SIG_DFL', 'SIG_DFL'] 18", ended.stdout
    told = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    assert subprocess.run([sys.executable, "-c", told], capture_output=True, text=True).stdout.strip() == "True"
    os.kill(os.getpid(), signal.SIGHUP)
"""


def test_what_a_test_starts_inherits_neither_ignored_signals_nor_a_umask(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST.read_text())
    (tmp_path / "test_inner.py").write_text(INNER)

    def inherited() -> None:
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT):
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        os.umask(0o077)

    options = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(tmp_path))
    command = [sys.executable, *options]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, preexec_fn=inherited, timeout=60)
    assert ended.returncode == 0, ended.stdout + ended.stderr
