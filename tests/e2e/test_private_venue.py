"""A venue with an authority of its own, behind a proxy, or on plain http: as the configuration says, and never else."""

import os
import socket
from pathlib import Path

from commands import FinishedCommand, run_command
from e2e.conftest import ONLINE
from online.loopback import closed_port
from online.test_http import CA, OK, proxy, read_request, server

READY = b'{"ok":true,"data":{"ready":true,"components":{}}}'


def _ready(connection: socket.socket) -> None:
    read_request(connection)
    connection.sendall(OK.replace(b"content-length: 2\r\n\r\n{}", b"content-length: %d\r\n\r\n" % len(READY)) + READY)


def _run(home: Path, config: str, *words: str, **environment: str) -> FinishedCommand:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(config)
    return run_command(ONLINE, "--home", home, *words, env=os.environ | environment)


def test_an_authority_and_a_proxy_are_those_of_the_configuration_alone(tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    with server(_ready, tls=True) as port, proxy(port) as (between, asked):
        config = f'[http]\nca_file = "{CA}"\nproxy = "http://127.0.0.1:{between}"\n'
        environment = {"SSLKEYLOGFILE": str(keys), "HTTPS_PROXY": f"http://127.0.0.1:{closed_port()}"}
        ended = _run(tmp_path / "a", config, "ready", "--builder", "https://venue.test", **environment).done()
        assert asked[0].startswith(b"CONNECT venue.test:443")
        own = {"HTTPS_PROXY": f"http://127.0.0.1:{between}", "SSL_CERT_FILE": CA}
        ended = _run(tmp_path / "b", "", "ready", "--builder", f"https://localhost:{port}", **own)
        assert (ended.code, "CERTIFICATE_VERIFY_FAILED" in ended.err) == (8, True)
    assert not keys.exists()


def test_plain_http_beyond_this_machine_needs_a_setting_that_is_repeated(tmp_path: Path) -> None:
    ended = _run(tmp_path, "", "ready", "--builder", "http://192.0.2.1")
    assert (ended.code, "plain_http" in ended.err) == (2, True)
    for words in (["ready", "--builder", f"http://127.0.0.1:{closed_port()}"], ["follow"], ["resolve"], ["doctor"]):
        assert "NOTE: [http] plain_http = true" in _run(tmp_path, "[http]\nplain_http = true\n", *words).err
