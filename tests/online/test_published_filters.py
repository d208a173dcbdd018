"""Message filters out of the file as Ledger publishes it: of the deployment's own structs, whole, and of nothing else."""

import json
from typing import Any

import pytest

from airlock_online.preparing.device_metadata import add_device_metadata
from airlock_shared.errors import UsageError
from shared.filtered_venues import (
    PERMIT,
    RFQ,
    SETS,
    VENUES,
    FilteredVenue,
    changed_set,
    filtered_document,
    unfiltered_document,
)
from shared.token_records import PUBLISHED


def fetched(venue: FilteredVenue, sets: dict[str, Any]) -> dict[str, Any]:
    return add_device_metadata(unfiltered_document(venue), json.dumps(sets).encode(), PUBLISHED)


@pytest.mark.parametrize("venue", VENUES.values(), ids=VENUES)
def test_the_published_set_of_a_venues_struct_is_found_among_others_and_pinned_whole(venue: FilteredVenue) -> None:
    assert fetched(venue, json.loads(SETS)) == filtered_document(venue)


def test_a_set_of_the_deployment_s_own_key_alone_is_found_in_whatever_order() -> None:
    document = unfiltered_document(PERMIT)
    assert add_device_metadata(document, PUBLISHED, SETS) == add_device_metadata(document, SETS, PUBLISHED)
    others = {key: entry for key, entry in json.loads(SETS).items() if key != PERMIT.key}
    with pytest.raises(UsageError, match="no message filters for any struct of this deployment"):
        fetched(PERMIT, others)
    chain, contract, schema = PERMIT.key.split(":")
    for key in (
        f"10:{contract}:{schema}",
        f"{chain}:{RFQ.contract.lower()}:{schema}",
        f"{chain}:{contract}:{schema[:-1]}0",
    ):
        with pytest.raises(UsageError, match="no message filters"):
            fetched(PERMIT, {key: PERMIT.published})


@pytest.mark.parametrize(
    ("place", "new"),
    [
        (("fields",), {}), (("fields",), [1]), (("fields", 0, "format"), 1), (("fields", 0, "coin_ref"), "0"),
        (("fields", 0, "more"), 1), (("contractName",), "Permit"), (("contractName", "label"), 1), (("more",), 1),
    ],
)  # fmt: skip
def test_what_is_no_set_of_ledger_s_is_refused_with_where_to_get_one(place: tuple[Any, ...], new: Any) -> None:
    earlier = [{name: field[name] for name in ("label", "path", "signature")} for field in PERMIT.published["fields"]]
    for change in ((place, new), (("fields",), earlier)):
        with pytest.raises(UsageError) as caught:
            fetched(PERMIT, {PERMIT.key: changed_set(PERMIT, change)})
        assert "eip712_v2.json" in str(caught.value.do)
