"""A study measures in parts, keeps what it measured, and publishes with provenance."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import study
from judging import exact, judged
from provenance import provenance, run_facts, sentence

from longhaul.report.plotting import figure, paper


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "ROOT", tmp_path)


def one_part(made: study.Study, name: str, value: float) -> None:
    with made.part(name, how="simulated"):
        made.table(name, [{"x": 1, "y": value}])
        made.claim("y is 1", place="figure 1", rule="exactly", cases=judged("", value == 1, f"{value}"))
        made.value("y", exact(value), "us")
        with paper():
            drawn = figure(2)
            drawn.subplots().plot([1, value])
            made.figure(drawn, name, data=[name])


def test_a_part_replaces_its_own_results_alone(tmp_path: Path) -> None:
    made = study.Study("some", "what?", whole=False)
    one_part(made, "first", 1)
    one_part(made, "second", 2)
    one_part(study.Study("some", "what?", whole=False), "first", 3)
    folder = tmp_path / "runs/studies/some/results"
    parts = json.loads((folder / "claims.json").read_text(encoding="utf-8"))["parts"]
    assert {name: part["values"]["y"]["value"] for name, part in parts.items()} == {"first": 3, "second": 2}
    assert parts["first"]["claims"][0]["verdict"] == "not reproduced"
    assert set(parts["first"]["provenance"]) >= {"commit", "date", "machine", "command", "took_s"}


def test_a_table_says_where_it_comes_from_and_a_picture_what_it_was_drawn_from(tmp_path: Path) -> None:
    one_part(study.Study("some", "what?", whole=False), "first", 1)
    folder = tmp_path / "runs/studies/some/results"
    head, names, values = (folder / "first.csv").read_text(encoding="utf-8").splitlines()
    assert head.startswith("# longhaul study some, part first, simulated: commit ")
    assert (names, values) == ("x,y", "1,1")
    text = (folder / "study-some-first.png").read_bytes()
    assert f"first.csv {study.digest(folder / 'first.csv')}".encode() in text


def test_a_part_that_fails_leaves_the_others_and_the_exit_code_says_so() -> None:
    made = study.Study("some", "what?", whole=False)
    with made.part("broken", how="live"):
        raise RuntimeError("no network")
    one_part(made, "sound", 1)
    with pytest.raises(SystemExit) as ended:
        made.finish()
    assert ended.value.code == 1


def test_a_measurement_is_tried_twice_and_kept_for_a_study_that_resumes() -> None:
    tries: list[int] = []

    def flaky() -> list[int]:
        tries.append(1)
        if len(tries) == 1:
            raise OSError("busy")
        return [7]

    first = study.Study("some", "what?", whole=False)
    with first.part("a", how="live"):
        assert first.measured("a/0", flaky) == [7]
    assert len(tries) == 2
    again = study.Study("some", "what?", whole=False, resume=True)
    with again.part("a", how="live"):
        assert again.measured("a/0", lambda: [8]) == [7]
    fresh = study.Study("some", "what?", whole=False)
    with fresh.part("a", how="live"):
        assert fresh.measured("a/0", lambda: [8]) == [8]


def test_what_cannot_be_measured_is_a_note_and_not_a_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = study.Study("some", "what?", whole=False)

    def broken() -> int:
        raise OSError("no device")

    with made.part("a", how="live"):
        assert made.measured("a/0", broken) is None
    assert made.failed == 1
    path = tmp_path / "runs/studies/some/results/claims.json"
    (note,) = json.loads(path.read_text(encoding="utf-8"))["parts"]["a"]["notes"]
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


def test_a_relay_has_no_verdict_on_hosts_and_counts_for_its_network_alone() -> None:
    relay = live_summary("faithful", hosts="ok")
    relay["fidelity"] |= {"hosts": {}, "waiting": {}}
    runs = [run_facts(relay, mode="live"), run_facts(live_summary("faithful", hosts="ok"), mode="live")]
    found = provenance(command="make", took_s=1, runs=runs)
    assert (found["network"], found["hosts"]) == ({"faithful": 2}, {"ok": 1})
    alone = provenance(command="make", took_s=1, runs=runs[:1])
    assert "network faithful (1 of 1 runs); p99" in sentence(alone)


def test_the_verdict_on_hosts_of_earlier_results_has_todays_word() -> None:
    found = {"commit": "0", "date": "now", "machine": "this", "lateness_p99_us": [1.0, 2.0]}
    network = {"network": {"faithful": 2}, "hosts": {"kept up": 2}}
    assert "; hosts ok (2 of 2 runs); " in sentence({**found, **network})


def test_a_disturbed_measurement_is_made_again_and_the_better_one_counts() -> None:
    made = study.Study("some", "what?", whole=False)
    verdicts = iter(["degraded", "faithful"])

    def measure() -> str:
        verdict = next(verdicts)
        made.ran(SimpleNamespace(summary=live_summary(verdict, hosts="starved")))
        return verdict

    with made.part("a", how="live"):
        assert made.measured("a/0", measure) == "faithful"
    path = made.directory / "results" / "claims.json"
    origin = json.loads(path.read_text(encoding="utf-8"))["parts"]["a"]["provenance"]
    assert origin["network"] == {"faithful": 1}
    assert origin["hosts"] == {"starved": 1}
    assert origin["lateness_p99_us"] == [5, 5]


def test_an_interrupted_study_says_how_it_goes_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_study: study.Study, _given: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sys.argv", ["some.py", "--rounds", "1"])
    with pytest.raises(SystemExit) as ended:
        study.run_study("some", "what?", None, {"first": study.Part("simulated", interrupted)})
    assert ended.value.code == 130
    assert "--resume" in capsys.readouterr().err
