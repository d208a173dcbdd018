"""An EIP-7702 transaction that goes with an order: what eth-account signs is read, and nothing that is not for the order."""

import json
from typing import Any

import pytest
from eth_account import Account

from airlock_online.cli.presigned import presigned_lines, read_presigned, require_of_order
from airlock_shared.errors import DocumentError, Refusal
from airlock_shared.ethereum.signatures import checksum_address, parse_address
from shared.world import deployment

KEY, OTHER_KEY = "0x" + "11" * 32, "0x" + "22" * 32
ACCOUNT = Account.from_key(KEY).address
OTHER = Account.from_key(OTHER_KEY).address
CONTRACT = "0x" + "5a" * 20
CHAIN = deployment().chain_id
ROUTER = checksum_address(deployment().contracts["tradingRouter"])


def signed(chain_id: int = CHAIN, contract: str = CONTRACT, nonce: int = 7, key: str = KEY) -> dict[str, Any]:
    """Return an authorization as eth-account signs it, its numbers as JSON has them."""
    made = Account.sign_authorization({"chainId": chain_id, "address": contract, "nonce": nonce}, key)
    r, s = (f"0x{number:x}" for number in (made.r, made.s))
    return {"chainId": chain_id, "address": contract, "nonce": nonce, "yParity": made.y_parity, "r": r, "s": s}


def transaction(*authorizations: Any, **changes: Any) -> str:
    value = {"chainId": str(CHAIN), "to": ROUTER, "data": "0x0badcafe", "gas": "500000"}
    return json.dumps({**value, "authorizationList": list(authorizations) or [signed()], **changes})


def accepted(text: str) -> list[str]:
    presigned = read_presigned(text)
    require_of_order(presigned, [parse_address(ACCOUNT)], deployment())
    return list(presigned_lines(presigned, deployment()))


def test_what_a_wallet_signed_for_this_account_and_chain_is_told_in_whole() -> None:
    lines = accepted(transaction(*(signed(nonce=nonce) for nonce in range(8))))
    assert [line for line in lines if "(account nonce" in line] == lines[:16:2]
    assert len(lines) == 17
    assert accepted(transaction()) == [
        f"{ACCOUNT} is given to the contract {checksum_address(bytes.fromhex(CONTRACT[2:]))} (account nonce 7).",
        "The contract can do all that the account can, until another authorization takes that back.",
        f"Then {ROUTER} is called (tradingRouter), gas 500000, with 4 bytes, which Airlock does not read.",
    ]


def test_taking_the_code_back_is_no_giving_away() -> None:
    first, then = accepted(transaction(signed(contract="0x" + 40 * "0"), data="0x", to=CONTRACT))
    assert first == f"{ACCOUNT} takes its code back: it is an ordinary account again (account nonce 7)."
    assert "(no pinned contract)" in then
    assert "with no calldata" in then


def test_every_way_to_write_the_same_numbers_says_the_same() -> None:
    one = signed()
    parity = one.pop("yParity")
    forms = [
        one | {"yParity": parity}, one | {"v": 27 + parity}, one | {"v": parity}, one | {"yParity": hex(parity)},
        one | {"yParity": parity, "v": str(27 + parity), "chainId": hex(CHAIN), "nonce": "7"},
        one | {"yParity": parity, "r": "0x" + one["r"][2:].zfill(64), "s": one["s"].upper().replace("0X", "0x")},
    ]  # fmt: skip
    assert len({tuple(accepted(transaction(form))) for form in forms}) == 1


GOOD = signed()
BAD = {
    "not for this chain": transaction(chainId="1"),
    "an authorization for another chain": transaction(signed(chain_id=1)),
    "an authorization for every chain": transaction(signed(chain_id=0)),
    "another account's authorization": transaction(signed(key=OTHER_KEY)),
    "one of two is another account's": transaction(signed(), signed(key=OTHER_KEY)),
    "a changed contract": transaction(GOOD | {"address": OTHER}), "a changed nonce": transaction(GOOD | {"nonce": 8}),
    "the other parity": transaction(GOOD | {"yParity": 1 - GOOD["yParity"]}),
    "a v with a chain in it": transaction({**GOOD, "v": 54 + GOOD["yParity"]}),
    "a member more": transaction(GOOD | {"signature": "0x"}),
    "the upper half": transaction(GOOD | {"s": hex(2**256 - 2**32)}), "an r of zero": transaction(GOOD | {"r": "0x0"}),
    "an r that is no number": transaction(GOOD | {"r": "0x"}), "an r that is no text": transaction(GOOD | {"r": 5}),
    "no object": transaction(5), "no parity": transaction({n: v for n, v in GOOD.items() if n != "yParity"}),
    "a parity of two": transaction(GOOD | {"yParity": 2}), "a nonce of letters": transaction(GOOD | {"nonce": "x"}),
    "a nonce below zero": transaction(GOOD | {"nonce": -1}),
    "a contract that is no address": transaction(GOOD | {"address": "0x5a"}),
    "a contract with another checksum": transaction(GOOD | {"address": "0x" + OTHER[2:].swapcase()}),
    "none": transaction(authorizationList=[]), "nine": transaction(*(signed(nonce=n) for n in range(9))),
    "a member more of the transaction": transaction(value="0x1"), "a number for the chain": transaction(chainId=CHAIN),
    "a destination that is no address": transaction(to="0x1"), "half a byte": transaction(data="0x123"),
}  # fmt: skip


@pytest.mark.parametrize("text", BAD.values(), ids=BAD.keys())
def test_what_is_not_for_this_order_is_refused(text: str) -> None:
    with pytest.raises(Refusal) as refused:
        accepted(text)
    assert refused.value.check == "ORDER-EIP7702"
    assert ("each a text in quotes" in refused.value.expected) == (
        f'"chainId": {CHAIN}, "to"' in text or '"value"' in text
    )
    assert GOOD["r"][2:] not in f"{refused.value} {refused.value.got} {refused.value.expected}"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[]", "chainId, to, data, gas, authorizationList"),
        (BAD["a number for the chain"], "chainId"), (BAD["a member more of the transaction"], "value"),
        (BAD["a member more"], "signature"), (transaction({**dict.fromkeys(GOOD), "v": 0} | {"x": 1}), "x"),
        *((transaction({each: GOOD[each] for each in GOOD if each != name}), name) for name in ("nonce", "r", "yParity")),
    ],
)  # fmt: skip
def test_each_member_that_is_not_as_it_should_be_is_named(text: str, named: str) -> None:
    with pytest.raises(Refusal, match=f"ORDER-EIP7702: an .* has members .*: {named} "):
        accepted(text)


@pytest.mark.parametrize("text", ["", "[]", '{"chainId": "1", "chainId": "1"}', transaction() + "x"])
def test_what_is_no_json_object_of_this_form_is_refused(text: str) -> None:
    with pytest.raises((Refusal, DocumentError)):
        accepted(text)
