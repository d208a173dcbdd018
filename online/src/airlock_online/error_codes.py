"""Every error code that a service is known to answer with: what it means, what the operator does, how a command ends.

The code alone decides, never the message. A code that is not here is a failure of its kind, its code kept. Sources: the
specification, "Errors"; for the codes marked ``VENUES``, comparable venues; for the numbers of JSON-RPC, its own section 5.1
and EIP-1474. ``docs/reference/generated/errors.md`` is written from this table.
"""

from __future__ import annotations

from typing import NamedTuple

from airlock_shared.errors import ExitCode

SPEC, VENUES, JSON_RPC, OWN = "the specification", "comparable venues", "JSON-RPC 2.0, EIP-1474", "Airlock"


class ErrorCode(NamedTuple):
    """One code. ``http`` is the status that it comes with, or empty; ``exit_code`` ends the command it is the last word of.

    ``terminal`` tells whether an order is over when this is the code of its ``Error``; False where there is no order yet.
    """

    code: str
    where: str
    http: str
    meaning: str
    do: str
    exit_code: ExitCode
    terminal: bool
    source: str = SPEC


_AGAIN = "To try again, prepare it anew here, and sign that."
_STILL_VALID = "The old one is valid until its deadline: wait for it if two fills would do harm."
NEW_INTENT = f"{_AGAIN} {_STILL_VALID}"
_READ_FIRST = "Read the positions. If the order is still wanted, prepare it anew here, and sign that."
_FIELDS = "Correct the fields that the details name. Is deadlineMs over? Compare this machine's clock with a watch."
_READY = "Ask `airlock-online ready`, wait, then run it again."
_SENT = "After a submission, it is not known whether it was taken, and the exit code is 9."
_AFTER = "Wait, then run it again; after a submission run `airlock-online follow`."
_NODE = "Ask the node's operator, or set another node in the section [rpc] of config.toml."


def _builder(code: str, http: str, meaning: str, do: str, source: str = SPEC) -> ErrorCode:
    return ErrorCode(code, "builder", http, meaning, do, ExitCode.SERVICE, False, source)


def _failed(where: str, code: str, meaning: str, do: str, source: str = SPEC) -> ErrorCode:
    """Return the code of an end; what an order's end says proves nothing of its signature."""
    do = do if where == "relay" else f"{do} {_STILL_VALID}"
    return ErrorCode(code, where, "", meaning, do, ExitCode.EXECUTION_FAILED, True, source)


def _rpc(code: str, meaning: str, do: str) -> ErrorCode:
    return ErrorCode(code, "rpc", "", meaning, do, ExitCode.SERVICE, False, JSON_RPC)


def _http(code: str, meaning: str, do: str, source: str = SPEC) -> ErrorCode:
    return ErrorCode(code, "http", code, meaning, do, ExitCode.SERVICE, False, source)


