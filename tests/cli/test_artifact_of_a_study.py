"""`longhaul artifact STUDY`: a study that reviewers unpack, measure again, and compare claim by claim."""

import hashlib
import json
import os
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import forked
import pytest
import study_of_the_guide

from .conftest import ROOT, Command
from .unpacked import run_script, unpack, write_checksums

CLAIMS = """question: Is y 1?
parts:
  first: {how: arithmetic}
  second: {how: live}
claims:
  - {id: y-one, part: first, place: figure 1, text: Y is one, rule: exactly, paper: 1 ms, over: "the size"}
  - {id: y-live, part: second, place: ours, text: "Y is one, live", rule: exactly}
"""
PROGRAM = '''"""Is y 1?"""
import json, sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import numpy as np
import shared_by_studies
from longhaul.report.plotting import figure, paper
from longhaul.studies import Part, exact, holds_if, run_study


def first(study, given):
    assert json.loads(Path(__file__).parents[1].joinpath("sizes.json").read_text()) == [1]
    study.evaluate("y-one", holds_if("", shared_by_studies.Y == 1, f"{np.float64(shared_by_studies.Y)} ms"))
    study.table("sizes", [{"y": 1}])
    with paper():
        drawn = figure(2)
        drawn.subplots().plot([1, 2])
        study.figure(drawn, "sizes", data=["sizes"])


def second(study, given):
    raise RuntimeError("no privileges")


run_study(__file__, __doc__, {"first": Part(first), "second": Part(second)})
'''


FILES = {
    "one_study/one_study.py": PROGRAM,
    "one_study/claims.yaml": CLAIMS,
    "one_study/.notes": "mine",
    "shared_by_studies.py": "from further import Y\n",
    "further.py": "Y = 1\n",
    "not_imported.py": "",
    "sizes.json": "[1]",
    "studies.toml": 'figures = "../pictures"\npages = "pages.py"\n',
    "pages.py": "",
}
"""Of a directory of studies: a study, files that it shares with others, and files that it does not need."""


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the study, the results of one of its parts, and its artifact; not to be changed."""
    place = tmp_path_factory.mktemp("published")
    (place / "studies/one_study").mkdir(parents=True)
    for name, text in FILES.items():
        (place / "studies" / name).write_text(text, encoding="utf-8")
    for arguments in (["study", "run", "one-study", "--only", "first"], ["artifact", "one-study"]):
        done = forked.longhaul(*arguments, cwd=place)
        assert done.returncode == 0, done.stderr
    return place


@pytest.fixture
def measured(published: Path, work: Path) -> Path:
    """The directory of studies, and the pictures beside it."""
    for name in ("studies", "pictures"):
        shutil.copytree(published / name, work / name)
    return work / "studies"


@pytest.fixture
def artifact(published: Path, work: Path) -> Path:
    """The artifact, unpacked."""
    return unpack(published / "one-study-artifact.tar.gz", work / "elsewhere")


def test_a_study_of_a_user_is_measured_again_from_its_artifact(work: Path, longhaul: Command) -> None:
    study_of_the_guide.write_files(work)
    options = ("--directory", "my-studies")
    ran = longhaul("study", "run", "queue-delay", "--only", "simulated", *options)
    assert ran.returncode == 0, ran.stderr
    made = longhaul("artifact", "queue-delay", *options, "--author", "A. Author", "--license", "CC-BY-4.0")
    assert made.returncode == 0, made.stderr
    assert "claims: 3, parts: 1" in made.stdout
    artifact = unpack(work / "queue-delay-artifact.tar.gz", work / "elsewhere")
    readme = (artifact / "README.md").read_text(encoding="utf-8")
    for part in (
        "# Study queue-delay: How long does a ping wait behind a transfer?\n\nA. Author, ",
        "3 claims: 2 reproduced, 1 not measured.",
        "| queue-stands: A transfer keeps the queue at least half full | ours | - | 25 packets: ",
        " | reproduced | [simulated](studies/queue_delay/results/simulated.csv) "
        "| `longhaul study run queue-delay --only simulated --directory studies` |",
        "| wait-is-bounded | simulated | at most 105 % of the time in which a full queue drains | - |",
        "| simulated | simulated | one Reno transfer by the limit of the queue | 1 | 3 | 1 | ",
        "| needs | nothing but Longhaul",
        "Parts without results are not measured again: live.",
    ):
        assert part in readme
    assert "license: CC-BY-4.0" in (artifact / "CITATION.cff").read_text(encoding="utf-8")

    again = run_script(artifact)
    assert again.returncode == 0, again.stderr
    assert "queue-stands (simulated): identical" in again.stdout
    assert ": reproduced\n" in again.stdout
    assert "== part 1 of 1: simulated" in again.stderr
    results = json.loads((artifact / "reproduction/results.json").read_text(encoding="utf-8"))
    assert (results["reproduced"], results["parts"]) == (True, ["simulated"])
    assert {row["id"]: row["comparison"] for row in results["claims"]} == {
        "queue-stands": "identical",
        "wait-is-bounded": "identical",
    }
    assert (
        (artifact / "reproduction/README.md")
        .read_text(encoding="utf-8")
        .startswith("# Reproduction\n\nReproduced.\n")
    )


def test_the_archive_has_the_study_its_figures_and_the_files_that_it_shares(artifact: Path) -> None:
    found = {str(path.relative_to(artifact)) for path in artifact.rglob("*") if path.is_file()}
    assert {name for name in found if "/" in name} == {
        "figures/study-one-study-sizes.png",
        "studies/further.py",
        "studies/one_study/claims.yaml",
        "studies/one_study/one_study.py",
        "studies/one_study/results/claims.json",
        "studies/one_study/results/sizes.csv",
        "studies/shared_by_studies.py",
        "studies/sizes.json",
        "studies/studies.toml",
    }
    readme = (artifact / "README.md").read_text(encoding="utf-8")
    assert "| [study-one-study-sizes](figures/study-one-study-sizes.png) |" in readme
    assert "![figures/study-one-study-sizes.png](figures/study-one-study-sizes.png)" in readme
    assert "| y-one: Y is one | figure 1 | 1 ms | 1.0 ms | reproduced |" in readme
    assert "numpy==" in (artifact / "requirements.txt").read_text(encoding="utf-8")


def test_the_commands_of_the_page_run_in_the_artifact(artifact: Path, longhaul: Command) -> None:
    about = json.loads((artifact / "artifact.json").read_text(encoding="utf-8"))
    program, *words = about["parts"][0]["command"].split()
    assert program == "longhaul"
    before = artifact / "figures/study-one-study-sizes.png"
    before.unlink()
    at = [str(artifact / word) if word == "studies" else word for word in words]
    assert longhaul(*at).returncode == 0
    assert before.is_file()


def test_equal_results_give_equal_archives(longhaul: Command, measured: Path, work: Path) -> None:
    for name in ("one", "other"):
        (work / name).mkdir()
        made = longhaul("artifact", "studies/one_study", "--output", f"{name}/a.tar.gz")
        assert made.returncode == 0, made.stderr
        os.utime(measured / "one_study/claims.yaml", (1, 1))
        (measured / "one_study/__pycache__").mkdir(exist_ok=True)
    assert (work / "one/a.tar.gz").read_bytes() == (work / "other/a.tar.gz").read_bytes()


def change_results(artifact: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Let other results have been published."""
    path = artifact / "studies/one_study/results/claims.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content["parts"]["first"])
    path.write_text(json.dumps(content), encoding="utf-8")
    write_checksums(artifact)


