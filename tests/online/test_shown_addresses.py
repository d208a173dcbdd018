"""No part of an address but scheme and host is shown, whatever is wrong with it; a home is where its name says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from airlock_online.clients.reply_values import shown_address
from commands import FinishedCommand, run_command
from draws import every_nth
from e2e.conftest import OFFLINE, ONLINE

SECRET = "SECRETSECRET1"
ADDRESSES = [
    f"http://user:{SECRET}@127.0.0.1:1/x", f"http://user:{SECRET}@127.0.0.1:99999/x", f"http://us@er:{SECRET}@[bad/x",
    f"http//user:{SECRET}@host", f"http://user:12/{SECRET}@host", f"http://127.0.0.1:1/?apikey={SECRET}",
    f"http://127.0.0.1:1/#{SECRET}", f"ftp://user:{SECRET}@host/x", f"http://user:SE/{SECRET}@host",
    f"HTTP://127.0.0.1:1/{SECRET}", f"http://127.0.0.1:1/{SECRET}@x",
]  # fmt: skip


@pytest.mark.parametrize("address", ADDRESSES)
def test_of_an_address_scheme_and_host_are_shown(address: str) -> None:
    assert SECRET not in shown_address(address)


@pytest.mark.parametrize(
    "address", every_nth(ADDRESSES[:-2], 3)
)  # of the last two, plain ones, a service's path is no secret
@pytest.mark.parametrize(
    "words",
    [
        ("ready", "--builder", "{}"), ("deployment", "fetch", "--name", "x", "--builder", "{}", "-o", "d.json"),
        ("deployment", "fetch", "--name", "x", "--builder", "http://127.0.0.1:1", "--relayer", "{}", "-o", "d.json"),
    ],
)  # fmt: skip
def test_no_command_line_s_address_is_said_again(tmp_path: Path, address: str, words: tuple[str, ...]) -> None:
    _says_nothing(tmp_path, [word.format(address) for word in words])


@pytest.mark.parametrize("address", every_nth(ADDRESSES, 3))
@pytest.mark.parametrize("section", ['[rpc]\nurl = "{}"', '[api_key]\nheader = "X-Api-Key"\naddresses = "{}"'])
@pytest.mark.parametrize("words", [("config", "show"), ("config", "show", "--json"), ("doctor",)])
def test_no_setting_s_address_is_said_again(tmp_path: Path, address: str, section: str, words: tuple[str, ...]) -> None:
    (tmp_path / "config.toml").write_text(section.format(address))
    _says_nothing(tmp_path, list(words), AIRLOCK_API_KEY="a" * 24 if "api_key" in section else "")


def _says_nothing(home: Path, words: list[str], **variables: str) -> None:
    ended = _run(ONLINE, ["--home", str(home), *words], home, variables)
    assert SECRET.lower() not in (ended.out + ended.err).lower()


def _run(program: object, words: list[str], folder: Path, variables: dict[str, str]) -> FinishedCommand:
    environment = {**os.environ, **{name: value for name, value in variables.items() if value}}
    return run_command(program, *words, env=environment, cwd=folder)


def test_a_password_is_not_fetched_into_a_deployment(tmp_path: Path) -> None:
    words = "deployment fetch --name x --builder http://127.0.0.1:1 -o d.json --relayer".split()
    ended = _run(ONLINE, ["--home", str(tmp_path), *words, f"http://user:{SECRET}@127.0.0.1:1"], tmp_path, {})
    assert (ended.code, "carries credentials" in ended.err) == (2, True)


# ---- homes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "variable", "words"),
    [(ONLINE, "AIRLOCK_ONLINE_HOME", ["status"]), (OFFLINE, "AIRLOCK_OFFLINE_HOME", ["config", "show"])],
)
def test_a_home_is_one_place_wherever_the_command_is_given(
    tmp_path: Path, program: object, variable: str, words: list[str]
) -> None:
    own = {"HOME": str(tmp_path / "me")}
    ended = _run(program, words, tmp_path, {**own, variable: "~/x"})
    assert f"{tmp_path}/me/x" in "".join((ended.out + ended.err).split("\n  "))
    for name in ("x", "./x", "../x", "~nobody-has-this-name/x"):
        ended = _run(program, words, tmp_path, {**own, variable: name})
        assert (ended.code, ended.out) == (2, "")
        assert f"{variable} is not an absolute name" in " ".join(ended.err.split())
    assert list(tmp_path.iterdir()) == []
