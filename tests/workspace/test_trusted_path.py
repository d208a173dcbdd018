"""What runs while a signature is made is little, written down for auditors, and holds nothing of the terminal's comfort."""

import pytest

from workspace import trusted_path
from workspace.house import ROOT, modules
from workspace.trusted_path import closure, loaded

CEILING_TOKENS, MODULES = 81_733, 57
"""Of what can run in a signing. It may go down; whoever raises it says in the change what for.

It was raised for reviews by groups (decision 54), for the page that decides (decision 53: what is opened is on record),
by 20 for what is secret in a document, by 200 for a page that its question does not push off the screen and for the
forms of a transcript's entries, and by 52 for a Ledger that is silent, two of them, a part on pages and a setting's name.
The process of the second opinion is counted in it, too.
"""

PRODUCT_TOKENS, TERMINAL_TOKENS, TABLES = 301_674, 81_056, 73
"""Ceilings, too: of all halves with what packs them and their rehearsals; of an intent at a terminal over USB; of tables."""

FOREIGN = (
    "airlock_online", "airlock_rehearsal", "airlock_offline.installation",
    "airlock_offline.cli.machine", "airlock_shared.cli.machine", "airlock_shared.cli.plan",
    "airlock_shared.cli.progress", "airlock_shared.cli.report", "airlock_shared.report",
    "airlock_shared.qr", "airlock_shared.ur", "airlock_shared.cli.qr.documents", "airlock_shared.cli.qr.transfer",
    "airlock_shared.cli.qr.scanning",
    "airlock_shared.host.picture_sources", "airlock_shared.host.machine", "airlock_shared.host.print_pdf",
    "airlock_shared.plan.authoring", "airlock_shared.plan.mistakes", "airlock_shared.plan.toml_positions",
    "airlock_shared.plan.known", "airlock_shared.checks.catalogue",
    "airlock_offline.wallets", "airlock_offline.cli.plan", "airlock_offline.cli.report",
)  # fmt: skip
"""The other half, the terminal's comfort, codes and pictures, reports, and the texts of refusals."""


def test_what_can_run_in_a_signing_is_little() -> None:
    tokens, files = (
        sum(module.tokens for module in closure()),
        [module for module in closure() if module.file.name != "__init__.py"],
    )
    print(f"what can run in a signing: {tokens:,} tokens in {len(files)} modules")
    assert tokens <= CEILING_TOKENS
    assert len(files) <= MODULES
    assert tokens > CEILING_TOKENS - 2_000, "lower the ceiling to what is reached"


def test_the_product_and_an_intent_at_a_terminal_do_not_grow_and_tables_alone_keep_their_form() -> None:
    texts = [path.read_text() for top in ("shared", "online", "offline") for path in (ROOT / top).rglob("*.py")]
    product = sum(map(trusted_path.tokens_of, texts))
    terminal = sum(module.tokens for module in trusted_path.at_a_terminal())
    print(f"the product: {product:,} tokens; an intent at a terminal over USB: {terminal:,} tokens")
    assert product <= PRODUCT_TOKENS
    assert terminal <= TERMINAL_TOKENS
    assert sum(text.count("# fmt: skip") for text in texts) <= TABLES


@pytest.mark.parametrize(("what", "most"), [*zip(trusted_path.WAYS, (12, 6), strict=True)])
def test_the_way_of_a_thing_is_short_and_no_file_of_it_stands_apart(what: str, most: int) -> None:
    files = {module.name for module in trusted_path.way(what)}
    assert len(files) <= most
    assert trusted_path.joined(what) == files


def test_what_ran_is_what_can_run_in_its_place_and_nothing_of_the_terminals_comfort() -> None:
    """The closure is found by reading: a module that a run loads and the reading misses would be nobody's to read."""
    can = {module.name for module in closure()}  # in a signing of any kind
    assert {module.name for module in loaded()} - can == set()
    assert [name for name in can if any(name == other or name.startswith(f"{other}.") for other in FOREIGN)] == []


def test_every_module_has_its_place_in_the_reading_order() -> None:
    read = {module.name for module in closure() if module.file.name != "__init__.py"}
    assert read == {name for names in trusted_path.READING_ORDER.values() for name in names}


def test_what_decides_and_what_signs_is_among_it() -> None:
    """A measurement that saw nothing would pass everything else. People, a Ledger and a profile load more than a run."""
    needed = ("signing.sign_item", "signing.review", "preflight.isolation", "ledger.ethereum_app", "airgap")
    ran = {module.name for module in loaded()}
    assert {f"airlock_offline.{name}" for name in needed} <= ran
    assert {"airlock_shared.ethereum.eip712", "airlock_offline.signing.second_opinion"} <= ran
    more = ("cli.review_pages", "ledger.usb", "ledger.device_errors", "ledger.typed_data")
    can = {module.name for module in closure()}
    assert {f"airlock_offline.{name}" for name in more} | {"airlock_shared.venue.profile"} <= can


def test_the_deny_list_names_modules_that_there_are() -> None:
    """A list of names that nothing has would hold nothing off."""
    ours = {name for name in FOREIGN if name.partition(".")[0] in ("airlock_shared", "airlock_offline")}
    assert ours - set(modules()) == set()
