"""Programs of studies and their claims agree, and every study runs, at a small size."""

import ast
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from longhaul import processes
from longhaul.errors import LonghaulError
from longhaul.kernels.cache import find
from longhaul.studies import StudyFolder
from longhaul.studies.catalogue import studies_in
from longhaul.studies.results_files import read_results

from .conftest import STUDIES

ROOT = STUDIES.parent
ALL = studies_in(STUDIES)
OFFLINE = {"simulated", "arithmetic"}
"""How parts measure that need neither privileges nor a guest kernel."""
ANYTHING = "[a-z0-9-]*"
STARTED = "runs/studies/ticks/runs/ticks/2*/raw/started.json"
"""Of every run of "ticks". Folders change their names when runs begin: only a fixed depth is searched."""
LEAST_LETTERS = 5
"""Of an f-string that is the id of a claim: others would match any id."""


def names(study: StudyFolder) -> list[ast.expr]:
    """Every text in the programs of a study that may be the id of a claim."""
    found: list[ast.expr] = []
    for path in study.folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
            if is_text or isinstance(node, ast.JoinedStr):
                found.append(node)
    return found


def pattern(text: ast.expr) -> str:
    """What a text or an f-string can be."""
    if isinstance(text, ast.JoinedStr):
        return "".join(pattern(each) for each in text.values)
    return re.escape(text.value) if isinstance(text, ast.Constant) else ANYTHING


def called(study: StudyFolder) -> Iterator[str]:
    """The ids that the programs evaluate or read numbers of, where they are written in the call."""
    for path in study.folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
                argument = node.args[0]
                if node.func.attr in ("evaluate", "numbers") and isinstance(
                    argument, ast.Constant | ast.JoinedStr
                ):
                    yield pattern(argument)


@pytest.mark.parametrize("study", ALL, ids=lambda study: study.name)
def test_ids_in_programs_are_those_of_the_claims(study: StudyFolder) -> None:
    ids = [claim.id for claim in study.claims.claims]
    assert [form for form in called(study) if not any(re.fullmatch(form, each) for each in ids)] == []
    # Parts that are run below evaluate all their claims; of the others the ids are in the text.
    unrun = [claim.id for claim in study.claims.claims if study.claims.parts[claim.part].how not in OFFLINE]
    known = [form for form in map(pattern, names(study)) if len(form.replace(ANYTHING, "")) >= LEAST_LETTERS]
    assert [each for each in unrun if not any(re.fullmatch(form, each) for form in known)] == []


@pytest.mark.parametrize("study", ALL, ids=lambda study: study.name)
def test_committed_verdicts_follow_from_their_conditions(study: StudyFolder) -> None:
    words = {each.claim.id: each.word for each in study.evaluated()}
    parts = read_results(study.results)
    for name, part in parts.items():
        assert [each["id"] for each in part["claims"]] == [claim.id for claim in study.claims.of(name)]
        assert [each["verdict"] for each in part["claims"]] == [words[each["id"]] for each in part["claims"]]
    measured = [claim.id for claim in study.claims.claims if claim.part in parts]
    assert [each for each in words if words[each] != "not measured"] == measured


@pytest.mark.parametrize("study", ALL, ids=lambda study: study.name)
def test_texts_are_sentences_and_units_are_those_of_prose(study: StudyFolder) -> None:
    for claim in study.claims.claims:
        assert re.match(r"[A-Z0-9]|netem", claim.text), claim.text
        assert not claim.text.endswith("."), claim.text
        for text in (claim.text, claim.rule, claim.over, *claim.paper, *claim.assumes):
            assert not re.search(r"\bus\b|\d%", text), text


def test_modules_of_studies_have_names_of_their_own() -> None:
    """Tests import both: a module must not hide a package of tests."""
    tests = {path.stem for path in (ROOT / "tests").iterdir()}
    modules = {path.stem for path in STUDIES.rglob("*.py")}
    assert modules & tests == set()


def command(study: StudyFolder, place: Path, *options: str) -> list[str]:
    """What runs a copy of a study at a small size, which lies in ``place``."""
    directory = place / "studies"
    # Results are left out, so that what is read is of this run.
    shutil.copytree(study.folder, directory / study.folder.name, ignore=shutil.ignore_patterns("results"))
    for shared in STUDIES.glob("*.py"):
        shutil.copy(shared, directory)
    words = [sys.executable, "-m", "longhaul.cli.main", "study", "run", study.name, "--small", *options]
    return [*words, "--directory", str(directory)]


