"""The changes of a run, exported as events, make the same changes again."""

import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from link_changes import by_user, constant, plan_of

import longhaul
from longhaul.analysis.configuration import Applied, Configuration, planned
from longhaul.analysis.exported_changes import ExportError, events_text
from longhaul.cli.main import longhaul as command
from longhaul.scenario import parse_scenario, resolve, resolve_changes
from longhaul.scenario.edit.splicing import flow
from longhaul.scenario.show.model_syntax import written_change

LINK = "delay: 35ms, rate: 10Mbit"
MODELS = [
    "delay=35.000001ms",
    "delay={base: 8ms, jitter: {dist: normal, sd: 1ms}, reorder: true}",
    "delay={base: 8ms, jitter: {dist: uniform, half_width: 250us}, reorder: false}",
    "delay={base: 8ms, ticks: {hz: 100, rounding: up}}",
    "rate=12345678bit",
    "rate={paced: 300Mbit, line_rate: 1Gbit}",
    "rate={bucket: 50Mbit, burst: 15400B, peak: 1Gbit}",
    "loss=0.30000001%",
    "loss={model: none}",
    "loss={model: independent, mean: 2%, position: egress}",
    "loss={model: block, packets: 100}",
    "loss={model: periodic, every: 7}",
    "loss={model: gilbert-elliott, mean: 1%, burst: 2.5}",
    "loss={model: markov, good_to_bad: 1%, bad_to_good: 30%, loss_bad: 90%}",
    "loss={model: four-state, p13: 1%, p31: 60%}",
    "loss={model: correlated, mean: 1%, correlation: 30%}",
    "queue=100p",
    "queue=1bdp",
    "queue={kind: head-drop, limit: 1MiB}",
    "queue={kind: red, limit: 1MB, min: 100kB, max: 300kB, ecn: true}",
    "queue={kind: codel, target: 3ms}",
    "queue={kind: fq-codel, flows: 64}",
    "queue={kind: pie, alpha: 0.5}",
    "queue={kind: drr, limit: 100p, quantum: 3000B}",
    "reordering={every: 100, delay: 50ms}",
    "reordering={share: 1%, delay: 50ms}",
    "reordering={gap: 5, early: 25%}",
    "reordering=none",
    "duplicate=0.1%",
    "corrupt=0.0001%",
    "count=atm",
]


def no_words(_applied: Applied, _key: str) -> Any:
    return None


def phases(configuration: Configuration) -> list[tuple[int, Any]]:
    return [
        (phase.from_ns, phase.model)
        for way in ("forward", "reverse")
        for phase in configuration.phases(0, way)
    ]


def again(link: str, text: str) -> dict[str, Any]:
    return plan_of(link, *re.findall(r"^  - (.*)$", text, re.MULTILINE))


@pytest.mark.parametrize("words", MODELS)
def test_every_model_is_written_as_it_is_read(words: str) -> None:
    link = plan_of(LINK)["links"][0]
    (asked,) = resolve_changes([words], link, to_hosts=())
    written, without_syntax = written_change(asked["change"])
    assert not without_syntax
    (key,) = written
    (read,) = resolve_changes([f"{key}={flow(written[key])}"], link, to_hosts=())
    assert read == asked


def test_exported_events_make_the_same_configuration_at_the_same_instants() -> None:
    plan = plan_of(
        LINK,
        "{at: 1s, link: w, set: {delay: 80ms}, over: 2s}",
        "{at: 5s, link: w, down: 1s}",
        "{at: 7s, link: w, direction: forward, set: {rate: 5Mbit, queue: 1bdp}, over: 95ms}",
    )
    made = [
        *planned(plan),
        by_user(8.000000123, {"delay": constant(12.5)}, way="reverse"),
        by_user(9, {"up": False}),
    ]
    text = events_text(plan, made, no_words)
    assert text.count("over: ") == 2
    exported = again(LINK, text)
    assert phases(Configuration(exported, planned(exported))) == [
        (at_ns, {**model}) for at_ns, model in phases(Configuration(plan, made))
    ]


