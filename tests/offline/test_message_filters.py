"""A Ledger that is told how to show a message: labels, amounts and dates on its pages, as the review lists them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from airlock_offline.ledger import device_errors as errors
from airlock_offline.ledger.ethereum_app import EthereumApp
from airlock_offline.ledger.models import shown_models
from airlock_offline.ledger.screens import Page, ShownTransaction, transaction_pages, typed_data_pages
from airlock_offline.ledger.transport import Ins
from airlock_offline.ledger.typed_data import FilteredMessage, FiltersRefused, NoDate
from airlock_shared.documents.ledger_metadata import FieldFilter, MessageFilters, read_token_metadata
from airlock_shared.ethereum.signatures import keccak256
from airlock_shared.ethereum.typed_document import read_typed_data
from airlock_software_ledger.answers import AppSettings
from airlock_software_ledger.app import SoftwareLedger
from offline.recordings import SIGNER, answering, recovered
from shared import filtered_venues as venues
from shared.filtered_venues import LIMIT, PERMIT, typed
from shared.token_records import MAINNET_USDC, USDC_RECORD

PATH = "m/44'/60'/0'/0/0"
UTMOST = str(2**256 - 1)


def told_of(venue: venues.FilteredVenue) -> FilteredMessage:
    deployment = venues.deployed(venues.filtered_document(venue))
    return FilteredMessage(deployment.filters[venue.struct], deployment.token)


class Desk:
    """A Ledger with the settings that filters need, and the pages that it has shown."""

    def __init__(self, model: str = "flex", *, raw_messages: bool = False, blind_signing: bool = False) -> None:
        self.shown: list[Page] = []
        self.device = SoftwareLedger(
            model=model,
            settings=AppSettings(raw_messages=raw_messages, blind_signing=blind_signing),
            screens=self._approve,
        )
        self.app = EthereumApp(self.device)

    def _approve(self, pages: list[Page]) -> bool:
        self.shown += pages
        return True


def sign(desk: Desk, venue: venues.FilteredVenue, values: dict[str, str] | None = None) -> None:
    """Sign a message of the venue; its digest is the one that it has without filters."""
    typed_data, hashes = read_typed_data(typed(venue, **(values or {})))
    signature = desk.app.sign_typed_data(PATH, typed_data, told_of(venue))
    assert recovered(signature, hashes.digest) == SIGNER


@pytest.mark.parametrize("model", shown_models())
@pytest.mark.parametrize("venue", venues.VENUES.values(), ids=venues.VENUES)
def test_a_message_is_shown_as_listed_and_nothing_is_blind(venue: venues.FilteredVenue, model: str) -> None:
    desk, told = Desk(model), told_of(venue)
    sign(desk, venue)
    assert desk.shown == told.pages(read_typed_data(typed(venue))[0], model)
    assert "Blind signing ahead" not in desk.shown[0]


@pytest.mark.parametrize("model", ["flex", "nanosp"])
def test_with_raw_messages_on_the_app_heeds_no_filter_and_shows_every_member(model: str) -> None:
    desk = Desk(model, raw_messages=True)
    sign(desk, PERMIT)
    typed_data, hashes = read_typed_data(typed(PERMIT))
    assert desk.shown == typed_data_pages(typed_data, hashes, model, by_hashes=False)
    assert desk.shown != told_of(PERMIT).pages(typed_data, model)


def test_a_members_filter_before_that_of_the_message_is_refused() -> None:
    device = Desk().device
    typed_data, _ = read_typed_data(typed(PERMIT))
    flow = told_of(PERMIT).flow(PATH, typed_data)
    field = next(apdu for apdu in flow.values if apdu.ins == Ins.EIP712_FILTER and apdu.p2 == 0xFF)
    for apdu in (*flow.definitions, flow.values[0]):
        assert device.exchange(apdu.encode())[1] == 0x9000
    assert device.exchange(field.encode()) == (b"", 0x6980)


def on_a_flex(venue: venues.FilteredVenue, **values: str) -> list[str]:
    """Return the lines between the first and the last page, which are those listed, without what the layout adds."""
    desk = Desk()
    sign(desk, venue, values)
    assert desk.shown == told_of(venue).pages(read_typed_data(typed(venue, **values))[0], "flex")
    return [line for page in desk.shown[1:-1] for line in page[:-2]]


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({"value": "1"}, "0.000001 USDC"),
        ({"value": "0"}, "0 USDC"),
        ({"value": UTMOST}, "Unlimited USDC"),
        ({"value": str(2**256 - 2)}, None),
        ({"deadline": UTMOST}, "Unlimited"),
        ({"deadline": "0"}, "12:00:00 AM UTC"),
        ({"deadline": "1790251200"}, "12:00:00 PM UTC"),
        ({"deadline": "253402300799"}, "9999-12-31"),
    ],
)
def test_edges_of_amounts_and_dates(values: dict[str, str], line: str | None) -> None:
    lines = on_a_flex(PERMIT, **values)
    assert line is None or line in lines
    assert line is not None or not any(text.startswith("Unlimited") for text in lines)


@pytest.mark.parametrize("seconds", [253402300800, 1_790_000_000_123, 2**256 - 2])
def test_a_number_that_would_be_shown_as_another_date_is_not_signed_that_way(seconds: int) -> None:
    typed_data, _ = read_typed_data(typed(PERMIT, deadline=str(seconds)))
    with pytest.raises(NoDate, match="deadline as a date that is not meant"):
        told_of(PERMIT).pages(typed_data, "flex")


@pytest.mark.parametrize(
    ("values", "amounts"),
    [
        ({}, ["2500 USDC", "2499 ???"]),
        ({"makerAsset": venues.OTHER_TOKEN, "takerAsset": venues.USDC}, ["2500000000 ???", "0.002499 USDC"]),
        ({"makerAsset": venues.OTHER_TOKEN}, ["2500000000 ???", "2499 ???"]),
        ({"takerAsset": venues.USDC}, ["2500 USDC", "0.002499 USDC"]),
        ({"makerAsset": venues.OTHER_TOKEN, "makingAmount": UTMOST}, ["Unlimited ???", "2499 ???"]),
    ],
)
def test_an_amount_has_the_ticker_of_the_token_that_the_device_is_told_of(
    values: dict[str, str], amounts: list[str]
) -> None:
    lines = on_a_flex(LIMIT, **values)
    flow = told_of(LIMIT).flow(PATH, read_typed_data(typed(LIMIT, **values))[0])
    assert sum(apdu.ins == Ins.TOKEN for apdu in flow.values) == sum(line.endswith(" USDC") for line in lines)
    assert [line for line in lines if line.endswith((" USDC", " ???"))] == amounts
    assert lines[-5:-4] != ["salt"]


def test_what_is_not_shown_is_said_and_each_label_has_its_member() -> None:
    notes = told_of(LIMIT).notes(read_typed_data(typed(LIMIT))[0], "flex")
    said = " ".join(notes)
    for words in (
        "need Raw messages off",
        '"1inch Order" stands for the contract',
        "does NOT SHOW salt",
        "does NOT SHOW makerTraits",
        "does NOT SHOW makerAsset itself, but the ticker",
        "does NOT SHOW the domain",
        '"From" on the Ledger is maker.',
        '"Send" on the Ledger is makingAmount.',
        "not told of the token: it shows takingAmount raw",
    ):
        assert words in said
    assert "shows makingAmount raw" not in said
    long = PERMIT._replace(encode_type=PERMIT.encode_type.replace("address owner", "string owner"))
    said = " ".join(told_of(PERMIT).notes(read_typed_data(typed(long, owner="x" * 400))[0], "flex"))
    assert "The Ledger shows 379 characters of owner" in said


def without_signing(
    desk: Desk, venue: venues.FilteredVenue, told: FilteredMessage, error: type[Exception], match: str
) -> None:
    typed_data, _ = read_typed_data(typed(venue))
    with pytest.raises(error, match=match):
        desk.app.sign_typed_data(PATH, typed_data, told)
    assert desk.shown == []
    assert not desk.app.may_have_signed


def field_changed(filters: MessageFilters, path: str, **members: Any) -> MessageFilters:
    fields = [each._replace(**members) if each.path == path else each for each in filters.fields]
    return filters._replace(fields=tuple(fields))


def flipped(signature: bytes, at: int = -1) -> bytes:
    changed = bytearray(signature)
    changed[at] ^= 1
    return bytes(changed)


def signature_of(venue: venues.FilteredVenue, path: str) -> bytes:
    return next(each.signature for each in told_of(venue).filters.fields if each.path == path)


CHANGES: dict[str, Callable[[MessageFilters], MessageFilters]] = {
    "a bit of the message's signature": lambda f: f._replace(signature=flipped(f.signature)),
    "a bit of a member's signature": lambda f: field_changed(
        f, "owner", signature=flipped(signature_of(PERMIT, "owner"))
    ),
    "another label of the contract": lambda f: f._replace(label="Permit USDC transfer"),
    "another label": lambda f: field_changed(f, "spender", label="From"),
    "one filter too few": lambda f: f._replace(fields=f.fields[:-1]),
    "none": lambda f: f._replace(fields=()),
    "one filter more": lambda f: f._replace(fields=(*f.fields, FieldFilter("nonce", "N", "raw", None, f.signature))),
    "another member's filter": lambda f: field_changed(
        f, "spender", signature=signature_of(PERMIT, "owner"), label="From"
    ),
    "another format": lambda f: field_changed(f, "value", format="raw", token=None),
    "a date that is raw": lambda f: field_changed(f, "owner", format="datetime"),
    "another struct's filter": lambda f: field_changed(f, "owner", signature=signature_of(LIMIT, "maker")),
    "another contract's set": lambda f: told_of_arbitrum(),
    "another struct's set": lambda f: told_of(venues.RFQ).filters._replace(fields=f.fields),
}


def told_of_arbitrum() -> MessageFilters:
    published = venues.ON_ARBITRUM.published
    fields = tuple(
        FieldFilter(each["path"], each["label"], each["format"], each.get("coin_ref"), bytes.fromhex(each["signature"]))
        for each in published["fields"]
    )
    name = published["contractName"]
    return told_of(PERMIT).filters._replace(
        label=name["label"], signature=bytes.fromhex(name["signature"]), fields=fields
    )


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_ledger_has_not_signed_is_refused_by_the_device_and_ends_it(
    change: Callable[[MessageFilters], MessageFilters],
) -> None:
    told = told_of(PERMIT)
    without_signing(Desk(), PERMIT, told._replace(filters=change(told.filters)), FiltersRefused, "does not accept")


class Answers:
    """A device that answers this to one instruction, and as the software Ledger to all others."""

    def __init__(self, ins: Ins, data: bytes, sw: int = 0x9000) -> None:
        self._device, self._ins, self._answer = Desk().device, ins, (data, sw)

    def exchange(self, apdu: bytes, *, person: bool) -> tuple[bytes, int]:
        return self._answer if apdu[1] == self._ins else self._device.exchange(apdu)

    def close(self) -> None:
        pass


@pytest.mark.parametrize(("ins", "data"), [(Ins.EIP712_FILTER, b"\0"), (Ins.TOKEN, b""), (Ins.TOKEN, b"\0\0")])
def test_an_answer_that_is_none_is_named(ins: Ins, data: bytes) -> None:
    typed_data, _ = read_typed_data(typed(PERMIT))
    with pytest.raises(errors.WrongAnswer, match="how to show the message"):
        EthereumApp(Answers(ins, data)).sign_typed_data(PATH, typed_data, told_of(PERMIT))


def test_labels_amount_and_date_stand_for_the_members_and_the_rest_is_hidden() -> None:
    lines = on_a_flex(PERMIT)
    assert lines[:2] == ["Contract", "Permit USDC transfers"]
    assert lines[-5:] == ["Amount allowance", "2500 USDC", "Approval expire", "2026-09-21", "02:13:20 PM UTC"]
    assert not {"7", "nonce", "Filtered", "EIP712Domain", "owner", "2500000000"} & set(lines)


def test_another_network_is_named_and_ethereum_is_not() -> None:
    filters = told_of(PERMIT).filters._replace(chain_id=42161)
    told = FilteredMessage(filters, None)
    lines = [line for page in told.pages(read_typed_data(typed(venues.ON_ARBITRUM))[0], "flex") for line in page]
    assert lines[lines.index("Network") + 1] == "Arbitrum"
    assert "Network" not in on_a_flex(PERMIT)


def test_a_label_of_an_amount_is_cut_as_the_app_cuts_it() -> None:
    told = told_of(PERMIT)
    long = tuple(each._replace(label="Amount that the spender may take") for each in told.filters.fields)
    told = told._replace(filters=told.filters._replace(fields=long))
    typed_data, _ = read_typed_data(typed(PERMIT))
    lines = [line for page in told.pages(typed_data, "flex") for line in page]
    assert "Amount that the spender m" in lines
    assert '"Amount that the spender m" on the Ledger is value.' in told.notes(typed_data, "flex")


def test_another_domain_and_another_record_of_the_token_are_refused() -> None:
    told = told_of(PERMIT)
    token = read_token_metadata(USDC_RECORD)._replace(record=flipped(USDC_RECORD, 8))
    without_signing(
        Desk(), venues.ON_ARBITRUM, told._replace(token=None), FiltersRefused, "a message filter for Permit"
    )
    without_signing(Desk(), PERMIT, told._replace(token=None), FiltersRefused, "a message filter")
    without_signing(Desk(), PERMIT, told._replace(token=token), FiltersRefused, "the record of the token")


@pytest.mark.parametrize("ins", [Ins.EIP712_DEFINITION, Ins.EIP712_VALUE, Ins.SIGN_EIP712])
@pytest.mark.parametrize(("told", "setting"), [(told_of(PERMIT), "off Raw messages;"), (None, "on Raw messages (")])
def test_the_advice_is_the_setting_that_was_needed(ins: Ins, told: FilteredMessage | None, setting: str) -> None:
    typed_data, _ = read_typed_data(typed(PERMIT))
    with pytest.raises(errors.SettingOff) as refused:
        EthereumApp(Answers(ins, b"", 0x6A80)).sign_typed_data(PATH, typed_data, told)
    assert f"turn {setting}" in refused.value.do


def test_widths_that_the_app_refuses_are_told_before_anything_is_sent() -> None:
    venue = PERMIT._replace(encode_type=PERMIT.encode_type.replace("uint256 nonce", "int24 nonce"))
    without_signing(Desk(), venue, told_of(PERMIT), errors.NoSuchWidth, "int24")


@pytest.mark.parametrize("ins", [Ins.EIP712_FILTER, Ins.TOKEN])
@pytest.mark.parametrize(
    ("sw", "error"), [(0x5515, errors.Locked), (0x6D00, errors.NotSupported), (0x6E00, errors.WrongApp)]
)
def test_what_is_no_refusal_of_a_filter_keeps_its_own_name(ins: Ins, sw: int, error: type[Exception]) -> None:
    typed_data, _ = read_typed_data(typed(PERMIT))
    with pytest.raises(error):
        EthereumApp(Answers(ins, b"", sw)).sign_typed_data(PATH, typed_data, told_of(PERMIT))


# ---- a token that a Ledger is told of: spender and amount while Blind signing is off --------------------------------


TOKEN = read_token_metadata(USDC_RECORD)
SPENDER = bytes.fromhex("11" * 20)
FEE_WEI = 60_000 * 2_000_000_000


def call(selector: str = "095ea7b3", amount: int = 2500 * 10**6, more: bytes = b"") -> bytes:
    return bytes.fromhex(selector) + bytes(12) + SPENDER + amount.to_bytes(32, "big") + more


def transaction(data: bytes, to: bytes = MAINNET_USDC, value: int = 0) -> bytes:
    """Return an unsigned EIP-1559 transaction on Ethereum."""
    from rlp import encode

    return b"\x02" + bytes(encode([1, 3, 10**8, 2 * 10**9, 60_000, to, value, data, []]))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (call(), "2500 USDC"),
        (call(amount=1), "0.000001 USDC"),
        (call(amount=2**256 - 1), "Unlimited USDC"),
        (call("a9059cbb"), "2500 USDC"),
    ],
)
def test_spender_and_amount_are_shown_with_blind_signing_off(data: bytes, said: str) -> None:
    desk, whole = Desk(), transaction(data)
    desk.app.provide_token(TOKEN)
    signature = desk.app.sign_transaction(PATH, whole)
    assert recovered(signature, keccak256(whole)) == SIGNER
    assert any(said in page for page in desk.shown)
    shown = ShownTransaction(SIGNER, 1, MAINNET_USDC, 0, FEE_WEI, data, keccak256(whole), TOKEN)
    assert desk.shown == transaction_pages(shown, "flex")
    assert "Blind signing ahead" not in desk.shown[0]
    with pytest.raises(errors.SettingOff):  # the token is known for one transaction alone
        desk.app.sign_transaction(PATH, whole)


@pytest.mark.parametrize(
    ("data", "to", "value"),
    [
        (call(), SPENDER, 0),
        (call(), MAINNET_USDC, 1),
        (call("12345678"), MAINNET_USDC, 0),
        (call()[:4], MAINNET_USDC, 0),
        (call(more=bytes(96)), MAINNET_USDC, 0),
    ],
    ids=["another token", "value", "another call", "no arguments", "more than the app keeps"],
)
def test_nothing_else_is_signed_with_blind_signing_off(data: bytes, to: bytes, value: int) -> None:
    desk = Desk()
    desk.app.provide_token(TOKEN)
    with pytest.raises(errors.SettingOff):
        desk.app.sign_transaction(PATH, transaction(data, to, value))
    assert desk.shown == []


def test_what_is_told_of_one_token_says_nothing_of_another_contract() -> None:
    shown = ShownTransaction(SIGNER, 1, SPENDER, 0, FEE_WEI, call(), bytes(32), TOKEN)
    pages = transaction_pages(shown, "flex")
    assert "Blind signing ahead" in pages[0]
    assert not any("2500 USDC" in page for page in pages)


@pytest.mark.parametrize("at", [0, 1, 8, 27, 31, 40, len(USDC_RECORD) - 1])
def test_a_record_with_one_other_bit_is_refused(at: int) -> None:
    record = USDC_RECORD[:at] + bytes((USDC_RECORD[at] ^ 1,)) + USDC_RECORD[at + 1 :]
    desk = Desk()
    with pytest.raises(errors.TokenRefused, match="does not accept the pinned record"):
        desk.app.provide_token(TOKEN._replace(record=record))
    assert not desk.app.may_have_signed


def test_an_answer_that_is_no_place_is_named() -> None:
    with pytest.raises(errors.WrongAnswer, match="0 bytes instead of 1"):
        answering(b"").provide_token(TOKEN)
