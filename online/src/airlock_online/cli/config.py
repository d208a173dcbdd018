"""``config show``: the online half's settings, and where each comes from."""

from __future__ import annotations

import os
from collections.abc import Iterator

import click

from airlock_online.clients.urls import shown_address
from airlock_online.home import (
    API_KEY_VARIABLE,
    HOME_VARIABLE,
    JOURNAL_VARIABLE,
    RPC_VARIABLE,
    OnlineHome,
    default_home,
)
from airlock_online.journal.engine import JournalError, place_of, shown_place
from airlock_shared.cli.config import DEFAULT, ENVIRONMENT, Setting, home_setting, settings_of, show_settings
from airlock_shared.cli.console import json_option
from airlock_shared.host.settings import FILE
from airlock_shared.text.safe import safe

_ADDRESSES = (("rpc", "url"), ("api_key", "addresses"))


@click.group("config")
def config() -> None:
    """Show the configuration of this machine."""


@config.command("show")
@json_option
@click.pass_obj
def show_config(home: OnlineHome, as_json: bool) -> None:
    r"""Show every setting, its value, and whether it is a default, from the file or from the environment.

    An address is shown only up to its host: the rest often holds a key.

    \b
    Example:
      airlock-online config show
    """
    file = home.folder / FILE
    own = home_setting(home.folder, default_home(), HOME_VARIABLE)
    show_settings(file, own, _settings(home), as_json=as_json)


def _settings(home: OnlineHome) -> Iterator[Setting]:
    journal = os.environ.get(JOURNAL_VARIABLE)
    try:
        place = shown_place(place_of(home.journal_url()))
    except JournalError:
        place = "…"
    yield Setting("machine", "journal", place, f"{ENVIRONMENT} {JOURNAL_VARIABLE}" if journal else DEFAULT)
    known = {("rpc", "url"): RPC_VARIABLE, ("api_key", "file"): API_KEY_VARIABLE}
    variables = {place: variable for place, variable in known.items() if os.environ.get(variable)}
    config = home.config()
    yield Setting("machine", "services_fingerprint", config.speech.fingerprint, "computed")
    for setting in settings_of(home.folder / FILE, config, variables):
        if setting.section == "speech":
            continue
        if (setting.section, setting.name) in _ADDRESSES:
            setting = setting._replace(value=" ".join(shown_address(each) for each in str(setting.value).split()))
        yield setting
    differs = config.speech.differences
    for (section, name), value in config.speech.rows.items():
        yield Setting(section, name, value, safe(config.venue.services) if (section, name) in differs else DEFAULT)
