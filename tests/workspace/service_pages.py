"""The pages of ``docs`` about the services, their error codes and endpoints, and about what goes wrong."""

from collections.abc import Iterator

from airlock_offline.ledger.device_errors import RAW_MESSAGES, STATUS_WORDS
from airlock_online.cli.machine import everything
from airlock_online.error_codes import ERROR_CODES, ErrorCode
from airlock_shared.cli.explain import Explanation
from airlock_shared.venue.structs import SERVICES
from workspace.endpoints import ENDPOINTS

CODE_PLACES = {
    "builder": "The builder, before anything is signed",
    "relay": "The relay of signed transactions and intents",
    "batched": "The batched market, in `AttemptFailed` and `Error`",
    "contract": "The contracts, in `AttemptFailed` and `Error`",
    "rpc": "JSON-RPC",
    "http": "HTTP statuses",
}
"""Where a code comes from, and how that is called in the documentation."""

_IN_REPLIES = {
    "id": "the id of what was taken, a text or a whole number; of a pair its index",
    "replaced": "the old id of a trigger that was replaced",
    "status": "the status",
    "transaction": "the transaction's hash, beside `hash`, `transactionHash` and `txHash`",
    "block": "the block's number",
    "error": "the contract's reason of a revert",
    "taken": "a member that is `true` where a cancellation is only taken: not on the chain",
    "busy": 'the word in the relayer\'s own 503 by which it says that it has taken nothing; `""`: there is none',
    "used": "whether a nonce is used; with `not ` before it, a member that says the opposite",
    "enabled": "whether the delegate is enabled; whom it names and what it may do is read beside it",
    "expiry": "until when",
    "time": "in which form: `unix-s`, `unix-ms`, or `iso` (ISO 8601 with an offset)",
    "extra_members": "members beside a payload that are expected: recorded, and not told each time",
    "chain_id": "the chain id",
    "trading_domain": "the trading domain",
    "referral_domain": "the referral domain",
    "contracts": "the contracts' addresses",
    "enums": "the enums",
    "enum_first": 'the number of the first name of an enum that is a list: `"0"`, `"1"`; `""`: not said',
    "units": "the units",
    "intent_deadline_ms": "the venue's usual deadline",
    "slippage_percent": "the venue's usual slippage",
    "simulator": "the mark of a simulator, which is only told",
    "name": "a pair's name",
    "pnl": "whether it is by PnL; with `?` behind it, one without it is not; one that is named "
    '`allowed` and true tells nothing; `""`: the venue has none',
}
MEMBERS = {
    ("paths", "NAME"): "where an endpoint is; `{id}` in the path of one. The relayer's, and that of a struct of the venue "
    "alone, may begin with `PUT `",
    ("bodies", "NAME"): "the members of what is sent: parts, constants, tables within tables",
    ("requests", "NAME"): "other names for members of a request to the builder, constants, and members that are left out",
    ("words", "WORD"): "what a status word means, at every service: one of the meanings below",
    ("limits", "builder"): "requests a minute that the builder is asked at most; 0: no limit is kept",
    **{("replies", name): what for name, what in _IN_REPLIES.items()},
}  # fmt: skip
"""What each member of a services file is."""

_ERRORS = """\
# Error codes

What the services answer with, and what to do about it. `airlock-online explain CODE` says the same. The code alone
decides, never the message. A code that is not here is a failure of its kind, and is kept.

A code in an `AttemptFailed` ends nothing. The column "order over" says whether an `Error` with it ends the order. The
last number is the [exit code](exit-codes.md). This page is written from `airlock_online.error_codes` by `make docs`."""

_ENDPOINTS = """\
# Endpoints

Every endpoint that the specification names, and the few beyond it that Airlock uses: the command of `airlock-online`
that uses it, and the test that proves it. `prepare` builds the steps of a plan; `build` builds one action in the same
way. What the specification does not show is reached by `call`, and what comes back goes through the same checks. This
page is written from `tests/workspace/endpoints.py` by `make docs`."""


def errors() -> str:
    lines = [_ERRORS]
    for where, title in CODE_PLACES.items():
        over = " order over |" if where in ("batched", "contract") else ""
        lines += ["", f"## {title}", "", f"| code | HTTP | meaning | what to do | exit |{over} source |"]
        lines += ["|---" * (6 + bool(over)) + "|"]
        lines += [_error(entry, bool(over)) for entry in ERROR_CODES.values() if entry.where == where]
    return "\n".join(lines) + "\n"


