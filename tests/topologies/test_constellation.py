"""Constellations against geometry: distances, visibility, periods, and simulated round trips."""

from math import pi, radians, sin, sqrt
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import longhaul
from longhaul.cli.constellation import constellation
from longhaul.errors import LonghaulError
from longhaul.scenario.expand.topologies.constellation import Scene, elevation_deg, ground_km, orbits_of
from longhaul.scenario.expand.topologies.distance import EARTH_KM, GLASS, LIGHT_KM_PER_S, great_circle_km
from longhaul.scenario.expand.topologies.walker import Walker

STARLINK = Walker(planes=72, per_plane=22, inclination_deg=53, altitude_km=550, phasing=1)
LONDON, NEW_YORK = (51.51, -0.13), (40.71, -74.01)


def slant_km(altitude_km: float, elevation: float) -> float:
    """The distance of a satellite at this elevation in degrees, from the triangle with the Earth's centre."""
    rise = EARTH_KM * sin(radians(elevation))
    return sqrt(rise**2 + altitude_km**2 + 2 * EARTH_KM * altitude_km) - rise


def test_satellites_are_on_their_orbits_and_return_after_a_period() -> None:
    for at_s in (0.0, 1234.5):
        assert np.linalg.norm(STARLINK.positions_km(at_s), axis=1) == pytest.approx(EARTH_KM + 550)
    assert STARLINK.period_s == pytest.approx(2 * pi * sqrt((EARTH_KM + 550) ** 3 / 398_600.4418))
    assert STARLINK.period_s / 60 == pytest.approx(95.5, abs=0.1)  # as published for 550 km
    latitudes = np.degrees(np.arcsin(STARLINK.positions_km(77.0)[:, 2] / STARLINK.radius_km))
    assert np.abs(latitudes).max() == pytest.approx(53, abs=0.5)


def test_neighbours_in_a_plane_keep_their_distance_and_each_satellite_has_four_links() -> None:
    pairs = STARLINK.grid()
    assert len(pairs) == 2 * 72 * 22
    degree = np.bincount(np.array(pairs).ravel())
    assert set(degree) == {4}
    chord = 2 * STARLINK.radius_km * sin(pi / 22)
    for at_s in (0.0, 600.0):
        places = STARLINK.positions_km(at_s)
        lengths = {pair: float(np.linalg.norm(places[pair[0]] - places[pair[1]])) for pair in pairs}
        assert lengths[0, 1] == pytest.approx(chord)
        # Also where the last plane meets the first: no link is much longer than in its own plane.
        assert max(lengths.values()) < 1.1 * chord


def test_a_star_has_no_links_between_planes_that_move_against_each_other() -> None:
    star = Walker(planes=6, per_plane=11, inclination_deg=86.4, altitude_km=780, phasing=0, shape="star")
    assert len(star.grid()) == 66 + 5 * 11  # Iridium: 66 in planes, and between 5 pairs of planes


def test_a_bent_pipe_is_within_the_delays_of_the_zenith_and_of_the_least_elevation() -> None:
    scene = Scene(STARLINK, {"a": LONDON, "b": (51.6, -0.2)}, duration_s=300, step_s=10, isl=False)
    found = orbits_of(scene).samples
    assert len(found) == len(scene.times_s)
    least, most = (4e3 * slant_km(550, each) / LIGHT_KM_PER_S for each in (90, 25))
    assert (least, most) == (pytest.approx(7.34, abs=0.01), pytest.approx(14.99, abs=0.01))
    assert all(least <= each.round_trip_ms <= most and len(each.nodes) == 3 for each in found)


def test_what_is_visible_is_above_the_least_elevation_and_no_farther_than_its_slant_range() -> None:
    scene = Scene(STARLINK, {"a": LONDON, "b": NEW_YORK}, duration_s=10, least_elevation_deg=40)
    first = len(STARLINK.names())
    instant = scene.at(5.0)
    seen = {
        a: delay for (a, b), delay in zip(instant.ends.tolist(), instant.delays_s, strict=True) if b == first
    }
    heights = elevation_deg(ground_km(LONDON), STARLINK.positions_km(5.0))
    assert set(seen) == set(np.flatnonzero(heights >= 40))
    assert max(seen.values()) * LIGHT_KM_PER_S <= slant_km(550, 40) + 1e-6


