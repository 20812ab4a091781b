"""A constellation as section ``topology`` of a scenario: the network of the command, and wrong values."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import longhaul
from longhaul.cli.constellation import constellation
from longhaul.page.library import templates, write_template
from longhaul.plan import Plan
from longhaul.scenario import Resolved, ScenarioError, parse_scenario, resolve
from longhaul.scenario.check.load import load_scenario
from longhaul.scenario.expand.topologies.walker import Walker

from .test_tle import EPOCH, file_of

STATIONS = "stations: {london: [51.51, -0.13], nyc: [40.71, -74.01]}"
PINGS = "traffic: {london1-nyc1: {kind: ping, from: london1, to: nyc1, every: 100ms}}"


def text(options: str, *, duration: str = "20s", rest: str = PINGS) -> str:
    return (
        f"version: 1\nname: leo\nduration: {duration}\ntopology: {{kind: constellation, {options}}}\n{rest}\n"
    )


def made(options: str, **others: Any) -> Resolved:
    return resolve(parse_scenario(text(options, **others).encode(), name="t.yaml"))


def by_command(folder: Path, *options: str) -> Plan:
    out = folder / "leo.yaml"
    stations = ["--station", "london=51.51,-0.13", "--station", "nyc=40.71,-74.01"]
    result = CliRunner().invoke(
        constellation, [*stations, "--duration", "20s", *options, "--out", str(out), "--force"]
    )
    assert result.exit_code == 0, result.output
    return resolve(load_scenario(out)).plan


@pytest.mark.parametrize(
    ("options", "section"),
    [
        ([], ""),
        (
            [
                "--planes",
                "6",
                "--satellites",
                "11",
                "--inclination",
                "86.4",
                "--altitude",
                "780",
                "--shape",
                "star",
                "--elevation",
                "8",
                "--phasing",
                "0",
                "--step",
                "500ms",
                "--hosts",
                "2",
                "--ground-rate",
                "100Mbit",
            ],
            "planes: 6, satellites: 11, inclination: 86.4, altitude: 780km, shape: star, elevation: 8, "
            "phasing: 0, step: 500ms, hosts: 2, ground: {rate: 100Mbit}, ",
        ),
    ],
)
def test_the_section_is_the_network_that_the_command_writes(
    options: list[str], section: str, tmp_path: Path
) -> None:
    written = by_command(tmp_path, *options)
    given = made(f"{section}{STATIONS}").plan
    for part in ("nodes", "links", "events", "routes", "duration_ns"):
        assert given[part] == written[part], part


def test_elements_beside_the_scenario_are_an_input_of_the_run(tmp_path: Path) -> None:
    source = file_of(Walker(36, 12, 53, 550, 1), tmp_path / "walker.txt")
    written = by_command(tmp_path, "--tle", str(source), "--elevation", "15")
    path = tmp_path / "section.yaml"
    path.write_text(text(f"tle: walker.txt, elevation: 15, {STATIONS}"))
    resolved = resolve(load_scenario(path))
    assert (resolved.plan["links"], resolved.plan["events"]) == (written["links"], written["events"])
    assert resolved.files() == {"walker.txt": source.read_bytes()}
    again = parse_scenario(path.read_bytes(), name="section.yaml", contents=resolved.files())
    assert resolve(again).plan == resolved.plan


def test_satellites_without_an_orbit_are_a_warning(tmp_path: Path) -> None:
    file_of(Walker(36, 12, 53, 550), tmp_path / "old.txt")
    later = (EPOCH + timedelta(days=60)).strftime("%Y-%m-%dT%H:%M:%SZ")
    path = tmp_path / "old.yaml"
    path.write_text(text(f"tle: old.txt, at: {later}, {STATIONS}"))
    with pytest.raises(ScenarioError, match=r"old\.yaml:4:\d+: topology\.tle: old\.txt: no satellite has an"):
        load_scenario(path)


def test_a_simulated_ping_takes_the_delays_of_the_section(tmp_path: Path) -> None:
    path = tmp_path / "leo.yaml"
    path.write_text(text(STATIONS))
    of_section = longhaul.run_sim(path, runs=tmp_path / "runs", report=False)
    by_command(tmp_path)
    of_command = longhaul.run_sim(path, runs=tmp_path / "runs", report=False)
    assert of_section.table("probes")["rtt_ns"] == of_command.table("probes")["rtt_ns"]
    # 42.1 to 42.7 ms for the satellites, and four accesses of 50 us.
    assert of_section.probe("london1-nyc1")["rtt_p50_ns"] == pytest.approx(42.3e6, rel=0.01)


def test_cities_stand_for_their_places() -> None:
    named = made("stations: {london: London, nyc: New York}")
    assert named.positions["london"] == pytest.approx((51.51, -0.13), abs=0.01)
    assert named.positions["nyc"] == pytest.approx((40.71, -74.01), abs=0.01)
    other = made('stations: {a: "London, Canada", nyc: New York}', rest="")
    assert other.positions["a"] == pytest.approx((42.98, -81.23), abs=0.1)


def test_the_file_goes_over_the_section_and_its_events_come_first() -> None:
    rest = (
        "routing: {every: 5s}\n"
        "profiles: {near: {delay: 50us, rate: 1Gbit}}\n"
        "nodes: {gate: {kind: host, forward: true}}\n"
        "links:\n  dish: {endpoints: [gate, london], profile: near}\n"
        "  s52-6_london: {loss: 1%}\n"
        "events: [{at: 3s, link: dish, down: 1s}]\n"
        "traffic: {p: {kind: ping, from: gate, to: nyc1}}"
    )
    resolved = made("stations: {london: {at: [51.51, -0.13], hosts: 0}, nyc: [40.71, -74.01]}", rest=rest)
    names = [node["name"] for node in resolved.plan["nodes"]]
    assert "london1" not in names
    links = {link["name"]: link["forward"] for link in resolved.plan["links"]}
    assert links["s52-6_london"]["loss"] != links["s51-6_london"]["loss"]
    assert links["s52-6_london"]["delay"]["model"] == "series"
    causes = {
        each["cause"]["position"]: each["at_ns"] for each in resolved.plan["events"] if each.get("cause")
    }
    assert causes[0] in (3 * 10**9, 4 * 10**9)
    assert resolved.scenario.document.routing.every is not None
    assert str(resolved.scenario.document.routing.every) == "5s"
    assert resolved.scenario.document.routing.costs == "current"


def test_satellites_stand_still_after_their_span() -> None:
    (delay,) = {
        link["forward"]["delay"]["points"][-1][0]
        for link in made(f"span: 5s, {STATIONS}").plan["links"]
        if link["forward"]["delay"]["model"] == "series"
    }
    assert delay == 5 * 10**9


def test_a_section_without_time_says_what_to_write() -> None:
    without = text(STATIONS).replace("duration: 20s\n", "")
    with pytest.raises(ScenarioError, match=r"t\.yaml:3:\d+: topology\.kind: nothing says how long"):
        parse_scenario(without.encode(), name="t.yaml")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("stations: {a: Londn, b: Paris}", 'topology.stations.a: there is no city "Londn" among'),
        ("stations: {a: London}", "topology.stations: a path needs two ground stations"),
        ("stations: {a: [91, 0], b: Paris}", "must lie between -90 and 90"),
        (
            "stations: {a: [89, 0], b: Paris}",
            'topology.stations.a: no satellite is ever 25 degrees above "a"',
        ),
        (f"isl: false, {STATIONS}", 'topology.stations.london: no path joins ground station "london"'),
        (f"step: 0s, {STATIONS}", "topology.step: the time has no steps; write a step of 10ms or more"),
        (f"span: 200h, {STATIONS}", "topology.step: there are more than 10000 steps; write a longer step"),
        (f"altitude: 550, {STATIONS}", 'topology.altitude: "550" has no unit; write "550km"'),
        (f"altitude: 20km, {STATIONS}", "topology.altitude: the constellation has an impossible altitude"),
        (f"phasing: 72, {STATIONS}", "topology.phasing: the constellation has an impossible phasing"),
        (f"planes: 0, {STATIONS}", "topology.planes: must be at least 1"),
        (f"planes: 9000, {STATIONS}", "has more than 10000 satellites"),
        (f"tle: absent.txt, {STATIONS}", 'topology.tle: "absent.txt" is not there'),
        (f"tle: x.txt, planes: 3, {STATIONS}", "topology.planes: is of Walker's constellations"),
        (f"at: 2026-11-27T20:00:00Z, {STATIONS}", "topology.at: is the time of elements"),
        (f"tle: x.txt, at: today, {STATIONS}", 'topology.at: "today" is not a time'),
        (f"ground: {{delay: 1ms}}, {STATIONS}", "topology.ground.delay: these delays follow from distances"),
        (f"wan: {{rate: 1Gbit}}, {STATIONS}", 'there is no key "wan"; write ground or space'),
        ("stations: {s52-6: London, b: New York}", 'topology: makes two of the name "s52-6"'),
    ],
)
def test_what_is_wrong_is_said_where_it_is(options: str, words: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(text(options, rest="").encode(), name="t.yaml")
    assert words in str(caught.value)


def test_the_page_offers_it_with_stations_to_begin_with() -> None:
    (template,) = [each for each in templates() if each["name"] == "constellation"]
    options = {each["name"]: each for each in template["options"]}
    assert options["stations"]["default"] == "{london: London, nyc: New York}"
    assert options["altitude"]["default"] == "550km"
    assert options["shape"]["choices"] == ["delta", "star"]
    assert all(each["about"] for each in options.values())
    written = write_template("constellation", {"name": "leo", "elevation": "30"})
    assert resolve(parse_scenario(written.encode(), name="leo.yaml")).plan["links"]


def test_python_has_the_section() -> None:
    sketch = longhaul.topologies.constellation(
        {"london": [51.51, -0.13], "nyc": [40.71, -74.01]}, name="leo", duration="20s"
    )
    assert sketch.check().plan["links"] == made(STATIONS).plan["links"]
