"""Satellites of two-line elements against Walker's geometry, a satellite that stands still, and bad files."""

from datetime import UTC, datetime, timedelta
from math import pi, radians, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from sgp4.api import WGS72, Satrec
from sgp4.exporter import export_tle
from sgp4.propagation import gstime

import longhaul
from longhaul.cli.constellation import constellation
from longhaul.errors import LonghaulError
from longhaul.scenario.expand.topologies.tle import read_elements
from longhaul.scenario.expand.topologies.walker import GRAVITATION_KM3_PER_S2, Walker

EPOCH = datetime(2026, 11, 27, 20, tzinfo=UTC)
DAY = EPOCH.timestamp() / 86_400 + 2_440_587.5
WALKER = Walker(planes=36, per_plane=12, inclination_deg=53, altitude_km=550, phasing=1)
ISS = """\
ISS (ZARYA)
1 25544U 98067A   08264.51782528 -.00002182  00000-0 -11606-4 0  2927
2 25544  51.6416 247.4627 0006703 130.5360 325.0288 15.72125391563537
"""
"""An example that many descriptions of the format have."""


def lines(
    number: int, *, radius_km: float, tilt: float, node: float, anomaly: float, drag: float = 0.0
) -> list[str]:
    """A circular orbit in two lines; angles in radians, ``node`` from Greenwich at :data:`EPOCH`."""
    satellite = Satrec()
    a_minute = 60 * sqrt(GRAVITATION_KM3_PER_S2 / radius_km**3)
    node += float(gstime(DAY))
    rest = (drag, 0.0, 0.0, 1e-7, 0.0, tilt, anomaly % (2 * pi), a_minute, node % (2 * pi))
    satellite.sgp4init(WGS72, "i", number, DAY - 2_433_281.5, *rest)
    return list(export_tle(satellite))


def file_of(walker: Walker, path: Path) -> Path:
    total = walker.planes * walker.per_plane
    text: list[str] = []
    for number, name in enumerate(walker.names()):
        plane, slot = divmod(number, walker.per_plane)
        anomaly = 2 * pi * (slot / walker.per_plane + walker.phasing * plane / total)
        node = 2 * pi * plane / walker.planes
        tilt = radians(walker.inclination_deg)
        orbit = lines(10_000 + number, radius_km=walker.radius_km, tilt=tilt, node=node, anomaly=anomaly)
        text += [f"W {name}", *orbit]
    path.write_text("\n".join(text) + "\n")
    return path


def test_elements_of_a_walker_constellation_have_its_places_and_its_links(tmp_path: Path) -> None:
    found = read_elements(file_of(WALKER, tmp_path / "walker.txt"))
    assert found.at == EPOCH
    assert found.names()[:2] == ["w-s1-1", "w-s1-2"]
    for at_s in (0.0, 600.0):
        # The Earth's oblateness moves satellites by some km in a revolution.
        apart = np.linalg.norm(found.positions_km(at_s) - WALKER.positions_km(at_s), axis=1)
        assert apart.max() < 15
    assert found.grid() == WALKER.grid()


def test_a_geostationary_satellite_stands_over_its_longitude(tmp_path: Path) -> None:
    path = tmp_path / "geo.txt"
    path.write_text(
        "\n".join(lines(20_000, radius_km=42_164.2, tilt=0.0, node=0.0, anomaly=radians(19.2))) + "\n"
    )
    found = read_elements(path)
    assert found.names() == ["sat-20000"]
    for hour in range(0, 24, 6):
        x, y, z = found.positions_km(3600.0 * hour)[0]
        assert np.degrees(np.arctan2(y, x)) == pytest.approx(19.2, abs=0.1)
        assert (np.hypot(x, y), z) == (pytest.approx(42_164, abs=40), pytest.approx(0, abs=40))


