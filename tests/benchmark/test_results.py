"""From runs to results, on made-up runs whose answers are known."""

import csv

import pytest
from embedded import embedded_charts, loads_matplotlib, panels

from longhaul.benchmark.cc.case import Case
from longhaul.benchmark.cc.cases import SCENARIOS
from longhaul.benchmark.cc.measures import OF_KIND
from longhaul.benchmark.cc.suite import CC
from longhaul.benchmark.results import evaluate
from longhaul.benchmark.rows import disagreements, scorecard, tables
from longhaul.benchmark.suite import Measured, Size
from longhaul.benchmark.trials import Outcome, Trial
from longhaul.benchmark.writing import as_plain, write
from longhaul.cli.figures import write_files
from longhaul.cli.terminal.benchmark import print_benchmark

SMALL = Size(100_000_000, False)
HEAD = {
    "controls": ["reno", "bbr"], "modes": ["sim", "live"], "not_live": [], "not_simulated": [],
    "live_runs": 2, "simulated_runs": 2, "seed": 1, "live_at_once": 1, "live_tries": 3,
    "started": "2026-01-01T00:00:00+00:00",
    "took_s": 60.0, "interrupted": False, "version": "0",
    "host": {"cpus": 2, "cpu_model": "a processor", "kernel": "6"},
}  # fmt: skip


def case(name) -> Case:
    (scenario,) = [each for each in SCENARIOS if each.name == name]
    return scenario.cases(SMALL)[0]


def outcome(
    of,
    control,
    mode,
    repeat,
    values=None,
    *,
    standard=None,
    camps=(0.0, 0.0),
    stopped=0.0,
    series=None,
    digest=None,
):
    measured = Measured(
        {name: (values or {}).get(name) for name in OF_KIND[of.kind]},
        dict(zip(("tested", "standard"), camps, strict=True)),
        series or {},
        "faithful",
        stopped,
        digest,
    )
    return Outcome(Trial(of, control, standard, mode, repeat, 1 + repeat), measured)


def found(results, control, mode, measure):
    return next(
        each
        for each in results.results
        if (each.subject, each.mode, each.measure) == (control, mode, measure)
    )


def test_gain_and_harm_are_shares_of_what_equals_have():
    impact = case("impact")
    runs = [
        outcome(impact, "bbr", "sim", repeat, standard="reno", camps=mixed)
        for repeat, mixed in enumerate([(8e6, 2e6), (6e6, 4e6)])
    ]
    runs += [outcome(impact, "reno", "sim", repeat, standard="reno", camps=(5e6, 5e6)) for repeat in (0, 1)]
    results = evaluate(CC, [impact], ["reno", "bbr"], runs)
    assert found(results, "bbr", "sim", "gain").values == pytest.approx((1.6, 1.2))
    assert found(results, "bbr", "sim", "harm").values == pytest.approx((0.4, 0.8))
    assert found(results, "bbr", "sim", "harm").estimate.mean == pytest.approx(0.6)
    assert found(results, "reno", "sim", "harm").values == (1, 1)


def test_equal_simulations_are_one_run_without_an_interval():
    basic = case("data-centre")
    runs = [outcome(basic, "reno", "sim", repeat, {"utilisation": 0.9}, digest="same") for repeat in range(5)]
    runs += [
        outcome(basic, "bbr", "sim", repeat, {"utilisation": 0.9 + 0.01 * repeat}, digest=f"{repeat}")
        for repeat in range(5)
    ]
    results = evaluate(CC, [basic], ["reno", "bbr"], runs)
    reno = found(results, "reno", "sim", "utilisation").estimate
    assert (reno.half_width, reno.runs, reno.repeats) == (None, 1, 5)
    bbr = found(results, "bbr", "sim", "utilisation").estimate
    assert (bbr.runs, bbr.half_width is None) == (5, False)


def test_a_time_that_was_not_over_counts_with_all_there_was_and_is_known_as_open():
    ramp_up = case("ramp-up")
    runs = [outcome(ramp_up, "bbr", "sim", 0, {"convergence": 5.0}), outcome(ramp_up, "bbr", "sim", 1)]
    result = found(evaluate(CC, [ramp_up], ["bbr"], runs), "bbr", "sim", "convergence")
    assert result.values == (5.0, ramp_up.to_s - ramp_up.event_s) == (5.0, 22.0)
    assert (result.open_runs, result.estimate.mean) == (1, 13.5)


