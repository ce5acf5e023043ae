"""The simulated serial line: what its scenarios mean, and that its errors are those asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from score_embed import places
from score_embed.errors import UsageError
from score_embed.simulate.noise import Wire
from score_embed.simulate.scenario import Scenario, read_scenario

SHIPPED = sorted(path.stem for path in places.shipped("simulators").glob("*.yaml"))


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_scenarios_can_be_read(name: str) -> None:
    assert read_scenario(name, {}) != Scenario()
    assert f"| `{name}` |" in (places.shipped("simulators") / "README.md").read_text()


def test_what_is_given_comes_before_the_file(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("bit-errors: 2%\nfifo: 16\n")
    found = read_scenario(str(tmp_path / "s.yaml"), {"fifo": "4", "seed": "7", "baud": None})
    assert found == Scenario(bit_errors=0.02, fifo=4, seed=7)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("fito: 1\n", "'fito'"),
        ("dropped: 120%\n", "share of all bytes"),
        ("latency: -1\n", "seconds"),
        ("baud: x\n", "'x'"),
    ],
)
def test_wrong_scenarios_are_named_with_their_line(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(text)
    with pytest.raises(UsageError) as caught:
        read_scenario(str(tmp_path / "s.yaml"), {})
    assert words in str(caught.value)
    assert caught.value.where == f"{tmp_path / 's.yaml'}:1"


def test_bytes_need_their_time() -> None:
    wire = Wire(Scenario(baud=10_000, latency=0.5), 0)
    wire.put(bytes(range(100)), 10.0)
    assert wire.take(10.5) == b""
    assert wire.take(10.551) == bytes(range(50))
    assert wire.take(11) == bytes(range(50, 100))
    assert wire.wait(11) is None


def test_an_adapter_delivers_in_bursts() -> None:
    wire = Wire(Scenario(baud=10_000), 0, burst=0.0625)
    wire.put(bytes(range(100)), 10.0)
    assert [len(wire.take(10.0 + i * 0.03125)) for i in range(5)] == [0, 0, 62, 0, 38]


def test_errors_come_as_often_as_asked_for_and_again_with_the_same_seed() -> None:
    data = bytes(100_000)
    outs = []
    for scenario in (
        Scenario(bit_errors=0.01),
        Scenario(bit_errors=0.01),
        Scenario(dropped=0.02),
        Scenario(inserted=0.03),
    ):
        wire = Wire(scenario, 0)
        wire.put(data, 0.0)
        outs.append(wire.take(0.0))
        for _ in range(200):  # of single bytes nothing may be left
            wire.put(b"x", 0.0)
    assert outs[0] == outs[1]
    assert 800 < sum(map(bool, outs[0])) < 1200
    assert all(byte & byte - 1 == 0 for byte in outs[0])  # one bit each
    assert 97_700 < len(outs[2]) < 98_300
    assert 102_700 < len(outs[3]) < 103_300
