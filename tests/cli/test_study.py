"""`longhaul study`: what it lists and shows of a directory of studies, and how it runs one."""

import json
import shutil
from pathlib import Path

import pytest

from longhaul.studies.catalogue import studies_in

from .conftest import ROOT, Command

CLAIMS = """question: Is y 1?
numbers: {within: 0.05}
parts:
  first: {how: simulated, about: one size after another}
  second: {how: live}
claims:
  - id: y-one
    part: first
    place: figure 1
    text: Y is {y}
    rule: within {within:%}; 95 % intervals over rounds
    numbers: {y: 1}
    over: the size
    paper: "{y} ms"
    assumes: [Sizes are small and large]
  - {id: y-live, part: second, place: ours, text: "Y is one, live", rule: "within {within:%}"}
"""
PROGRAM = '''"""Is y 1?"""
import json, sys
from pathlib import Path

import beside
from longhaul.studies import Measurement, Part, measured, near, run_study

assert str(Path.cwd()) not in sys.path, "nothing is imported from the working directory"


def first(study, given):
    print("rounds", given.rounds, study.is_small)
    within = study.numbers("y-one")["within"]
    cases = [near(size, Measurement(y, 0.01, 3), 1, within) for size, y in (("small", 1.0), ("large", 2.0))]
    study.evaluate("y-one", cases)
    study.table("sizes", [{"x": 1, "y": 1}, {"x": 2, "y": 3}])


def second(study, given):
    raise RuntimeError("no privileges")


PARTS = {"first": Part(first, rounds=3), "second": Part(second)}
run_study(__file__, __doc__, PARTS, options={"own": (1, "own")})
'''
DRAW = """
def draw(figures):
    from longhaul.report.plotting import figure, paper

    rows = figures.rows("sizes")
    with paper():
        made = figure(2)
        made.subplots().plot([row["x"] for row in rows], [row["y"] for row in rows])
        figures.add(made, "curve", data=["sizes"])


PARTS = {"first": Part(first, rounds=3, draw=draw), "second": Part(second)}
run_study"""


@pytest.fixture
def studies(work: Path) -> Path:
    """A directory of two studies, and of a folder that is not one."""
    for name in ("one_study", "other"):
        folder = work / "studies" / name
        folder.mkdir(parents=True)
        (folder / f"{name}.py").write_text(PROGRAM, encoding="utf-8")
        (folder / "claims.yaml").write_text(CLAIMS, encoding="utf-8")
        (folder / "beside.py").write_text("", encoding="utf-8")
    (work / "studies/no_study").mkdir()
    return work / "studies"


@pytest.fixture
def measured(longhaul: Command, studies: Path) -> Path:
    """The same after the first part of one of them has run."""
    done = longhaul("study", "run", "one-study", "--only", "first")
    assert done.returncode == 0, done.stderr
    path = studies / "one_study/results/claims.json"
    whole = json.loads(path.read_text(encoding="utf-8"))
    whole["parts"]["first"]["provenance"] |= {"date": "2026-11-26 10:00Z", "took_s": 240}
    path.write_text(json.dumps(whole), encoding="utf-8")
    return studies


def test_studies_are_listed_with_their_claims_those_not_measured_included(
    longhaul: Command, measured: Path
) -> None:
    listed = longhaul("study", "list")
    assert listed.returncode == 0, listed.stderr
    assert listed.stdout.splitlines() == [
        "one-study       Is y 1?",
        " " * 16 + "1 depends, 1 not measured; measured 2026-11-26",
        "other           Is y 1?",
        " " * 16 + "2 not measured",
        "4 claims: 1 depends, 3 not measured",
    ]
    found = json.loads(longhaul("study", "list", "--json").stdout)
    assert [each["study"] for each in found] == ["one-study", "other"]
    assert (found[0]["counts"], found[0]["took_s"]) == ({"depends": 1, "not measured": 1}, 240)
    assert (found[1]["measured"], found[1]["results"]) == (None, None)


