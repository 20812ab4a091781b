"""A study measures in parts, evaluates its claims by id, keeps what it measured, and publishes it."""

import json
import subprocess
from argparse import Namespace
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from longhaul.errors import LonghaulError
from longhaul.report.plotting import figure, paper
from longhaul.studies import Part, Study, StudyFolder, exact, holds_if, run_study
from longhaul.studies.provenance import commit, provenance, run_facts, sentence
from longhaul.studies.results_files import digest, read_results

CLAIMS = """question: What is y?
parts:
  first: {how: simulated}
  second: {how: simulated}
  live: {how: live}
claims:
  - {id: y-one, part: first, place: figure 1, text: "Y is {one}", rule: exactly, numbers: {one: 1}}
  - {id: y-two, part: second, place: figure 1, text: Y is 1, rule: exactly}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a study, in a directory of studies."""
    made = tmp_path / "studies" / "some_study"
    made.mkdir(parents=True)
    (made / "claims.yaml").write_text(CLAIMS, encoding="utf-8")
    (made / "some_study.py").write_text("", encoding="utf-8")
    return made


def one_part(study: Study, name: str, value: float) -> None:
    with study.part(name):
        study.table(name, [{"x": 1, "y": value}])
        study.evaluate({"first": "y-one", "second": "y-two"}[name], holds_if("", value == 1, f"{value}"))
        study.value("y", exact(value), "us")
        with paper():
            drawn = figure(2)
            drawn.subplots().plot([1, value])
            study.figure(drawn, name, data=[name])


def test_a_part_replaces_its_own_results_alone(folder: Path) -> None:
    study = Study(folder)
    one_part(study, "first", 1)
    one_part(study, "second", 2)
    one_part(Study(folder), "first", 3)
    parts = read_results(folder / "results")
    assert {name: part["values"]["y"]["value"] for name, part in parts.items()} == {"first": 3, "second": 2}
    assert [each.verdict for each in StudyFolder(folder).evaluated()] == ["not reproduced", "not reproduced"]
    assert set(parts["first"]) == {"claims", "provenance", "values", "notes", "tables", "figures"}
    assert set(parts["first"]["claims"][0]) == {"id", "verdict", "cases"}
    assert set(parts["first"]["provenance"]) >= {"commit", "date", "machine", "command", "took_s"}


@pytest.mark.parametrize("options", [{"whole": False}, {"small": True}])
def test_what_has_not_the_full_size_is_not_published(folder: Path, options: dict[str, bool]) -> None:
    study = Study(folder, **options)
    one_part(study, "first", 1)
    assert not (folder / "results").exists()
    assert study.results == folder.parents[1] / "runs/studies/some-study/results"
    assert set(read_results(study.results)) == {"first"}
    assert study.size(10, small=2) == (2 if "small" in options else 10)


def test_a_table_says_where_it_comes_from_and_a_picture_what_it_was_drawn_from(folder: Path) -> None:
    one_part(Study(folder), "first", 1)
    results = folder / "results"
    head, names, values = (results / "first.csv").read_text(encoding="utf-8").splitlines()
    assert head.startswith("# longhaul study some-study, part first, simulated: commit ")
    assert (names, values) == ("x,y", "1,1")
    text = (results / "study-some-study-first.png").read_bytes()
    assert f"first.csv {digest(results / 'first.csv')}".encode() in text


def test_settings_say_where_pictures_go_and_what_writes_the_pages(folder: Path, tmp_path: Path) -> None:
    settings = 'figures = "../pictures"\npages = "pages.py"\n'
    (folder.parent / "studies.toml").write_text(settings, encoding="utf-8")
    program = "from pathlib import Path\nPath(__file__).with_name('written').touch()\n"
    (folder.parent / "pages.py").write_text(program, encoding="utf-8")
    one_part(Study(folder), "first", 1)
    assert (tmp_path / "pictures/study-some-study-first.png").is_file()
    assert (folder.parent / "written").is_file()


def test_another_part_reads_the_table_of_this_run_or_the_published_one(folder: Path) -> None:
    one_part(Study(folder), "first", 1)
    one_part(Study(folder, whole=False), "first", 2)
    assert [each["y"] for each in Study(folder).rows("first")] == ["1"]
    assert [each["y"] for each in Study(folder, whole=False).rows("first")] == ["2"]
    assert Study(folder).rows("other") == []


