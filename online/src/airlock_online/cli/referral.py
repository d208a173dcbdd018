"""``referral``: a code as it is compared, who owns it, and what two sources say."""

from __future__ import annotations

import click

from airlock_online.cli.connections import connections
from airlock_online.cli.venue_reads import VenueRead, account_of, reading
from airlock_online.readback.referral_lookup import disagreements, look, seen_lines, settled
from airlock_shared.catalogue.referral_code import code_bytes, code_flags, code_letters, code_text
from airlock_shared.cli.comparison_lines import code_lines
from airlock_shared.cli.console import finish, rows, say, show, show_json
from airlock_shared.errors import ExitCode, Refusal, ServiceError, UsageError
from airlock_shared.ethereum.addresses import checksum_address
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
        seen = look(builder, at.deployment, at.config, rpc, http, wanted, account)
    apart, known = disagreements(seen), settled(seen)
    clear = not apart and known.owner is not None
    contract = checksum_address(at.deployment.domains["referral"].contract)
    if at.as_json:
        letters = code_letters(wanted)
        show_json(
            {
                "ok": clear,
                "code": {
                    "text": code_text(wanted),
                    "hex": "0x" + wanted.hex(),
                    "code_points": code_points(letters),
                    "characters": len(letters),
                    "warnings": code_flags(wanted),
                },
                "deployment": at.deployment.name,
                "contract": contract,
                "trader": account,
                "exists": known.exists,
                "seen": [one.as_json() for one in seen],
                "disagreements": apart,
            }
        )
    else:
        lines = [f"referral code {safe(code_text(wanted))}", *code_lines(wanted, "  ")]
        lines += [f"  on deployment {at.deployment.name}, contract", f"  {contract}"]
        lines += seen_lines(seen, account, "  ")
        for text in apart:
            lines += rows("  DISAGREE  ", text)
        if len(seen) > 1 and not apart and not any(one.trouble for one in seen):
            lines.append("  both say the same")
        for line in lines:
            show(line)
    if apart:
        say("Sign nothing about this code until the venue has explained which of the two is right.")
    elif not clear and not at.as_json:
        raise ServiceError("no source gives the owner of the code",
                           do="set [paths] referral in the services file, or give a node with --rpc")  # fmt: skip
    finish(ExitCode.DONE if clear else ExitCode.SERVICE)


def _read_code(text: str) -> bytes:
    try:
        return code_bytes(text)
    except Refusal as refusal:
        raise UsageError(refusal.what, do=f"give {refusal.expected}") from refusal
