"""``forget``: remove this machine's copies of signatures that can execute no more."""

from __future__ import annotations

from pathlib import Path

import click

from airlock_online.clock import now_ms
from airlock_online.home import OnlineHome
from airlock_online.journal.journal import journal_at
from airlock_online.report_rows import standings_of
from airlock_shared.cli.console import json_option
from airlock_shared.cli.kept_signatures import ceremony_option, copies_by_light, copies_in_codes, remove_copies


@click.command("forget")
@ceremony_option
@json_option
@click.pass_obj
def forget(home: OnlineHome, ceremonies: tuple[Path, ...], as_json: bool) -> None:
    r"""Remove copies of signatures that can execute no more. This machine keeps one of whatever crossed by QR codes.

    A signature can execute no more when its deadline is surely past, or when its nonce is spent, as the journal says.
    Until then its copy stays. Each copy is named, with the reason. The journal stays as it is.

    \b
    Example:
      airlock-online forget
    """
    with journal_at(home.journal_url(), now_ms, own=home.journal_is_own()) as journal:
        found = {each.use.digest: each for each in standings_of(journal, now_ms())}
    in_codes = [copy for each in ceremonies for copy in copies_in_codes(each.absolute())]
    remove_copies(home.folder, [*copies_by_light(home.folder), *in_codes], found, home.transcript, now_ms(),
           piped=home.rehearses(), as_json=as_json)  # fmt: skip
