"""What the builder reads, for a person: ``ready``, ``meta``, ``pairs``, ``positions``, ``nonce`` and their like.

Each asks the builder of a fetched deployment. ``--json`` gives the reply word for word beside what was read in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property, wraps
from typing import Any

import click

from airlock_online.cli.connections import connections
from airlock_online.clients import builder_reads
from airlock_online.clients.builder import BuilderClient, builder_of
from airlock_online.clients.builder_reads import (
    DELEGATION_COLUMNS,
    NONCE_COLUMNS,
    NOT_TOLD,
    ORDER_COLUMNS,
    POSITION_COLUMNS,
    ReadValue,
    entries,
    nonce_flag,
    of_pair,
    pair_rows,
    question_of,
    relayed,
    to_name,
    values_read,
)
from airlock_online.clients.connection import is_hash
from airlock_online.clients.pages import read_pairs
from airlock_online.clients.reply_values import (
    delegation_read,
    hashes_named,
    reply_names,
    require_named,
    status_word,
)
from airlock_online.clients.rpc import RpcClient
from airlock_online.clock import now_ms
from airlock_online.config import OnlineConfig
from airlock_online.home import OnlineHome
from airlock_online.preparing.deployment_fetch import decisive_differences
from airlock_online.readback.delegates import able_now, delegation_on_chain
from airlock_online.readback.expectations import held_in, is_about, moment_text
from airlock_online.readback.referral_codes import disagreements, read_referral, seen_lines, settled_facts
from airlock_shared.cli.comparison_lines import code_lines, deployment_lines
from airlock_shared.cli.terminal import finish, json_option, led, rows, say, show_all, show_json
from airlock_shared.documents.deployment import Deployment
from airlock_shared.errors import ExitCode, Refusal, ServiceError, UsageError
from airlock_shared.ethereum.signatures import checksum_address, in_eip55
from airlock_shared.text.safe import code_points, flags, safe
from airlock_shared.units import code_bytes, code_letters, code_text
from airlock_shared.wire.strict_json import JsonObject

_NONCE = re.compile(r"0|[1-9][0-9]{0,77}", re.ASCII)
_VERDICTS = {True: "yes", False: "NO", None: "not known"}
_Judged = Mapping[str, tuple[bool | None, str]]
"""What follows from what was told: whether it is so, None for not known, and why not."""
_NOTHING: _Judged = {}


class VenueRead:
    """A read of the venue by a command: whose builder is asked, and how the answer is shown.

    Nothing is looked up before it is needed, so that wrong words are refused first. Raises ``UsageError`` when there is no
    such deployment, and for a wrong configuration.
    """

    def __init__(self, home: OnlineHome, name: str | None, *, as_json: bool) -> None:
        self.home, self.name, self.as_json = home, name, as_json

    @cached_property
    def deployment(self) -> Deployment:
        """The deployment of the name that was given, or the only one."""
        return self.home.choose_deployment(self.name)

    @cached_property
    def config(self) -> OnlineConfig:
        """The configuration, with how the venue's services speak."""
        return self.home.config()

    @contextmanager
    def builder(self) -> Iterator[BuilderClient]:
        """Open the deployment's builder."""
        deployment, config = self.deployment, self.config
        with connections(self.home) as http:
            yield builder_of(deployment, http, config)

    def ask(self, read: str, fields: Mapping[str, str] = {}, asked: str = "") -> Any:
        """Return the reply of a read by its name in the services file, ``[paths]``; ``asked`` is the id in its path."""
        with self.builder() as builder:
            return builder.read(read, fields, asked)

    def show(self, document: JsonObject, lines: Iterable[str]) -> None:
        """Show what was told: as a JSON document, or as lines."""
        if self.as_json:
            show_json({"ok": True} | document)
        else:
            show_all(lines)

    def show_one(self, heading: str, reply: object, told: list[ReadValue], judged: _Judged = _NOTHING) -> None:
        """Show what was told of one thing; as JSON it stands beside the reply word for word.

        ``judged`` is what follows, with the reason where it is no, or not known.
        """
        why = {label: {"is": answer, "why": reason} for label, (answer, reason) in judged.items()}
        verdicts = [
            ReadValue(label, answer, f"{_VERDICTS[answer]}{': ' if reason else ''}{reason}")
            for label, (answer, reason) in judged.items()
        ]
        document = {"told": builder_reads.as_json(told), "reply": reply} | ({"judged": why} if judged else {})
        self.show(document, [heading, *row_lines([*told, *verdicts])])


