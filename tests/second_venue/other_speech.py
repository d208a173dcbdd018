"""The services file of a venue that speaks in other words than ours, where the specification shows no shape.

====================== ==============================================================================================
left open              here
====================== ==============================================================================================
relayer                ``POST /submit`` is answered without an envelope by ``{requestId, state}``; ``GET /submissions/{id}``
                       says ``state`` ``success``, the transaction in ``receipt.txHash``, the block in ``receipt.block``
relay                  ``txHash``; ``outcome.state`` says ``queued``, then ``success``; the block is ``outcome.minedBlock``
TWAP service           202 ``{"queued": true}``; ``GET /twaps/{id}`` says so once more, then transaction and block
core API               ids are numbers: ``trigger.id``; of a replacement ``trigger.id`` and ``trigger.replacedId``
nonce read             ``/v2/reads/nonce``; ``state.isAvailable`` and no flag that says used
delegation read        ``active`` and ``activeUntil``, an ISO time
limit of rate          400 questions of the builder in a minute
====================== ==============================================================================================
"""

UNSHOWN = """\
format = "airlock/venue-services@1"

[replies.meta]
trading_domain = "domains.trading"
referral_domain = "domains.referral"
contracts = "contracts"
simulator = "testnet"

[replies.pairs]
id = "pairIndex"
name = "pair"
pnl = "pnlPair"

[requests.all]
expiry = "$expirySeconds"

[bodies.relayer]
kind = "$primary_type"
abi = "$encoded_intent"
sig = "$signature"

[bodies.twap]
userIntent = "$encoded_intent"
userSignature = "$signature"

[bodies.core-api]
trigger = "$message"
sig = "$signature"

[paths]
relayer = "/submit"
relayer-status = "/submissions/{id}"
"""
"""What no document shows of any venue: where things stand in the meta document and in the pairs, the relayer, and bodies."""
SERVICES = (
    UNSHOWN
    + """\
nonce = "/v2/reads/nonce"
close-coin = "/v2/trade/close-in-coins"
twap-status = "/twaps/{id}"

[words]
success = "confirmed"
queued = "pending"
failed = "failed"

[replies.builder]
extra_members = ["requestId", "expiresAt", "quoteId"]

[replies.relayer]
id = "requestId"
status = "state"
transaction = "receipt.txHash"
block = "receipt.block"

[replies.relay]
status = "outcome.state"
transaction = "txHash"
block = "outcome.minedBlock"

[replies.twap]
taken = "queued"

[replies.core-api]
id = "trigger.id"

[replies.core-api-replace]
id = "trigger.id"
replaced = "trigger.replacedId"

[replies.nonce]
used = "not state.isAvailable"

[replies.delegation]
enabled = "active"
expiry = "activeUntil"
time = "iso"

[limits]
builder = 400
"""
)
