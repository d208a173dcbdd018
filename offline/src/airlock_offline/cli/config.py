"""``config show``: the offline half's settings, and where each comes from."""

from __future__ import annotations

import click

from airlock_offline.config import read_config
from airlock_offline.home import HOME_VARIABLE, OfflineHome, default_home
from airlock_shared.cli.config import home_setting, settings_of, show_settings
from airlock_shared.cli.console import json_option


@click.group("config")
def config() -> None:
    """Show the configuration of this machine."""


@config.command("show")
@json_option
@click.pass_obj
def show_config(state: OfflineHome, as_json: bool) -> None:
    r"""Show every setting, its value, and whether it is a default, from the file or from the environment.

    No setting weakens a check.

    \b
    Example:
      airlock-offline config show
    """
    file = state.settings_file
    home = home_setting(state.home, default_home(), HOME_VARIABLE)
    show_settings(file, home, settings_of(file, read_config(file), {}), as_json=as_json)
