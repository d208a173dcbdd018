"""A program's command line: what Ctrl-C leaves behind is told as an interruption, and nothing else is."""

from __future__ import annotations

import errno
import os

import click
import pytest

from airlock_shared.cli.program import run
from airlock_shared.errors import UsageError


def closed_twice(first: type[BaseException], code: int, *, wrapped: bool) -> None:
    """Close a file twice, as the standard library does where an error came between the closing and its end."""
    try:
        try:
            raise first
        finally:
            raise OSError(code, os.strerror(code))
    except OSError as error:
        if wrapped:
            raise UsageError("the journal cannot be used", do="check its folder") from error
        raise


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize(
    ("first", "code", "ends"),
    [(KeyboardInterrupt, errno.EBADF, 130), (KeyboardInterrupt, errno.ENOSPC, 2), (MemoryError, errno.EBADF, 2)],
)
def test_a_file_that_is_closed_twice_by_an_interruption_is_told_as_one(
    capsys: pytest.CaptureFixture[str], first: type[BaseException], code: int, ends: int, *, wrapped: bool
) -> None:
    command = click.command("fails")(lambda: closed_twice(first, code, wrapped=wrapped))
    assert run(command, []) == ends
    said = capsys.readouterr().err
    assert ("Interrupted." in said) is (ends == 130)
    assert ("Bad file" in said) is (ends == 2 and code == errno.EBADF and not wrapped)
