"""Presets of impairments on links of a live network, and their undoing."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import longhaul
from longhaul.analysis.configuration import Configured
from longhaul.errors import LonghaulError
from longhaul.results.changes import events_of
from longhaul.run import impairments, sockets
from longhaul.run.impairments import FLAPS, PRESETS, Preset, cause
from longhaul.run.interventions import link_models, set_link

pytestmark = pytest.mark.waiting

SCENARIO = """
version: 1
name: impaired
duration: 60s
nodes: {r: {kind: router}, a: {kind: host}, b: {kind: host, attach: r}, c: {kind: host}}
links:
  wan: {endpoints: [a, r], delay: 10ms, rate: 100Mbit, loss: 0.1%, reverse: {rate: 20Mbit, loss: 2%}}
  wire: {endpoints: [a, c], delay: 1ms, rate: 1Gbit}
  free: {endpoints: [b, c], delay: 1ms}
  pair: {endpoints: [c, r], routes: {count: 2, policy: flow-hash, rate: 50Mbit, delays: [10ms, 12ms]}}
"""
BY_NAME = {each.name: each for each in PRESETS}


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[longhaul.Network]:
    folder = tmp_path_factory.mktemp("impaired")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(folder))
        (folder / "impaired.yaml").write_text(SCENARIO)
        with longhaul.up(folder / "impaired.yaml", runs=folder / "runs") as network:
            yield network


@pytest.fixture
def socket(network: longhaul.Network) -> Path:
    return sockets.socket_path("impaired")


@pytest.mark.parametrize("preset", PRESETS, ids=lambda each: each.name)
@pytest.mark.parametrize("link", ["wan", "wire", "pair"])
def test_a_preset_changes_a_link_and_undo_restores_it(socket: Path, link: str, preset: Preset) -> None:
    before = link_models(socket, link)
    impairment = cause(socket, link, preset, by="python")
    assert link_models(socket, link) != before
    impairment.undo(by="python")
    assert link_models(socket, link) == before
    assert impairment.is_over


def test_a_brown_out_leaves_each_direction_a_tenth_of_its_rate(socket: Path) -> None:
    impairment = cause(socket, "wan", BY_NAME["brown-out"], by="python")
    models = link_models(socket, "wan")
    assert [Configured.of(models[way]).bits_per_s for way in ("forward", "reverse")] == [10**7, 2 * 10**6]
    impairment.undo(by="python")


def test_one_direction_alone_can_be_impaired(socket: Path) -> None:
    before = link_models(socket, "wan")
    impairment = cause(socket, "wan", BY_NAME["burst-loss"], by="python", way="reverse")
    after = link_models(socket, "wan")
    assert (after["forward"], after["reverse"]["loss"]["mean"]) == (before["forward"], 0.05)
    impairment.undo(by="python")
    assert link_models(socket, "wan") == before


def test_undo_keeps_what_somebody_else_changed_meanwhile(socket: Path) -> None:
    before = link_models(socket, "wan")
    impairment = cause(socket, "wan", BY_NAME["burst-loss"], by="python")
    set_link("impaired", "wan", {"delay": "15ms"})
    impairment.undo(by="python")
    after = link_models(socket, "wan")
    assert [after[way]["loss"] for way in after] == [before[way]["loss"] for way in before]
    assert [Configured.of(after[way]).delay_ns for way in after] == [15_000_000] * 2


def test_a_flap_ends_by_itself_with_the_link_up(
    network: longhaul.Network, socket: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(impairments, "FLAP_DOWN_S", 0.05)
    monkeypatch.setattr(impairments, "FLAP_UP_S", 0.05)
    before = link_models(socket, "wire")
    impairment = cause(socket, "wire", BY_NAME["flap"], by="python")
    states = []
    while impairment.is_flapping:
        states.append(link_models(socket, "wire")["forward"]["up"])
        time.sleep(0.005)
    assert {True, False} == set(states)
    assert impairment.is_over
    assert link_models(socket, "wire") == before
    text = events_of(network.directory)
    assert text.count("link: wire, down: true") >= FLAPS
    impairment.undo(by="python")


def test_a_link_that_was_down_stays_down_after_a_flap_was_undone(socket: Path) -> None:
    set_link("impaired", "wire", {}, up=False)
    while (before := link_models(socket, "wire"))["forward"]["up"]:
        time.sleep(0.005)
    cause(socket, "wire", BY_NAME["flap"], by="python").undo(by="python")
    assert link_models(socket, "wire") == before
    set_link("impaired", "wire", {}, up=True)


def test_an_impairment_of_an_unknown_link_names_the_nearest(socket: Path) -> None:
    with pytest.raises(LonghaulError, match='there is no link "wna"; did you mean "wan"'):
        cause(socket, "wna", BY_NAME["flap"], by="python")


def test_a_brown_out_of_an_unlimited_link_is_refused(socket: Path) -> None:
    before = link_models(socket, "free")
    with pytest.raises(LonghaulError, match="the rate of this link is unlimited") as caught:
        cause(socket, "free", BY_NAME["brown-out"], by="python")
    assert caught.value.remedy == "set a rate first"
    assert link_models(socket, "free") == before
