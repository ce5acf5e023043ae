"""What can be said of Ray clusters without one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from score_embed import config
from score_embed.errors import UsageError
from score_embed.fleet.process import ray_cluster

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RAY_ADDRESS", "RAY_AUTH_MODE", "RAY_AUTH_TOKEN"):
        monkeypatch.setenv(name, "")  # so that it is put back
        monkeypatch.delenv(name)


def test_words() -> None:
    assert config.resolve({"cluster": "ray://host:10001"}).cluster == "ray://host:10001"
    assert config.resolve({"cluster": "ray"}).cluster == "ray"
    for wrong in ("rays", "ray://host", "ray://", "http://host:1", "ray://host:port", "ray://host:1/x"):
        with pytest.raises(UsageError, match="cluster cannot be"):
            config.resolve({"cluster": wrong})


def test_what_we_start_has_a_token_of_its_own() -> None:
    ray_cluster._authenticate("")
    assert os.environ["RAY_AUTH_MODE"] == "token"
    assert len(os.environ["RAY_AUTH_TOKEN"]) == 64


def test_what_others_started_has_their_token() -> None:
    ray_cluster._authenticate("ray://192.0.2.7:10001")
    assert os.environ["RAY_AUTH_MODE"] == "token"
    assert "RAY_AUTH_TOKEN" not in os.environ


@pytest.mark.parametrize("address", ["ray://192.0.2.7:10001", "192.0.2.7:6379", "auto"])
def test_beyond_this_machine_only_with_a_token(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    with pytest.raises(UsageError, match="authentication is turned off"):
        ray_cluster._authenticate(address)
    for near in ("", "ray://127.0.0.1:10001", "localhost:6379"):
        ray_cluster._authenticate(near)


def test_without_ray_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_cluster, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="Ray") as caught, ray_cluster._connected("ray"):
        pass
    assert "score-embed[ray]" in caught.value.hint


def test_by_what_address_others_reach_this_machine() -> None:
    assert ray_cluster._address_of_this_host("ray://127.0.0.1:10001") == "127.0.0.1"


def test_the_example_of_a_cluster_is_one_to_ray() -> None:
    util = pytest.importorskip("ray.autoscaler._private.util")
    plain = yaml.safe_load((ROOT / "examples" / "ray-cluster.yaml").read_text(encoding="utf-8"))
    util.validate_config(util.prepare_config(plain))
    clients = plain["available_node_types"]["clients"]
    assert clients["node_config"]["InstanceMarketOptions"]["MarketType"] == "spot"
    assert clients["resources"][ray_cluster.RESOURCE] == clients["resources"]["CPU"]
    assert any("RAY_AUTH_MODE=token" in line for line in plain["head_start_ray_commands"])
