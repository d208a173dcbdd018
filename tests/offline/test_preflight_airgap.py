"""Interfaces, routes and radios: what is refused in production, on machines that are built as file trees."""

from __future__ import annotations

from pathlib import Path

import pytest

from airlock_offline.preflight.isolation import interface_lines, radio_lines, route_lines
from airlock_shared.host.files import LOOK, OK, REFUSED, MachineProbes, Observed
from offline.machine_trees import ROUTE_HEADING, interface, machine, radio, route, write


def verdicts(lines: list[Observed]) -> set[tuple[str, str]]:
    return {(line.verdict, line.check) for line in lines}


def refused_interfaces(world: MachineProbes) -> list[str]:
    lines = list(interface_lines(world))
    assert {line.check for line in lines if line.verdict == REFUSED} <= {"AIRGAP-INTERFACE"}
    return [line.what for line in lines if line.verdict == REFUSED]


# ---- interfaces -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "operstate", "carrier", "said"),
    [
        ("0x1003", "up", "1", "up, connected"),
        ("0x1003", "down", "0", "up, without a connection"),  # switched on, no cable: plugged in, it is on the network
        ("0x10c3", "unknown", "1", "up, connected"),  # dummies, tunnels
        ("0x1", "dormant", "", "up"),
        ("0x1002", "up", "1", "up, connected"),  # the two disagree
        ("0x1002", "unknown", "", "up"),
        ("", "up", "", "up"),
        ("what?", "up", "", "up"),
        ("0x1003", "", "", "up"),
        ("0x1003", "notpresent", "", "up"),
    ],
)
def test_an_interface_that_is_up_is_refused(
    tmp_path: Path, flags: str, operstate: str, carrier: str, said: str
) -> None:
    world = machine(tmp_path)
    interface(world, "enp1s0", flags, operstate, carrier)
    line = next(iter(interface_lines(world)))
    assert (line.what, line.verdict, line.check, line.found) == ("enp1s0", REFUSED, "AIRGAP-INTERFACE", said)
    assert "ip link set enp1s0 down" in line.do


@pytest.mark.parametrize("name", ["wlan0", "sit0", "tun0", "docker0", "lo0", "lo:1", "LO"])
def test_no_name_but_that_of_loopback_excuses_an_interface(tmp_path: Path, name: str) -> None:
    world = machine(tmp_path)
    interface(world, name, "0x1043", "unknown", "1")
    assert refused_interfaces(world) == [name]


def test_an_interface_that_only_another_namespace_shows_is_refused(tmp_path: Path) -> None:
    world = machine(tmp_path)
    interface(world, "eth0", "0x1003", "up", "1", own=False)
    line = next(iter(interface_lines(world)))
    assert (line.verdict, line.found) == (REFUSED, "up, connected, seen from another network namespace")


def test_an_interface_of_which_nobody_can_tell_is_refused(tmp_path: Path) -> None:
    world = machine(tmp_path)
    with (world.root / "proc/net/dev").open("a") as file:
        file.write("  eth7: 0 0\n")
    line = next(iter(interface_lines(world)))
    assert (line.what, line.verdict, line.check) == ("eth7", REFUSED, "AIRGAP-INTERFACE")
    assert "unknown" in line.found


def test_a_machine_without_sys_and_proc_is_not_called_cut_off(tmp_path: Path) -> None:
    assert verdicts(list(interface_lines(MachineProbes(tmp_path)))) == {(REFUSED, "AIRGAP-INTERFACE")}
    assert verdicts(list(route_lines(MachineProbes(tmp_path)))) == {(REFUSED, "AIRGAP-ROUTE")}
    assert verdicts(list(radio_lines(MachineProbes(tmp_path)))) == {(REFUSED, "AIRGAP-RADIO")}
    for lines in (interface_lines, route_lines, radio_lines):
        assert all("unknown" in line.found for line in lines(MachineProbes(tmp_path)))


def test_the_name_of_an_interface_does_not_act_on_the_screen(tmp_path: Path) -> None:
    world = machine(tmp_path)
    interface(world, "e\x1b[2Jth0", "0x1003", "up", "1")
    assert "\x1b" not in next(iter(interface_lines(world))).do


