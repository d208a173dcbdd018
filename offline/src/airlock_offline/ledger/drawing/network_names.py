"""The networks whose names and currencies the Ethereum app 1.22.0 knows; it shows others by number and in ``???``.

Data of LedgerHQ/app-ethereum (Apache License 2.0), ``src/network.c`` at the tag ``flex_1.5.1_1.22.0_sdk_v25.12.3``. The
development build 1.22.0-dev knows the same but Sei.
"""

from __future__ import annotations

from typing import NamedTuple


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