@pytest.fixture
def both():
    """Reno alike live and simulated; BBR's loss not, nor its Jain's index, which scatters."""
    access = case("access")
    common = {"utilisation": 1.0, "goodput": 9e7, "queue_mean": 0.05, "queue_p99": 0.1, "oscillation": 0.01}
    runs = []
    for mode, loss, indices in (("live", 0.10, (0.5, 0.9)), ("sim", 0.05, (0.4, 0.7))):
        for repeat in (0, 1):
            bbr = {**common, "loss": loss + 0.001 * repeat, "jain": indices[repeat]}
            runs.append(outcome(access, "bbr", mode, repeat, bbr, stopped=0.2 if mode == "live" else 0.0))
            runs.append(outcome(access, "reno", mode, repeat, {**common, "loss": 0.01, "jain": 0.8}))
    failed = Outcome(Trial(access, "bbr", None, "live", 2, 3), None, "it failed")
    return access, evaluate(CC, [access], ["reno", "bbr"], [*runs, failed])


def test_what_disagrees_is_marked_everywhere(both, tmp_path, capsys):
    access, results = both
    plain = as_plain(CC, results, [access], HEAD)
    assert (plain["disagreements"], plain["certain_disagreements"], plain["disturbed"]) == (2, 1, 2)
    assert plain["errors"] == ["access, bbr, live, run 3: it failed"]
    marks = [(each["measure"], each["mark"]) for each in disagreements(plain)]
    assert marks == [("loss", "certain"), ("jain", "unsure")]
    write(CC, tmp_path, plain)
    with (tmp_path / "results.csv").open() as file:
        rows = {(row["control"], row["mode"], row["measure"]): row for row in csv.DictReader(file)}
    row = rows["bbr", "sim", "loss"]
    assert (float(row["mean"]), row["disagrees"], row["certain"]) == (pytest.approx(0.0505), "True", "True")
    assert float(row["sim_against_live"]) == pytest.approx(0.0505 / 0.1005 - 1)
    assert rows["reno", "sim", "loss"]["disagrees"] == "False"
    print_benchmark(CC, plain)
    said = capsys.readouterr().out
    assert "14 measures compared, 2 differ" in said
    assert "! access, bbr, lost: live 10.1 %, simulated 5.05 % (-50 %)" in said
    assert "2 of 4 live runs were disturbed" in said
    assert not loads_matplotlib(
        "from longhaul.benchmark.page import write_benchmark_report\n"
        f"write_benchmark_report(Path({str(tmp_path)!r}))"
    )
    page = (tmp_path / "report.html").read_text()
    found = "by more than 15 % in 2 of 14 measures, in 1 with statistical significance"
    assert f"disagree</strong> {found}" in page
    assert page.count('class="n certain"') == 1 + 1
    charts = embedded_charts(tmp_path)
    assert list(charts) == ["agreement", "effect"]
    (panel,) = panels(charts["effect"])
    names = {f"{control}, {mode}" for control in ("reno", "bbr") for mode in ("live", "simulated")}
    assert {each["name"] for each in panel["series"]} == names
    # Filled for live, hollow for simulated.
    assert {each["kind"] for each in panel["series"] if each["name"].endswith("live")} == {"discs"}
    assert [each["name"] for each in charts["effect"]["key"]] == ["reno", "bbr", "live", "simulated"]


def test_a_benchmark_has_its_figures_and_tables_in_files(both, tmp_path):
    access, results = both
    write(CC, tmp_path, as_plain(CC, results, [access], HEAD))
    (tmp_path / "benchmark.json").write_text("{}")
    paths = write_files(tmp_path, ["csv"])
    assert [path.name for path in paths] == ["agreement.csv", "effect.csv"]
    assert "reno, live" in paths[1].read_text()
    lines = write_files(tmp_path, ["md"])[0].read_text().splitlines()
    assert lines[0] == "# reno, bbr"
    assert "| packets lost | access | live | 1 % | 10.1 % |" in lines
    assert "| packets lost | access | simulated | 1 % | 5.05 % |" in lines
    assert any(line.startswith("| bbr | simulated |") for line in lines)


def test_the_scorecard_has_a_line_for_what_was_measured_and_no_other(both):
    access, results = both
    plain = as_plain(CC, results, [access], HEAD)
    lines = {line.title: line for line in scorecard(CC.scorecard, plain)}
    assert list(lines) == ["link used", "packets lost", "queueing delay"]
    assert lines["queueing delay"].cells["reno", "live"].text == "50 ms"
    assert lines["link used"].place == "access"
    twice = [*plain["results"], *({**each, "scenario": "satellite"} for each in plain["results"])]
    assert scorecard(CC.scorecard, {**plain, "results": twice})[0].place == "mean of 2 links"
    (table,) = tables(plain, "access")
    assert [row[:2] for row in table.rows] == [
        ("reno", "live"), ("reno", "simulated"), ("bbr", "live"), ("bbr", "simulated"),
    ]  # fmt: skip
    # Half of a 95 % interval of two runs: t(1) sqrt(0.0005^2 * 2 / 2) = 12.706 * 0.0005 = 0.64 %.
    assert table.rows[3][2][2].text == "5.05 % ±0.6"
