"""Commands about this machine: ``config show``, ``explain``, ``forget``, and completion in a shell."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click

from airlock_online.addresses import shown_address
from airlock_online.cli.own_journal import journal_of
from airlock_online.clock import now_ms
from airlock_online.delivery.outcome import OrderOutcome, outcome_error
from airlock_online.delivery.resolution import ONLY_WHEN_ENDED
from airlock_online.error_codes import ERROR_CODES, ErrorCode
from airlock_online.home import (
    API_KEY_VARIABLE,
    HOME_VARIABLE,
    JOURNAL_VARIABLE,
    RPC_VARIABLE,
    OnlineHome,
    default_home,
)
from airlock_online.journal.engine import JournalError, place_of, shown_place
from airlock_online.journal.order_states import ANOMALIES, STATE_MEANINGS, OrderState
from airlock_online.report_rows import standings_of
from airlock_online.wallets.other_wallets import wallet_answers
from airlock_shared.checks.catalogue import CHECKS_BY_ID
from airlock_shared.checks.model import Info
from airlock_shared.cli.explain import Explanation, explain_command, of_checks, of_exit_codes
from airlock_shared.cli.kept_signatures import ceremony_option, copies_by_qr, copies_in_codes, remove_copies
from airlock_shared.cli.machine import DEFAULT, ENVIRONMENT, Setting, home_setting, settings_of, show_settings
from airlock_shared.cli.machine import completion as completion  # the table of commands looks for it here
from airlock_shared.cli.terminal import json_option
from airlock_shared.errors import ExitCode
from airlock_shared.host.files import CONFIG_FILE
from airlock_shared.text.safe import safe

# ---- config ---------------------------------------------------------------------------------------------------------
# ``config show``: the online half's settings, and where each comes from.


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
    file = home.folder / CONFIG_FILE
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
    for setting in settings_of(home.folder / CONFIG_FILE, config, variables):
        if setting.section == "speech":
            continue
        if (setting.section, setting.name) in _ADDRESSES:
            setting = setting._replace(value=" ".join(shown_address(each) for each in str(setting.value).split()))
        yield setting
    differs = config.speech.differences
    for (section, name), value in config.speech.rows.items():
        yield Setting(section, name, value, safe(config.venue.services) if (section, name) in differs else DEFAULT)


# ---- code explanations ----------------------------------------------------------------------------------------------
# What ``explain`` knows: the services' codes, the checks, the exit codes, the outcomes, an order's oddities.


DELIVERY_CHECKS: dict[str, Info] = {
    "ROUTE-STRUCT": Info("a struct is not sent this way", "A signature that is sent to the wrong service.",
                         "Prepare the step again. A signature for one service is never sent to another."),
    "ROUTE-FORM": Info("a member of the delivery has the wrong form", "A damaged package that is sent anyway.",
                       "Use the requests and signatures as they were written."),
    "ROUTE-JOURNAL": Info("the journal has this digest with another value", "A package that is not what was signed.",
                          "Find out which file was altered before anything is sent."),
    "ROUTE-EXPORTED": Info("it was given to another sender", "A signature that two senders send.",
                           f"Follow it. {ONLY_WHEN_ENDED}"),
    "ROUTE-SENT": Info("it was sent from here", "A signature that two senders send.",
                       "Follow it; what was sent is not exported."),
    "ROUTE-STEP": Info("a step's earlier signature was carried out, or may still be", "One step that is executed twice.",
                       "Follow the earlier one to its end. Only the plan can name a replacement."),
    "ORDER-EIP7702": Info("not an EIP-7702 transaction for the batched market", "An unplanned transaction.",
                          "Prepare the step again."),
    "SIG-FORM": Info("not 65 bytes r, s, v with v 27 or 28, in lower-case hex", "A signature in another convention.",
                     "Carry the signatures over again, and compare their fingerprint."),
    "SIG-REQUESTS": Info("the signatures are for another document", "A signature for something else.",
                         "Submit the signatures with the requests that they answer."),
}  # fmt: skip
"""The checks of submission alone; all others are in ``airlock_shared.checks.catalogue``."""

_KEEP = "Keep the transcript, and ask the service's operator."


def everything() -> list[Explanation]:
    """Return all that can be explained, a kind after the other. Some names have two meanings: 3 is one."""
    return [
        *map(_of_entry, ERROR_CODES.values()),
        *of_checks(CHECKS_BY_ID | DELIVERY_CHECKS),
        *of_exit_codes(),
        *map(_of_state, OrderState),
        *(
            Explanation(kind, "anomaly", f"A correct service does not do this: {said}.", _KEEP, ExitCode.DONE)
            for kind, said in ANOMALIES.items()
        ),
    ]


def _of_state(state: OrderState) -> Explanation:
    """Return what a state of what was submitted means, what to do at it, and how ``submit`` and ``follow`` end there."""
    meaning, error = f"State of a submission: {STATE_MEANINGS[state]}.", outcome_error(OrderOutcome("", state))
    do, code = (error.do, error.exit_code) if error else ("Nothing: compare what was read back.", ExitCode.DONE)
    return Explanation(state.value, "outcome", meaning, do, code)


def _of_entry(entry: ErrorCode) -> Explanation:
    kind = "HTTP status" if entry.where == "http" else f"{entry.where} code"
    ends = entry.terminal if entry.where in ("batched", "contract", "relay") else None
    return Explanation(entry.code, kind, entry.meaning, entry.do, entry.exit_code, ends, entry.http, entry.source)


# ---- explain --------------------------------------------------------------------------------------------------------
# ``explain``: what a service's code, a check's id, an outcome or an exit code means, and what to do about it.


explain = explain_command(
    r"""Explain CODE: a service's error code, a check's id, an HTTP status or an exit code. Without CODE, list them.

    \b
    Examples:
      airlock-online explain SPREAD_BLOCKED
      airlock-online explain DOMAIN-CHAIN
      airlock-online explain 9
    """,
    everything,
)

# ---- forget ---------------------------------------------------------------------------------------------------------
# ``forget``: remove this machine's copies of signatures that can execute no more.


@click.command("forget")
@ceremony_option
@json_option
@click.pass_obj
def forget(home: OnlineHome, ceremonies: tuple[Path, ...], as_json: bool) -> None:
    r"""Remove copies of signatures that can execute no more.

    This machine keeps one of whatever crossed by QR codes, and each answer of another wallet. A signature can execute no
    more when its deadline is surely past, or when its nonce is spent, as your own node has proved. Until then its copy
    stays. Each copy is named, with the reason. The journal stays as it is.

    \b
    Example:
      airlock-online forget
    """
    with journal_of(home) as journal:
        found = {each.use.digest: each for each in standings_of(journal, now_ms())}
    in_codes = [copy for each in ceremonies for copy in copies_in_codes(each.absolute())]
    copies = [*copies_by_qr(home.folder), *wallet_answers(home.folder), *in_codes]
    remove_copies(home.folder, copies, found, home.transcript, now_ms, piped=home.all_worth_nothing(), as_json=as_json)