@pytest.mark.parametrize(
    ("ids", "code", "says"),
    [
        (["y-one", "y-one"], "E2805", "part first evaluates y-one twice; evaluate it once"),
        (["y-two"], "E2804", 'has no claim "y-two" in part first; did you mean "y-one"?'),
        (["z"], "E2804", 'has no claim "z" in part first; there are: y-one'),
        ([], "E2806", "part first ended without evaluating y-one; evaluate them"),
    ],
)
def test_a_part_evaluates_each_of_its_claims_once(
    folder: Path, capsys: pytest.CaptureFixture[str], ids: list[str], code: str, says: str
) -> None:
    study = Study(folder)
    with study.part("first"):
        for each in ids:
            study.evaluate(each, holds_if("", True, "1"))
    (error,) = capsys.readouterr().err.splitlines()
    assert says in error
    assert error.endswith(f"[{code}]")
    assert read_results(folder / "results") == {}
    with pytest.raises(SystemExit) as ended:
        study.finish()
    assert ended.value.code == 1


def test_a_claim_that_could_not_be_measured_is_evaluated_without_conditions(folder: Path) -> None:
    study = Study(folder)
    with study.part("first"):
        study.evaluate("y-one", [])
    assert [each.verdict for each in StudyFolder(folder).evaluated("first")] == ["not measured"]


def test_numbers_of_a_rule_are_read_by_the_claim(folder: Path) -> None:
    study = Study(folder)
    assert study.numbers("y-one")["one"] == 1
    with pytest.raises(LonghaulError, match='has no claim "y-onne"; did you mean "y-one"'):
        study.numbers("y-onne")


def test_results_of_a_claim_that_is_gone_are_an_error(folder: Path) -> None:
    one_part(Study(folder), "first", 1)
    text = CLAIMS.replace("id: y-one", "id: y-new")
    (folder / "claims.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(
        LonghaulError, match=r'part first has a claim "y-one" that .*claims\.yaml does not have'
    ):
        StudyFolder(folder).evaluated()


def test_damaged_results_are_an_error_that_names_the_file(folder: Path) -> None:
    (folder / "results").mkdir()
    (folder / "results/claims.json").write_text('{"parts', encoding="utf-8")
    with pytest.raises(LonghaulError, match=r"results/claims\.json is not a file of results .*; remove it"):
        StudyFolder(folder).evaluated()


def test_a_part_that_fails_leaves_the_others_and_the_exit_code_says_so(folder: Path) -> None:
    study = Study(folder)
    with study.part("second"):
        raise RuntimeError("no network")
    one_part(study, "first", 1)
    with pytest.raises(SystemExit) as ended:
        study.finish()
    assert ended.value.code == 1
    assert set(read_results(folder / "results")) == {"first"}


def test_a_measurement_is_tried_twice_and_kept_for_a_study_that_resumes(folder: Path) -> None:
    tries: list[int] = []

    def flaky() -> list[int]:
        tries.append(1)
        if len(tries) == 1:
            raise OSError("busy")
        return [7]

    first = Study(folder)
    with first.part("live"):
        assert first.measured("a/0", flaky) == [7]
    assert len(tries) == 2
    resumed = Study(folder, resume=True)
    with resumed.part("live"):
        assert resumed.measured("a/0", lambda: [8]) == [7]
    fresh = Study(folder)
    with fresh.part("live"):
        assert fresh.measured("a/0", lambda: [8]) == [8]