def test_a_study_shows_each_claim_with_rule_value_result_verdict_and_assumptions(
    longhaul: Command, measured: Path
) -> None:
    lines = longhaul("study", "show", "one-study").stdout.splitlines()
    shown = [line.rstrip() for line in lines]
    assert shown[0] == "one-study: Is y 1?"
    assert "part first, simulated: one size after another" in shown
    assert "  longhaul study run one-study --only first (4 min)" in shown
    at = shown.index("  depends on the size: Y is 1 (figure 1) [y-one]")
    assert shown[at + 1 : at + 6] == [
        "    rule: within 5 %; 95 % intervals over rounds",
        "    paper: 1 ms",
        "    assumed: Sizes are small and large",
        "    holds  small: 1.000 ±0.010",
        "    fails  large: 2.000 ±0.010",
    ]
    assert "  longhaul study run one-study --only second" in shown
    assert "  not measured: Y is one, live (ours) [y-live]" in shown
    assert shown[-1].startswith("1 depends, 1 not measured; results: ")


def test_a_study_as_json_has_parts_with_their_commands_and_every_claim(
    longhaul: Command, measured: Path
) -> None:
    found = json.loads(longhaul("study", "show", "one_study", "--json").stdout)
    assert found["counts"] == {"depends": 1, "not measured": 1}
    assert [(name, part["how"], part["command"]) for name, part in found["parts"].items()] == [
        ("first", "simulated", "longhaul study run one-study --only first"),
        ("second", "live", "longhaul study run one-study --only second"),
    ]
    assert found["parts"]["first"]["provenance"]["took_s"] == 240
    assert found["parts"]["second"]["provenance"] is None
    first, second = found["claims"]
    assert (first["id"], first["verdict"], first["paper"]) == ("y-one", "depends on the size", ["1 ms"])
    assert first["numbers"] == {"y": 1, "within": 0.05}
    assert first["cases"][1] == {"condition": "large", "outcome": "fails", "found": "2.000 ±0.010"}
    assert (second["word"], second["cases"]) == ("not measured", [])


def test_a_part_that_has_been_measured_is_shown_in_the_directory_that_is_named(
    longhaul: Command, measured: Path, work: Path
) -> None:
    mine = work / "mine"
    shutil.move(measured, mine)
    listed = longhaul("study", "list", "--directory", "mine")
    assert "1 depends, 1 not measured" in listed.stdout
    assert longhaul("study", "show", "other", "--directory", "mine").returncode == 0


def test_a_run_says_which_part_of_how_many_and_the_time_that_is_left(
    longhaul: Command, measured: Path
) -> None:
    ran = longhaul("study", "run", "one-study")
    assert ran.returncode == 1
    assert "study one-study (1 of 1): about 4 min by the last time" in ran.stdout
    assert (
        "== part 1 of 2: first (simulated); about 4 min left by the last time, and parts that were never "
        "measured" in ran.stdout
    )
    assert "== part 2 of 2: second (live)" in ran.stdout
    assert "no privileges" in ran.stderr


def test_a_run_passes_its_options_on_and_publishes_only_the_full_size(
    longhaul: Command, studies: Path, work: Path
) -> None:
    ran = longhaul(
        "study", "run", "one-study", "--only", "first", "--rounds", "2", "--resume", "--", "--own", "3"
    )
    assert ran.returncode == 0, ran.stderr
    assert "rounds 2 False" in ran.stdout
    small = longhaul("study", "run", "one-study", "--only", "simulated", "--small")
    assert "rounds 2 True" in small.stdout
    assert not (studies / "one_study/results").exists()
    assert (work / "runs/studies/one-study/results/sizes.csv").is_file()

    every = longhaul("study", "run", "--all")
    assert every.returncode == 1
    assert "study other (2 of 2)" in every.stdout
    assert "not everything could be measured: one-study, other" in every.stderr
    assert (studies / "other/results/sizes.csv").is_file()


