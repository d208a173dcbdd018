"""Message filters that Ledger has published, on the real app: labels, amounts and dates on the pages that are listed.

The real app accepts them, for it checks the production key.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from airlock_offline.ledger.device_errors import FiltersMissing
from airlock_offline.ledger.ethereum_app import EthereumApp
from airlock_offline.ledger.screens import typed_data_pages
from airlock_offline.ledger.transport import Apdu, Ins, LoopbackTransport, Transport, ethereum_apdu
from airlock_offline.ledger.typed_data import FilteredMessage, FiltersRefused
from airlock_shared.ethereum.typed_document import read_typed_data
from airlock_software_ledger.answers import AppSettings
from airlock_software_ledger.app import SoftwareLedger
from e2e.filtered_signing import FilteredDesk
from offline.recordings import SIGNER, recovered
from offline.test_message_filters import CHANGES, told_of
from shared.filtered_venues import LIMIT, OTHER_TOKEN, PERMIT, RFQ, USDC, FilteredVenue, typed
from shared.token_records import published
from speculos.asking import PATH, ask_real_app, ask_software_ledger
from speculos.device import Person, RealApp

pytestmark = pytest.mark.speculos

UTMOST = str(2**256 - 1)
MESSAGES: dict[str, tuple[FilteredVenue, dict[str, str]]] = {
    "permit": (PERMIT, {}),
    "permit-unlimited": (PERMIT, {"value": UTMOST, "deadline": UTMOST}),
    "permit-nearly-unlimited": (PERMIT, {"value": str(2**256 - 2), "deadline": "253402300799"}),
    "permit-zeros": (PERMIT, {"value": "0", "deadline": "0"}),
    "permit-at-noon": (PERMIT, {"value": "1", "deadline": "1790251200"}),
    "permit-past-midnight": (PERMIT, {"value": "1000001", "deadline": "1790208059"}),
    "rfq": (RFQ, {}),
    "limit": (LIMIT, {}),
    "limit-other-token-first": (LIMIT, {"makerAsset": OTHER_TOKEN, "takerAsset": USDC}),
    "limit-no-token-known": (LIMIT, {"makerAsset": OTHER_TOKEN}),
    "limit-both-known": (LIMIT, {"takerAsset": USDC, "makingAmount": UTMOST}),
}


def require_shown_by_filters(app: RealApp, told: FilteredMessage, document: dict[str, Any]) -> None:
    """Sign a message with its filters on the real app, and assert that its pages are those of the review."""
    typed_data, hashes = read_typed_data(document)

    def ask(ledger: Transport) -> bytes:
        return EthereumApp(ledger).sign_typed_data(PATH, typed_data, told)

    signature, pages = ask_real_app(app, ask, raw_messages=False, blind_signing=False)
    assert recovered(signature, hashes.digest) == SIGNER
    assert pages == told.pages(typed_data, app.file.built)
    assert pages == ask_software_ledger(app.file.built, ask, raw_messages=False)[1]


@pytest.mark.parametrize(("venue", "values"), MESSAGES.values(), ids=MESSAGES)
def test_a_message_with_published_filters_is_shown_as_listed_and_signed(
    one_app: RealApp, venue: FilteredVenue, values: dict[str, str]
) -> None:
    require_shown_by_filters(one_app, told_of(venue), typed(venue, **values))


def test_the_usdc_permit_under_its_own_domain_is_shown_as_listed(one_app: RealApp) -> None:
    """USDC's own domain has version "2", which no deployment of ours has: the client alone."""
    document = typed(PERMIT)
    document["domain"] |= {"name": "USD Coin", "version": "2"}
    require_shown_by_filters(one_app, told_of(PERMIT), document)


