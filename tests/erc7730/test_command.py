"""``airlock-online descriptors``: what it writes, and what it refuses to write."""

import json
from pathlib import Path

import pytest

from airlock_online.cli.main import program
from airlock_online.wallets.erc7730 import make_descriptors
from airlock_shared.errors import UsageError
from commands import FinishedCommand, run_here
from erc7730.descriptor_world import made
from shared.world import DEPLOYMENT_TEXT, deployment


@pytest.mark.parametrize(
    ("owner", "url", "told"),
    [
        ("", None, "--owner"),
        ("The Venue of all Venues", None, "--owner"),
        ("Venue\n", None, "--owner"),
        ("Vénue", None, "--owner"),
        ("Venue", "http://venue.example", "--url"),
        ("Venue", "https://venue", "--url"),
        ("Venue", "https://a-long-venue.example", "--url"),
        ("Venue", "https://venue.example\n", "--url"),
        ("Venue", "", "--url"),
    ],
)
def test_what_a_ledger_would_cut_short_is_refused(owner: str, url: str | None, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        make_descriptors(deployment(), owner, url)
    assert told in caught.value.do


def _run(folder: Path, *words: str, text: str = DEPLOYMENT_TEXT) -> FinishedCommand:
    """Write the descriptors of a machine's one deployment into ``out``."""
    deployments = folder / "home/deployments"
    deployments.mkdir(parents=True)
    (deployments / "venue.json").write_text(text)
    return run_here(program, "--home", folder / "home", "descriptors", "-o", folder / "out", *words)


def test_the_command_writes_the_descriptors_and_says_how_much_is_in_them(tmp_path: Path) -> None:
    run = _run(tmp_path, "--deployment", "venue", "--owner", "Venue", "--url", "https://venue.example", "--json")
    assert run.code == 0, run.err
    assert {path.name: json.loads(path.read_text()) for path in (tmp_path / "out").iterdir()} == made()
    said = run.json()
    assert said["formats"] == {file: len(document["display"]["formats"]) for file, document in made().items()}
    assert said["deployment"] == deployment().fingerprint


def test_the_owner_is_the_trading_domain_unless_named_and_those_of_a_rehearsal_are_marked(tmp_path: Path) -> None:
    run = _run(tmp_path, text=DEPLOYMENT_TEXT.replace('"rehearsal": false', '"rehearsal": true'))
    assert (run.code, "REHEARSAL" in run.err) == (0, True), run.err
    assert run.out.count(" formats  ") == len(made())
    documents = [json.loads(path.read_text()) for path in (tmp_path / "out").iterdir()]
    owners = {(document["metadata"]["owner"], "info" in document["metadata"]) for document in documents}
    assert owners == {("ExchangeTrading", False)}


def test_a_file_that_is_there_is_left_alone_and_no_other_is_written(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/calldata-usdc.json").write_text("mine")
    run = _run(tmp_path)
    assert run.code == 2
    assert "calldata-usdc.json exists" in run.err.replace("\n  ", "")
    assert [(path.name, path.read_text()) for path in (tmp_path / "out").iterdir()] == [("calldata-usdc.json", "mine")]


def test_without_that_deployment_nothing_is_written(tmp_path: Path) -> None:
    run = _run(tmp_path, "--deployment", "other")
    assert (run.code, "deployment fetch" in run.err) == (2, True)
    assert not (tmp_path / "out").exists()
