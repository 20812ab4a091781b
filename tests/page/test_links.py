"""Links of a live run from the page: their models now, and presets of impairments."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from .served import Served, serving, until

TEXT = """\
version: 1
name: wires
duration: 600s
nodes: {near: {kind: host}, far: {kind: host}}
links:
  wan:
    endpoints: [near, far]
    delay: 10ms
    rate: 100Mbit
    reverse: {delay: {base: 10ms, jitter: {dist: lognormal, mean: 1ms, sd: 1ms}}}
traffic: {probe: {kind: ping, from: near, to: far}}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("wires")) as served:
        yield served


@pytest.fixture(scope="module")
def run(server: Served) -> Iterator[str]:
    can = server.ask("/api/state")[1]["can"]
    if not can["live"]:
        pytest.skip(f"live runs do not work here: {can['why']}")
    found = server.start(TEXT, mode="live")
    until(lambda: server.ask(f"/api/runs/{found}/links/wan")[0] == 200)
    yield found
    server.ask(f"/api/runs/{found}/stop", {})


def refusal(told: dict[str, dict[str, str]]) -> str:
    return told["error"]["message"]


def test_a_link_has_numbers_and_models_as_they_are_typed(server: Served, run: str) -> None:
    link = server.ask(f"/api/runs/{run}/links/wan")[1]
    forward, reverse = link["forward"], link["reverse"]
    assert (forward["delay_ns"], forward["bits_per_s"], forward["loss"], forward["up"]) == (
        10**7,
        10**8,
        0,
        True,
    )
    assert (forward["models"]["delay"], forward["models"]["rate"]) == ("10ms", "100Mbit")
    assert "delay" not in reverse["models"]
    assert "lognormal" in reverse["described"]["delay"]
    assert link["impairment"] is None
    # What is shown can be set.
    for key, value in forward["models"].items():
        body = {"link": "wan", "way": "forward", "changes": {key: value}}
        status, told = server.ask(f"/api/runs/{run}/set", body)
        assert status == 200, (key, value, told)
    assert server.ask(f"/api/runs/{run}/links/wan")[1]["forward"] == forward


def test_a_link_has_one_impairment_at_a_time_and_gets_its_models_back(server: Served, run: str) -> None:
    before = server.ask(f"/api/runs/{run}/links/wan")[1]
    status, told = server.ask(f"/api/runs/{run}/impairments", {"link": "wan", "preset": "burst-loss"})
    assert status == 200, told
    now = server.ask(f"/api/runs/{run}/links/wan")[1]
    assert (now["impairment"], now["reverse"]["loss"]) == (told, 0.05)
    status, more = server.ask(f"/api/runs/{run}/impairments", {"link": "wan", "preset": "reorder"})
    assert (status, refusal(more)) == (409, "Burst loss is active on wan")
    address = f"/api/runs/{run}/impairments/{told['id']}"
    assert server.ask(address, method="DELETE")[0] == 200
    assert server.ask(f"/api/runs/{run}/links/wan")[1] == before
    assert server.ask(address, method="DELETE")[0] == 404


def test_unknown_links_presets_and_runs_without_links_to_change_are_refused(server: Served, run: str) -> None:
    status, told = server.ask(f"/api/runs/{run}/links/wna")
    assert (status, refusal(told)) == (400, 'there is no link "wna"; did you mean "wan"?')
    status, told = server.ask(f"/api/runs/{run}/impairments", {"link": "wan", "preset": "flood"})
    assert (status, "brown-out" in told["error"]["remedy"]) == (400, True)
    simulated = server.start(TEXT.replace("600s", "1s"), mode="sim")
    status, told = server.ask(f"/api/runs/{simulated}/links/wan")
    assert (status, refusal(told)) == (409, "a simulated run cannot be changed")


def test_a_flap_ends_with_the_server_and_leaves_a_standing_network_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import longhaul
    from longhaul.run import sockets
    from longhaul.run.interventions import link_models

    with serving(tmp_path) as server:
        if not server.ask("/api/state")[1]["can"]["live"]:
            pytest.skip("live runs do not work here")
    (tmp_path / "standing.yaml").write_text(TEXT.replace("wires", "standing"))
    with longhaul.up(tmp_path / "standing.yaml", runs=tmp_path / "runs") as network:
        with serving(tmp_path) as server:
            (row,) = server.ask("/api/runs")[1]["runs"]
            status, told = server.ask(f"/api/runs/{row['id']}/impairments", {"link": "wan", "preset": "flap"})
            assert status == 200, told
            assert not link_models(sockets.socket_path(network.name), "wan")["forward"]["up"]
        until(lambda: link_models(sockets.socket_path(network.name), "wan")["forward"]["up"])
