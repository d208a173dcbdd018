"""The configuration: unknown names and wrong values are refused, and the environment stands in for the node alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from airlock_online.config import OnlineConfig, read_config
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
        ("[reads]\nposition = '/v2/positions'", "'position'"),
        ("[reads]\nrelay = ['/v2/relay']", "'relay'"),
        ("[meta]\nchain_id = 1", "'chain_id'"),
    ],
)
def test_a_wrong_configuration_is_refused(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "config.toml").write_text(text)
    with pytest.raises(UsageError, match=told):
        read_config(tmp_path / "config.toml")


def test_without_a_file_there_are_defaults(tmp_path: Path) -> None:
    assert read_config(tmp_path / "config.toml") == OnlineConfig()
    assert (OnlineConfig().rpc.url, OnlineConfig().rpc.confirmations) == ("", 12)
    assert (OnlineConfig().reads.positions, OnlineConfig().reads.relay) == ("/v2/positions", "/v2/relay")


def test_a_section_changes_what_it_names_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[rpc]\nurl = "http://node"\n[reads]\nrelay = "/v3/relay"\n')
    config = read_config(tmp_path / "config.toml")
    assert config == OnlineConfig(
        rpc=OnlineConfig().rpc._replace(url="http://node"), reads=OnlineConfig().reads._replace(relay="/v3/relay")
    )


@pytest.mark.parametrize(("variable", "url"), [("", "http://file"), ("http://environment", "http://environment")])
def test_the_environment_stands_in_for_the_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, url: str
) -> None:
    monkeypatch.setenv(RPC_VARIABLE, variable)
    (tmp_path / "config.toml").write_text('[rpc]\nurl = "http://file"\nconfirmations = 3\n')
    assert OnlineHome(tmp_path).config().rpc == OnlineConfig().rpc._replace(url=url, confirmations=3)
