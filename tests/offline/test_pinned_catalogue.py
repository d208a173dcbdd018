"""What ships has a fingerprint that a release states: it is the one of the catalogue, and an older pin means the first."""

from __future__ import annotations

from pathlib import Path

import pytest

from airlock_offline import home, pinned_catalogue
from airlock_shared.catalogue import profile, shipped
from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.wire.codec import fingerprint
from offline.signing_world import rehearsal_text

DEPLOYMENT = parse_deployment(rehearsal_text().encode())


def test_the_fingerprint_that_is_stated_is_that_of_what_ships() -> None:
    assert fingerprint(profile.shipped()) == shipped.SHIPPED, "it ships otherwise: state it, and leave FIRST as it is"
    assert shipped.FIRST == "49dc17b62891dbaac683ace7a1eb9c6f3a9d32b90756184253e22ea4d34d890d"


def test_a_release_that_ships_otherwise_asks_those_who_pinned_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert pinned_catalogue.changed_since(tmp_path, DEPLOYMENT) == []
    monkeypatch.setattr(home, "SHIPPED", "1" * 64)
    assert not home.is_as_pinned(tmp_path, DEPLOYMENT)
    assert pinned_catalogue.changed_since(tmp_path, DEPLOYMENT) != []
    pinned_catalogue.keep_shipped(tmp_path, DEPLOYMENT)
    pinned_catalogue.keep_shipped(tmp_path, DEPLOYMENT)
    assert home.is_as_pinned(tmp_path, DEPLOYMENT)
    monkeypatch.setattr(home, "SHIPPED", "2" * 64)
    assert not home.is_as_pinned(tmp_path, DEPLOYMENT)


def test_a_deployment_with_a_profile_is_pinned_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home, "SHIPPED", "1" * 64)
    own = DEPLOYMENT._replace(signed="a profile")
    assert home.is_as_pinned(tmp_path, own)
    pinned_catalogue.keep_shipped(tmp_path, own)
    assert [*tmp_path.iterdir()] == []
