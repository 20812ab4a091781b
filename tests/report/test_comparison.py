"""A comparison as a report: the question, the answer, the figures, the conditions, how to run it again."""

import csv
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import longhaul
from longhaul import processes
from longhaul.analysis.comparison import compare
from longhaul.analysis.estimates import estimate
from longhaul.cli.main import longhaul as command
from longhaul.errors import LonghaulError
from longhaul.report.comparison import difference_text, estimate_text
from longhaul.report.comparison_page import draw
from longhaul.report.comparison_runs import MOST, sides
from longhaul.results.comparison import compare_groups, find, find_all
from longhaul.scenario.model.metrics import DEFAULT_METRICS

Runs = Callable[[Path, Path], tuple[object, ...]]
PAIR = """
version: 1
name: pair
duration: 2s
params: {rate: 20Mbit}
nodes: {r: {kind: router}, s: {kind: router}, a: {kind: host, attach: r}, b: {kind: host, attach: s}}
links: {wan: {endpoints: [r, s], delay: 10ms, rate: 10Mbit, loss: 1%}}
traffic:
  noise: {kind: udp, from: a, to: b, rate: $rate, arrivals: poisson}
  probe: {kind: ping, from: a, to: b, every: 20ms}
"""


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("comparison")
    (place / "pair.yaml").write_text(PAIR)
    for runs, rate in (("fast", "20Mbit"), ("slow", "5Mbit")):
        for seed in (1, 2, 3):
            longhaul.run_sim(
                place / "pair.yaml", params={"rate": rate}, seed=seed, runs=place / runs, report=False
            )
    return place


def report(*arguments: object) -> Result:
    return CliRunner().invoke(command, ["report", "--compare", *map(str, arguments)])


def refusal(*arguments: object) -> str:
    """What the command line prints of it."""
    result = CliRunner().invoke(command, ["report", *map(str, arguments)])
    assert isinstance(result.exception, LonghaulError), result.output
    assert result.exception.exit_code == 2
    return str(result.exception)


def as_json(*runs: object) -> str:
    return CliRunner().invoke(command, ["compare", "--json", *map(str, runs)]).output


def page(work: Path, *runs: object) -> str:
    output = work / "out.html"
    result = report(*runs, "--output", output)
    assert result.exit_code == 0, result.output
    assert result.output == f"{output}\n"
    return output.read_text()


