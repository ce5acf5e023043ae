"""The lab file: found in order, read strictly, added to without touching what is there, asked for a board's device."""

from __future__ import annotations

from pathlib import Path

import pytest

from score_embed.board import profile
from score_embed.board.desk import DeskRun
from score_embed.board.lab import FILE, Connected, Lab, add_devices, compare, find_lab, read_lab
from score_embed.device.port import connected_ports
from score_embed.errors import UsageError

LAB = """\
# the shelf on the left
devices:
    rig:   # do not touch
        board: [stm32, mine]
        port: {folder}/a
        usb: "0483:374b"
        serial-number: "066FFF12"
        probe: 066FFF12
        baud: 460800
        flash: [st-flash, --serial, "{{probe}}", write, "{{bin}}", "0x8000000"]
        power: {{off: [relay, 1, 0], on: [relay, 1, 1]}}
    spare:
        board: stm32
        port: {folder}/b
    alien: {{port: "socket://10.0.0.7:4000", board: mps2-an385}}
"""


@pytest.fixture(autouse=True)
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def written(folder: Path, *ports: str) -> Path:
    (folder / FILE).write_text(LAB.format(folder=folder))
    for port in ports:
        (folder / port).touch()
    return folder / FILE


def test_the_working_folder_comes_before_the_configuration(tmp_path: Path) -> None:
    assert find_lab() == Lab(None, ())
    own = tmp_path / "config" / "score-embed" / "lab.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("devices: {x: {port: /dev/x}}\n")
    assert [device.name for device in find_lab().everything] == ["x"]
    written(tmp_path)
    assert [device.name for device in find_lab().everything] == ["rig", "spare", "alien"]


def test_devices_of_a_board(tmp_path: Path) -> None:
    lab = read_lab(written(tmp_path, "a"))
    assert [device.name for device in lab.devices("stm32")] == ["rig", "spare"]
    assert [device.present for device in lab.everything] == [True, False, True]
    assert lab.choose("stm32").name == "rig"  # the other is not plugged in
    assert lab.choose("mps2-an385").name == "alien"
    (tmp_path / "link").symlink_to("a")
    for port in ("rig", f"{tmp_path}/a", "./a", "link"):
        device = lab.device(port)
        assert device is not None
        assert device.name == "rig"
    assert lab.device("c") is None