# ---- routes -----------------------------------------------------------------------------------------------------------

SIX = "{to:032x} {bits:02x} {0:032x} 00 {0:032x} 00000100 00000001 00000000 {flags:08x} {name:>8}\n"


def six(name: str, flags: int, *, to: int = 0xFE80 << 112, bits: int = 64) -> str:
    return SIX.format(0, to=to, bits=bits, flags=flags, name=name)


@pytest.mark.parametrize(
    ("four", "six_text", "what", "said"),
    [
        (route("eth0"), "", "IPv4 routes", "1 through eth0"),
        (route("eth0", destination="00000000", mask="00000000"), "", "IPv4 routes", "one of them to everywhere"),
        (route("wg0") + route("wg0"), "", "IPv4 routes", "2 through wg0"),
        ("eth0 00000000\n", "", "IPv4 routes", "cannot be read"),
        (route("eth0", flags="zzzz"), "", "IPv4 routes", "cannot be read"),
        ("", six("eth0", 0x1), "IPv6 routes", "1 through eth0"),
        ("", six("eth0", 0x3, to=0, bits=0), "IPv6 routes", "one of them to everywhere"),
        ("", "nonsense\n", "IPv6 routes", "cannot be read"),
    ],
)
def test_a_route_out_of_the_machine_is_refused(tmp_path: Path, four: str, six_text: str, what: str, said: str) -> None:
    world = machine(tmp_path, routes=four, routes_six=six_text)
    [line] = route_lines(world)
    assert (line.what, line.verdict, line.check, said in line.found) == (what, REFUSED, "AIRGAP-ROUTE", True)


def test_routes_of_loopback_and_those_that_lead_to_an_error_pass(tmp_path: Path) -> None:
    own = six("lo", 0x80200001, to=1, bits=128) + six("lo", 0x00200200, to=0, bits=0)
    world = machine(tmp_path, routes=route("lo") + route("eth0", flags="0201"), routes_six=own)
    assert verdicts(list(route_lines(world))) == {(OK, "")}


# ---- radios -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "name", "what"),
    [
        ("wlan", "phy0", "Wi-Fi"),
        ("bluetooth", "hci0", "Bluetooth"),
        ("nfc", "nfc0", "NFC"),
        ("wwan", "modem", "mobile"),
        ("ultrawideband", "uwb0", "ultra-wideband"),
        ("wimax", "i2400m", "WiMAX"),
        ("newer", "thing", "radio"),
    ],
)
def test_a_radio_that_is_not_blocked_is_refused(tmp_path: Path, kind: str, name: str, what: str) -> None:
    world = machine(tmp_path)
    radio(world, kind, name)
    [line] = radio_lines(world)
    assert (line.what, line.found, line.verdict, line.check) == (what, f"{name}: ON", REFUSED, "AIRGAP-RADIO")
    assert "rfkill block all" in line.do


@pytest.mark.parametrize(
    ("soft", "hard", "said"),
    [("1", "0", "by software"), ("0", "1", "by hardware"), ("1", "1", "by software and by hardware")],
)
def test_a_blocked_radio_passes_and_says_how(tmp_path: Path, soft: str, hard: str, said: str) -> None:
    world = machine(tmp_path)
    radio(world, "wlan", "phy0", soft, hard)
    (world.root / "sys/class/ieee80211/phy0").mkdir(parents=True)
    assert [(line.found, line.verdict) for line in radio_lines(world)] == [(f"phy0: blocked {said}", OK)]


@pytest.mark.parametrize(
    ("driver", "name", "what"),
    [
        ("ieee80211", "phy0", "Wi-Fi"),
        ("bluetooth", "hci0", "Bluetooth"),
        ("nfc", "nfc0", "NFC"),
        ("wwan", "wwan0", "mobile"),
    ],
)
def test_a_radio_without_a_switch_is_refused(tmp_path: Path, driver: str, name: str, what: str) -> None:
    world = machine(tmp_path)
    (world.root / "sys/class" / driver / name).mkdir(parents=True)
    [line] = radio_lines(world)
    assert (line.what, line.found, line.check) == (what, f"{name} has no switch to block it", "AIRGAP-RADIO")