def test_a_claim_with_another_verdict_is_named_with_both_values(artifact: Path) -> None:
    other = {"condition": "", "outcome": "fails", "found": "2.0 ms"}
    change_results(artifact, lambda part: part["claims"][0].update(cases=[other]))
    again = run_script(artifact)
    assert again.returncode == 1
    assert "y-one (first): different; Y is one\n" in again.stdout
    assert "  published: not reproduced (2.0 ms)\n  here: reproduced (1.0 ms)\n" in again.stdout
    assert again.stdout.splitlines()[-2].endswith("not reproduced: y-one")
    page = (artifact / "reproduction/README.md").read_text(encoding="utf-8")
    row = "| y-one: Y is one | first | not reproduced | reproduced | 2.0 ms | 1.0 ms | **different** |"
    assert row in page
    small = run_script(artifact, "--small")
    assert small.returncode == 0, "verdicts of a small size do not count"
    assert "verdicts of a small size do not count" in small.stdout
    assert json.loads((artifact / "reproduction/results.json").read_text("utf-8"))["reproduced"] is None


def test_the_same_verdict_with_another_value_is_reproduced(artifact: Path) -> None:
    other = {"condition": "", "outcome": "holds", "found": "1.1 ms"}
    change_results(artifact, lambda part: part["claims"][0].update(cases=[other]))
    again = run_script(artifact, "--json")
    assert again.returncode == 0, again.stderr
    (row,) = json.loads(again.stdout)["claims"]
    assert (row["id"], row["comparison"]) == ("y-one", "same verdict")
    assert [row[each]["cases"][0]["found"] for each in ("published", "repeated")] == ["1.1 ms", "1.0 ms"]


