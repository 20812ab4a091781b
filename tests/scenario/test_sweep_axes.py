"""Axes, designs and seeds of sweeps, and the scenarios that they make."""

import math
import re
from collections import Counter
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longhaul.scenario import ScenarioError, parse_scenario
from longhaul.scenario.expand.axes import Axis, axes_of, numbers_of, text_of
from longhaul.scenario.expand.places import read_value
from longhaul.scenario.model.sweep import Axis as AxisModel
from longhaul.scenario.sweeps.design import Design, seed_of
from longhaul.scenario.sweeps.options import Asked, Options, load_sweep
from longhaul.scenario.sweeps.variants import Base, base_of
from longhaul.scenario.syntax.yaml_tree import plain, read_tree
from longhaul.units.quantities import Span

TEXT = """
version: 1
name: pair
seed: 7
duration: 2s
params: {cc: cubic}
nodes: {a1..2: {kind: host, attach: r}, r: {kind: router}, b: {kind: host, attach: r}}
links: {}
traffic: {bulk: {kind: tcp, from: a1, to: b, cc: $cc}}
events: [{at: 1s, link: b-r, down: 3s}]
sweep: {axes: {cc: [cubic, reno]}}
"""


def axes(**models: dict) -> tuple[Axis, ...]:
    return axes_of({name: AxisModel.model_validate(each) for name, each in models.items()}, grid=True)


def asked(tmp_path: Path, **options: object) -> Asked:
    path = tmp_path / "pair.yaml"
    path.write_text(TEXT)
    return load_sweep(path, settings={}, options=Options(**options))


def base(tmp_path: Path, *names: str) -> Base:
    found = asked(tmp_path)
    return base_of(found.source, found.root, names, settings={})


PATH = """
version: 1
name: path
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 5ms, rate: 10Mbit}}
"""


def on_axis(axis: str, text: str, document: str = PATH) -> list[int]:
    """The delays of both directions of the link with a value on an axis, in ns."""
    source, root = read_tree("path.yaml", document.encode())
    (link,) = base_of(source, root, [axis], settings={}).resolve([text]).plan["links"]
    return [link[way]["delay"]["delay_ns"] for way in ("forward", "reverse")]


@pytest.mark.parametrize("axis", ["rtt", "links.wan.rtt"])
def test_half_of_a_round_trip_is_the_delay_of_each_direction(axis: str) -> None:
    assert on_axis(axis, "40ms") == [20_000_000] * 2
    assert on_axis(axis, "41 ms") == [20_500_000] * 2


def test_a_parameter_rtt_is_a_parameter() -> None:
    document = PATH.replace("delay: 5ms", "delay: $rtt") + "params: {rtt: 5ms}\n"
    assert on_axis("rtt", "40ms", document) == [40_000_000] * 2
    assert on_axis("links.wan.rtt", "40ms", document) == [20_000_000] * 2


@pytest.mark.parametrize(
    ("axis", "text", "document", "said"),
    [
        ("rtt", "40", PATH, '"40" has no unit'),
        ("rtt", "11ns", PATH, "the finest step is 1ns"),
        (
            "rtt",
            "4ms",
            PATH.replace("b: {", "b: {kind: host}, c: {").replace(
                "links: {", "links: {x: {endpoints: [b, c]}, "
            ),
            "write links.NAME.rtt",
        ),
        (
            "links.wan.rtt",
            "4ms",
            PATH.replace("rate: 10Mbit", "reverse: {delay: 9ms}"),
            "links.wan.reverse.delay",
        ),
    ],
)
def test_a_round_trip_that_no_delay_can_be_is_refused(axis: str, text: str, document: str, said: str) -> None:
    with pytest.raises(ScenarioError, match=re.escape(said)):
        on_axis(axis, text, document)


def test_a_grid_has_every_combination_once_and_the_last_axis_moves_fastest() -> None:
    design = Design(axes(a={"values": (1, 2)}, b={"values": ("x", "y", "z")}), "grid", None, 1)
    assert [values for _, values in design] == [(a, b) for a in "12" for b in "xyz"]
    assert design.variants == 6


def test_a_logarithmic_range_has_equal_ratios_and_a_linear_one_equal_differences() -> None:
    (log,) = axes(d={"from": "1ms", "to": "100ms", "steps": 5, "scale": "log"})
    times = [Span.parse(value).ns for value in log.values]
    ratio = 100 ** (1 / 4)
    # Values have six digits: half a unit in the sixth is 5e-6 of them at most.
    assert times == [pytest.approx(1e6 * ratio**step, rel=5e-6) for step in range(5)]
    (linear,) = axes(d={"from": 1, "to": 9, "steps": 5})
    assert linear.values == ("1", "3", "5", "7", "9")
    (shares,) = axes(d={"from": "0%", "to": "1%", "steps": 3})
    assert shares.values == ("0%", "0.5%", "1%")
    (numbers,) = axes(d={"from": Decimal("0.5"), "to": Decimal("1.5"), "steps": 3})
    assert numbers.values == ("0.5", "1", "1.5")


