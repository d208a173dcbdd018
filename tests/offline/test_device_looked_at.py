"""The Ledger is looked at before anybody compares or reads, let go of meanwhile, and looked at again before it signs."""

import io
from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import pytest

from airlock_offline import device_connection
from airlock_offline.cli import sign
from airlock_offline.ledger.typed_data import need_of
from airlock_shared.cli.terminal import ask_yes
from airlock_shared.documents.ledger_metadata import read_token_metadata
from airlock_shared.errors import AirlockError, DeviceError
from airlock_software_ledger.app import SoftwareLedger
from offline.recordings import Wrapped
from offline.signing_room import Room, answer_with, room
from offline.test_signing import LOOKS, SEED
from shared.token_records import USDC_RECORD
from shared.world import case_of, good, situation

__all__ = ["room"]

SIMULATED = "5a010000"  # asked of the software Ledger alone, over loopback: which product it stands for

USDC = read_token_metadata(USDC_RECORD)


def watched(events: list[str], **ledger: Any) -> Wrapped:
    """Return a software Ledger whose openings, commands and closings stand in one list with the questions."""
    events.append("open")
    device = SoftwareLedger(**{"seed": SEED} | ledger)
    return Wrapped(device, lambda apdu, _: events.append(apdu[:4].hex()), closes=lambda: events.append("close"))


@pytest.fixture
def events() -> list[str]:
    return []