def text(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", re.sub(r"<(svg|style).*?</\1>", "", html, flags=re.S)))


def test_it_shows_differences_and_results(work: Path) -> None:
    html = page(work, work / "fast/pair", work / "slow/pair")
    words = text(html)
    assert "traffic noise rate 20 Mbit/s 5 Mbit/s" in words
    assert "Everything else about network, traffic and programs is the same" in words
    # 10 of 20 Mbit/s do not fit; of 5 all do, but for 1 % of 2,600 datagrams and what the end cut off.
    (loss,) = re.findall(r"<tr><td>flows.noise.loss</td>.*?</tr>", html)
    assert "differs" in loss
    first, last = (float(each) for each in re.findall(r'"n">([\d.]+) %', loss))
    assert 48 < first < 54
    assert 0.3 < last < 3.5
    assert not re.findall(r'(?:src|href)="(?!#)', html.replace("xlink:", "")), "it needs another file"
    assert len(html) < 1_000_000


def test_equal_scenarios_have_no_configuration_differences(work: Path) -> None:
    one, two, three = sorted(each for each in (work / "slow/pair").glob("2*"))
    words = text(page(work, one, two, three))
    assert "Nothing: network, traffic and programs are the same." in words
    assert "single runs cannot show statistical significance" in words
    assert "A side with a single run has no interval" in words
    assert "C - A" in words


def test_what_is_shown_is_at_most_a_dozen_and_the_rest_is_not_lost(work: Path) -> None:
    found = [(name, sorted((work / name / "pair").glob("2*"))) for name in ("fast", "slow")]
    context = draw(sides(found), first=DEFAULT_METRICS)
    shown = [line["metric"] for line in context["shown"]]
    rest = [line["metric"] for line in context["rest"]]
    assert 0 < len(shown) <= 12
    everything = {name for _, runs in found for run in sides([("", runs)])[0].runs for name in run.metrics}
    partial = {name for name, _ in context["partial"]}
    assert not set(shown) & set(rest)
    assert set(shown) | set(rest) | partial <= everything
    measured = {row.metric for row in compare([[run.metrics for run in side.runs] for side in sides(found)])}
    assert set(shown) | set(rest) == measured


def test_what_flows_and_pings_met_comes_before_what_links_did(work: Path) -> None:
    found = [(name, sorted((work / name / "pair").glob("2*"))[:1]) for name in ("fast", "slow")]
    context = draw(sides(found), first=DEFAULT_METRICS)
    moved = [line["metric"] for line in context["shown"] if line["differences"][0][0] != "0"]
    kinds = [name.partition(".")[0] for name in moved]
    assert {"flows", "links"} <= set(kinds)
    assert "flows" not in kinds[kinds.index("links") :], moved


def test_a_run_that_is_not_faithful_is_red(work: Path, tmp_path: Path) -> None:
    run = min((work / "slow/pair").glob("2*"))
    spoilt = tmp_path / "spoilt"
    shutil.copytree(run, spoilt)
    summary = json.loads((spoilt / "summary.json").read_text())
    summary["fidelity"] |= {
        "verdict": "invalid",
        "reasons": [{"verdict": "invalid", "what": "the moon was full", "remedy": ""}],
    }
    (spoilt / "summary.json").write_text(json.dumps(summary))
    (spoilt / "manifest.json").unlink()
    html = page(work, run, spoilt)
    assert "--edge: var(--bad)" in html
    assert '<span class="bad">invalid</span>' in html
    assert f"B: {spoilt} is invalid: the moon was full" in text(html)
    assert "--edge: var(--bad)" not in page(work, run, work / "fast/pair")


def test_runs_of_several_scenarios_are_not_repetitions(work: Path, tmp_path: Path) -> None:
    for number, name in enumerate(("fast", "slow")):
        run = min((work / name / "pair").glob("2*"))
        shutil.copytree(run, tmp_path / "mixed" / f"2{number}")
    with pytest.raises(LonghaulError, match=r"not repetitions of one another: .*rate="):
        compare_groups([find(tmp_path / "mixed"), find(max((work / "fast/pair").glob("2*")))], [])
    with pytest.raises(LonghaulError, match=r'no metric "nonsense\.metric"; there are') as refused:
        compare_groups(find_all([tmp_path / "mixed"]), ["nonsense.metric"])
    assert refused.value.exit_code == 2
    (fast, slow) = find_all([tmp_path / "mixed"])
    assert "rate=" in fast.name
    assert len(fast.runs) == len(slow.runs) == 1


def test_a_simulation_made_twice_is_no_repetition(work: Path, tmp_path: Path) -> None:
    one, two, three = sorted((work / "slow/pair").glob("2*"))
    for name in ("20", "21"):
        shutil.copytree(one, tmp_path / "twice" / name)
    words = text(page(work, tmp_path / "twice", two.parent))
    assert "A has 1 simulation that is another one of it, made again with its seed" in words
    assert "A side with a single run has no interval" in words
    assert "twice, simulated, 1 run " in words
    printed = CliRunner().invoke(command, ["compare", str(tmp_path / "twice"), str(two), str(three)])
    assert f"A {tmp_path / 'twice'}, but for 1 copies (1 run)" in " ".join(printed.output.split())
    groups = json.loads(as_json(tmp_path / "twice", work / "slow/pair"))["groups"]
    assert [each["runs"] for each in groups] == [1, 3]


def test_single_runs_are_told_apart_by_what_differs(work: Path) -> None:
    fast, slow = (min((work / side / "pair").glob("2*")) for side in ("fast", "slow"))
    printed = CliRunner().invoke(command, ["compare", str(fast), str(slow)]).output.splitlines()
    rates = [str(find(each).runs[0]) for each in (fast, slow)]
    assert [line.split("  ")[0] for line in printed[:2]] == ["A", "B"]
    assert [line.split("  ")[1].split("=")[0] for line in printed[:2]] == ["rate", "rate"]
    assert [line.split("  ")[2] for line in printed[:2]] == [f"{each} (1 run)" for each in rates]
    groups = json.loads(as_json(fast, slow))["groups"]
    assert [each["differs"] for each in groups] == [line.split("  ")[1] for line in printed[:2]]


def test_ten_runs_are_compared_everywhere(work: Path, tmp_path: Path) -> None:
    (one, *_) = sorted((work / "slow/pair").glob("2*"))
    runs = [shutil.copytree(one, tmp_path / str(number)) for number in range(10)]
    assert "J: " in longhaul.compare(*runs)._repr_html_()
    assert "J " in text(page(work, *runs))


def test_a_metric_of_some_runs_alone_is_not_compared_and_says_whose_it_is(work: Path, tmp_path: Path) -> None:
    shutil.copytree(work / "slow/pair", tmp_path / "slow", symlinks=True)
    changed = min((tmp_path / "slow").glob("2*")) / "summary.json"
    summary = json.loads(changed.read_text())
    summary["probes"][0]["rtt_p99_ns"] = None
    changed.write_text(json.dumps(summary))
    changed.with_name("manifest.json").unlink()
    html = page(work, tmp_path / "slow", work / "fast/pair")
    assert "<td>probes.probe.b.rtt.p99</td><td>A (2 of 3 runs), B</td>" in html


def test_the_answer_says_how_many_metrics_differ_by_chance(work: Path) -> None:
    words = text(page(work, work / "fast/pair", work / "slow/pair"))
    certain, count, chance = map(
        int,
        re.findall(r"(\d+) of (\d+) metrics of B differ .* about (\d+) of them would by chance alone", words)[
            0
        ],
    )
    assert 0 < certain <= count
    assert 0.05 * count <= chance <= 0.05 * count + 1
    # Seeds 1, 2 and 3 on both sides.
    assert "Sides have seeds in common" in words


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        (lambda one, two: ([one, one], two), "is twice in"),
        (lambda one, _: ([one], one), "would be compared with itself"),
        (lambda one, _: ([], one), "a list of runs is empty"),
        (lambda one, two: (one, two.parent.parent), "is not a run directory, and has none in it"),
        (lambda one, _: (one,), "there is nothing to compare with"),
    ],
)
def test_a_notebook_is_told_what_cannot_be_compared(work: Path, runs: Runs, said: str) -> None:
    one, two, _ = sorted((work / "slow/pair").glob("2*"))
    with pytest.raises(LonghaulError, match=said):
        longhaul.compare(*runs(one, two))


