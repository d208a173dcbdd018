"""Connections owe nothing to the environment of the process."""

from __future__ import annotations

from pathlib import Path

import pytest

from airlock_online.clients.http import Http


def test_the_environment_names_no_certificates_and_no_proxy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "somebody-elses.pem"))  # would be read, and is not there
    monkeypatch.setenv("HTTPS_PROXY", "http://192.0.2.1:3128")
    with Http() as http:
        assert http._client.trust_env is False
