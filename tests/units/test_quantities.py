"""Quantities as text: units, a space in front of them, and what is refused."""

import pytest

from longhaul.scenario import parse_scenario, resolve
from longhaul.scenario.model.queue import QueueLimit, parse_limit
from longhaul.units.quantities import Quantity, Rate, Share, Size, Span, UnitError


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        (Size, ("8MiB", "8 MiB", " 8 MiB ")),
        (Span, ("1.5s", "1.5 s")),
        (Rate, ("10MB/s", "10 MB/s", "80 Mbit")),
        (Share, ("0.1%", "0.1 %", "0.001")),
    ],
)
def test_a_space_may_precede_a_unit(kind: type[Quantity], texts: tuple[str, ...]) -> None:
    assert len({kind.parse(text) for text in texts}) == 1


def test_limits_of_queues_may_have_a_space_too() -> None:
    found = [parse_limit(text) for text in ("1 MiB", "100 p", "1 bdp", "20 ms")]
    assert found == [
        QueueLimit(bytes=1 << 20),
        QueueLimit(packets=100),
        QueueLimit(bdp="1"),
        QueueLimit(ns=20_000_000),
    ]


@pytest.mark.parametrize("text", ["8 Mi B", "8  MiB", "8 mib", "MiB", "8"])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(UnitError):
        Size.parse(text)


@pytest.mark.parametrize("size", ["8MiB", "8 MiB", '"8 MiB"'])
def test_a_scenario_has_sizes_with_a_space_quoted_or_not(size: str) -> None:
    text = f"""\
version: 1
name: sized
nodes: {{a: {{kind: host}}, b: {{kind: host}}}}
links: {{wan: {{endpoints: [a, b], delay: 5 ms, rate: 10 Mbit, queue: {size}, loss: 0.1 %}}}}
traffic: {{bulk: {{kind: tcp, from: a, to: b, bytes: {size}}}}}
"""
    scenario = parse_scenario(text.encode(), name="sized.yaml")
    flow = scenario.document.traffic["bulk"]
    assert flow.bytes == Size(8 << 20)  # type: ignore[union-attr]
    assert resolve(scenario).plan["links"]