def test_with_raw_messages_on_every_member_is_shown_and_the_signature_is_the_same(one_app: RealApp) -> None:
    typed_data, hashes = read_typed_data(typed(PERMIT))
    signature, pages = ask_real_app(
        one_app,
        lambda ledger: EthereumApp(ledger).sign_typed_data(PATH, typed_data, told_of(PERMIT)),
        raw_messages=True,
        blind_signing=False,
    )
    assert recovered(signature, hashes.digest) == SIGNER
    assert pages == typed_data_pages(typed_data, hashes, one_app.file.built, by_hashes=False)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_ledger_has_not_signed_is_refused(one_app: RealApp, change: Callable[[Any], Any]) -> None:
    told = told_of(PERMIT)
    typed_data, _ = read_typed_data(typed(PERMIT))
    one_app.configure(raw_messages=False, blind_signing=False)
    with closing(LoopbackTransport(one_app.port)) as transport, pytest.raises(FiltersRefused):
        EthereumApp(transport).sign_typed_data(PATH, typed_data, told._replace(filters=change(told.filters)))


class Skips(FilteredMessage):
    """A client that leaves one filter out."""

    def flow(self, path: str, typed_data: Any) -> Any:
        whole = super().flow(path, typed_data)
        at = max(n for n, apdu in enumerate(whole.values) if apdu.ins == Ins.EIP712_FILTER)
        return whole._replace(values=whole.values[:at] + whole.values[at + 1 :])


def test_a_filter_that_is_left_out_is_missed(one_app: RealApp) -> None:
    typed_data, _ = read_typed_data(typed(PERMIT))
    one_app.configure(raw_messages=False, blind_signing=False)
    with closing(LoopbackTransport(one_app.port)) as transport, pytest.raises(FiltersMissing):
        EthereumApp(transport).sign_typed_data(PATH, typed_data, Skips(*told_of(PERMIT)))


def orders() -> dict[str, list[Apdu]]:
    """Return commands in orders in which the app refuses the last one."""
    permit = told_of(PERMIT).flow(PATH, read_typed_data(typed(PERMIT))[0])
    limit = told_of(LIMIT).flow(PATH, read_typed_data(typed(LIMIT))[0])
    filters = [apdu for apdu in permit.values if apdu.ins == Ins.EIP712_FILTER]
    message, owner, spender = filters[1], filters[2], filters[3]
    rooted = next(n for n, apdu in enumerate(permit.values) if apdu.data == b"Permit")
    usdt = ethereum_apdu(Ins.TOKEN, 0, 0, published()[2])
    told = next(n for n, apdu in enumerate(limit.values) if apdu.ins == Ins.TOKEN)
    return {
        "a member's before anything": [owner],
        "a member's before the message": [*permit.definitions, permit.values[0], owner],
        "the message's once the message began": [*permit.definitions, *permit.values[: rooted + 1], message],
        "another member's": [*permit.definitions, *permit.values[: rooted + 1], spender],
        "of no kind": [*permit.definitions, permit.values[0], ethereum_apdu(Ins.EIP712_FILTER, 0, 0x22)],
        "another token than the message names": [
            *limit.definitions, *limit.values[:told], usdt, *limit.values[told + 1 : told + 3]
        ],
    }  # fmt: skip


@pytest.mark.parametrize("name", orders())
def test_another_order_is_refused_as_the_software_ledger_refuses_it(one_app: RealApp, name: str) -> None:
    commands = orders()[name]
    software = SoftwareLedger(model=one_app.file.built, settings=AppSettings(raw_messages=False))
    expected = [software.exchange(apdu.encode()) for apdu in commands]
    one_app.configure(raw_messages=False, blind_signing=False)
    with closing(LoopbackTransport(one_app.port)) as transport:
        answers = [transport.exchange(apdu.encode(), person=True) for apdu in commands]
    assert answers == expected
    assert answers[-1][1] != 0x9000


@pytest.mark.parametrize(("venue", "values"), [MESSAGES["permit"], MESSAGES["limit"]], ids=["permit", "limit"])
def test_the_installed_command_signs_it(
    one_app: RealApp, tmp_path: Path, venue: FilteredVenue, values: dict[str, str]
) -> None:
    desk = FilteredDesk(tmp_path, venue, **values)
    one_app.configure(raw_messages=False, blind_signing=False)
    desk.pin(one_app.port)
    with Person(one_app) as person:
        ended = desk.sign(one_app.port, "--model", one_app.file.model)
    assert ended.code == 0, ended.err
    assert desk.signed()["shown"] == "filters"
    typed_data, _ = read_typed_data(desk.document)
    assert person.pages == told_of(venue).pages(typed_data, one_app.file.built)
