"""A venue, set up once; every test begins from that state and that time."""

from collections.abc import Iterator

import pytest

from online.chain.ground import NOW_S, Clock, EmbeddedEvm, Ground, set_up


@pytest.fixture(scope="session")
def venue_ground() -> Ground:
    clock = Clock()
    return set_up(EmbeddedEvm(clock), clock)


@pytest.fixture
def ground(venue_ground: Ground) -> Iterator[Ground]:
    """The venue as it was set up; what a test changes is forgotten after it."""
    mark = venue_ground.evm.snapshot()
    yield venue_ground
    venue_ground.evm.go_back(mark)
    venue_ground.clock.now_s = NOW_S
