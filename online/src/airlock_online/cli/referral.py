"""``referral``: a code as it is compared, who owns it, and what two sources say; and the same before a step is prepared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from airlock_online.cli.connections import connections
from airlock_online.cli.venue_reads import VenueRead, account_of, reading
from airlock_online.clients.builder import BuilderClient
from airlock_online.clients.http import Http
from airlock_online.clients.rpc import RpcClient
from airlock_online.clock import now_ms
from airlock_online.config import OnlineConfig
from airlock_online.home import OnlineHome
from airlock_online.preparing.referral_warnings import in_the_way, wish_of
from airlock_online.readback.referral_lookup import (
    ReferralFacts,
    disagreements,
    from_builder,
    from_chain,
    settled,
    shown,
)
from airlock_shared.catalogue.referral_code import code_bytes, code_flags, code_letters, code_text
from airlock_shared.cli.ceremony.by_screens import show_by_screens
from airlock_shared.cli.comparison_lines import code_lines
from airlock_shared.cli.console import finish, rows, say, show, show_json
from airlock_shared.documents.deployment import Deployment
from airlock_shared.errors import ExitCode, Refusal, ServiceError, UsageError
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.plan.model import Plan
from airlock_shared.text.confusables import code_points
from airlock_shared.text.safe import safe


@click.command("referral")
@click.argument("code")
@click.option("--trader", help="Also show which code this account has adopted.")
@click.option("--rpc", help="A node's JSON-RPC address, instead of the configured one.")
@reading
def referral(at: VenueRead, code: str, trader: str | None, rpc: str | None) -> None:
    r"""Show whether the referral code CODE exists, who owns it, and who is its pending owner.

    It asks the builder and, with a node ([rpc] url, AIRLOCK_RPC or --rpc), the Referral contract itself. Exit code 8
    when the two disagree, or neither gives the owner.

    \b
    Example:
      airlock-online referral TREASURY --trader 0x…
    """
    wanted, account = _read_code(code), "" if trader is None else account_of(trader)
    with at.builder() as builder, connections(at.home) as http:
        seen = look(builder, at.deployment, at.config, rpc or at.config.rpc.url, http, wanted, account)
    apart, known = disagreements(seen), settled(seen)
    if at.as_json:
        ok = not apart and known.owner is not None
        show_json({"ok": ok} | _code_json(wanted) | _facts_json(at.deployment, account, seen, apart, known))
    else:
        _show(wanted, at.deployment, account, seen, apart)
    if apart:
        say("Sign nothing about this code until the venue has explained which of the two is right.")
    elif known.owner is None and not at.as_json:
        raise ServiceError("no source gives the owner of the code",
                           do="set [reads] referral in config.toml, or give a node with --rpc")  # fmt: skip
    finish(ExitCode.SERVICE if apart or known.owner is None else ExitCode.DONE)


def look(
    builder: BuilderClient,
    deployment: Deployment,
    config: OnlineConfig,
    url: str,
    http: Http,
    code: bytes,
    account: str,
) -> list[ReferralFacts]:
    """Return what the builder tells of a code, then the chain when there is a node."""
    seen = [from_builder(builder, config, code, account)]
    if url:
        seen.append(from_chain(RpcClient(url, http), deployment, config.referral, code, account))
    return seen


def look_before(
    home: OnlineHome,
    plan: Plan,
    steps: Sequence[str],
    builder: BuilderClient,
    deployment: Deployment,
    url: str,
    http: Http,
) -> None:
    """Tell and record what is known of the codes that these steps are about, and warn of what is in the way."""
    for step in steps:
        wish = wish_of(plan.steps[step])
        if wish is None:
            continue
        seen = look(builder, deployment, home.config(), url, http, wish.code, wish.trader)
        apart, warnings = disagreements(seen), in_the_way(wish, settled(seen), plan)
        told_first = [f"step {step}: referral code {safe(code_text(wish.code))}"]
        told_first += [*code_lines(wish.code, "    "), *_seen_lines(seen, wish.trader, "    ")]
        for warning in (*(f"the two disagree on the {text}" for text in apart), *warnings):
            told_first += rows("    WARNING: ", warning)
        show_by_screens(told_first)  # before anything has a deadline
        facts = {"ceremony": plan.id, "plan": plan.fingerprint, "step": step, "code": "0x" + wish.code.hex()}
        told = {"seen": [one.as_json() for one in seen], "disagreements": apart, "warnings": warnings}
        home.transcript.record("referral-read", facts | told, now_ms())


def _read_code(text: str) -> bytes:
    try:
        return code_bytes(text)
    except Refusal as refusal:
        raise UsageError(refusal.what, do=f"give {refusal.expected}") from refusal


def _code_json(code: bytes) -> dict[str, object]:
    letters = code_letters(code)
    facts = {"text": code_text(code), "hex": "0x" + code.hex(), "code_points": code_points(letters)}
    return {"code": facts | {"characters": len(letters), "warnings": code_flags(code)}}


def _facts_json(
    deployment: Deployment, account: str, seen: list[ReferralFacts], apart: list[str], known: ReferralFacts
) -> dict[str, object]:
    return {
        "deployment": deployment.name,
        "contract": checksum_address(deployment.domains["referral"].contract),
        "trader": account,
        "exists": None if known.owner is None else bool(known.owner),
        "seen": [one.as_json() for one in seen],
        "disagreements": apart,
    }


def _show(code: bytes, deployment: Deployment, account: str, seen: list[ReferralFacts], apart: list[str]) -> None:
    show(f"referral code {safe(code_text(code))}")
    contract = checksum_address(deployment.domains["referral"].contract)
    place = [f"  on deployment {deployment.name}, contract", f"  {contract}"]
    for line in (*code_lines(code, "  "), *place, *_seen_lines(seen, account, "  ")):
        show(line)
    for text in apart:
        for line in rows("  DISAGREE  ", text):
            show(line)
    if len(seen) > 1 and not apart and not any(one.trouble for one in seen):
        show("  both say the same")


def _seen_lines(seen: Sequence[ReferralFacts], account: str, margin: str) -> Iterator[str]:
    for one in seen:
        yield f"{margin}{safe(one.source)} says"
        exists = None if one.owner is None else bool(one.owner)
        told = [("exists", exists), ("owner", one.owner), ("pending owner", one.pending), ("private", one.private)]
        for label, value in told:
            yield f"{margin}  {label:<14} {shown(value)}"
        if account:
            yield f"{margin}  adopted by     {account}:"
            yield from rows(f"{margin}    ", shown(one.adopted))
        if one.trouble:
            yield from rows(f"{margin}  not told: ", one.trouble)
