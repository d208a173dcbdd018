"""The pages that a Ledger will show, in order, as lists of lines: for the review screen and for the software Ledger.

Wording and order were recorded from the Ethereum app (``tests/vectors/ledger``; ``docs/reference/ledger.md`` lists models
and versions); a Flex with 1.22.0 words its warning page otherwise than with 1.22.0-dev. Pages that only come when
somebody looks further (a Nano's Reject page, a Flex's More) are not among them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from airlock_offline.ledger.models import (
    DEVELOPMENT,
    NAME_GAP_PX,
    Buttons,
    Touch,
    counted_breaks,
    counted_lines,
    cut_lines,
    screen_of,
    text_lines,
    text_pages,
    title_line,
)
from airlock_shared.documents.ledger_metadata import TokenMetadata
from airlock_shared.documents.requests import Request
from airlock_shared.ethereum.eip712 import Hashes, MessageValue, TypedData
from airlock_shared.ethereum.signatures import checksum_address, parse_address, value_wei
from airlock_shared.ethereum.struct_types import DOMAIN_TYPE, leaves_of
from airlock_shared.units import NATIVE, UNLIMITED, Unit, to_human
from airlock_shared.venue.calls import LEDGER_CONTRACTS
from airlock_shared.venue.structs import leaf
from airlock_shared.wire.strict_json import JsonObject

Page = list[str]

_PAUSE = "Press right button to continue message or press both to skip"
_PAGED_TITLE = 35  # characters of a title with its page's number (``displayTextPage`` of the device SDK)
MORE_TAKES_LINES = 3  # the room of the button
SHOWN_CHARACTERS = 379  # of a value, as measured; the rest of it is hashed and not shown
UNSHORTENED_FROM = 509  # app 1.22.0, not 1.22.0-dev: a string of so many bytes is cut without its three dots


class Leaf(NamedTuple):
    """One value that the device hashes and shows: its field's name and atomic type, the canonical value, and its path."""

    name: str
    type: str
    value: MessageValue
    path: str


def leaves(typed_data: TypedData, root: str) -> Iterator[Leaf]:
    """Yield the values below ``EIP712Domain`` or below the primary type, in hashing order."""
    values = typed_data.domain if root == DOMAIN_TYPE else typed_data.message
    for path, kind in leaves_of(typed_data.structs, root):
        yield Leaf(path.rpartition(".")[2], kind, leaf(values, path), path)


class ScreenField(NamedTuple):
    """One thing shown: its title and its value, the value already cut to what the app keeps of it."""

    title: str
    value: str


class Review(NamedTuple):
    """The texts around the fields of one kind of review, and what comes between: on the first page, and on the last one.

    The last one is of ``buttons`` or ``touch``. ``blind``: preceded by the warning; ``skippable``: a touch screen offers
    Skip; ``pauses``: buttons ask to go on after each field.
    """

    first: str
    buttons: str
    touch: str
    blind: bool = True
    skippable: bool = False
    pauses: bool = False


HASHES = Review("Review typed message", "Sign message", "Accept risk and sign typed message?", skippable=True)
TYPED_DATA = HASHES._replace(pauses=True)
FILTERED = Review("Review typed message", "Sign message", "Sign typed message?", blind=False)


def typed_data_pages(typed_data: TypedData, hashes: Hashes, model: str, *, by_hashes: bool) -> list[Page]:
    """Return the pages for typed data, signed field by field or by its two hashes, up to the one that signs.

    ``model`` is one of ``shown_models()``. Field by field needs the setting Raw messages.
    """
    if by_hashes:
        return review_pages(HASHES, hash_fields(hashes.domain_separator, hashes.struct_hash), model)
    return review_pages(TYPED_DATA, typed_data_fields(typed_data, model), model)


