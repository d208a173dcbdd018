"""The page printed by a browser, where one is installed: a copy for people. It is not verified: ``report.html`` is.

The browser is started on the one file: it has no proxy that exists, resolves no name, and the page's own policy lets it load
nothing. Its home is a new folder that is removed afterwards: without one, Chromium takes ``/tmp``, where anybody may write,
and loads a library from there.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

from airlock_shared.host.files import read_input, write_new

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
LONGEST_S = 120
_FOLDERS = ("HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR")
_ARGUMENTS = (
    "--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-dev-shm-usage", "--disable-extensions", "--disable-default-apps", "--mute-audio",
    "--no-default-browser-check", "--no-pdf-header-footer", "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=127.0.0.1:9",
)  # fmt: skip


def browser() -> str | None:
    """Return the path of a browser that can print, or None."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def print_page(html: Path, pdf: Path) -> str:
    """Print ``html`` into the new file ``pdf`` and return an empty text; otherwise return why there is none."""
    program = browser()
    if program is None:
        return "no browser that can print it is installed here"
    with tempfile.TemporaryDirectory(prefix="airlock-print-") as folder:
        printed = Path(folder) / "report.pdf"
        words = [program, *_ARGUMENTS, *(("--no-sandbox",) if os.geteuid() == 0 else ())]  # root has no sandbox to use
        words += [f"--user-data-dir={folder}/profile", f"--print-to-pdf={printed}", html.absolute().as_uri()]
        why = _run(words, {"PATH": os.defpath, **dict.fromkeys(_FOLDERS, folder)})
        if why or not printed.is_file():
            return why or "the browser printed nothing"
        write_new(pdf, read_input(printed))
    return ""


def _run(words: list[str], variables: dict[str, str]) -> str:
    """Run the browser and its children as a group, and end what is left of it; return why it failed, or an empty text."""
    process = subprocess.Popen(  # noqa: S603 (the program that the operator has on the path, and our own arguments)
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=variables,
        start_new_session=True,
    )
    try:
        code = process.wait(LONGEST_S)
    except subprocess.TimeoutExpired:
        return f"the browser took more than {LONGEST_S} s"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return "" if code == 0 else f"the browser ended with {code}"