def test_figures_are_files_too_with_every_run(work: Path) -> None:
    output = work / "files.html"
    result = report(
        work / "fast/pair", work / "slow/pair", "--output", output, "--format", "csv", "--format", "svg"
    )
    assert result.exit_code == 0, result.output
    place = work / "files-figures"
    assert {path.name for path in place.iterdir()} == {
        f"{name}.{kind}" for name in ("metrics", "over-time", "distributions") for kind in ("csv", "svg")
    }
    with (place / "metrics.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["panel"] == "flows.noise.goodput"]
    runs = [float(row["x"]) for row in rows if row["series"] == "B, runs"]
    assert len(runs) == 3
    # Some 860 datagrams each, by Poisson: a standard deviation of 3.4 %.
    assert all(4.3 < rate < 5.6 for rate in runs), runs
    (mean,) = [row for row in rows if row["series"] == "B, mean"]
    assert float(mean["x_lower"]) < min(runs) <= float(mean["x"]) <= max(runs) < float(mean["x_upper"])


@pytest.mark.parametrize("given", ["sweep", "one", "itself", "running", "relay", "many"])
def test_what_cannot_be_compared_is_refused(work: Path, tmp_path: Path, given: str) -> None:
    run, other, _ = sorted((work / "slow/pair").glob("2*"))
    odd = tmp_path / "odd"
    odd.mkdir()
    if given == "sweep":
        (odd / "sweep.json").write_text("{}")
    if given == "running":
        shutil.copy(run / "plan.json", odd)
        ours = {"client": processes.identify()}
        (odd / "run.json").write_text(json.dumps({"status": "running", "processes": ours}))
    if given == "relay":
        (odd / "plan.json").write_text('{"clusters": []}')
        (odd / "run.json").write_text('{"status": "stopped"}')
    arguments, said, remedy = {
        "sweep": ((run, odd), f"{odd} is a sweep", "longhaul report of it"),
        "one": ((run,), "there is nothing to compare with", "name two runs"),
        "itself": ((run.parent, run), "would be compared with itself", "name each run once"),
        "running": ((run, odd), "has not ended", "wait for its end"),
        "relay": ((run, odd), "is that of a relay", "summary.json"),
        "many": ([run] + [tmp_path / str(number) for number in range(MOST)], "too many", "compare fewer"),
    }[given]
    for number, path in enumerate(arguments[1:] if given == "many" else ()):
        shutil.copytree(other, path)
        assert number < MOST
    refused = refusal("--compare", *arguments, "--output", tmp_path / "x.html")
    assert said in refused
    assert remedy in refused
    assert not (tmp_path / "x.html").exists()
    if given in ("running", "relay"):
        for sides in (arguments, arguments[::-1]):
            compared = CliRunner().invoke(command, ["compare", *map(str, sides)])
            assert isinstance(compared.exception, LonghaulError), compared.output
            assert said in str(compared.exception)


def test_one_report_needs_one_directory(work: Path) -> None:
    run, other, _ = sorted((work / "slow/pair").glob("2*"))
    for arguments in ([run, other], [run, "--output", "x.html"]):
        assert "compare several runs with --compare" in refusal(*arguments)


def test_a_place_that_cannot_be_written_is_named(work: Path) -> None:
    run, other, _ = sorted((work / "slow/pair").glob("2*"))
    refused = refusal("--compare", run, other, "--output", work / "nowhere/x.html")
    assert "nowhere/x.html: no such file" in refused


def test_numbers_read_well() -> None:
    assert estimate_text(estimate([9.0e7, 9.4e7]), "bit/s") == "92 Mbit/s ±28%"
    cases = {
        (0.0, 480.0): "+480 ns",
        (100.0, 99.95): "-0.05%",
        (1.0, 2031.0): "+2030x",
        (10.0, 10.0): "0",
    }
    for (before, after), said in cases.items():
        (row,) = compare([[{"probes.p.b.rtt.min": before}], [{"probes.p.b.rtt.min": after}]])
        assert difference_text(row) == said


def test_every_side_with_a_curve_is_in_the_legend(tmp_path: Path) -> None:
    pings = "".join(f"  p{number}: {{kind: ping, from: a, to: b, every: 100ms}}\n" for number in range(8))
    directories = []
    for name, more in (("one", "  own: {kind: ping, from: b, to: a, every: 50ms}\n"), ("two", pings)):
        path = tmp_path / f"{name}.yaml"
        path.write_text(PAIR.replace("name: pair", f"name: {name}") + more)
        directories.append(longhaul.run_sim(path, runs=tmp_path / "runs", report=False).directory)
    three = shutil.copytree(directories[1], tmp_path / "three")
    summary = json.loads((three / "summary.json").read_text())
    (three / "summary.json").write_text(json.dumps({**summary, "name": "three"}))
    (three / "manifest.json").unlink()
    (drawn,) = longhaul.compare(directories[0], directories[1], three).charts("distributions").charts
    shown = {each["name"][0] for row in drawn["rows"] for panel in row for each in panel["series"]}
    assert shown == set("ABC")
    # The probe that all have, and eight pings of two sides.
    assert drawn["note"] == "The first 6 of 9 that several sides have"
    # Two columns for six panels on paper, too.
    assert (
        "The first 6 of 9"
        in longhaul.compare(directories[0], directories[1], three).figure("distributions").svg
    )


def test_a_comparison_needs_neither_matplotlib_nor_the_checker_of_scenarios(work: Path) -> None:
    code = (
        "import sys; from longhaul.cli.main import main\n"
        f"sys.argv = ['longhaul', 'report', '--compare', {str(work / 'fast/pair')!r}, "
        f"{str(work / 'slow/pair')!r}, '--output', {str(work / 'lean.html')!r}]\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code\n"
        "print([each for each in ('matplotlib', 'longhaul.scenario.check.load') if each in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert said.stdout.splitlines()[-1] == "[]"


def test_sides_are_told_apart_by_what_differs(work: Path) -> None:
    fast, slow = work / "fast/pair", work / "slow/pair"
    words = text(page(work, fast, slow))
    compared = longhaul.compare(fast, slow)
    for side, rate in zip(compared.sides, ("20 Mbit/s", "5 Mbit/s"), strict=True):
        assert side.differs == f"rate={rate}"
        assert f"3 runs: rate={rate}" in words
        assert f"{side.letter}: rate={rate} (" in compared._repr_html_()
        assert f'"{side.letter} rate={rate}"' in json.dumps(compared.charts().charts)
    one, other = sorted(fast.glob("2*"))[:2]
    assert all(side.differs.startswith("seed=") for side in longhaul.compare(one, other).sides)