def hash_fields(domain_hash: bytes, message_hash: bytes) -> list[ScreenField]:
    """Return the two fields of signing by hashes."""
    return [
        ScreenField("Domain hash", shown_bytes(domain_hash)),
        ScreenField("Message hash", shown_bytes(message_hash)),
    ]


def typed_data_fields(typed_data: TypedData, model: str) -> list[ScreenField]:
    """Return the fields of signing field by field: each struct's heading, then its leaves."""
    result = []
    for root in (DOMAIN_TYPE, typed_data.primary_type):
        result.append(ScreenField("Review struct", root))
        result += [ScreenField(leaf.name, raw_value(leaf, model)) for leaf in leaves(typed_data, root)]
    return result


def raw_value(leaf: Leaf, model: str) -> str:
    """Return a value as the device shows it raw."""
    if leaf.type == "address":
        return checksum_address(leaf.value)
    if isinstance(leaf.value, bool):
        return "true" if leaf.value else "false"
    if isinstance(leaf.value, str):
        return shown_string(leaf.value.encode(), model)
    return str(leaf.value) if isinstance(leaf.value, int) else shown_bytes(leaf.value)


def shown_bytes(value: bytes) -> str:
    """Return ``bytes`` and ``bytesN`` as the device shows them: upper-case digits, at most 379 characters."""
    return _cut("0x" + value.hex().upper())


def shown_string(value: bytes, model: str) -> str:
    """Return a string, given as its UTF-8 bytes, as the device shows it: cut, and without what it does not draw."""
    text = value.decode("latin-1")  # one character a byte: the device counts bytes
    unmarked = len(text) >= UNSHORTENED_FROM and screen_of(model).app_version != DEVELOPMENT
    return drawable(text[:SHOWN_CHARACTERS] if unmarked else _cut(text))


def drawable(text: str) -> str:
    """Return a text without what the device does not draw."""
    return "".join(character for character in text if " " <= character <= "~" or character == "\n")


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 3] + "..."


# ---- pages --------------------------------------------------------------------------------------------------------


def review_pages(review: Review, fields: list[ScreenField], model: str) -> list[Page]:
    """Return the pages of a review, from the warning, if any, to the page that signs."""
    screen = screen_of(model)
    layout = screen.layout
    first = text_lines(review.first, layout.values)
    if isinstance(layout, Touch):
        small = layout.names
        bodies = _touch_bodies(fields, layout, layout.height_with_skip_px if review.skippable else layout.height_px)
        count = len(bodies) + 2
        skip = ["Skip"] if review.skippable else []
        if review.blind:
            pages = [[*first, "Reject", f"1 of {count}", "Blind signing required."]]
        else:
            pages = [[*first, "Swipe to review", "Reject", f"1 of {count}"]]
        pages += [[*skip, *body, "Reject", f"{index} of {count}"] for index, body in enumerate(bodies, start=2)]
        last = text_lines(review.touch, layout.values)
        pages.append([*last, "Reject", f"{count} of {count}", "Hold to sign"])
    else:
        small = layout.values
        pages = [first]
        for index, field in enumerate(fields):
            if index and review.pauses:
                pages.append(text_lines(_PAUSE, layout.values))
            pages += button_field_pages(field, layout)
        pages.append(text_lines(review.buttons, layout.values))
    warning = [line for text in screen.warning for line in text_lines(text, small)]
    return [warning, *pages] if review.blind else pages


def button_field_pages(field: ScreenField, layout: Buttons) -> list[Page]:
    """Return a field's pages: so many lines of the value to a page, counted in the title when they are several."""
    parts = text_pages(field.value, layout.values, layout.lines)
    titles = [f"{field.title} ({index}/{len(parts)})"[:_PAGED_TITLE] for index in range(1, len(parts) + 1)]
    if len(parts) == 1:
        titles = [field.title]
    return [[title_line(title, layout.names), *filter(None, part)] for title, part in zip(titles, parts, strict=True)]


