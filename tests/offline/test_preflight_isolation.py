"""A machine that is not cut off signs nothing in production: what production is, and that `sign` and the seal look."""

import json
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from airlock_offline.cli.main import program as program_command
from airlock_offline.confinement.command import UNCONFINED, Confinement
from airlock_offline.home import OfflineHome
from airlock_offline.ledger.typed_data import Need
from airlock_offline.preflight.isolation import Isolation, airgap_lines, is_production, require_isolation
from airlock_offline.preflight.page import as_notes
from airlock_shared.documents.deployment import Deployment, parse_deployment
from airlock_shared.errors import DocumentError, Refusal
from airlock_shared.host.files import LOOK, REFUSED, MachineProbes, Observed
from offline.machine_trees import inside, interface, machine, program, radio, route, with_an_interface
from shared.world import DEPLOYMENT_TEXT, PLAN_TEXT, VECTORS

ENFORCED = Confinement(True, "", 7, "")
PATH = "m/44'/60'/0'/0/0"
REQUESTS = VECTORS / "requests/good/desk-key.json"


def pin(home: Path, *, rehearsal: bool, name: str = "venue") -> Deployment:
    document = json.loads(DEPLOYMENT_TEXT) | {"rehearsal": rehearsal, "name": name}
    data = json.dumps(document).encode()
    OfflineHome(home).pin(parse_deployment(data), data, 0)
    return parse_deployment(data)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def cut_off(tmp_path: Path) -> MachineProbes:
    return machine(tmp_path / "machine")


@pytest.mark.parametrize(
    ("rehearsals", "software_ledger", "production"),
    [
        ([True], True, False),
        ([True], False, True),  # a real Ledger holds a real key, whatever the deployment calls itself
        ([True, False], True, True),
        ([False], True, True),
        ([False], False, True),
        ([], True, True),
    ],
)
def test_everything_is_production_but_a_rehearsal_with_the_software_ledger(
    home: Path, rehearsals: list[bool], software_ledger: bool, production: bool
) -> None:
    pins = [pin(home, rehearsal=flag, name=f"venue-{number}") for number, flag in enumerate(rehearsals)]
    assert is_production(pins, software_ledger=software_ledger) is production


@pytest.mark.parametrize("what", ["AIRGAP-INTERFACE", "AIRGAP-ROUTE", "AIRGAP-RADIO", "AIRGAP-SECCOMP"])
def test_production_is_refused_before_a_review_and_in_a_rehearsal_it_is_a_note(
    home: Path, tmp_path: Path, what: str
) -> None:
    pin(home, rehearsal=True, name="practice")
    world = machine(tmp_path / "machine", routes=route("eth0") if what == "AIRGAP-ROUTE" else "")
    if what == "AIRGAP-INTERFACE":
        interface(world, "eth0", "0x1003", "up", "1")
    if what == "AIRGAP-RADIO":
        radio(world, "bluetooth", "hci0")
    kernel = UNCONFINED if what == "AIRGAP-SECCOMP" else ENFORCED
    said: list[str] = []
    isolation = Isolation(OfflineHome(home).pins(), 9999, kernel, world)
    isolation.begin(said.append)
    assert said == [f"NOTE: this machine is not isolated ({what}). Production refuses this."]
    isolation.look_again()
    pin(home, rehearsal=False)
    for port in (None, 9999):
        with pytest.raises(Refusal, match=what):
            Isolation(OfflineHome(home).pins(), port, kernel, world).begin()


def test_a_cable_that_is_plugged_in_later_is_noticed_before_the_ledger(home: Path, cut_off: MachineProbes) -> None:
    pin(home, rehearsal=False)
    isolation = Isolation(OfflineHome(home).pins(), None, ENFORCED, cut_off)
    isolation.begin()
    isolation.look_again()
    interface(cut_off, "eth0", "0x1003", "up", "1")
    with pytest.raises(Refusal, match="AIRGAP-INTERFACE"):
        isolation.look_again()


def commands(home: Path, tmp_path: Path) -> list[tuple[object, ...]]:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN_TEXT)
    return [
        ("sign", REQUESTS, "--plan", plan, "-o", tmp_path / "out.json"),
        ("sign", "no-picture.png", "--qr", "--plan", plan, "-o", tmp_path / "out.json"),
        ("transcript", "seal", "--plan", plan, "--signer", "treasury"),
        ("delegate", "prove", "--plan", plan, "--step", "desk-key", "--path", PATH, "-o", tmp_path / "out.json"),
    ]