class Clock:
    """What a study reads the time from."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s

    def lasts(self, seconds: float, value: Any = None) -> Any:
        """Something that takes so long."""
        self.now_s += seconds
        return value


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("longhaul.studies.study.time", SimpleNamespace(monotonic=made))
    return made


def test_analysis_is_the_time_after_the_last_measurement(folder: Path, clock: Clock) -> None:
    study = Study(folder)
    with study.part("first", rounds=3):
        study.table("points", [{"x": clock.lasts(0)}])
        clock.lasts(20)
        study.measured("a/0", lambda: clock.lasts(60))
        study.evaluate("y-one", holds_if("", True, "1"))
        clock.lasts(5)
    origin = read_results(folder / "results")["first"]["provenance"]
    assert (origin["took_s"], origin["analysis_s"], origin["rounds"]) == (85, 5.0, 3)


def test_a_part_that_only_measures_has_no_analysis(folder: Path, clock: Clock) -> None:
    study = Study(folder)
    with study.part("live"):
        study.measured("a/0", lambda: clock.lasts(60))
    origin = read_results(folder / "results")["live"]["provenance"]
    assert (origin["took_s"], origin["analysis_s"]) == (60, 0.0)
    assert "rounds" not in origin


def test_the_time_of_a_part_that_resumes_includes_what_was_measured_before(
    folder: Path, clock: Clock
) -> None:
    study = Study(folder)
    with study.part("live"):
        study.measured("a/0", lambda: clock.lasts(60))
    resumed = Study(folder, resume=True)
    with resumed.part("live"):
        for key in ("a/0", "a/1"):
            resumed.measured(key, lambda: clock.lasts(7))
    assert read_results(folder / "results")["live"]["provenance"]["took_s"] == 67


def test_provenance_has_the_version_and_the_seeds_of_the_runs(folder: Path) -> None:
    study = Study(folder)
    with study.part("live"):
        for seed in (5, 3, 5):
            run = folder / f"run-{seed}"
            run.mkdir(exist_ok=True)
            record = {"seed": seed}
            (run / "run.json").write_text(json.dumps(record), encoding="utf-8")
            summary = live_summary("faithful", hosts="ok")
            study.ran(SimpleNamespace(summary=summary, directory=run), mode="sim")
        # A relay has no seed.
        study.ran(SimpleNamespace(summary=live_summary("faithful", hosts="ok")))
    origin = read_results(folder / "results")["live"]["provenance"]
    assert (origin["runs"], origin["seeds"]) == (4, [3, 5])
    assert origin["longhaul"] == version("longhaul")


def test_what_cannot_be_measured_is_a_note_and_not_a_number(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = Study(folder)

    def broken() -> int:
        raise OSError("no device")

    with study.part("live"):
        assert study.measured("a/0", broken) is None
    assert study.failed == 1
    (note,) = read_results(folder / "results")["live"]["notes"]
    assert note == "not measured: a/0 (OSError: no device)"
    assert "disturbed" not in capsys.readouterr().out


def live_summary(verdict: str, *, hosts: str) -> dict[str, Any]:
    """A live run's summary, as far as provenance reads it."""
    return {
        "fidelity": {
            "verdict": verdict,
            "waiting": {"a": 0.5},
            "hosts": {"state": hosts},
            "lateness": {"p99_ns": 5_000},
        }
    }


@pytest.mark.parametrize("state", ["ok", "starved", "unknown"])
def test_the_verdict_on_hosts_is_the_one_of_the_summary(state: str) -> None:
    assert run_facts(live_summary("faithful", hosts=state), mode="live")["hosts"] == state


def test_a_relay_has_no_verdict_on_hosts_and_counts_for_its_network_alone(tmp_path: Path) -> None:
    relay = live_summary("faithful", hosts="ok")
    relay["fidelity"] |= {"hosts": {}, "waiting": {}}
    runs = [run_facts(relay, mode="live"), run_facts(live_summary("faithful", hosts="ok"), mode="live")]
    found = provenance(tmp_path, command="make", took_s=1, runs=runs)
    assert (found["network"], found["hosts"]) == ({"faithful": 2}, {"ok": 1})
    alone = provenance(tmp_path, command="make", took_s=1, runs=runs[:1])
    assert "network faithful (1 of 1 runs); p99" in sentence(alone)


def test_the_verdict_on_hosts_of_earlier_results_has_todays_word() -> None:
    found = {"commit": "0", "date": "now", "machine": "this", "lateness_p99_us": [1.0, 2.0]}
    network = {"network": {"faithful": 2}, "hosts": {"kept up": 2}}
    assert "; hosts ok (2 of 2 runs); " in sentence({**found, **network})