def _touch_bodies(fields: list[ScreenField], layout: Touch, height_px: int) -> list[Page]:
    """Put as many fields on a page as fit; a value of more lines than are shown is alone, cut, and has More.

    Source: ``getNbTagValuesInPage`` in ``nbgl_use_case.c`` of the public device SDK.
    """
    bodies: list[Page] = []
    rest = list(fields)
    while rest:
        body: Page = []
        used_px = layout.top_px
        for number, field in enumerate(rest):
            lines = counted_lines(field.value, layout.values)
            used_px += layout.between_px if number else 0
            used_px += counted_lines(field.title, layout.names) * layout.names.height_px + NAME_GAP_PX
            used_px += lines * layout.values.height_px
            whole = used_px < height_px and lines <= layout.lines
            if whole or not number:
                body += _touch_field(field, layout, whole=whole)
                placed = number + 1
            if not whole:
                break
        bodies.append(body)
        rest = rest[placed:]
    return bodies


def _touch_field(field: ScreenField, layout: Touch, *, whole: bool) -> Page:
    name = text_lines(field.title, layout.names)
    lines = text_lines(field.value, layout.values)
    if whole:
        return [*name, *filter(None, lines)]
    shown = layout.lines - MORE_TAKES_LINES
    if counted_lines(field.value, layout.values) > shown:
        lines = cut_lines(field.value, layout.values, shown)
    return [*name, *filter(None, lines), "More"]


# ---- behind more ----------------------------------------------------------------------------------------------------
# What a touch screen has behind More: the rest of a long value, and of a very long one not all.


