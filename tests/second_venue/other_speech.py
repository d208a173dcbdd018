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

from pathlib import Path

_HERE = Path(__file__).parent
UNSHOWN = (_HERE / "unshown.toml").read_text()
"""What no document shows of any venue: where things stand in the meta document and in the pairs, the relayer, and bodies."""
SERVICES = UNSHOWN + (_HERE / "other-speech.toml").read_text()