def test_a_scenario_of_elements_has_the_round_trips_of_its_orbits(tmp_path: Path) -> None:
    out, source = tmp_path / "leo.yaml", file_of(WALKER, tmp_path / "walker.txt")
    stations = ["--station", "london=51.51,-0.13", "--station", "nyc=40.71,-74.01", "--elevation", "15"]
    options = [*stations, "--duration", "3s", "--out", str(out)]
    made = CliRunner().invoke(constellation, ["--tle", str(source), *options])
    assert made.exit_code == 0, made.output
    text = out.read_text()
    assert "# 432 satellites of walker.txt (TLE, by SGP4), from 2026-11-27T20:00:00Z; elevation 15." in text
    by_elements = longhaul.run_sim(out, runs=tmp_path / "runs", report=False).summary["probes"][0]
    walker = [
        "--planes",
        "36",
        "--satellites",
        "12",
        "--inclination",
        "53",
        "--altitude",
        "550",
        "--phasing",
        "1",
    ]
    assert CliRunner().invoke(constellation, [*walker, *options, "--force"]).exit_code == 0
    by_walker = longhaul.run_sim(out, runs=tmp_path / "runs", report=False).summary["probes"][0]
    assert by_elements["rtt_p50_ns"] / 1e6 == pytest.approx(by_walker["rtt_p50_ns"] / 1e6, abs=0.3)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "x.txt: there are no satellites"),
        (ISS.replace("  2927", "  2926"), "x.txt:2: the checksum is 6, and that of the line is 7"),
        ("\n".join(ISS.splitlines()[:2]), "x.txt:2: the second line of this set is missing"),
        (ISS[:-3] + "\n", "x.txt:3: a line of elements has 69 characters, not 67"),
        (ISS.splitlines()[2] + "\n", "x.txt:1: the first line of this set is missing"),
        ("Not found\n<html>\n", 'x.txt:2: "<html>" is not a line of elements'),
        ("\n".join(ISS.splitlines()[:2] * 2), "x.txt:3: the second line of a set begins with 2"),
    ],
)
def test_a_wrong_file_is_one_error_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "x.txt").write_text(text)
    with pytest.raises(LonghaulError) as caught:
        read_elements(tmp_path / "x.txt")
    assert words in str(caught.value)


def test_a_satellite_that_has_come_down_by_then_is_left_out(tmp_path: Path) -> None:
    falling = lines(30_000, radius_km=6_560, tilt=1.0, node=0.0, anomaly=0.0, drag=0.05)
    path, later = tmp_path / "falling.txt", EPOCH + timedelta(days=1)
    path.write_text("\n".join(falling) + "\n")
    with pytest.raises(LonghaulError, match="no satellite has an orbit at 2027"):
        read_elements(path, at=EPOCH + timedelta(days=60))
    assert read_elements(path).names() == ["sat-30000"]
    with pytest.raises(LonghaulError, match="no satellite has an orbit at 2026-11-28"):
        read_elements(path, at=later)
    with path.open("a") as file:
        file.write(file_of(Walker(1, 1, 53, 550), tmp_path / "one.txt").read_text())
    found = read_elements(path, at=later)
    assert (found.names(), found.left_out) == (["w-s1-1"], 1)
    assert "Left out: 1" in next(found.header())
    stations = ["--station", "a=45,0", "--station", "b=46,0", "--elevation", "0", "--duration", "2s"]
    options = ["--tle", str(path), "--at", later.strftime("%Y-%m-%dT%H:%M:%SZ"), *stations]
    both = "\n".join(each for each in path.read_text().splitlines() if each)
    path.write_text(both + "\n" + file_of(Walker(36, 12, 53, 550), tmp_path / "many.txt").read_text())
    made = CliRunner().invoke(constellation, [*options, "--out", str(tmp_path / "x.yaml")])
    assert made.exit_code == 0, made.output
    assert "warning: 1 satellites are left out" in made.output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--tle", "TLE", "--planes", "3"], "--planes is of Walker's constellations"),
        (["--tle", "absent.txt"], "cannot read absent.txt"),
        (["--at", "2026-11-27T20:00:00Z"], "--at is the time of elements"),
    ],
)
def test_wrong_options_are_one_error(tmp_path: Path, options: list[str], words: str) -> None:
    (tmp_path / "iss.txt").write_text(ISS)
    argv = [str(tmp_path / "iss.txt") if each == "TLE" else each for each in options]
    stations = ["--station", "a=50,0", "--station", "b=51,0", "--out", str(tmp_path / "x.yaml")]
    result: Any = CliRunner().invoke(constellation, [*argv, *stations])
    assert result.exit_code != 0
    assert words in result.output + str(result.exception)
    assert not (tmp_path / "x.yaml").exists()