def test_a_part_that_fails_here_is_not_measured_whatever_is_published(artifact: Path) -> None:
    (artifact / "studies/further.py").write_text("Y = None\nraise SystemExit(1)\n", encoding="utf-8")
    write_checksums(artifact)
    for options in ([], ["--small"]):
        again = run_script(artifact, *options)
        assert again.returncode == 1
        assert "y-one (first): not measured; Y is one" in again.stdout
    # An earlier repetition leaves nothing to a later one.
    (artifact / "studies/further.py").write_text("Y = 1\n", encoding="utf-8")
    write_checksums(artifact)
    assert run_script(artifact).returncode == 0
    (artifact / "studies/further.py").write_text("Y = 1 / 0\n", encoding="utf-8")
    write_checksums(artifact)
    again = run_script(artifact)
    assert again.returncode == 1
    assert "ZeroDivisionError" in again.stderr
    assert again.stdout.splitlines()[-2].endswith("not reproduced: y-one")


def test_a_damaged_file_measures_nothing(artifact: Path) -> None:
    program = artifact / "studies/one_study/one_study.py"
    program.write_text(program.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    again = run_script(artifact)
    assert again.returncode == 2
    assert "one_study.py is damaged; unpack the archive again [E2206]" in again.stderr
    assert not (artifact / "reproduction").exists()


def with_name(artifact: Path, name: str) -> None:
    """Let the checksums name another file."""
    outside = artifact.parent / "outside"
    outside.write_text("1", encoding="utf-8")
    digest = hashlib.sha256(outside.read_bytes()).hexdigest()
    with (artifact / "manifest.sha256").open("a", encoding="utf-8") as sums:
        sums.write(f"{digest}  {name.format(outside=outside)}\n")


@pytest.mark.parametrize("name", ["../outside", "{outside}", "studies/../../outside", "./outside", ""])
def test_a_file_that_is_not_in_the_artifact_is_refused(artifact: Path, longhaul: Command, name: str) -> None:
    with_name(artifact, name)
    again = longhaul("reproduce", str(artifact))
    assert again.returncode == 2
    assert "is not the name of a file in the artifact; unpack the archive again [E2206]" in again.stderr
    assert not (artifact / "reproduction").exists()


def test_a_file_behind_a_symbolic_link_is_refused(artifact: Path, longhaul: Command) -> None:
    with_name(artifact, "linked/outside")
    (artifact / "linked").symlink_to("..")
    again = longhaul("reproduce", str(artifact))
    assert again.returncode == 2
    assert "linked/outside is not a regular file" in again.stderr
    (artifact / "linked").unlink()
    (artifact / "linked").mkdir()
    (artifact / "linked/outside").symlink_to("../../outside")
    assert "linked/outside is not a regular file" in longhaul("reproduce", str(artifact)).stderr


def test_a_repetition_is_not_written_through_a_symbolic_link(
    artifact: Path, longhaul: Command, work: Path
) -> None:
    (work / "mine/studies").mkdir(parents=True)
    (artifact / "reproduction").symlink_to(work / "mine")
    again = longhaul("reproduce", str(artifact))
    assert again.returncode == 2
    assert "reproduction is a symbolic link" in again.stderr
    assert (work / "mine/studies").is_dir()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"folder": "../one_study"}, "artifact.json: folder: is not the name of a file or directory in"),
        ({"folder": "/etc"}, "artifact.json: folder: is not the name of a file or directory in"),
        ({"kind": "sweep"}, "artifact.json does not describe runs or a study"),
        ({"version": 2}, "artifact.json: version: input should be 1"),
    ],
)
def test_a_wrong_description_is_one_error(
    artifact: Path, longhaul: Command, changes: dict[str, Any], words: str
) -> None:
    path = artifact / "artifact.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**content, **changes}), encoding="utf-8")
    write_checksums(artifact)
    again = longhaul("reproduce", str(artifact))
    assert again.returncode == 2
    assert words in again.stderr
    assert "Traceback" not in again.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["one-study", "studies"], "one-study is a study, and an artifact has one study or runs"),
        (["nothing"], '"nothing" is neither a directory nor the name of a study; name a run directory'),
        (["nothing"], "or a study: one-study"),
        (["nothing", "--directory", "studies"], 'there is no study "nothing"'),
        (["studies"], "studies is not a run directory, and has none in it"),
        (["one_study", "--metric", "flows.*"], "--metric is for runs, and one_study is a study"),
        (["one_study", "--tolerance", "5%"], "--tolerance is for runs, and one_study is a study"),
    ],
)
def test_wrong_arguments_are_one_error(
    longhaul: Command, measured: Path, work: Path, arguments: list[str], words: str
) -> None:
    done = longhaul("artifact", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not list(work.glob("*.tar.gz"))


def test_a_directory_of_runs_with_the_name_of_a_study_is_one_of_runs(
    longhaul: Command, measured: Path, work: Path
) -> None:
    (work / "one-study/first").mkdir(parents=True)
    assert longhaul("artifact", "one-study").returncode == 0, "the directory has no runs"
    (work / "one-study/first/plan.json").write_text("{}", encoding="utf-8")
    done = longhaul("artifact", "one-study", "--output", "runs.tar.gz")
    assert done.returncode != 0
    assert "one-study/first" in done.stderr
    named = longhaul("artifact", "one-study", "--directory", "studies", "--output", "study.tar.gz")
    assert named.returncode == 0, named.stderr


def lose(path: Path) -> None:
    path.unlink()


def link(path: Path) -> None:
    path.symlink_to(path.rename(path.with_name(".moved")))


def empty(path: Path) -> None:
    path.write_text('{"parts": {}}', encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("one_study/results/claims.json", lose, "study one-study cannot be bundled: it has no results; run"),
        ("one_study/results/claims.json", empty, "study one-study cannot be bundled: it has no results; run"),
        ("one_study/results/sizes.csv", lose, "its results lack studies/one_study/results/sizes.csv"),
        ("../pictures/study-one-study-sizes.png", lose, "its results lack figures/study-one-study-sizes.png"),
        ("one_study/results/sizes.csv", link, "results/sizes.csv is not a regular file; replace it"),
        ("further.py", link, "further.py is not a regular file; replace it"),
    ],
)
def test_a_study_that_cannot_be_measured_again_says_why(
    longhaul: Command, measured: Path, name: str, change: Callable[[Path], None], words: str
) -> None:
    change(measured / name)
    done = longhaul("artifact", "one-study")
    assert done.returncode == 2
    assert words in done.stderr
    assert "[E2207]" in done.stderr