def test_sources_outside_of_git_are_known_by_a_hash_of_the_files(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for place, text in ((one, "1"), (other, "2")):
        place.mkdir()
        (place / "study.py").write_text(text, encoding="utf-8")
    assert commit(one).startswith("files-")
    assert commit(one) != commit(other)


def test_sources_in_git_are_known_by_their_commit_and_whether_they_differ_from_it(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        command = ["git", *identity, *arguments]
        return subprocess.run(
            command, cwd=tmp_path, check=True, capture_output=True, text=True
        ).stdout.strip()

    git("init", "--quiet")
    place = tmp_path / "mine" / "some"
    (place / "results").mkdir(parents=True)
    library = tmp_path / "library" / "results"
    library.mkdir(parents=True)
    program, module = place / "some.py", library / "files.py"
    for path in (program, module):
        path.write_text("1", encoding="utf-8")
    git("add", ".")
    git("commit", "--quiet", "-m", "first")
    name = git("rev-parse", "--short=10", "HEAD")
    # A process asks once.
    (tmp_path / "page.md").write_text("documents make no difference", encoding="utf-8")
    (place / "results" / "claims.json").write_text("nor do results", encoding="utf-8")
    assert commit.__wrapped__(place) == name
    for path in (program, module):
        path.write_text("2", encoding="utf-8")
        assert commit.__wrapped__(place) == f"{name}+"
        path.write_text("1", encoding="utf-8")


def test_a_disturbed_measurement_is_made_again_and_the_better_one_counts(folder: Path) -> None:
    study = Study(folder)
    verdicts = iter(["degraded", "faithful"])

    def measure() -> str:
        verdict = next(verdicts)
        study.ran(SimpleNamespace(summary=live_summary(verdict, hosts="starved")))
        return verdict

    with study.part("live"):
        assert study.measured("a/0", measure) == "faithful"
    origin = read_results(folder / "results")["live"]["provenance"]
    assert origin["network"] == {"faithful": 1}
    assert origin["hosts"] == {"starved": 1}
    assert origin["lateness_p99_us"] == [5, 5]


def test_parts_have_numbers_and_the_time_that_is_left(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = Study(folder)
    one_part(study, "first", 1)
    one_part(study, "second", 1)
    path = folder / "results/claims.json"
    whole = json.loads(path.read_text(encoding="utf-8"))
    for name, took_s in (("first", 600), ("second", 240)):
        whole["parts"][name]["provenance"]["took_s"] = took_s
    path.write_text(json.dumps(whole), encoding="utf-8")
    capsys.readouterr()
    again = Study(folder)
    for name in ("first", "second"):
        one_part(again, name, 1)
    with again.part("live"):
        pass
    rest = "left by the last time, and parts that were never measured"
    heads = [line for line in capsys.readouterr().out.splitlines() if line.startswith("== part")]
    assert heads == [
        f"== part 1 of 3: first (simulated); about 14 min {rest}",
        f"== part 2 of 3: second (simulated); about 4 min {rest}",
        "== part 3 of 3: live (live)",
    ]


def interrupted(_study: Study, _given: Namespace) -> None:
    raise KeyboardInterrupt


def test_a_study_that_was_killed_while_it_kept_a_measurement_resumes(folder: Path) -> None:
    study = Study(folder)
    with study.part("live"):
        study.measured("a/0", lambda: [7])
    with (study.directory / "measured.jsonl").open("a", encoding="utf-8") as journal:
        journal.write('{"key": "a/1", "comm')
    for _attempt in (1, 2):
        resumed = Study(folder, resume=True)
        with resumed.part("live"):
            assert resumed.measured("a/0", lambda: [8]) == [7]
            assert resumed.measured("a/1", lambda: [9]) == [9]


def test_an_interrupted_study_says_how_it_resumes(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["some_study.py", "--rounds", "1"])
    parts = {name: Part(interrupted) for name in ("first", "second", "live")}
    with pytest.raises(SystemExit) as ended:
        run_study(str(folder / "some_study.py"), None, parts)
    assert ended.value.code == 130
    assert "--resume" in capsys.readouterr().err


def test_a_study_ends_with_the_run_that_its_user_interrupted(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["some_study.py", "--only", "first"])
    summary = {**live_summary("faithful", hosts="ok"), "ended": "interrupted"}
    began = []

    def runs(study: Study, _given: Namespace) -> None:
        for number in range(2):
            began.append(number)
            study.measured(f"a/{number}", lambda: study.ran(SimpleNamespace(summary=summary)))

    parts = {"first": Part(runs), "second": Part(interrupted), "live": Part(interrupted)}
    with pytest.raises(SystemExit) as ended:
        run_study(str(folder / "some_study.py"), None, parts)
    assert ended.value.code == 130
    assert began == [0]
    assert "--resume" in capsys.readouterr().err


def test_a_study_without_parts_of_a_kind_runs_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["some_study.py", "--only", "virtual"])
    parts = {name: Part(interrupted) for name in ("first", "second", "live")}
    with pytest.raises(SystemExit) as ended:
        run_study(str(folder / "some_study.py"), None, parts)
    assert ended.value.code == 0
    assert capsys.readouterr().out == "no part of some_study is virtual\n"


def test_a_program_with_other_parts_than_its_claims_does_not_begin(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["some_study.py"])
    with pytest.raises(SystemExit) as ended:
        run_study(str(folder / "some_study.py"), None, {"first": Part(interrupted)})
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "claims.yaml:4:3: parts.second: some_study.py has no such part" in said
    assert said.count("[E2803]") == 2


def test_a_program_with_a_wrong_paper_file_does_not_begin(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "paper.yaml").write_text(
        'paper: A paper\nfigures:\n  - {figure: "1", shows: f, ours: f, values: [{series: a, y: b.c}]}\n'
    )
    monkeypatch.setattr("sys.argv", ["some_study.py"])
    with pytest.raises(SystemExit) as ended:
        run_study(
            str(folder / "some_study.py"),
            None,
            {name: Part(interrupted) for name in ("first", "second", "live")},
        )
    assert ended.value.code == 2
    assert "paper.yaml:3:" in capsys.readouterr().err