ERROR_CODES = {each.code: each for each in (
    _builder("BAD_REQUEST", "400",
             "The fields break the schema (the details list how), or a pre-trade check failed: liquidity, leverage bounds, "
             "minimum position size, market hours.",
             f"{_FIELDS} If the market is closed, wait."),
    _builder("VALIDATION_ERROR", "400", "The fields break the schema.", _FIELDS, VENUES),
    _builder("NOT_FOUND", "404", "The service has no such endpoint, or no such thing.",
             "Check the path and the base URL; paths that differ between venues are in the services file, [paths].", VENUES),
    _builder("METHOD_NOT_ALLOWED", "405", "The endpoint needs another method.",
             "Use POST: `/v2/relay` accepts only that.", VENUES),
    _builder("RATE_LIMITED", "429", "Too many calls from this address; the limit is not documented.",
             "Wait as long as the service says, or one minute, then run it again.", VENUES),
    _builder("GEO_RESTRICTED", "451", "The venue does not serve this region.", "Ask the venue's operator.", VENUES),
    _builder("UPSTREAM_ERROR", "502", "A service that the builder depends on failed.",
             _READY, VENUES),
    _builder("RPC_ERROR", "502", "The builder's own node failed.", _READY, VENUES),

    ErrorCode("SIMULATION_FAILED", "relay", "",
          "The relay simulated the transaction, and it reverted. The details give target, revertData and decodedError.",
          "It says that it sent nothing. Read the decoded error, correct the request and build it again.",
          ExitCode.SERVICE, False),
    ErrorCode("TX_REJECTED", "relay", "400",
          "The relay did not take the transaction: the contract is not whitelisted, or the node refused it.",
          "Check nonce, fees and target; then build it again, or send it by a node of your own.",
          ExitCode.SERVICE, False, VENUES),
    _failed("relay", "REVERTED", "The transaction is on the chain, but it reverted: it changed nothing, and it cost "
                                 "gas.",
            "Follow it by a node of your own: where a service alone said so, the old transaction can be executed until its "
            "account nonce is used, and an intent until its deadline. Then correct the cause, prepare and sign again.", OWN),
    _failed("relay", "REPLACED", "Another transaction of the account used this nonce: this one can never be executed.",
            "Find out which transaction that was. Then prepare and sign again if you still want this one.", OWN),

    _failed("batched", "NO_PRICE", "There was no fresh price for the pair.",
            "Check that the pair's market is open. " + _AGAIN),
    _failed("batched", "SPREAD_BLOCKED", "The service does not execute at the present spread.",
            "Wait until the market is calmer, or ask for a smaller size. " + _AGAIN),
    _failed("batched", "SPREAD_UNAVAILABLE", "The spread could not be priced.", "Wait a minute. " + _AGAIN),
    _failed("batched", "SUBMISSION_FAILED", "The service could not send its transaction.", "Wait a minute. " + _AGAIN),
    _failed("batched", "ATTEMPTS_EXHAUSTED", "Every attempt failed; the AttemptFailed events before it say why.",
            "Read the codes of the attempts, and remove that cause. " + _AGAIN),
    _failed("batched", "TX_NOT_EXECUTED", "The transaction was sent and the order was not executed.", _READ_FIRST),
    ErrorCode("STREAM_TIMEOUT", "batched", "",
          "The stream's time limit is reached. That is not an outcome: the order may still execute. The status "
          "endpoint knows.",
          "Run `airlock-online follow`. It is never sent again.", ExitCode.UNKNOWN, False),
    _failed("batched", "ENQUEUE_FAILED", "The request never reached the execution queue.", "Wait a minute. " + _AGAIN),
    _failed("batched", "RELAY_FAILED", "EIP-7702 mode: the pre-signed transaction could not be relayed.",
            "Check the fields of the EIP-7702 transaction, then sign a new one and a new intent."),
    _failed("batched", "TX_REVERTED", "EIP-7702 mode: the relayed transaction was reverted.",
            "Read the transaction in a block explorer. " + _READ_FIRST),
    _failed("batched", "RELAY_TIMEOUT", "EIP-7702 mode: the relayed transaction was not confirmed in time.",
            "It may still be confirmed: read its hash and the nonce in a block explorer. " + _READ_FIRST),

    _failed("contract", "WrongSl", "The stop loss does not fit the side or the price.",
            "Correct the stop loss in the plan, then prepare and sign again."),
    _failed("contract", "HighSlippage", "The price moved further than the signed slippage allows.",
            "Prepare and sign it anew with a fresh price or, if the plan's limits allow it, a wider slippage."),
    _failed("contract", "PositionMismatch",
            "The position is not the signed one: its slot holds another position, or its open timestamp changed.",
            "Read the positions, correct the plan, then prepare and sign again."),

    _rpc("3", "The call or the gas estimate reverted; the data hold the contract's reason.",
         "Nothing was sent. Read the revert data, correct the request and build it again."),
    _rpc("-32000", "The node refused the input. For a transaction the cause is often its nonce, fees or balance.",
         "Read the node's message, then prepare again with the account's current nonce and fees."),
    _rpc("-32001", "The node does not have what was asked for.", _NODE),
    _rpc("-32002", f"What was asked for is not available now. {_SENT}", _AFTER),
    _rpc("-32003", "The node rejected the transaction.",
         "Compare nonce, fees and balance with the account's, then prepare and sign again."),
    _rpc("-32004", "The node does not support this method.", _NODE),
    _rpc("-32005", "The node's limit of calls or sizes is reached.", "Wait, then run it again."),
    _rpc("-32006", "The node does not support this version of the protocol.", _NODE),
    _rpc("-32600", "The node calls the request invalid.", _NODE),
    _rpc("-32601", "The node does not know the method.", _NODE),
    _rpc("-32602", "The node calls the parameters invalid.", _NODE),
    _rpc("-32603", f"The node failed. {_SENT}", _AFTER),
    _rpc("-32700", "The node could not read the request as JSON.",
         "Check that the address is that of a JSON-RPC node, without a proxy."),

    _http("400",
          "The service refused the request and accepted nothing. Causes at the batched market, before the stream "
          "opens: "
          "an unsupported order type, a malformed intent or signature, an expired deadline, a used nonce, a position "
          "mismatch, or a missing eip7702 member.",
          "Read the reason in the reply and remove the cause. Then submit again, or prepare and sign anew if this one is "
          "wrong."),
    _http("404",
          "No such endpoint or object. From the status endpoint it means an unknown tracking id. Just after the "
          "acceptance, the command asks again; if the id stays unknown, the exit code is 9.",
          "Check the base URL. For an order, run `airlock-online follow` and read the positions; it is never sent again."),
    _http("405", "The endpoint needs another method.", "Use POST: `/v2/relay` accepts only that.", VENUES),
    _http("429", "Too many requests; nothing was accepted. A read waits as long as the service says and asks again; "
                 "a submission does not.",
          "Wait as long as the service says, then run it again."),
    _http("451", "The venue does not serve this region. Nothing was accepted.", "Ask the venue's operator.", VENUES),
    _http("503",
          "Not ready; the readiness probe names the component. After a submission, it is not known whether anything "
          "was accepted, and the exit code is 9.",
          "Ask `airlock-online ready`, wait, then run it again; after a submission run `airlock-online follow`."),
)}  # fmt: skip
"""Every known code. The codes are unique over all services."""
