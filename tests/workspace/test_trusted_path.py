"""What runs while a signature is made is little, written down for auditors, and holds nothing of the terminal's comfort."""

from __future__ import annotations

import subprocess

import pytest

from workspace.trusted_path import OTHERS, PROGRAM, Module, Signing, loaded_by, part_of, trusted_path

CEILING_LINES = 12_200
"""Lines of our own that an ordinary signature loads. It may go down; whoever raises it says in the change what for.

Last raised for the word on which way a trigger looks, because a plan's custom steps are read where all steps are, and for
what the Ethereum app is known to sign over another hash.
"""

FOREIGN = (
    "airlock_online", "airlock_rehearsal", "airlock_offline.emulator", "airlock_offline.installation",
    "airlock_offline.cli.completion", "airlock_shared.cli.completion", "airlock_shared.cli.plan",
    "airlock_shared.cli.progress", "airlock_shared.cli.doctor", "airlock_shared.cli.report", "airlock_shared.report",
    "airlock_shared.qr", "airlock_shared.ur", "airlock_shared.cli.qr.documents", "airlock_shared.cli.qr.transfer",
    "airlock_shared.cli.qr.scanning",
    "airlock_shared.host.picture_sources", "airlock_shared.host.machine", "airlock_shared.host.print_pdf",
    "airlock_shared.plan.wizard", "airlock_shared.plan.mistakes", "airlock_shared.plan.toml_positions",
    "airlock_shared.plan.writer", "airlock_shared.plan.examples", "airlock_shared.checks.catalogue",
    "airlock_offline.wallets", "airlock_offline.cli.plan_draft", "airlock_offline.cli.report_pages",
)  # fmt: skip
"""The other half, simulators, the terminal's comfort, codes and pictures, reports, and the texts of refusals."""


def foreign(modules: tuple[Module, ...]) -> list[str]:
    names = [module.name for module in modules]
    return [name for name in names if any(name == other or name.startswith(f"{other}.") for other in FOREIGN)]


def test_an_ordinary_signature_loads_little_of_ours() -> None:
    lines = sum(module.lines for module in trusted_path())
    assert lines <= CEILING_LINES
    assert lines > CEILING_LINES - 500, "lower the ceiling to what is reached"


def test_what_decides_and_what_signs_is_among_it() -> None:
    """A measurement that saw nothing would pass everything else."""
    names = {module.name for module in trusted_path()}
    needed = ("signing.sign_item", "signing.review", "preflight.isolation", "ledger.ethereum_app", "airgap")
    assert {f"airlock_offline.{name}" for name in needed} <= names
    assert {"airlock_shared.ethereum.eip712", "airlock_shared.checks.second_opinion"} <= names


def test_nothing_of_the_terminals_comfort_is_on_the_trusted_path() -> None:
    assert foreign(trusted_path()) == []


@pytest.mark.parametrize("signing", OTHERS, ids=lambda signing: signing.step)
def test_nor_is_it_when_something_else_is_signed(signing: Signing) -> None:
    assert foreign(loaded_by(signing)) == []


@pytest.mark.parametrize("signing", OTHERS, ids=lambda signing: signing.step)
def test_every_module_has_its_place_in_the_reading_order(signing: Signing) -> None:
    modules = [*trusted_path(), *loaded_by(signing)]
    assert all(part_of(module.name) for module in modules if not module.is_package)


def test_the_deny_list_names_modules_that_there_are() -> None:
    """A list of names that nothing has would hold nothing off."""
    script = "import importlib.util, sys; print([n for n in sys.argv[1:] if importlib.util.find_spec(n) is None])"
    ours = [name for name in FOREIGN if name.partition(".")[0] in ("airlock_shared", "airlock_offline")]
    python = PROGRAM.with_name("python")
    ended = subprocess.run([str(python), "-c", script, *ours], capture_output=True, text=True, check=True, timeout=60)
    assert ended.stdout.strip() == "[]"
