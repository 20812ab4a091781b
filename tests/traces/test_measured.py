"""Links that follow what was measured."""

from pathlib import Path

import pytest

from longhaul.scenario import ScenarioError, load_scenario, parse_scenario, resolve
from longhaul.scenario.lower.resolve import Resolved
from longhaul.scenario.show.describe import describe
from longhaul.scenario.traces import builtin

MS = 10**6
MBIT = 10**6
ROOT = Path(__file__).parents[2]
HEAD = "version: 1\nname: t\nduration: 60s\nnodes: {vvgw: {kind: host}, far: {kind: host}}\n"
BOTH = """\
t_s,src,dst,rtt_ms,rate_mbit
0,par,nyc,80,10
1,par,nyc,,30
2,par,nyc,100,
0,nyc,par,90,5
1,nyc,par,60,5
"""


def resolved(models: str, folder: Path | None = None, more: str = "") -> Resolved:
    text = f"{HEAD}{more}links: {{w: {{endpoints: [vvgw, far], {models}}}}}\n"
    return resolve(parse_scenario(text.encode(), name="t.yaml", folder=folder))


def directions(models: str, folder: Path | None = None, more: str = "") -> tuple[dict, dict]:
    link = resolved(models, folder, more).plan["links"][0]
    return link["forward"], link["reverse"]


