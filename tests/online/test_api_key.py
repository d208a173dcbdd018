"""A venue's API key: to the origins that were written out, from a file of its owner alone, and on no screen."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from airlock_online.clients.api_key import ApiKey, read_api_key
from airlock_online.clients.http import Http, HttpCall
from airlock_online.config import ApiKeySettings
from airlock_online.secrets import redact
from airlock_shared.errors import DocumentError, UsageError
from online.loopback import Wire, reply

KEY = "kV7pQ2mZ9xRt4LsWc8Yd"
HERE = "http://127.0.0.1:8000"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    path.write_text(KEY + "\n")
    path.chmod(0o600)
    return path


def settings(file: object = "", header: str = "X-Api-Key", addresses: str = HERE) -> ApiKeySettings:
    return ApiKeySettings(header, str(file), addresses)


def test_a_key_goes_to_its_origins_and_to_no_other(file: Path) -> None:
    good = {"GET /x": [reply(200, {})] * 2}
    with Wire(good) as ours, Wire(good) as others:
        key = read_api_key(settings(file, addresses=f"https://venue.example {ours.url}"), "")
        with Http(api_key=key) as http:
            http.exchange(HttpCall("GET", f"{ours.url}/x"))
            http.exchange(HttpCall("GET", f"{others.url}/x"))
            http.exchange(HttpCall("GET", f"{ours.url.replace('127.0.0.1', 'localhost')}/x"))
    assert [seen.headers.get("x-api-key") for seen in (*ours.seen, *others.seen)] == [KEY, None, None]


def test_no_key_is_sent_where_none_is_configured() -> None:
    assert read_api_key(ApiKeySettings(), "") is None


def test_the_environment_stands_in_for_the_file() -> None:
    key = read_api_key(settings(), KEY)
    assert key is not None
    assert (key.value, KEY in repr(key)) == (KEY, False)


@pytest.mark.parametrize("value", [KEY, f"Bearer {KEY}", f"{KEY}.{KEY[::-1]}.{KEY.lower()}"])
def test_no_output_shows_a_key_that_was_read(value: str) -> None:
    read_api_key(settings(), value)
    for text in (value, f"said {value.upper()} and more", f'{{"echo": "x{value}y"}}', value[-18:]):
        assert not any(piece in redact(text).lower() for piece in (KEY.lower(), KEY[::-1].lower()[:16]))


def _readable(path: Path) -> None:
    path.chmod(0o640)


def _public(path: Path) -> None:
    path.chmod(0o604)


def _linked(path: Path) -> None:
    path.rename(path.with_name("real"))
    path.symlink_to("real")


def _gone(path: Path) -> None:
    path.unlink()


def _long(path: Path) -> None:
    path.write_text("k" * 5000)


@pytest.mark.parametrize("change", [_readable, _public, _linked, _gone, _long])
def test_a_file_that_is_not_its_owners_alone_is_refused(file: Path, change: Callable[[Path], None]) -> None:
    change(file)
    with pytest.raises((UsageError, DocumentError)):
        read_api_key(settings(file), "")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_somebody_else_is_refused(file: Path) -> None:
    os.chown(file, 12345, 12345)
    with pytest.raises(UsageError, match="owner"):
        read_api_key(settings(file), "")


@pytest.mark.parametrize(
    "value", ["short", "fifteen-letters", "with a blank in the middle of it", f"{KEY}\r\nX-Other: 1", f"{KEY}\n{KEY}",
              "é" * 20, f"{KEY}.short", "x" * 32, "0" * 40, f"bearer {KEY}"],
)  # fmt: skip
def test_a_value_that_could_not_be_kept_out_of_the_outputs_is_refused(value: str) -> None:
    with pytest.raises(UsageError, match="can be kept out of every output") as caught:
        read_api_key(settings(), value)
    assert value not in str(caught.value)


@pytest.mark.parametrize(
    "addresses",
    ["", "venue.example", "http://venue.example", "https://venue.example/path", "https://a@venue.example", "https://",
     "ftp://venue.example", "https://venue.example?x", "https://venue.example:99999", "*",
     "https://ok.example http://plain.example"],
)  # fmt: skip
def test_an_address_that_is_no_origin_or_would_tell_the_key_is_refused(addresses: str) -> None:
    with pytest.raises(UsageError, match=r"\[api_key\]"):
        read_api_key(settings(addresses=addresses), KEY)


@pytest.mark.parametrize(
    "header", ["Host", "content-length", "Cookie", "Proxy-Authorization", "X Key", "X-Key:", "", "é"]
)
def test_a_header_that_is_ours_or_none_is_refused(header: str) -> None:
    with pytest.raises(UsageError, match=r"\[api_key\]"):
        read_api_key(settings(header=header), KEY)


def test_two_keys_or_none_are_refused(file: Path) -> None:
    with pytest.raises(UsageError, match="both"):
        read_api_key(settings(file), KEY)
    with pytest.raises(UsageError, match="no key"):
        read_api_key(settings(), "")
    with pytest.raises(UsageError, match="no header"):
        read_api_key(ApiKeySettings(file=str(file)), "")


def test_a_key_has_no_text() -> None:
    assert repr(ApiKey("X-Api-Key", KEY, frozenset())) == "ApiKey(X-Api-Key)"