def test_over_the_atlantic_satellites_are_faster_than_fibre_on_the_great_circle() -> None:
    found = orbits_of(Scene(STARLINK, {"london": LONDON, "nyc": NEW_YORK}, duration_s=120, step_s=10)).samples
    vacuum_ms = 2e3 * great_circle_km(LONDON, NEW_YORK) / LIGHT_KM_PER_S
    assert vacuum_ms == pytest.approx(37.2, abs=0.1)
    for each in found:
        assert vacuum_ms < each.round_trip_ms < GLASS * vacuum_ms


def test_simulated_pings_take_the_delays_of_the_geometry_across_handovers(tmp_path: Path) -> None:
    out = tmp_path / "leo.yaml"
    options = ["--station", "london=51.51,-0.13", "--station", "nyc=40.71,-74.01", "--duration", "20s"]
    made = CliRunner().invoke(constellation, [*options, "--out", str(out)])
    assert made.exit_code == 0, made.output
    assert "london > nyc: RTT 4" in made.output
    table = longhaul.run_sim(out, runs=tmp_path / "runs", report=False).table("probes")
    found = dict(zip(table["t_s"], table["rtt_ns"], strict=True))
    expected = orbits_of(
        Scene(STARLINK, {"london": LONDON, "nyc": NEW_YORK}, duration_s=19, step_s=1)
    ).samples
    near_ms = 4 * 0.05
    for each in expected:
        rtt = found[pytest.approx(each.at_s) if each.at_s not in found else each.at_s]
        assert rtt is not None, each
        # Satellites move 0.3 km while a packet travels; serialisation takes microseconds.
        assert rtt / 1e6 == pytest.approx(each.round_trip_ms + near_ms, abs=0.02), each
    assert len({each.nodes for each in expected}) > 1, "there was a handover"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"planes": 0}, "no satellites"),
        ({"altitude_km": 20}, "altitude"),
        ({"phasing": 72}, "phasing"),
        ({"inclination_deg": 181}, "angle"),
    ],
)
def test_what_is_not_a_constellation_is_refused(wrong: dict[str, float], words: str) -> None:
    right = {"planes": 72, "per_plane": 22, "inclination_deg": 53, "altitude_km": 550, "phasing": 1}
    with pytest.raises(LonghaulError, match=words):
        Walker(**{**right, **wrong})  # type: ignore[arg-type]


def test_stations_without_a_satellite_and_wrong_places_are_one_error(tmp_path: Path) -> None:
    out = ["--out", str(tmp_path / "x.yaml")]
    poles = ["--station", "north=89,0", "--station", "south=-89,0", "--duration", "2s", *out]
    failed = CliRunner().invoke(constellation, poles)
    assert isinstance(failed.exception, LonghaulError)
    assert 'no satellite is ever 25 degrees above "north"' in str(failed.exception)
    for place in ("paris", "paris=91,0", "paris=north,0"):
        assert CliRunner().invoke(constellation, ["--station", place, *out]).exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_files_that_exist_are_kept_and_no_other_is_written(tmp_path: Path) -> None:
    argv = ["--station", "london=51.51,-0.13", "--station", "nyc=40.71,-74.01", "--duration", "2s"]
    for existing, absent in (("leo.yaml", "leo-delays.csv"), ("leo-delays.csv", "leo.yaml")):
        (tmp_path / existing).write_text("mine")
        result = CliRunner().invoke(constellation, [*argv, "--out", str(tmp_path / "leo.yaml")])
        assert result.exit_code != 0
        assert isinstance(result.exception, LonghaulError)
        assert f"{existing} already exists" in str(result.exception)
        assert not (tmp_path / absent).exists()
        (tmp_path / existing).unlink()
