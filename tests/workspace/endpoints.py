"""Every endpoint that Airlock talks to: the command that uses it, and the test that proves it. A page of ``docs``."""

from pathlib import Path
from typing import NamedTuple

SPEC_LIST = Path(__file__).parents[1] / "vectors/endpoints/spec-endpoints.txt"

DONE, GENERIC = "done", "generic `call`"


class Endpoint(NamedTuple):
    """One endpoint. ``test`` is ``file::function``; ``state`` is ``DONE`` or ``GENERIC``."""

    service: str
    method: str
    path: str
    what: str
    command: str
    test: str
    state: str = DONE


_ASKED = "tests/online/test_call.py::"
_BUILT = _ASKED + "test_build_asks_the_actions_endpoint_and_no_check_refuses_the_answer"
_READS = _ASKED + "test_every_read_has_its_command"
_NONCES = _ASKED + "test_the_nonce_is_read_under_either_name"
_CALLED = _ASKED + "test_call_reaches_what_has_no_action_of_its_own"
_NOT_THERE = _ASKED + "test_call_tells_the_builders_own_no"
_DELIVERED = "tests/online/test_delivery_rehearsed.py::test_every_fault_has_its_outcome_and_an_order_is_posted_once"
_TWAP = "tests/online/test_routes.py::test_a_twap_is_cancelled_with_the_struct_that_was_signed"
_STORED = "tests/online/test_routes.py::test_a_trigger_is_stored_and_its_id_is_in_the_journal"
_REPLACED = "tests/online/test_delivery_rehearsed.py::test_a_trigger_replaces_another_and_both_ids_are_kept"
_RELAYED = "tests/online/rehearsal/test_services.py::test_an_intent_is_pending_until_it_settles"
_RAW = "tests/online/test_routes.py::test_a_transaction_is_relayed_once_and_followed_by_the_hash_computed_here"
_RPC_TESTS = "tests/online/test_rpc.py::"
_SENT = _RPC_TESTS + "test_a_transaction_is_sent_and_its_hash_returned"


def _read(path: str, what: str, command: str, test: str = _READS) -> Endpoint:
    return Endpoint("builder", "GET", path, what, command, test)


def _built(path: str, what: str) -> Endpoint:
    return Endpoint("builder", "POST", path, what, "prepare", _BUILT)


def _called(path: str, what: str, test: str) -> Endpoint:
    return Endpoint("builder", "GET, POST", path, what, "call", test, GENERIC)


def _node(method: str, what: str, command: str, test: str) -> Endpoint:
    return Endpoint("rpc", "POST", method, what, command, _RPC_TESTS + test)


