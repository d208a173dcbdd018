"""Transfers of real documents, to show and to scan."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from airlock_shared.errors import DocumentError
from airlock_shared.qr.documents import Transfer, transfer_of
from airlock_shared.wire.strict_json import to_json
from bench.make_batch import make_batch
from shared.world import VECTORS, good, whole


@cache
def one_intent() -> Transfer:
    """Return a requests document of one delegate intent: two frames at the default density."""
    return transfer_of(to_json(good("desk-key")))


@cache
def whole_plan() -> Transfer:
    return transfer_of(to_json(whole()))


@cache
def one_transaction() -> Transfer:
    first = min(path.stem for path in (VECTORS / "transactions/good").glob("*.json"))
    return transfer_of(to_json(good(first, "transactions")))


def unexpected(error: DocumentError) -> None:
    """Fail where a picture is left out."""
    raise error


@cache
def batch(count: int) -> tuple[Transfer, Transfer]:
    """Return the requests of ``count`` intents of eight kinds, and their signatures."""
    with TemporaryDirectory() as folder:
        make_batch(Path(folder), count)
        requests = (Path(folder) / f"requests-{count}").read_bytes()
        signatures = (Path(folder) / f"signatures-{count}").read_bytes()
    return transfer_of(requests), transfer_of(signatures)
