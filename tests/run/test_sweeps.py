"""Sweeps: what is run, what comes out, and what is left when something dies."""

import dataclasses
import math
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, stdev

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from without_figures import part_files, resume, sweep

import longhaul
from longhaul.analysis.estimates import estimate
from longhaul.analysis.metrics import metrics
from longhaul.errors import LonghaulError
from longhaul.scenario.model.metrics import is_swept
from longhaul.scenario.model.sweep import Until
from longhaul.scenario.sweeps.options import Options
from longhaul.sweeps import sweep as sweeps
from longhaul.sweeps.job import Job, Shard, run_shard
from longhaul.sweeps.local import Threads
from longhaul.sweeps.page import write_sweep_report
from longhaul.sweeps.preparation import prepare
from longhaul.sweeps.summary import more_runs

SCENARIO = """
version: 1
name: pair
seed: 7
duration: 2s
params: {cc: cubic, loss: 0.5%}
nodes: {a: {kind: host}, b: {kind: host}, c: {kind: host}}
links:
  near: {endpoints: [a, b], delay: 1ms, rate: 20Mbit, loss: $loss}
  far: {endpoints: [b, c], delay: 5ms}
traffic:
  bulk: {kind: tcp, from: a, to: b, cc: $cc, flows: 2, stop: 1500ms}
  noise: {kind: udp, from: a, to: b, rate: 4Mbit, arrivals: poisson}
  probe: {kind: ping, from: a, to: b, every: 20ms}
  web: {kind: requests, from: a, to: b, gap: 100ms, size: 20kB}
sweep: {axes: {cc: [cubic, reno], loss: [0%, 1%]}, repeat: 3}
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "pair.yaml"
    path.write_text(SCENARIO)
    return path


def test_every_run_is_that_of_longhaul_sim_with_its_seed(scenario: Path, tmp_path: Path) -> None:
    swept = sweep(scenario, runs=tmp_path / "runs")
    assert swept.exit_code == 0
    rows = pq.read_table(swept.directory / "parts").to_pylist()
    digests = {(row["axis_cc"], row["axis_loss_share"], row["seed"]): row["digest"] for row in rows}
    assert len(digests) == 2 * 2 * 3
    assert {seed for _cc, _loss, seed in digests} == {7, 8, 9}
    alone = longhaul.run_sim(
        scenario, params={"cc": "reno", "loss": "1%"}, seed=8, runs=tmp_path / "runs", report=False
    )
    assert digests["reno", 0.01, 8] == alone.summary["simulation"]["digest"]
    own = {
        row["item"]: row
        for row in rows
        if (row["axis_cc"], row["axis_loss_share"], row["seed"]) == ("reno", 0.01, 8)
    }
    bulk, noise = alone.flow("bulk"), alone.flow("noise")
    assert own["flows.bulk"]["goodput_bits_per_s"] == bulk["goodput_bits_per_s"]
    assert own["flows.bulk"]["retransmits"] == bulk["retransmits"] > 0
    assert own["flows.bulk"]["streams"] == 2
    assert own["flows.noise"]["loss_share"] == noise["loss"] > 0
    web = alone.flow("web")
    assert [own["flows.web"][f"{name}"] for name in ("done", "took_p50_ns", "took_max_ns")] == [
        web["done"],
        web["took_p50_ns"],
        web["took_max_ns"],
    ]
    probe = alone.probe("probe")
    assert own["probes.probe.b"]["rtt_min_ns"] == probe["rtt_min_ns"] >= 2_000_000
    assert own["probes.probe.b"]["rtt_p99_ns"] == probe["rtt_p99_ns"]
    assert own["probes.probe.b"]["loss_share"] == probe["loss"]
    assert own["fairness"]["jain"] == alone.summary["fairness"]["jain"]
    wire = alone.link("near")
    assert own["links.near.forward"]["lost_packets"] == wire["packets"]["lost"] > 0
    assert own["links.near.forward"]["rate_bits_per_s"] == wire["achieved"]["rate_bits_per_s"]


EVERYTHING = """
version: 1
name: everything
duration: 2s
nodes: {r: {kind: router}, s: {kind: router}, a: {kind: host, attach: r}, b: {kind: host, attach: s},
  c: {kind: host, attach: s}}
