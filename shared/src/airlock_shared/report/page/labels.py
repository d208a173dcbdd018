"""What every raw key of data is called on the page: one table, so that no page shows a name that only programs know.

A key is looked up whole, and then by its last member. The case of letters, ``_``, ``-`` and the number of an item do not
count. A key that no table can know, because a service or a struct of the venue's own named it, is shown in quotation marks.
"""

from __future__ import annotations

import re

from airlock_shared.report.rows import PageRow
from airlock_shared.venue.structs import RAW_KIND

_TABLE = """
acceptcodeownership: accept the code
addedcollateral: collateral added
additionalcollateralusdc: collateral added, USDC
airlock: version of Airlock
amount: amount
amountusdc: amount, USDC
app: app
block: block
blockhash: hash of the block
blocknumber: number of the block
by: said by
buy: long
caller: account that sends it
clock.bootid: start of the machine, its id
clock.bootms: time since the start, ms
clock.machinems: clock of the machine, unix ms
clock.statedms: time that was stated, unix ms
clock.uncertaintys: it may be wrong by, seconds
closeonly: closing only
code: referral code
codetext: referral code
coinexposure: exposure, coins of the base asset
coinexposureadded: exposure added, coins
coinsize: exposure to close, coins
collateraltocloseusdc: collateral to close, USDC
collateralusdc: collateral, USDC
confirmedblock: block that confirmed it
contract: contract
contractaddress: contract
contractname: contract
data: data
deadline: may be used until
deadlinems: may be used until
decodederror: error, decoded
delegate: delegate key
description: description
device: Ledger
device.app: app of the Ledger
device.blindsigning: blind signing on the Ledger
device.do: what to do about the Ledger
device.error: trouble with the Ledger
device.model: model of the Ledger
device.rawmessages: raw messages on the Ledger
device.transactioncheck: Transaction Check on the Ledger
device.version: version of the app
do: what to do
effectivegasprice: price of gas, wei
encodedintent: intent, encoded
event.code: code of the service
entityid: id of the stored order
error: error
executionfeewei: execution fee, wei
expectedprice: price expected, USD
expiry: delegate may act until
expiryseconds: delegate may act until
file: file
fillprice: price of the fill
from: from
gas: gas
gaslimit: gas at most
gasprice: price of gas, wei
gasused: gas used
given: what was given
groupindex: group of pairs
id: id
index: position number
initialpostoken: collateral
installed: what is installed
installed.files: files compared with the kit
installed.findings: what differs from the kit
installed.findings.check: what differs, check
installed.findings.path: what differs, file
installed.findings.what: what differs
installed.fingerprint: fingerprint of the kit
installed.kit: kit
intentdeadlinems: may be used until
isbuy: long
iscoinexposurefixed: exposure is fixed
isenabled: switched on
ispairlisted: pair is listed
ispnl: by profit or loss
isprivate: private
kernel: kernel
kernel.kernel: kernel
kernel.landlock: Landlock, ABI
kernel.landlockwhy: why no Landlock
kernel.seccomp: filter of the kernel is on
kernel.seccompwhy: why no filter of the kernel
kind: what the trigger does
leverage: leverage
liquidationprice: liquidation price
logindex: number of the log
long: long
maxfeepergas: fee at most, wei a unit of gas
maxleverage: leverage at most
maxpriorityfeepergas: priority fee at most, wei a unit of gas
message: message
meta: about it
method: method
minleverage: leverage at least
model: model
name: name
newentityid: id of the new stored order
newowner: next owner
nonce: nonce
note: note
oldentityid: id of the order that was replaced
open: opening
openedms: position opened at
openordertype: how it executes
openprice: price that slippage is measured from, USD
opentimestamp: position opened at
order: step of the order
orderid: id of the order
orderindex: order number
ordertype: how it executes
owner: owner
pair: pair
pairindex: pair, by its number
path: path
pendingowner: next owner, nominated
percentage: profit or loss that triggers, %
percentprofit: profit
pins: deployments pinned
pins.fingerprint: fingerprint of a pinned deployment
pins.name: pinned deployment
pins.rehearsal: pinned for rehearsals
pins.words: words of a pinned deployment
positionsize: size of the position
positionsizeusdc: size of the position
possession: proof that the delegate has its key
price: price
production: production
proof: proof
rawtransaction: transaction
reason: reason
referee: account that adopts the code
referrer: account that owns the code
rejected: refused by the service
replaces: stored trigger that it replaces
retry: told to try again
revertdata: data of the failure
reverted: failed on the chain
route: way it was sent
side: direction
signature: signature
signedat: built at
signer: signer
signtimestamp: built at
sl: stop loss
slippage: slippage at most
slippagep: slippage at most
slippagepercent: slippage at most, %
spender: who may take it
state: state
status: state
statuscode: code of the answer
stoploss: stop loss, USD
t: position
takeprofit: take profit, USD
terms: terms of the venue
termssha256: SHA-256 of the venue's terms
text: text
timestamp: position opened at
timeutc: time
tnc: terms of the venue
to: to
tp: take profit
trackingid: tracking id
tradeindex: position number
trader: account
transactionhash: transaction
transcripthead: head of the transcript
triggertype: kind of trigger
twapid: number of the TWAP order
txhash: transaction
type: type
udevrule: udev rule of the Ledger
unusableid: id that cannot be used
usdcsenttotrader: paid to the account
value: value
version: version
wantedprice: price expected
why: why
willretry: the service tries again
anomaly: something is wrong with it
zero: not used
"""

LABELS: dict[str, str] = dict(row.split(": ", 1) for row in _TABLE.strip().splitlines())
"""Raw key, in small letters without ``_``, ``-`` and numbers of items, and its label."""


def label(key: str, of: str = "") -> str:
    """Return what a raw key is called; one that the table does not know in quotation marks. It is not yet escaped.

    ``of`` says where it stands, where a key means another thing there.
    """
    whole = re.sub(r"[_-]|\[\d+\]", "", key).lower()
    return LABELS.get(f"{of}.{whole}") or LABELS.get(whole) or LABELS.get(whole.rpartition(".")[2]) or f'"{key}"'


def leaf_label(row: PageRow) -> str:
    """Return what a leaf of what is signed is called, by its kind; its own name is the venue's word, and can mislead."""
    return f'"{row.field}"' if row.kind == RAW_KIND else label(row.kind).removesuffix(f", {row.unit}")