def reading(command: Callable[..., None]) -> click.Command:
    """Return a read as a command with what every read has, which deployment and JSON: its function gets a ``VenueRead``."""
    own = vars(command).pop("__click_params__", [])

    @click.option("--deployment", help="The fetched deployment (default: the only one).")
    @json_option
    @click.pass_obj
    @wraps(command)
    def asked(home: OnlineHome, /, deployment: str | None, as_json: bool, **given: Any) -> None:
        command(VenueRead(home, deployment, as_json=as_json), **given)

    vars(asked)["__click_params__"] += own
    return click.command(command.__name__)(asked)


def _compare(what: str, reply: object, asked: Mapping[str, str], also: Mapping[str, str] = {}) -> None:
    """Compare what a reply names with what was asked, and say it where it leaves one out; ``also`` is seldom named.

    Raises ``ServiceError`` when it names something else.
    """
    require_named(what, reply, **asked, **also)
    if reply_names(reply, **asked) is None:
        _say_unnamed(what, ", ".join(asked))


def _say_unnamed(what: str, asked: str) -> None:
    say(f"The {what} does not name {asked}: it is by the service's word alone, which proves nothing.")


def row_lines(values: Iterable[ReadValue]) -> Iterator[str]:
    """Yield what was read, a row a line, untrusted text escaped."""
    for row in values:
        yield from rows(f"  {row.label:<24} ", row.text)


def _account_of(text: str) -> str:
    """Return an account that was typed, in EIP-55. Raises ``UsageError`` for what is no address."""
    try:
        return in_eip55(text)
    except Refusal as refusal:
        raise UsageError(
            f"{refusal.what}: {refusal.got}", do="give the account's whole address, as in 0x…"
        ) from refusal


@reading
@click.option("--builder", help="Base URL of a builder service, instead of a fetched deployment's.")
def ready(at: VenueRead, builder: str | None) -> None:
    r"""Ask the builder whether it is ready, and show the breakdown when it is not (exit code 8).

    \b
    Example:
      airlock-online ready
    """
    if builder is not None and at.name is not None:
        raise UsageError("--builder and --deployment name two builders", do="give one of them")
    url = builder or at.deployment.base_urls["builder"]
    with connections(at.home) as http:
        readiness = BuilderClient(url, http).ready()
    lines = ["ready" if readiness.ready else "not ready"]
    lines += [f"  {safe(name):<24} {safe(_in_words(value), limit=200)}" for name, value in readiness.components.items()]
    quiet = led() and readiness.ready
    at.show({"ok": readiness.ready, "components": readiness.components}, () if quiet else lines)
    if not readiness.ready:
        raise ServiceError("the builder is not ready", status=503, do="wait for its dependencies, then try again")


def _in_words(value: Any) -> str:
    """Return what the builder tells of a component in words, as JSON where it is no table of plain values."""
    if not isinstance(value, dict):
        return json.dumps(value)
    return ", ".join(f"{name} {item if isinstance(item, str) else json.dumps(item)}" for name, item in value.items())


@reading
def meta(at: VenueRead) -> None:
    r"""Show the venue's own description now, and whether it is still as fetched (exit code 3 if not).

    \b
    Example:
      airlock-online meta
    """
    with at.builder() as builder:
        told = builder.meta()
    changed = decisive_differences(told.data, at.deployment, at.config.speech.replies)
    if not (at.as_json and changed):
        at.show({"deployment": at.deployment.name, "reply": told.data}, deployment_lines(at.deployment))
    if changed:
        raise Refusal(
            "PIN-DEPLOYMENT",
            f"the venue's meta document has changed since it was fetched for {at.deployment.name}",
            got="; ".join(f"{difference.where}: {difference.now}" for difference in changed),
            expected="; ".join(f"{difference.where}: {difference.pinned}" for difference in changed),
            do="sign nothing; ask the venue why, then fetch and trust the deployment again on both machines",
        )
    say("What is pinned of the venue's meta document is unchanged.")