_BUILDER = (
    _read("/ready", "whether the builder is ready", "ready"),
    _read("/v2/meta", "chain, contracts, domains, enums, units, defaults", "meta"),
    _read("/v2/pairs", "the pairs", "pairs"),
    _read("/v2/positions", "positions and waiting orders", "positions"),
    _read("/v2/nonce", "whether a nonce is used", "nonce", _NONCES),
    _read("/v2/reads/nonce", "the same under its other name, chosen in config.toml", "nonce", _NONCES),
    _read("/v2/reads/delegation", "what a delegate may do, and until when", "delegation"),
    _built("/v2/intents/open", "open a position"),
    _built("/v2/intents/close", "close a position"),
    _built("/v2/intents/increase", "increase a position, in USDC"),
    _built("/v2/intents/increase-coin", "increase a position, in the base asset"),
    _built("/v2/intents/tpsl-partial", "a partial take profit or stop loss"),
    _built("/v2/intents/referral-set-code", "adopt a referral code"),
    _built("/v2/intents/twap-cancel", "cancel a TWAP order"),
    _built("/v2/intents/delegate", "register a delegate"),
    _built("/v2/position/increase", "increase a position, in USDC"),
    _built("/v2/position/increase-coin", "increase a position, in the base asset"),
    _built("/v2/limit/update", "change a limit order that waits"),
    _built("/v2/referral/transfer-ownership", "nominate a code's next owner"),
    _built("/v2/referral/accept-ownership", "accept a code"),
    _built("/v2/referral/set-code", "adopt a code"),
    _built("/v2/referral/cancel-request", "withdraw a request for a private code"),
    _built("/v2/misc/claim-keeper-rewards", "pay out keeper rewards"),
    _built("/v2/delegate/set", "register a delegate"),
    _built("/v2/delegate/remove", "end a delegate's registration"),
    _built("/v2/token/approve", "let the trading storage take USDC"),
    _called("/v2/trade/*", "transactions whose shapes are not shown", _CALLED),
    _called("/v2/margin/*", "transactions whose shapes are not shown", _NOT_THERE),
    _called("/v2/lp/*", "of the tag lp, whose paths are not shown", _NOT_THERE),
)
_EXECUTION = (
    Endpoint("batched", "POST", "/market/execute-batched", "opens, closes and increases", "submit", _DELIVERED),
    Endpoint("batched", "GET", "/tracking-id/{trackingId}/status", "an order's events again", "follow", _DELIVERED),
    Endpoint("relayer", "POST", "/intents", "delegate and referral intents", "submit", _RELAYED),
    Endpoint("relayer", "GET", "/intents/{id}", "the outcome of one", "follow", _RELAYED),
    Endpoint("core", "POST", "/price-triggers", "store a trigger", "submit", _STORED),
    Endpoint("core", "PUT", "/price-triggers/{entityId}", "replace a trigger; it gets a new id", "submit", _REPLACED),
    Endpoint("twap", "POST", "/twaps/cancel", "a signed cancellation", "submit", _TWAP),
    Endpoint("builder", "POST", "/v2/relay", "send a signed transaction", "submit", _RAW),
    Endpoint("builder", "GET", "/v2/relay/{hash}", "the outcome of a relayed transaction", "relay", _READS),
    Endpoint("rpc", "POST", "eth_sendRawTransaction", "send a signed transaction, once", "submit", _SENT),
)
"""Where signed things go."""
_ESTIMATED = "test_a_call_is_estimated_and_called_as_it_would_be_sent"
_FEES, _BLOCK = "test_the_fee_covers_a_base_fee_that_doubles", "test_a_block_is_read_by_its_number_or_its_word"
_RECEIPT, _KNOWN = "test_a_receipt_is_there_once_a_block_has_it", "test_a_transaction_is_known_once_the_node_has_it"
_CHAIN = "compared with the pinned chain before anything else"
_RPC = (
    _node("eth_chainId", _CHAIN, "prepare", "test_an_ask_is_one_post_of_json_rpc"),
    _node("eth_getTransactionCount", "the account's next nonce", "prepare", "test_what_waits_counts_for_the_nonce"),
    _node("eth_estimateGas", "the gas limit", "prepare", _ESTIMATED),
    _node("eth_feeHistory", "the base fee of the next block", "prepare", _FEES),
    _node("eth_maxPriorityFeePerGas", "the tip", "prepare", _FEES),
    _node("eth_getTransactionReceipt", "whether it is in the chain", "follow", _RECEIPT),
    _node("eth_getTransactionByHash", "whether it knows it", "submit", _KNOWN),
    _node("eth_blockNumber", "how many blocks confirm it", "follow", "test_every_ask_has_its_own_id"),
    _node("eth_getBlockByNumber", "a confirmed block, its time and its transactions", "follow", _BLOCK),
    _node("eth_getLogs", "how an order ended", "resolve", "test_logs_are_asked_for_by_kind_and_topic"),
    _node("eth_call", "simulate, to decode the reason of a revert", "prepare", _ESTIMATED),
)

ENDPOINTS: tuple[Endpoint, ...] = (*_BUILDER, *_EXECUTION, *_RPC)