def test_results_that_are_not_those_of_a_study_are_damaged(longhaul: Command, measured: Path) -> None:
    path = measured / "one_study/results/claims.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["parts"]["first"]["provenance"]["date"] = "yesterday"
    path.write_text(json.dumps(content), encoding="utf-8")
    done = longhaul("artifact", "one-study")
    assert done.returncode == 2
    assert "claims.json is not a file of results" in done.stderr
    assert "[E2202]" in done.stderr


def test_options_that_do_not_fit_are_refused(artifact: Path, longhaul: Command) -> None:
    for options, words in (
        (
            ["--only", "second"],
            'study one-study has no part "second" with published results; write one of first',
        ),
        (["--metric", "flows.*"], "--metric is for runs"),
        (["--runs", "here"], "--runs is for runs"),
    ):
        done = longhaul("reproduce", str(artifact), *options)
        assert done.returncode == 2
        assert words in done.stderr
    done = longhaul("reproduce", ".", "--small")
    assert "--small is for artifacts of studies, and these are runs" in done.stderr


def test_results_of_an_earlier_version_say_what_they_do_not_record(
    longhaul: Command, measured: Path, work: Path
) -> None:
    path = measured / "one_study/results/claims.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    origin = content["parts"]["first"]["provenance"]
    for key in ("analysis_s", "rounds", "longhaul"):
        del origin[key]
    origin["took_s"] = 240
    path.write_text(json.dumps(content), encoding="utf-8")
    assert longhaul("artifact", "one-study").returncode == 0
    with tarfile.open(work / "one-study-artifact.tar.gz") as packed:
        file = packed.extractfile("one-study-artifact/README.md")
        assert file is not None
        readme = file.read().decode()
    assert "| analysis time | not recorded; it is part of the execution time |" in readme
    assert "| first | arithmetic | - | not recorded | - | - | 4 min | not recorded |" in readme


def test_a_study_of_this_checkout_is_tried_out_from_its_artifact(longhaul: Command, work: Path) -> None:
    made = longhaul("artifact", "fitting", "--directory", str(ROOT / "studies"))
    assert made.returncode == 0, made.stderr
    artifact = unpack(work / "fitting-artifact.tar.gz", work / "elsewhere")
    assert (artifact / "figures/study-fitting-fits.png").is_file()
    again = run_script(artifact, "--small", "--only", "arithmetic")
    assert again.returncode == 0, again.stderr
    assert "weibull-found (fits): " in again.stdout