def small(study: StudyFolder, place: Path, *options: str) -> Path:
    """Run a copy of a study at a small size; returns the directory of its results."""
    done = subprocess.run(
        command(study, place, *options), cwd=place, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return place / "runs/studies" / study.name / "results"


def are_evaluated(study: StudyFolder, results: Path, parts: list[str]) -> None:
    """Every claim of these parts has a verdict, whose numbers are numbers."""
    found = read_results(results)
    assert list(found) == parts
    for name in parts:
        assert [each["id"] for each in found[name]["claims"]] == [claim.id for claim in study.claims.of(name)]
        assert found[name]["tables"]
    assert "nan" not in re.findall(r"\w+", json.dumps(found).lower())


@pytest.mark.parametrize(
    ("study", "part"),
    [
        pytest.param(study, name, id=f"{study.name}-{name}")
        for study in ALL
        for name, part in study.claims.parts.items()
        if part.how in OFFLINE
        # It compares the tables of other parts: see below.
        and name != "comparison"
    ],
)
def test_a_part_runs_at_a_small_size_and_evaluates_its_claims(
    study: StudyFolder, part: str, tmp_path: Path
) -> None:
    # A part may have the name of its kind, which names the others of that kind, too.
    chosen = [each for each in study.claims.parts if study.is_chosen(each, [part])]
    are_evaluated(study, small(study, tmp_path, "--only", part), chosen)


@pytest.mark.parametrize("name", ["algorithms", "three-clocks"])
def test_a_comparison_reads_the_tables_of_its_run(name: str, tmp_path: Path) -> None:
    (study,) = (each for each in ALL if each.name == name)
    kinds = ("simulated", "arithmetic")
    results = small(study, tmp_path, *(word for kind in kinds for word in ("--only", kind)))
    are_evaluated(study, results, [each for each in study.claims.parts if study.is_chosen(each, kinds)])
    verdicts = {each["verdict"] for each in read_results(results)["comparison"]["claims"]}
    # There is nothing to compare with.
    assert verdicts == {"not measured"}


@pytest.mark.parametrize("name", ["ticks", "sim-vs-live"])
def test_a_live_study_runs_at_a_small_size(name: str, tmp_path: Path, live_machine: None) -> None:
    (study,) = (each for each in ALL if each.name == name)
    are_evaluated(study, small(study, tmp_path), list(study.claims.parts))


@pytest.fixture
def measuring(tmp_path: Path, live_machine: None) -> Iterator[subprocess.Popen[str]]:
    """``longhaul study run`` in a process group of its own, whose first run has started."""
    (study,) = (each for each in ALL if each.name == "ticks")
    running = subprocess.Popen(
        command(study, tmp_path), cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        deadline = time.monotonic() + 60
        while not list(tmp_path.glob(STARTED)) and time.monotonic() < deadline:
            time.sleep(0.02)
        yield running
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()


def is_interrupted(running: subprocess.Popen[str], place: Path) -> None:
    _, said = running.communicate(timeout=30)
    assert running.returncode == 130, said
    assert said.count("--resume") == 1
    assert len(list(place.glob(STARTED))) == 1
    assert not (place / "runs/studies/ticks/results").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_all_processes_ends_the_study(
    number: int, measuring: subprocess.Popen[str], tmp_path: Path
) -> None:
    # Ctrl-C reaches all processes of the terminal, and so does what a batch system sends.
    os.killpg(measuring.pid, number)
    is_interrupted(measuring, tmp_path)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_command_alone_ends_the_study(
    number: int, measuring: subprocess.Popen[str], tmp_path: Path
) -> None:
    measuring.send_signal(number)
    is_interrupted(measuring, tmp_path)
    assert processes_of(tmp_path) == []


def test_the_program_of_a_study_does_not_outlive_the_command(
    measuring: subprocess.Popen[str], tmp_path: Path
) -> None:
    measuring.kill()
    deadline = time.monotonic() + 30
    while (left := processes_of(tmp_path)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert left == []
    # It was ended, and did not come to its end.
    assert not (tmp_path / "runs/studies/ticks/results").exists()


def processes_of(place: Path) -> list[list[str]]:
    """The command lines of processes that have ``place`` in them."""
    found = (processes.arguments(int(each)) for each in os.listdir("/proc") if each.isdecimal())
    return [argv for argv in found if any(str(place) in word for word in argv)]


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("netem-models", "models"),
        pytest.param("ewan", "linux", marks=pytest.mark.slow),
        pytest.param("nemc", "programs-virtual", marks=pytest.mark.slow),
    ],
)
def test_a_part_on_the_virtual_clock_runs_at_a_small_size(name: str, part: str, tmp_path: Path) -> None:
    try:
        find()
    except LonghaulError as error:
        pytest.skip(f"{error.message}: longhaul kernel build")
    (study,) = (each for each in ALL if each.name == name)
    # A part may have the name of its kind, which names the others of that kind, too.
    chosen = [each for each in study.claims.parts if study.is_chosen(each, [part])]
    are_evaluated(study, small(study, tmp_path, "--only", part), chosen)


@pytest.mark.slow
def test_file_systems_are_mounted_on_the_virtual_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (study,) = (each for each in ALL if each.name == "ewan")
    monkeypatch.syspath_prepend(str(study.folder))
    import file_systems

    try:
        find()
    except LonghaulError as error:
        pytest.skip(f"{error.message}: longhaul kernel build")
    if missing := file_systems.missing():
        pytest.skip(f"{', '.join(missing)} not installed: {file_systems.INSTALL}")
    results = small(study, tmp_path, "--only", "file-systems")
    are_evaluated(study, results, ["file-systems"])
