"""A PostgreSQL server of the test run: Debian's package, in a folder of its own, on loopback, stopped at the end.

A test that asks for ``postgres_url`` gets the address of an empty database.
"""

import itertools
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from online.loopback import closed_port

_PLACES = Path("/usr/lib/postgresql")
_START_ATTEMPTS = 300
_numbers = itertools.count(1)


RUNUSER = shutil.which("runuser", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")
"""Root has to become another user: PostgreSQL does not run as root. Not every PATH has the folder of this program."""


def _programs() -> Path | None:
    """Return the folder of the newest server's programs, None without one."""
    found = sorted(_PLACES.glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))
    return found[-1].parent if found else None


def _user() -> list[str]:
    """Return what runs a command as a user that the server accepts: it refuses to run as root."""
    return [RUNUSER or "", "-u", "postgres", "--"] if os.geteuid() == 0 else []


def can_run() -> bool:
    return _programs() is not None and (os.geteuid() != 0 or RUNUSER is not None)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """Yield the address of a server, without the database's name."""
    if not can_run():
        pytest.skip("needs PostgreSQL: apt-get install postgresql")
    with running_server() as address:
        yield address


@contextmanager
def running_server() -> Iterator[str]:
    """Run a server, and yield its address without a database's name."""
    programs = _programs()
    assert programs is not None
    with TemporaryDirectory(prefix="airlock-postgres-") as name:
        data, port = Path(name) / "data", closed_port()
        if os.geteuid() == 0:
            shutil.chown(name, "postgres")
        _run(
            [str(programs / "initdb"), "-D", str(data), "-U", "airlock", "-A", "trust", "-E", "UTF8", "--no-sync"], name
        )
        server = subprocess.Popen(
            [*_user(), programs / "postgres", "-D", data, "-p", str(port), "-k", name, "-h", "127.0.0.1"],
            cwd=name,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _wait(programs, port)
            yield f"postgresql+psycopg://airlock@127.0.0.1:{port}"
        finally:
            _run([str(programs / "pg_ctl"), "-D", str(data), "-m", "fast", "-w", "stop"], name)
            server.wait()


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """Return the address of a new and empty database."""
    return new_database(postgres_server)


def new_database(server: str) -> str:
    import psycopg

    database = f"journal_{next(_numbers)}"
    with psycopg.connect(server.replace("+psycopg", "") + "/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {database}")
    return f"{server}/{database}"


def _run(command: list[str], folder: str) -> None:
    subprocess.run([*_user(), *command], cwd=folder, check=True, capture_output=True)


def _wait(programs: Path, port: int) -> None:
    for _ in range(_START_ATTEMPTS):
        ready = subprocess.run([programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(port)], check=False)
        if ready.returncode == 0:
            return
        time.sleep(0.1)
    raise RuntimeError("PostgreSQL did not start")