@pytest.fixture
def plug(events: list[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Plug in a Ledger; every question is answered with Yes."""

    def ask(question: str) -> None:
        events.append(f"? {question.split()[0]}")

    def plugged(**ledger: Any) -> None:
        answer_with(monkeypatch, ask, lambda: watched(events, **ledger))

    return plugged


def recorded(room: Room) -> list[str]:
    return [entry.event for entry in room.state.transcript.entries()]


def test_before_the_yes_looks_alone_are_sent_and_nobody_is_asked_while_the_ledger_is_held(
    room: Room, events: list[str], plug: Callable[..., None]
) -> None:
    plug()
    assert room.run_to_end("one") == 0
    yes = events.index("? Sign")
    assert events[:yes] == [
        "open", "b0010000", SIMULATED, "e0020000", "close",  # before the fingerprint is compared
        "? A",
        "open", "b0010000", SIMULATED, "e0020000", "close",  # before the step is reviewed
    ]  # fmt: skip
    assert {apdu for apdu in events[:yes] if len(apdu) == 8} <= {*LOOKS, SIMULATED}
    after = events[yes + 1 :]
    assert after[:4] == ["open", "b0010000", SIMULATED, "e0020000"]
    assert after[4][:4] == "e01a"  # the first command of a signature
    assert after[-1] == "close"


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("lock", "is locked"),
        ("app-closed", "home screen"),
        ("wrong-app", "'Bitcoin' is open"),
        ("old-version", "'1.10.4'"),
        ("wrong-seed", "another account"),
    ],
)
def test_for_a_ledger_that_cannot_sign_nobody_is_asked_anything(
    room: Room, events: list[str], plug: Callable[..., None], fault: str, said: str
) -> None:
    plug(faults=frozenset({fault}))
    before = recorded(room)
    for command in ("sign one", "seal"):
        with pytest.raises(AirlockError, match=said):
            room.commands()[command]()
    assert not [event for event in events if event.startswith("?")]
    assert events[-1] == "close"
    assert recorded(room) == before


def test_for_a_ledger_of_another_model_than_the_one_named_nobody_is_asked_anything(
    room: Room, events: list[str], plug: Callable[..., None]
) -> None:
    plug()
    before = recorded(room)
    words = ("--plan", room.folder / "plan.toml", "--emulator", 1, "--model", "flex", "-o", room.folder / "out.json")
    with pytest.raises(DeviceError, match="is a Nano S Plus, and --model"):
        room.run(sign.sign, room.folder / "one.json", *words)
    assert not [event for event in events if event.startswith("?")]
    assert recorded(room) == before


@pytest.mark.parametrize("model", ["flex", "nanosp", "apexp", "flex-1.22.0-dev"])
def test_the_pages_their_words_and_the_record_are_of_the_model_and_version_that_is_found(
    room: Room, plug: Callable[..., None], model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    plug(model=model)
    assert room.run_to_end("one") == 0
    [begun] = [entry.data for entry in room.state.transcript.entries() if entry.event == "sign-begun"]
    assert begun["model"] == model.partition("-")[0]
    said = " ".join(capsys.readouterr().err.split())
    assert f"THE LEDGER WILL SHOW ({model}, " in said
    assert said.count("Raw messages must be on") == 1
    assert ("Continue anyway" in said) is (model == "flex-1.22.0-dev")


def test_a_pipe_signs_nothing_with_a_real_ledger(
    room: Room, events: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fingerprint is confirmed from a pipe, for the deployment is a rehearsal's; the signature is not."""
    monkeypatch.setattr(device_connection.Device, "_open", lambda _device: watched(events))
    monkeypatch.setattr(sign, "ask_yes", ask_yes)
    for lines in ("airgap_lines", "kernel_lines"):
        monkeypatch.setattr(f"airlock_offline.preflight.isolation.{lines}", lambda _world: [])
    monkeypatch.setattr("sys.stdin", io.StringIO("Yes\n" * 3))
    words = ("--plan", room.folder / "plan.toml", "--model", "nanosp", "-o", room.folder / "out.json")
    assert room.run(sign.sign, room.folder / "one.json", *words) == 6
    assert recorded(room)[-2:] == ["reviewed", "declined"]
    assert [event for event in events if len(event) == 8] == ["b0010000", "e0020000"] * 2
    [declined] = [entry.data for entry in room.state.transcript.entries() if entry.event == "declined"]
    assert declined["step"] == "open"
    assert "signing" not in recorded(room)


@pytest.mark.parametrize(("step", "folder"), [("open", "requests"), ("approve", "transactions")])
def test_a_step_needs_the_settings_that_it_needs_and_no_other(step: str, folder: str) -> None:
    case = case_of(good(step, folder), situation(folder))
    need = need_of(case)
    assert (need.path, need.account) == (case.step.signer.path, case.step.signer.address)
    assert (need.blind_signing, need.raw_messages) == (folder == "transactions", folder == "requests")
    where = case.situation._replace(deployment=case.situation.deployment._replace(filters={"OpenTradeReq": Mock()}))
    told = need_of(case._replace(situation=where))
    assert (told.filtered, told.raw_messages) == (step == "open", False)
    hashes = case.step._replace(signer=case.step.signer._replace(show="hashes"))
    by_hashes = need_of(case._replace(step=hashes, situation=where))
    assert (by_hashes.blind_signing, by_hashes.raw_messages, by_hashes.filtered) == (True, False, False)


@pytest.mark.parametrize(("told_of_this_one", "blind"), [(True, False), (False, True)])
def test_an_approval_of_a_token_that_the_device_is_told_of_needs_no_blind_signing(
    told_of_this_one: bool, blind: bool
) -> None:
    document, where = good("approve", "transactions"), situation("transactions")
    contract = bytes.fromhex(document["requests"][0]["payload"]["to"][2:])
    token = USDC._replace(address=contract if told_of_this_one else bytes(20))
    told = where._replace(deployment=where.deployment._replace(token=token))
    assert need_of(case_of(document, where)._replace(situation=told)).blind_signing is blind


def test_where_nothing_is_left_to_sign_no_ledger_is_looked_for(
    room: Room, events: list[str], plug: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    plug()
    assert room.run_to_end("one") == 0
    events.clear()
    capsys.readouterr()
    words = ("--plan", room.folder / "plan.toml", "--emulator", 1, "-o", room.folder / "again.json")
    assert room.run(sign.sign, room.folder / "one.json", *words) == 0
    said = capsys.readouterr().err
    assert "the kept signature is used again" in said
    assert "THE LEDGER WILL SHOW" not in said
    assert room.run_to_end("two") == 3  # another nonce for a step that is signed
    assert not [event for event in events if not event.startswith("?")]