def not_drawn_behind_more(value: str, layout: Touch) -> str:
    """Return the end of a value for which the pages behind More have no room.

    The device counts the pages in one typeface and fills them in another, a bolder one. Source: ``displayDetails`` and
    ``displayDetailsPage`` in ``nbgl_use_case.c`` of the public device SDK.
    """
    lines = counted_lines(value, layout.names)
    pages = -(-lines // layout.more_lines)
    if pages > 1:
        a_line_holds = layout.names.line_px // 16
        lost = -(-3 * (pages - 1) // a_line_holds)
        on_the_last = lines - (pages - 1) * layout.more_lines
        pages += lost // layout.more_lines + (on_the_last + lost % layout.more_lines > layout.more_lines)
    for _ in range(pages):
        breaks = list(counted_breaks(value, layout.bold))
        if len(breaks) < layout.more_lines:
            return ""
        value = value[breaks[layout.more_lines - 1] :]
    return value


# ---- not shown ------------------------------------------------------------------------------------------------------
# What a Ledger does not show in full of what it signs: named before signing, so that people read it on the review.
# Everything is hashed and signed whole; only the screen is short. Measured on the real app
# (``docs/reference/ledger.md``).


def not_shown_in_full(typed_data: TypedData, model: str) -> list[str]:
    """Return a sentence for each value of ``typed_data`` that ``model`` shows cut, hidden, incomplete, or not at all."""
    every = (leaf for root in (DOMAIN_TYPE, typed_data.primary_type) for leaf in leaves(typed_data, root))
    return list(dict.fromkeys(note for leaf in every for note in notes_of(leaf, model, leaf.name)))


def notes_of(leaf: Leaf, model: str, name: str) -> Iterator[str]:
    """Yield what ``model`` does not show in full of a value that it shows raw; ``name`` is how it is called."""
    value, layout = leaf.value, screen_of(model).layout
    if isinstance(value, str):
        raw, shown = value.encode(), shown_string(value.encode(), model)
        if len(raw) > SHOWN_CHARACTERS:
            marked = "without marking the cut" if len(raw) >= UNSHORTENED_FROM else "and marks the cut with ..."
            yield f"The Ledger shows {SHOWN_CHARACTERS} characters of {name} at most ({len(raw)} bytes), {marked}."
        if not all(0x20 <= byte <= 0x7E or byte == 0x0A for byte in raw):
            yield f"The Ledger does not draw the characters of {name} that are not ASCII."
    elif isinstance(value, bytes) and leaf.type != "address":
        shown = shown_bytes(value)
        if 2 + 2 * len(value) > SHOWN_CHARACTERS:
            yield f"The Ledger shows {SHOWN_CHARACTERS} characters of {name} at most ({len(value)} bytes of data)."
    else:
        if isinstance(layout, Buttons) and type(value) is int:
            pages = text_pages(str(value), layout.values, layout.lines)
            if "".join(line for page in pages for line in page) != str(value):
                yield f"A Nano repeats digits of {name} on its second page: compare page by page, do not join them."
        return
    if isinstance(layout, Touch) and counted_lines(shown, layout.values) > layout.lines:
        yield f"{name} continues behind More: tap it on the Ledger to read all of it."
        if not_drawn_behind_more(shown, layout):
            yield f'The end of {name} is not drawn behind More: read here that it ends in "{shown[-24:].strip()}".'


# ---- network names --------------------------------------------------------------------------------------------------
# The networks whose names and currencies the Ethereum app 1.22.0 knows; it shows others by number and in ``???``.
# Data of LedgerHQ/app-ethereum (Apache License 2.0), ``src/network.c`` at the tag ``flex_1.5.1_1.22.0_sdk_v25.12.3``.
# The development build 1.22.0-dev knows the same but Sei.


class Network(NamedTuple):
    """A network's name and the ticker of its currency, as the device shows them."""

    name: str
    ticker: str


NETWORKS = {
    int(number): Network(name, ticker)
    for number, ticker, name in (
        row.split(maxsplit=2)
        for row in """\
1            ETH    Ethereum
3            ETH    Ropsten
4            ETH    Rinkeby
5            ETH    Goerli
10           ETH    OP Mainnet
14           FLR    Flare
16           FLR    Flare Coston
19           SGB    Songbird
24           KAI    KardiaChain
25           CRO    Cronos
30           RBTC   Rootstock
40           TLOS   Telos EVM Mainnet
42           LYX    LUKSO
50           XDC    XDC
51           TXDC   Apothemnetwork
56           BNB    BSC
57           SYS    Syscoin
61           ETC    Ethereum Classic
66           OKT    OKXChain
82           MTR    Meter
99           POA    POA
100          xDAI   Gnosis
106          VLX    Velas EVM
137          POL    Polygon
138          ETH    Defi Oracle Meta
146          S      Sonic
196          OKB    OKBChain Mainnet
199          BTT    BTTC
246          EWT    EnergyWebChain
248          OAS    Oasys
250          FTM    Fantom
288          ETH    Boba Network
300          ETH    ZKsync Sepolia Testnet
321          KCS    KCC
324          ETH    ZKsync Era
336          SDN    Shiden
369          PLS    PulseChain
592          ASTR   Astar
888          WAN    Wanchain
943          tPLS   PulseChain Testnet
999          HYPE   HyperEVM
1030         CFX    Conflux
1088         METIS  Metis Andromeda
1101         ETH    Polygon zkEVM
1116         CORE   Core
1135         ETH    Lisk
1284         GLMR   Moonbeam
1285         MOVR   Moonriver
1329         SEI    Sei
1818         CUBE   Cube
1868         ETH    Soneium
1907         BITCI  Bitcichain
1923         ETH    Swellchain
1924         ETH    Swellchain Testnet
1946         ETH    Soneium Testnet Minato
2222         KAVA   Kava EVM
3776         ETH    Astar zkEVM
4201         LYXt   LUKSO Testnet
4202         ETH    Lisk Sepolia Testnet
4689         IOTX   IoTeX
4690         IOTX   IoTeX Testnet
4919         XVM    Venidium
5000         MNT    Mantle
5003         MNT    Mantle Sepolia
5165         FTN    Bahamut
7000         ZETA   ZetaChain
7171         BROCK  Bitrock Mainnet
7341         SHFT   Shyft
8217         KAIA   Kaia Mainnet
8453         ETH    Base
9001         EVMOS  Evmos
10200        xDAI   Chiado
10507        NUM    Numbers Protocol
17000        ETH    Holesky
39797        NRG    Energi
42161        ETH    Arbitrum
42220        CELO   Celo
42793        XTZ    Etherlink Mainnet
43114        AVAX   Avalanche
44787        aCELO  Celo Alfajores
47763        GAS    Neo X Mainnet
52014        ETN    Electroneum
59141        ETH    Linea Sepolia
59144        ETH    Linea
60808        ETH    BOB
62320        bCELO  Celo Baklava
62621        MTV    Multivac
73799        VOLTA  Volta
80094        BERA   Berachain
81457        ETH    Blast
84532        ETH    Base Sepolia
153153       DIONE  Odyssey Chain
200810       BTC    Bitlayer Testnet
200901       BTC    Bitlayer
421614       ETH    Arbitrum Sepolia
534351       ETH    Scroll Sepolia
534352       ETH    Scroll
534353       ETH    Scroll Alpha
543210       ETH    Zero
5201420      ETN    Electroneum Testnet
11155111     ETH    Sepolia
11155420     ETH    OP Sepolia
12227332     GAS    Neo X Testnet
20531811     TCR    TecraTestnet
20531812     TCR    Tecra
168587773    ETH    Blast Sepolia
245022926    NEON   Neon EVM Devnet
245022934    NEON   Neon EVM Mainnet
994873017    LUMIA  Lumia
1666600000   ONE    Harmony ONE S0
1666600001   ONE    Harmony ONE S1
11297108109  PALM   Palm Network
""".splitlines()
    )
}

# ---- transactions ---------------------------------------------------------------------------------------------------
# The pages on which a Ledger shows a transaction. Wording as recorded from the app (``tests/vectors/ledger``).


class TokenCall(NamedTuple):
    """A call of ERC-20 that the app reads itself: how it names it, its amount and its address."""

    name: str
    amount: str
    address: str


TOKEN_CALLS = {  # by selector: approve(address,uint256) and transfer(address,uint256)
    bytes.fromhex("095ea7b3"): TokenCall("approve", "Approve", "Approve to"),
    bytes.fromhex("a9059cbb"): TokenCall("send", "Send", "To"),
}
TOKEN_CALL_BYTES = 4 + 32 + 32


def _transaction_frame(*, blind: bool, to: str = "") -> Review:
    """Return the frame of a transaction; ``to`` is what a call of ERC-20 is said to do."""
    first, touch = f"Review transaction{to}", f"transaction{to}?"
    if blind:
        return Review(first, "Accept risk and \nsign transaction", f"Accept risk and sign {touch}")
    return Review(first, "Sign transaction", f"Sign {touch}", blind=False)


class ShownTransaction(NamedTuple):
    """What decides the pages: who sends what where, fees in wei, and the 32-byte hash that is signed.

    ``to`` is empty when a contract is created; ``token`` is what the device was told of a token before.
    """

    sender: str
    chain_id: int
    to: bytes
    value_wei: int
    fee_wei: int
    data: bytes
    digest: bytes
    token: TokenMetadata | None = None

    @property
    def token_call(self) -> TokenCall | None:
        """The call of ERC-20 that the app takes this for, None of anything else."""
        return TOKEN_CALLS.get(self.data[:4]) if self.to else None

    @property
    def blind(self) -> bool:
        """Whether the device signs it blind: with calldata that it does not show."""
        known = self.token is not None and self.token.address == self.to
        return bool(self.data) and not (known and self.token_call and len(self.data) == TOKEN_CALL_BYTES)


def shown_transaction(request: Request, signer: bytes, digest: bytes, token: TokenMetadata | None) -> ShownTransaction:
    """Return what decides the pages of a request's transaction, which ``signer`` sends (20 bytes)."""
    payload, filled = request.payload, request.filled
    to, data = bytes.fromhex(payload["to"][2:]), bytes.fromhex(payload["data"][2:])
    return ShownTransaction(
        checksum_address(signer),
        payload["chainId"],
        to,
        value_wei(payload) or 0,
        filled.gas * filled.maxFeePerGas,
        data,
        digest,
        token,
    )


def amount(wei: int, chain_id: int) -> str:
    """Return an amount as the device shows it; the unit of an unknown network is ``???``."""
    return f"{to_human(wei, NATIVE)} {_network(chain_id).ticker}"


def network(chain_id: int) -> str:
    """Return a network's name as the device shows it: its number when it is unknown."""
    return _network(chain_id).name


def _network(chain_id: int) -> Network:
    return NETWORKS.get(chain_id, Network(str(chain_id), "???"))


def transaction_review(shown: ShownTransaction, model: str) -> tuple[Review, list[ScreenField]]:
    """Return the frame and the fields with which a transaction is shown."""
    networks = [ScreenField("Network", network(shown.chain_id))] if shown.chain_id != 1 else []
    fees = ScreenField("Max fees", amount(shown.fee_wei, shown.chain_id))
    if call := shown.token_call:
        clear = []  # of a token of which the device was not told, it shows neither amount nor address
        if shown.token is not None and not shown.blind:
            address, raw = shown.data[16:36], int.from_bytes(shown.data[36:68], "big")
            clear = [
                ScreenField(call.amount, token_amount(raw, shown.token)),
                ScreenField(call.address, checksum_address(address)),
            ]
        frame = _transaction_frame(blind=shown.blind, to=f" to {call.name} ERC20 token")
        return frame, [ScreenField("From", shown.sender), *clear, *networks, fees]
    amounts = [ScreenField("Amount", amount(shown.value_wei, shown.chain_id))]
    fields = [
        ScreenField("From", shown.sender),
        *(amounts if shown.value_wei or not shown.data else []),
        ScreenField("To", checksum_address(shown.to) if shown.to else "Contract"),
        fees,
        *networks,
    ]
    if shown.data:
        fields.append(ScreenField(screen_of(model).transaction_hash, "0x" + shown.digest.hex()))
    return _transaction_frame(blind=bool(shown.data)), fields


def token_amount(raw: int, token: TokenMetadata | None) -> str:
    """Return an amount of a token as the device shows it: of one that it does not know, without decimals."""
    ticker, decimals = (token.ticker, token.decimals) if token else ("???", 0)
    return f"{'Unlimited' if raw == UNLIMITED else to_human(raw, Unit(ticker, decimals))} {ticker}"


def transaction_pages(shown: ShownTransaction, model: str) -> list[Page]:
    """Return the pages for a transaction, up to the one that signs."""
    return review_pages(*transaction_review(shown, model), model)


# ---- EIP-7702 authorizations: the app shows the contract's name, and neither its address nor the account's nonce ---------

_UPGRADE = Review(
    "Review authorization to upgrade into smart contract account?",
    "Sign operation",
    "Sign authorization to upgrade into smart contract account?",
    blind=False,
)


def authorization_review(account: str, name: str, where: str, model: str) -> tuple[Review, list[ScreenField]]:
    """Return the frame and the fields with which an authorization of a contract and a network is shown, both by name."""
    title = screen_of(model).delegated_network
    return _UPGRADE, [ScreenField("Account", account), ScreenField("Delegate to", name), ScreenField(title, where)]


def authorization_pages(payload: JsonObject, signer: bytes, model: str) -> list[Page]:
    """Return the pages for an item's authorization, up to the one that signs; the signer has 20 bytes."""
    name = LEDGER_CONTRACTS[parse_address(payload["address"])]
    where = network(payload["chainId"])
    return review_pages(*authorization_review(checksum_address(signer), name, where, model), model)
