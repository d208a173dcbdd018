"""Test networks by the operator's word, and chains of rehearsals: the software Ledger signs there, and nothing of worth."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from airlock_offline.cli.main import program
from airlock_offline.device_connection import require_ledger
from airlock_offline.preflight.isolation import is_production
from airlock_offline.signing.review import review_sections
from airlock_shared.checks.judge import Known, judge_header
from airlock_shared.cli.comparison_lines import changed_lines, deployment_lines
from airlock_shared.cli.machine import read_deployments
from airlock_shared.documents.deployment import TEST_ACCOUNTS, Deployment, read_deployment, valid_elsewhere
from airlock_shared.documents.requests import parse_requests
from airlock_shared.errors import DocumentError, Refusal
from airlock_software_ledger.keys import TEST_SEED, derive, read_path
from refusals import check_of
from shared.world import DEPLOYMENT_TEXT, VECTORS, examined, good, plan, request_of, situation, to_bytes

NETWORK = "sepolia-fork"
MARK = f"TEST NETWORK {NETWORK}: signed by the software Ledger alone"
PRODUCTION = json.loads(DEPLOYMENT_TEXT)
TESTING = PRODUCTION | {"test_network": NETWORK}


def on_chain(chain_id: int, **members: Any) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(DEPLOYMENT_TEXT.replace("84532", str(chain_id)))
    return made | members


REHEARSAL = on_chain(31337, rehearsal=True)


def pinned(**members: Any) -> Deployment:
    return read_deployment(PRODUCTION | members)


def trust(folder: Path, document: dict[str, Any]) -> Result:
    (folder / "deployment.json").write_bytes(to_bytes(document))
    words = ["--home", str(folder / "home"), "trust", str(folder / "deployment.json")]
    return CliRunner().invoke(program, words, input="Yes\n")


@pytest.mark.parametrize(
    ("document", "real", "software"),
    [(PRODUCTION, True, False), (REHEARSAL, True, True), (TESTING, False, True)],
    ids=["production", "rehearsal", "test-network"],
)
def test_which_kind_of_ledger_signs_is_told_by_the_deployment(
    document: dict[str, Any], real: bool, software: bool
) -> None:
    for port, taken in ((None, real), (9999, software)):
        if taken:
            require_ledger(port, read_deployment(document))
        else:
            assert check_of(require_ledger, port, read_deployment(document)) == "PIN-REHEARSAL"
    testing, production = read_deployment(TESTING), read_deployment(PRODUCTION)
    assert is_production([testing], software_ledger=True) is False
    assert is_production([testing], software_ledger=False) is True
    assert is_production([testing, production], software_ledger=True) is True


@pytest.mark.parametrize(
    "words",
    [
        ["sign", "REQUESTS", "--plan", "PLAN", "-o", "OUT"],
        ["transcript", "seal", "--plan", "PLAN", "--signer", "treasury"],
        ["delegate", "prove", "--plan", "PLAN", "--step", "desk-key", "--path", "m/44'/60'/0'/0/0", "-o", "OUT"],
    ],
    ids=lambda words: words[0],
)
def test_a_real_ledger_on_a_test_network_is_refused_before_anything_is_shown(tmp_path: Path, words: list[str]) -> None:
    assert trust(tmp_path, TESTING).exit_code == 0
    document = good("desk-key")
    document["header"]["deployment"] = read_deployment(TESTING).fingerprint
    (tmp_path / "requests.json").write_bytes(to_bytes(document))
    plan_file = VECTORS / "plans/good/every-struct.toml"
    files = {"REQUESTS": tmp_path / "requests.json", "PLAN": plan_file, "OUT": tmp_path / "out"}
    given = [str(files.get(word, word)) for word in words]
    ended = CliRunner().invoke(program, ["--home", str(tmp_path / "home"), *given])
    assert isinstance(ended.exception, Refusal), ended.output
    assert (ended.exception.check, ended.exception.got) == ("PIN-REHEARSAL", "a real Ledger")
    assert not (tmp_path / "out").exists()


def test_only_accounts_whose_keys_everybody_has_sign_on_a_test_network() -> None:
    """Whatever stands behind the loopback port: a signature by another key is not asked for, nor taken."""
    for step, folder in (("desk-key", "requests"), ("open", "requests"), ("approve", "transactions")):
        here = situation(folder)
        there = here._replace(deployment=here.deployment._replace(test_network=NETWORK))
        found = examined(request_of(good(step, folder)), there)
        refused = {verdict.check for verdict in found.verdicts.refused()}
        assert refused == {"SIGNER-PLANNED"}, refused
        assert not examined(request_of(good(step, folder)), here).verdicts.refused()


def test_the_name_is_covered_by_the_fingerprint_and_shown_when_it_is_pinned(tmp_path: Path) -> None:
    names = ("sepolia-fork", "other-fork")
    marks = {pinned().fingerprint, *(pinned(test_network=name).fingerprint for name in names)}
    assert len(marks) == 3
    ended = trust(tmp_path, TESTING)
    assert (ended.exit_code, MARK in ended.output) == (0, True), ended.output
    assert "worth nothing" not in ended.output


@pytest.mark.parametrize(("before", "after"), [(PRODUCTION, TESTING), (TESTING, PRODUCTION)])
def test_the_online_machine_cannot_add_it_or_take_it_away_unseen(before: dict[str, Any], after: dict[str, Any]) -> None:
    old, new = (list(deployment_lines(read_deployment(each))) for each in (before, after))
    assert MARK in [line for mark, line in changed_lines(old, new) if mark in "-+"]
    document = good("desk-key")
    document["header"]["deployment"] = read_deployment(before).fingerprint
    header, _, _ = parse_requests(to_bytes(document))
    judged = judge_header(header, situation()._replace(deployment=read_deployment(after)), Known())
    assert "PIN-DEPLOYMENT" in {verdict.check for verdict in judged.refused()}


def test_another_form_of_the_name_is_refused() -> None:
    for name in ("", "Sepolia", "a b", "x" * 64, 7, None, True):
        with pytest.raises(DocumentError):
            pinned(test_network=name)
    with pytest.raises(DocumentError) as caught:
        read_deployment(REHEARSAL | {"test_network": NETWORK})
    assert (caught.value.check, caught.value.where) == ("DOC-DEPLOYMENT", "test_network")


def test_every_review_and_doctor_say_it_and_never_that_it_is_worth_nothing(tmp_path: Path) -> None:
    here = situation()
    there = here._replace(deployment=here.deployment._replace(test_network=NETWORK))
    for step in plan().steps:
        sections = review_sections(examined(request_of(good(step)), there), 1, 1)
        shown = " ".join(" ".join(line.split()) for part in sections for line in part)
        assert MARK in shown
        assert "worth" not in shown
    (tmp_path / "test.json").write_bytes(to_bytes(TESTING))
    (line,) = read_deployments([tmp_path / "test.json"], first="")[1]
    assert line.found.startswith(f"{MARK}, ")


def test_the_test_accounts_are_the_software_ledger_s_own() -> None:
    for number, address in enumerate(TEST_ACCOUNTS):
        path = bytes.fromhex(f"05 8000002c 8000003c {0x80000000 + number:08x} 00000000 00000000")
        assert derive(TEST_SEED, read_path(path)[0]).address == address


@pytest.mark.parametrize("chain_id", [8453, 1, 84532, 31338])
def test_a_rehearsal_on_a_chain_that_is_not_its_own_is_not_pinned(tmp_path: Path, chain_id: int) -> None:
    refused = trust(tmp_path, on_chain(chain_id, rehearsal=True)).exception
    assert isinstance(refused, Refusal)
    assert (refused.check, refused.got) == ("PIN-REHEARSAL", f"chain id {chain_id}")
    assert not (tmp_path / "home/pins").exists()


def test_a_fork_of_the_main_network_is_told_when_it_is_pinned(tmp_path: Path) -> None:
    for name in ("main", "fork"):
        ended = trust(tmp_path, on_chain(31337, rehearsal=True, name=name))
    assert "NOTE: a signature for fork is valid at main too" in " ".join(ended.output.split())


def test_where_else_a_signature_is_valid_is_told_by_chain_and_contract() -> None:
    main, fork = (read_deployment(on_chain(8453, name=name)) for name in ("main", "fork"))
    elsewhere = read_deployment(on_chain(84532, name="elsewhere"))
    moved = fork._replace(domains={n: d._replace(contract=b"\x01" * 20) for n, d in fork.domains.items()})
    assert valid_elsewhere(fork, [main, fork, elsewhere]) == [
        "NOTE: a signature for fork is valid at main too: the same chain id and contract."
    ]
    assert valid_elsewhere(moved, [main]) == []