def test_it_is_said_why_there_is_no_device(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no serial port is given for the board 'stm32'") as caught:
        find_lab().choose("stm32")
    assert "lab scan" in caught.value.hint
    path = written(tmp_path)
    lab = read_lab(path)
    with pytest.raises(UsageError, match="no device of the lab is a 'microbit'") as caught:
        lab.choose("microbit")
    assert caught.value.where == str(path)
    with pytest.raises(UsageError, match=r"'rig' is not plugged in \(nor is any of 1 more\)") as caught:
        lab.choose("stm32")
    assert caught.value.where == f"{path}:3"
    written(tmp_path, "a", "b")
    with pytest.raises(UsageError, match="2 devices that are plugged in are a 'stm32'") as caught:
        lab.choose("stm32")
    assert caught.value.hint == "Name one with --port: rig, spare."


def test_what_the_lab_says_comes_before_the_profile_and_after_the_command_line(tmp_path: Path) -> None:
    written(tmp_path, "a")
    run = profile.find_board("stm32", "serial").run
    assert isinstance(run, DeskRun)
    assert (run.port, run.baud, run.probe, run.flash[0]) == (f"{tmp_path}/a", 460800, "066FFF12", "st-flash")
    assert run.power_off == ("relay", "1", "0")
    spare = profile.find_board("stm32", port="spare").run
    assert isinstance(spare, DeskRun)
    assert (spare.port, spare.baud, spare.flash[0]) == (f"{tmp_path}/b", 115200, "openocd")
    other = profile.find_board("stm32", port="/dev/other").run
    assert isinstance(other, DeskRun)
    assert (other.port, other.power_on) == ("/dev/other", ())
    assert isinstance(profile.find_board("stm32").run, profile.QemuRun)  # no device is asked for


@pytest.mark.parametrize(
    ("text", "words", "line"),
    [
        ("device: {}\n", "unknown key 'device'", 1),
        ("devices:\n  a: {prt: x}\n", "unknown key of the device 'a' 'prt'", 2),
        ("devices:\n  a:\n    board: stm32\n", "the device 'a' has no port", 2),
        ("devices:\n  a/b: {port: x}\n", "looks like a port", 2),
        ("devices:\n  a: /dev/x\n", "'a' must be a group of keys", 2),
    ],
)
def test_wrong_lab_files_are_named_with_their_line(text: str, words: str, line: int, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(UsageError) as caught:
        read_lab(tmp_path / FILE)
    assert words in caught.value.what
    assert caught.value.where == f"{tmp_path / FILE}:{line}"
    assert caught.value.hint


def test_a_wrong_value_is_named_with_the_line_of_the_lab_file(tmp_path: Path) -> None:
    path = written(tmp_path, "a")
    good = path.read_text()
    for old, bad, words, line in (("460800", "fast", "'fast' is not", 9), ("{probe}", "{prob}", "unknown placeh", 10)):
        path.write_text(good.replace(old, bad))
        with pytest.raises(UsageError, match=words) as caught:
            profile.find_board("stm32", "serial")
        assert caught.value.where == f"{FILE}:{line}"


FOUND = [
    Connected("/dev/serial/by-id/usb-ST_STLink_77AB-if02", "0483:374b", "77AB", "ST STLink"),
    Connected("/dev/serial/by-id/usb-ST_STLink_78AB-if02", "0483:374b", "78AB", "ST STLink"),
    Connected("/dev/serial/by-path/pci-3.2", "1a86:7523", "", 'USB "Serial": #1'),
]


@pytest.mark.parametrize(
    "before",
    [
        "",
        "# nothing yet\n",
        "devices:\n",
        "devices:  # none\n",
        "devices:\n  x:\n    port: /dev/x # mine\n",
        "devices:\n        x: {port: /dev/x}   # mine",
        "devices:\n  st-stlink-77ab:\n    port: y\n# the end\n",
    ],
)
def test_what_is_new_is_added_and_nothing_else_is_changed(before: str, tmp_path: Path) -> None:
    path = tmp_path / "sub" / "lab.yaml"
    path.parent.mkdir()
    if before:
        path.write_text(before)
    old = read_lab(path).everything if before else ()
    names = add_devices(path, FOUND[:2]) + add_devices(path, FOUND[2:], "microbit")
    lab = read_lab(path)
    assert path.read_text().startswith(before)
    assert [device.name for device in lab.everything] == [*(device.name for device in old), *names]
    assert len(set(names)) == 3
    new = lab.everything[len(old) :]
    assert [(d.port, d.usb, d.serial_number, d.about) for d in new] == [
        (c.port, c.usb, c.serial_number, c.about) for c in FOUND
    ]
    assert [device.boards for device in new] == [(), (), ("microbit",)]
    assert compare(lab, FOUND).new == ()
    assert [entry.name for entry in path.parent.iterdir()] == ["lab.yaml"]


def test_devices_in_braces_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "lab.yaml"
    path.write_text("devices: {x: {port: y}}\n")
    with pytest.raises(UsageError, match="in braces"):
        add_devices(path, FOUND)
    assert path.read_text() == "devices: {x: {port: y}}\n"


def test_new_gone_and_moved(tmp_path: Path) -> None:
    lab = read_lab(written(tmp_path, "b"))
    moved = Connected("/dev/elsewhere", "0483:374b", "066FFF12", "")
    found = compare(lab, [moved, Connected(str(tmp_path / "b")), FOUND[0]])
    assert found.new == (FOUND[0],)
    assert [(device.name, port) for device, port in found.moved] == [("rig", moved)]
    assert found.gone == ()
    assert [device.name for device in compare(lab, []).gone] == ["rig"]


def test_ports_by_their_lasting_names(tmp_path: Path) -> None:
    folder = tmp_path / "by-id"
    folder.mkdir()
    (folder / "usb-Acme_Probe_Mk2_0042-if01").symlink_to("/dev/null")
    (folder / "usb-1a86_USB_Serial-if00-port0").symlink_to("/dev/zero")
    (folder / "other").symlink_to("/dev/full")
    found = {Path(port.port).name: port for port in connected_ports(folder) if Path(port.port).parent == folder}
    assert found["usb-Acme_Probe_Mk2_0042-if01"].about == "Acme Probe Mk2"
    assert found["usb-Acme_Probe_Mk2_0042-if01"].serial_number == "0042"
    assert found["other"].about == "other"
    assert connected_ports(tmp_path / "nothing") == [port for port in connected_ports(folder) if port.usb]
