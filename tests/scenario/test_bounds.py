"""A file that is wrong everywhere, or very long, costs no more than its length asks for."""

from pathlib import Path

import pytest

from longhaul.scenario.check import references
from longhaul.scenario.check.load import load_scenario, parse_scenario
from longhaul.scenario.lower.resolve import resolve
from longhaul.scenario.model import base
from longhaul.scenario.syntax import problems
from longhaul.scenario.syntax.csv_file import InputFile
from longhaul.scenario.syntax.problems import ENOUGH_PROBLEMS, MOST_PROBLEMS, ScenarioError

HEAD = """
version: 1
name: t
duration: 1s
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 5ms}}
events:
"""
WRONG = {
    "value": "  - {at: 3, link: wan, down: 3s}",
    "key": "  - {at: 3s, link: wan, down: 3s, dwon: 3s}",
    "name": "  - {at: 3s, link: wam, down: 3s}",
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_hundred_problems_are_shown_and_the_others_counted(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    guesses = []

    def did_you_mean(name: str, known: object) -> str:
        guesses.append(name)
        return "guess"

    monkeypatch.setattr(references, "did_you_mean", did_you_mean)
    monkeypatch.setattr(base, "did_you_mean", did_you_mean)
    text = HEAD + "\n".join([WRONG[kind]] * 3 * ENOUGH_PROBLEMS)
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(text.encode(), name="t.yaml")
    assert len(caught.value.diagnostics) == MOST_PROBLEMS
    assert [each.span.line for each in caught.value.diagnostics] == list(range(8, 8 + MOST_PROBLEMS))
    assert str(caught.value).endswith(f"... and at least {ENOUGH_PROBLEMS - MOST_PROBLEMS} more problems")
    assert len(guesses) <= ENOUGH_PROBLEMS


def test_some_problems_more_than_are_shown_are_counted_exactly() -> None:
    text = HEAD + "\n".join([WRONG["value"]] * (MOST_PROBLEMS + 7))
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(text.encode(), name="t.yaml")
    assert str(caught.value).endswith("... and 7 more problems")
    assert caught.value.count == MOST_PROBLEMS + 7


def test_each_row_of_a_trace_is_read_as_often_as_it_has_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many links and directions follow it."""
    hosts, rows = 12, 40
    pairs = [(a, b) for a in range(hosts) for b in range(hosts) if a != b]
    lines = [f"h{a},h{b},{t},{10 + t % 3}" for t in range(rows) for a, b in pairs]
    (tmp_path / "wan.csv").write_text("src,dst,t_s,rtt_ms\n" + "\n".join(lines) + "\n")
    links = [
        f"  h{a}-h{b}: {{endpoints: [h{a}, h{b}], measured: {{trace: wan.csv}}}}"
        for a in range(hosts)
        for b in range(a)
    ]
    path = tmp_path / "t.yaml"
    path.write_text(
        "version: 1\nname: t\nduration: 1s\nnodes:\n"
        + "".join(f"  h{a}: {{kind: router}}\n" for a in range(hosts))
        + "links:\n"
        + "\n".join(links)
        + "\n"
    )
    reads = 0
    row = InputFile.row

    def counted(self: InputFile, line: int) -> str:
        nonlocal reads
        reads += 1
        return row(self, line)

    monkeypatch.setattr(InputFile, "row", counted)
    plan = resolve(load_scenario(path)).plan
    assert len(plan["links"]) == len(links)
    # Once for what is a row, once for the places, and once for each of two columns.
    assert reads <= 4 * (len(lines) + 2)


def test_directions_that_follow_one_column_share_its_points(tmp_path: Path) -> None:
    (tmp_path / "delay.csv").write_text("t_s,delay_ms\n0,10\n1,11\n2,12\n")
    path = tmp_path / "t.yaml"
    path.write_text(
        "version: 1\nname: t\nduration: 1s\nnodes: {a: {kind: host}, b: {kind: host}}\n"
        "links: {wan: {endpoints: [a, b], delay: {trace: delay.csv}}}\n"
    )
    link = resolve(load_scenario(path)).plan["links"][0]
    assert link["forward"]["delay"]["points"] is link["reverse"]["delay"]["points"]
    assert link["forward"]["delay"]["points"] == [[0, 10**7], [10**9, 11 * 10**6], [2 * 10**9, 12 * 10**6]]
    assert problems.ENOUGH_PROBLEMS > MOST_PROBLEMS