@reading
def pairs(at: VenueRead) -> None:
    r"""List the pairs that the venue has now.

    \b
    Example:
      airlock-online pairs
    """
    with at.builder() as builder:
        reply = read_pairs(builder)
    table = pair_rows(reply, at.config.speech.replies["pairs"], at.deployment)
    lines = [f"{'index':>9}  {'name':<20} {'kind':<9} {'leverage':<12} remarks"]
    for row in table:
        remarks = row.remarks if row.pinned else f"{row.remarks}, not as pinned".removeprefix(", ")
        lines.append(f"{row.number:>9}  {row.name:<20} {row.kind:<9} {row.leverages:<12} {remarks}".rstrip())
    at.show({"pairs": [row._asdict() for row in table], "reply": reply}, lines)


@reading
@click.argument("trader")
def positions(at: VenueRead, trader: str) -> None:
    r"""List the open positions and the pending limit orders of TRADER.

    \b
    Example:
      airlock-online positions 0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D
    """
    account = _account_of(trader)
    reply = at.ask("positions", {"trader": account})
    trades, orders = entries(reply, "trades"), entries(reply, "orders")
    if trades is None and orders is None:
        raise ServiceError(
            "the positions read has an unknown shape",
            do="look at `airlock-online call`; set [paths] positions in the services file",
        )
    for entry in (reply, *held_in(reply)):
        require_named("positions read", entry, trader=account)
    if is_about(reply, account) is None:
        _say_unnamed("positions read", "trader")
    document: JsonObject = {"trader": account}
    lines: list[str] = []
    for kind, found, columns in (("position", trades, POSITION_COLUMNS), ("order", orders, ORDER_COLUMNS)):
        told = [of_pair(entry, columns, at.deployment) for entry in found or ()]
        document[f"{kind}s"] = [builder_reads.as_json(each) for each in told]
        lines.append(f"{kind}s of {account}: {NOT_TOLD if found is None else len(told)}")
        for number, each in enumerate(told, start=1):
            lines += [f"{kind} {number}", *row_lines(each)]
    at.show(document | {"reply": reply}, lines)


@reading
@click.argument("account")
@click.argument("nonce")
@click.option(
    "--space",
    type=click.Choice(["trading", "referral"]),
    default="trading",
    show_default=True,
    help="Which contract's nonces.",
)
def nonce(at: VenueRead, account: str, nonce: str, space: str) -> None:
    r"""Show whether NONCE is used for ACCOUNT, in the nonce space of a contract.

    \b
    Example:
      airlock-online nonce 0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D 7
    """
    if not _NONCE.fullmatch(nonce) or int(nonce) >= 1 << 256:
        raise UsageError("the nonce is not a whole number below 2^256", do="give it in decimal digits")
    trader = _account_of(account)
    reply = at.ask("nonce", question_of(trader, nonce, space, at.config.speech))
    _compare("nonce read", reply, to_name(nonce, space), {"trader": trader})
    read = {"used": nonce_flag(reply, at.config.speech.replies["nonce"])}
    at.show_one(f"nonce {nonce} of {trader}, {space}", reply, values_read(read, NONCE_COLUMNS))


@reading
@click.argument("trader")
@click.argument("delegate")
def delegation(at: VenueRead, trader: str, delegate: str) -> None:
    r"""Show what DELEGATE may do for TRADER and until when, and whether it can do it now by this machine's clock.

    \b
    Example:
      airlock-online delegation 0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D \
        0x52908400098527886E0F7030069857D2E4169EE7
    """
    fields = {"trader": _account_of(trader), "delegate": _account_of(delegate)}
    reply = at.ask("delegation", fields)
    read = delegation_read(reply, at.config.speech.replies["delegation"])
    _compare("delegation read", read, fields)
    heading = f"delegate {fields['delegate']}\nfor trader {fields['trader']}"
    told, until_s = values_read(read, DELEGATION_COLUMNS), None
    if at.config.rpc.url:
        with connections(at.home) as http:
            until_s, trouble = delegation_on_chain(RpcClient(at.config.rpc.url, http), at.deployment, **fields)
        shown = f"enabled until {moment_text(until_s)} (unix s {until_s})" if until_s else "not enabled"
        known = until_s is not None
        told.append(
            ReadValue("by the chain", str(until_s) if known else None, shown if known else f"{NOT_TOLD}: {trouble}")
        )
    at.show_one(heading, reply, told, able_now(read, until_s, now_ms()))


