"""Programs that start when another has ended, live and simulated; and starts that could never come."""

import json
from pathlib import Path
from typing import Any

import pytest
from machine import why_not_live

import longhaul
from longhaul.scenario import ScenarioError, parse_scenario, resolve

HEAD = """
version: 1
name: after
nodes: {a: {kind: host}, b: {kind: host}}
links: {wire: {endpoints: [a, b], delay: 10ms, rate: 50Mbit, queue: 1bdp}}
programs:
"""
SUM = "{simulate: {kind: allreduce, algorithm: ring, bytes: 1MB, repeat: 2}, hosts: [a, b], start: START}"


def programs(**starts: str) -> str:
    return "".join(f"  {name}: {SUM.replace('START', start)}\n" for name, start in starts.items())


def resolved(text: str) -> Any:
    return resolve(parse_scenario((HEAD + text).encode(), name="after.yaml"))


def simulated(folder: Path, text: str) -> tuple[float, dict[str, float]]:
    """The end of a simulation, and the wall time of each of its programs, in seconds."""
    path = folder / "after.yaml"
    path.write_text(HEAD + text)
    result = longhaul.run_sim(path, runs=folder / "runs", report=False)
    engine = json.loads((result.directory / "raw/engine.json").read_text())
    return engine["duration_ns"] / 1e9, {each["name"]: each["wall_ns"] / 1e9 for each in engine["jobs"]}


def test_a_simulated_program_starts_when_the_one_before_it_ends(tmp_path: Path) -> None:
    _end, alone = simulated(tmp_path, programs(one="0s"))
    # The file's order does not matter: the last one is the first here.
    end, took = simulated(tmp_path, programs(three="after two", two="after one", one="500ms"))
    assert took == pytest.approx(dict.fromkeys(("one", "two", "three"), alone["one"]), rel=1e-4)
    # Acknowledgements of the one before are on the wire with its first segments. The last is one delay later.
    assert end == pytest.approx(0.5 + 3 * alone["one"], abs=0.05)


def test_a_simulated_program_that_does_not_get_to_start_is_not_said_to_have_passed(tmp_path: Path) -> None:
    path = tmp_path / "after.yaml"
    path.write_text(f"duration: 50ms{HEAD}{programs(one='0s', two='after one')}")
    result = longhaul.run_sim(path, runs=tmp_path / "runs", report=False)
    found = {each["name"]: (each["start_ns"], each["ending"]) for each in result.summary["programs"]}
    assert found == {"one": (0, "stopped at the end"), "two": (None, "not started")}
    assert result.outcome.headline == "Passed: 1 program, not started: two."


def test_a_program_starts_after_all_copies_of_another() -> None:
    text = "  many: {run: 'true', each: [a, b]}\n  last: {run: 'true', host: a, start: after many}\n"
    planned = {each["name"]: each["after"] for each in resolved(text).plan["programs"]}
    assert planned == {"many.a": [], "many.b": [], "last": ["many.a", "many.b"]}


REFUSED = [
    ("one: {run: 'true', host: a, start: after one}", '"one" would wait for itself'),
    (
        "one: {run: 'true', host: a, start: after two}\n  two: {run: 'true', host: a, start: after one}",
        '"one" would wait for itself',
    ),
    ("one: {run: 'true', host: a, start: after tow}\n  two: {run: 'true', host: a}", 'did you mean "two"'),
    ("one: {run: 'true', host: a, start: {after: two}}", "names a program in braces; write start: after two"),
    ("one: {run: 'true', host: a, start: after}", "does not name one program; write for example"),
    ("one: {run: 'true', host: a, start: after x y}", "does not name one program; write for example"),
    (
        "one: {run: 'true', host: a, start: after two}\n  two: {run: 'true', host: a, service: true}",
        '"two" is a service, which does not end',
    ),
    (
        "one: {run: 'true', host: a, service: true, start: after two}\n  two: {run: 'true', host: a}",
        "a service starts before the run's clock and cannot wait for a program",
    ),
    (
        "one: {run: 'true', host: a, start: after two, stop: 2s}\n  two: {run: 'true', host: a}",
        "programs.one.stop: has a stop, but its start time is unknown: it starts after another program",
    ),
    (
        f"one: {{run: 'true', host: a, start: after two}}\n  two: {SUM.replace('START', '0s')}",
        '"two" has no "run" to wait for; add "run" to "two", or write a time',
    ),
    (
        f"one: {SUM.replace('START', 'after two')}\n  two: {{run: 'true', host: a}}",
        '"two" has no "simulate" to wait for; add "simulate" to "two", or write a time',
    ),
    (
        "one: {run: 'true', host: a, start: after two}\n  two: {run: 'true', host: a, start: after three}\n"
        "  three: {run: 'true', host: a, start: after two}",
        'programs.two.start: "two" would wait for itself',
    ),
]


@pytest.mark.parametrize(("text", "words"), REFUSED, ids=[words for _text, words in REFUSED])
def test_a_program_that_could_never_start_is_refused(text: str, words: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        resolved(f"  {text}\n")
    assert words in str(caught.value)


def test_only_programs_can_start_after_another() -> None:
    text = "  one: {run: 'true', host: a}\ntraffic: {p: {kind: ping, from: a, to: b, start: after one}}\n"
    with pytest.raises(ScenarioError) as caught:
        resolved(text)
    assert "traffic.p.start: only programs can start after another; write a time" in str(caught.value)


@pytest.mark.skipif(why_not_live() is not None, reason=str(why_not_live()))
def test_a_real_program_starts_when_the_one_before_it_ends_however_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    path = tmp_path / "after.yaml"
    path.write_text(
        HEAD
        + "  last: {run: 'true', host: b, start: after first}\n"
        + "  gone: {run: 'true', host: b, start: after none}\n"
        + "  first: {run: sh -c 'sleep 0.4; exit 3', host: a, expect_exit: 3}\n"
        + "  none: {run: /does/not/exist, host: a, expect_exit: any}\n"
    )
    result = longhaul.run_live(path, runs=tmp_path / "runs", report=False)
    found = {each["name"]: each for each in result.summary["programs"]}
    first, last = found["first"], found["last"]
    # It sleeps for 0.4 s; the other does not wait for as long again.
    assert 0 <= last["start_ns"] - first["end_ns"] < first["end_ns"] - first["start_ns"]
    assert found["last"]["exit"] == found["gone"]["exit"] == 0
