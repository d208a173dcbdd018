"""What every part of the tests has: signals and a umask that are set here, temporary files of its own, and a list of what
it left out, and why, at its end.

Where ``AIRLOCK_LEFT_OUT`` names a file, one line a reason is written to it: how many tests, a tab, the reason.
"""

import os
import signal
import stat
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

_LEFT_OUT: Counter[str] = Counter()
_SIGNALS: dict[signal.Signals, Any] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGHUP: lambda *_: None,  # these tests go on under nohup; what they start has the default
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGQUIT: signal.SIG_DFL,
    signal.SIGPIPE: signal.SIG_IGN,  # as Python itself has it
}
_UMASK = 0o022
_LONGEST = frozenset(
    f"test_{name}.py"
    for name in "rehearsal one_command interrupted_checkpoints many_steps public_venue second_venue ledger_errors "
    "crash campaign endings fairness interleavings killed_while_signing report "
    "document_commands install bundle".split()
)


def pytest_configure() -> None:
    """Set what would be inherited by every command that a test starts: from nohup, from a shell's background, from cron."""
    for number, handler in _SIGNALS.items():
        signal.signal(number, handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    os.umask(_UMASK)
    with suppress(ImportError):  # not every environment has it
        from hypothesis import settings

        settings.register_profile("at any speed", deadline=None)  # how long a case takes says how busy the machine is
        settings.load_profile("at any speed")
    if wrong := _wrong_with(Path(os.devnull)):
        pytest.exit(f"{os.devnull} {wrong}: put it right first (mknod -m 666 {os.devnull} c 1 3), or tests fail", 3)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest, so that no worker is left with one of them at the end."""
    items.sort(key=lambda item: item.path.name not in _LONGEST)


def _wrong_with(null: Path) -> str:
    """Return what is wrong with the null device, which other users' programs open too; empty when nothing is."""
    try:
        mode = null.stat().st_mode
    except OSError as error:
        return f"cannot be looked at ({error.strerror})"
    if not stat.S_ISCHR(mode):
        return "is no device"
    return "" if stat.S_IMODE(mode) == 0o666 else f"has the mode {stat.S_IMODE(mode):04o} instead of 0666"


@pytest.fixture(scope="session", autouse=True)
def _own_temporary_files() -> Iterator[None]:
    """Have the commands of this run lock the test seed's account among themselves, and not with another run's."""
    folder = TemporaryDirectory(prefix="airlock-tests-", ignore_cleanup_errors=True)
    with folder as name, pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", name)
        yield


def _note(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.skipped and isinstance(report.longrepr, tuple):
        _LEFT_OUT[str(report.longrepr[2]).removeprefix("Skipped: ").partition("\n")[0]] += 1


pytest_runtest_logreport = _note
pytest_collectreport = _note


def pytest_sessionfinish() -> None:
    """Write the list; an empty file says that nothing was left out. With workers, the one command over them writes it."""
    if (path := os.environ.get("AIRLOCK_LEFT_OUT")) and "PYTEST_XDIST_WORKER" not in os.environ:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text("".join(f"{count}\t{why}\n" for why, count in sorted(_LEFT_OUT.items())))
