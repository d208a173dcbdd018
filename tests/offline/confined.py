"""A process that is confined as a command is, and then runs a script: what the kernel says, it prints."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from airlock_offline.cli.main import MODULES
from airlock_offline.confinement.filter import ARCHITECTURES, landlock_version

_START = """
import ctypes, errno, os, sys
sys.argv = ["airlock-offline", *sys.argv[1:]]
from airlock_offline import airgap
airgap.install_airgap = lambda: None  # the audit hook is another test's: here the kernel alone refuses
from airlock_offline.cli import main
import airlock_offline.cli.{module}
def said(work):
    try:
        result = work()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done" if result is None or result >= 0 else errno.errorcode[ctypes.get_errno()]
libc = ctypes.CDLL(None, use_errno=True)
{before}
def attack(**_):
{script}
airlock_offline.cli.{module}.{name}.callback = attack
main.main()
"""


def confined(script: str, *words: object, name: str = "digest", before: str = "") -> subprocess.CompletedProcess[str]:
    """Run a script in place of a command, under what the command's own words allow; ``before`` runs unconfined."""
    indented = "\n".join(f"    {line}" for line in script.splitlines())
    command, _, inside = name.partition(".")
    module = MODULES.get(command, command)
    source = _START.format(script=indented, before=before, module=module, name=inside or name)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    line = [sys.executable, "-c", source, *map(str, words)]
    return subprocess.run(line, env=environment, capture_output=True, text=True, check=False, timeout=120)


def require_seccomp() -> None:
    if not Path("/proc/sys/kernel/seccomp").exists() or platform.machine() not in ARCHITECTURES:
        pytest.skip("this kernel has no seccomp, or is for another machine")


def require_landlock(abi: int = 1) -> None:
    try:
        found = landlock_version()
    except OSError as error:
        pytest.skip(f"this kernel has no Landlock: {error}")
    if found < abi:
        pytest.skip(f"this kernel has Landlock ABI {found}, and this is about {abi}")
