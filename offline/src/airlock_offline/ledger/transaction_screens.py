"""The pages on which a Ledger shows a transaction, or an authorization.

Wording as recorded from the app (``tests/vectors/ledger``).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from airlock_offline.ledger.models import screen_of
from airlock_offline.ledger.typed_data_screens import Frame, Page, Review, ScreenField, review_pages
from airlock_shared.documents.ledger_metadata import TokenMetadata
from airlock_shared.documents.requests import Request
from airlock_shared.ethereum.signatures import checksum_address, parse_address
from airlock_shared.ethereum.transactions import value_wei
from airlock_shared.units import NATIVE, UNLIMITED, Unit, to_human
from airlock_shared.venue.calldata import LEDGER_CONTRACTS

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

# ---- transaction screens --------------------------------------------------------------------------------------------


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


_PLAIN = Review(
    Frame(("Review transaction",), ("Sign transaction",)),
    Frame(("Review transaction",), ("Sign transaction?",)),
    blind=False,
)
BLIND = Review(
    Frame(("Review transaction",), ("Accept risk and ", "sign transaction")),
    Frame(("Review transaction",), ("Accept risk and sign ", "transaction?")),
)


def token_review(call: TokenCall, *, blind: bool) -> Review:
    """Return the frame of a call of ERC-20, which names the kind of contract."""
    first = ("Review transaction to ", f"{call.name} ERC20 token")
    kind = f"{call.name} ERC20 token?"
    if blind:
        accept = Frame(first, ("Accept risk and sign ", "transaction to ", kind))
        return Review(Frame(first, ("Accept risk and ", "sign transaction")), accept)
    return Review(Frame(first, ("Sign transaction",)), Frame(first, ("Sign transaction to ", kind)), blind=False)


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
        return token_review(call, blind=shown.blind), [ScreenField("From", shown.sender), *clear, *networks, fees]
    amounts = [ScreenField("Amount", amount(shown.value_wei, shown.chain_id))]
    fields = [
        ScreenField("From", shown.sender),
        *(amounts if shown.value_wei or not shown.data else []),
        ScreenField("To", checksum_address(shown.to) if shown.to else "Contract"),
        fees,
        *networks,
    ]
    if not shown.data:
        return _PLAIN, fields
    title = screen_of(model).wording.transaction_hash
    return BLIND, [*fields, ScreenField(title, "0x" + shown.digest.hex())]


def token_amount(raw: int, token: TokenMetadata | None) -> str:
    """Return an amount of a token as the device shows it: of one that it does not know, without decimals."""
    ticker, decimals = (token.ticker, token.decimals) if token else ("???", 0)
    return f"{'Unlimited' if raw == UNLIMITED else to_human(raw, Unit(ticker, decimals))} {ticker}"


def transaction_pages(shown: ShownTransaction, model: str) -> list[Page]:
    """Return the pages for a transaction, up to the one that signs."""
    return review_pages(*transaction_review(shown, model), model)


# ---- EIP-7702 authorizations: the app shows the contract's name, and neither its address nor the account's nonce ---------

_UPGRADE = Review(
    Frame(("Review authorization ", "to upgrade into smart ", "contract account?"), ("Sign operation",)),
    Frame(
        ("Review authorization to ", "upgrade into smart ", "contract account?"),
        ("Sign authorization to ", "upgrade into smart ", "contract account?"),
    ),
    blind=False,
)


def authorization_review(account: str, name: str, where: str, model: str) -> tuple[Review, list[ScreenField]]:
    """Return the frame and the fields with which an authorization of a contract and a network is shown, both by name."""
    title = screen_of(model).wording.delegated_network
    return _UPGRADE, [ScreenField("Account", account), ScreenField("Delegate to", name), ScreenField(title, where)]


def authorization_pages(payload: dict[str, Any], signer: bytes, model: str) -> list[Page]:
    """Return the pages for an item's authorization, up to the one that signs; the signer has 20 bytes."""
    name = LEDGER_CONTRACTS[parse_address(payload["address"])]
    where = network(payload["chainId"])
    return review_pages(*authorization_review(checksum_address(signer), name, where, model), model)
