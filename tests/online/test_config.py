"""The configuration: unknown names and wrong values are refused, and the environment stands in for the node alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from airlock_online.config import OnlineConfig, read_config, require_proxy
from airlock_online.home import RPC_VARIABLE, OnlineHome
from airlock_shared.errors import UsageError


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[rpc", "not TOML"),
        ("[node]\nurl = 'x'", "unknown section"),
        ("rpc = 'http://node'", "not a table"),
        ("[rpc]\naddress = 'x'", "'address'"),
        ("[rpc]\nurl = 8545", "'url'"),
        ("[rpc]\nconfirmations = '3'", "'confirmations'"),
        ("[rpc]\nconfirmations = true", "'confirmations'"),
        ("[rpc]\nconfirmations = 1.0", "'confirmations'"),
        ("[rpc]\nconfirmations = 0", "confirmations is 0"),
        ("[rpc]\nconfirmed_by = 'latest'", "confirmed_by is 'latest'"),
        ("[rpc]\nconfirmed_by = ''", "confirmed_by is ''"),
        ("[rpc]\nconfirmed_by = 12", "'confirmed_by'"),
        ("[rpc]\nconfirmations = -1", "confirmations is -1"),
        ("[rpc]\nconfirmations = 1001", "confirmations is 1001"),
        ("[reads]\nnonce = '/v2/nonce'", r"unknown section \[reads\]"),
        ("[speech]\nlimits = {}", "a file of its own"),
        (
            "[paths]\nnonce = '/v2/nonce'",
            "use one of rpc, referral, http, api_key, venue; how services speak stands in a file",
        ),
        ("[http]\nplain_http = 1", "'plain_http'"),
        ("[http]\nverify = false", "'verify'"),
        ("[http]\nproxy = 'socks5://127.0.0.1:1080'", "proxy"),
        ("[http]\nproxy = 'http://user:word@proxy.example:3128'", "proxy"),
    ],
)
def test_a_wrong_configuration_is_refused(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "config.toml").write_text(text)
    with pytest.raises(UsageError, match=told):
        read_config(tmp_path / "config.toml")


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1:3128", "https://127.0.0.1:3128", "socks5://127.0.0.1:1080", "http://127.0.0.1", "http://u:p@127.0.0.1:1",
     "http://127.0.0.1:1/x", "http://:1", "http://a b:1", "http://127.0.0.1:0", "http://127.0.0.1:99999", "http://[::1"],
)  # fmt: skip
def test_a_proxy_has_one_form(address: str) -> None:
    with pytest.raises(UsageError, match="proxy") as caught:
        require_proxy(address)
    assert "u:p" not in str(caught.value)


def test_without_a_file_there_are_defaults(tmp_path: Path) -> None:
    assert read_config(tmp_path / "config.toml") == OnlineConfig()
    assert (OnlineConfig().rpc.url, OnlineConfig().rpc.confirmations) == ("", 12)
    paths = OnlineConfig().speech.paths
    assert (paths["positions"], paths["relay"]) == ("/v2/positions", "/v2/relay")


def test_a_section_changes_what_it_names_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[rpc]\nurl = "http://node"\n[venue]\nservices = "s.toml"\n')
    config = read_config(tmp_path / "config.toml")
    assert config == OnlineConfig(
        rpc=OnlineConfig().rpc._replace(url="http://node"), venue=OnlineConfig().venue._replace(services="s.toml")
    )


@pytest.mark.parametrize(("variable", "url"), [("", "http://file"), ("http://environment", "http://environment")])
def test_the_environment_stands_in_for_the_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, url: str
) -> None:
    monkeypatch.setenv(RPC_VARIABLE, variable)
    (tmp_path / "config.toml").write_text('[rpc]\nurl = "http://file"\nconfirmations = 3\n')
    assert OnlineHome(tmp_path).config().rpc == OnlineConfig().rpc._replace(url=url, confirmations=3)