@pytest.mark.parametrize(
    ("how", "code", "goes_on"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", 137, True),
        ("os.kill(os.getppid(), signal.SIGTERM)", 130, False),
    ],
)
def test_a_study_that_is_killed_has_failed_and_an_interrupted_run_begins_no_other(
    longhaul: Command, studies: Path, how: str, code: int, goes_on: bool
) -> None:
    program = studies / "one_study/one_study.py"
    program.write_text(f"import os, signal, time\n{how}\ntime.sleep(20)\n", encoding="utf-8")
    ran = longhaul("study", "run", "--all", "--only", "first")
    assert ran.returncode == code
    assert ("study other (2 of 2)" in ran.stdout) is goes_on


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["show", "nothing"], 'there is no study "nothing"; write one of one-study, other'),
        (["run"], "no study is named"),
        (["run", "other", "--all"], "--all, and names of studies"),
        (["run", "no-study"], 'there is no study "no-study"'),
        (["list", "--directory", "studies/other"], "studies/other: no studies"),
    ],
)
def test_wrong_usage_has_one_clear_error(
    longhaul: Command, studies: Path, arguments: list[str], says: str
) -> None:
    done = longhaul("study", *arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("arguments", [["list"], ["show", "other"], ["run", "other"]])
def test_a_wrong_claims_file_has_one_error_with_its_line(
    longhaul: Command, studies: Path, arguments: list[str]
) -> None:
    text = CLAIMS.replace("part: second", "part: third")
    (studies / "other/claims.yaml").write_text(text, encoding="utf-8")
    done = longhaul("study", *arguments)
    assert done.returncode == 2
    assert 'studies/other/claims.yaml:16:24: claims[1].part: there is no part "third"' in done.stderr
    assert "[E2803]" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Is y 1?" not in done.stdout


def test_without_studies_it_says_where_they_were_looked_for(longhaul: Command) -> None:
    done = longhaul("study", "list")
    assert (done.returncode, "--directory" in done.stderr) == (2, True)


def test_the_studies_of_this_checkout_are_those_of_the_documents(longhaul: Command) -> None:
    import tomllib

    known = tomllib.loads((ROOT / "studies/studies.toml").read_text(encoding="utf-8"))["study"]
    found = json.loads(longhaul("study", "list", "--json", "--directory", str(ROOT / "studies")).stdout)
    assert sorted(each["folder"].replace("_", "-") for each in known) == [each["study"] for each in found]


def test_every_study_of_this_checkout_is_shown_with_all_its_claims(longhaul: Command) -> None:
    for study in studies_in(ROOT / "studies"):
        shown = longhaul("study", "show", study.name, "--directory", str(ROOT / "studies"))
        text = " ".join(shown.stdout.split())
        assert [each.id for each in study.claims.claims if f"[{each.id}]" not in text] == []


@pytest.fixture
def drawing(measured: Path) -> Path:
    """The same with a program that draws, which it did not when its part ran."""
    program = measured / "one_study/one_study.py"
    head = program.read_text(encoding="utf-8").partition("PARTS = ")[0]
    rest = program.read_text(encoding="utf-8").partition("run_study(__file__")[2]
    program.write_text(f"{head}{DRAW.rstrip()}(__file__{rest}", encoding="utf-8")
    return measured


def test_figures_are_drawn_from_the_published_tables_and_nothing_else_changes(
    longhaul: Command, drawing: Path
) -> None:
    results = drawing / "one_study/results"
    before = json.loads((results / "claims.json").read_text(encoding="utf-8"))
    done = longhaul("study", "draw", "one-study")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "first: curve\nsecond: not measured\n"
    before["parts"]["first"]["figures"] = {"curve": ["sizes"]}
    assert json.loads((results / "claims.json").read_text(encoding="utf-8")) == before
    picture = results / "study-one-study-curve.png"
    first = picture.read_bytes()
    # Another table is another figure.
    table = results / "sizes.csv"
    table.write_text(table.read_text(encoding="utf-8").replace("2,3", "2,9"), encoding="utf-8")
    assert longhaul("study", "draw", "one-study", "--only", "first").stdout == "first: curve\n"
    assert picture.read_bytes() != first


def test_a_figure_that_is_not_drawn_any_more_is_removed(longhaul: Command, drawing: Path) -> None:
    program = drawing / "one_study/one_study.py"
    assert longhaul("study", "draw", "one-study").returncode == 0
    program.write_text(program.read_text(encoding="utf-8").replace('"curve"', '"other"'), encoding="utf-8")
    assert longhaul("study", "draw", "one-study").returncode == 0
    results = drawing / "one_study/results"
    assert [path.name for path in results.glob("*.png")] == ["study-one-study-other.png"]
    parts = json.loads((results / "claims.json").read_text(encoding="utf-8"))["parts"]
    assert parts["first"]["figures"] == {"other": ["sizes"]}


def test_drawing_needs_names_or_all(longhaul: Command, studies: Path) -> None:
    done = longhaul("study", "draw")
    assert done.returncode == 2
    assert "no study is named; name studies" in done.stderr
