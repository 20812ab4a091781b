"""What results show of themselves in a notebook."""

import re
import sys
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import longhaul
from longhaul.errors import LonghaulError
from longhaul.report import notebook
from longhaul.report.colours import ANYWHERE, GRID
from longhaul.report.pictures import Picture

ROOT = Path(__file__).parents[2]
REQUESTS = (
    "version: 1\nrequests: {r: {from: left1, to: right1, volume: 1MB, deadline: 9s, max_rate: 8Mbit}}\n"
)
Makers = dict[str, Callable[[], Any]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    place = tmp_path_factory.mktemp("pictures")
    sketch = longhaul.topologies.dumbbell(
        left=2,
        right=2,
        name="shown",
        duration="2s",
        wan={
            "delay": {"base": "10ms", "jitter": {"dist": "uniform", "half_width": "10us"}},
            "rate": "$rate",
        },
        params={"rate": "20Mbit"},
        traffic={
            "bulk": {"kind": "tcp", "from": "left1", "to": "right1"},
            "probe": {"kind": "ping", "from": "left2", "to": "right2", "every": "50ms"},
        },
        expect=[{"metric": "flows.bulk.goodput", "min": "15Mbit"}],
    )
    path = sketch.write(place / "shown.yaml")
    (place / "requests.yaml").write_text(REQUESTS)
    fast, slow = (
        [
            longhaul.run_sim(path, seed=seed, params={"rate": rate}, runs=place / "runs", report=False)
            for seed in (1, 2)
        ]
        for rate in ("20Mbit", "10Mbit")
    )
    return {
        "sketch": sketch,
        "described": longhaul.describe(path, params={"rate": "5Mbit"}),
        "result": fast[0],
        "failed": slow[0],
        "comparison": longhaul.compare(fast, slow),
        "swept": longhaul.sweep(
            path, axes={"rate": ["5Mbit", "10Mbit"]}, repeat=2, metrics=["goodput"], runs=place / "runs"
        ),
        "fitted": longhaul.fit(
            [0.5 + number % 7 for number in range(60)], families=["weibull"], replicates=0
        ),
        "planned": longhaul.plan_transfers(place / "requests.yaml", scenario=path, policy="fair"),
    }


SHOWN = {
    "sketch": ("shown", "left1 to right1", "20 Mbit/s"),
    "described": ("shown", "left1 to right1", "5 Mbit/s"),
    "result": ("simulated", "bulk", "1 of 1 expectations passed", "probe"),
    "failed": (
        "0 of 1 expectations passed",
        "Failed: expectation flows.bulk.goodput",
        "not flows.bulk.goodput",
    ),
    "comparison": ("flows.bulk.goodput", "probes.probe.right2.rtt.max", "yes"),
    "swept": ("4 runs of 2 variants", "flows.bulk.goodput", "10 Mbit/s"),
    "fitted": ("weibull", "60 gaps"),
    "planned": ("fair", "1 of 1 requests satisfied", "1 MB"),
}


@pytest.mark.parametrize("name", SHOWN)
def test_each_shows_what_matters(made: dict[str, Any], name: str) -> None:
    html = made[name]._repr_html_()
    words = re.sub(r"<svg.*?</svg>|<[^>]*>", " ", html, flags=re.DOTALL)
    for said in SHOWN[name]:
        assert said in words
    assert len(html) < 60_000
    assert "var(--" not in html, "it would need the page's colours"


@pytest.mark.parametrize("name", ["result", "comparison", "swept", "fitted", "planned"])
def test_figures_are_pictures_with_names(made: dict[str, Any], name: str) -> None:
    names = made[name].figures
    assert names
    for each in names:
        picture = made[name].figure(each)
        (svg,) = (value for kind, value in picture._repr_mimebundle_().items() if kind == "image/svg+xml")
        root = ElementTree.fromstring(svg)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert root.get("viewBox")
        assert "width" not in root.attrib, "it would be cut off where there is less room"
        assert "var(--" not in svg
        assert not re.findall("#a100[0-9a-f]{2}", svg)


def test_a_figure_that_is_not_there_is_told_with_those_that_are(made: dict[str, Any]) -> None:
    with pytest.raises(KeyError, match=r'no figure "thruput"; there are: .*throughput'):
        made["result"].figure("thruput")
    with pytest.raises(KeyError, match='nothing to draw as "lateness"'):
        made["result"].figure("lateness")


def test_a_picture_is_written_in_the_format_of_its_name(made: dict[str, Any], tmp_path: Path) -> None:
    picture = made["result"].figure("throughput")
    assert picture.save(tmp_path / "a.svg").read_text() == picture.svg
    for name, begins in (("a.pdf", b"%PDF-"), ("a.png", b"\x89PNG"), ("a.csv", b"panel,series,x,")):
        assert picture.save(tmp_path / name).read_bytes().startswith(begins)
    with pytest.raises(LonghaulError, match=r"no ending of a format .* .svg or .pdf or .png or .csv"):
        picture.save(tmp_path / "a.jpeg")
    for name in ("a.svg", "a.pdf"):
        with pytest.raises(LonghaulError, match=rf"{name}: no such file or directory; name a file"):
            picture.save(tmp_path / "nowhere" / name)


def test_a_drawing_of_a_network_is_written_as_svg_alone(made: dict[str, Any], tmp_path: Path) -> None:
    picture = made["described"].picture()
    assert picture.save(tmp_path / "network.svg").read_text() == picture.svg
    with pytest.raises(LonghaulError, match=r"no ending of a format .*; name it .svg$"):
        picture.save(tmp_path / "network.pdf")


def test_a_widget_has_the_charts_that_the_report_draws(made: dict[str, Any]) -> None:
    result = made["result"]
    (throughput,) = result.charts("throughput").charts
    assert throughput["name"] == "throughput"
    drawn = {each["name"].replace("-", "_") for each in result.charts().charts}
    assert {"throughput", "round_trips", "queues"} <= drawn
    with pytest.raises(KeyError, match=r"no chart .thruput.; there are: .*throughput"):
        result.charts("thruput")


def test_without_anywidget_the_remedy_is_a_package(
    made: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from longhaul.report import widgets

    widgets._kind.cache_clear()
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(LonghaulError, match=r"need anywidget.*pip install"):
        made["result"].charts()


def test_gaps_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(LonghaulError, match="gaps are numbers; give numbers above zero"):
        longhaul.fit(["a"] * 30)  # type: ignore[list-item]


def test_the_network_is_drawn(made: dict[str, Any]) -> None:
    picture = made["described"].picture()
    assert isinstance(picture, Picture)
    root = ElementTree.fromstring(picture.svg)
    assert "bottleneck" in {text.strip() for text in root.itertext()}


def test_a_comparison_writes_the_report(made: dict[str, Any], tmp_path: Path) -> None:
    page = made["comparison"].report(tmp_path / "x.html").read_text()
    assert "Configuration differences" in page
    assert "10 Mbit/s" in page


def test_what_cannot_be_compared_or_fitted_is_refused(made: dict[str, Any]) -> None:
    with pytest.raises(LonghaulError, match="nothing to compare with"):
        longhaul.compare([made["result"]])
    with pytest.raises(LonghaulError, match="compared with itself"):
        longhaul.compare(made["result"], made["result"].directory)
    with pytest.raises(LonghaulError, match='no unit "minutes"'):
        longhaul.fit([1.0] * 30, unit="minutes")


@given(st.text(alphabet="<>&'\"ab", min_size=1, max_size=8))
def test_names_are_never_markup(name: str) -> None:
    summary = {
        "name": name,
        "duration_ns": 10**9,
        "fidelity": {"verdict": "faithful", "reasons": []},
        "flows": [],
        "probes": [],
        "expectations": [],
        "changes": [],
        "outcome": {"state": "failed", "headline": f"Failed: program {name}."},
    }
    words = re.findall(r"<strong>(.*?)</strong>", html := notebook.run_html(summary, mode="live"), re.DOTALL)
    assert not re.findall("[<>]", words[0])
    assert f"program {escape(name)}" in html


def test_colours_are_seen_by_day_and_by_night() -> None:
    def luminance(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for name, colour in ANYWHERE.items():
        if name != GRID:
            seen = luminance(colour)
            assert 1.05 / (seen + 0.05) >= 3, f"{name} on white"
            assert (seen + 0.05) / (luminance("#111111") + 0.05) >= 3, f"{name} on black"
