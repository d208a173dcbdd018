"""The builder's lies: what each fault changes in a payload, and that it changes nothing else."""

from __future__ import annotations

import pytest
from eth_abi import abi

from airlock_rehearsal.services.venue.eip712_peer import encode
from airlock_rehearsal.services.venue.structs import leaf
from online.rehearsal.intent_requests import REQUESTS
from online.rehearsal.services_client import Json, ServicesClient, digest_in

ALTERED = {
    "open": "_t.leverage", "close": "_amount", "increase": "_updateInfo.leverage", "increase-coin": "_coinExposure",
    "tpsl-partial": "coinSize", "twap-cancel": "twapId", "referral-set-code": "_code", "delegate": "delegate",
}  # fmt: skip


def pair_of_payloads(desk: ServicesClient, name: str, fault: str) -> tuple[Json, Json]:
    honest = desk.build(name, **REQUESTS[name])
    desk.faults(fault)
    lie = desk.build(name, **REQUESTS[name])
    desk.faults()
    return honest, lie


def differing(honest: Json, lie: Json) -> set[str]:
    return {name for name in honest if honest[name] != lie[name]}


@pytest.mark.parametrize("name", REQUESTS)
def test_digest_flipped_changes_one_bit_and_nothing_else(shared_desk: ServicesClient, name: str) -> None:
    honest, lie = pair_of_payloads(shared_desk, name, "digest-flipped")
    assert differing(honest, lie) == {"digest"}
    assert int(honest["digest"], 16) ^ int(lie["digest"], 16) == 1


@pytest.mark.parametrize("name", REQUESTS)
def test_types_renamed_is_consistent_with_itself(shared_desk: ServicesClient, name: str) -> None:
    honest, lie = pair_of_payloads(shared_desk, name, "types-renamed")
    assert differing(honest, lie) == {"types", "message", "digest"}
    assert lie["digest"] == digest_in(lie)


@pytest.mark.parametrize("name", REQUESTS)
def test_types_reordered_is_consistent_with_itself(shared_desk: ServicesClient, name: str) -> None:
    honest, lie = pair_of_payloads(shared_desk, name, "types-reordered")
    assert differing(honest, lie) == {"types", "digest"}
    assert lie["digest"] == digest_in(lie)


@pytest.mark.parametrize("name", REQUESTS)
def test_domain_crossed_names_the_other_contract(shared_desk: ServicesClient, name: str) -> None:
    honest, lie = pair_of_payloads(shared_desk, name, "domain-crossed")
    other = "trading" if name == "referral-set-code" else "referral"
    assert differing(honest, lie) == {"domain", "digest"}
    assert lie["domain"] == shared_desk.state.settings.domain(other)
    assert lie["digest"] == digest_in(lie)


@pytest.mark.parametrize("name", REQUESTS)
def test_wrong_chain_names_another_chain_that_is_nobodys(shared_desk: ServicesClient, name: str) -> None:
    honest, lie = pair_of_payloads(shared_desk, name, "wrong-chain")
    assert differing(honest, lie) == {"domain", "digest"}
    assert lie["domain"]["chainId"] == 1337
    assert lie["digest"] == digest_in(lie)


@pytest.mark.parametrize("name", REQUESTS)
def test_message_altered_is_consistent_and_not_what_was_asked_for(shared_desk: ServicesClient, name: str) -> None:
    honest, lie = pair_of_payloads(shared_desk, name, "message-altered")
    assert differing(honest, lie) == {"message", "digest", "encodedIntent"} | ({"signTimestamp"} & set(lie))
    assert leaf(honest["message"], ALTERED[name]) != leaf(lie["message"], ALTERED[name])
    assert lie["digest"] == digest_in(lie)
    assert lie["encodedIntent"] == "0x" + encode(lie["primaryType"], lie["message"]).hex()


@pytest.mark.parametrize("name", REQUESTS)
def test_encoded_altered_does_not_show_in_the_digest(shared_desk: ServicesClient, name: str) -> None:
    honest, lie = pair_of_payloads(shared_desk, name, "encoded-altered")
    assert differing(honest, lie) == {"encodedIntent"}
    assert len(honest["encodedIntent"]) == len(lie["encodedIntent"])


def test_delegate_order_encodes_in_the_order_of_the_hash(shared_desk: ServicesClient) -> None:
    honest, lie = pair_of_payloads(shared_desk, "delegate", "delegate-order")
    assert differing(honest, lie) == {"encodedIntent"}
    data = bytes.fromhex(lie["encodedIntent"][2:])
    (values,) = abi.decode(["(address,address,uint256,uint256,string,uint256)"], data)
    assert values[3:] == (int(lie["message"]["deadline"]), lie["message"]["tnc"], 7)
    for name in set(REQUESTS) - {"delegate"}:
        assert differing(*pair_of_payloads(shared_desk, name, "delegate-order")) == set()
