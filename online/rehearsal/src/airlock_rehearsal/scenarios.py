"""The example plans of a rehearsal: six ceremonies as a custodian would agree on them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from airlock_shared.venue.structs import SERVICES

TRADER = "0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D"
"""The software Ledger's account at the path below: its seed is public, so nothing of value is ever behind it."""

PATH = "m/44'/60'/0'/0/0"
DELEGATE = "0x463e4e114AA57F54f2Fd2C3ec03572C6f75d84C2"
"""The software Ledger's account at ``DELEGATE_PATH``, so that it can prove itself."""

DELEGATE_PATH = "m/44'/60'/1'/0/0"


def service_words(urls: dict[str, str]) -> list[str]:
    """Return the options of ``deployment fetch`` that name the rehearsal's services, by their names in ``urls``."""
    asked = [service for service in SERVICES.values() if service.asked_for]
    return [word for service in asked for word in (service.option, urls[service.name])]


class Ceremony(NamedTuple):
    """A ceremony to rehearse: its id, what it is for, and its plan in TOML.

    ``transaction`` says that a transaction is signed: its nonce, gas and fees come from a node, and the Ledger's app needs
    Blind signing for its calldata. ``delegate_path`` is where the Ledger has the delegate key that proves itself first.
    ``recorded`` says that its people are named and confirm what they compare; the plans of the others name no roles.
    """

    id: str
    title: str
    plan: str
    transaction: bool = False
    delegate_path: str = ""
    recorded: bool = False


def ceremonies(deployment: str, now: datetime, *, trading_storage: str, led: bool = False) -> list[Ceremony]:
    """Return the ceremonies for a deployment whose trading storage has this address; ``led``: each by three people."""
    expiry = (now.astimezone(UTC) + timedelta(days=130)).strftime("%Y-%m-%dT00:00:00Z")
    trader = f'trader = "{TRADER}"\n'

    def ceremony(name: str, title: str, action: str, fields: str) -> Ceremony:
        roles = ("signer", "facilitator", "witness") if led or action == "close" else ()
        plan = _PLAN.format(
            id=name,
            title=title,
            deployment=deployment,
            action=action,
            fields=fields,
            roles=json.dumps(roles),
            witness='\nwitness = "required"' if "witness" in roles else "",
        )
        return Ceremony(name, title, plan, recorded=bool(roles))

    return [
        ceremony(
            "delegate-key", "A delegate key for the trading desk", "delegate",
            f'{trader}delegate = "{DELEGATE}"\nexpiry = {expiry}\n',
        )._replace(delegate_path=DELEGATE_PATH),
        ceremony(
            "referral-code", "The treasury adopts a referral code", "referral-set-code",
            f'referee = "{TRADER}"\ncode = "TAKEN"\n',
        ),
        ceremony(
            "usdc-approval", "Let the trading storage take USDC, by a transaction", "token-approve",
            f'{trader}spender = "{trading_storage}"\namountUsdc = "2500"\n',
        )._replace(transaction=True),
        ceremony(
            "price-trigger", "Arm a partial take profit on the ETH position", "tpsl-partial",
            f'{trader}pair = "ETH/USD"\ntradeIndex = 0\nkind = "take_profit"\nside = "short"\n'
            'coinExposure = "0.1"\nprice = "3000"\n',
        ),
        ceremony(
            "twap-cancel", "Cancel a TWAP order that is still running", "twap-cancel", f"{trader}twapId = 41\n",
        ),
        ceremony(
            "market-close", "Close the BTC position at the market", "close",
            f'{trader}pair = "BTC/USD"\ntradeIndex = 0\ncollateralToCloseUsdc = "100"\n'
            'expectedPrice = { at_least = "63000", at_most = "65000" }\n',
        ),
    ]  # fmt: skip


_PLAN = f"""\
format = "airlock/plan@1"

[ceremony]
id = "{{id}}"
title = "{{title}}"
deployment = "{{deployment}}"
roles = {{roles}}{{witness}}

[limits]
deadline_at_most = "30m"
slippage_percent_at_most = "1"
max_fee_gwei_at_most = "50"
remaining_at_least = "3m"

[signers.treasury]
address = "{TRADER}"
path = "{PATH}"

[[steps]]
id = "{{id}}"
action = "{{action}}"
signer = "treasury"
[steps.fields]
{{fields}}"""