@pytest.mark.parametrize("up", [True, False])
def test_with_an_interface_up_nothing_is_signed_sealed_or_proved_in_production_and_with_it_off_they_go_on(
    home: Path, tmp_path: Path, up: bool
) -> None:
    script = with_an_interface(up=up)
    pin(home, rehearsal=False)
    goes_on = ("PLAN-STEPS", "no-picture.png", "no Ledger is plugged in", "no Ledger is plugged in")
    for words, said in zip(commands(home, tmp_path), goes_on, strict=True):
        ended = inside(script, *program(home), *words)
        assert ("AIRGAP-INTERFACE" in ended.err, "dummy0" in ended.err, said in ended.err) == (up, up, not up), (
            ended.err
        )
        assert ended.code == 3 or not up
    assert not (tmp_path / "out.json").exists()
    assert not up or [entry.event for entry in OfflineHome(home).transcript.entries()] == ["deployment-pinned"]


@pytest.mark.parametrize("first", [True, False], ids=["to look", "to sign"])
@pytest.mark.parametrize("command", ["sign", "transcript", "delegate"])
def test_each_command_looks_again_when_it_turns_to_a_real_ledger(
    command: str, first: bool, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The deployment calls itself a rehearsal, so what comes before the Ledger goes on; the Ledger is a real one."""
    pin(home, rehearsal=True)
    line = Observed("network", "eth0", "up", REFUSED, "unplug it", "AIRGAP-INTERFACE")
    monkeypatch.setattr("airlock_offline.preflight.isolation.airgap_lines", lambda _world: [line])
    place = f"airlock_offline.cli.{command}"
    device = SimpleNamespace(model="nanosp", listed_model="nanosp", version="1.22.0", close=lambda: None)
    device.probe = lambda _need: device.app() if first else None

    def opened(*_: object, guard: object, **__: object) -> nullcontext[SimpleNamespace]:
        device.app = guard
        return nullcontext(device)

    monkeypatch.setattr(f"{place}.opened", opened)
    monkeypatch.setattr(f"{place}.ask_yes", lambda _question, *, piped: None)
    if command == "sign":  # the document's own checks are not what this is about
        monkeypatch.setattr(f"{place}.require_none", lambda _verdicts: None)
        monkeypatch.setattr(f"{place}.first_to_sign", lambda *_: first or None)
        monkeypatch.setattr(f"{place}.need_of", lambda _case: Need(PATH, b""))
        monkeypatch.setattr(f"{place}._sign_all", lambda *given: given[2].app())
    words = next(words for words in commands(home, tmp_path) if words[0] == command)
    ended = CliRunner().invoke(program_command, ["--home", str(home), *map(str, words)])
    assert isinstance(ended.exception, Refusal), ended.output
    assert ended.exception.check == "AIRGAP-INTERFACE"
    assert not (tmp_path / "out.json").exists()


def test_a_refusal_names_everything_that_is_wrong(tmp_path: Path) -> None:
    world = machine(tmp_path, routes=route("eth0"))
    interface(world, "eth0", "0x1003", "up", "1")
    radio(world, "wlan", "phy0")
    with pytest.raises(Refusal) as caught:
        require_isolation(airgap_lines(world))
    assert caught.value.check == "AIRGAP-INTERFACE"
    for name in ("AIRGAP-INTERFACE: eth0", "AIRGAP-ROUTE: IPv4 routes", "AIRGAP-RADIO: Wi-Fi phy0: ON"):
        assert name in caught.value.got


def test_a_rehearsal_looks_at_what_production_refuses_and_says_so(cut_off: MachineProbes) -> None:
    interface(cut_off, "eth0", "0x1003", "up", "1")
    [line, *_] = as_notes(airgap_lines(cut_off))
    assert (line.verdict, line.check) == (LOOK, "AIRGAP-INTERFACE")
    assert line.do.startswith("production refuses this; ")
    changed = [line._replace(check="KIT-INSTALLED") for line in airgap_lines(cut_off)]
    assert [line.verdict for line in as_notes(changed)] == [line.verdict for line in changed]  # that is no note
    assert REFUSED in {line.verdict for line in changed}


def test_in_production_a_machine_that_is_cut_off_goes_on_without_a_word(home: Path, cut_off: MachineProbes) -> None:
    pin(home, rehearsal=False)
    said: list[str] = []
    without_landlock = ENFORCED._replace(landlock=0, landlock_why="too old")
    for kernel in (ENFORCED, without_landlock):
        isolation = Isolation(OfflineHome(home).pins(), None, kernel, cut_off)
        isolation.begin(said.append)
        isolation.look_again()
        assert said == []


def test_a_damaged_pin_is_an_error_and_not_a_rehearsal(home: Path, cut_off: MachineProbes) -> None:
    pin(home, rehearsal=True)
    (home / "pins/other.json").write_text("{}")
    with pytest.raises(DocumentError, match=r"DOC-[A-Z]+ at .*/pins/other\.json"):
        Isolation(OfflineHome(home).pins(), 9999, ENFORCED, cut_off)