@reading
@click.argument("code")
@click.option("--trader", help="Also show which code this account has adopted.")
@click.option("--rpc", help="A node's JSON-RPC address, instead of the configured one.")
def referral(at: VenueRead, code: str, trader: str | None, rpc: str | None) -> None:
    r"""Show whether the referral code CODE exists, who owns it, and who is its pending owner.

    It asks the builder and, with a node ([rpc] url, AIRLOCK_RPC or --rpc), the Referral contract itself. Exit code 8
    when the two disagree, or neither gives the owner.

    \b
    Example:
      airlock-online referral TREASURY --trader 0x…
    """
    wanted, account = _read_code(code), "" if trader is None else _account_of(trader)
    with at.builder() as builder, connections(at.home) as http:
        seen = read_referral(builder, at.deployment, at.home.config(rpc), http, wanted, account)
    apart, known = disagreements(seen), settled_facts(seen)
    clear = not apart and known.owner is not None
    contract = checksum_address(at.deployment.domains["referral"].contract)
    letters = code_letters(wanted)
    document: JsonObject = {
        "ok": clear,
        "code": {
            "text": code_text(wanted),
            "hex": "0x" + wanted.hex(),
            "code_points": code_points(letters),
            "characters": len(letters),
            "warnings": flags(letters),
        },
        "deployment": at.deployment.name,
        "contract": contract,
        "trader": account,
        "exists": known.exists,
        "seen": [one.as_json() for one in seen],
        "disagreements": apart,
    }
    lines = [f"referral code {safe(code_text(wanted))}", *code_lines(wanted, "  ")]
    lines += [f"  on deployment {at.deployment.name}, contract", f"  {contract}"]
    lines += seen_lines(seen, account, "  ")
    for text in apart:
        lines += rows("  DISAGREE  ", text)
    if len(seen) > 1 and not apart and not any(one.trouble or one.owner is None for one in seen):
        lines.append("  both say the same")
    at.show(document, lines)
    if apart:
        say("Sign nothing about this code until the venue has explained which of the two is right.")
    elif not clear and not at.as_json:
        raise ServiceError(
            "no source gives the owner of the code",
            do="set [paths] referral in the services file, or give a node with --rpc",
        )
    finish(ExitCode.DONE if clear else ExitCode.SERVICE)


def _read_code(text: str) -> bytes:
    try:
        return code_bytes(text)
    except Refusal as refusal:
        raise UsageError(refusal.what, do=f"give {refusal.expected}") from refusal


@reading
@click.argument("tx_hash", metavar="HASH")
def relay(at: VenueRead, tx_hash: str) -> None:
    r"""Show the outcome of the relayed transaction HASH. A hash that the relay does not know is shown as pending.

    \b
    Example:
      airlock-online relay 0xb10e…27
    """
    if not is_hash(tx_hash):
        raise UsageError("that is not a transaction hash", do="give 0x and 64 hex digits")
    asked = tx_hash.lower()
    reply = at.ask("relay-status", asked=asked)
    speech, members = at.config.speech, reply if type(reply) is dict else {}
    places = speech.replies["relay"]
    for named in hashes_named(members, places["transaction"]) or [None]:
        _compare("relay's read", {"hash": named}, {"hash": asked})
    at.show_one(f"transaction {asked}", reply, values_read(reply, relayed(places)))
    told = status_word(members, speech.words, places["status"])
    if (told.word or told.unknown) and not at.as_json:
        say(f"{told.text}.")