def test_a_round_trip_counts_half_and_show_says_so(tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_text("t_s,rtt_ms,delay_ms\n0,80,1\n1,100,2\n", encoding="utf-8")
    found = resolved("delay: {trace: w.csv, column: rtt_ms}", tmp_path)
    assert found.plan["links"][0]["forward"]["delay"]["points"] == [[0, 40 * MS], [10**9, 50 * MS]]
    (link,) = describe(found)["links"]
    assert link["forward"]["delay_is_half_of"] == "rtt_ms"
    whole = resolved("delay: {trace: w.csv, column: delay_ms}", tmp_path)
    assert whole.plan["links"][0]["forward"]["delay"]["points"] == [[0, 1 * MS], [10**9, 2 * MS]]
    assert describe(whole)["links"][0]["forward"]["delay_is_half_of"] is None


def test_empty_values_hold_the_last_and_before_the_first_that_one(tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_text("t_s,rtt_ms,rate_mbit\n0,,7\n1,80,\n2,,9\n", encoding="utf-8")
    forward, _ = directions("delay: {trace: w.csv}, rate: {trace: w.csv}", tmp_path)
    assert [value for _, value in forward["delay"]["points"]] == [40 * MS] * 3
    assert [value for _, value in forward["rate"]["points"]] == [7 * MBIT, 7 * MBIT, 9 * MBIT]


def test_the_spellings_of_others_are_round_trips(tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_text("t,latency_ms,bw_mbps\n0,80,10\n60,90,20\n", encoding="utf-8")
    for column in ("", ", column: latency_ms", ", column: rtt_ms"):
        forward, _ = directions(f"delay: {{trace: w.csv{column}}}, rate: {{trace: w.csv}}", tmp_path)
        assert forward["delay"]["points"] == [[0, 40 * MS], [60 * 10**9, 45 * MS]]
        assert forward["rate"]["points"][1] == [60 * 10**9, 20 * MBIT]


def test_latency_elsewhere_is_what_it_was(tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_text("t_s,latency_ms\n0,80\n", encoding="utf-8")
    assert directions("delay: {trace: w.csv}", tmp_path)[0]["delay"]["points"] == [[0, 80 * MS]]


def test_measured_gives_both_directions_delay_and_rate(tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_text(BOTH, encoding="utf-8")
    forward, reverse = directions("measured: {trace: w.csv, from: par, to: nyc}", tmp_path)
    # Of each direction half of its own round trips; gaps hold; it begins again after 3 s and 2 s.
    assert forward["delay"]["points"] == [[0, 40 * MS], [10**9, 40 * MS], [2 * 10**9, 50 * MS]]
    assert forward["delay"]["repeat_ns"] == 3 * 10**9
    assert [value for _, value in forward["rate"]["points"]] == [10 * MBIT, 30 * MBIT, 30 * MBIT]
    assert reverse["delay"]["points"] == [[0, 45 * MS], [10**9, 30 * MS]]
    assert reverse["rate"]["repeat_ns"] == 2 * 10**9


def test_constant_are_the_means_over_time(tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_text(BOTH, encoding="utf-8")
    forward, _ = directions("measured: {trace: w.csv, from: par, to: nyc, kind: constant}", tmp_path)
    assert forward["delay"] == {"model": "constant", "delay_ns": round((80 + 80 + 100) / 3 / 2 * MS)}
    assert forward["rate"] == {"model": "constant", "bits_per_s": round((10 + 30 + 30) / 3 * MBIT)}


def test_a_direction_that_is_missing_takes_the_way_back_with_a_warning(tmp_path: Path) -> None:
    text = "".join(line for line in BOTH.splitlines(keepends=True) if "nyc,par" not in line)
    (tmp_path / "w.csv").write_text(text + "0,par,ams,9,9\n", encoding="utf-8")
    found = resolved("measured: {trace: w.csv, from: par, to: nyc}", tmp_path)
    link = found.plan["links"][0]
    assert link["reverse"]["delay"] == link["forward"]["delay"]
    assert [each.headline for each in found.warnings] == [
        "w.csv: has no rows from nyc to par; the rows of the opposite direction are used [W0105]"
    ]


def test_names_are_those_of_the_endpoints_and_own_models_count_more() -> None:
    forward, reverse = directions("measured: {set: longcut, kind: nws, to: benedict}, forward: {rate: 1Gbit}")
    # Tables I and II: vvgw to benedict 36.29 ms, and back 36.52 ms and 2.32 Mbit/s.
    assert forward["delay"] == {"model": "constant", "delay_ns": 18_145_000}
    assert forward["rate"] == {"model": "constant", "bits_per_s": 10**9}
    assert reverse["delay"] == {"model": "constant", "delay_ns": 18_260_000}
    assert reverse["rate"] == {"model": "constant", "bits_per_s": 2_320_000}


def test_a_profile_may_be_measured_and_a_set_without_rates_leaves_the_rate() -> None:
    measured = "{set: longcut, kind: collective, from: psgw, to: roadrunner}"
    profile = f"profiles: {{wan: {{measured: {measured}, rate: 5Mbit}}}}\n"
    forward, reverse = directions("profile: wan", more=profile)
    assert (forward["delay"]["delay_ns"], reverse["delay"]["delay_ns"]) == (16_245_000, 16_175_000)
    assert forward["rate"]["bits_per_s"] == 5 * MBIT


def test_a_built_in_trace_stands_where_a_file_can() -> None:
    name = "longcut:eventspace/vvgw-benedict"
    forward, _ = directions(f'delay: {{trace: "{name}"}}, rate: {{trace: "{name}", at_end: loop}}')
    (trace,) = builtin.traces_of(name)
    assert [value for _, value in forward["delay"]["points"]] == [
        round(value * MS / 2) for value in trace.columns["rtt_ms"] if value is not None
    ]
    same, _ = directions("measured: {set: longcut, kind: eventspace, to: benedict}")
    assert same["rate"] == forward["rate"]


@pytest.mark.parametrize(
    ("models", "said"),
    [
        ("delay: {trace: w.csv}", '"w.csv" has 2 links; say which: from: par, to: nyc'),
        ("delay: {trace: w.csv, from: par, to: nvc}", '"w.csv" has no host "nvc"; did you mean "nyc"?'),
        ("measured: {trace: w.csv}", '"w.csv" has no host "vvgw"; there are: nyc, par'),
        ("rate: {trace: one.csv, from: a, to: b}", '"one.csv" has one link only: no columns src and dst'),
        ("measured: {trace: bad.csv}", 'bad.csv:3:3: "x" is not a number'),
        ("delay: {trace: empty.csv}", "empty.csv:1:1: has no rtt_ms in the file"),
        ("measured: {trace: w.txt}", 'w.txt" is not there'),
    ],
)
def test_what_is_wrong_has_its_place_and_a_remedy(tmp_path: Path, models: str, said: str) -> None:
    for name, text in (
        ("w.csv", BOTH),
        ("one.csv", "t_s,rate_mbit\n0,5\n"),
        ("bad.csv", "t_s,rtt_ms\n0,5\n1,x\n"),
        ("empty.csv", "t_s,rtt_ms\n0,\n1,\n"),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        resolved(models, tmp_path)
    assert said in str(caught.value)


@pytest.mark.parametrize("kind", ["eventspace", "constant", "nws"])
def test_the_scenario_of_longcut_has_its_tables(kind: str) -> None:
    found = resolve(load_scenario(ROOT / "scenarios/longcut.yaml", settings={"kind": kind}))
    figures = builtin.figures_of(kind)
    wide = [
        link for link in describe(found)["links"] if not {"lan"} & set(link) and link["name"].count("-") == 1
    ]
    seen = 0
    for link in wide:
        ends = tuple(link["endpoints"])
        for way, pair in (("forward", ends), ("reverse", ends[::-1])):
            if pair not in figures:
                continue
            seen += 1
            wanted = figures[pair]
            assert link[way]["mean_delay_ns"] == pytest.approx((wanted.rtt_ms or 0) / 2 * MS, rel=0.015)
            assert link[way]["bits_per_s"] == pytest.approx((wanted.rate_mbit or 0) * MBIT, rel=0.002)
    assert seen == 20
    # Each pair talks over its own link, whatever the delays: two hops to the sites and one between them.
    assert {path["hops"] for path in describe(found, all_pairs=True)["paths"]} <= {2, 3}
