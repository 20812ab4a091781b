"""Drops add up by cause and link, and every surface shows the same numbers: over random scenarios."""

from pathlib import Path
from random import Random
from typing import Any

import pytest
from attribution import check

import longhaul
from longhaul.report import html

SEEDS = range(8)
LOSSES = (
    "0%",
    "0.5%",
    "{model: gilbert-elliott, mean: 2%, burst: 3}",
    "{model: periodic, every: 50}",
)
QUEUES = (
    "{limit: 6kB}",
    "{limit: 1bdp}",
    "{kind: red, limit: 60kB, min: 3p, max: 9p}",
    "{kind: codel}",
    "{kind: pie}",
    "{limit: 3p}",
)


def scenario(random: Random) -> str:
    """Two sites and a third, with hosts that send too much, pace, and lose links."""
    link = lambda ends: (  # noqa: E731
        f"{{endpoints: [{ends}], delay: {random.randint(1, 20)}ms, rate: {random.choice((2, 5, 20))}Mbit, "
        f"queue: {random.choice(QUEUES)}, loss: {random.choice(LOSSES)}"
        + (f", duplicate: {random.choice((0, 1))}%" if random.random() < 0.3 else "")
        + (", mtu: 1300" if random.random() < 0.3 else "")
        + "}"
    )
    events = [
        f"{{at: {random.randint(100, 800)}ms, link: {random.choice(('wan', 'far'))}, {change}}}"
        for change in random.sample(
            (
                f"down: {random.randint(50, 300)}ms",
                "set: {loss: 5%}",
                "set: {rate: 1Mbit}",
                "set: {delay: 30ms}",
                "set: {queue: {limit: 3kB}}",
            ),
            random.randint(1, 3),
        )
    ]
    paced = "line: 1Gbit, classes: {all: {rate: 1Mbit, queue: 4p}}, default: all"
    host = (
        f"{{kind: host, attach: r, pacing: {{{paced}}}}}"
        if random.random() < 0.5
        else "{kind: host, attach: r}"
    )
    rate, size = random.choice((1, 8)), random.choice((500, 1400))
    joined = "\n  - ".join(events)
    return f"""\
version: 1
name: drops
duration: 1s
nodes:
  r: {{kind: router}}
  s: {{kind: router}}
  t: {{kind: router}}
  a1: {{kind: host, attach: r}}
  a2: {host}
  b1: {{kind: host, attach: s}}
  c1: {{kind: host, attach: t}}
links:
  wan: {link("r, s")}
  far: {link("s, t")}
traffic:
  bulk: {{kind: tcp, from: a1, to: c1, cc: {random.choice(("reno", "cubic", "bbr"))}, flows: 2}}
  flood: {{kind: udp, from: a2, to: c1, rate: {rate}Mbit, size: {size}B}}
  probe: {{kind: ping, from: b1, to: [a1, c1], every: 20ms}}
events:
  - {joined}
"""


@pytest.mark.parametrize("seed", SEEDS)
def test_drops_of_a_simulation_add_up_wherever_they_are_shown(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    # Figures take long to draw, and show none of these numbers.
    monkeypatch.setattr(
        html,
        "_figures",
        lambda directory, summary, fidelity: dict.fromkeys(html._drawings(directory, summary, fidelity)),
    )
    text = scenario(Random(seed))
    (tmp_path / "drops.yaml").write_text(text)
    result = longhaul.run_sim(tmp_path / "drops.yaml", runs=tmp_path / "runs", seed=seed)
    found = check(result.directory, capsys)
    assert found, text
    SEEN.update(found)


SEEN: set[str] = set()


def test_the_scenarios_have_every_cause_of_a_link() -> None:
    assert {"lost", "overflowed", "dropped", "down"} <= SEEN