def _error(entry: ErrorCode, of_orders: bool) -> str:
    over = f" {'yes' if entry.terminal else 'no'} |" if of_orders else ""
    cells = f"`{entry.code}` | {entry.http} | {entry.meaning} | {entry.do} | {int(entry.exit_code)}"
    return f"| {cells} |{over} {entry.source} |"


def endpoints() -> str:
    lines = [_ENDPOINTS]
    for service in SERVICES.values():
        lines += ["", f"## {service.title}", "", "| endpoint | for | command | test | state |", "|---|---|---|---|---|"]
        lines += [
            f"| `{row.method}` `{row.path}` | {row.what} | `{row.command}` | `{row.test}` | {row.state} |"
            for row in ENDPOINTS
            if row.service == service.name
        ]
    return "\n".join(lines) + "\n"


# ---- when-it-goes-wrong.md: what to do first, and what has no page of its own ---------------------------------------------

_BEGINNING = """\
# When something goes wrong

Stopping loses nothing. A step that was signed is kept and used again. A step that was not signed stays unsigned. Nothing is
ever sent twice. So read the message aloud, find its name, and do what the page says. If the advice is to stop, stop:
somebody may have altered something, and the files are the evidence.

## Find the message

A message has a name. It comes first, or after `REFUSED` or `outcome:`. `got` says what was found, `expected` what should
have been there, `do` what to do. On each machine `explain NAME` explains it
too; the signing machine knows checks and exit codes.

| the name looks like | it is | look it up in |
|---|---|---|
| `DOMAIN-CHAIN`: capitals with a hyphen | a check | [the checks](checks.md) |
| `SPREAD_BLOCKED`: capitals with an underscore, or a number after `code` | a service's code | [error codes](errors.md) |
| `FILLED`, `UNKNOWN`: a state after `outcome:` | the outcome | [outcomes](#outcomes) |
| `status 6985`, in brackets | the Ledger's answer | [the Ledger's answers](#the-ledgers-answers) |
| `second-terminal`: small letters with hyphens | an oddity of a service | [oddities](#oddities) |
| no name at all | only an exit code; `echo $?` right after the command shows it | [exit codes](exit-codes.md) |

## What to do in any case

1. Whoever keeps the record writes down what happened:
   `airlock-offline ceremony exception --plan PLAN --checkpoint CHECKPOINT --by ROLE --reason TEXT`.
2. If it is not clear what a command has done, ask before you run it again. `airlock-online status` and
   `airlock-online resolve` show what was submitted; `airlock-offline transcript show` shows what was signed.
3. `airlock-online doctor` and `airlock-offline doctor` look at the machine itself.

There is no way to skip a check. Nobody has a good reason to ask for one.
"""

_OUTCOMES = """
## Outcomes

What became of what was submitted. [The journal's states](journal.md) say which may follow which.

| outcome | means | what to do | exit code |
|---|---|---|---|"""

_ODDITIES = """
## Oddities

What a correct service does not say of an order. No oddity ends an order by itself. Keep the transcript, and ask the
service's operator.

| oddity | means |
|---|---|"""


def when_it_goes_wrong() -> str:
    lines = [_BEGINNING + "\n## The Ledger's answers", "", "| status | means | what to do |", "|---|---|---|"]
    for word, meaning in STATUS_WORDS.items():
        lines += [f"| `{word:04X}` | {meaning.what} | {meaning.do.format(setting=RAW_MESSAGES)} |"]
    lines += [_OUTCOMES]
    for item in _of_kind("outcome"):
        means = item.meaning.removeprefix("State of a submission: ")
        lines += [f"| {item.name} | {means} | {item.do} | {int(item.exit_code)} |"]
    lines += [_ODDITIES]
    lines += [f"| {item.name} | {item.meaning.partition(': ')[2]} |" for item in _of_kind("anomaly")]
    return "\n".join([*lines, "", "This page is written by `make docs`."]) + "\n"


def _of_kind(kind: str) -> Iterator[Explanation]:
    return (item for item in everything() if item.kind == kind)