def test_a_ramp_that_a_user_crossed_is_exported_step_by_step() -> None:
    plan = plan_of(LINK, "{at: 1s, link: w, set: {delay: 80ms}, over: 50ms}")
    steps = planned(plan)
    made = [*steps[:2], by_user(1.025, {"delay": constant(1)}), *steps[2:]]
    text = events_text(plan, made, no_words)
    assert "over" not in text
    exported = again(LINK, text)
    assert phases(Configuration(exported, planned(exported))) == phases(Configuration(plan, made))


def test_a_ramp_that_began_elsewhere_because_of_a_user_is_exported_step_by_step() -> None:
    plan = plan_of(LINK, "{at: 2s, link: w, set: {delay: 80ms}, over: 50ms}")
    made = [by_user(1, {"delay": constant(1)}), *planned(plan)]
    exported = again(LINK, events_text(plan, made, no_words))
    assert phases(Configuration(exported, planned(exported))) == phases(Configuration(plan, made))


def test_what_a_user_wrote_stands_where_the_plan_has_no_words() -> None:
    model = "{base: 5ms, jitter: {dist: exponential, mean: 1ms}}"
    plan = plan_of(LINK)
    (asked,) = resolve_changes([f"delay={model}"], plan["links"][0], to_hosts=())
    made = [by_user(1, asked["change"], words=(f"delay={model}",))]
    with pytest.raises(
        ExportError, match=r"the delay set on w at 1\.0+ s cannot be written in the scenario language"
    ):
        events_text(plan, made, no_words)
    exported = again(
        LINK,
        events_text(
            plan,
            made,
            lambda _applied, _key: {"base": "5ms", "jitter": {"dist": "exponential", "mean": "1ms"}},
        ),
    )
    assert exported["events"][0]["change"]["delay"] == asked["change"]["delay"]


CHANGED = """
version: 1
name: exported
seed: 3
duration: 3s
nodes:
  r: {kind: router}
  s: {kind: router}
  a: {kind: host, attach: r, pacing: {line_rate: 50Mbit, classes: {bulk: {to: b, rate: 10Mbit}}}}
  b: {kind: host, attach: s}
links: {wan: {endpoints: [r, s], delay: 35ms, rate: 10Mbit, loss: 1%}}
traffic: {load: {kind: tcp, from: a, to: b}}
events:
  - {at: 1s, link: wan, set: {delay: {base: 80ms, jitter: {dist: exponential, mean: 1ms}}, rate: 5Mbit}}
  - {at: 1500ms, host: a, pacing: {bulk: 3Mbit}}
  - {at: 2s, link: wan, set: {loss: 2%, duplicate: 1%}, over: 200ms}
  - {at: 2500ms, link: wan, direction: reverse, down: 100ms}
"""


def test_a_simulation_of_exported_events_is_the_same_run(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(CHANGED)
    first = longhaul.run_sim(tmp_path / "a.yaml", runs=tmp_path / "runs", report=False)
    printed = CliRunner().invoke(command, ["report", "--events-of", str(first.directory)])
    assert printed.exit_code == 0, printed.output
    head = CHANGED.partition("events:")[0]
    (tmp_path / "b.yaml").write_text(head + printed.output)
    second = longhaul.run_sim(tmp_path / "b.yaml", runs=tmp_path / "runs", report=False)
    assert second.summary["simulation"]["digest"] == first.summary["simulation"]["digest"]
    plans = [
        resolve(parse_scenario((tmp_path / name).read_bytes(), name=name)).plan
        for name in ("a.yaml", "b.yaml")
    ]
    changes = [[{**each, "cause": None} for each in plan["events"]] for plan in plans]
    assert changes[0] == changes[1]
    texts = [[each["text"] for each in run.changes] for run in (first, second)]
    assert texts[0] == texts[1]


def test_the_option_stands_alone(tmp_path: Path) -> None:
    for arguments in (["--events-of", str(tmp_path), str(tmp_path)], []):
        assert CliRunner().invoke(command, ["report", *arguments]).exit_code == 2
