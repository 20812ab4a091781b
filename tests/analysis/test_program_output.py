"""Metrics from the output of programs: patterns and JSON, and the scenario that asks for them."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from longhaul.results.program_output import measure
from longhaul.scenario import ScenarioError, parse_scenario, resolve
from longhaul.sweeps.summary import summarise

OUTPUT = """\
step 1 residual = 0.5, rate 10 MB/s
step 2 residual = 2.5e-1, rate 30 MB/s
{"perf": {"gflops": 12.5}, "ok": true}
step x residual = nan
{"perf": {"gflops": 13.5}}
{broken json
"""


def wanted(pattern: str | None = None, *, json: str | None = None, take: str = "last") -> dict[str, Any]:
    return {"pattern": pattern, "json": json, "unit": "u", "take": take}


@pytest.mark.parametrize(
    ("asked", "value", "count"),
    [
        (wanted("residual = (\\S+?)(?:,|$)"), 0.25, 2),
        (wanted("residual = (\\S+?)(?:,|$)", take="first"), 0.5, 2),
        (wanted("step (?P<value>[0-9]+) (.*)", take="max"), 2.0, 2),
        (wanted("step (?P<m>[0-9]+) (.*)", take="sum"), 3.0, 2),
        (wanted("rate ([0-9]+)", take="mean"), 20.0, 2),
        (wanted("rate ([0-9]+)", take="min"), 10.0, 2),
        (wanted(json="perf.gflops"), 13.5, 2),
        (wanted(json="ok"), None, 0),
        (wanted(json="perf.absent"), None, 0),
        (wanted("nothing ([0-9]+)"), None, 0),
    ],
)
def test_a_metric_is_found_in_the_lines_that_a_program_prints(
    asked: dict[str, Any], value: float | None, count: int, tmp_path: Path
) -> None:
    log = tmp_path / "solver.out"
    log.write_text(OUTPUT)
    assert measure(log, {"m": asked}) == {"m": {"value": value, "unit": "u", "values": count}}


def test_a_program_without_output_has_no_values(tmp_path: Path) -> None:
    assert measure(tmp_path / "absent.out", {"m": wanted("([0-9]+)")})["m"]["value"] is None


def test_bytes_that_are_not_text_and_long_lines_do_not_stop_the_measurement(tmp_path: Path) -> None:
    log = tmp_path / "solver.out"
    log.write_bytes(b"\xff\xfe\n" + b"x" * (1 << 21) + b" value 1\nvalue 2\n")
    assert measure(log, {"m": wanted("value ([0-9]+)")})["m"] == {"value": 2.0, "unit": "u", "values": 1}


SCENARIO = """\
version: 1
name: t
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 5ms}}
programs: {one: {EACH, run: ./one, metrics: {speed: 'speed (.*)'}}}
expect: [{metric: METRIC, min: BOUND}]
"""


def scenario(each: str, metric: str, bound: str) -> Any:
    text = SCENARIO.replace("EACH", each).replace("METRIC", metric).replace("BOUND", bound)
    return parse_scenario(text.encode(), name="t.yaml")


def test_expectations_name_metrics_of_every_copy() -> None:
    found = scenario("each: [a, b]", "programs.one.b.speed", "2.5")
    assert set(found.program_metrics()) == {"one.a", "one.b"}
    (expected,) = resolve(found).expectations
    assert (expected["unit"], expected["min"]) == ("number", 2.5)


@pytest.mark.parametrize(
    ("metric", "bound", "said"),
    [
        ("programs.one.sped", "1", "did you mean"),
        ("programs.one.speed", "2 MB/s", "without unit"),
    ],
)
def test_a_wrong_expectation_is_refused(metric: str, bound: str, said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        scenario("host: a", metric, bound)


def test_a_sweep_estimates_printed_metrics(tmp_path: Path) -> None:
    rows = [
        {
            "variant": variant,
            "item": "programs.one.speed",
            "value": 10.0 * variant + repeat,
            "digest": f"{repeat}",
        }
        for variant in (0, 1)
        for repeat in (0, 2)
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "part.parquet")
    found = summarise([tmp_path / "part.parquet"], ["programs.*.speed"]).to_pylist()
    assert [(each["metric"], each["unit"], each["mean"]) for each in found] == [
        ("programs.one.speed", "number", 1.0),
        ("programs.one.speed", "number", 11.0),
    ]