def test_the_switch_of_another_radio_does_not_excuse_one(tmp_path: Path) -> None:
    world = machine(tmp_path)
    radio(world, "wlan", "phy0", "1")
    radio(world, "bluetooth", "phy1", "1")
    (world.root / "sys/class/ieee80211/phy1").mkdir(parents=True)
    assert [line.found for line in radio_lines(world) if line.verdict == REFUSED] == ["phy1 has no switch to block it"]


@pytest.mark.parametrize(("part", "text"), [("soft", ""), ("hard", "2"), ("soft", "\x1b[2J"), ("type", None)])
def test_a_switch_that_cannot_be_read_is_refused(tmp_path: Path, part: str, text: str | None) -> None:
    world = machine(tmp_path)
    file = radio(world, "wlan", "phy0", "1") / part
    if text is None:
        file.unlink()
    else:
        file.write_text(text)
    [line] = radio_lines(world)
    assert (line.verdict, line.check, "unknown" in line.found) == (REFUSED, "AIRGAP-RADIO", True)


@pytest.mark.parametrize("kind", ["gps", "fm"])
def test_a_radio_that_only_receives_is_to_be_looked_at(tmp_path: Path, kind: str) -> None:
    world = machine(tmp_path)
    radio(world, kind, "receiver")
    assert verdicts(list(radio_lines(world))) == {(LOOK, "")}


def test_every_interface_that_is_up_is_named(tmp_path: Path) -> None:
    world = machine(tmp_path)
    for name in ("eth0", "eth1", "wlan0"):
        interface(world, name, "0x1003", "up", "1")
    interface(world, "sit0", "0x80", "down", "")
    assert refused_interfaces(world) == ["eth0", "eth1", "wlan0"]


@pytest.mark.parametrize(("flags", "operstate"), [("0x80", "down"), ("0x1002", "down"), ("0x1002", "notpresent")])
def test_interfaces_that_are_switched_off_pass(tmp_path: Path, flags: str, operstate: str) -> None:
    world = machine(tmp_path)
    interface(world, "eth0", flags, operstate, "")
    interface(world, "sit0", "0x80", "down", "")
    assert [(line.found, line.verdict) for line in interface_lines(world)] == [("switched off: eth0, sit0", OK)]


@pytest.mark.parametrize("state", [("0x9", "unknown"), ("0x8", "down")])
def test_loopback_may_be_up_or_down(tmp_path: Path, state: tuple[str, str]) -> None:
    world = machine(tmp_path, loopback=state)
    assert [(line.found, line.verdict) for line in interface_lines(world)] == [("none but loopback", OK)]


def test_without_proc_the_interfaces_of_sys_are_judged(tmp_path: Path) -> None:
    world = machine(tmp_path)
    (world.root / "proc/net/dev").unlink()
    interface(world, "eth0", "0x1003", "up", "1", own=False)
    assert [line.found for line in interface_lines(world)] == ["up, connected"]


def test_a_file_beside_the_interfaces_is_none(tmp_path: Path) -> None:
    world = machine(tmp_path)
    write(world.root / "sys/class/net/bonding_masters", "")
    assert refused_interfaces(world) == []


def test_without_ipv6_there_are_no_ipv6_routes(tmp_path: Path) -> None:
    world = machine(tmp_path)
    (world.root / "proc/net/ipv6_route").unlink()
    assert [line.found for line in route_lines(world)] == ["none that leaves this machine"]
    assert ROUTE_HEADING in (world.root / "proc/net/route").read_text()


def test_a_modem_is_off_when_its_kind_is_blocked(tmp_path: Path) -> None:
    world = machine(tmp_path)
    radio(world, "wwan", "tpacpi_wwan_sw", "1")
    (world.root / "sys/class/wwan/wwan0").mkdir(parents=True)
    (world.root / "sys/class/bluetooth/hci0:256").mkdir(parents=True)  # a connection, and no radio
    assert verdicts(list(radio_lines(world))) == {(OK, "")}


def test_without_drivers_and_switches_there_is_no_radio(tmp_path: Path) -> None:
    world = machine(tmp_path)
    (world.root / "sys/class/rfkill").mkdir()
    assert [line.found for line in radio_lines(world)] == ["none with a driver on this system"]
