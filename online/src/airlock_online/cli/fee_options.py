"""The options that say where a transaction's nonce, gas and fees come from: a node, or a person, value by value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import click

from airlock_online.clients.http import Http
from airlock_online.home import OnlineHome
from airlock_online.preparing.gas_and_fees import ByHand, GasAndFees, gas_and_fees_of
from airlock_shared.documents.deployment import Deployment
from airlock_shared.errors import Refusal, UsageError
from airlock_shared.plan.model import Step
from airlock_shared.units import GWEI, to_raw

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--rpc", help="A node's JSON-RPC address, instead of the configured one."),
    click.option("--nonce", type=click.IntRange(0), help="The first transaction's nonce, by hand."),
    click.option("--gas", type=click.IntRange(1), help="The gas limit of each transaction, by hand."),
    click.option("--max-fee-gwei", metavar="GWEI", help="The highest price of a unit of gas, by hand."),
    click.option(
        "--priority-fee-gwei", metavar="GWEI", help="The part of it that goes to the block's builder, by hand."
    ),
)
NAMES = ("rpc", "nonce", "gas", "max_fee_gwei", "priority_fee_gwei")


class FeeOptions(NamedTuple):
    """What the command line says of nonce, gas and fees."""

    rpc: str | None
    by_hand: ByHand

    @property
    def given(self) -> bool:
        """Whether the command line says anything."""
        return self.rpc is not None or self.by_hand != ByHand()

    def gas_and_fees(
        self, steps: Mapping[str, Step], home: OnlineHome, deployment: Deployment, http: Http
    ) -> GasAndFees | None:
        """Return what fills in these steps' transactions, None when there are none. Raises as ``gas_and_fees_of``."""
        if any(step.action.call for step in steps.values()):
            return gas_and_fees_of(deployment, self.by_hand, self.rpc or home.config().rpc.url, http)
        if self.given:
            raise UsageError(
                "nonce, gas and fees are only for transactions, and no step is a transaction",
                do="leave those options out",
            )
        return None


def fee_options(command: F) -> F:
    """Add the options to a command, which gets them under the names of ``NAMES``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def read_fee_options(values: Mapping[str, Any]) -> FeeOptions:
    """Return what the options say. Raises ``UsageError`` for a fee that is no amount of gwei."""
    fees = [_wei(values[name], f"--{name.replace('_', '-')}") for name in NAMES[3:]]
    return FeeOptions(values["rpc"], ByHand(values["nonce"], values["gas"], *fees))


def _wei(text: str | None, option: str) -> int | None:
    if text is None:
        return None
    try:
        wei = to_raw(text, GWEI)
    except Refusal as refusal:
        raise UsageError(f"{option} is {refusal.what}", do="give an amount of gwei such as 1.5") from refusal
    if wei < 0:
        raise UsageError(f"{option} is negative", do="give an amount of gwei such as 1.5")
    return wei