links: {wide: {endpoints: [r, s], delay: 5ms, rate: 10Mbit, loss: 0.5%, queue: 30p}}
traffic:
  bulk: {kind: tcp, from: a, to: [b, c], flows: 2, bytes: 500kB}
  noise: {kind: udp, from: a, to: b, rate: 2Mbit, arrivals: poisson}
  probe: {kind: ping, from: a, to: b, every: 20ms}
  web: {kind: requests, from: a, to: c, gap: 100ms, size: 20kB}
programs:
  sum: {simulate: {kind: allreduce, bytes: 1kB, repeat: 3}, hosts: [a, b, c]}
events: [{at: 1s, link: wide, set: {rate: 8Mbit}}]
params: {nothing: 1}
sweep: {axes: {seed: [5]}, metrics: "*"}
"""


def test_a_sweep_measures_what_a_simulation_of_the_same_run_measures(tmp_path: Path) -> None:
    path = tmp_path / "everything.yaml"
    path.write_text(EVERYTHING.replace('metrics: "*"', 'metrics: ["*", "links.*"]'))
    swept = {row["metric"]: row["mean"] for row in swept_rows(sweep(path, runs=tmp_path))}
    alone = longhaul.run_sim(path, seed=5, runs=tmp_path, report=False)
    known = {
        name: value
        for name, value in metrics(alone.summary).items()
        if value is not None and is_swept(name, programs=["sum"])
    }
    assert {name: swept.get(name) for name in known} == pytest.approx(known)
    assert swept.keys() == known.keys()
    kinds = {name.partition(".")[0] for name in swept}
    assert kinds == {"flows", "probes", "links", "programs", "fairness", "total", "transfers"}
    assert {"links.a-r.forward.rate", "links.wide.reverse.queueing_delay.p99"} <= swept.keys()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"metrics": ["nonsense.metric"]},
            r'there is no metric "nonsense.metric"; there are: fairness.jain, ',
        ),
        ({"metrics": ["flows.bulk.goodputt"]}, r'did you mean "flows.bulk.goodput"'),
        ({"metrics": ["goodput", "goodputt"]}, r'"goodputt"; did you mean "goodput"\?'),
        ({"metrics": ["links.near.forward.peak_rate"]}, r"is not measured in a sweep; did you mean"),
        ({"metrics": ["flows.web.send_lateness.p99"]}, r"is not measured in a sweep"),
        ({"metrics": ["fidelity.lateness.p99"]}, r"is not measured in a sweep"),
        ({"until": "flows.bulk.godput ±2%"}, r'sweep.until.metric: .*did you mean "flows.bulk.goodput"'),
        ({"until": "peak_rate ±2%"}, r"sweep.until.metric: \"peak_rate\" is not measured in a sweep"),
    ],
)
def test_a_metric_that_a_sweep_does_not_measure_is_refused_with_the_nearest_names(
    scenario: Path, tmp_path: Path, options: dict[str, object], words: str
) -> None:
    with pytest.raises(LonghaulError, match=words):
        sweep(scenario, runs=tmp_path / "runs", **options)
    assert not (tmp_path / "runs").exists()


def test_a_metric_that_some_variants_alone_have_is_no_mistake(scenario: Path, tmp_path: Path) -> None:
    scenario.write_text(SCENARIO.replace("endpoints: [b, c]", "endpoints: [a, c]"))
    axes = {"cc": ["reno"], "loss": ["1%"], "traffic.probe.to": ["b", "c"]}
    swept = sweep(scenario, axes=axes, runs=tmp_path, metrics=["probes.probe.c.rtt.min"], repeat=1)
    assert [row["variant"] for row in swept_rows(swept)] == [1]


def test_a_metric_without_any_value_is_named(tmp_path: Path) -> None:
    path = tmp_path / "calm.yaml"
    path.write_text(
        CALM.replace("cc: $cc}}", "cc: $cc}, web: {kind: requests, from: a, to: b, gap: 9s, size: 9GB}}")
    )
    swept = sweep(path, runs=tmp_path, metrics=["flows.web.took.p50", "flows.bulk.goodput"], repeat=1)
    assert swept.summary["not_measured"] == ["flows.web.took.p50"]


def test_the_summary_has_the_mean_and_interval_that_comparisons_have(scenario: Path, tmp_path: Path) -> None:
    swept = sweep(scenario, runs=tmp_path / "runs", metrics=["flows.bulk.goodput", "jain"])
    rows = pq.read_table(swept.directory / "parts").to_pylist()
    table = pq.read_table(swept.directory / "summary.parquet").to_pylist()
    assert {row["metric"] for row in table} == {"flows.bulk.goodput", "fairness.jain"}
    assert len(table) == 4 * 2
    for row in table:
        if row["metric"] != "flows.bulk.goodput":
            continue
        values = [
            each["goodput_bits_per_s"]
            for each in rows
            if each["item"] == "flows.bulk" and each["variant"] == row["variant"]
        ]
        expected = estimate(values)
        assert row["unit"] == "bit/s"
        assert row["runs"] == expected.runs == 3
        assert row["mean"] == pytest.approx(mean(values), rel=1e-12)
        assert row["half_width"] == pytest.approx(expected.half_width, rel=1e-9)
        assert row["sd"] == pytest.approx(stdev(values), rel=1e-9)
        assert (row["least"], row["most"]) == (min(values), max(values))


def test_equal_sweeps_leave_equal_parts_whatever_the_number_of_threads(
    scenario: Path, tmp_path: Path
) -> None:
    first, second = (sweep(scenario, runs=tmp_path / f"{n}", workers=n) for n in (1, 3))
    again = resume(first.directory)
    assert rows_of(first.directory) == rows_of(second.directory) == rows_of(again.directory)


def rows_of(directory: Path) -> list[dict]:
    """Everything in the parts, whatever their size, which follows from how fast the machine is."""
    rows = pq.read_table(directory / "parts").to_pylist()
    return sorted(rows, key=lambda row: (row["variant"], row["repeat"], row["item"] or ""))


def test_what_is_missing_is_done_again_and_nothing_else(scenario: Path, tmp_path: Path) -> None:
    swept = sweep(scenario, runs=tmp_path, workers=1)
    whole = part_files(swept.directory)
    assert len(whole) > 3
    lost = list(whole)[1::2]
    for name in lost:
        (swept.directory / "parts" / name).unlink()
    kept = {name: (swept.directory / "parts" / name).stat().st_mtime_ns for name in whole if name not in lost}
    again = resume(swept.directory)
    assert again.exit_code == 0
    assert part_files(swept.directory) == whole
    assert {name: (swept.directory / "parts" / name).stat().st_mtime_ns for name in kept} == kept
    assert again.summary["points"] == 12


def test_a_run_that_cannot_be_is_recorded_and_the_others_go_on(scenario: Path, tmp_path: Path) -> None:
    axes = {"traffic.bulk.stop": ["1500ms", "100ms"], "traffic.bulk.start": ["0s", "1s"]}
    text = scenario.read_text().replace("cc: [cubic, reno], loss: [0%, 1%]", "cc: [cubic]")
    scenario.write_text(text)
    swept = sweep(scenario, axes=axes, repeat=2, runs=tmp_path)
    assert swept.exit_code == 1
    assert (swept.summary["points"], swept.summary["failed"]) == (8, 2)
    (error, _second) = swept.summary["errors"]
    assert error["variant"] == 3
    assert "traffic.bulk: stops before it starts; write a stop later than the start" in error["error"]
    good = [row for row in rows_of(swept.directory) if row["item"] == "flows.bulk"]
    assert {row["variant"] for row in good} == {0, 1, 2}


ENDS = {"traffic.bulk.stop": ["1500ms", "100ms"], "traffic.bulk.start": ["0s", "1s"]}
"""Of the four variants of this grid, the last would stop before it starts."""


def test_the_first_run_may_be_one_that_cannot_be(scenario: Path, tmp_path: Path) -> None:
    text = scenario.read_text().replace("cc: [cubic, reno], loss: [0%, 1%]", "cc: [cubic]")
    # With this seed the first of the points that are drawn is the one that cannot be.
    scenario.write_text(text.replace("seed: 7", "seed: 1").replace("axes: {cc: [cubic]}, ", ""))
    swept = sweep(scenario, axes=ENDS, design="random", points=4, repeat=1, runs=tmp_path / "runs")
    assert swept.exit_code == 1
    assert [error["variant"] for error in swept.summary["errors"]] == [0]
    assert (swept.summary["points"], swept.summary["failed"]) == (4, 1)


def test_the_report_counts_those_variants_more_that_the_summary_has(scenario: Path, tmp_path: Path) -> None:
    text = scenario.read_text().replace("axes: {cc: [cubic, reno], loss: [0%, 1%]}, ", "")
    scenario.write_text(text)
    swept = longhaul.sweep(scenario, axes=ENDS, repeat=1, runs=tmp_path / "runs")
    report = swept.directory / "report.html"
    assert "more in summary.parquet" not in report.read_text(), "one failed, and three are shown"
    table = pq.read_table(swept.directory / "summary.parquet")
    rows_each = table.num_rows // 3
    copies = [table.set_column(0, "variant", pc.add(table["variant"], 4 * copy)) for copy in range(2000)]
    pq.write_table(pa.concat_tables(copies), swept.directory / "summary.parquet")
    write_sweep_report(swept.directory)
    shown = min(400, (5000 - 1) // rows_each)
    assert f"{3 * 2000 - shown:,} variants more in summary.parquet" in report.read_text()


def test_two_axes_do_not_share_a_column(scenario: Path, tmp_path: Path) -> None:
    text = scenario.read_text()
    scenario.write_text(text.replace("loss: 0.5%}", "loss: 0.5%, links_near_delay: 1ms}"))
    axes = {"links.near.delay": ["1ms", "2ms"], "links_near_delay": ["3ms"]}
    with pytest.raises(LonghaulError, match="would have one column, axis_links_near_delay_ns; rename"):
        sweep(scenario, axes=axes, runs=tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("cluster", "words"),
    [
        ({"jobs": 2}, "cluster does not say which kind of cluster it is; write for example"),
        ({"kind": "slurn"}, "cluster does not say which kind"),
        ({"kind": "slurm", "jobs": "many"}, "cluster: jobs: many is not a number of workers"),
    ],
)
def test_a_wrong_description_of_a_cluster_is_told_what_to_write(
    scenario: Path, tmp_path: Path, cluster: dict[str, object], words: str
) -> None:
    with pytest.raises(LonghaulError, match=words):
        sweep(scenario, cluster=cluster, runs=tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_seeds_are_added_until_the_interval_is_narrow(scenario: Path, tmp_path: Path) -> None:
    swept = sweep(
        scenario, repeat=3, until="flows.bulk.goodput ±0.5%, at most 12", runs=tmp_path, metrics=["goodput"]
    )
    table = [
        row
        for row in pq.read_table(swept.directory / "summary.parquet").to_pylist()
        if row["metric"] == "flows.bulk.goodput"
    ]
    assert len(table) == 4
    assert {row["runs"] for row in table} != {3}, "the rule never asked for more"
    for row in table:
        assert row["half_width"] <= 0.005 * row["mean"] or row["runs"] == 12
    # Every repetition is there once, whichever round it belonged to.
    for row in table:
        repeats = [
            each["repeat"]
            for each in rows_of(swept.directory)
            if each["item"] == "flows.bulk" and each["variant"] == row["variant"]
        ]
        assert repeats == list(range(row["runs"]))
    whole = part_files(swept.directory)
    for name in list(whole)[-2:]:
        (swept.directory / "parts" / name).unlink()
    resume(swept.directory)
    assert part_files(swept.directory) == whole


def test_a_round_adds_what_the_square_root_law_says(scenario: Path, tmp_path: Path) -> None:
    swept = sweep(scenario, repeat=6, runs=tmp_path)
    files = sorted((swept.directory / "parts").iterdir())
    table = swept.table()
    rows = [
        (variant, m, h)
        for variant, metric, m, h in zip(
            table["variant"], table["metric"], table["mean"], table["half_width"], strict=True
        )
        if metric == "flows.bulk.goodput"
    ]
    within = sorted(h / m for _variant, m, h in rows)[2] / 1.2
    until = Until.model_validate({"metric": "flows.bulk.goodput", "within": f"{within * 100:.9f}%"})
    added = more_runs(until, files, dict.fromkeys(range(4), 6))
    for variant, m, h in rows:
        ratio = h / m / within
        if ratio <= 1:
            assert variant not in added
        else:
            assert added[variant] == (6, min(12, math.ceil(6 * min(ratio, 2) ** 2)) - 6)
    assert added


CALM = """
version: 1
name: calm
duration: 1s
params: {cc: reno}
nodes: {a: {kind: host}, b: {kind: host}}
links: {wire: {endpoints: [a, b], delay: 5ms, rate: 20Mbit, queue: 1bdp}}
traffic: {bulk: {kind: tcp, from: a, to: b, cc: $cc}}
sweep: {axes: {cc: [reno, cubic]}, repeat: 5}
"""


def test_repetitions_that_are_all_equal_are_one_run_and_are_not_repeated(tmp_path: Path) -> None:
    path = tmp_path / "calm.yaml"
    path.write_text(CALM)
    swept = sweep(path, until="goodput ±1%, at most 40", runs=tmp_path, metrics=["goodput"])
    assert swept.summary["points"] == 2 * 5, "more seeds would be the same runs again"
    assert len(swept_rows(swept)) == 2
    for row in swept_rows(swept):
        assert (row["runs"], row["repeats"], row["half_width"]) == (1, 5, None)
    write_sweep_report(swept.directory)
    assert "deterministic, n = 1" in (swept.directory / "report.html").read_text()


def swept_rows(swept: sweeps.Swept) -> list[dict]:
    return pq.read_table(swept.directory / "summary.parquet").to_pylist()


def test_independent_seeds_differ_between_variants(scenario: Path, tmp_path: Path) -> None:
    swept = sweep(scenario, seeds="independent", runs=tmp_path)
    seeds = {(row["variant"], row["repeat"]): row["seed"] for row in rows_of(swept.directory)}
    assert len(set(seeds.values())) == 12


class Dying(Threads):
    """Threads that lose a shard."""

    def run(self, job: Job, shards: Iterator[Shard]) -> Iterator[tuple[Shard, bytes | Exception]]:
        for shard, part in super().run(job, shards):
            yield shard, MemoryError("no memory left") if shard.number == 1 else part


def test_a_shard_that_no_worker_can_do_is_left_for_resuming(scenario: Path, tmp_path: Path) -> None:
    options = Options()
    prepared = prepare(scenario, settings={}, options=options)
    folder = sweeps.begin(prepared, runs=tmp_path, argv=[])
    swept = sweeps.execute(folder, prepared, Dying(2))
    assert swept.exit_code == 1
    assert swept.summary["status"] == "incomplete"
    assert not any(name.startswith("00-000001") for name in part_files(swept.directory))
    again = resume(swept.directory)
    assert (again.exit_code, again.summary["points"]) == (0, 12)


def test_shares_do_a_sweep_together(scenario: Path, tmp_path: Path) -> None:
    prepared = prepare(scenario, settings={}, options=Options())
    folder = sweeps.begin(prepared, runs=tmp_path, argv=[])
    for number in range(3):
        swept = sweeps.execute(folder, prepared, Threads(1), share=sweeps.Share(number, 3))
        assert swept.exit_code == 0
    before = part_files(folder.path)
    again = resume(folder.path)
    assert again.summary["points"] == 12
    assert part_files(folder.path) == before
    with pytest.raises(LonghaulError, match="not a share of a sweep"):
        sweeps.share_of("3/3")


def test_a_worker_of_another_version_refuses(scenario: Path, tmp_path: Path) -> None:
    prepared = prepare(scenario, settings={}, options=Options())
    shard = next(prepared.shards(0, None, size=1))
    with pytest.raises(LonghaulError, match=r"the sweep began with 0\.0\.9"):
        run_shard(dataclasses.replace(prepared.job, version="0.0.9"), shard)


def test_files_that_variants_name_travel_with_the_sweep(scenario: Path, tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    for name, rate in (("slow", 5), ("fast", 10)):
        (tmp_path / f"traces/{name}.csv").write_text(f"t_s,rate_mbit\n0,{rate}\n1,{rate}\n")
    axes = {"links.near.rate": [{"trace": f"traces/{name}.csv"} for name in ("slow", "fast")]}
    text = scenario.read_text().replace("cc: [cubic, reno], loss: [0%, 1%]", "cc: [cubic]")
    scenario.write_text(text)
    swept = sweep(scenario, axes=axes, runs=tmp_path, metrics=["links.near.forward.rate"])
    rates = swept.table()["mean"]
    # A packet whose transmission begins at the very end counts whole, over a run of 2 s.
    packet = 8 * 1500 / 2
    assert 4.5e6 < rates[0] <= 5e6 + packet
    assert 5.5e6 < rates[1] <= 10e6 + packet
    whole = part_files(swept.directory)
    for path in (tmp_path / "traces").iterdir():
        path.unlink()
    scenario.unlink()
    (swept.directory / "parts" / next(iter(whole))).unlink()
    resume(swept.directory)
    assert part_files(swept.directory) == whole
