"""Changes of links as commands of tc."""

import pytest

from longhaul.oracle.changes import Commands, changes
from longhaul.oracle.stages import LIMIT_PACKETS
from longhaul.scenario import parse_scenario, resolve
from longhaul.scenario.syntax.value_errors import ScenarioValueError

NETEM = f"root handle 1: netem limit {LIMIT_PACKETS}"


def timeline(models: str, *events: str) -> list[Commands]:
    text = "version: 1\nname: one\nduration: 10s\nnodes: {a: {kind: host}, b: {kind: host}}\n"
    text += f"links: {{a-b: {{endpoints: [a, b], {models}}}}}\nevents:\n"
    text += "".join(f"  - {{link: a-b, {event}}}\n" for event in events)
    return list(changes(resolve(parse_scenario(text.encode(), name="one.yaml")).plan))


def test_a_new_delay_changes_the_last_stage_alone() -> None:
    assert timeline("delay: 10ms, rate: 1Mbit", "at: 2s, direction: forward, set: {delay: 20ms}") == [
        Commands(2 * 10**9, "links", (f"qdisc change dev lh0b {NETEM} delay 20ms corrupt 0%",))
    ]


def test_a_new_rate_changes_the_bucket_and_the_serialiser() -> None:
    found = timeline("rate: 1Mbit, queue: 10p", "at: 2s, direction: forward, set: {rate: 2Mbit}")
    bucket, serialiser = found
    assert [line.split()[3] for line in bucket.lines] == ["lh0a0i", "lh0a0i"]
    assert "tbf rate 2mbit" in bucket.lines[0]
    assert bucket.lines[1].endswith("parent 10:1 handle 20: pfifo limit 10")
    assert serialiser.lines == (f"qdisc change dev lh0a1i {NETEM} rate 2mbit -14 corrupt 0%",)


def test_a_link_that_is_down_loses_everything_at_its_sender() -> None:
    down, up = timeline(
        "delay: 10ms", "at: 2s, direction: forward, down: true", "at: 3s, direction: forward, up: true"
    )
    assert down == Commands(2 * 10**9, "n0", (f"qdisc change dev lh0a {NETEM} loss 100% corrupt 0%",))
    assert up.lines == (f"qdisc change dev lh0a {NETEM} corrupt 0%",)


def test_both_directions_change_where_none_is_named() -> None:
    assert len(timeline("delay: 10ms", "at: 2s, set: {delay: 20ms}")) == 2


def test_a_rate_cannot_come_later() -> None:
    with pytest.raises(ScenarioValueError, match="cannot add or remove a rate"):
        timeline("delay: 10ms", "at: 2s, set: {rate: 1Mbit, queue: 10p}")
