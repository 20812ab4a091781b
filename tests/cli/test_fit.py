"""`longhaul fit`: what it reads, what it refuses, what it prints and writes; and the guide to it."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from longhaul.analysis.gaps import merged
from longhaul.errors import LonghaulError
from longhaul.traces.gaps import read_gaps

from .conftest import ROOT, Command

GAPS = 18 * np.random.default_rng(2008).weibull(2.9, 1346)


def lines(values: np.ndarray) -> str:
    return "".join(f"{value!r}\n" for value in values.tolist())


@pytest.fixture
def gaps_file(work: Path) -> Path:
    path = work / "gaps.txt"
    path.write_text("# seconds between losses\n" + lines(GAPS), encoding="utf-8")
    return path


def test_text_csv_parquet_and_times_all_give_the_same_gaps(tmp_path: Path) -> None:
    times = np.concatenate(([0.0], np.cumsum(GAPS)))
    (tmp_path / "gaps.txt").write_text(lines(GAPS), encoding="utf-8")
    (tmp_path / "gaps.csv").write_text("gap_ms\n" + lines(GAPS * 1e3), encoding="utf-8")
    (tmp_path / "losses.csv").write_text(
        "link,t_s,bytes\n" + "".join(f"1,{time!r},1500\n" for time in times.tolist()), encoding="utf-8"
    )
    pq.write_table(pa.table({"link": ["x"] * len(times), "t_s": times}), tmp_path / "losses.parquet")
    for name, options, unit, factor in (
        ("gaps.txt", {"unit": "s"}, "s", 1),
        ("gaps.csv", {}, "ms", 1e3),
        ("losses.csv", {"times": True}, "s", 1),
        ("losses.parquet", {"times": True, "column": "t_s"}, "s", 1),
    ):
        found = read_gaps(tmp_path / name, **options)
        assert found.unit == unit
        assert found.values == pytest.approx(GAPS * factor, rel=1e-9)
        assert found.notes == ()


def test_losses_within_a_round_trip_of_the_first_are_one_event(tmp_path: Path) -> None:
    path = tmp_path / "losses.txt"
    # 0.07 is 0.07 after the first of its event, 0.12 is 0.05 after the next.
    path.write_text("0\n0.03\n0.06\n0.07\n0.12\n5\n5\n9\n", encoding="utf-8")
    found = read_gaps(path, unit="s", times=True, merge=0.065)
    assert found.values == pytest.approx([0.07, 4.93, 4.0])
    gaps = tmp_path / "gaps.txt"
    gaps.write_text("0.03\n0.03\n0.01\n0.05\n4.88\n0\n4\n", encoding="utf-8")
    assert read_gaps(gaps, unit="s", merge=0.065).values == pytest.approx([0.07, 4.93, 4.0])
    assert merged(np.array([1.0, 1.0, 1.0]), 0.0).tolist() == [1.0]


def test_times_that_were_taken_for_gaps_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "losses.txt"
    path.write_text(lines(np.cumsum(GAPS)), encoding="utf-8")
    assert read_gaps(path, unit="s").notes == ("the gaps only grow; if they are times, add --times",)


def test_gaps_too_coarse_for_their_number_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "gaps.txt"
    stream = np.random.default_rng(1)
    path.write_text(lines(np.ceil(stream.exponential(3.0, 1000))), encoding="utf-8")
    assert "go in steps of 1" in read_gaps(path, unit="packets").notes[0]
    path.write_text(lines(np.ceil(stream.exponential(300.0, 1000))), encoding="utf-8")
    assert read_gaps(path, unit="packets").notes == ()


WRONG = {
    "nothing": ("", {"unit": "s"}, "is empty; write a number on each line"),
    "word": ("1\n2\nthree\n", {"unit": "s"}, ':3: "three" is not a number; write one like 12 or 0.5'),
    "two numbers": ("1\n2 3\n", {"unit": "s"}, ":2: 2 values where there were 1; write as many on each line"),
    "no unit": ("1\n2\n", {}, "does not say its unit; add --unit s, ms or packets"),
    "no such unit": ("1\n", {"unit": "min"}, '"min" is not a unit of gaps; write s, ms, us, ns or packets'),
    "zero": (
        "1\n0\n",
        {"unit": "s"},
        ":2: 0 is not a gap; join losses of one moment with --merge, or add --times",
    ),
    "negative": (
        "1\n\n-2\n",
        {"unit": "s"},
        ":3: -2 is not a gap; write gaps above zero, or add --times if these are times",
    ),
    "not finite": ("1\nnan\n", {"unit": "s"}, ":2: nan is not a finite number; leave it out"),
    "back in time": (
        "1\n3\n2\n",
        {"unit": "s", "times": True},
        ":3: 2 is before the one above it; sort the times",
    ),
    "same time": (
        "1\n3\n3\n",
        {"unit": "s", "times": True},
        ":3: 3 is the same as the one before; join such",
    ),
    "which column": ("a,b\n1,2\n", {"unit": "s"}, "has 2 columns; name one with --column: a, b"),
    "no header": ("1,2\n", {"unit": "s"}, "has 2 columns; keep one, or write their names first"),
    "no such column": (
        "gap_s,x\n1,2\n",
        {"column": "gap_ms"},
        'has no column "gap_ms"; did you mean "gap_s"?',
    ),
    "column of none": ("1\n2\n", {"column": "gap_s"}, 'has no header, so no column "gap_s"'),
}


@pytest.mark.parametrize("name", WRONG)
def test_bad_input_gets_one_error_with_its_line_and_a_remedy(name: str, tmp_path: Path) -> None:
    text, options, words = WRONG[name]
    path = tmp_path / "gaps.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(LonghaulError) as caught:
        read_gaps(path, **options)
    assert words in str(caught.value)
    assert str(caught.value).startswith((str(path), '"min"'))
    assert caught.value.exit_code == 2


def test_what_is_no_text_is_said_to_be_none(tmp_path: Path) -> None:
    path = tmp_path / "gaps.txt"
    path.write_bytes(b"1.5\n2.5\n\xa7\x01\n")
    with pytest.raises(LonghaulError, match=r"gaps\.txt is not text: byte 8 is not UTF-8; give numbers"):
        read_gaps(path, unit="s")


def test_bad_parquet_is_refused_with_its_row(tmp_path: Path) -> None:
    path = tmp_path / "gaps.parquet"
    path.write_text("no table", encoding="utf-8")
    with pytest.raises(LonghaulError, match="name a Parquet file with a column of numbers"):
        read_gaps(path, unit="s")
    pq.write_table(pa.table({"gap_s": ["a", "b"]}), path)
    with pytest.raises(LonghaulError, match="name a Parquet file with a column of numbers"):
        read_gaps(path)
    pq.write_table(pa.table({"gap_s": [1.0, None, 2.0]}), path)
    with pytest.raises(LonghaulError, match="row 2: nan is not a finite number"):
        read_gaps(path)


def test_a_table_for_people_and_a_report(longhaul: Command, gaps_file: Path, work: Path) -> None:
    result = longhaul("fit", "gaps.txt", "--unit", "s", "--replicates", "99", "--packets-per-s", "5217",
                      "--report", "fit.html")  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert re.search(r"^1 +weibull ", result.stdout, re.MULTILINE)
    assert re.search(
        r"^weibull +shape 2\.\d+ \u00b1 0\.0\d+, scale 1[78]\.\d+ \u00b1 0\.\d+", result.stdout, re.MULTILINE
    )
    seconds, packets = re.findall(
        r"gap: \{dist: weibull, shape: (?:[\d.]+), scale: ([\d.]+)s?\}", result.stdout
    )
    assert float(packets) == pytest.approx(5217 * float(seconds), rel=1e-5)
    page = (work / "fit.html").read_text(encoding="utf-8")
    assert page.count('<div class="chart"') == 3
    assert "Weibull" in page
    assert "--paper" in page, "the look of the other report"
    assert "gap: {dist: weibull" in page
    assert "http" not in re.sub(r'xmlns(:xlink)?="[^"]*"', "", page), "the report needs nothing else"


def test_figures_and_tables_are_written_beside_the_report(
    longhaul: Command, gaps_file: Path, work: Path
) -> None:
    arguments = ("fit", "gaps.txt", "--unit", "s", "--replicates", "0", "--packets-per-s", "5217")
    refused = longhaul(*arguments, "--format", "csv")
    assert refused.returncode == 2
    assert "--report fit.html" in refused.stderr
    result = longhaul(*arguments, "--report", "fit.html", "--format", "csv", "--format", "md")
    assert result.returncode == 0, result.stderr
    figures = sorted(path.name for path in (work / "fit-figures").iterdir())
    assert figures == ["probabilities.csv", "quantiles.csv", "survival.csv"]
    lines = (work / "fit.md").read_text().splitlines()
    assert lines[0] == "# gaps.txt"
    assert lines.index("## Order") < lines.index("## In a scenario")
    assert any(line.startswith("| 1 | weibull | shape ") for line in lines)
    assert any("gap: {dist: weibull" in line for line in lines)


def test_json_for_programs(longhaul: Command, gaps_file: Path) -> None:
    result = longhaul("fit", "gaps.txt", "--unit", "s", "--replicates", "99", "--json", "--family", "weibull",
                      "--family", "exponential", "--seed", "4")  # fmt: skip
    told = json.loads(result.stdout)
    assert told["gaps"]["count"] == 1346
    assert [fit["family"] for fit in told["fits"]] == ["weibull", "exponential"]
    assert told["fits"][0]["parameters"][0]["name"] == "shape"
    assert told["fits"][0]["a2"]["p_error"] > 0
    assert told["loss"][0]["text"].startswith("loss:\n  model: renewal\n  unit: wall\n")
    assert told["seed"] == 4


def test_what_is_infinite_is_null_in_json(longhaul: Command, work: Path) -> None:
    values = np.concatenate((np.full(30, 1.0), np.random.default_rng(1).random(30) + 2))
    (work / "gaps.txt").write_text(lines(values), encoding="utf-8")
    result = longhaul(
        "fit", "gaps.txt", "--unit", "packets", "--replicates", "0", "--json", "--family", "pareto"
    )
    assert json.loads(result.stdout)["fits"][0]["a2"]["value"] is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["absent.txt"], "absent.txt"),
        (["gaps.txt"], "gaps.txt does not say its unit; add --unit s, ms or packets"),
        (
            ["gaps.txt", "--unit", "s", "--family", "cauchy"],
            '"cauchy" is not a family of distributions; there are',
        ),
        (["gaps.txt", "--unit", "s", "--replicates", "10"], "10 replicates cannot tell a p of 0.01"),
        (
            ["gaps.txt", "--unit", "s", "--replicates", "0", "--report", "no/fit.html"],
            "in a folder that is there",
        ),
    ],
)
def test_wrong_arguments_get_one_line(
    longhaul: Command, gaps_file: Path, arguments: list[str], words: str
) -> None:
    result = longhaul("fit", *arguments)
    assert result.returncode == 2 or "no/fit.html" in arguments
    assert words in result.stderr
    assert "Traceback" not in result.stderr


def test_the_guide_works(longhaul: Command, work: Path, environment: dict[str, str]) -> None:
    text = (ROOT / "docs/how-to/fitting.md").read_text(encoding="utf-8")
    said = ""
    blocks = re.findall(r"^```(python|sh|text|yaml)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert [kind for kind, _content in blocks] == ["python", "sh", "text", "yaml", "sh", "python"]
    for kind, content in blocks:
        if kind == "python":
            done = subprocess.run(
                [sys.executable, "-c", content],
                cwd=work,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            said = done.stdout
        elif kind == "sh":
            for line in content.splitlines():
                name, *arguments = shlex.split(line)
                assert name == "longhaul"
                result = longhaul(*arguments)
                assert result.returncode == 0, result.stderr
                said += result.stdout
        else:
            told = [line.split() for line in said.splitlines()]
            for line in content.splitlines():
                assert line.split() in told, line
    assert "weibull" in said
    assert (work / "fit.html").exists()
