"""`longhaul study`: what it lists and shows of a directory of studies, and how it runs one."""

import json
from pathlib import Path
from typing import Any

import pytest
from longhaul.results.studies import WORDS, word_of

from .conftest import ROOT, Command

CLAIM = {
    "place": "figure 1",
    "text": "y is 1",
    "rule": "within 5 %",
    "over": "the size",
    "verdict": "depends on the size",
    "cases": [
        {"condition": "small", "outcome": "holds", "found": "1.00 ±0.01"},
        {"condition": "large", "outcome": "fails", "found": "2.00 ±0.01"},
    ],
}
SCRIPT = '''"""Is y 1?"""
import json, sys
from pathlib import Path

import beside

print("arguments", json.dumps(sys.argv[1:]))
assert str(Path.cwd()) not in sys.path, "the working directory is no place to import from"
sys.exit(int("--fail" in sys.argv))
'''


@pytest.fixture
def studies(work: Path) -> Path:
    """A directory of two studies: one with results, one without."""
    for name in ("one_study", "other"):
        folder = work / "studies" / name
        folder.mkdir(parents=True)
        (folder / f"{name}.py").write_text(SCRIPT, encoding="utf-8")
        (folder / "page.md.j2").write_text("", encoding="utf-8")
        (folder / "beside.py").write_text("", encoding="utf-8")
    part: dict[str, Any] = {
        "how": "simulated",
        "claims": [CLAIM],
        "provenance": {"date": "2026-11-26 10:00Z", "machine": "2 x CPU", "took_s": 240},
    }
    results = work / "studies/one_study/results"
    results.mkdir()
    whole = {"study": "one-study", "question": "Is y 1?", "parts": {"first": part}}
    (results / "claims.json").write_text(json.dumps(whole), encoding="utf-8")
    (work / "studies/no_study").mkdir()
    return work / "studies"


def test_verdicts_are_counted_by_their_word() -> None:
    assert [
        word_of(f"{word}{rest}") for word, rest in zip(WORDS, ("", " on x", "", ": y", ""), strict=True)
    ] == [*WORDS]


def test_studies_are_listed_with_their_claims(longhaul: Command, studies: Path) -> None:
    listed = longhaul("study", "list")
    assert listed.returncode == 0, listed.stderr
    lines = listed.stdout.splitlines()
    assert lines[:2] == ["one-study       Is y 1?", " " * 16 + "1 depends; measured 2026-11-26"]
    assert lines[2:] == ["other           Is y 1?", " " * 16 + "no results", "1 claims: 1 depends"]

    found = json.loads(longhaul("study", "list", "--json").stdout)
    assert [each["study"] for each in found] == ["one-study", "other"]
    assert (found[0]["claims"], found[0]["took_s"]) == ({"depends": 1}, 240)


def test_a_study_shows_each_claim_with_what_was_found(longhaul: Command, studies: Path) -> None:
    shown = longhaul("study", "show", "one-study")
    assert "depends on the size: y is 1 (figure 1)" in shown.stdout
    assert "holds  small: 1.00 ±0.01" in shown.stdout
    assert "fails  large: 2.00 ±0.01" in shown.stdout
    assert json.loads(longhaul("study", "show", "one_study", "--json").stdout)["claims"] == [
        {"part": "first", **CLAIM}
    ]
    assert "longhaul study run other" in longhaul("study", "show", "other").stdout


def test_a_study_runs_with_its_options_and_not_from_the_working_directory(
    longhaul: Command, studies: Path
) -> None:
    ran = longhaul(
        "study", "run", "one-study", "--only", "first", "--rounds", "2", "--resume", "--", "--own", "3"
    )
    assert ran.returncode == 0, ran.stderr
    assert "study one-study (1 of 1): about 4 min by the last time" in ran.stdout
    assert '["--only", "first", "--rounds", "2", "--resume", "--own", "3"]' in ran.stdout

    every = longhaul("study", "run", "--all", "--", "--fail")
    assert every.returncode == 1
    assert "study other (2 of 2)" in every.stdout
    assert "one-study, other" in every.stderr


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


def test_without_studies_it_says_where_they_were_looked_for(longhaul: Command) -> None:
    done = longhaul("study", "list")
    assert (done.returncode, "--directory" in done.stderr) == (2, True)


def test_the_studies_of_this_checkout_are_those_of_the_documents(longhaul: Command) -> None:
    import tomllib

    known = tomllib.loads((ROOT / "studies/studies.toml").read_text(encoding="utf-8"))["study"]
    found = json.loads(longhaul("study", "list", "--json", "--directory", str(ROOT / "studies")).stdout)
    assert sorted(each["folder"].replace("_", "-") for each in known) == [each["study"] for each in found]