def test_a_latin_hypercube_draws_each_of_n_equal_parts_of_an_axis_once() -> None:
    models = {
        "delay": AxisModel.model_validate({"from": "0ms", "to": "50ms"}),
        "cc": AxisModel.model_validate({"values": ("cubic", "bbr")}),
    }
    design = Design(axes_of(models, grid=False), "latin-hypercube", 50, 9)
    drawn = [values for _, values in design]
    parts = sorted(Span.parse(delay).ns // 1_000_000 for delay, _cc in drawn)
    assert parts == list(range(50))
    assert Counter(cc for _delay, cc in drawn) == {"cubic": 25, "bbr": 25}
    assert [values for _, values in Design(design.axes, "latin-hypercube", 50, 9)] == drawn
    assert [values for _, values in Design(design.axes, "latin-hypercube", 50, 8)] != drawn


def test_random_points_are_uniform() -> None:
    models = {"delay": AxisModel.model_validate({"from": "0ms", "to": "100ms"})}
    design = Design(axes_of(models, grid=False), "random", 4000, 3)
    delays = np.array([Span.parse(values[0]).ns / 1e8 for _, values in design])
    # The mean of n uniform draws has a standard deviation of 1/sqrt(12 n); four of them.
    assert abs(delays.mean() - 0.5) < 4 / math.sqrt(12 * 4000)
    counts = np.histogram(delays, bins=10, range=(0, 1))[0]
    assert abs(counts - 400).max() < 4 * math.sqrt(400 * 0.9)


def test_paired_seeds_are_those_of_the_repetition_and_independent_ones_all_differ() -> None:
    assert [seed_of(7, variant, 2, kind="paired") for variant in range(3)] == [9, 9, 9]
    assert seed_of(2**64 - 1, 0, 1, kind="paired") == 0
    seeds = {seed_of(7, v, r, kind="independent") for v in range(50) for r in range(50)}
    assert len(seeds) == 2500


@given(
    st.recursive(
        st.one_of(st.booleans(), st.integers(-(10**9), 10**9), st.text(max_size=12).filter(str.isprintable)),
        lambda inner: st.dictionaries(st.text("abc-_", min_size=1, max_size=6), inner, max_size=3),
        max_leaves=6,
    )
)
def test_a_value_on_one_line_reads_as_itself(value: object) -> None:
    assert plain(read_value(text_of(value), None)) == value  # type: ignore[arg-type]


def test_columns_of_one_kind_are_numbers_with_their_unit_and_others_text() -> None:
    assert numbers_of("links.wan.delay", ["1ms", "2s"]) == ("axis_links_wan_delay_ns", [10**6, 2 * 10**9])
    assert numbers_of("r", ["1Mbit", "1MB/s"]) == ("axis_r_bits_per_s", [10**6, 8 * 10**6])
    assert numbers_of("loss", ["0%", "0.5"]) == ("axis_loss_share", [0.0, 0.5])
    assert numbers_of("n", ["1", "2"]) == ("axis_n", [1, 2])
    assert numbers_of("queue", ["100p", "1bdp"]) is None
    assert numbers_of("x", ["1ms", "1Mbit"]) is None


def test_an_axis_is_a_parameter_or_any_key(tmp_path: Path) -> None:
    names = ("cc", "nodes.a1..2.profile", "events.0.down", "traffic.bulk.cc", "seed", "traffic.bulk.flows")
    found = base(tmp_path, *names)
    assert found.paths == (
        ("params", "cc"),
        ("nodes", "a1..2", "profile"),
        ("events", 0, "down"),
        ("traffic", "bulk", "cc"),
        ("seed",),
        ("traffic", "bulk", "flows"),
    )
    ends = base(tmp_path, "events.0.down", "traffic.bulk.cc", "seed", "traffic.bulk.flows")
    document = ends.scenario(("1s", "{algorithm: multcp, streams: 3}", "99", "4")).document
    assert document.seed == 99
    assert document.events[0].down == Span.parse("1s")
    assert document.traffic["bulk"].cc == {"algorithm": "multcp", "streams": 3}
    assert document.traffic["bulk"].flows == 4


def test_a_variant_leaves_the_next_one_as_it_was(tmp_path: Path) -> None:
    found = base(tmp_path, "traffic.bulk.flows")
    before = found.scenario(("1",)).document
    assert found.scenario(("8",)).document.traffic["bulk"].flows == 8
    assert found.scenario(("1",)).document == before


def test_options_add_to_the_file_and_replace_what_it_says(tmp_path: Path) -> None:
    sweep = asked(tmp_path, axes={"cc": "bbr", "traffic.bulk.flows": "1,2"}, repeat=4).sweep
    assert [axis.values for axis in axes_of(sweep.axes, grid=True)] == [("bbr",), ("1", "2")]
    assert sweep.repeats == 4
    until = asked(tmp_path, until="goodput ±2%, at most 30").sweep.until
    assert until is not None
    assert (until.metric, float(until.within), until.at_most) == ("goodput", 0.02, 30)


def test_an_axis_of_flows_is_a_list_though_flows_are_mappings_with_from_and_to(tmp_path: Path) -> None:
    flows = [{"kind": "tcp", "from": "a1", "to": "b", "cc": name} for name in ("reno", "bic")]
    for count in (1, 2):
        sweep = asked(tmp_path, axes={"traffic.bulk": ", ".join(map(text_of, flows[:count]))}).sweep
        (axis,) = axes_of({"traffic.bulk": sweep.axes["traffic.bulk"]}, grid=True)
        assert axis.values == tuple(map(text_of, flows[:count]))


def test_what_is_wrong_with_options_is_said_to_be_on_the_command_line(tmp_path: Path) -> None:
    for options, words in (
        ({"axes": {"cv": "1"}}, 'command line:1:1: sweep.axes.cv: "cv" is neither parameter nor key'),
        ({"until": "soon"}, "command line:1:1: sweep.until: "),
        ({"axes": {"cc": "[bbr]"}}, "command line:1:1: sweep.axes.cc[0]: an axis has single values"),
    ):
        with pytest.raises(ScenarioError) as caught:
            asked(tmp_path, **options)
        assert str(caught.value).startswith(words)


def test_a_parameter_that_varies_and_does_nothing_is_a_warning() -> None:
    text = TEXT.replace("cc: $cc", "cc: cubic")
    (warning,) = [each.headline for each in parse_scenario(text.encode(), name="pair.yaml").warnings]
    assert "params.cc: is not used" in warning
